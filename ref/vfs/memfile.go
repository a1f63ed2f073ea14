package vfs

import (
	"io"
	"io/fs"
	"slices"
	"time"
)

type memFile struct {
	m     *Mem
	n     *node
	name  string
	pos   int64
	epoch int
	write bool
	done  bool
}

func (f *memFile) alive() error {
	if f.done || f.epoch != f.m.epoch {
		return fs.ErrClosed
	}
	return nil
}

func (f *memFile) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, f.pos)
	f.pos += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (f *memFile) ReadAt(b []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.alive(); err != nil {
		return 0, err
	}
	if f.m.down {
		return 0, ErrCrashed
	}
	if off >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.n.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(b []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.alive(); err != nil {
		return 0, err
	}
	if !f.write {
		return 0, fs.ErrPermission
	}
	if err := f.m.step(Op{Kind: OpWrite, Name: f.name, Bytes: len(b)}); err != nil {
		f.put(b[:len(b)/2]) // a write that fails may have been half done
		return 0, err
	}
	f.put(b)
	return len(b), nil
}

func (f *memFile) put(b []byte) {
	end := f.pos + int64(len(b))
	data := slices.Clone(f.n.data)
	if grow := end - int64(len(data)); grow > 0 {
		data = append(data, make([]byte, grow)...)
	}
	copy(data[f.pos:], b)
	f.n.data = data
	f.pos = end
	f.m.touch(f.n)
}

func (f *memFile) Seek(offset int64, whence int) (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += f.pos
	case io.SeekEnd:
		offset += int64(len(f.n.data))
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	f.pos = offset
	return offset, nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.alive(); err != nil {
		return err
	}
	if err := f.m.step(Op{Kind: OpSync, Name: f.name}); err != nil {
		return err
	}
	f.n.synced = slices.Clone(f.n.data)
	return nil
}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.done {
		return fs.ErrClosed
	}
	f.done = true
	return nil
}

type memInfo struct {
	name     string
	size     int64
	dir      bool
	modified int64
}

func infoOf(name string, n *node) memInfo {
	return memInfo{name, int64(len(n.data)), n.dir, n.modified}
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) IsDir() bool        { return i.dir }
func (i memInfo) ModTime() time.Time { return time.Unix(0, i.modified).UTC() }
func (i memInfo) Sys() any           { return nil }

func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
