package s3cas_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"contextful/fakes/s3cas"
)

// TestDocumentedFaultsParse: every fault in the package documentation is one. P stands for a predicate there.
func TestDocumentedFaultsParse(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(doc)) {
		text, ok := strings.CutPrefix(line, "//\t(")
		if !ok {
			continue
		}
		text = "(" + text
		depth, end := 0, 0
		for i, c := range text {
			switch c {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				end = i + 1
				break
			}
		}
		one := strings.ReplaceAll(text[:end], " P)", " Any)")
		if _, err := s3cas.ParseFault(one); err != nil {
			// Predicates stand alone in the documentation.
			if _, err := s3cas.ParseFault("(Drop " + one + ")"); err != nil {
				t.Errorf("%s: %v", one, err)
			}
		}
		n++
	}
	if n < 25 {
		t.Fatalf("only %d faults found", n)
	}
}

// TestEveryActionAndPredicateIsDocumented keeps the documentation complete.
func TestEveryActionAndPredicateIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s3cas.ActionNames() {
		if !strings.Contains(string(doc), "("+a[0]) || a[1] == "" {
			t.Errorf("the action %s is not documented", a[0])
		}
	}
	for _, p := range s3cas.PredicateNames() {
		if name := strings.Fields(strings.Trim(p, "()"))[0]; !strings.Contains(string(doc), name) {
			t.Errorf("the predicate %s is not documented", name)
		}
	}
}

// The shortest use: a server, a fault, a look at the journal.
func Example() {
	s, err := s3cas.New(s3cas.Options{Buckets: []string{"b"}, Anonymous: true}).Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = s.Close() }()
	fault, err := s3cas.ParseFault(`(Respond 412 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`)
	if err != nil {
		fmt.Println(err)
		return
	}
	h := s.Inject(fault)
	fmt.Println(h.Fired(), len(s.Unfired()), fault)
	// Output: 0 1 (Respond 412 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))
}
