package s3cas_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"contextful/fakes/s3cas"
)

// A key under conditional writes is a register: these are its operations and what may be seen of them.
type regIn struct {
	op, value, tag string // op: get, create, replace, put, delete
}

type regOut struct {
	status int
	value  string
}

// register is the model: the state is the body, or "" for no object. Bodies are unique, so a body stands for its ETag.
var register = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		cur, in, out := state.(string), input.(regIn), output.(regOut)
		switch in.op {
		case "get":
			if cur == "" {
				return out.status == 404, cur
			}
			return out.status == 200 && out.value == cur, cur
		case "put":
			return out.status == 200, in.value
		case "create":
			if cur == "" {
				return out.status == 200, in.value
			}
			return out.status == 412, cur
		case "replace", "delete":
			switch {
			case cur == "":
				return out.status == 404, cur
			case md5hex(cur) != in.tag:
				return out.status == 412, cur
			case in.op == "delete":
				return out.status == 204, ""
			}
			return out.status == 200, in.value
		}
		return false, state
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " -> ", out) },
}

// history runs seeded writers against one key and records what each saw and when.
func history(f *fixture, seed uint64, writers, each int) []porcupine.Operation {
	f.t.Helper()
	var mu sync.Mutex
	var ops []porcupine.Operation
	begun := time.Now()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewPCG(seed, uint64(w)))
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			tag := "none"
			for i := range each {
				in := regIn{op: []string{"get", "get", "create", "replace", "replace", "delete", "put"}[rnd.IntN(7)], value: fmt.Sprintf("s%d w%d i%d", seed, w, i), tag: tag}
				call := time.Since(begun).Nanoseconds()
				out := f.register(client, in)
				op := porcupine.Operation{ClientId: w, Input: in, Call: call, Output: out, Return: time.Since(begun).Nanoseconds()}
				if out.status == 200 {
					tag = md5hex(out.value)
				}
				mu.Lock()
				ops = append(ops, op)
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	return ops
}

func (f *fixture) register(c *http.Client, in regIn) regOut {
	method, body := "PUT", in.value
	if in.op == "get" {
		method, body = "GET", ""
	}
	if in.op == "delete" {
		method, body = "DELETE", ""
	}
	req, err := http.NewRequestWithContext(f.ctx, method, f.URL()+"/"+bkt+"/register", strings.NewReader(body))
	if err != nil {
		return regOut{}
	}
	switch in.op {
	case "create":
		req.Header.Set("If-None-Match", "*")
	case "replace", "delete":
		req.Header.Set("If-Match", `"`+in.tag+`"`)
	}
	res, err := c.Do(req)
	if err != nil {
		return regOut{}
	}
	defer res.Body.Close()
	out := regOut{status: res.StatusCode, value: body}
	if method == "GET" {
		b := make([]byte, 64)
		n, _ := res.Body.Read(b)
		out.value = string(b[:n])
	}
	return out
}

func TestConditionalWritesAreLinearizable(t *testing.T) {
	for seed := range uint64(6) {
		f := start(t, func(o *s3cas.Options) { o.Now = nil })
		got := porcupine.CheckOperationsTimeout(register, history(f, seed, 6, 40), 20*time.Second)
		if got != porcupine.Ok {
			t.Fatalf("seed %d: the history is %s", seed, got)
		}
	}
}

// TestLiesAreSeenByTheChecker shows that the checker would notice: a window between check and write gives histories that no register has.
func TestLiesAreSeenByTheChecker(t *testing.T) {
	for _, mode := range []string{"toctou_window(0, 2ms)", "ignore_if_match", "ignore_if_none_match", "if_match_missing_creates", "stale_get(1)"} {
		caught := false
		for seed := uint64(0); seed < 10 && !caught; seed++ {
			f := start(t, func(o *s3cas.Options) { o.Now = nil })
			f.mode(mode)
			caught = porcupine.CheckOperationsTimeout(register, history(f, seed, 4, 25), 20*time.Second) == porcupine.Illegal
		}
		if !caught {
			t.Errorf("%s was not noticed in ten histories", mode)
		}
	}
}

// TestOneWinner races writers at one version, over and over: exactly one may win.
func TestOneWinner(t *testing.T) {
	f := start(t)
	f.Put(bkt, "k", []byte("v"))
	for range 20 {
		want(t, "winners", f.race(8, "k", "If-Match", f.etag("k")), 1)
	}
	for i := range 10 {
		want(t, "creators", f.race(8, fmt.Sprint("new", i), "If-None-Match", "*"), 1)
	}
}
