package s3castest

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const refused = "412 PreconditionFailed"

func putRows() []Row {
	return []Row{
		{"put/create-absent", "If-None-Match: * where nothing is", "ok v", func(p *probe) string { return p.put("k", "v", "", "*") + " " + p.content("k") }},
		{"put/create-present", "If-None-Match: * where something is, which stays", refused + " old", func(p *probe) string {
			p.seed("k", "old")
			return p.put("k", "new", "", "*") + " " + p.content("k")
		}},
		{"put/create-after-delete", "If-None-Match: * after a deletion", "ok new", func(p *probe) string {
			p.seed("k", "old")
			p.del("k", "")
			return p.put("k", "new", "", "*") + " " + p.content("k")
		}},
		{"put/replace-current-quoted", "If-Match with the ETag as it was answered", "ok new", func(p *probe) string { return p.put("k", "new", p.seed("k", "old"), "") + " " + p.content("k") }},
		{"put/replace-current-bare", "If-Match with the ETag without its quotes", "ok new", func(p *probe) string {
			return p.put("k", "new", strings.Trim(p.seed("k", "old"), `"`), "") + " " + p.content("k")
		}},
		{"put/replace-stale", "If-Match with an ETag that has been replaced", refused + " newer", func(p *probe) string {
			tag := p.seed("k", "old")
			p.seed("k", "newer")
			return p.put("k", "mine", tag, "") + " " + p.content("k")
		}},
		{"put/replace-missing", "If-Match where nothing is creates nothing", "404 NoSuchKey 404 NoSuchKey", func(p *probe) string {
			return p.put("k", "v", `"d41d8cd98f00b204e9800998ecf8427e"`, "") + " " + p.content("k")
		}},
		{"put/replace-deleted", "If-Match with the ETag of what has been deleted", "404 NoSuchKey 404 NoSuchKey", func(p *probe) string {
			tag := p.seed("k", "v")
			p.del("k", "")
			return p.put("k", "v", tag, "") + " " + p.content("k")
		}},
		{"put/replace-aba", "If-Match with an ETag that has come back: the bytes are the same, so it holds", "ok", func(p *probe) string {
			tag := p.seed("k", "a")
			p.seed("k", "b")
			p.seed("k", "a")
			return p.put("k", "c", tag, "")
		}},
		{"put/both", "If-Match and If-None-Match at once", "501 NotImplemented", func(p *probe) string { return p.put("k", "new", p.seed("k", "old"), "*") }},
		{"put/none-match-etag", "If-None-Match with an ETag", "501 NotImplemented", func(p *probe) string { return p.put("k", "new", "", p.seed("k", "old")) }},
		{"put/etag-is-md5", "the ETag of a PUT is the quoted MD5", "true", func(p *probe) string {
			sum := md5.Sum([]byte("hello"))
			return fmt.Sprint(p.seed("k", "hello") == `"`+hex.EncodeToString(sum[:])+`"`)
		}},
		{"put/wrong-checksum", "a checksum that does not match the body", "400 BadDigest 404 NoSuchKey", func(p *probe) string {
			_, err := p.c.PutObject(p.ctx, &s3.PutObjectInput{Bucket: p.bucket(), Key: p.key("k"), Body: strings.NewReader("v"), ContentMD5: aws.String("AAAAAAAAAAAAAAAAAAAAAA==")})
			return said(err) + " " + p.content("k")
		}},
	}
}

func deleteRows() []Row {
	return []Row{
		{"delete/missing", "DELETE where nothing is", "ok", func(p *probe) string { return p.del("k", "") }},
		{"delete/stale", "DELETE with a stale If-Match leaves the object", refused + " newer", func(p *probe) string {
			tag := p.seed("k", "old")
			p.seed("k", "newer")
			return p.del("k", tag) + " " + p.content("k")
		}},
		{"delete/current", "DELETE with the current ETag", "ok 404 NoSuchKey", func(p *probe) string { return p.del("k", p.seed("k", "v")) + " " + p.content("k") }},
		{"delete/match-missing", "DELETE with If-Match where nothing is", "404 NoSuchKey", func(p *probe) string { return p.del("k", `"d41d8cd98f00b204e9800998ecf8427e"`) }},
		{"delete/star", "DELETE with If-Match: * of what is there", "ok", func(p *probe) string { p.seed("k", "v"); return p.del("k", "*") }},
		{"delete/star-missing", "DELETE with If-Match: * where nothing is", "404 NoSuchKey", func(p *probe) string { return p.del("k", "*") }},
		{"delete/many", "DeleteObjects with an ETag per key: the stale one stays", "deleted b; kept a: PreconditionFailed", func(p *probe) string {
			stale := p.seed("a", "old")
			p.seed("a", "newer")
			cur := p.seed("b", "v")
			out, err := p.c.DeleteObjects(p.ctx, &s3.DeleteObjectsInput{Bucket: p.bucket(), Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: p.key("a"), ETag: &stale}, {Key: p.key("b"), ETag: &cur}}}})
			if err != nil {
				return said(err)
			}
			var deleted, kept []string
			for _, d := range out.Deleted {
				deleted = append(deleted, strings.TrimPrefix(*d.Key, p.prefix))
			}
			for _, e := range out.Errors {
				kept = append(kept, strings.TrimPrefix(*e.Key, p.prefix)+": "+*e.Code)
			}
			slices.Sort(deleted)
			return "deleted " + strings.Join(deleted, " ") + "; kept " + strings.Join(kept, " ")
		}},
	}
}

func readRows() []Row {
	get := func(p *probe, change func(*s3.GetObjectInput)) string {
		in := &s3.GetObjectInput{Bucket: p.bucket(), Key: p.key("k")}
		change(in)
		out, err := p.c.GetObject(p.ctx, in)
		if err != nil {
			return said(err)
		}
		defer out.Body.Close()
		b := make([]byte, 64)
		n, _ := out.Body.Read(b) // short bodies come in one read
		return string(b[:n])
	}
	return []Row{
		{"get/missing", "GET where nothing is", "404 NoSuchKey", func(p *probe) string { return p.content("k") }},
		{"head/missing", "HEAD where nothing is", "404 NotFound", func(p *probe) string {
			_, err := p.c.HeadObject(p.ctx, &s3.HeadObjectInput{Bucket: p.bucket(), Key: p.key("k")})
			return said(err)
		}},
		{"get/none-match-current", "GET with If-None-Match of the current ETag", "304 NotModified", func(p *probe) string {
			tag := p.seed("k", "v")
			return get(p, func(in *s3.GetObjectInput) { in.IfNoneMatch = &tag })
		}},
		{"get/match-stale", "GET with a stale If-Match", refused, func(p *probe) string {
			tag := p.seed("k", "old")
			p.seed("k", "new")
			return get(p, func(in *s3.GetObjectInput) { in.IfMatch = &tag })
		}},
		{"get/range", "GET of bytes 2 to 4", "234", func(p *probe) string {
			p.seed("k", "0123456789")
			return get(p, func(in *s3.GetObjectInput) { in.Range = aws.String("bytes=2-4") })
		}},
		{"get/range-beyond", "GET of bytes behind the end", "416 InvalidRange", func(p *probe) string {
			p.seed("k", "0123456789")
			return get(p, func(in *s3.GetObjectInput) { in.Range = aws.String("bytes=10-") })
		}},
		{"get/read-your-write", "each read sees the write before it", "ok", func(p *probe) string {
			for i := range 20 {
				v := fmt.Sprint("v", i)
				p.seed("k", v)
				if got := p.content("k"); got != v {
					return got + " after " + v
				}
			}
			return "ok"
		}},
		{"key/raw", "keys are bytes: a//b, a/b and a/./b are three", "ok 1 ok 2 ok 3", func(p *probe) string {
			var out []string
			for i, k := range []string{"a//b", "a/b", "a/./b"} {
				out = append(out, p.put(k, fmt.Sprint(i+1), "", ""), p.content(k))
			}
			return strings.Join(out, " ")
		}},
	}
}

func listRows() []Row {
	list := func(p *probe, page int32, delimiter string) string {
		in := &s3.ListObjectsV2Input{Bucket: p.bucket(), Prefix: &p.prefix, MaxKeys: &page}
		if delimiter != "" {
			in.Delimiter = &delimiter
		}
		var out []string
		for pages := s3.NewListObjectsV2Paginator(p.c, in); pages.HasMorePages(); {
			got, err := pages.NextPage(p.ctx)
			if err != nil {
				return said(err)
			}
			for _, o := range got.Contents {
				out = append(out, strings.TrimPrefix(*o.Key, p.prefix))
			}
			for _, c := range got.CommonPrefixes {
				out = append(out, strings.TrimPrefix(*c.Prefix, p.prefix))
			}
		}
		return strings.Join(out, " ")
	}
	return []Row{
		{"list/order", "keys come sorted by bytes, over pages of two", "B a-b a/b ab é", func(p *probe) string {
			for _, k := range []string{"é", "ab", "a/b", "B", "a-b"} {
				p.seed(k, "")
			}
			return list(p, 2, "")
		}},
		{"list/overlap", "a key that is the directory of another, both listed", "a a/b", func(p *probe) string {
			p.seed("a", "")
			p.seed("a/b", "")
			return list(p, 1000, "")
		}},
		{"list/overlap-reversed", "the same, written the other way round", "a a/b", func(p *probe) string {
			p.seed("a/b", "")
			return strings.TrimSpace(strings.TrimPrefix(p.put("a", "", "", ""), "ok") + " " + list(p, 1000, ""))
		}},
		{"list/delimiter", "common prefixes, over pages of one", "a b/ c", func(p *probe) string {
			for _, k := range []string{"a", "b/1", "b/2", "c"} {
				p.seed(k, "")
			}
			return list(p, 1, "/")
		}},
		{"list/after-write", "a listing shows the write and the deletion before it", "ok", func(p *probe) string {
			for i := range 10 {
				p.seed("k", "")
				if got := list(p, 1000, ""); got != "k" {
					return fmt.Sprintf("round %d: %q after a write", i, got)
				}
				p.del("k", "")
				if got := list(p, 1000, ""); got != "" {
					return fmt.Sprintf("round %d: %q after a deletion", i, got)
				}
			}
			return "ok"
		}},
	}
}

func otherRows() []Row {
	multipart := func(p *probe, ifMatch, ifNoneMatch *string) string {
		up, err := p.c.CreateMultipartUpload(p.ctx, &s3.CreateMultipartUploadInput{Bucket: p.bucket(), Key: p.key("k")})
		p.must("starting an upload", err)
		part, err := p.c.UploadPart(p.ctx, &s3.UploadPartInput{Bucket: p.bucket(), Key: p.key("k"), UploadId: up.UploadId, PartNumber: aws.Int32(1), Body: strings.NewReader("parts")})
		p.must("uploading a part", err)
		_, err = p.c.CompleteMultipartUpload(p.ctx, &s3.CompleteMultipartUploadInput{
			Bucket: p.bucket(), Key: p.key("k"), UploadId: up.UploadId, IfMatch: ifMatch, IfNoneMatch: ifNoneMatch,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{{ETag: part.ETag, PartNumber: aws.Int32(1)}}},
		})
		return said(err) + " " + p.content("k")
	}
	copyTo := func(p *probe, change func(*s3.CopyObjectInput)) string {
		in := &s3.CopyObjectInput{Bucket: p.bucket(), Key: p.key("dst"), CopySource: aws.String(p.target.Bucket + "/" + p.prefix + "src")}
		change(in)
		_, err := p.c.CopyObject(p.ctx, in)
		return said(err)
	}
	return []Row{
		{"multipart/create-absent", "completing with If-None-Match: * where nothing is", "ok parts", func(p *probe) string { return multipart(p, nil, aws.String("*")) }},
		{"multipart/create-present", "completing with If-None-Match: * where something is", refused + " old", func(p *probe) string { p.seed("k", "old"); return multipart(p, nil, aws.String("*")) }},
		{"multipart/replace-stale", "completing with a stale If-Match", refused + " newer", func(p *probe) string {
			tag := p.seed("k", "old")
			p.seed("k", "newer")
			return multipart(p, &tag, nil)
		}},
		{"copy/source-stale", "copying under a stale source condition", refused, func(p *probe) string {
			tag := p.seed("src", "old")
			p.seed("src", "new")
			return copyTo(p, func(in *s3.CopyObjectInput) { in.CopySourceIfMatch = &tag })
		}},
		{"copy/create-present", "copying with If-None-Match: * onto something", refused + " there", func(p *probe) string {
			p.seed("src", "v")
			p.seed("dst", "there")
			return copyTo(p, func(in *s3.CopyObjectInput) { in.IfNoneMatch = aws.String("*") }) + " " + p.content("dst")
		}},
		{"auth/unknown-key", "an access key nobody knows", "403 InvalidAccessKeyId", func(p *probe) string {
			p.c = p.target.client("AKNOBODYATALL", "secret")
			return p.put("k", "v", "", "")
		}},
		{"auth/wrong-secret", "a known key with another secret", "403 SignatureDoesNotMatch", func(p *probe) string {
			p.c = p.target.client(p.target.AccessKey, p.target.Secret+"x")
			return p.put("k", "v", "", "")
		}},
	}
}
