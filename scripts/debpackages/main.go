// Command debpackages turns Debian's package index into JSON Lines: real rows, already on every Debian machine.
//
//	apt-cache dumpavail | go run ./scripts/debpackages -out build/deb -runs 4
//
// It writes packages-0.jsonl … packages-<runs-1>.jsonl with the index in its own order and updates.jsonl, in which every
// tenth package comes again with its priority raised: the same key (name, architecture), other content. Fields: name, version,
// architecture, section, priority, installed_size (KiB), size (bytes), maintainer, description, sha256.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// row is one package as it lands; sizes are integers, absent fields are left out and land as null.
type row struct {
	Name          string `json:"name"`
	Version       string `json:"version"`
	Architecture  string `json:"architecture"`
	Section       string `json:"section,omitempty"`
	Priority      string `json:"priority,omitempty"`
	InstalledSize *int64 `json:"installed_size,omitempty"`
	Size          *int64 `json:"size,omitempty"`
	Maintainer    string `json:"maintainer,omitempty"`
	Description   string `json:"description,omitempty"`
	SHA256        string `json:"sha256,omitempty"`
}

func main() {
	out := flag.String("out", "build/deb", "directory to write")
	runs := flag.Int("runs", 4, "files to split the index into")
	flag.Parse()
	n, err := convert(os.Stdin, *out, *runs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "debpackages:", err)
		os.Exit(1)
	}
	fmt.Printf("%d packages in %d files under %s\n", n, *runs+1, *out)
}

func convert(in io.Reader, dir string, runs int) (int, error) {
	if runs < 1 {
		return 0, fmt.Errorf("-runs is %d, but at least one file is needed", runs)
	}
	rows, err := parse(in)
	if err != nil {
		return 0, err
	}
	if len(rows) == 0 {
		return 0, fmt.Errorf("no package on standard input (run apt-get update, then pipe apt-cache dumpavail)")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	for i := range runs {
		part := rows[i*len(rows)/runs : (i+1)*len(rows)/runs]
		if err := write(filepath.Join(dir, fmt.Sprintf("packages-%d.jsonl", i)), part); err != nil {
			return 0, err
		}
	}
	var updates []row
	for i := 0; i < len(rows); i += 10 {
		r := rows[i]
		r.Priority = "raised"
		updates = append(updates, r)
	}
	return len(rows), write(filepath.Join(dir, "updates.jsonl"), updates)
}

// parse reads stanzas of "Field: value" lines, blank lines between them; continuation lines begin with a space.
func parse(in io.Reader) ([]row, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<20), 1<<24)
	var rows []row
	var r row
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			if r.Name != "" {
				rows = append(rows, r)
			}
			r = row{}
			continue
		}
		field, value, ok := strings.Cut(line, ": ")
		if !ok || line[0] == ' ' {
			continue
		}
		if err := r.set(field, value); err != nil {
			return nil, fmt.Errorf("package %q: %w", r.Name, err)
		}
	}
	if r.Name != "" {
		rows = append(rows, r)
	}
	return rows, lines.Err()
}

func (r *row) set(field, value string) (err error) {
	switch field {
	case "Package":
		r.Name = value
	case "Version":
		r.Version = value
	case "Architecture":
		r.Architecture = value
	case "Section":
		r.Section = value
	case "Priority":
		r.Priority = value
	case "Maintainer":
		r.Maintainer = value
	case "Description":
		r.Description = value
	case "SHA256":
		r.SHA256 = value
	case "Installed-Size":
		r.InstalledSize, err = integer(value)
	case "Size":
		r.Size, err = integer(value)
	}
	return err
}

func integer(text string) (*int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	return &n, err
}

func write(name string, rows []row) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			f.Close()
			return err
		}
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
