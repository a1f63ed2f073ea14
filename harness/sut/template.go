package sut

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
)

// A Template says how a verb becomes a process. In Argv a string is one argument, always present; an array is a group of
// arguments that is left out when a placeholder in it has no value and repeated when one has several. The argv follows
// the command of the implementation. Stdin, Env and Files (path → content, paths relative to the project) take
// placeholders too.
type Template struct {
	Argv  []any
	Env   map[string]string
	Stdin string
	Files map[string]string
}

// Args are the values of a verb's placeholders. A placeholder without an entry has no value.
type Args map[string][]string

// A builds Args from name, value pairs; an empty value is no value, a name given twice has both.
func A(pairs ...string) Args {
	out := Args{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out[pairs[i]] = append(out[pairs[i]], pairs[i+1])
		}
	}
	return out
}

func (a Args) first(name string) string {
	if v := a[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// expand fills the template in.
func (t Template) expand(args Args) (argv []string, err error) {
	for _, part := range t.Argv {
		switch p := part.(type) {
		case string:
			argv = append(argv, fill(p, args, 0))
		case []any:
			for i := range repeats(p, args) {
				for _, word := range p {
					argv = append(argv, fill(word.(string), args, i))
				}
			}
		default:
			return nil, fmt.Errorf("argv holds a %T", part)
		}
	}
	return argv, nil
}

// repeats says how often a group stands in the argv: as often as its placeholders have values.
func repeats(group []any, args Args) int {
	n := -1
	for _, word := range group {
		for _, m := range placeholder.FindAllStringSubmatch(word.(string), -1) {
			if have := len(args[m[1]]); n < 0 || have < n {
				n = have
			}
		}
	}
	if n < 0 {
		return 1
	}
	return n
}

func fill(s string, args Args, i int) string {
	return placeholder.ReplaceAllStringFunc(s, func(m string) string {
		v := args[m[1:len(m)-1]]
		if i < len(v) {
			return v[i]
		}
		return ""
	})
}

// check names the first thing wrong with a template of the verb.
func (t Template) check(info VerbInfo) error {
	known := append(Everywhere(), info.Placeholders...)
	text := func(s string) error {
		for _, m := range placeholder.FindAllStringSubmatch(s, -1) {
			if !slices.Contains(known, m[1]) {
				sort.Strings(known)
				return fmt.Errorf("unknown placeholder {%s}; this verb knows %v", m[1], known)
			}
		}
		return nil
	}
	words := []string{t.Stdin}
	for _, part := range t.Argv {
		switch p := part.(type) {
		case string:
			words = append(words, p)
		case []any:
			for _, w := range p {
				s, ok := w.(string)
				if !ok {
					return fmt.Errorf("argv: a group holds words, not a %T", w)
				}
				words = append(words, s)
			}
		default:
			return fmt.Errorf("argv: want words and groups of words, not a %T", p)
		}
	}
	for k, v := range t.Env {
		words = append(words, k, v)
	}
	for k, v := range t.Files {
		words = append(words, k, v)
	}
	for _, w := range words {
		if err := text(w); err != nil {
			return err
		}
	}
	return nil
}
