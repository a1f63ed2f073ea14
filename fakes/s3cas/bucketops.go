package s3cas

import (
	"bytes"
	"encoding/xml"
	"strings"
)

// Operations on buckets, and DeleteObjects.

func (rq *request) listBuckets() *answer {
	rq.applied = rq.s.events.Add(1)
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.WriteString(`<ListAllMyBucketsResult xmlns="` + xmlNamespace + `"><Owner><ID>s3cas</ID></Owner><Buckets>`)
	for _, bk := range rq.s.allBuckets() {
		b.WriteString("<Bucket>")
		element(&b, "Name", bk.name)
		element(&b, "CreationDate", bk.created.UTC().Format(xmlInstant))
		b.WriteString("</Bucket>")
	}
	b.WriteString("</Buckets></ListAllMyBucketsResult>")
	return xmlAnswer(b.Bytes())
}

// validBucket checks a name by the rules that matter here: 3 to 63 of lower-case letters, digits, dots and hyphens, a letter or digit
// at both ends.
func validBucket(name string) bool {
	if len(name) < 3 || len(name) > 63 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		alnum := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || i == len(name)-1 || c != '.' && c != '-') {
			return false
		}
	}
	return true
}

func (rq *request) createBucket() *answer {
	rq.applied = rq.s.events.Add(1)
	if !validBucket(rq.bucketName) {
		return rq.refuse(refuse(400, "InvalidBucketName", "The specified bucket is not valid."))
	}
	if rq.s.bucket(rq.bucketName) != nil {
		return rq.refuse(refuse(409, "BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you already own it."))
	}
	rq.s.ensureBucket(rq.bucketName)
	a := okAnswer(200)
	a.header.Set("Location", "/"+rq.bucketName)
	return a
}

func (rq *request) bucketOp() *answer {
	rq.applied = rq.s.events.Add(1)
	switch rq.op {
	case OpHeadBucket:
		a := okAnswer(200)
		a.header.Set("X-Amz-Bucket-Region", rq.regionName())
		a.length = 0
		return a
	case OpDeleteBucket:
		if rq.b.count.Load() > 0 {
			return rq.refuse(refuse(409, "BucketNotEmpty", "The bucket you tried to delete is not empty"))
		}
		rq.s.bucketMu.Lock()
		delete(rq.s.buckets, rq.bucketName)
		rq.s.bucketMu.Unlock()
		return okAnswer(204)
	case OpBucketLocation:
		region := rq.regionName()
		if region == "us-east-1" {
			region = "" // AWS answers an empty constraint for its first region
		}
		var b bytes.Buffer
		b.WriteString(xml.Header + `<LocationConstraint xmlns="` + xmlNamespace + `">`)
		_ = xml.EscapeText(&b, []byte(region)) // a bytes.Buffer takes every write
		b.WriteString("</LocationConstraint>")
		return xmlAnswer(b.Bytes())
	case OpBucketVersioning:
		return xmlAnswer([]byte(xml.Header + `<VersioningConfiguration xmlns="` + xmlNamespace + `"></VersioningConfiguration>`))
	}
	return rq.refuse(errNotImplemented)
}

func (rq *request) regionName() string {
	switch {
	case rq.s.opts.Region != "":
		return rq.s.opts.Region
	case rq.region != "":
		return rq.region
	}
	return "us-east-1"
}

type deleteRequest struct {
	Quiet   bool `xml:"Quiet"`
	Objects []struct {
		Key  string  `xml:"Key"`
		ETag *string `xml:"ETag"`
	} `xml:"Object"`
}

// deleteObjects removes up to a thousand keys, each under its own ETag where one is given.
func (rq *request) deleteObjects() *answer {
	rq.applied = rq.s.events.Add(1)
	if rq.sum.name == "" && rq.header.Get("Content-Md5") == "" {
		return rq.refuse(refuse(400, "InvalidRequest", "Missing required header for this request: Content-MD5 OR x-amz-checksum-*"))
	}
	var in deleteRequest
	if err := xml.Unmarshal(rq.body, &in); err != nil || len(in.Objects) == 0 || len(in.Objects) > maxPage {
		return rq.refuse(errMalformedXML)
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.WriteString(`<DeleteResult xmlns="` + xmlNamespace + `">`)
	for _, o := range in.Objects {
		one := *rq
		one.op, one.key, one.cond = OpDelete, o.Key, cond{}
		if rq.modes.on(modeKeyNormalise) {
			one.key = normaliseKey(o.Key)
		}
		if o.ETag != nil {
			one.cond = cond{ifMatch: strings.TrimSpace(*o.ETag), hasIfMatch: true}
		}
		if a := one.delete(); a.code != "" {
			b.WriteString("<Error>")
			element(&b, "Key", o.Key)
			element(&b, "Code", a.code)
			element(&b, "Message", messageOf(a))
			b.WriteString("</Error>")
		} else if !in.Quiet {
			b.WriteString("<Deleted>")
			element(&b, "Key", o.Key)
			b.WriteString("</Deleted>")
		}
	}
	b.WriteString("</DeleteResult>")
	return xmlAnswer(b.Bytes())
}

// messageOf takes the sentence back out of a rendered refusal.
func messageOf(a *answer) string {
	var e struct {
		Message string `xml:"Message"`
	}
	if xml.Unmarshal(a.body, &e) != nil {
		return a.code
	}
	return e.Message
}
