package verify

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"contextful/harness/sut"
)

// Succeeded fails unless the verb ended with exit 0.
func Succeeded(res sut.Result) error {
	if res.OK() {
		return nil
	}
	return Fail(fmt.Sprintf("%s's %s succeeds", res.Node, res.Verb), "exit 0", Outcome(res))
}

// Outcome tells how a verb ended: its exit and the first lines of its stderr.
func Outcome(res sut.Result) string {
	how := fmt.Sprintf("exit %d", res.Exit)
	switch {
	case res.NoAnswer:
		how = "no answer in time"
	case res.Signal != "":
		how = "ended by the signal " + res.Signal
	}
	// The first line stands beside the exit: it is the refusal, and all that a one-line summary shows.
	if s := strings.TrimSpace(res.Stderr); s != "" {
		lines := strings.Split(s, "\n")
		how += ", stderr: " + strings.Join(bounded(lines), "\n            ")
	}
	return how
}

// A Refusal is what a refusal has to be: the code, and what the message names. Known holds every code of the law, so that
// the code is told from other words in capitals.
type Refusal struct {
	Code  string
	Names []string
	Known func(code string) bool
	Find  *regexp.Regexp // with a group named code
}

// Check fails unless the result is that refusal: exit non-zero and no crash, the first code of the law in stderr is this
// one, and every name is there by value.
func (r Refusal) Check(res sut.Result) error {
	what := fmt.Sprintf("%s's %s is refused with %s", res.Node, res.Verb, r.Code)
	if res.OK() || res.Exit <= 0 || res.Panicked {
		return Fail(what, "a refusal with "+r.Code, Outcome(res))
	}
	if code := r.codeOf(res.Stderr); code != r.Code {
		if code == "" {
			code = "no code"
		}
		return Fail(what, r.Code, code+" ("+Outcome(res)+")")
	}
	for _, name := range r.Names {
		if !Names(res.Stderr, name) {
			return Fail(what, "a message that names "+name, Outcome(res))
		}
	}
	return nil
}

func (r Refusal) codeOf(stderr string) string {
	re := r.Find
	if re == nil {
		re = regexp.MustCompile(sut.DefaultRefusal)
	}
	at := re.SubexpIndex("code")
	for _, m := range re.FindAllStringSubmatch(stderr, -1) {
		if at < len(m) && (m[at] == r.Code || (r.Known != nil && r.Known(m[at]))) {
			return m[at]
		}
	}
	return ""
}

var (
	instantForm = regexp.MustCompile(`\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)`)
	numberForm  = regexp.MustCompile(`^-?[0-9]+$`)
)

// typeNames are the usual names of a type, lower case.
var typeNames = map[string][]string{
	"boolean": {"boolean", "bool"}, "int32": {"int32", "integer", "int4", "int"}, "int64": {"int64", "bigint", "int8", "long"},
	"float64": {"float64", "double", "float8"}, "float32": {"float32", "float", "real", "float4"}, "utf8": {"utf8", "string", "varchar", "text"},
	"json": {"json"}, "timestamp": {"timestamp", "timestamptz", "timestamp_ns"}, "binary": {"binary", "blob", "bytea", "bytes"},
}

// Names reports whether a message names a thing, compared by value: any RFC 3339 form of an instant, any usual name of a
// type, a number as a whole number (not as a piece of a longer one), anything else as it stands.
func Names(message, thing string) bool {
	if want, err := time.Parse(time.RFC3339Nano, thing); err == nil {
		for _, m := range instantForm.FindAllString(message, -1) {
			if got, ok := anyInstant(m); ok && got.Equal(want) {
				return true
			}
		}
		return false
	}
	if names, ok := typeNames[thing]; ok {
		for _, n := range names {
			if regexp.MustCompile(`(?i)\b` + n + `\b`).MatchString(message) {
				return true
			}
		}
		return false
	}
	if numberForm.MatchString(thing) {
		return regexp.MustCompile(`(^|[^0-9])` + regexp.QuoteMeta(thing) + `($|[^0-9])`).MatchString(message)
	}
	return strings.Contains(message, thing) || strings.Contains(message, jsonEscaped(thing))
}

// jsonEscaped is how a refusal in JSON writes a path or a text with quotes.
func jsonEscaped(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) }

func anyInstant(s string) (time.Time, bool) {
	s = strings.ToUpper(s)
	s = s[:10] + "T" + s[11:]
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700"} {
		if t, err := time.Parse(form, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
