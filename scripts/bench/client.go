package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// A client signs and sends plain requests over kept connections: so little that what is measured is the server.
type client struct {
	url    string
	http   *http.Client
	signer *v4.Signer
}

func newClient(s *server) *client {
	return &client{url: s.url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}, signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })}
}

// send makes one request, which has to succeed, and gives the size of the answer's body.
func (c *client) send(ctx context.Context, method, path string, body []byte) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", digest)
	who := aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}
	if err := c.signer.SignHTTP(ctx, who, req, digest, "s3", region, wall()); err != nil {
		return 0, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return 0, fmt.Errorf("%s %s: %s %s", method, path, resp.Status, said)
	}
	return io.Copy(io.Discard, resp.Body)
}
