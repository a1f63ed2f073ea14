package s3cas_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"contextful/fakes/s3cas"
)

// async runs a request in the background and returns where its reply will be.
func (f *fixture) async(fn func() reply) <-chan reply {
	ch := make(chan reply, 1)
	go func() { ch <- fn() }()
	return ch
}

func (f *fixture) held(gate string, n int) {
	f.t.Helper()
	if err := f.Gate(gate).WaitHeld(f.ctx, n); err != nil {
		f.t.Fatal(err)
	}
}

func TestRespond(t *testing.T) {
	f := start(t)
	f.Put(bkt, "t/_pointer.json", []byte("old"))
	h := f.inject(`(Respond 412 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`)
	im := []string{"If-Match", f.etag("t/_pointer.json")}
	want(t, "a plain put passes", f.put("t/_pointer.json", "old"), "200")
	want(t, "another key passes", f.put("t/x", "old"), "200")
	want(t, "refused", f.put("t/_pointer.json", "new", im...), "412 PreconditionFailed")
	want(t, "not applied", f.content("t/_pointer.json"), "old")
	want(t, "only once", f.put("t/_pointer.json", "new", im...), "200")
	want(t, "fired", h.Fired(), 1)
	f.inject(`(Respond 503 "ServiceUnavailable" Get)`)
	want(t, "own code", f.get("t/x"), "503 ServiceUnavailable")
	f.inject(`(Respond 200 (And Put (Key "lost")))`)
	r := f.put("lost", "hello")
	want(t, "a lost write is believed", r.String()+r.header.Get("Etag"), `200"5d41402abc4b2a76b9719d911017c592"`)
	want(t, "and lost", f.content("lost"), "<none>")
}

func TestApplyThen(t *testing.T) {
	f := start(t)
	f.inject(`(ApplyThen 412 (And PutIfNoneMatch (Key "a")))`)
	f.inject(`(ApplyThen 500 (And Put (Key "b")))`)
	f.inject(`(ApplyThenDrop (And Put (Key "c")))`)
	want(t, "412 after one's own write", f.put("a", "x", "If-None-Match", "*"), "412 PreconditionFailed")
	want(t, "500", f.put("b", "x"), "500 InternalError")
	want(t, "dropped", f.put("c", "x"), "error")
	for _, k := range []string{"a", "b", "c"} {
		want(t, k+" was applied", f.content(k), "x")
	}
	e := f.JournalFor(s3cas.Filter{Key: "c"})[0]
	want(t, "journal", e.String(), `#3 anonymous Put bkt/c -> dropped in=1 out=0 etag ->9dd4e461268c8034f5c8564e155c67a6 (ApplyThenDrop (And Put (Key "c")))`)
	if e.Applied == 0 || e.Applied < e.Arrived || e.Answered < e.Applied {
		t.Fatalf("event order: %+v", e)
	}
}

func TestDropAndTruncateAndCorrupt(t *testing.T) {
	f := start(t)
	f.Put(bkt, "k", []byte("0123456789"))
	h := f.inject(`(Drop Put)`)
	want(t, "dropped", f.put("k", "new"), "error")
	want(t, "unapplied", f.content("k"), "0123456789")
	h.Remove()
	h = f.inject(`(Truncate 4 Get)`)
	r := f.get("k")
	want(t, "cut after four", fmt.Sprint(r.err != nil, r.header.Get("Content-Length"), " ", f.rawBody(t, "k")), "true10 0123")
	h.Remove()
	h = f.inject(`(Shorten 50% Get)`)
	r = f.get("k")
	want(t, "short as if whole", r.body+r.header.Get("Content-Length"), "012345")
	h.Remove()
	h = f.inject(`(Corrupt -2 2 Get)`)
	r = f.get("k")
	want(t, "last two flipped", fmt.Sprintf("%q", r.body), fmt.Sprintf("%q", "01234567"+string([]byte{'8' ^ 0xff, '9' ^ 0xff})))
	want(t, "the store is whole", f.content("k"), "0123456789")
	h.Remove()
	f.inject(`(Corrupt 0 Put)`)
	r = f.put("k", "abc")
	want(t, "stored corrupt under the good tag", fmt.Sprintf("%q", f.content("k"))+r.header.Get("Etag"), fmt.Sprintf("%q", string([]byte{'a' ^ 0xff})+"bc")+`"900150983cd24fb0d6963f7d28e17f72"`)
}

// rawBody reads what arrives of a cut answer.
func (f *fixture) rawBody(t *testing.T, key string) string {
	t.Helper()
	return f.get(key).body
}

func TestHold(t *testing.T) {
	f := start(t)
	body := strings.Repeat("x", 100_000)
	f.Put(bkt, "k", []byte(body))
	f.inject(`(Hold "b" before (And Put (Key "k")))`)
	f.inject(`(Hold "a" after (And Put (Key "j")))`)
	f.inject(`(Hold "half" body 50% Get)`)

	p := f.async(func() reply { return f.put("k", "new") })
	<-f.Gate("b").Arrived()
	f.held("b", 1)
	want(t, "not yet applied", f.content("k"), body)
	e := f.Gate("b").HeldEntries()[0]
	want(t, "who is held", e.String(), `#1 anonymous Put bkt/k -> open in=0 out=0 (Hold "b" before (And Put (Key "k")))`)
	f.Gate("b").Release()
	want(t, "then it goes on", <-p, "200")
	want(t, "applied", f.content("k"), "new")

	p = f.async(func() reply { return f.put("j", "new") })
	f.held("a", 1)
	want(t, "applied while held", f.content("j"), "new")
	want(t, "journal while held", f.Gate("a").HeldEntries()[0].ETagAfter, f.etag("j"))
	want(t, "one goes", f.Gate("a").Pass(1), 1)
	want(t, "answer", <-p, "200")

	f.Put(bkt, "k", []byte(body))
	p = f.async(func() reply { return f.get("k") })
	f.held("half", 1)
	want(t, "journal shows it open", f.JournalFor(s3cas.Filter{Ops: []s3cas.Op{s3cas.OpGet}})[0].Open(), true)
	f.Gate("half").Release()
	r := <-p
	want(t, "whole in the end", r.body == body, true)
	want(t, "an open gate lets pass", len(f.get("k").body), len(body))
	want(t, "arrivals", f.Gate("half").Arrivals(), 2)
	f.Gate("half").Shut()
	p = f.async(func() reply { return f.get("k") })
	f.held("half", 1)
	_ = f.Close()
	want(t, "closing frees", (<-p).err != nil, true)
}

func TestHoldHalfIsHalf(t *testing.T) {
	f := start(t)
	f.Put(bkt, "k", []byte("0123456789"))
	f.inject(`(Hold "g" body 4 Get)`)
	res := f.stream("/" + bkt + "/k")
	defer res.Body.Close()
	buf := make([]byte, 4)
	if _, err := res.Body.Read(buf); err != nil {
		t.Fatal(err)
	}
	want(t, "what came before the gate", string(buf), "0123")
	f.held("g", 1)
	f.Gate("g").Release()
}

func TestBreaksInAnswersWithoutBody(t *testing.T) {
	f := start(t)
	f.inject(`(Hold "g" body 50% (And Put (Key "k")))`)
	f.inject(`(Truncate 0 (And Put (Key "j")))`)
	ch := f.async(func() reply { return f.put("k", "v") })
	f.held("g", 1)
	select {
	case r := <-ch:
		t.Fatalf("answered %s while held", r)
	default:
	}
	want(t, "applied", f.content("k"), "v")
	f.Gate("g").Release()
	want(t, "answered", <-ch, "200")
	want(t, "cut", f.put("j", "v").String()+f.content("j"), "errorv")
}

func TestRivals(t *testing.T) {
	f := start(t)
	f.Put(bkt, "k", []byte("v1"))
	old := f.etag("k")
	f.inject(`(Rival "theirs" (And PutIfMatch (Key "k") (OnIndex 0)))`)
	want(t, "the rival won", f.put("k", "mine", "If-Match", old), "412 PreconditionFailed")
	want(t, "its write stands", f.content("k"), "theirs")
	es := f.JournalFor(s3cas.Filter{Key: "k"})
	want(t, "the rival is in the journal", es[1].String(), "#2 rival Put bkt/k -> 200 in=6 out=0 etag "+old+">"+f.etag("k"))
	if es[1].Applied >= es[0].Applied {
		t.Fatal("the rival did not come first")
	}
	f.inject(`(Rival "other" "o" (And PutIfMatch (Key "k") (OnIndex 0)))`)
	want(t, "another key", f.put("k", "mine", "If-Match", f.etag("k")).String()+f.content("other"), "200o")

	f.inject(`(RivalDelete (And PutIfMatch (Key "d")))`)
	f.Put(bkt, "d", []byte("v"))
	want(t, "deleted first", f.put("d", "mine", "If-Match", f.etag("d")), "404 NoSuchKey")
	f.inject(`(Seq (RivalDelete) (Respond 409) (And PutIfMatch (Key "c")))`)
	f.Put(bkt, "c", []byte("v"))
	want(t, "AWS's conflict", f.put("c", "mine", "If-Match", f.etag("c")).String()+f.content("c"), "409 ConditionalRequestConflict<none>")
	f.inject(`(RivalSwap "y" (And Get (Key "x") (OnIndex 0)))`)
	f.Put(bkt, "x", []byte("X"))
	f.Put(bkt, "y", []byte("Y"))
	want(t, "swapped", f.get("x").body+f.content("y"), "YX")
	f.inject(`(RivalDelete "gone" (Key "trigger"))`)
	f.Put(bkt, "gone", []byte("g"))
	_ = f.get("trigger")
	want(t, "another key deleted", f.content("gone"), "<none>")
}

func TestRivalManifest(t *testing.T) {
	f := start(t)
	doc := `{"format": 1, "generation": 9007199254740993, "committed_by":"alpha", "entries":{"generation":{"generation":5}}, "x":1e3}`
	f.Put(bkt, "p/manifest.json", []byte(doc))
	f.inject(`(RivalManifest (And PutIfMatch (Key "p/manifest.json") (OnIndex 0)))`)
	want(t, "lost", f.put("p/manifest.json", "mine", "If-Match", f.etag("p/manifest.json")), "412 PreconditionFailed")
	next := `{"format": 1, "generation": 9007199254740994, "committed_by":"rival", "entries":{"generation":{"generation":5}}, "x":1e3}`
	want(t, "one on", f.content("p/manifest.json"), next)
	want(t, "its copy", f.content("p/manifests/gen-9007199254740994.json"), next)
	f.inject(`(RivalManifest (And PutIfNoneMatch (Key "q/manifest.json")))`)
	want(t, "first", f.put("q/manifest.json", "mine", "If-None-Match", "*"), "412 PreconditionFailed")
	var m map[string]any
	if err := json.Unmarshal([]byte(f.content("q/manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	want(t, "generation 1", m["generation"], 1)
	for _, bad := range []string{"[]", "{", `{"generation":"x"}`, `{"a":1}`} {
		if _, _, err := s3cas.NextGeneration([]byte(bad), time.Time{}); err == nil {
			t.Fatalf("%s is no manifest", bad)
		}
	}
}

func TestCallAndSignals(t *testing.T) {
	f := start(t)
	f.Register("grow", func(c *s3cas.Call) {
		b, _, _ := c.Server.Get(c.Entry.Bucket, c.Entry.Key)
		c.Server.Put(c.Entry.Bucket, c.Entry.Key, append(b, c.Body...))
	})
	f.Put(bkt, "k", []byte("a"))
	f.inject(`(Call "grow" (And PutIfNoneMatch (Key "k")))`)
	want(t, "called", f.put("k", "b", "If-None-Match", "*").String()+f.content("k"), "412 PreconditionFailedab")

	var got []string
	f.OnSignal("", func(s s3cas.Signal) {
		got = append(got, fmt.Sprint(s.Kill, " ", s.Principal, " ", s.Entry.Key, " ", s.Entry.ETagAfter != ""))
	})
	f.inject(`(Kill before (Key "kb"))`)
	f.inject(`(Kill after (Key "ka"))`)
	f.inject(`(Stop before (Key "sb"))`)
	f.inject(`(Stop after (Key "sa"))`)
	want(t, "kill before", f.put("kb", "x").String()+f.content("kb"), "error<none>")
	want(t, "kill after", f.put("ka", "x").String()+f.content("ka"), "errorx")
	want(t, "stop before", f.put("sb", "x").String()+f.content("sb"), "200x")
	want(t, "stop after", f.put("sa", "x").String()+f.content("sa"), "200x")
	want(t, "signals", strings.Join(got, "; "), "true anonymous kb false; true anonymous ka true; false anonymous sb false; false anonymous sa true")
}

func TestLate(t *testing.T) {
	f := start(t)
	f.Put(bkt, "k", []byte("v0"))
	v0 := f.etag("k")
	f.inject(`(Late 2 (And PutIfMatch (Key "k") (OnIndex 0)))`)
	want(t, "dropped", f.put("k", "late", "If-Match", v0), "error")
	want(t, "one further", f.get("k").body, "v0")
	want(t, "two further", f.get("k").body, "v0")
	want(t, "now it has arrived", f.get("k").body, "late")
	es := f.JournalFor(s3cas.Filter{Where: func(e s3cas.Entry) bool { return e.Late }})
	want(t, "journal", es[0].String(), `#4 anonymous Put bkt/k If-Match=`+v0+` -> 200 late in=4 out=0 etag `+v0+">"+f.etag("k"))

	f.inject(`(Late "g" (And PutIfMatch (Key "k") (OnIndex 0)))`)
	now := f.etag("k")
	want(t, "dropped again", f.put("k", "paused", "If-Match", now), "error")
	want(t, "put off", f.Gate("g").PutOff(), 1)
	want(t, "the successor", f.put("k", "successor", "If-Match", now), "200")
	f.Gate("g").Release()
	want(t, "too late", f.content("k"), "successor")
	es = f.JournalFor(s3cas.Filter{Where: func(e s3cas.Entry) bool { return e.Late }})
	want(t, "and told so", es[1].Code, "PreconditionFailed")
}

func TestDelay(t *testing.T) {
	var slept []time.Duration
	f := start(t, func(o *s3cas.Options) {
		o.Sleep = func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil }
	})
	f.inject(`(Delay 1h30m Put)`)
	want(t, "answer", f.put("k", "v"), "200")
	want(t, "slept", fmt.Sprint(slept), "[1h30m0s]")
}

func TestPredicates(t *testing.T) {
	f := start(t)
	cases := []struct{ pred, fires string }{
		{`Any`, "abcdef"}, {`Put`, "abc"}, {`Get`, "d"}, {`Reads`, "def"}, {`Writes`, "abc"}, {`PutIfMatch`, "a"}, {`PutIfNoneMatch`, "b"}, {`PutPlain`, "c"},
		{`Conditional`, "ab"}, {`List`, "f"}, {`Head`, "e"}, {`(Key "x/*")`, "abcde"}, {`(Key "x/?")`, "abc"}, {`(Key "*/d*")`, "de"}, {`(Bucket "b*")`, "abcdef"},
		{`(Principal "nobody")`, ""}, {`(Principal "anon*")`, "abcdef"}, {`(Header "x-who" "m?")`, "b"}, {`(Not Put)`, "def"}, {`(Or Get Head)`, "de"},
		{`(And Put (Not (Key "*/a")))`, "bc"}, {`(And (OnIndex 1) Put)`, "b"}, {`(And Put (OnIndex 1))`, "b"}, {`(And Put (FromIndex 1))`, "bc"},
		{`(And Reads (Not (OnIndex 0)))`, "ef"}, {`(Or (OnIndex 0) (OnIndex 3))`, "ad"}, {`(And (FromIndex 1) (Not (FromIndex 3)) Any)`, "bc"},
	}
	for _, c := range cases {
		f.ClearFaults()
		h := f.inject(`(Respond 418 "Fired" ` + c.pred + `)`)
		var fired string
		for i, r := range []reply{
			f.put("x/a", "", "If-Match", "q"), f.put("x/b", "", "If-None-Match", "*", "X-Who", "me"), f.put("x/c", ""),
			f.get("x/d/e"), f.do("HEAD", "/bkt/x/d/e", ""), f.do("GET", "/bkt?list-type=2&prefix=x", ""),
		} {
			if r.status == 418 {
				fired += string(rune('a' + i))
			}
		}
		want(t, c.pred, fired, c.fires)
		want(t, c.pred+" counted", h.Fired(), len(c.fires))
	}
	f.ClearFaults()
	f.inject(`(Drop (Key "never"))`)
	want(t, "unfired", len(f.Unfired()), 1)
}

func TestTwoFaultsActInOrder(t *testing.T) {
	f := start(t)
	f.Put(bkt, "k", []byte("v"))
	f.inject(`(Rival "theirs" (Key "k"))`)
	h := f.inject(`(Respond 503 (And Put (OnIndex 1)))`)
	want(t, "first", f.put("k", "mine"), "200")
	want(t, "second", f.put("k", "mine"), "503 SlowDown")
	want(t, "both acted", f.content("k")+fmt.Sprint(h.Fired()), "theirs1")
	e := f.JournalFor(s3cas.Filter{Status: 503})[0]
	want(t, "both named", e.Fault, `(Rival "theirs" (Key "k")) (Respond 503 (And Put (OnIndex 1)))`)
}
