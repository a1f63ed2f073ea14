package sqlitecat

import (
	"context"
	"os"
	"path/filepath"
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
		d, err := OpenDerived(t.Context(), name(t))
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
	d, err := OpenDerived(ctx, path)
	if err != nil {
		t.Fatal("the cache was not made anew:", err)
	}
	if err := d.Replace(ctx, catalog.TableRows{Table: "a"}); err != nil {
		t.Fatal(err)
	}
	d.Close()
	d, err = OpenDerived(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if names, err := d.Tables(ctx); len(names) != 1 || err != nil {
		t.Fatal(names, err)
	}
}
