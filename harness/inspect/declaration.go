package inspect

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Declaration reads a contextful.toml as the values it holds; fs.ErrNotExist where there is none.
func Declaration(project string) (map[string]any, error) {
	path := filepath.Join(project, "contextful.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	doc := map[string]any{}
	if err := toml.Unmarshal(text, &doc); err != nil {
		return nil, wrong("%s is no TOML: %w", path, err)
	}
	return doc, nil
}

// ProjectName is the name that a declaration gives the project; false where it declares none.
func ProjectName(doc map[string]any) (string, bool) {
	p, _ := doc["project"].(map[string]any)
	name, ok := p["name"].(string)
	return name, ok
}

// Entries lists everything below a directory, directories with a slash at their end, sorted. A missing directory has none.
func Entries(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			rel += "/"
		}
		out = append(out, rel)
		return err
	})
	return out, err
}

// Below keeps the entries under one of the directories, each given with its slash.
func Below(entries []string, dirs ...string) []string {
	var out []string
	for _, e := range entries {
		for _, d := range dirs {
			if strings.HasPrefix(e, d) {
				out = append(out, e)
				break
			}
		}
	}
	return out
}
