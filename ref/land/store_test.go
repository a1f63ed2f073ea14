package land

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

func memStore(t testing.TB, m *vfs.Mem) *store.Store {
	t.Helper()
	return memStoreOf(t, m, keyed)
}

func memStoreOf(t testing.TB, m *vfs.Mem, tables string) *store.Store {
	t.Helper()
	p, err := decl.ParseProject("/p/contextful.toml", []byte("[project]\nname = \"p\"\n\n[pipeline]\nid = \"pipe\"\n"+tables))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(context.Background(), store.Options{Project: p, Root: "/p/s", Node: "n1", FS: m, Clock: clock.Fixed{Instant: noon}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// visible is the number of rows a reader sees, after checking that it can read them all.
func visible(t testing.TB, s *store.Store) int64 {
	t.Helper()
	tb, err := s.Table("t")
	if err != nil {
		t.Fatal(err)
	}
	v, err := tb.Resolve(context.Background(), store.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	n, ok := v.Rows()
	if !ok {
		t.Fatal("a part of unknown size")
	}
	return n
}

const firstRows = "{\"id\":1}\n{\"id\":2}\n"
const secondRows = "{\"id\":2,\"v\":\"x\"}\n{\"id\":3}\n{\"id\":4}\n"

// A disk that is full at any one operation costs the landing and nothing else; the same landing again succeeds.
func TestFullDiskAtEveryOperation(t *testing.T) {
	for n := 1; ; n++ {
		m := vfs.NewMem()
		s := memStore(t, m)
		first, err := land(s, "r1", firstRows)
		must(t, first, err)
		m.FailAt(n, syscall.ENOSPC)
		_, err = land(s, "r2", secondRows)
		if err == nil {
			if n < 10 {
				t.Fatalf("only %d operations", n)
			}
			if got := visible(t, s); got != 5 {
				t.Fatalf("%d rows", got)
			}
			return
		}
		if fault.CodeOf(err) != fault.StoreWriteFailed || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("operation %d: %v", n, err)
		}
		// Only when the last sync failed is the run there already.
		got := visible(t, s)
		if got != 2 && got != 5 {
			t.Fatalf("operation %d: %d rows after %v", n, got, err)
		}
		again, err := land(s, "r2", secondRows)
		if again = must(t, again, err); visible(t, s) != 5 || again.Replayed != (got == 5) || again.CommitSeq < 2 {
			t.Fatalf("operation %d: %+v, %d rows", n, again, visible(t, s))
		}
	}
}

// A machine that dies at any one operation shows the run whole or not at all, and the same landing again succeeds.
func TestCrashAtEveryOperation(t *testing.T) {
	for _, mode := range []vfs.CrashMode{vfs.CrashLoses, vfs.CrashKeepsNames, vfs.CrashKeepsAll} {
		for n := 1; ; n++ {
			m := vfs.NewMem()
			s := memStore(t, m)
			first, err := land(s, "r1", firstRows)
			must(t, first, err)
			m.CrashAt(n)
			_, err = land(s, "r2", secondRows)
			down := m.Down()
			m.Crash(mode)
			s = memStore(t, m)
			got := visible(t, s)
			if got != 2 && got != 5 || err == nil && got != 5 {
				t.Fatalf("mode %v, operation %d: %d rows after %v", mode, n, got, err)
			}
			again, err := land(s, "r2", secondRows)
			if again = must(t, again, err); visible(t, s) != 5 || again.CommitSeq < 2 {
				t.Fatalf("mode %v, operation %d: %+v", mode, n, again)
			}
			if !down {
				break
			}
		}
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	m := vfs.NewMem()
	s := memStore(t, m)
	m.Inject(func(op vfs.Op) error {
		if op.Kind == vfs.OpCreate && strings.HasSuffix(op.Name, ".parquet") {
			return syscall.EACCES
		}
		return nil
	})
	_, err := land(s, "r1", firstRows)
	if fault.CodeOf(err) != fault.StoreWriteFailed || !strings.Contains(err.Error(), "part-00000.parquet") {
		t.Fatal(err)
	}
}

// Two landings side by side both commit, each row once, with sequence numbers of their own.
func TestTwoWriters(t *testing.T) {
	s := openStore(t, plain)
	const each = 6
	var wg sync.WaitGroup
	seqs := make([]int64, 2*each)
	errs := make([]error, 2*each)
	for w := range 2 {
		own := openAt(t, s.Root(), plain)
		wg.Go(func() {
			for i := range each {
				r, err := land(own, fmt.Sprintf("w%d-%d", w, i), "{\"v\":1}\n{\"v\":2}")
				seqs[w*each+i], errs[w*each+i] = r.CommitSeq, err
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	seen := map[int64]bool{}
	for _, q := range seqs {
		if seen[q] || q < 1 || q > 2*each {
			t.Fatal(seqs)
		}
		seen[q] = true
	}
	if got := visible(t, s); got != 4*each {
		t.Fatal(got)
	}
}

// Rows cross parts, row groups and the spool's file, and come back in order.
func TestManyPartsThroughTheDisk(t *testing.T) {
	s := openStore(t, plain)
	var rows bytes.Buffer
	const n = 30_000
	for i := range n {
		switch {
		case i == 20_000:
			fmt.Fprintf(&rows, "{\"v\":0.5}\n")
		case i%7 == 0:
			fmt.Fprintf(&rows, "{\"v\":null,\"w\":\"%d\"}\n", i)
		default:
			fmt.Fprintf(&rows, "{\"v\":%d}\n", i)
		}
	}
	var progress int64
	r, err := land(s, "r1", rows.String(), func(o *Options) {
		o.MemoryBytes, o.partRows, o.TempDir = 1, 7000, t.TempDir()
		o.Progress = func(rows int64) { progress = rows }
	})
	if r = must(t, r, err); r.Parts != 5 || r.Rows != n || progress != n {
		t.Fatalf("%+v %d", r, progress)
	}
	got := read(t, s, "r1", true)
	for i, row := range got {
		if !strings.Contains(row, fmt.Sprintf("_row_seq=%d ", i)) {
			t.Fatalf("row %d is %s", i, row)
		}
		want := fmt.Sprintf("v=%d", i)
		switch {
		case i == 20_000:
			want = "v=0.5"
		case i%7 == 0:
			want = fmt.Sprintf("w=%d", i)
		}
		if !strings.HasSuffix(row, want) {
			t.Fatalf("row %d is %s, want %s", i, row, want)
		}
	}
	again, err := land(s, "r1", rows.String())
	if again = must(t, again, err); !again.Replayed {
		t.Fatal("held in memory, the same rows have another digest")
	}
}

func TestSpoolWithoutRoom(t *testing.T) {
	s := openStore(t, plain)
	_, err := land(s, "r1", firstRows, func(o *Options) { o.MemoryBytes, o.TempDir = 1, "/nowhere/at/all" })
	if fault.CodeOf(err) != fault.StoreWriteFailed || !strings.Contains(err.Error(), "/nowhere/at/all") {
		t.Fatal(err)
	}
}
