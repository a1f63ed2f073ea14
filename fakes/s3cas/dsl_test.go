package s3cas_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"contextful/fakes/s3cas"
)

func TestParseFaultCanonical(t *testing.T) {
	for _, text := range []string{
		`(Respond 412 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`,
		`(Respond 409 "OperationAborted" Any)`,
		`(Hold "half" body 50% (And Get (Principal "beta")))`,
		`(Hold "g" before (Or Put (Not (Header "X-Who" "me*"))))`,
		`(Seq (RivalDelete) (Respond 409) (And PutIfMatch (Key "c")))`,
		`(Delay 1m0.5s (FromIndex 2))`,
		`(Rival "k\"ey" "bo\ndy\xff" Put)`,
		`(Corrupt -4 4 Get)`,
		`(Late "g" (Bucket "b?"))`,
	} {
		f, err := s3cas.ParseFault("  " + strings.ReplaceAll(text, " ", "\n ") + "\t")
		if err != nil && !strings.Contains(text, `"`) {
			t.Fatal(err)
		}
		f, err = s3cas.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "canonical", f, text)
	}
	fs, err := s3cas.ParseFaults("(Drop Put)\n\n(Drop Get)")
	want(t, "several", fmt.Sprint(fs, err), "[(Drop Put) (Drop Get)] <nil>")
	want(t, "the zero fault", s3cas.Fault{}, "()")
}

func TestParseFaultErrors(t *testing.T) {
	cases := []struct{ text, says string }{
		{``, "one fault is expected, not 0"},
		{`(Drop Put) (Drop Get)`, "one fault is expected, not 2"},
		{`(Drop)`, "ends with a predicate"},
		{`Drop`, "a fault is a list"},
		{`(Nonsense Put)`, "no action Nonsense"},
		{`(Drop Nonsense)`, "no predicate Nonsense"},
		{`(Drop (Nonsense 1))`, "no predicate (Nonsense"},
		{`(Drop (Key 1))`, "Key takes a string"},
		{`(Drop (Key "a" "b"))`, "Key takes a string"},
		{`(Drop (OnIndex -1))`, "counts from 0"},
		{`(Drop (And))`, "at least one"},
		{`(Drop (Not Put Get))`, "exactly one"},
		{`(Respond Put)`, "Respond takes an integer"},
		{`(Respond 99 Put)`, "between 200 and 599"},
		{`(Respond 600 Put)`, "between 200 and 599"},
		{`(Hold "g" sideways Put)`, "knows no word sideways"},
		{`(Hold "g" body Put)`, "body takes a number"},
		{`(Hold "g" after 3 Put)`, "before and after take none"},
		{`(Hold before Put)`, "Hold takes"},
		{`(Delay 5 Put)`, "Delay takes a duration"},
		{`(Delay -5s Put)`, "not negative"},
		{`(Truncate 101% Put)`, "no name, number"},
		{`(Late -1 Put)`, "not negative"},
		{`(Drop (Put) Put)`, "no list here"},
		{`(Seq (Drop) Put)`, "two actions or more"},
		{`(Seq Drop Drop Put)`, "in parentheses"},
		{`(Drop Put`, "never closed"},
		{`(Drop Put))`, "closes nothing"},
		{`(Rival "x Put)`, "not closed"},
		{`(Rival "\q" Put)`, "unknown escape"},
		{`(Drop {Put})`, "is expected"},
		{strings.Repeat("(And ", 100), "inside each other"},
		{`(Drop (Key "` + strings.Repeat("x", 70_000) + `"))`, "longer than"},
		{`(Drop (Key "` + strings.Repeat("\x01", 30_000) + `"))`, "printed, is longer than"},
	}
	for _, c := range cases {
		_, err := s3cas.ParseFault(c.text)
		var se *s3cas.SyntaxError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40s: %v, which does not say %q", c.text, err, c.says)
		}
	}
}

// faultText draws a random fault in canonical text.
func faultText(t *rapid.T) string {
	str := func(label string) string { return fmt.Sprintf("%q", rapid.String().Draw(t, label)) }
	num := func(lo, hi int) string { return fmt.Sprint(rapid.IntRange(lo, hi).Draw(t, "n")) }
	dur := func() string {
		return strings.Replace(time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "d")).String(), "µs", "us", 1)
	}
	amount := func() string {
		if rapid.Bool().Draw(t, "percent") {
			return num(0, 100) + "%"
		}
		return num(0, 1<<30)
	}
	when := func() string { return rapid.SampledFrom([]string{"before", "after"}).Draw(t, "when") }
	var pred func(depth int) string
	pred = func(depth int) string {
		n := rapid.IntRange(0, 9).Draw(t, "pred")
		if depth > 4 {
			n %= 4
		}
		switch n {
		case 0, 1, 2:
			return rapid.SampledFrom([]string{"Any", "Put", "Get", "PutIfMatch", "PutIfNoneMatch", "List", "Reads", "Writes", "DeleteIfMatch"}).Draw(t, "word")
		case 3, 4:
			return "(" + rapid.SampledFrom([]string{"Key", "Bucket", "Principal"}).Draw(t, "glob") + " " + str("glob text") + ")"
		case 5:
			return "(Header " + str("name") + " " + str("value") + ")"
		case 6:
			return "(" + rapid.SampledFrom([]string{"OnIndex", "FromIndex"}).Draw(t, "counter") + " " + num(0, 1000) + ")"
		case 7:
			return "(Not " + pred(depth+1) + ")"
		}
		var kids []string
		for range rapid.IntRange(1, 3).Draw(t, "kids") {
			kids = append(kids, pred(depth+1))
		}
		return "(" + rapid.SampledFrom([]string{"And", "Or"}).Draw(t, "junction") + " " + strings.Join(kids, " ") + ")"
	}
	action := func() string {
		switch rapid.IntRange(0, 10).Draw(t, "action") {
		case 0:
			return "Respond " + num(200, 599)
		case 1:
			return "ApplyThen " + num(200, 599) + " " + str("code")
		case 2:
			return rapid.SampledFrom([]string{"Drop", "ApplyThenDrop", "RivalManifest", "RivalDelete", "Corrupt"}).Draw(t, "bare")
		case 3:
			return "Late " + num(0, 100)
		case 4:
			return "Late " + str("gate")
		case 5:
			return "Hold " + str("gate") + " " + when()
		case 6:
			return "Hold " + str("gate") + " body " + amount()
		case 7:
			return "Delay " + dur()
		case 8:
			return rapid.SampledFrom([]string{"Truncate ", "Shorten "}).Draw(t, "cut") + amount()
		case 9:
			return "Rival " + str("key") + " " + str("body")
		}
		return rapid.SampledFrom([]string{"Kill ", "Stop "}).Draw(t, "signal") + when()
	}
	if rapid.Bool().Draw(t, "seq") {
		return "(Seq (" + action() + ") (" + action() + ") " + pred(0) + ")"
	}
	return "(" + action() + " " + pred(0) + ")"
}

// TestFaultRoundTrip: the text of a fault is all there is to it.
func TestFaultRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := faultText(t)
		f, err := s3cas.ParseFault(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if f.String() != text {
			t.Fatalf("printed %s\nread    %s", f, text)
		}
	})
}

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{
		`(Respond 412 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`, `(Seq (RivalDelete) (Respond 409) Put)`, `(Hold "g" body 50% Any)`,
		`(Corrupt -1 2 (Or Get (Not (Header "a" "b"))))`, `(Delay 100ms Put)`, `((`, `"`, `(Rival "\x00" Put)`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fs, err := s3cas.ParseFaults(text)
		if err != nil {
			var se *s3cas.SyntaxError
			if !errors.As(err, &se) || se.Offset < 0 || se.Offset > len(text) || se.Error() == "" {
				t.Fatalf("bad error %v", err)
			}
			return
		}
		for _, one := range fs {
			again, err := s3cas.ParseFault(one.String())
			if err != nil || again.String() != one.String() {
				t.Fatalf("%s does not parse back: %v", one, err)
			}
		}
	})
}

func TestGlob(t *testing.T) {
	cases := []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a/b/c", true}, {"a*", "b", false}, {"*/x.json", "a/b/x.json", true},
		{"*/x.json", "x.json", false}, {"a?c", "abc", true}, {"a?c", "aéc", true}, {"a?c", "ac", false}, {`\*`, "*", true}, {`\*`, "a", false},
		{`a\\b`, `a\b`, true}, {"a*b*c", "aXbYbZc", true}, {"a*b*c", "aXc", false}, {"**", "x", true}, {`x\`, `x\`, true}, {`\?`, "?", true},
		{"*a", strings.Repeat("a", 1000) + "b", false},
	}
	for _, c := range cases {
		if got := s3cas.Glob(c.pattern, c.s); got != c.want {
			t.Errorf("Glob(%q, %.20q) = %v", c.pattern, c.s, got)
		}
	}
}
