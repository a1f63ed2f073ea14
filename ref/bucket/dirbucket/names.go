package dirbucket

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"contextful/ref/bucket"
)

// file maps a key to its file. Each segment stays itself where a file can be called so; "", ".", "..", our own folder's name
// and segments with a percent sign, a NUL or a backslash get those bytes (or their first) as %XX.
func (b *Bucket) file(key string) string {
	segments := strings.Split(key, "/")
	for i, s := range segments {
		segments[i] = escape(s, i == 0)
	}
	return b.root + "/" + strings.Join(segments, "/")
}

func escape(segment string, first bool) string {
	switch {
	case segment == "":
		return "%"
	case segment == "." || segment == ".." || first && segment == ownDir:
		return "%2E" + segment[1:]
	case !strings.ContainsAny(segment, "%\\\x00"):
		return segment
	}
	var out strings.Builder
	for i := range len(segment) {
		switch c := segment[i]; c {
		case '%', '\\', 0:
			out.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

func unescape(name string) (string, bool) {
	if name == "%" {
		return "", true
	}
	if !strings.Contains(name, "%") {
		return name, true
	}
	var out []byte
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			out = append(out, name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", false
		}
		c, err := hex.DecodeString(name[i+1 : i+3])
		if err != nil {
			return "", false
		}
		out = append(out, c...)
		i += 2
	}
	return string(out), true
}

// List visits the objects under prefix in byte order of their keys. A folder sorts as its name and a slash, which is where
// the keys below it belong.
func (b *Bucket) List(ctx context.Context, prefix string, visit func(bucket.Object) error) error {
	folder, _ := splitLast(prefix)
	dir := b.root
	if folder != "" {
		dir = b.file(strings.TrimSuffix(folder, "/"))
	}
	return b.walk(ctx, dir, folder, prefix, visit)
}

func splitLast(key string) (folder, last string) {
	i := strings.LastIndexByte(key, '/') + 1
	return key[:i], key[i:]
}

func (b *Bucket) walk(ctx context.Context, dir, folder, prefix string, visit func(bucket.Object) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return failed(folder, err)
	}
	type child struct{ key, file string }
	var children []child
	for _, e := range entries {
		if folder == "" && e.Name() == ownDir {
			continue
		}
		name, ok := unescape(e.Name())
		if !ok || e.Type()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0 {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		key := folder + name
		if strings.HasPrefix(key, prefix) || e.IsDir() && strings.HasPrefix(prefix, key) {
			children = append(children, child{key, filepath.Join(dir, e.Name())})
		}
	}
	sort.Slice(children, func(i, j int) bool { return children[i].key < children[j].key })
	for _, c := range children {
		if strings.HasSuffix(c.key, "/") {
			if info, err := os.Stat(c.file); err == nil && info.IsDir() {
				if err := b.walk(ctx, c.file, c.key, prefix, visit); err != nil {
					return err
				}
				continue
			}
		}
		o, err := b.Head(ctx, c.key)
		if errors.Is(err, bucket.ErrNotFound) {
			continue // removed since the folder was read, or no regular file
		}
		if err != nil {
			return err
		}
		if err := visit(o); err != nil {
			return err
		}
	}
	return nil
}
