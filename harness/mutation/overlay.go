package mutation

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// hookSource lies beside the mutants: go vet wants its directory to exist.
const hookSource = `// Package mutant says which mutant is active. It exists in an overlay only.
package mutant

import "os"

var active = os.Getenv("` + Env + `")

// Active names the mutant of this process, or "".
func Active() string { return active }
`

// An overlay is what stands in place of the module's files for one build.
type overlay struct {
	root  string            // of the module, absolute
	files map[string]string // path relative to root → text
}

// rewrite puts every mutant in, except those that cannot be: they come back as dead.
func rewrite(root, module string, mutants []Mutant) (overlay, []Dead, error) {
	dead := map[string]string{}
	for {
		o, more, err := attempt(root, module, mutants, dead)
		if err != nil {
			return overlay{}, nil, err
		}
		if len(more) == 0 {
			return o, deadList(dead), nil
		}
		for _, d := range more {
			dead[d.ID] = d.Why
		}
	}
}

func deadList(dead map[string]string) []Dead {
	var out []Dead
	for id, why := range dead {
		out = append(out, Dead{id, why})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

func attempt(root, module string, mutants []Mutant, skip map[string]string) (overlay, []Dead, error) {
	files := map[string]*file{}
	var dead []Dead
	for _, m := range mutants {
		if _, ok := skip[m.ID]; ok {
			continue
		}
		for _, e := range m.Edits() {
			f, why, err := open(root, e.File, files)
			if err != nil {
				return overlay{}, nil, err
			}
			if why == "" {
				if err := f.add(m.ID, e); err != nil {
					why = fmt.Sprintf("%s: %v", e.File, err)
				}
			}
			if why != "" {
				dead = append(dead, Dead{m.ID, why})
				break
			}
		}
	}
	if len(dead) > 0 {
		return overlay{}, dead, nil
	}
	o := overlay{root: root, files: map[string]string{}}
	for name, f := range files {
		text, more := f.mutated(module + "/ref/mutants")
		o.files[name] = text
		dead = append(dead, more...)
	}
	if len(o.files) > 0 {
		o.files["ref/mutants/mutant.go"] = hookSource
	}
	return o, dead, nil
}

func open(root, name string, files map[string]*file) (*file, string, error) {
	if f, ok := files[name]; ok {
		return f, "", nil
	}
	if strings.HasSuffix(name, "_test.go") {
		return nil, name + " is a test", nil
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, "there is no file " + name, nil
	}
	if err != nil {
		return nil, "", err
	}
	f, err := parseFile(name, string(text))
	if err != nil {
		return nil, "", fmt.Errorf("%s is no Go: %w", name, err)
	}
	files[name] = f
	return f, "", nil
}

// write lays the overlay out below dir and gives the path of the file for `go build -overlay`.
func (o overlay) write(dir string) (string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range o.files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(o.root, name)] = at
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	index := filepath.Join(dir, "overlay.json")
	return index, os.WriteFile(index, text, 0o644)
}
