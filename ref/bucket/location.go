package bucket

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"regexp"
	"strings"
)

func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// Location is what a [sync] endpoint means: a directory, or an S3 service with its address, signing region and addressing.
type Location struct {
	// Dir is the absolute directory of a file:// endpoint; all else is empty then.
	Dir string
	// URL is the service's base address; "" leaves it to the SDK's own table for Region (s3://<region>).
	URL string
	// Region is what requests are signed for.
	Region string
	// PathStyle puts the bucket into the path (https://host/bucket/key) and not into the host name.
	PathStyle bool
	// Endpoint is the text this was read from.
	Endpoint string
}

// Addressing names the addressing for a report: "directory", "path" or "virtual-host".
func (l Location) Addressing() string {
	switch {
	case l.Dir != "":
		return "directory"
	case l.PathStyle:
		return "path"
	default:
		return "virtual-host"
	}
}

var (
	regionName  = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$`)
	accountName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?$`)
)

// ParseEndpoint reads a [sync] endpoint; region is [sync] region and matters to https:// and http:// only (default us-east-1).
//
//	file://<directory>    a filesystem bucket; the path is absolute
//	s3://<region>         AWS S3 of that region, bucket in the host name
//	r2://<account-id>     that account's R2 endpoint, region "auto", bucket in the path
//	https://<host>[:port] any S3 service, bucket in the path
//	http://<loopback>     the same without TLS, on this machine only
//
// An error is a sentence about the endpoint for a configuration refusal (store.endpoint.schemes).
func ParseEndpoint(endpoint, region string) (Location, error) {
	scheme, rest, ok := strings.Cut(endpoint, "://")
	if !ok {
		return Location{}, fmt.Errorf("endpoint %q has no scheme (file, s3, r2, https or loopback http)", endpoint)
	}
	at := Location{Endpoint: endpoint}
	switch scheme {
	case "file":
		if !strings.HasPrefix(rest, "/") || strings.ContainsRune(rest, 0) {
			return Location{}, fmt.Errorf("endpoint %q: a file:// endpoint names an absolute directory", endpoint)
		}
		at.Dir = path.Clean(rest)
		return at, nil
	case "s3":
		if !regionName.MatchString(rest) {
			return Location{}, fmt.Errorf("endpoint %q: %q is no region", endpoint, rest)
		}
		at.Region = rest
		return at, nil
	case "r2":
		if !accountName.MatchString(rest) {
			return Location{}, fmt.Errorf("endpoint %q: %q is no account id", endpoint, rest)
		}
		at.URL, at.Region, at.PathStyle = "https://"+strings.ToLower(rest)+".r2.cloudflarestorage.com", "auto", true
		return at, nil
	case "https", "http":
		return at.host(scheme, region)
	}
	return Location{}, fmt.Errorf("endpoint %q: scheme %q is none of file, s3, r2, https, http", endpoint, scheme)
}

func (l Location) host(scheme, region string) (Location, error) {
	u, err := url.Parse(l.Endpoint)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return Location{}, fmt.Errorf("endpoint %q: it names a host and an optional port, nothing else", l.Endpoint)
	}
	if scheme == "http" && !loopback(u.Hostname()) {
		return Location{}, fmt.Errorf("endpoint %q: http:// is for a loopback host only; use https://", l.Endpoint)
	}
	if region == "" {
		region = "us-east-1"
	}
	l.URL, l.Region, l.PathStyle = scheme+"://"+u.Host, region, true
	return l, nil
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
