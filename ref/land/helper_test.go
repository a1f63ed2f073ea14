package land

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// openStore makes a project with the given declaration of tables and opens its store.
func openStore(t testing.TB, tables string) *store.Store {
	t.Helper()
	dir := t.TempDir()
	text := "[project]\nname = \"p\"\n\n[pipeline]\nid = \"pipe\"\n" + tables
	p, err := decl.ParseProject(filepath.Join(dir, "contextful.toml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := store.Init(context.Background(), store.Options{Project: p, Root: filepath.Join(dir, ".contextful/context/p"), Node: "n1", FS: vfs.OS{},
		Clock: clock.Fixed{Instant: noon}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openAt opens a store that is there under another declaration.
func openAt(t testing.TB, root, tables string) *store.Store {
	t.Helper()
	p, err := decl.ParseProject("/p/contextful.toml", []byte("[project]\nname = \"p\"\n\n[pipeline]\nid = \"pipe\"\n"+tables))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(context.Background(), store.Options{Project: p, Root: root, Node: "n1", FS: vfs.OS{}, Clock: clock.Fixed{Instant: noon}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func instantText(nanos int64) string {
	return time.Unix(0, nanos).UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
}
