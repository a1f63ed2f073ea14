package s3cas

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is one rule: when a request matches the predicate, do these steps. It is an immutable value; its text, which String
// prints and ParseFault reads, is all there is to it. The package documentation has the grammar.
type Fault struct {
	steps []step
	pred  *pred
}

// step is one action with its arguments.
type step struct {
	name string
	args []value
}

// pred is a node of a predicate.
type pred struct {
	name string
	args []value
	kids []*pred
}

// actionSpec is an action's name, the shapes its arguments may have (one letter per kind), the phase it acts in, and the words
// that its w arguments may be.
type actionSpec struct {
	shapes []string
	words  []string
	does   string
}

// actionSpecs is what a fault can do.
var actionSpecs = map[string]actionSpec{
	"Respond":       {[]string{"i", "is"}, nil, "answer this status (and code); nothing is applied"},
	"ApplyThen":     {[]string{"i", "is"}, nil, "apply, then answer this status (and code) whatever came of it"},
	"Drop":          {[]string{""}, nil, "close the connection; nothing is applied"},
	"ApplyThenDrop": {[]string{""}, nil, "apply, then close the connection without an answer"},
	"Late":          {[]string{"i", "s"}, nil, "close the connection; apply after n further requests, or when the gate opens"},
	"Hold":          {[]string{"sw", "swi", "swp"}, []string{"before", "after", "body"}, "wait at the gate: before applying, after applying, or with k bytes (or k%) of the answer's body sent"},
	"Delay":         {[]string{"d"}, nil, "wait this long before applying"},
	"Truncate":      {[]string{"i", "p"}, nil, "promise the whole body, send this much, close the connection"},
	"Shorten":       {[]string{"i", "p"}, nil, "send this much of the body as if it were all"},
	"Corrupt":       {[]string{"", "i", "ii"}, nil, "flip the bits of one byte in the middle, of the byte at i (below 0: from the end), or of j bytes from there: of the answer's body, or for a Put of what is stored"},
	"Rival":         {[]string{"s", "ss"}, nil, "a rival first writes this body to the key of the request, or to the key given first"},
	"RivalManifest": {[]string{""}, nil, "a rival first commits the manifest at the key one generation on, and its copy in manifests/"},
	"RivalDelete":   {[]string{"", "s"}, nil, "a rival first deletes the key of the request, or the key given"},
	"RivalSwap":     {[]string{"s"}, nil, "a rival first exchanges the objects at the key of the request and the key given"},
	"Call":          {[]string{"s"}, nil, "first run the callback registered under this name"},
	"Kill":          {[]string{"w"}, []string{"before", "after"}, "kill who asked, by its callback, and close the connection: before or after applying"},
	"Stop":          {[]string{"w"}, []string{"before", "after"}, "stop who asked, by its callback, and go on: before or after applying"},
}

// ActionNames lists the actions with what they do, sorted by name.
func ActionNames() [][2]string {
	var out [][2]string
	for name, spec := range actionSpecs {
		out = append(out, [2]string{name, spec.does})
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}

// ParseFault reads one fault, for instance
//
//	(Respond 412 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))
//
// Its error is a *SyntaxError.
func ParseFault(text string) (Fault, error) {
	fs, err := ParseFaults(text)
	if err != nil {
		return Fault{}, err
	}
	if len(fs) != 1 {
		return Fault{}, &SyntaxError{Text: text, Offset: 0, Message: fmt.Sprintf("one fault is expected, not %d", len(fs))}
	}
	return fs[0], nil
}

// ParseFaults reads any number of faults, with space between.
func ParseFaults(text string) ([]Fault, error) {
	nodes, err := readAll(text)
	if err != nil {
		return nil, err
	}
	var out []Fault
	for _, n := range nodes {
		f, err := toFault(text, n)
		if err != nil {
			return nil, err
		}
		if len(f.String()) > maxFaultText { // escapes can make the printed form longer than the one read
			return nil, syntax(text, n.at, "the text, printed, is longer than %d bytes", maxFaultText)
		}
		out = append(out, f)
	}
	return out, nil
}

// String prints the fault in canonical form: ParseFault reads it back to an equal fault.
func (f Fault) String() string {
	if f.pred == nil {
		return "()"
	}
	var b strings.Builder
	b.WriteByte('(')
	if len(f.steps) == 1 {
		f.steps[0].print(&b)
	} else {
		b.WriteString("Seq")
		for _, s := range f.steps {
			b.WriteString(" (")
			s.print(&b)
			b.WriteByte(')')
		}
	}
	b.WriteByte(' ')
	f.pred.print(&b)
	b.WriteByte(')')
	return b.String()
}

func (s step) print(b *strings.Builder) {
	b.WriteString(s.name)
	for _, a := range s.args {
		b.WriteByte(' ')
		b.WriteString(a.String())
	}
}

func (p *pred) print(b *strings.Builder) {
	if len(p.args) == 0 && len(p.kids) == 0 {
		b.WriteString(p.name)
		return
	}
	b.WriteByte('(')
	b.WriteString(p.name)
	for _, a := range p.args {
		b.WriteByte(' ')
		b.WriteString(a.String())
	}
	for _, k := range p.kids {
		b.WriteByte(' ')
		k.print(b)
	}
	b.WriteByte(')')
}

func syntax(text string, at int, format string, args ...any) error {
	return &SyntaxError{Text: text, Offset: at, Message: fmt.Sprintf(format, args...)}
}

func toFault(text string, n node) (Fault, error) {
	if !n.list || n.head() == "" {
		return Fault{}, syntax(text, n.at, "a fault is a list that begins with an action")
	}
	if len(n.kids) < 2 {
		return Fault{}, syntax(text, n.at, "a fault ends with a predicate, such as Any or (Key \"*\")")
	}
	last := n.kids[len(n.kids)-1]
	body := n.kids[1 : len(n.kids)-1]
	p, err := toPred(text, last)
	if err != nil {
		return Fault{}, err
	}
	if n.head() != "Seq" {
		s, err := toStep(text, n.at, n.head(), body)
		return Fault{steps: []step{s}, pred: p}, err
	}
	if len(body) < 2 {
		return Fault{}, syntax(text, n.at, "Seq takes two actions or more, each in parentheses, and a predicate")
	}
	f := Fault{pred: p}
	for _, k := range body {
		if k.head() == "" {
			return Fault{}, syntax(text, k.at, "Seq takes actions in parentheses")
		}
		s, err := toStep(text, k.at, k.head(), k.kids[1:])
		if err != nil {
			return Fault{}, err
		}
		f.steps = append(f.steps, s)
	}
	return f, nil
}

func toStep(text string, at int, name string, args []node) (step, error) {
	spec, ok := actionSpecs[name]
	if !ok {
		return step{}, syntax(text, at, "there is no action %s", name)
	}
	s := step{name: name}
	shape := ""
	for _, a := range args {
		if a.list {
			return step{}, syntax(text, a.at, "%s takes no list here", name)
		}
		s.args = append(s.args, a.atom)
		shape += string(rune(a.atom.kind))
		if a.atom.kind == kindWord && !slices.Contains(spec.words, a.atom.s) {
			return step{}, syntax(text, a.at, "%s knows no word %s", name, a.atom.s)
		}
	}
	if !slices.Contains(spec.shapes, shape) {
		return step{}, syntax(text, at, "%s takes %s", name, describeShapes(spec.shapes))
	}
	if err := s.check(); err != "" {
		return step{}, syntax(text, at, "%s: %s", name, err)
	}
	return s, nil
}

// check looks at what a shape cannot say.
func (s step) check() string {
	switch s.name {
	case "Respond", "ApplyThen":
		if n := s.args[0].n; n < 200 || n > 599 {
			return "a status lies between 200 and 599"
		}
	case "Hold":
		if body := s.args[1].s == "body"; body != (len(s.args) == 3) {
			return "body takes a number of bytes or a percentage, before and after take none"
		}
		if len(s.args) == 3 && s.args[2].n < 0 {
			return "a number of bytes is not negative"
		}
	case "Late", "Truncate", "Shorten":
		if s.args[0].n < 0 {
			return "the number is not negative"
		}
	case "Corrupt":
		if len(s.args) == 2 && s.args[1].n < 1 {
			return "at least one byte is flipped"
		}
	case "Delay":
		if s.args[0].d < 0 {
			return "a delay is not negative"
		}
	}
	return ""
}

func describeShapes(shapes []string) string {
	words := map[rune]string{'s': "a string", 'i': "an integer", 'p': "a percentage", 'd': "a duration", 'w': "a word"}
	var alts []string
	for _, sh := range shapes {
		var parts []string
		for _, c := range sh {
			parts = append(parts, words[c])
		}
		if len(parts) == 0 {
			parts = []string{"no argument"}
		}
		alts = append(alts, strings.Join(parts, " and "))
	}
	return strings.Join(alts, "; or ") + ", and then a predicate"
}
