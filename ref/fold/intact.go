package fold

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"contextful/ref/fault"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

// intact compares what is written once more with its digests. A reader may take a flipped byte for a value; a pass would keep it for
// good, in a part whose own digest is right. What stays where it is stays under its own digest.
func intact(ctx context.Context, view *store.View, files []store.File) error {
	fsys := view.Table.Store().FS()
	buffer := make([]byte, digestBuffer)
	for _, f := range files {
		if f.Part.SHA256 == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		have, err := digestOf(fsys, f.Path, buffer)
		if err != nil {
			return fault.New(fault.StorePartDamaged, f.Rel, f.Rel+" cannot be read").Wrap(err)
		}
		if have != f.Part.SHA256 {
			return fault.New(fault.StorePartDamaged, f.Rel, fmt.Sprintf("%s has the digest %s, its manifest says %s", f.Rel, have, f.Part.SHA256)).
				WithHint("contextful sync pull brings home what the bucket still has")
		}
	}
	return nil
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

// aside is work that is done beside other work.
type aside struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
}

func beside(ctx context.Context, work func(context.Context) error) *aside {
	ctx, cancel := context.WithCancel(ctx)
	a := &aside{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		a.err = work(ctx)
	}()
	return a
}

// wait gives the work's error when it has ended.
func (a *aside) wait() error {
	<-a.ended
	return a.err
}

// stop ends it, done or not, and is back when nothing of it runs any more.
func (a *aside) stop() {
	a.cancel()
	<-a.ended
}
