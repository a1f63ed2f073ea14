package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"contextful/ref/decl"
	"contextful/ref/land"
)

// fileSource is a file, or a directory of files.
type fileSource struct{ path, format, dir, pipeline string }

// feedFile is one file of the inventory as it was listed.
type feedFile struct {
	name   string // relative to the source's directory, "" for a source that is one file
	path   string
	format string
	size   int64
	sha256 string
}

// filePull is one reading of the inventory.
type filePull struct {
	failures
	ctx       context.Context
	src       *fileSource
	root      string
	list      []feedFile
	position  json.RawMessage
	unchanged bool
}

func (s *fileSource) pull(ctx context.Context, q question) (pull, error) {
	root := strings.ReplaceAll(s.path, decl.TableWord, q.table)
	p := &filePull{failures: failures{s.pipeline, q.table}, ctx: ctx, src: s, root: root}
	if !filepath.IsAbs(root) {
		p.root = filepath.Join(s.dir, root)
	}
	list, err := p.names()
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for i := range list {
		f := &list[i]
		if f.size, f.sha256, err = p.digest(f.path); err != nil {
			return nil, err
		}
		fmt.Fprintf(sum, "%s %d %q\n", f.sha256, f.size, f.name)
	}
	p.list = list
	p.position = fmt.Appendf(nil, `{"files":%d,"sha256":"%s"}`, len(list), hex.EncodeToString(sum.Sum(nil)))
	p.unchanged = sameJSON(p.position, q.position)
	return p, nil
}

// names lists the inventory in the order of names.
func (p *filePull) names() ([]feedFile, error) {
	info, err := os.Stat(p.root)
	if err != nil {
		return nil, p.because(err, "%s is not there", p.root)
	}
	if info.Mode().IsRegular() {
		format := p.src.format
		if format == "" {
			if format = formatOf(p.root); format == "" {
				format = land.JSONL
			}
		}
		return []feedFile{{path: p.root, format: format}}, nil
	}
	if !info.IsDir() {
		return nil, p.because(nil, "%s is neither a file nor a directory", p.root)
	}
	// The walk follows no link, and the directory itself may be one.
	root, err := filepath.EvalSymlinks(p.root)
	if err != nil {
		return nil, p.because(err, "%s cannot be read", p.root)
	}
	var list []feedFile
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return p.because(err, "%s cannot be read", path)
		case path == root:
			return nil
		case underWay(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return p.ctx.Err()
		}
		info, err := os.Stat(path)
		if err != nil {
			return p.because(err, "%s cannot be read", path)
		}
		if !info.Mode().IsRegular() {
			return p.because(nil, "%s is no file, so the inventory would not be complete without it", path)
		}
		format := p.src.format
		if format == "" {
			format = formatOf(path)
		}
		if format == "" {
			return p.because(nil, "%s is neither .jsonl, .csv nor .parquet, and [pipeline.source] names no format", path)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		list = append(list, feedFile{name: filepath.ToSlash(rel), path: path, format: format})
		return nil
	})
	slices.SortFunc(list, func(a, b feedFile) int { return strings.Compare(a.name, b.name) })
	return list, err
}

// underWay tells the names of what somebody is still writing, or hides.
func underWay(name string) bool {
	return strings.HasPrefix(name, ".") || slices.ContainsFunc([]string{"~", ".tmp", ".part"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

func formatOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson":
		return land.JSONL
	case ".csv":
		return land.CSV
	case ".parquet":
		return land.Parquet
	}
	return ""
}

func (p *filePull) digest(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", p.because(err, "%s cannot be read", path)
	}
	defer f.Close()
	return p.digestOf(f, path)
}

func (p *filePull) digestOf(f *os.File, path string) (int64, string, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, &stopping{p.ctx, f})
	if err != nil {
		return 0, "", p.because(err, "%s cannot be read", path)
	}
	return n, hex.EncodeToString(sum.Sum(nil)), nil
}

// stopping ends a long reading with its context.
type stopping struct {
	ctx context.Context
	r   io.Reader
}

func (s *stopping) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b)
}

func (p *filePull) inputs() []land.Input {
	inputs := []land.Input{}
	if p.unchanged {
		return inputs
	}
	for _, f := range p.list {
		inputs = append(inputs, land.Input{Name: f.path, Format: f.format, Open: func() (io.ReadCloser, error) {
			file, err := os.Open(f.path)
			if err != nil {
				return nil, p.because(err, "%s cannot be read", f.path)
			}
			return &watched{file, p, f}, nil
		}})
	}
	return inputs
}

// watched is a file that must still be what was listed when it has been read: the position names those bytes.
type watched struct {
	*os.File
	p    *filePull
	want feedFile
}

func (w *watched) Close() error {
	defer w.File.Close()
	if _, err := w.File.Seek(0, io.SeekStart); err != nil {
		return w.p.because(err, "%s cannot be read", w.want.path)
	}
	size, sum, err := w.p.digestOf(w.File, w.want.path)
	if err == nil && (size != w.want.size || sum != w.want.sha256) {
		err = w.p.because(nil, "%s changed while it was read", w.want.path)
	}
	return err
}

// ended looks again: what came or went while the files were read makes the inventory no inventory.
func (p *filePull) ended() (ending, error) {
	if p.unchanged {
		return ending{unchanged: true}, nil
	}
	again, err := p.names()
	if err != nil {
		return ending{}, err
	}
	if !slices.EqualFunc(again, p.list, func(a, b feedFile) bool { return a.name == b.name }) {
		return ending{}, p.because(nil, "files came or went in %s while it was read", p.root)
	}
	return ending{position: p.position, complete: true}, nil
}

func (p *filePull) close() {}

// sameJSON compares two documents whose members are written by this package, however they are spaced.
func sameJSON(a, b json.RawMessage) bool {
	x, errX := compact(a)
	y, errY := compact(b)
	return errors.Join(errX, errY) == nil && string(x) == string(y)
}
