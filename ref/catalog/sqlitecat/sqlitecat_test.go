package sqlitecat

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"contextful/ref/catalog"
	"contextful/ref/catalog/catalogtest"
)

func TestContract(t *testing.T) {
	// A name with characters a URI would read as its own.
	name := func(t *testing.T) string { return filepath.Join(t.TempDir(), "a b%20#c?d.sqlite") }
	catalogtest.Machine(t, func(t *testing.T) catalog.Machine {
		m, err := OpenMachine(t.Context(), name(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	})
	catalogtest.Derived(t, func(t *testing.T) catalog.Derived {
		path := name(t)
		if err := RebuildDerived(t.Context(), path, func(catalog.Derived) error { return nil }); err != nil {
			t.Fatal(err)
		}
		d, err := OpenDerived(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	})
}

// Two openers of one file, as two processes would be.
func TestTwoOpenersAppend(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "machine.sqlite")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			m, err := OpenMachine(ctx, path)
			if err != nil {
				t.Error(err)
				return
			}
			defer m.Close()
			for range 20 {
				if _, err := m.Append(ctx, catalog.Entry{Kind: "k"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	m, err := OpenMachine(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if seq, err := m.Append(ctx, catalog.Entry{Kind: "k"}); seq != 41 || err != nil {
		t.Fatal(seq, err)
	}
}

func TestForeignFiles(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "x.sqlite")
	if err := os.WriteFile(path, []byte("this is not a database, whatever its name says; it is long enough to look"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenMachine(ctx, path); err == nil {
		t.Fatal("took a foreign file for the machine's catalog")
	}
	if _, err := OpenDerived(ctx, path); !errors.Is(err, ErrUnusable) {
		t.Fatal(err)
	}
}

// Whatever stands where the derived catalog belongs, a rebuild replaces it; a rebuild that fails leaves it.
func TestRebuildDerived(t *testing.T) {
	ctx := t.Context()
	one := func(name string) func(catalog.Derived) error {
		return func(d catalog.Derived) error { return d.Replace(ctx, catalog.TableRows{Table: name}) }
	}
	made := filepath.Join(t.TempDir(), "made.sqlite")
	if err := RebuildDerived(ctx, made, one("before")); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	for i := 200; i < len(damaged); i++ {
		damaged[i] ^= 0x5a
	}
	newer := bytes.Clone(whole)
	newer[63] = 9 // user_version
	for name, data := range map[string][]byte{"absent": nil, "empty": {}, "text": []byte("no database"), "damaged": damaged, "newer": newer, "whole": whole} {
		path := filepath.Join(t.TempDir(), "d.sqlite")
		if data != nil {
			for _, side := range []string{"", "-journal", "-wal"} { // a killed writer's
				if err := os.WriteFile(path+side, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		refused := errors.New("unreadable")
		if err := RebuildDerived(ctx, path, func(catalog.Derived) error { return refused }); !errors.Is(err, refused) {
			t.Fatal(name, err)
		}
		if left, _ := os.ReadFile(path); !bytes.Equal(left, data) {
			t.Fatalf("%s: a rebuild that failed changed it", name)
		}
		if err := RebuildDerived(ctx, path, one("after")); err != nil {
			t.Fatal(name, err)
		}
		d, err := OpenDerived(ctx, path)
		if err != nil {
			t.Fatal(name, err)
		}
		if names, err := d.Tables(ctx); err != nil || len(names) != 1 || names[0] != "after" {
			t.Fatal(name, names, err)
		}
		d.Close()
		if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
			t.Fatalf("%s: %v", name, list)
		}
	}
}

// A machine.sqlite of layout 1 keeps everything but its run rows, which no command wrote.
func TestMachineOfLayout1(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "machine.sqlite")
	old, err := open(ctx, path, layout{version: 1, journal: "WAL", tables: strings.ReplaceAll(machineTables, "node_id TEXT NOT NULL, ", "node_id TEXT, ")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Machine{old}).Append(ctx, catalog.Entry{Kind: "land"}); err != nil {
		t.Fatal(err)
	}
	old.Close()
	for range 2 {
		m, err := OpenMachine(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.PutRun(ctx, catalog.Run{Pipeline: "p", Node: "n", RunID: "r"}); err != nil {
			t.Fatal(err)
		}
		seq, err := m.Append(ctx, catalog.Entry{Kind: "land"})
		if rows, err := m.Runs(ctx, ""); len(rows) != 1 || err != nil || seq < 2 {
			t.Fatal(seq, rows, err)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
	}
}
