package s3cas_test

import (
	"strings"
	"testing"

	"contextful/fakes/s3cas"
)

// The worked examples of the AWS documentation on chunked uploads: a third party's numbers for our reading of the algorithm.
const (
	exampleKey    = "AKIAIOSFODNN7EXAMPLE"
	exampleSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
)

func startExample(t *testing.T) *fixture {
	return start(t, func(o *s3cas.Options) {
		o.Anonymous, o.Buckets = false, []string{"examplebucket"}
		o.Principals = []s3cas.Principal{{AccessKey: exampleKey, Secret: exampleSecret, Name: "example"}}
	})
}

func chunk(size, signature string, n int) string {
	return size + ";chunk-signature=" + signature + "\r\n" + strings.Repeat("a", n) + "\r\n"
}

func TestSignedChunksExample(t *testing.T) {
	f := startExample(t)
	auth := "AWS4-HMAC-SHA256 Credential=" + exampleKey + "/20130524/us-east-1/s3/aws4_request,SignedHeaders=content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class,Signature=4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
	body := chunk("10000", "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648", 65536) +
		chunk("400", "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497", 1024) +
		chunk("0", "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9", 0)
	send := func(body string) reply {
		return f.do("PUT", "/examplebucket/chunkObject.txt", body, "Host", "s3.amazonaws.com", "Authorization", auth, "Content-Encoding", "aws-chunked",
			"X-Amz-Content-Sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "X-Amz-Date", "20130524T000000Z", "X-Amz-Decoded-Content-Length", "66560", "X-Amz-Storage-Class", "REDUCED_REDUNDANCY")
	}
	want(t, "the example", send(body), "200")
	got, _, _ := f.Get("examplebucket", "chunkObject.txt")
	want(t, "decoded", string(got) == strings.Repeat("a", 66560), true)
	want(t, "another byte", send(strings.Replace(body, "aaaa", "aaba", 1)), "403 SignatureDoesNotMatch")
	want(t, "another signature of a chunk", send(strings.Replace(body, "0055", "0056", 1)), "403 SignatureDoesNotMatch")
}

func TestSignedTrailerExample(t *testing.T) {
	f := startExample(t)
	auth := "AWS4-HMAC-SHA256 Credential=" + exampleKey + "/20130524/us-east-1/s3/aws4_request,SignedHeaders=content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class;x-amz-trailer,Signature=106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"
	body := chunk("10000", "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2", 65536) +
		chunk("400", "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7", 1024) +
		"0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n" +
		"x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n"
	send := func(body string) reply {
		return f.do("PUT", "/examplebucket/chunkObject.txt", body, "Host", "s3.amazonaws.com", "Authorization", auth, "Content-Encoding", "aws-chunked",
			"X-Amz-Content-Sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", "X-Amz-Date", "20130524T000000Z", "X-Amz-Decoded-Content-Length", "66560",
			"X-Amz-Storage-Class", "REDUCED_REDUNDANCY", "X-Amz-Trailer", "x-amz-checksum-crc32c")
	}
	want(t, "the example", send(body), "200")
	want(t, "another checksum", send(strings.Replace(body, "sOO8", "sOO9", 1)), "403 SignatureDoesNotMatch")
	want(t, "another signature of the trailer", send(strings.Replace(body, "d81f", "d82f", 1)), "403 SignatureDoesNotMatch")
	want(t, "no trailer", send(strings.Split(body, "x-amz-checksum")[0]+"\r\n"), "403 SignatureDoesNotMatch")
}

func TestAuthorizationForms(t *testing.T) {
	f := start(t)
	date := []string{"X-Amz-Date", "20130524T000000Z", "X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"}
	cred := "Credential=AKALPHA/20130524/us-east-1/s3/aws4_request"
	cases := []struct{ auth, want string }{
		{"AWS AKALPHA:sig", "400 InvalidRequest"},
		{"AWS4-HMAC-SHA256 nonsense", "400 AuthorizationHeaderMalformed"},
		{"AWS4-HMAC-SHA256 Credential=AKALPHA/x, SignedHeaders=host, Signature=0", "400 AuthorizationHeaderMalformed"},
		{"AWS4-HMAC-SHA256 Credential=AKALPHA/20130524/us-east-1/sts/aws4_request, SignedHeaders=host, Signature=0", "400 AuthorizationHeaderMalformed"},
		{"AWS4-HMAC-SHA256 " + cred + ", SignedHeaders=host, Signature=00", "403 SignatureDoesNotMatch"},
		{"AWS4-HMAC-SHA256 " + strings.Replace(cred, "ALPHA", "NOBODY", 1) + ", SignedHeaders=host, Signature=00", "403 InvalidAccessKeyId"},
	}
	for _, c := range cases {
		want(t, c.auth, f.get("k", append(date, "Authorization", c.auth)...), c.want)
	}
	good := "AWS4-HMAC-SHA256 " + cred + ", SignedHeaders=host, Signature=00"
	want(t, "no date", f.get("k", "Authorization", good, "X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"), "403 AccessDenied")
	want(t, "no body hash", f.get("k", "Authorization", good, "X-Amz-Date", "20130524T000000Z"), "400 InvalidRequest")
	want(t, "bad query", f.get("k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=00"), "400 AuthorizationQueryParametersError")
	r := start(t, func(o *s3cas.Options) { o.Region = "eu-north-1" })
	want(t, "another region", r.get("k", append(date, "Authorization", good)...), "400 AuthorizationHeaderMalformed")
}
