package s3cas

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// Reading the body of a request: plain, or aws-chunked with signatures, with a trailer, or with both.

// maxBody is the most one request may carry: 5 GiB, as AWS.
const maxBody = 5 << 30

var (
	errChunkForm = refuse(400, "InvalidRequest", "The aws-chunked body is malformed.")
	errTooLarge  = refuse(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size")
	errNoLength  = refuse(411, "MissingContentLength", "You must provide the Content-Length HTTP header.")
)

// readBody reads, decodes and verifies the body.
func (rq *request) readBody() *apiError {
	if !rq.op.hasBody() {
		return nil
	}
	kind, _ := headerOf(rq.header, "X-Amz-Content-Sha256")
	if rq.sig != nil {
		kind = rq.sig.payload
	}
	var trailer http.Header
	var err *apiError
	if strings.HasPrefix(kind, "STREAMING-") {
		rq.chunked = true
		rq.body, trailer, err = rq.readChunked(kind)
	} else {
		rq.body, err = rq.readPlain()
		if err == nil && len(kind) == 64 {
			if sum := sha256.Sum256(rq.body); hex.EncodeToString(sum[:]) != kind {
				err = errBodyHashNot
			}
		}
	}
	if err != nil {
		return err
	}
	if rq.op == OpCompleteMultipart { // its checksum headers are those of the whole object, and its body is a list of parts
		return nil
	}
	rq.sum, err = verifyChecksums(rq.header, trailer, rq.body)
	return err
}

func (rq *request) readPlain() ([]byte, *apiError) {
	n := rq.http.ContentLength
	switch {
	case n > maxBody:
		return nil, errTooLarge
	case n == 0 || n < 0 && rq.http.Body == http.NoBody:
		return nil, nil
	case n < 0:
		if rq.op == OpPut || rq.op == OpUploadPart {
			return nil, errNoLength
		}
		body, err := io.ReadAll(io.LimitReader(rq.http.Body, 16<<20))
		if err != nil {
			return nil, errIncomplete
		}
		return body, nil
	}
	return readExactly(rq.http.Body, n)
}

// readExactly reads n bytes. It does not believe a large n before the bytes are there.
func readExactly(r io.Reader, n int64) ([]byte, *apiError) {
	const trust = 8 << 20
	if n <= trust {
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return nil, errIncomplete
		}
		return body, nil
	}
	var buf bytes.Buffer
	buf.Grow(trust)
	if m, err := io.Copy(&buf, io.LimitReader(r, n)); err != nil || m != n {
		return nil, errIncomplete
	}
	return buf.Bytes(), nil
}

// readChunked decodes an aws-chunked body: size in hex, perhaps ;chunk-signature=…, the bytes, and at the end a chunk of none and
// the trailer.
func (rq *request) readChunked(kind string) ([]byte, http.Header, *apiError) {
	declared, ok := headerOf(rq.header, "X-Amz-Decoded-Content-Length")
	want, err := strconv.ParseInt(declared, 10, 64)
	if !ok || err != nil || want < 0 {
		return nil, nil, errNoLength
	}
	if want > maxBody {
		return nil, nil, errTooLarge
	}
	signed := kind == streamSigned || kind == streamTrailer
	if kind != streamPlain && !signed || signed && rq.sig == nil {
		return nil, nil, refusef(400, "InvalidArgument", "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a known STREAMING- value, or a valid sha256 value: %s", kind)
	}
	d := &chunkReader{r: bufio.NewReader(rq.http.Body), sig: rq.sig, signed: signed}
	if signed {
		d.prev = rq.sig.value
	}
	var body bytes.Buffer
	body.Grow(int(min(want, 8<<20)))
	for {
		last, e := d.chunk(&body, want)
		if e != nil {
			return nil, nil, e
		}
		if last {
			break
		}
	}
	if int64(body.Len()) != want {
		return nil, nil, errIncomplete
	}
	trailer, e := d.trailer(kind != streamSigned)
	if e != nil {
		return nil, nil, e
	}
	if promised, ok := headerOf(rq.header, "X-Amz-Trailer"); ok {
		for name := range strings.SplitSeq(promised, ",") {
			if _, ok := headerOf(trailer, textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))); !ok {
				return nil, nil, refuse(400, "MalformedTrailerError", "The request contained trailing data that was not well-formed or did not conform to our published schema.")
			}
		}
	}
	return body.Bytes(), trailer, nil
}

type chunkReader struct {
	r      *bufio.Reader
	sig    *signature
	signed bool
	prev   string // the signature before: each chunk signs the one before it too
}

// line reads up to CRLF, without it. The default buffer of 4 KiB bounds its length.
func (d *chunkReader) line() (string, error) {
	b, err := d.r.ReadSlice('\n')
	if err != nil {
		return string(b), err
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// chunk appends one chunk to body and reports whether it was the last, the empty one.
func (d *chunkReader) chunk(body *bytes.Buffer, limit int64) (last bool, _ *apiError) {
	head, err := d.line()
	if err != nil {
		return false, errIncomplete
	}
	size, ext, _ := strings.Cut(head, ";")
	n, err := strconv.ParseInt(strings.TrimSpace(size), 16, 64)
	if err != nil || n < 0 {
		return false, errChunkForm
	}
	start := body.Len()
	if int64(start)+n > limit {
		return false, errIncomplete
	}
	if m, err := io.CopyN(body, d.r, n); err != nil || m != n {
		return false, errIncomplete
	}
	if d.signed {
		given, ok := strings.CutPrefix(ext, "chunk-signature=")
		if !ok {
			return false, errChunkForm
		}
		sum := sha256.Sum256(body.Bytes()[start:])
		if e := d.verify("AWS4-HMAC-SHA256-PAYLOAD", emptySHA256+"\n"+hex.EncodeToString(sum[:]), given); e != nil {
			return false, e
		}
	}
	if n == 0 {
		return true, nil // what follows is the trailer, or the last CRLF
	}
	if end, err := d.line(); err != nil || end != "" {
		return false, errChunkForm
	}
	return false, nil
}

func (d *chunkReader) verify(kind, hashes, given string) *apiError {
	text := kind + "\n" + d.sig.instant + "\n" + d.sig.scope() + "\n" + d.prev + "\n" + hashes
	if !sameHex(hmacSHA256(d.sig.key, text), given) {
		return errSignature
	}
	d.prev = given
	return nil
}

// trailer reads the header lines behind the last chunk. Where the trailer is signed, the signature is one of them.
func (d *chunkReader) trailer(expected bool) (http.Header, *apiError) {
	if !expected {
		return nil, nil
	}
	h := http.Header{}
	var text strings.Builder
	given := ""
	for {
		l, err := d.line()
		if l == "" && (err == nil || errors.Is(err, io.EOF)) {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) || len(h) > 16 {
			return nil, errChunkForm
		}
		name, v, ok := strings.Cut(l, ":")
		if !ok {
			return nil, errChunkForm
		}
		if strings.EqualFold(name, "x-amz-trailer-signature") {
			given = strings.TrimSpace(v)
			continue
		}
		text.WriteString(strings.ToLower(name) + ":" + strings.TrimSpace(v) + "\n")
		h.Set(textproto.CanonicalMIMEHeaderKey(name), v)
		if err != nil {
			break
		}
	}
	if d.signed {
		if e := d.verify("AWS4-HMAC-SHA256-TRAILER", hexSHA256(text.String()), given); e != nil {
			return nil, e
		}
	}
	return h, nil
}
