package s3cas

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Multipart uploads. Conditions are judged when an upload is completed.

// upload is one multipart upload under way. Its bucket's uploadsMu guards it.
type upload struct {
	id, key string
	started time.Time
	header  http.Header // of CreateMultipartUpload: what describes the object
	parts   map[int]*object
}

func (rq *request) multipart() *answer {
	rq.applied = rq.s.events.Add(1)
	switch rq.op {
	case OpCreateMultipart:
		return rq.createUpload()
	case OpListUploads:
		return rq.listUploads()
	}
	rq.b.uploadsMu.Lock()
	up := rq.b.uploads[rq.query.Get("uploadId")]
	rq.b.uploadsMu.Unlock()
	if up == nil || up.key != rq.key {
		return rq.refuse(errNoSuchUpload)
	}
	switch rq.op {
	case OpUploadPart:
		return rq.uploadPart(up)
	case OpUploadPartCopy:
		return rq.uploadPartCopy(up)
	case OpAbortMultipart:
		rq.forget(up)
		return okAnswer(204)
	case OpListParts:
		return rq.listParts(up)
	}
	return rq.complete(up)
}

func (rq *request) forget(up *upload) {
	rq.b.uploadsMu.Lock()
	delete(rq.b.uploads, up.id)
	rq.b.uploadsMu.Unlock()
}

func (rq *request) createUpload() *answer {
	up := &upload{
		id:  fmt.Sprintf("upload-%08d", rq.s.serial.Add(1)),
		key: rq.key, started: rq.now, header: rq.header.Clone(), parts: map[int]*object{},
	}
	rq.b.uploadsMu.Lock()
	rq.b.uploads[up.id] = up
	rq.b.uploadsMu.Unlock()
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.WriteString(`<InitiateMultipartUploadResult xmlns="` + xmlNamespace + `">`)
	element(&b, "Bucket", rq.bucketName)
	element(&b, "Key", rq.key)
	element(&b, "UploadId", up.id)
	b.WriteString("</InitiateMultipartUploadResult>")
	return xmlAnswer(b.Bytes())
}

func (rq *request) partNumber() (int, *apiError) {
	n, err := strconv.Atoi(rq.query.Get("partNumber"))
	if err != nil || n < 1 || n > 10000 {
		return 0, refuse(400, "InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive")
	}
	return n, nil
}

func (rq *request) storePart(up *upload, n int, body []byte, sum checksum) *object {
	o := newObject(body, rq.now)
	o.sum = sum
	rq.b.uploadsMu.Lock()
	up.parts[n] = o
	rq.b.uploadsMu.Unlock()
	return o
}

func (rq *request) uploadPart(up *upload) *answer {
	n, err := rq.partNumber()
	if err != nil {
		return rq.refuse(err)
	}
	o := rq.storePart(up, n, rq.body, rq.sum)
	a := okAnswer(200)
	rq.tagHeader(a, o.etag)
	if o.sum.name != "" {
		a.header.Set(o.sum.header(), o.sum.value)
	}
	return a
}

func (rq *request) uploadPartCopy(up *upload) *answer {
	n, err := rq.partNumber()
	if err != nil {
		return rq.refuse(err)
	}
	src, _, err := rq.copySource()
	if err != nil {
		return rq.refuse(err)
	}
	body := src.body
	if v := rq.header.Get("X-Amz-Copy-Source-Range"); v != "" {
		first, last, ok, err := parseRange(v, len(body))
		if err != nil || !ok {
			return rq.refuse(refuse(400, "InvalidArgument", "The x-amz-copy-source-range value must be of the form bytes=first-last"))
		}
		body = body[first : last+1]
	}
	return rq.copyAnswer("CopyPartResult", rq.storePart(up, n, body, checksum{}))
}

type completeRequest struct {
	Parts []struct {
		PartNumber int    `xml:"PartNumber"`
		ETag       string `xml:"ETag"`
		CRC32      string `xml:"ChecksumCRC32"`
		CRC32C     string `xml:"ChecksumCRC32C"`
		CRC64NVME  string `xml:"ChecksumCRC64NVME"`
		SHA1       string `xml:"ChecksumSHA1"`
		SHA256     string `xml:"ChecksumSHA256"`
	} `xml:"Part"`
}

// assemble checks the list of parts against what was uploaded and joins them.
func (rq *request) assemble(up *upload) (*object, *apiError) {
	var in completeRequest
	if err := xml.Unmarshal(rq.body, &in); err != nil || len(in.Parts) == 0 {
		return nil, errMalformedXML
	}
	rq.b.uploadsMu.Lock()
	defer rq.b.uploadsMu.Unlock()
	sums := md5.New()
	var body []byte
	for i, p := range in.Parts {
		if i > 0 && p.PartNumber <= in.Parts[i-1].PartNumber {
			return nil, refuse(400, "InvalidPartOrder", "The list of parts was not in ascending order. Parts must be ordered by part number.")
		}
		o := up.parts[p.PartNumber]
		if o == nil || unquote(p.ETag) != o.etag {
			return nil, refuse(400, "InvalidPart", "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.")
		}
		given := map[string]string{"crc32": p.CRC32, "crc32c": p.CRC32C, "crc64nvme": p.CRC64NVME, "sha1": p.SHA1, "sha256": p.SHA256}
		if v := given[o.sum.name]; v != "" && v != o.sum.value {
			return nil, refuse(400, "InvalidPart", "The checksum of a part does not match what was uploaded.")
		}
		if i < len(in.Parts)-1 && int64(len(o.body)) < rq.s.opts.MinPartSize {
			return nil, refuse(400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size")
		}
		raw, _ := hex.DecodeString(o.etag) // a part's ETag is the MD5 that newObject made
		sums.Write(raw)
		body = append(body, o.body...)
	}
	o := newObject(body, rq.s.opts.Now())
	o.etag = hex.EncodeToString(sums.Sum(nil)) + "-" + strconv.Itoa(len(in.Parts))
	describe(o, up.header)
	return o, nil
}

// complete makes the object, under the conditions of the request. A refused condition leaves the upload as it is.
func (rq *request) complete(up *upload) *answer {
	o, err := rq.assemble(up)
	if err != nil {
		return rq.refuse(err)
	}
	if rq.modes.on(modeETagOpaque) {
		o.etag = rq.s.build(nil, rq.modes).etag
	}
	if _, err := rq.commit(rq.judge, o); err != nil {
		return rq.refuse(err)
	}
	rq.forget(up)
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.WriteString(`<CompleteMultipartUploadResult xmlns="` + xmlNamespace + `">`)
	element(&b, "Location", "/"+rq.bucketName+"/"+rq.key)
	element(&b, "Bucket", rq.bucketName)
	element(&b, "Key", rq.key)
	if mode := rq.modes.get(mode200WithoutETag); mode == nil || !mode.covers(rq, true) {
		element(&b, "ETag", rq.modes.showTag(o.etag))
	}
	b.WriteString("</CompleteMultipartUploadResult>")
	return xmlAnswer(b.Bytes())
}

func (rq *request) listParts(up *upload) *answer {
	rq.b.uploadsMu.Lock()
	defer rq.b.uploadsMu.Unlock()
	var nums []int
	for n := range up.parts {
		nums = append(nums, n)
	}
	slices.Sort(nums)
	after, _ := strconv.Atoi(rq.query.Get("part-number-marker")) // absent or senseless: from the start
	limit := maxPage
	if n, err := strconv.Atoi(rq.query.Get("max-parts")); err == nil && n > 0 {
		limit = min(limit, n)
	}
	var b bytes.Buffer
	var last, shown int
	truncated := false
	for _, n := range nums {
		if n <= after {
			continue
		}
		if shown == limit {
			truncated = true
			break
		}
		o := up.parts[n]
		b.WriteString("<Part>")
		element(&b, "PartNumber", strconv.Itoa(n))
		element(&b, "LastModified", o.modified.UTC().Format(xmlInstant))
		element(&b, "ETag", rq.modes.showTag(o.etag))
		element(&b, "Size", strconv.Itoa(len(o.body)))
		b.WriteString("</Part>")
		last = n
		shown++
	}
	var out bytes.Buffer
	out.WriteString(xml.Header)
	out.WriteString(`<ListPartsResult xmlns="` + xmlNamespace + `">`)
	element(&out, "Bucket", rq.bucketName)
	element(&out, "Key", rq.key)
	element(&out, "UploadId", up.id)
	element(&out, "PartNumberMarker", strconv.Itoa(after))
	if truncated {
		element(&out, "NextPartNumberMarker", strconv.Itoa(last))
	}
	element(&out, "MaxParts", strconv.Itoa(limit))
	element(&out, "IsTruncated", strconv.FormatBool(truncated))
	out.Write(b.Bytes())
	out.WriteString("</ListPartsResult>")
	return xmlAnswer(out.Bytes())
}

func (rq *request) listUploads() *answer {
	prefix := rq.query.Get("prefix")
	rq.b.uploadsMu.Lock()
	defer rq.b.uploadsMu.Unlock()
	var ups []*upload
	for _, up := range rq.b.uploads {
		if strings.HasPrefix(up.key, prefix) {
			ups = append(ups, up)
		}
	}
	slices.SortFunc(ups, func(a, b *upload) int {
		if c := strings.Compare(a.key, b.key); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.WriteString(`<ListMultipartUploadsResult xmlns="` + xmlNamespace + `">`)
	element(&b, "Bucket", rq.bucketName)
	element(&b, "Prefix", prefix)
	element(&b, "IsTruncated", "false")
	for _, up := range ups {
		b.WriteString("<Upload>")
		element(&b, "Key", up.key)
		element(&b, "UploadId", up.id)
		element(&b, "Initiated", up.started.UTC().Format(xmlInstant))
		b.WriteString("</Upload>")
	}
	b.WriteString("</ListMultipartUploadsResult>")
	return xmlAnswer(b.Bytes())
}
