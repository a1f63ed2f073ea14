package fold

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"contextful/ref/colfile"
	"contextful/ref/fault"
	"contextful/ref/store"
	"contextful/ref/vfs"

	"github.com/apache/arrow-go/v18/parquet"
)

// intact compares what is written once more with its digests. A reader may take a flipped byte for a value; a pass would keep it for
// good, in a part whose own digest is right. What stays where it is stays under its own digest. What the footers tell is learnt in the
// same reading, by path; a footer that does not fit its manifest is left to whoever reads the part.
func intact(ctx context.Context, view *store.View, files []store.File) (map[string]*colfile.Glance, error) {
	fsys := view.Table.Store().FS()
	glances, errs := make([]*colfile.Glance, len(files)), make([]error, len(files))
	var next atomic.Int64
	work := func() {
		buffer := make([]byte, digestBuffer)
		for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
			if errs[i] = ctx.Err(); errs[i] == nil && files[i].Part.SHA256 != "" {
				glances[i], errs[i] = intactFile(fsys, files[i], buffer)
			}
		}
	}
	var all sync.WaitGroup
	for range min(len(files)/filesShare, runtime.GOMAXPROCS(0)-1, maxBeside) {
		all.Go(work)
	}
	work()
	all.Wait()
	known, alike := map[string]*colfile.Glance{}, map[string]string{}
	for i, f := range files {
		if errs[i] != nil {
			return known, errs[i]
		}
		if g := glances[i]; g != nil {
			// Most files have the same columns: what describes them is kept once.
			if one, ok := alike[g.Schema]; ok {
				g.Schema = one
			} else {
				alike[g.Schema] = g.Schema
			}
			known[f.Path] = g
		}
	}
	return known, nil
}

// A goroutine is started for so many files, and at most so many are.
const (
	filesShare = 8
	maxBeside  = 7
)

func intactFile(fsys vfs.FS, f store.File, buffer []byte) (*colfile.Glance, error) {
	have, glance, err := lookedAt(fsys, f, buffer)
	switch {
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
		return nil, fault.New(fault.StoreWriteFailed, f.Rel, "too many files are open to read "+f.Rel).Wrap(err).WithHint("let the process open more files (ulimit -n)")
	case err != nil:
		return nil, fault.New(fault.StorePartDamaged, f.Rel, f.Rel+" cannot be read").Wrap(err)
	}
	if have != f.Part.SHA256 {
		return nil, fault.New(fault.StorePartDamaged, f.Rel, fmt.Sprintf("%s has the digest %s, its manifest says %s", f.Rel, have, f.Part.SHA256)).
			WithHint("contextful sync pull brings home what the bucket still has")
	}
	return glance, nil
}

// lookedAt reads a part once, through buffer: its SHA-256 in hex, and what its footer tells, nil where that does not fit.
func lookedAt(fsys vfs.FS, f store.File, buffer []byte) (string, *colfile.Glance, error) {
	file, err := fsys.Open(f.Path)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	var src parquet.ReaderAtSeeker = file
	n, err := io.ReadFull(file, buffer)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		src = bytes.NewReader(buffer[:n]) // all of it
	case err != nil:
		return "", nil, err
	}
	var glance *colfile.Glance
	if g, err := colfile.FitsIn(src, f.Path, f.Rows); err == nil {
		glance = &g
	}
	h := sha256.New()
	h.Write(buffer[:n])
	if src == parquet.ReaderAtSeeker(file) {
		if _, err = file.Seek(int64(n), io.SeekStart); err == nil {
			_, err = io.CopyBuffer(h, struct{ io.Reader }{file}, buffer)
		}
		if err != nil {
			return "", nil, err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), glance, nil
}

const digestBuffer = 256 << 10

// digestOf is the SHA-256 of a file in hex, read through buffer.
func digestOf(fsys vfs.FS, file string, buffer []byte) (string, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	// Bare, so that the buffer is used: a file that writes itself somewhere brings its own.
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, buffer); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func only(files []store.File, wanted func(store.File) bool) []store.File {
	var list []store.File
	for _, f := range files {
		if wanted(f) {
			list = append(list, f)
		}
	}
	return list
}

// aside is a reading of files that is done beside other work.
type aside struct {
	cancel  context.CancelFunc
	ended   chan struct{}
	glances map[string]*colfile.Glance
	err     error
}

func beside(ctx context.Context, work func(context.Context) (map[string]*colfile.Glance, error)) *aside {
	ctx, cancel := context.WithCancel(ctx)
	a := &aside{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		a.glances, a.err = work(ctx)
	}()
	return a
}

// wait gives what the work has found when it has ended.
func (a *aside) wait() (map[string]*colfile.Glance, error) {
	<-a.ended
	return a.glances, a.err
}

// stop ends it, done or not, and is back when nothing of it runs any more.
func (a *aside) stop() {
	a.cancel()
	<-a.ended
}
