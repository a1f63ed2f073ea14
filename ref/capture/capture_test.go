package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
	"contextful/ref/fold"
	"contextful/ref/land"
	"contextful/ref/store"
)

const pages = `
[[pipeline.tables]]
name = "pages"
[pipeline.tables.snapshot]
document = "url"
captured_at = "seen"

[[pipeline.tables]]
name = "notes"
`

func page(n int) string {
	return fmt.Sprintf(`{"url":"/%d","seen":"2024-01-01T00:00:00Z","text":"page %d"}`+"\n", n, n)
}

func run(t *testing.T, s *store.Store, id, rows string) (Report, error) {
	t.Helper()
	return Run(context.Background(), s, Options{Land: land.Options{Table: "pages", Input: strings.NewReader(rows), RunID: id, SiteID: "s", InputName: "in"},
		Fold: fold.Options{Engine: duck.Options{TempDir: t.TempDir()}}})
}

func snapshots(t *testing.T, s *store.Store) []string {
	t.Helper()
	table, err := s.Table("pages")
	if err != nil {
		t.Fatal(err)
	}
	chain, err := table.ListSnapshots(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range chain {
		ids = append(ids, m.SnapshotID)
	}
	return ids
}

func TestEachCaptureIsOneSnapshot(t *testing.T) {
	s := ducktest.Open(t, "alpha", "", pages)
	first, err := run(t, s, "", page(1)+page(2))
	if err != nil || first.Landed.Rows != 2 || first.Folded.Rows != 2 || first.SnapshotID == "" {
		t.Fatal(first, err)
	}
	second, err := run(t, s, "again", page(1)+page(2))
	if err != nil || second.SnapshotID == first.SnapshotID || second.Landed.Rows != 2 {
		t.Fatal(second, err)
	}
	replay, err := run(t, s, "", page(1)+page(2))
	if err != nil || replay.SnapshotID != first.SnapshotID || !replay.Landed.Replayed || replay.Landed.RunID != first.Landed.RunID {
		t.Fatal(replay, err)
	}
	if got := snapshots(t, s); len(got) != 2 || got[0] != second.SnapshotID || got[1] != first.SnapshotID {
		t.Fatal(got)
	}
	if _, err := run(t, s, "again", page(3)); !errors.Is(err, fault.StoreRunConflict) {
		t.Error(err)
	}
	if _, err := run(t, s, "bad", `{"url":"/4"}`); !errors.Is(err, fault.StoreInputMalformed) || len(snapshots(t, s)) != 2 {
		t.Error(err)
	}
}

// A capture that landed and did not fold is ended by the same capture, and by a fold of anybody's.
func TestInterruptedCapture(t *testing.T) {
	s := ducktest.Open(t, "alpha", "", pages)
	ctx := context.Background()
	landed := func(id, rows string) {
		t.Helper()
		if _, err := land.Run(ctx, s, land.Options{Table: "pages", Input: strings.NewReader(rows), RunID: id, SiteID: "s", InputName: "in"}); err != nil {
			t.Fatal(err)
		}
	}
	landed("one", page(1))
	r, err := run(t, s, "one", page(1))
	if err != nil || !r.Landed.Replayed || len(snapshots(t, s)) != 1 || r.SnapshotID != snapshots(t, s)[0] {
		t.Fatal(r, err)
	}
	landed("two", page(2))
	folded, err := fold.Run(ctx, s, fold.Options{Table: "pages", Engine: duck.Options{TempDir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	landed("later", page(3))
	r, err = run(t, s, "two", page(2))
	if err != nil || r.SnapshotID != folded.SnapshotID || len(snapshots(t, s)) != 2 {
		t.Fatal(r, err, snapshots(t, s))
	}
}

// A capture that died before its fold is a snapshot of its own, also where another one captures the same document before it is
// ended.
func TestCaptureAfterOneThatDied(t *testing.T) {
	s := ducktest.Open(t, "alpha", "", pages)
	if _, err := land.Run(t.Context(), s, land.Options{Table: "pages", Input: strings.NewReader(page(1)), RunID: "one", SiteID: "s", InputName: "in"}); err != nil {
		t.Fatal(err)
	}
	two, err := run(t, s, "two", page(1))
	if err != nil {
		t.Fatal(err)
	}
	one, err := run(t, s, "one", page(1))
	if err != nil || one.SnapshotID == two.SnapshotID || len(snapshots(t, s)) != 2 {
		t.Fatal(one, two, err, snapshots(t, s))
	}
}

// Captures at the same time are as many snapshots, each with one more document than the one before.
func TestCapturesTogether(t *testing.T) {
	s := ducktest.Open(t, "alpha", "", pages)
	var wg sync.WaitGroup
	ids := make([]string, 4)
	for i := range ids {
		wg.Go(func() {
			r, err := run(t, s, fmt.Sprint("r", i), page(i))
			if err != nil {
				t.Error(err)
			}
			ids[i] = r.SnapshotID
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if len(seen) != 4 || len(snapshots(t, s)) != 4 {
		t.Fatal(ids, snapshots(t, s))
	}
}

func TestTableWithoutDocuments(t *testing.T) {
	s := ducktest.Open(t, "alpha", "", pages)
	_, err := Run(context.Background(), s, Options{Land: land.Options{Table: "notes", Input: &bytes.Buffer{}, RunID: "r", SiteID: "s"}})
	if !errors.Is(err, fault.StoreDeclarationInvalid) || !strings.Contains(err.Error(), "notes") {
		t.Fatal(err)
	}
}
