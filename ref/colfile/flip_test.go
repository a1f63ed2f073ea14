package colfile

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"contextful/ref/fault"

	_ "github.com/duckdb/duckdb-go/v2"
)

func query(t *testing.T, db *sql.DB, text string) string {
	t.Helper()
	var out string
	if err := db.QueryRow(text).Scan(&out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// DuckDB reads a flipped copy as TIMESTAMP_NS with every digit, and what it writes flips back to UTC.
func TestFlipAgainstDuckDB(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "part.parquet")
	writePart(t, path, Options{}, 2, 500, 7)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	describe := "SELECT string_agg(column_name || ' ' || column_type, ', ') FROM (DESCRIBE SELECT * FROM read_parquet(['%s'], hive_partitioning=false))"
	last := "SELECT CAST(epoch_ns(max(seen)) AS VARCHAR) FROM read_parquet(['%s'], hive_partitioning=false)"
	if got := query(t, db, fmt.Sprintf(describe, path)); got != "id BIGINT, body VARCHAR, seen TIMESTAMP WITH TIME ZONE, _ingested_at TIMESTAMP WITH TIME ZONE" {
		t.Fatal(got)
	}
	name, done, err := OpenFlipped(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := query(t, db, fmt.Sprintf(describe, name)); got != "id BIGINT, body VARCHAR, seen TIMESTAMP_NS, _ingested_at TIMESTAMP_NS" {
		t.Fatal(got)
	}
	if got := query(t, db, fmt.Sprintf(last, name)); got != "1700000000000998007" {
		t.Fatal(got)
	}
	copied := filepath.Join(dir, "copied.parquet")
	if _, err := db.Exec(fmt.Sprintf("COPY (SELECT * FROM read_parquet(['%s'])) TO '%s' (FORMAT parquet, COMPRESSION zstd)", name, copied)); err != nil {
		t.Fatal(err)
	}
	done()
	if _, err := os.Stat(name); err == nil {
		t.Error("the copy outlives done")
	}
	if n, err := FlipFile(copied, true); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := FlipFile(copied, true); n != 0 || err != nil {
		t.Fatal("a second flip changed", n, err)
	}
	if got := query(t, db, fmt.Sprintf(describe, copied)); got != "id BIGINT, body VARCHAR, seen TIMESTAMP WITH TIME ZONE, _ingested_at TIMESTAMP WITH TIME ZONE" {
		t.Fatal(got)
	}
	again, done, err := OpenFlipped(copied)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if got := query(t, db, fmt.Sprintf(last, again)); got != "1700000000000998007" {
		t.Fatal(got)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Fatal("the part itself changed", err)
	}
}

// A part is turned on its way or after it was copied, as large as it is, to the same bytes; what is no part is refused both ways.
func TestTheCopyIsTheSameBothWays(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "part.parquet")
	writePart(t, path, Options{}, 2, 500, 7)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	turn := func(name string, whole int64) ([]byte, error) {
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out, err := os.Create(filepath.Join(dir, "out.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if err := copyFlipped(out, in, name, whole); err != nil {
			return nil, err
		}
		copied, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		return copied, nil
	}
	size := int64(len(data))
	small, err := turn(path, size)
	if err != nil || int64(len(small)) != size || bytes.Equal(small, data) {
		t.Fatal(len(small), err)
	}
	if large, err := turn(path, size-1); err != nil || !bytes.Equal(large, small) {
		t.Error("another copy", err)
	}
	if err := os.WriteFile(path, data[:size-3], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, whole := range []int64{0, size} {
		if _, err := turn(path, whole); fault.CodeOf(err) != fault.StorePartDamaged {
			t.Error(whole, err)
		}
	}
}

// No footer, however damaged, reads out of bounds, changes its length or changes anything but the flags.
func FuzzFlipUTC(f *testing.F) {
	path := filepath.Join(f.TempDir(), "part.parquet")
	var t testing.T
	writePart(&t, path, Options{}, 1, 5, 1)
	in, err := os.Open(path)
	if err != nil {
		f.Fatal(err)
	}
	footer, _, err := readFooter(in)
	if err != nil {
		f.Fatal(err)
	}
	in.Close()
	f.Add(footer)
	f.Add([]byte{0x29, 0x1c, 0xac, 0x8c, 0x11})
	f.Fuzz(func(t *testing.T, data []byte) {
		out := bytes.Clone(data)
		n, err := FlipUTC(out, true)
		differ := 0
		for i := range out {
			if out[i] != data[i] {
				differ++
			}
		}
		if differ != n || err != nil && n != 0 {
			t.Fatalf("%d bytes differ, %d reported, %v", differ, n, err)
		}
		if again, err2 := FlipUTC(out, true); again != 0 || (err == nil) != (err2 == nil) {
			t.Fatal(again, err, err2)
		}
	})
}

// Where the process may open no more files the part is not called damaged, and the person is told what helps.
func TestNoFileLeftIsNoDamage(t *testing.T) {
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC} {
		err := noCopy("part", &os.PathError{Op: "open", Path: "part", Err: cause})
		var refusal *fault.Error
		if !errors.As(err, &refusal) || refusal.Code != fault.StoreWriteFailed || (refusal.Hint != "") != (cause != syscall.ENOSPC) {
			t.Errorf("%v: %v", cause, err)
		}
	}
}
