package decl

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// DefaultRegion is the signing region of an https:// or http:// endpoint where [sync] names none.
const DefaultRegion = "us-east-1"

var (
	regionForm  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	accountForm = regexp.MustCompile(`^[A-Za-z0-9]{1,64}$`)
)

// Endpoint is a resolved [sync] endpoint (store.endpoint.schemes). Scheme is "file", "s3", "r2", "https" or "http". For "file"
// only Dir (absolute) is set: the directory itself is the bucket. For the others URL is the base address of requests, Region the signing region,
// and PathStyle says that the bucket stands in the path and not in the host.
type Endpoint struct {
	Scheme    string
	URL       string
	Region    string
	PathStyle bool
	Dir       string
	Text      string // as declared, for messages
}

// String gives the endpoint as declared.
func (e Endpoint) String() string { return e.Text }

// ParseEndpoint resolves an endpoint. region is [sync] region or ""; only https:// and http:// take it, and an s3:// or
// r2:// endpoint contradicting it refuses. http:// is for a loopback host alone, since credentials would travel readable.
func ParseEndpoint(text, region string) (Endpoint, error) {
	e := Endpoint{Text: text}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return e, fmt.Errorf("endpoint %q has no scheme; known are file://, s3://, r2://, https:// and http:// for this machine", text)
	}
	e.Scheme = scheme
	switch scheme {
	case "file":
		if !filepath.IsAbs(rest) || strings.ContainsRune(rest, 0) {
			return e, fmt.Errorf("endpoint %q must name an absolute directory, as in file:///srv/bucket", text)
		}
		e.Dir = filepath.Clean(rest)
		return e, nil
	case "s3":
		if !regionForm.MatchString(rest) {
			return e, fmt.Errorf("endpoint %q must name an AWS region, as in s3://eu-west-1", text)
		}
		if region != "" && region != rest {
			return e, fmt.Errorf("endpoint %q contradicts region %q", text, region)
		}
		e.Region = rest
		e.URL = "https://s3." + rest + ".amazonaws.com"
		if strings.HasPrefix(rest, "cn-") {
			e.URL += ".cn"
		}
		return e, nil
	case "r2":
		if !accountForm.MatchString(rest) {
			return e, fmt.Errorf("endpoint %q must name an R2 account id", text)
		}
		if region != "" && region != "auto" {
			return e, fmt.Errorf("endpoint %q is served at region auto, not %q", text, region)
		}
		e.Region, e.PathStyle = "auto", true
		e.URL = "https://" + rest + ".r2.cloudflarestorage.com"
		return e, nil
	case "https", "http":
		return parseHost(e, text, region)
	}
	return e, fmt.Errorf("endpoint %q has the unknown scheme %q; known are file://, s3://, r2://, https:// and http:// for this machine", text, scheme)
}

func parseHost(e Endpoint, text, region string) (Endpoint, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || (u.Path != "" && u.Path != "/") {
		return e, fmt.Errorf("endpoint %q must be %s://<host> or %s://<host>:<port> and nothing more", text, e.Scheme, e.Scheme)
	}
	if e.Scheme == "http" && !loopback(u.Hostname()) {
		return e, fmt.Errorf("endpoint %q would send everything readable over the network; http:// is for a loopback host, use https://", text)
	}
	e.Region, e.PathStyle, e.URL = region, true, e.Scheme+"://"+u.Host
	if region == "" {
		e.Region = DefaultRegion
	}
	return e, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
