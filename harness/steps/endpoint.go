package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/proxy"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the endpoint operation: which host a node asks, signed for where, and what it does when nobody answers.
func registerEndpoint(s *Suite) {
	s.Step(`^(\w+)'s endpoint is "([^"]*)"$`, endpointIs)
	s.Step(`^(\w+)'s region is "([^"]*)"$`, regionIs)
	s.Step(`^every host of the internet is played by the kit$`, playTheInternet)
	s.Step(`^every request of (\w+)'s went to "([^"]*)", signed for "([^"]*)"$`, wentTo)
	s.Step(`^nothing left (\w+)'s machine$`, nothingLeft)
	s.Step(`^the bucket's directory is moved and the endpoint with it$`, moveDirectory)
	s.Step(`^from now on the bucket (refuses every connection|breaks every connection|accepts no credentials)$`, unreachable)
	s.Step(`^the bucket is itself again$`, itselfAgain)
}

func tomlText(s string) string {
	text, _ := json.Marshal(s) // a string always marshals
	return string(text)
}

func endpointIs(ctx context.Context, node, endpoint string) error {
	n := world.From(ctx).Node(node)
	n.Settings["endpoint"], n.Settings["region"] = tomlText(endpoint), ""
	return nil
}

func regionIs(ctx context.Context, node, region string) error {
	if region != "" {
		world.From(ctx).Node(node).Settings["region"] = tomlText(region)
	}
	return nil
}

// playTheInternet starts the proxy and has every node that is named by now go through it.
func playTheInternet(ctx context.Context) error {
	w := world.From(ctx)
	dir, err := w.Dir("proxy")
	if err != nil {
		return err
	}
	p, err := proxy.Start(dir, w.BucketName())
	if err != nil {
		return err
	}
	w.Defer(p.Close)
	w.Values["endpoint.proxy"] = p
	for _, n := range w.Nodes() {
		for k, v := range p.Env() {
			n.Env[k] = v
		}
	}
	return nil
}

func seen(ctx context.Context) ([]proxy.Seen, error) {
	p, ok := world.From(ctx).Values["endpoint.proxy"].(*proxy.Proxy)
	if !ok {
		return nil, fmt.Errorf("no step has started the proxy")
	}
	return p.Seen(), nil
}

// wentTo looks at what came through the proxy. An implementation that goes through no proxy is taken at the word of its
// probe's report; one that has neither cannot be asked offline.
func wentTo(ctx context.Context, node, host, region string) error {
	requests, err := seen(ctx)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	want := fmt.Sprintf("https://%s at region %s", host, region)
	if len(requests) == 0 {
		return reportedAt(w, node, host, region, want)
	}
	var bad []string
	for _, r := range requests {
		if r.Scheme != "https" || (r.Host != host && r.Host != w.BucketName()+"."+host) || r.Region != region || r.Bucket != w.BucketName() {
			bad = append(bad, r.String())
		}
	}
	return verify.That(len(bad) == 0, "every request of "+node+"'s goes where the endpoint says", want, bad)
}

func reportedAt(w *world.World, node, host, region, want string) error {
	c, err := w.Node(node).Last()
	if err != nil {
		return err
	}
	var report struct{ Endpoint, Region string }
	if json.Unmarshal([]byte(c.Stdout), &report) != nil || report.Endpoint == "" {
		return &world.Unsupported{Why: "the implementation goes through no HTTPS proxy and its probe reports no endpoint: where it would go cannot be seen offline"}
	}
	at, err := url.Parse(report.Endpoint)
	ok := err == nil && at.Scheme == "https" && (at.Host == host || at.Host == w.BucketName()+"."+host) && report.Region == region
	return verify.That(ok, node+"'s probe reports where it asked", want, report.Endpoint+" at region "+report.Region)
}

func nothingLeft(ctx context.Context, node string) error {
	requests, err := seen(ctx)
	if err != nil {
		return err
	}
	var lines []string
	for _, r := range requests {
		lines = append(lines, r.String())
	}
	return verify.Nothing("nothing left "+node+"'s machine", lines)
}

func moveDirectory(ctx context.Context) error {
	w := world.From(ctx)
	old, ok := strings.CutPrefix(w.Bucket().Settings()["endpoint"], "file://")
	if !ok {
		return fmt.Errorf("this scenario's bucket is no directory")
	}
	dir := old + "-moved"
	w.Set("endpoint", tomlText("file://"+dir))
	return os.Rename(old, dir)
}

// unreachable takes the bucket away. What the refusal has to name is the endpoint as the configuration has it.
func unreachable(ctx context.Context, how string) error {
	w := world.From(ctx)
	endpoint := w.Bucket().Settings()["endpoint"]
	var err error
	switch how {
	case "refuses every connection":
		if endpoint, err = closedPort(); err == nil {
			w.Set("endpoint", tomlText(endpoint))
		}
	case "breaks every connection":
		_, err = w.Inject(`(Drop Any)`)
	default:
		_, err = w.Inject(`(Respond 403 "InvalidAccessKeyId" Any)`)
	}
	w.Values["name:the endpoint"] = strings.TrimPrefix(endpoint, "http://")
	return err
}

// closedPort is a loopback address at which nobody listens.
func closedPort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return "http://" + l.Addr().String(), l.Close()
}

func itselfAgain(ctx context.Context) error {
	w := world.From(ctx)
	s, err := w.Fake()
	if err != nil {
		return err
	}
	s.ClearFaults()
	s.ClearModes()
	w.Set("endpoint", tomlText(w.Bucket().Settings()["endpoint"]))
	return nil
}

// lastOf is the latest ended call of a verb on a node.
func lastOf(ctx context.Context, node string, verb sut.Verb, back int) (world.Call, error) {
	calls := world.From(ctx).Calls()
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].Node == node && calls[i].Verb == verb {
			if back == 0 {
				return calls[i], nil
			}
			back--
		}
	}
	return world.Call{}, fmt.Errorf("%s has not been asked to %s often enough", node, verb)
}

// emittedDoc reads a bucket manifest that a verb printed.
func emittedDoc(c world.Call) (inspect.BucketDoc, error) {
	doc, err := inspect.DecodeBucket(c.Node+"'s emission", []byte(c.Stdout))
	if err != nil {
		return doc, verify.Fail(c.Node+" prints a bucket manifest", "the JSON of a bucket manifest", err)
	}
	return doc, nil
}
