package mutation

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// A Builder compiles the clean and the mutated binary of one command.
type Builder struct {
	Root    string   // directory of go.mod
	Command string   // package of the command, "./cmd/contextful"
	Dir     string   // where binaries and the overlay are kept, "build/mutants"
	Env     []string // added to the environment of go; nil adds nothing
	Vet     bool     // run go vet over the mutated packages too
}

// Binaries are the two programs and what could not be compiled in.
type Binaries struct {
	Clean   string // the ordinary binary, absolute path
	Mutated string // the one that obeys CONTEXTFUL_MUTANT; empty when no mutant is alive
	Dead    []Dead // sorted by id
}

// Build compiles both, or takes those of the same sources from the last time. A mutant whose snippet is gone, or whose
// replacement does not compile, is dead: it is left out, and named. The error is of everything else: a command that does
// not compile by itself, go missing, a full disk.
func (b Builder) Build(ctx context.Context, mutants []Mutant) (Binaries, error) {
	root, err := filepath.Abs(b.Root)
	if err != nil {
		return Binaries{}, err
	}
	b.Root = root
	if b.Dir, err = filepath.Abs(b.Dir); err != nil {
		return Binaries{}, err
	}
	module, err := modulePath(root)
	if err != nil {
		return Binaries{}, err
	}
	clean, _, err := b.compile(ctx, "clean", overlay{root: root})
	if err != nil {
		return Binaries{}, fmt.Errorf("%s does not compile, mutants left out of it:\n%w", b.Command, err)
	}
	out := Binaries{Clean: clean}
	dead := map[string]string{}
	for {
		alive := without(mutants, dead)
		o, more, err := rewrite(root, module, alive)
		if err != nil {
			return Binaries{}, err
		}
		note(dead, more)
		out.Dead = deadList(dead)
		if len(dead) == len(mutants) {
			return out, nil
		}
		binary, blamed, err := b.compile(ctx, "mutated", o)
		if err == nil {
			out.Mutated = binary
			return out, nil
		}
		if len(blamed) == 0 {
			return Binaries{}, fmt.Errorf("the mutated %s does not compile, and no mutant is named:\n%w", b.Command, err)
		}
		note(dead, blamed)
	}
}

func note(dead map[string]string, more []Dead) {
	for _, d := range more {
		if _, ok := dead[d.ID]; !ok {
			dead[d.ID] = d.Why
		}
	}
}

func without(mutants []Mutant, dead map[string]string) []Mutant {
	var out []Mutant
	for _, m := range mutants {
		if _, ok := dead[m.ID]; !ok {
			out = append(out, m)
		}
	}
	return out
}

// compile builds the command under the overlay, unless a binary of the same sources is there. Compiler messages that
// stand in a mutant's copy come back as dead mutants.
func (b Builder) compile(ctx context.Context, kind string, o overlay) (string, []Dead, error) {
	flags := []string{}
	if len(o.files) > 0 {
		index, err := o.write(filepath.Join(b.Dir, ".overlay")) // hidden: ./... is not to find Go files below build
		if err != nil {
			return "", nil, err
		}
		flags = append(flags, "-overlay", index)
	}
	digest, err := b.digest(ctx, o, flags)
	if err != nil {
		return "", blame("does not compile: ", err.Error()), err
	}
	name := kind + "-" + path.Base(b.Command)
	binary := filepath.Join(b.Dir, name+"-"+digest[:16])
	if _, err := os.Stat(binary); err == nil {
		return binary, nil, nil
	}
	if b.Vet && len(o.files) > 0 {
		if out, err := b.run(ctx, append(append([]string{"vet"}, flags...), o.packages()...)); err != nil {
			return "", blame("go vet: ", string(out)), errors.New(strings.TrimSpace(string(out)))
		}
	}
	tmp := filepath.Join(b.Dir, ".tmp-"+name)
	args := append(append([]string{"build", "-buildvcs=false"}, flags...), "-o", tmp, b.Command)
	if out, err := b.run(ctx, args); err != nil {
		return "", blame("does not compile: ", string(out)), errors.New(strings.TrimSpace(string(out) + "\n" + err.Error()))
	}
	old, err := filepath.Glob(filepath.Join(b.Dir, name+"-*"))
	if err != nil {
		return "", nil, err
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return "", nil, err
		}
	}
	return binary, nil, os.Rename(tmp, binary)
}

func (b Builder) run(ctx context.Context, args []string) ([]byte, error) {
	cmd := b.command(ctx, args)
	return cmd.CombinedOutput()
}

func (b Builder) command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.Root
	cmd.Env = append(os.Environ(), b.Env...)
	return cmd
}

// packages lists the directories of the mutated files, as go names them.
func (o overlay) packages() []string {
	seen := map[string]bool{}
	var out []string
	for name := range o.files {
		if d := "./" + path.Dir(name); !seen[d] {
			seen[d] = true
			out = append(out, d)
		}
	}
	sort.Strings(out)
	return out
}

var inCopy = regexp.MustCompile(`([a-z0-9-]+)@([^:\s/]+\.go:\d+(?::\d+)?: .*)`)

// blame reads the messages of compiler and vet: a place in a mutant's copy is called "<id>@file.go:line".
func blame(prefix, output string) []Dead {
	dead := map[string]string{}
	for _, line := range strings.Split(output, "\n") {
		if m := inCopy.FindStringSubmatch(line); m != nil {
			if _, ok := dead[m[1]]; !ok {
				dead[m[1]] = prefix + m[2]
			}
		}
	}
	return deadList(dead)
}

type listed struct {
	Dir                                       string
	GoFiles, CgoFiles, HFiles, CFiles, SFiles []string
	EmbedFiles                                []string
	Module                                    *struct{ Main bool }
}

// digest is over the compiler, go.mod, go.sum and every source file of this module that the command is made of.
func (b Builder) digest(ctx context.Context, o overlay, flags []string) (string, error) {
	args := append(append([]string{"list", "-deps", "-json=Dir,GoFiles,CgoFiles,HFiles,CFiles,SFiles,EmbedFiles,Module"}, flags...), b.Command)
	cmd := b.command(ctx, args)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	list, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	version, err := b.command(ctx, []string{"env", "GOVERSION", "GOOS", "GOARCH", "GOFLAGS", "CGO_ENABLED"}).Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	h := sha256.New()
	h.Write(version)
	names := []string{filepath.Join(b.Root, "go.mod"), filepath.Join(b.Root, "go.sum")}
	dec := json.NewDecoder(bytes.NewReader(list))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", fmt.Errorf("go list: %w", err)
		}
		if p.Module == nil || !p.Module.Main {
			continue
		}
		for _, group := range [][]string{p.GoFiles, p.CgoFiles, p.HFiles, p.CFiles, p.SFiles, p.EmbedFiles} {
			for _, f := range group {
				names = append(names, filepath.Join(p.Dir, f))
			}
		}
	}
	for _, name := range names {
		if err := b.hashFile(h, o, name); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (b Builder) hashFile(h io.Writer, o overlay, name string) error {
	rel, err := filepath.Rel(b.Root, name)
	if err != nil {
		return err
	}
	text, ok := o.files[filepath.ToSlash(rel)]
	if !ok {
		raw, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) && filepath.Base(name) == "go.sum" {
			return nil
		}
		if err != nil {
			return err
		}
		text = string(raw)
	}
	_, err = fmt.Fprintf(h, "%s %d\n%s", rel, len(text), text)
	return err
}

func modulePath(root string) (string, error) {
	f, err := os.Open(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("the mutants are compiled from source, and %s has no go.mod: %w", root, err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, ok := strings.CutPrefix(strings.TrimSpace(s.Text()), "module "); ok {
			return strings.Trim(strings.TrimSpace(name), `"`), nil
		}
	}
	return "", fmt.Errorf("%s/go.mod names no module", root)
}
