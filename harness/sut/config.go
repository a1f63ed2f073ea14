// Package sut asks an implementation under test: it reads conform.toml, turns verbs into processes, and holds, stops and
// kills them. It knows nothing of clauses.
//
// Answers: no clause. It is the seam every scenario goes through.
package sut

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"contextful/spec"

	"github.com/pelletier/go-toml/v2"
)

// A Clock says how the implementation is told the time.
type Clock string

// The ways. Under NoClock a scenario that moves time is unsupported.
const (
	NowFlag  Clock = "now-flag"
	Faketime Clock = "faketime"
	NoClock  Clock = "none"
)

// DefaultRefusal finds a code as a word anywhere in stderr.
const DefaultRefusal = `(?m)\b(?P<code>[A-Z][A-Za-z]+)\b`

// DefaultLimit is how long a verb may take before the kit says "no answer".
const DefaultLimit = 60 * time.Second

// A Config is a conform.toml, checked.
type Config struct {
	Path         string            // where it was read from; empty for one built in Go
	Name         string            // of the implementation
	Command      []string          // argv prefix; Command[0] is absolute or found in PATH
	Clock        Clock             //
	Capabilities map[string]bool   // by the spec's names ("valid-time"), every one stated
	Refusal      *regexp.Regexp    // has a group named code
	FormatMajor  int               // newest lay-out major it reads
	Prepare      []string          // optional; argv with {facts}
	Verbs        map[Verb]Template // every verb
	Env          map[string]string // added to every invocation (the kit's own addition, for instance CONTEXTFUL_MUTANT)
	Limit        time.Duration     // of one verb
}

// A ConfigError is exit code 2: the configuration cannot be used.
type ConfigError struct {
	Path    string
	Message string
}

func (e *ConfigError) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

type configFile struct {
	Sut struct {
		Name    string            `toml:"name"`
		Command []string          `toml:"command"`
		Clock   string            `toml:"clock"`
		Env     map[string]string `toml:"env"`
		Limit   string            `toml:"limit"`
	} `toml:"sut"`
	Capabilities map[string]bool `toml:"capabilities"`
	Refusal      struct {
		Code string `toml:"code"`
	} `toml:"refusal"`
	Format struct {
		Major int `toml:"major"`
	} `toml:"format"`
	Prepare struct {
		Command []string `toml:"command"`
	} `toml:"prepare"`
	Verbs map[string]any `toml:"verbs"`
}

// Load reads a conform.toml. Every error is a *ConfigError that names the key. A relative command that holds a slash is
// relative to the file's directory.
func Load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &ConfigError{path, "cannot be read: " + err.Error()}
	}
	return Parse(path, text)
}

// Startable says in one message why the command cannot be started; nil where it can. The error is a *ConfigError.
func (c *Config) Startable() error {
	name := c.Command[0]
	_, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return nil
	}
	hint := "a path with a slash is relative to the conform.toml"
	switch {
	case errors.Is(err, fs.ErrPermission):
		hint = "is it a file, and executable? chmod +x " + name
	case !strings.Contains(name, "/"):
		hint = "a bare name is looked for in PATH; a path needs a slash: ./" + name
	}
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return &ConfigError{c.Path, fmt.Sprintf("[sut] command: %s cannot be started: %v (hint: %s)", name, err, hint)}
}

// Parse is Load of a text; path is for messages and for relative commands.
func Parse(path string, text []byte) (*Config, error) {
	fail := func(format string, args ...any) (*Config, error) {
		return nil, &ConfigError{path, fmt.Sprintf(format, args...)}
	}
	var f configFile
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&f); err != nil {
		return fail("%v", tomlError(err))
	}
	c := &Config{Path: path, Name: f.Sut.Name, Command: f.Sut.Command, Clock: Clock(f.Sut.Clock), FormatMajor: f.Format.Major,
		Prepare: f.Prepare.Command, Env: f.Sut.Env, Limit: DefaultLimit, Verbs: map[Verb]Template{}}
	switch {
	case c.Name == "":
		return fail("[sut] name is missing")
	case len(c.Command) == 0:
		return fail("[sut] command is missing: the argv of the implementation")
	case c.Clock == "":
		return fail("[sut] clock is missing: now-flag, faketime or none")
	case c.Clock != NowFlag && c.Clock != Faketime && c.Clock != NoClock:
		return fail("[sut] clock %q is none of now-flag, faketime, none", c.Clock)
	case c.FormatMajor == 0:
		return fail("[format] major is missing: the newest lay-out this implementation reads")
	}
	if strings.Contains(c.Command[0], "/") && !filepath.IsAbs(c.Command[0]) {
		abs, err := filepath.Abs(filepath.Join(filepath.Dir(path), c.Command[0]))
		if err != nil {
			return fail("[sut] command: %v", err)
		}
		c.Command[0] = abs
	}
	if f.Sut.Limit != "" {
		d, err := time.ParseDuration(f.Sut.Limit)
		if err != nil || d <= 0 {
			return fail("[sut] limit %q is no duration such as \"60s\"", f.Sut.Limit)
		}
		c.Limit = d
	}
	if f.Refusal.Code == "" {
		f.Refusal.Code = DefaultRefusal
	}
	re, err := regexp.Compile(f.Refusal.Code)
	if err != nil {
		return fail("[refusal] code: %v", err)
	}
	if re.SubexpIndex("code") < 0 {
		return fail("[refusal] code has no group (?P<code>…)")
	}
	c.Refusal = re
	if c.Capabilities, err = capabilities(f.Capabilities); err != nil {
		return fail("%v", err)
	}
	if err := c.verbs(f.Verbs); err != nil {
		return fail("%v", err)
	}
	return c, nil
}

// tomlError says at which line a text is no TOML, or no conform.toml.
func tomlError(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		var keys []string
		for _, e := range strict.Errors {
			row, _ := e.Position()
			keys = append(keys, fmt.Sprintf("%s (line %d)", strings.Join(e.Key(), "."), row))
		}
		return fmt.Errorf("unknown key %s", strings.Join(keys, ", "))
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		row, column := bad.Position()
		return fmt.Errorf("line %d, column %d: not readable as TOML: %v", row, column, err)
	}
	return fmt.Errorf("not readable as TOML: %w", err)
}

func capabilities(stated map[string]bool) (map[string]bool, error) {
	out := map[string]bool{}
	var missing []string
	for _, known := range spec.Capabilities() {
		key := strings.ReplaceAll(known.Name, "-", "_")
		v, ok := stated[key]
		if !ok {
			missing = append(missing, key)
		}
		out[known.Name] = v
		delete(stated, key)
	}
	if len(stated) > 0 {
		var known []string
		for _, c := range spec.Capabilities() {
			known = append(known, strings.ReplaceAll(c.Name, "-", "_"))
		}
		var strange []string
		for _, key := range sorted(stated) {
			strange = append(strange, key+DidYouMean(key, known))
		}
		return nil, fmt.Errorf("[capabilities] unknown key %s", strings.Join(strange, ", "))
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("[capabilities] %s not stated: every capability is true or false", strings.Join(missing, ", "))
	}
	return out, nil
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func (c *Config) verbs(given map[string]any) error {
	for _, info := range Verbs() {
		c.Verbs[info.Verb] = info.Default
	}
	for _, name := range sorted(given) {
		info, ok := verbInfo(Verb(name))
		if !ok {
			var known []string
			for _, v := range Verbs() {
				known = append(known, string(v.Verb))
			}
			return fmt.Errorf("[verbs] unknown verb %s%s", name, DidYouMean(name, known))
		}
		t, err := template(given[name])
		if err == nil {
			err = t.check(info)
		}
		if err != nil {
			return fmt.Errorf("[verbs] %s: %w", name, err)
		}
		c.Verbs[info.Verb] = t
	}
	return nil
}

// template reads an array (the argv) or a table {argv, env, stdin, files}.
func template(v any) (Template, error) {
	switch v := v.(type) {
	case []any:
		return Template{Argv: v}, nil
	case map[string]any:
		var t Template
		for _, key := range sorted(v) {
			var ok bool
			switch key {
			case "argv":
				t.Argv, ok = v[key].([]any)
			case "stdin":
				t.Stdin, ok = v[key].(string)
			case "env":
				t.Env, ok = words(v[key])
			case "files":
				t.Files, ok = words(v[key])
			default:
				return t, fmt.Errorf("unknown key %s; a verb has argv, env, stdin, files", key)
			}
			if !ok {
				return t, fmt.Errorf("%s has the wrong type", key)
			}
		}
		return t, nil
	}
	return Template{}, fmt.Errorf("want an array of arguments or a table, not %T", v)
}

func words(v any) (map[string]string, bool) {
	m, ok := v.(map[string]any)
	out := map[string]string{}
	for k, x := range m {
		s, isText := x.(string)
		if !isText {
			return nil, false
		}
		out[k] = s
	}
	return out, ok
}

// Default is the configuration of the reference binary at command: every capability given is claimed, the others are
// denied.
func Default(name string, command []string, claimed ...string) *Config {
	c := &Config{Name: name, Command: command, Clock: NowFlag, FormatMajor: 2, Limit: DefaultLimit, Verbs: map[Verb]Template{},
		Capabilities: map[string]bool{}, Refusal: regexp.MustCompile(DefaultRefusal), Env: map[string]string{}}
	for _, known := range spec.Capabilities() {
		c.Capabilities[known.Name] = false
	}
	for _, name := range claimed {
		c.Capabilities[name] = true
	}
	for _, info := range Verbs() {
		c.Verbs[info.Verb] = info.Default
	}
	return c
}
