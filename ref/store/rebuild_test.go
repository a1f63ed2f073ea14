package store

import (
	"reflect"
	"testing"

	"contextful/ref/catalog"
)

func TestRebuildCatalog(t *testing.T) {
	m, tab := newT(t)
	for _, run := range []string{"r1", "r2"} {
		_, err := land(tab, run, landing{})
		must(t, err)
	}
	id, err := foldNow(tab)
	must(t, err)
	_, err = land(tab, "r3", landing{})
	must(t, err)
	d := catalog.NewMemory()
	must(t, d.Replace(bg, catalog.TableRows{Table: "gone"}))
	n, err := tab.s.RebuildCatalog(bg, d)
	must(t, err)
	rows, ok, err := d.Table(bg, "events")
	must(t, err)
	if n != 1 || !ok || rows.Snapshot != id || len(rows.Snapshots) != 1 || len(rows.Runs) != 3 || rows.Runs[0].FoldedIn != id || rows.Runs[2].FoldedIn != "" {
		t.Fatalf("%d %+v", n, rows)
	}
	if _, ok, _ := d.Table(bg, "gone"); ok {
		t.Fatal("a table that is no more is still there")
	}
	again := catalog.NewMemory()
	_, err = open(t, m, "beta", 5).RebuildCatalog(bg, again)
	must(t, err)
	if other, _, _ := again.Table(bg, "events"); !reflect.DeepEqual(rows, other) {
		t.Fatalf("%+v\n%+v", rows, other)
	}
}
