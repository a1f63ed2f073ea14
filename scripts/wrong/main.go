// Command wrong compiles the three deliberately wrong programs of examples/wrong, and the reference beside them: one binary that is all of them,
// by CONTEXTFUL_MUTANT, as `make mutants` does it.
//
//	go run ./scripts/wrong        # writes build/wrong/contextful
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"contextful/harness/mutation"
	"contextful/spec"
)

func main() {
	from := flag.String("from", "examples/wrong/programs", "directory of the programs, as TOML")
	to := flag.String("to", "build/wrong", "directory to write")
	flag.Parse()
	if err := build(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "wrong:", err)
		os.Exit(1)
	}
}

func build(from, to string) error {
	law, err := spec.Load()
	if err != nil {
		return err
	}
	programs, err := mutation.Load(os.DirFS(from), law)
	if err != nil {
		return err
	}
	b, err := mutation.Builder{Root: ".", Command: "./cmd/contextful", Dir: to}.Build(context.Background(), programs)
	if err != nil {
		return err
	}
	var dead []error
	for _, d := range b.Dead {
		dead = append(dead, fmt.Errorf("%s cannot be made any more: %s", d.ID, d.Why))
	}
	if len(dead) > 0 {
		return errors.Join(dead...)
	}
	name := filepath.Join(to, "contextful")
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Link(b.Mutated, name); err != nil {
		return err
	}
	for _, p := range programs {
		fmt.Printf("%s %s: %s\n", name, p.ID, p.Why)
	}
	return nil
}
