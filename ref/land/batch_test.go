package land

import (
	"errors"
	"io"
	"strings"
	"testing"

	"contextful/ref/fault"
	"contextful/ref/store"
)

const stock = "[[pipeline.tables]]\nname = \"stock\"\nwrite_mode = \"replace\"\n[[pipeline.tables]]\nname = \"log\"\n"

func input(name, format, text string) Input {
	return Input{Name: name, Format: format, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// TestCompleteEmptyInventory: no rows are a replacement where they are all there is and the table is replaced, and nowhere else.
func TestCompleteEmptyInventory(t *testing.T) {
	s := openStore(t, stock)
	lands := func(table, run, rows string, complete bool) error {
		_, err := Run(t.Context(), s, Options{Table: table, RunID: run, SiteID: "lab", Input: strings.NewReader(rows), Complete: complete})
		return err
	}
	for _, c := range []struct {
		table, run string
		complete   bool
	}{{"stock", "r0", false}, {"log", "r0", true}, {"log", "r0", false}} {
		if err := lands(c.table, c.run, "", c.complete); !errors.Is(err, fault.StoreInputEmpty) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := errors.Join(lands("stock", "r1", `{"a":1}`, true), lands("stock", "r2", "\n", true)); err != nil {
		t.Fatal(err)
	}
	table, err := s.Table("stock")
	if err != nil {
		t.Fatal(err)
	}
	m, err := table.ReadRun("r2", "n1")
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	if !m.Replacement || m.RowCount != 0 || len(m.Parts) != 0 || len(m.BatchDigest) != 64 || *m.CommitSeq != 2 {
		t.Errorf("%+v", m)
	}
	v, err := table.Resolve(t.Context(), store.Bounds{})
	if err != nil || len(v.Files) != 0 || v.Frontier == nil || v.Frontier.Run != "r2/n1" {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestSeveralInputs: they are one run, and what is wrong in the second is named by its own line.
func TestSeveralInputs(t *testing.T) {
	s := openStore(t, stock)
	o := Options{Table: "log", SiteID: "lab", Inputs: []Input{input("a.jsonl", "jsonl", `{"x":"1"}`), input("b.csv", "csv", "x\n2\n3\n"), input("c.jsonl", "jsonl", "")}}
	b, err := Read(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	one, err := b.Digest([]byte(`{"at": 1}`))
	if err != nil || b.Rows() != 3 {
		t.Fatal(b.Rows(), err)
	}
	if two, err := b.Digest([]byte(`{"at": 2}`)); err != nil || one == two {
		t.Error("a digest does not know its position", err)
	}
	r, err := b.Commit(t.Context(), Ending{RunID: "r1", Position: []byte(`{"at":1}`)})
	if err != nil || r.Rows != 3 {
		t.Fatal(r, err)
	}
	table, err := s.Table("log")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := table.ReadRun("r1", "n1"); err != nil || m.BatchDigest != one || !strings.Contains(string(m.Cursor), `"at": 1`) {
		t.Errorf("%+v, %v, want digest %s", m, err, one)
	}

	late := input("b.jsonl", "", "\n{\"x\":5}\n")
	late.FirstLine = 7
	_, err = Read(t.Context(), s, Options{Table: "stock", SiteID: "lab", Inputs: []Input{input("a.jsonl", "", "{\"x\":\"1\"}\n{\"x\":\"2\"}"), late}})
	if !errors.Is(err, fault.StoreSchemaIncompatible) || !strings.Contains(err.Error(), "b.jsonl:8: ") || !strings.Contains(err.Error(), "since line 1 of a.jsonl") {
		t.Error(err)
	}
	gone := errors.New("gone")
	if _, err := Read(t.Context(), s, Options{Table: "log", SiteID: "lab", Inputs: []Input{{Name: "x", Open: func() (io.ReadCloser, error) { return nil, gone }}}}); !errors.Is(err, gone) {
		t.Error(err)
	}
}
