package s3cas

import (
	"bytes"
	"encoding/xml"
	"net/url"
	"strings"
)

// copySource reads x-amz-copy-source and finds the object, its conditions judged. same says that it is the
// object to be written.
func (rq *request) copySource() (o *object, same bool, _ *apiError) {
	raw, _ := headerOf(rq.header, "X-Amz-Copy-Source")
	raw, version, _ := strings.Cut(raw, "?")
	src, err := url.PathUnescape(raw)
	if err != nil {
		return nil, false, refuse(400, "InvalidArgument", "Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
	}
	name, key := splitPath(src)
	if key == "" {
		return nil, false, refuse(400, "InvalidArgument", "Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
	}
	if version != "" {
		return nil, false, errNotImplemented
	}
	b := rq.s.bucket(name)
	if b == nil {
		return nil, false, errNoSuchBucket
	}
	if b.modes.Load().on(modeKeyNormalise) {
		key = normaliseKey(key)
	}
	o, _ = b.read(key, b.modes.Load().get(modeStaleGet), rq.now, &rq.s.events)
	if o == nil {
		return nil, false, errNoSuchKey
	}
	return o, b == rq.b && key == rq.key, checkCopySource(o, rq.header)
}

// copy stores the bytes of another object under the key, with its conditions judged in the same step.
func (rq *request) copy() *answer {
	rq.applied = rq.s.events.Add(1)
	src, same, err := rq.copySource()
	if err != nil {
		return rq.refuse(err)
	}
	directive := strings.ToUpper(rq.header.Get("X-Amz-Metadata-Directive"))
	if same && directive != "REPLACE" {
		return rq.refuse(refuse(400, "InvalidRequest", "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes."))
	}
	o := rq.s.build(src.body, rq.modes)
	o.sum = src.sum
	if directive == "REPLACE" {
		describe(o, rq.header)
	} else {
		o.contentType, o.header = src.contentType, src.header
	}
	if _, err := rq.commit(rq.judge, o); err != nil {
		return rq.refuse(err)
	}
	return rq.copyAnswer("CopyObjectResult", o)
}

func (rq *request) copyAnswer(root string, o *object) *answer {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.WriteString("<" + root + ` xmlns="` + xmlNamespace + `">`)
	element(&b, "LastModified", o.modified.UTC().Format(xmlInstant))
	if mode := rq.modes.get(mode200WithoutETag); mode == nil || !mode.covers(rq, true) {
		element(&b, "ETag", rq.modes.showTag(o.etag))
	}
	b.WriteString("</" + root + ">")
	return xmlAnswer(b.Bytes())
}
