package world

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"contextful/fakes/s3cas"
)

// Fork makes a copy of a node as it is on disk now, with a copy of the bucket of its own where that is the embedded fake:
// what happens to the copy happens to nobody else. Same id, same name but for a number; faults and modes are not copied.
func (w *World) Fork(n *Node, k int) (*Node, error) {
	c := *n
	c.Name = fmt.Sprintf("%s~%d", n.Name, k)
	c.dir = filepath.Join(w.opts.Dir, c.Name)
	c.copies, c.task, c.last, c.created, c.before = nil, nil, nil, nil, nil
	c.Settings, c.Env, c.tables = map[string]string{}, map[string]string{}, map[string]*Table{}
	for k, v := range n.Settings {
		c.Settings[k] = v
	}
	for k, v := range n.Env {
		c.Env[k] = v
	}
	for k, v := range n.tables {
		c.tables[k] = v
	}
	if err := copyTree(n.dir, c.dir); err != nil {
		return nil, err
	}
	if from := n.server(); from != nil {
		s, err := s3cas.New(s3cas.Options{Now: w.Now, Buckets: []string{bucketName}}).Start()
		if err != nil {
			return nil, err
		}
		for _, key := range from.Keys(bucketName, "") {
			if body, _, ok := from.Get(bucketName, key); ok {
				s.Put(bucketName, key, body)
			}
		}
		c.fake = s
		w.mu.Lock()
		w.forks = append(w.forks, s)
		w.mu.Unlock()
	}
	return &c, nil
}

// server is the fake a node talks to: its own after a Fork, else the scenario's.
func (n *Node) server() *s3cas.Server {
	if n.fake != nil {
		return n.fake
	}
	return n.w.fake
}

// Bucket is the one this node talks to.
func (n *Node) Bucket() Bucket {
	if n.fake != nil {
		return &fakeBucket{n.fake}
	}
	return n.w.bucket
}

// Copies replaces a node, for every later step that names it, by the copies a crash-point enumeration left behind.
func (n *Node) Copies(copies []*Node) { n.copies = copies }

// copyTree copies files, directories and symbolic links with their modes and times. Sockets and the like are left out.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(target, info.Mode().Perm()|0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !info.Mode().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, text, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
}
