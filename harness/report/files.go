package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// The files of a report's directory.
const (
	FileJSON  = "report.json"
	FileJUnit = "junit.xml"
	FileHTML  = "index.html"
	DirBadges = "badges"
	DirBundle = "bundles"
)

// keptOutput is how much of one output report.json keeps; the bundle keeps all the harness had.
const keptOutput = 4 << 10

// WriteAll writes a judged report into a directory: a bundle for each scenario that failed, then report.json, junit.xml,
// index.html and badges/. What an earlier run left under these names goes first. It sets Bundle of the scenarios and
// shortens their calls' output.
func WriteAll(dir string, r *Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, old := range []string{DirBundle, DirBadges} {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			return err
		}
	}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		if !wantsBundle(s.Verdict) {
			continue
		}
		s.Bundle = filepath.Join(DirBundle, bundleName(*s))
		if err := WriteBundle(filepath.Join(dir, s.Bundle), r, s); err != nil {
			return err
		}
		for j := range s.Calls {
			s.Calls[j].Stdout, s.Calls[j].Stderr = clip(s.Calls[j].Stdout), clip(s.Calls[j].Stderr)
		}
	}
	if err := writeJSON(filepath.Join(dir, FileJSON), r); err != nil {
		return err
	}
	return Render(dir, r)
}

// Render writes what follows from report.json: junit.xml, index.html and badges/.
func Render(dir string, r *Report) error {
	var junit, html bytes.Buffer
	if err := JUnit(&junit, r); err != nil {
		return err
	}
	if err := HTML(&html, r); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, FileJUnit), junit.Bytes()); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, FileHTML), html.Bytes()); err != nil {
		return err
	}
	return writeBadges(filepath.Join(dir, DirBadges), r)
}

func wantsBundle(v Verdict) bool { return v == Fail || v == XFail || v == Error }

func clip(s string) string {
	if len(s) <= keptOutput {
		return s
	}
	return s[:keptOutput/2] + fmt.Sprintf("\n… %d bytes left out; the bundle has them …\n", len(s)-keptOutput) + s[len(s)-keptOutput/2:]
}

// Read reads a report.json. A report of a newer schema is refused: half of it would be misread.
func Read(path string) (*Report, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s is no report: %w", path, err)
	}
	if r.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("%s has schema_version %d; this kit reads %d", path, r.SchemaVersion, SchemaVersion)
	}
	return &r, nil
}

func writeJSON(path string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	return writeFile(path, b.Bytes())
}

// writeFile writes in one rename: whoever reads the file while a run goes on reads a whole one.
func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(path), ".tmp-"+filepath.Base(path))
	if err := os.WriteFile(tmp, text, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
