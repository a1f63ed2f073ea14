package s3cas_test

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"contextful/fakes/s3cas"
)

func md5hex(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// TestWriteConditions is the table of what a conditional PUT does, by what is there and which header came.
func TestWriteConditions(t *testing.T) {
	tag := md5hex("v")
	cases := []struct {
		name, there, im, inm, want string
	}{
		{"create where nothing is", "", "", "*", "200"},
		{"create where something is", "v", "", "*", "412 PreconditionFailed"},
		{"replace the current, quoted", "v", `"` + tag + `"`, "", "200"},
		{"replace the current, bare", "v", tag, "", "200"},
		{"replace a stale one", "w", `"` + tag + `"`, "", "412 PreconditionFailed"},
		{"replace what is missing", "", `"` + tag + `"`, "", "404 NoSuchKey"},
		{"both, that would hold", "v", tag, "*", "501 NotImplemented"},
		{"both, where nothing is", "", tag, "*", "501 NotImplemented"},
		{"If-None-Match with a tag", "v", "", `"` + tag + `"`, "501 NotImplemented"},
		{"If-None-Match with a tag, nothing there", "", "", `"` + tag + `"`, "501 NotImplemented"},
		{"If-Match with a star is no wildcard", "v", "*", "", "412 PreconditionFailed"},
		{"a weak tag", "v", `W/"` + tag + `"`, "", "412 PreconditionFailed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := start(t)
			if c.there != "" {
				f.Put(bkt, "k", []byte(c.there))
			}
			var hs []string
			if c.im != "" {
				hs = append(hs, "If-Match", c.im)
			}
			if c.inm != "" {
				hs = append(hs, "If-None-Match", c.inm)
			}
			r := f.put("k", "new", hs...)
			want(t, "answer", r, c.want)
			after := "new"
			if r.status != 200 {
				after = c.there
				if after == "" {
					after = "<none>"
				}
				if !strings.HasPrefix(r.body, "<?xml") || !strings.Contains(r.body, "<RequestId>"+r.header.Get("X-Amz-Request-Id")+"<") {
					t.Fatalf("error body: %s", r.body)
				}
			}
			want(t, "content", f.content("k"), after)
		})
	}
}

func TestDeleteConditions(t *testing.T) {
	f := start(t)
	del := func(key string, hs ...string) string { return f.do("DELETE", "/bkt/"+key, "", hs...).String() }
	f.Put(bkt, "k", []byte("v"))
	want(t, "stale", del("k", "If-Match", "x"), "412 PreconditionFailed")
	want(t, "missing", del("m", "If-Match", "x"), "404 NoSuchKey")
	want(t, "star, missing", del("m", "If-Match", "*"), "404 NoSuchKey")
	want(t, "missing, no condition", del("m"), "204")
	want(t, "If-None-Match", del("k", "If-None-Match", "*"), "501 NotImplemented")
	want(t, "size", del("k", "X-Amz-If-Match-Size", "1"), "501 NotImplemented")
	want(t, "all that leaves it", f.content("k"), "v")
	want(t, "current", del("k", "If-Match", `"`+md5hex("v")+`"`)+f.content("k"), "204<none>")
	f.Put(bkt, "k", []byte("v"))
	want(t, "star", del("k", "If-Match", "*")+f.content("k"), "204<none>")
}

func TestReadConditionsAndRanges(t *testing.T) {
	f := start(t)
	f.Put(bkt, "k", []byte("0123456789"))
	f.Put(bkt, "empty", nil)
	tag := f.etag("k")
	at, before := f.now.Now().Format(time.RFC1123), f.now.Now().Add(-time.Hour).Format(time.RFC1123)
	at, before = strings.Replace(at, "UTC", "GMT", 1), strings.Replace(before, "UTC", "GMT", 1)
	cases := []struct{ header, value, want, body string }{
		{"If-Match", tag, "200", "0123456789"},
		{"If-Match", `"x", "` + tag + `"`, "200", "0123456789"},
		{"If-Match", "x", "412 PreconditionFailed", ""},
		{"If-None-Match", tag, "304", ""},
		{"If-None-Match", "x", "200", "0123456789"},
		{"If-Modified-Since", at, "304", ""},
		{"If-Modified-Since", before, "200", "0123456789"},
		{"If-Unmodified-Since", before, "412 PreconditionFailed", ""},
		{"If-Unmodified-Since", at, "200", "0123456789"},
		{"Range", "bytes=2-4", "206", "234"},
		{"Range", "bytes=7-", "206", "789"},
		{"Range", "bytes=-3", "206", "789"},
		{"Range", "bytes=-30", "206", "0123456789"},
		{"Range", "bytes=4-400", "206", "456789"},
		{"Range", "bytes=10-", "416 InvalidRange", ""},
		{"Range", "bytes=-0", "416 InvalidRange", ""},
		{"Range", "bytes=5-2", "200", "0123456789"},
		{"Range", "bytes=0-1,3-4", "200", "0123456789"},
		{"Range", "lines=1-2", "200", "0123456789"},
	}
	for _, c := range cases {
		r := f.get("k", c.header, c.value)
		want(t, c.header+" "+c.value, r, c.want)
		if r.status < 300 {
			want(t, c.header+" "+c.value, r.body, c.body)
		}
	}
	want(t, "content range", f.get("k", "Range", "bytes=2-4").header.Get("Content-Range"), "bytes 2-4/10")
	want(t, "If-Range of another version", f.get("k", "Range", "bytes=2-4", "If-Range", `"x"`).body, "0123456789")
	want(t, "empty", f.get("empty", "Range", "bytes=0-"), "416 InvalidRange")
	h := f.do("HEAD", "/bkt/k", "", "Range", "bytes=2-4")
	want(t, "HEAD of a range", fmt.Sprint(h.status, h.header.Get("Content-Length"), h.body), "2063")
	h = f.do("HEAD", "/bkt/none", "")
	want(t, "HEAD of nothing has no body", fmt.Sprint(h.status, h.body, h.header.Get("Content-Length")), "4040")
	want(t, "HEAD that fails", f.do("HEAD", "/bkt/k", "", "If-Match", "x").status, 412)
}

func TestChecksums(t *testing.T) {
	f := start(t)
	b64 := base64.StdEncoding.EncodeToString
	good := md5.Sum([]byte("abc"))
	cases := []struct{ header, value, want string }{
		{"Content-MD5", b64(good[:]), "200"},
		{"Content-MD5", b64(make([]byte, 16)), "400 BadDigest"},
		{"Content-MD5", "zz", "400 InvalidDigest"},
		{"X-Amz-Checksum-Crc32", "NSRBwg==", "200"},
		{"X-Amz-Checksum-Crc32", "NSRBwA==", "400 BadDigest"},
		{"X-Amz-Checksum-Crc32c", "Nks/tw==", "200"},
		{"X-Amz-Checksum-Sha1", "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", "200"},
		{"X-Amz-Checksum-Sha256", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "200"},
		{"X-Amz-Checksum-Nonesuch", "x", "400 InvalidRequest"},
		{"X-Amz-Content-Sha256", strings.Repeat("0", 64), "400 XAmzContentSHA256Mismatch"},
		{"X-Amz-Content-Sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "200"},
	}
	for _, c := range cases {
		want(t, c.header+" "+c.value, f.put("k", "abc", c.header, c.value), c.want)
	}
	_ = f.put("sum", "abc", "X-Amz-Checksum-Crc32", "NSRBwg==")
	want(t, "given back on request", f.get("sum", "X-Amz-Checksum-Mode", "ENABLED").header.Get("X-Amz-Checksum-Crc32"), "NSRBwg==")
	_ = f.put("nvme", "123456789", "X-Amz-Checksum-Crc64nvme", "rosUhgp5mIg=")
	want(t, "crc64nvme's check value", f.content("nvme"), "123456789")
}

func TestBrokenChunkedBodies(t *testing.T) {
	f := start(t)
	for name, body := range map[string]string{
		"no size": "zz\r\nabc\r\n0\r\n\r\n", "cut": "3\r\nab", "too long": "5\r\nabcde\r\n0\r\n\r\n", "too short": "1\r\na\r\n0\r\n\r\n",
		"negative": "-3\r\nabc\r\n0\r\n\r\n", "no end of chunk": "3\r\nabcX\r\n0\r\n\r\n", "bad trailer": "3\r\nabc\r\n0\r\nnonsense\r\n\r\n",
		"wrong checksum": "3\r\nabc\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", "huge": "ffffffffffffff\r\nabc", "long line": strings.Repeat("1", 10000),
	} {
		r := f.put("k", body, "X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "X-Amz-Decoded-Content-Length", "3")
		want(t, name, r.status, 400)
	}
	want(t, "no decoded length", f.put("k", "x", "X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"), "411 MissingContentLength")
	want(t, "unknown kind", f.put("k", "x", "X-Amz-Content-Sha256", "STREAMING-SOMETHING", "X-Amz-Decoded-Content-Length", "1"), "400 InvalidArgument")
	want(t, "signed chunks without a signature", f.put("k", "x", "X-Amz-Content-Sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "X-Amz-Decoded-Content-Length", "1"), "400 InvalidArgument")
	want(t, "nothing was stored", f.content("k"), "<none>")
}

func TestListing(t *testing.T) {
	f := start(t)
	f.fill("a", "b/1", "b/2", "b/c/3", "b0", "c/", "d", "\u00e9", "Z")
	cases := []struct{ query, want string }{
		{"", "Z a b/1 b/2 b/c/3 b0 c/ d é"},
		{"prefix=b/", "b/1 b/2 b/c/3"},
		{"delimiter=/", "Z a b0 d é b/ c/"},
		{"delimiter=/&prefix=b/", "b/1 b/2 b/c/"},
		{"start-after=b/2", "b/c/3 b0 c/ d é"},
		{"max-keys=2", "Z a more token"},
		{"max-keys=3&delimiter=/", "Z a b/ more token"},
		{"max-keys=0", ""},
		{"prefix=none", ""},
		{"max-keys=9", "Z a b/1 b/2 b/c/3 b0 c/ d é"},
		{"delimiter=b", "Z a c/ d é b"},
		{"encoding-type=url&prefix=%C3", "%C3%A9"},
	}
	for _, c := range cases {
		want(t, c.query, f.listed(c.query), c.want)
	}
	for _, q := range []string{"delimiter=/&max-keys=1", "max-keys=2", "max-keys=1", "delimiter=/&max-keys=2"} {
		var all []string
		token := ""
		for n := 0; ; n++ {
			query := q
			if token != "" {
				query += "&continuation-token=" + token
			}
			keys, more, tok := f.list(query)
			all = append(all, keys...)
			if !more {
				break
			}
			if token = tok; n > 20 {
				t.Fatal("the listing does not end")
			}
		}
		full, _, _ := f.list(strings.Split(q, "&max")[0])
		if strings.HasPrefix(q, "max") {
			full, _, _ = f.list("")
		}
		want(t, "all pages of "+q, len(all), len(full))
	}
	for _, q := range []string{"max-keys=x", "max-keys=-1", "continuation-token=*", "encoding-type=x"} {
		want(t, q, f.do("GET", "/bkt?list-type=2&"+q, ""), "400 InvalidArgument")
	}
	v1 := f.do("GET", "/bkt?max-keys=3&delimiter=/", "").body
	if !strings.Contains(v1, "<NextMarker>b/</NextMarker>") {
		t.Fatal(v1)
	}
	v1 = f.do("GET", "/bkt?delimiter=/&marker=b/", "").body
	if strings.Contains(v1, "<Key>b/") || strings.Contains(v1, "<Prefix>b/</Prefix>") || !strings.Contains(v1, "<Key>b0</Key>") {
		t.Fatal(v1)
	}
}

func TestManyKeysPages(t *testing.T) {
	f := start(t)
	for i := range 2500 {
		f.Put(bkt, fmt.Sprintf("k%05d", (i*7919)%2500), nil)
	}
	p := s3.NewListObjectsV2Paginator(f.sdk("alpha"), &s3.ListObjectsV2Input{Bucket: aws.String(bkt)})
	n, pages := 0, 0
	last := ""
	for p.HasMorePages() {
		page, err := p.NextPage(f.ctx)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, o := range page.Contents {
			if *o.Key <= last {
				t.Fatalf("%s after %s", *o.Key, last)
			}
			last = *o.Key
			n++
		}
	}
	want(t, "keys and pages", fmt.Sprint(n, pages), "2500 3")
	for i := range 2400 {
		f.Delete(bkt, fmt.Sprintf("k%05d", i))
	}
	want(t, "after deletions", len(f.Keys(bkt, "")), 100)
	_, _, _ = f.list("") // compacts
	f.Put(bkt, "k00007", nil)
	keys, _, _ := f.list("max-keys=2")
	want(t, "compacted", fmt.Sprint(keys), "[k00007 k02400]")
}

func TestDeleteObjects(t *testing.T) {
	f := start(t)
	c := f.sdk("alpha")
	f.fill("a", "b", "c")
	stale, cur := "x", `"`+f.etag("b")+`"`
	out, err := c.DeleteObjects(f.ctx, &s3.DeleteObjectsInput{Bucket: aws.String(bkt), Delete: &types.Delete{Objects: []types.ObjectIdentifier{
		{Key: aws.String("a"), ETag: &stale}, {Key: aws.String("b"), ETag: &cur}, {Key: aws.String("c")}, {Key: aws.String("none")}, {Key: aws.String("gone"), ETag: &cur},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range out.Deleted {
		got = append(got, *d.Key)
	}
	for _, e := range out.Errors {
		got = append(got, *e.Key+":"+*e.Code)
	}
	want(t, "one by one", got, "[b c none a:PreconditionFailed gone:NoSuchKey]")
	want(t, "left", f.Keys(bkt, ""), "[a]")
	want(t, "unsummed", f.do("POST", "/bkt?delete", "<Delete><Object><Key>a</Key></Object></Delete>"), "400 InvalidRequest")
}

func TestCopy(t *testing.T) {
	f := start(t)
	_ = f.put("src k", "v", "Content-Type", "text/x", "X-Amz-Meta-A", "1")
	cp := func(dst string, hs ...string) reply {
		return f.do("PUT", "/bkt/"+dst, "", append([]string{"X-Amz-Copy-Source", "/bkt/src%20k"}, hs...)...)
	}
	want(t, "copied", cp("d").String()+f.content("d"), "200v")
	r := f.get("d")
	want(t, "described", r.header.Get("Content-Type")+r.header.Get("X-Amz-Meta-A"), "text/x1")
	_ = cp("e", "X-Amz-Metadata-Directive", "REPLACE", "X-Amz-Meta-B", "2")
	r = f.get("e")
	want(t, "redescribed", r.header.Get("X-Amz-Meta-A")+r.header.Get("X-Amz-Meta-B"), "2")
	want(t, "create over", cp("d", "If-None-Match", "*"), "412 PreconditionFailed")
	want(t, "replace stale", cp("d", "If-Match", "x"), "412 PreconditionFailed")
	want(t, "replace missing", cp("m", "If-Match", "x"), "404 NoSuchKey")
	want(t, "source stale", cp("m", "X-Amz-Copy-Source-If-Match", "x"), "412 PreconditionFailed")
	want(t, "source unchanged", cp("m", "X-Amz-Copy-Source-If-None-Match", f.etag("src k")), "412 PreconditionFailed")
	want(t, "onto itself", f.do("PUT", "/bkt/src%20k", "", "X-Amz-Copy-Source", "bkt/src%20k"), "400 InvalidRequest")
	want(t, "no source", f.do("PUT", "/bkt/x", "", "X-Amz-Copy-Source", "/bkt/none"), "404 NoSuchKey")
	want(t, "no source bucket", f.do("PUT", "/bkt/x", "", "X-Amz-Copy-Source", "/none/none"), "404 NoSuchBucket")
}

func TestMultipart(t *testing.T) {
	f := start(t, func(o *s3cas.Options) { o.MinPartSize = 4 })
	c := f.sdk("alpha")
	key, bucket := aws.String("big"), aws.String(bkt)
	up, err := c.CreateMultipartUpload(f.ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: key, ContentType: aws.String("text/x")})
	if err != nil {
		t.Fatal(err)
	}
	var parts []types.CompletedPart
	for i, body := range []string{"aaaa", "bbbb", "c"} {
		p, err := c.UploadPart(f.ctx, &s3.UploadPartInput{Bucket: bucket, Key: key, UploadId: up.UploadId, PartNumber: aws.Int32(int32(i + 1)), Body: strings.NewReader(body)})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, types.CompletedPart{ETag: p.ETag, PartNumber: aws.Int32(int32(i + 1))})
	}
	complete := func(parts []types.CompletedPart, inm *string) string {
		_, err := c.CompleteMultipartUpload(f.ctx, &s3.CompleteMultipartUploadInput{Bucket: bucket, Key: key, UploadId: up.UploadId, IfNoneMatch: inm, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}})
		return sdkCode(err)
	}
	list, err := c.ListParts(f.ctx, &s3.ListPartsInput{Bucket: bucket, Key: key, UploadId: up.UploadId, MaxParts: aws.Int32(2)})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "parts", fmt.Sprint(len(list.Parts), *list.IsTruncated, " ", *list.NextPartNumberMarker), "2 true 2")
	ups, err := c.ListMultipartUploads(f.ctx, &s3.ListMultipartUploadsInput{Bucket: bucket})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "uploads", *ups.Uploads[0].Key, "big")
	want(t, "wrong order", complete([]types.CompletedPart{parts[1], parts[0]}, nil), "400 InvalidPartOrder")
	want(t, "wrong tag", complete([]types.CompletedPart{{ETag: parts[0].ETag, PartNumber: aws.Int32(2)}}, nil), "400 InvalidPart")
	want(t, "too small", complete([]types.CompletedPart{parts[2], {ETag: parts[0].ETag, PartNumber: aws.Int32(4)}}, nil), "400 EntityTooSmall")
	f.Put(bkt, "big", []byte("there"))
	want(t, "condition at completion", complete(parts, aws.String("*")), "412 PreconditionFailed")
	f.Delete(bkt, "big")
	want(t, "the upload survived it", complete(parts, aws.String("*")), "ok")
	want(t, "content", f.content("big"), "aaaabbbbc")
	raw := ""
	for _, b := range []string{"aaaa", "bbbb", "c"} {
		s := md5.Sum([]byte(b))
		raw += string(s[:])
	}
	want(t, "etag", f.etag("big"), md5hex(raw)+"-3")
	want(t, "gone", complete(parts, nil), "404 NoSuchUpload")
	up2, _ := c.CreateMultipartUpload(f.ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: key})
	cp, err := c.UploadPartCopy(f.ctx, &s3.UploadPartCopyInput{Bucket: bucket, Key: key, UploadId: up2.UploadId, PartNumber: aws.Int32(1), CopySource: aws.String(bkt + "/big"), CopySourceRange: aws.String("bytes=2-5")})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "copied part", *cp.CopyPartResult.ETag, strconv.Quote(md5hex("aabb")))
	if _, err := c.AbortMultipartUpload(f.ctx, &s3.AbortMultipartUploadInput{Bucket: bucket, Key: key, UploadId: up2.UploadId}); err != nil {
		t.Fatal(err)
	}
}

func TestBuckets(t *testing.T) {
	f := start(t)
	want(t, "none", f.do("GET", "/nobody?list-type=2", ""), "404 NoSuchBucket")
	want(t, "put into none", f.do("PUT", "/nobody/k", "x"), "404 NoSuchBucket")
	want(t, "create", f.do("PUT", "/fresh", ""), "200")
	want(t, "again", f.do("PUT", "/fresh", ""), "409 BucketAlreadyOwnedByYou")
	want(t, "bad name", f.do("PUT", "/_s3cas", ""), "400 InvalidBucketName")
	want(t, "head", f.do("HEAD", "/fresh", ""), "200")
	want(t, "isolated", f.do("PUT", "/fresh/k", "x").String()+f.content("k"), "200<none>")
	want(t, "not empty", f.do("DELETE", "/fresh", ""), "409 BucketNotEmpty")
	_ = f.do("DELETE", "/fresh/k", "")
	want(t, "removed", f.do("DELETE", "/fresh", ""), "204")
	r := f.do("GET", "/", "")
	want(t, "listed", strings.Contains(r.body, "<Name>bkt</Name>") && !strings.Contains(r.body, "fresh"), true)
	want(t, "location", strings.Contains(f.do("GET", "/bkt?location", "").body, "LocationConstraint"), true)
	want(t, "versioning", f.do("GET", "/bkt?versioning", ""), "200")
	want(t, "acl", f.do("GET", "/bkt?acl", ""), "501 NotImplemented")
	want(t, "long key", f.put(strings.Repeat("k", 1025), ""), "400 KeyTooLongError")
	auto := start(t, func(o *s3cas.Options) { o.AutoCreateBuckets = true })
	want(t, "made on the way", auto.do("PUT", "/new-one/k", "x"), "200")
}
