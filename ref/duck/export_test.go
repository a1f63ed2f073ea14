package duck

import (
	"context"

	"contextful/ref/schema"
	"contextful/ref/vfs"
)

// Changes is changes.
func Changes(t schema.Type) bool { return changes(t) }

// CopyForTest writes as a part whose types the engine has forms for.
func CopyForTest(fsys vfs.FS, root string, rel Relation) func(*Session, string, string) (Written, error) {
	return func(s *Session, query, file string) (Written, error) {
		return s.copyPart(context.Background(), fsys, root, query, rel, (&schema.Schema{Columns: rel.Columns}).Arrow(), file, PartOptions{RowGroupRows: GroupRows})
	}
}

// RewriteForTest writes as a part with other types.
func RewriteForTest(fsys vfs.FS, rel Relation) func(*Session, string, string) (Written, error) {
	return func(s *Session, query, file string) (Written, error) {
		return s.rewritePart(context.Background(), fsys, query, (&schema.Schema{Columns: rel.Columns}).Arrow(), file, PartOptions{RowGroupRows: GroupRows})
	}
}
