package inspect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"
)

// A Tree is what a directory held at one moment: slash-separated relative path → size and digest. Directories are left
// out; a symbolic link is its target.
type Tree map[string]TreeFile

// A TreeFile is one file of a Tree.
type TreeFile struct {
	Size   int64
	SHA256 string // lower-case hex, or "-> target" for a symbolic link
	Text   string // of a small JSON document, so that a difference can be shown: a pointer's, for instance
}

// Documents up to this size are shown where they differ.
const shownBytes = 256

// Snap reads a directory tree. A missing directory is an empty tree. A file that vanishes while it is looked at is left
// out: the tree of a running process moves.
func Snap(dir string) (Tree, error) {
	t := Tree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if os.IsNotExist(err) {
				return nil
			}
			return err
		}
		if d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			t[rel] = TreeFile{SHA256: "-> " + target}
			return err
		}
		if !d.Type().IsRegular() {
			t[rel] = TreeFile{SHA256: d.Type().String()}
			return nil
		}
		size, digest, err := FileDigest(path)
		if os.IsNotExist(err) {
			return nil
		}
		if os.IsPermission(err) {
			t[rel] = TreeFile{SHA256: "unreadable"}
			return nil
		}
		f := TreeFile{Size: size, SHA256: digest}
		if err == nil && size <= shownBytes && strings.HasSuffix(rel, ".json") {
			text, err := os.ReadFile(path)
			if err == nil && int64(len(text)) == size && utf8.Valid(text) {
				f.Text = strings.Join(strings.Fields(string(text)), " ")
			}
		}
		t[rel] = f
		return err
	})
	return t, err
}

// FileDigest is the size and the lower-case hex SHA-256 of a file.
func FileDigest(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// Only keeps the paths that keep accepts.
func (t Tree) Only(keep func(path string) bool) Tree {
	out := Tree{}
	for p, f := range t {
		if keep(p) {
			out[p] = f
		}
	}
	return out
}

// Paths lists the files, sorted.
func (t Tree) Paths() []string {
	out := make([]string, 0, len(t))
	for p := range t {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

// Diff lists what changed from t to after, one line each, sorted by path: "+ path", "- path", "~ path".
func (t Tree) Diff(after Tree) []string {
	var out []string
	for p, f := range after {
		old, had := t[p]
		switch {
		case !had:
			out = append(out, fmt.Sprintf("+ %s (%d bytes)", p, f.Size))
		case old.Size != f.Size || old.SHA256 != f.SHA256:
			line := fmt.Sprintf("~ %s (%d -> %d bytes)", p, old.Size, f.Size)
			if old.Text != "" && f.Text != "" {
				line = fmt.Sprintf("~ %s (%s -> %s)", p, old.Text, f.Text)
			}
			out = append(out, line)
		}
	}
	for p := range t {
		if _, still := after[p]; !still {
			out = append(out, "- "+p)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i][2:] < out[j][2:] })
	return out
}

// Meaningful reports whether a file of a store root says something to a reader or to a bucket: catalogs, lock files,
// dot-files, staging and temporary names do not.
func Meaningful(path string) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	if strings.HasPrefix(base, ".") || strings.Contains(path, ".staging/") || base == "_commit_seq" {
		return false
	}
	return !strings.Contains(base, ".sqlite")
}
