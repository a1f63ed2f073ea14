package s3cas

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Signature version 4, from a header or from the query of a presigned URL. Who signed and what was signed are checked; when is
// not, so that clients under a virtual clock are let in: neither skew nor the expiry of a presigned URL is looked at.

const (
	sigAlgorithm  = "AWS4-HMAC-SHA256"
	emptySHA256   = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	unsignedBody  = "UNSIGNED-PAYLOAD"
	streamSigned  = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	streamTrailer = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
	streamPlain   = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
)

// signature is what a request says of its signature.
type signature struct {
	accessKey, date, region, service string
	headers                          []string // signed headers, lower case
	value                            string
	instant                          string // X-Amz-Date
	payload                          string // the payload hash that was signed
	presigned                        bool
	key                              []byte // the signing key, once found: chunks are signed with it
}

func (g *signature) scope() string {
	return g.date + "/" + g.region + "/" + g.service + "/aws4_request"
}

var (
	errSignature   = refuse(403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. Check your key and signing method.")
	errUnknownKey  = refuse(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
	errAuthForm    = refuse(400, "AuthorizationHeaderMalformed", "The authorization header that you provided is not valid.")
	errAuthQuery   = refuse(400, "AuthorizationQueryParametersError", "The query parameters of the signature are not valid.")
	errAuthScheme  = refuse(400, "InvalidRequest", "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.")
	errNoBodyHash  = refuse(400, "InvalidRequest", "Missing required header for this request: x-amz-content-sha256")
	errAuthNoDate  = refuse(403, "AccessDenied", "AWS authentication requires a valid Date or x-amz-date header")
	errBodyHashNot = refuse(400, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed.")
)

// authenticate finds out who asks. It fills in the principal, the access key and the region of the request.
func (rq *request) authenticate() *apiError {
	sig, err := rq.readSignature()
	if err != nil {
		return err
	}
	if sig == nil {
		if rq.s.opts.Anonymous {
			rq.principal = "anonymous"
			return nil
		}
		return errAccessDenied
	}
	rq.accessKey, rq.region, rq.sig = sig.accessKey, sig.region, sig
	rq.s.authMu.RLock()
	p, known := rq.s.principals[sig.accessKey]
	rq.s.authMu.RUnlock()
	if !known {
		return errUnknownKey
	}
	if want := rq.s.opts.Region; want != "" && sig.region != want {
		return refusef(400, "AuthorizationHeaderMalformed", "The authorization header is malformed; the region '%s' is wrong; expecting '%s'", sig.region, want)
	}
	sig.key = rq.s.signingKey(p.Secret, sig)
	toSign := sigAlgorithm + "\n" + sig.instant + "\n" + sig.scope() + "\n" + hexSHA256(rq.canonical(sig))
	if !sameHex(hmacSHA256(sig.key, toSign), sig.value) {
		return errSignature
	}
	rq.principal = p.Name
	return nil
}

// readSignature takes the signature out of the request: nil where there is none.
func (rq *request) readSignature() (*signature, *apiError) {
	auth, has := headerOf(rq.header, "Authorization")
	if !has {
		if rq.query.Has("X-Amz-Algorithm") || rq.query.Has("X-Amz-Signature") {
			return rq.presignedSignature()
		}
		return nil, nil
	}
	rest, ok := strings.CutPrefix(auth, sigAlgorithm)
	if !ok {
		return nil, errAuthScheme
	}
	g := &signature{}
	for field := range strings.SplitSeq(rest, ",") {
		name, v, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch name {
		case "Credential":
			if !g.credential(v) {
				return nil, errAuthForm
			}
		case "SignedHeaders":
			g.headers = strings.Split(v, ";")
		case "Signature":
			g.value = v
		}
	}
	if g.accessKey == "" || len(g.headers) == 0 || g.value == "" {
		return nil, errAuthForm
	}
	if g.instant, ok = headerOf(rq.header, "X-Amz-Date"); !ok {
		return nil, errAuthNoDate
	}
	if g.payload, ok = headerOf(rq.header, "X-Amz-Content-Sha256"); !ok {
		return nil, errNoBodyHash
	}
	return g, nil
}

func (rq *request) presignedSignature() (*signature, *apiError) {
	q := rq.query
	g := &signature{
		value: q.Get("X-Amz-Signature"), instant: q.Get("X-Amz-Date"), headers: strings.Split(q.Get("X-Amz-SignedHeaders"), ";"),
		payload: unsignedBody, presigned: true,
	}
	if q.Get("X-Amz-Algorithm") != sigAlgorithm || g.value == "" || g.instant == "" || !g.credential(q.Get("X-Amz-Credential")) {
		return nil, errAuthQuery
	}
	if v, ok := headerOf(rq.header, "X-Amz-Content-Sha256"); ok && slices.Contains(g.headers, "x-amz-content-sha256") {
		g.payload = v
	} else if v := q.Get("X-Amz-Content-Sha256"); v != "" {
		g.payload = v
	}
	return g, nil
}

// credential splits key/date/region/service/aws4_request. The access key itself may hold slashes.
func (g *signature) credential(v string) bool {
	parts := strings.Split(v, "/")
	n := len(parts)
	if n < 5 || parts[n-1] != "aws4_request" {
		return false
	}
	g.accessKey = strings.Join(parts[:n-4], "/")
	g.date, g.region, g.service = parts[n-4], parts[n-3], parts[n-2]
	return g.accessKey != "" && g.service == "s3"
}

// canonical builds the canonical request that was signed.
func (rq *request) canonical(g *signature) string {
	var b strings.Builder
	b.Grow(512)
	b.WriteString(rq.http.Method)
	b.WriteByte('\n')
	awsEscape(&b, rq.http.URL.Path, true)
	b.WriteByte('\n')
	canonicalQuery(&b, rq.query, g.presigned)
	b.WriteByte('\n')
	for _, h := range g.headers {
		b.WriteString(h)
		b.WriteByte(':')
		b.WriteString(rq.signedHeader(h))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	b.WriteString(strings.Join(g.headers, ";"))
	b.WriteByte('\n')
	b.WriteString(g.payload)
	return b.String()
}

// signedHeader is a header as it was signed: Go's server has taken some out of the map.
func (rq *request) signedHeader(name string) string {
	switch name {
	case "host":
		return rq.http.Host
	case "content-length":
		if rq.http.ContentLength >= 0 {
			return strconv.FormatInt(rq.http.ContentLength, 10)
		}
	case "transfer-encoding":
		return strings.Join(rq.http.TransferEncoding, ",")
	}
	vs := rq.header.Values(name)
	if len(vs) == 1 {
		return squeeze(vs[0])
	}
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = squeeze(v)
	}
	return strings.Join(out, ",")
}

// squeeze trims a header value and folds runs of spaces, as the signature's canonical form asks.
func squeeze(v string) string {
	v = strings.TrimSpace(v)
	if !strings.Contains(v, "  ") {
		return v
	}
	return strings.Join(strings.Fields(v), " ")
}

func canonicalQuery(b *strings.Builder, q url.Values, presigned bool) {
	if len(q) == 0 {
		return
	}
	var pairs []string
	for k, vs := range q {
		if presigned && k == "X-Amz-Signature" {
			continue
		}
		for _, v := range vs {
			var p strings.Builder
			awsEscape(&p, k, false)
			p.WriteByte('=')
			awsEscape(&p, v, false)
			pairs = append(pairs, p.String())
		}
	}
	slices.Sort(pairs)
	b.WriteString(strings.Join(pairs, "&"))
}

// awsEscape percent-encodes every byte outside the unreserved ones; keepSlash leaves slashes, as in a path.
func awsEscape(b *strings.Builder, s string, keepSlash bool) {
	const upper = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '~' || keepSlash && c == '/' {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(upper[c>>4])
		b.WriteByte(upper[c&15])
	}
}

// signingKey derives the key of a scope; deriving takes four hashes, so it is kept.
func (s *Server) signingKey(secret string, g *signature) []byte {
	id := g.accessKey + "\n" + g.scope()
	if k, ok := s.signing.Load(id); ok {
		return k.([]byte)
	}
	k := hmacSHA256([]byte("AWS4"+secret), g.date)
	k = hmacSHA256(k, g.region)
	k = hmacSHA256(k, g.service)
	k = hmacSHA256(k, "aws4_request")
	s.signing.Store(id, k)
	return k
}

func hmacSHA256(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hexSHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func sameHex(sum []byte, text string) bool {
	return subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum)), []byte(text)) == 1
}
