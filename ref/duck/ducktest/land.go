// Package ducktest lands rows into real stores for the tests of query and fold, without the landing verb they must not import.
package ducktest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/clock"
	"contextful/ref/colfile"
	"contextful/ref/decl"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Epoch is the instant of the first landing of a test.
var Epoch = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// Open makes a store of the declaration's tables in a fresh directory; sub is a directory below it, for odd paths.
func Open(t testing.TB, node, sub, declaration string) *store.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), sub)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	project, err := decl.ParseProject(filepath.Join(dir, decl.FileName), []byte("[project]\nname = \"p\"\n"+declaration))
	if err != nil {
		t.Fatal(err)
	}
	root := project.StoreRoot()
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return At(t, node, root, project)
}

// At opens a node of a store at root.
func At(t testing.TB, node, root string, project *decl.Project) *store.Store {
	t.Helper()
	st, err := store.Open(context.Background(), store.Options{Project: project, Root: root, Node: node, Clock: clock.Fixed{Instant: Epoch.Add(time.Hour)}})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// Landing is one run. Columns are "name type" as a declaration writes types; rows are JSON objects, or lists in the order of the columns.
type Landing struct {
	Table, Run  string
	Columns     []string
	Rows        []string
	Site        string
	At          time.Time // default Epoch
	Replacement bool
	Foreign     bool // write neither fine_columns nor json_columns, as another writer would
}

// Land commits a run.
func Land(t testing.TB, st *store.Store, l Landing) *manifest.Run {
	t.Helper()
	run, err := TryLand(st, l)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TryLand is Land for goroutines.
func TryLand(st *store.Store, l Landing) (*manifest.Run, error) {
	ctx := context.Background()
	if l.At.IsZero() {
		l.At = Epoch
	}
	if l.Site == "" {
		l.Site = "site"
	}
	table, err := st.Table(l.Table)
	if err != nil {
		return nil, err
	}
	arriving, err := schemaOf(table, l.Columns)
	if err != nil {
		return nil, err
	}
	lock, err := table.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	merged, grown, err := lock.MergeSchema(arriving, nil)
	if err != nil {
		return nil, err
	}
	next, err := lock.NextCommitSeq(ctx)
	if err != nil {
		return nil, err
	}
	w, err := lock.BeginRun(ctx, l.Run)
	if err != nil {
		return nil, err
	}
	defer w.Abandon()
	m := &manifest.Run{CommittedAt: manifest.At(l.At), CommitSeq: &next.Seq, RowCount: int64(len(l.Rows)), Replacement: l.Replacement}
	if len(l.Rows) > 0 {
		part, err := writePart(filepath.Join(w.Dir(), key.PartName(0)), arriving, l, next.Seq)
		if err != nil {
			return nil, err
		}
		m.Parts = []manifest.Part{part}
	}
	if grown {
		if err := lock.WriteSchema(merged); err != nil {
			return nil, err
		}
	}
	return m, w.Commit(ctx, m)
}

func schemaOf(table *store.Table, columns []string) (*schema.Schema, error) {
	s := &schema.Schema{}
	for _, c := range columns {
		at := strings.LastIndexByte(c, ' ')
		if open := strings.IndexByte(c, '<'); open >= 0 {
			at = strings.LastIndexByte(c[:open], ' ')
		}
		typ, err := schema.ParseType(c[at+1:])
		if err != nil {
			return nil, err
		}
		s.Columns = append(s.Columns, schema.Column{Name: c[:at], Type: typ, Nullable: true})
	}
	s.Columns = append(s.Columns, schema.Injected()...)
	if table.Declared() != nil {
		s.Metadata = store.DeclarationMetadata(table.Declared())
	}
	return s, nil
}

func jsonColumns(s *schema.Schema) *[]string {
	names := []string{}
	for _, c := range s.Columns {
		if c.Type.Kind == schema.JSON {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return &names
}

func writePart(path string, s *schema.Schema, l Landing, seq int64) (manifest.Part, error) {
	objects := make([]json.RawMessage, len(l.Rows))
	for i, text := range l.Rows {
		row := map[string]json.RawMessage{}
		if strings.HasPrefix(text, "[") {
			var cells []json.RawMessage
			if err := json.Unmarshal([]byte(text), &cells); err != nil {
				return manifest.Part{}, err
			}
			for j, cell := range cells {
				row[s.Columns[j].Name] = cell
			}
		} else if err := json.Unmarshal([]byte(text), &row); err != nil {
			return manifest.Part{}, err
		}
		for name, value := range map[string]any{schema.IngestedAt: l.At.Format("2006-01-02T15:04:05.000000000Z"), schema.RunID: l.Run,
			schema.SiteID: l.Site, schema.RowSeq: i, schema.CommitSeq: seq} {
			row[name], _ = json.Marshal(value)
		}
		objects[i], _ = json.Marshal(row)
	}
	text, err := json.Marshal(objects)
	if err != nil {
		return manifest.Part{}, err
	}
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, s.Arrow(), strings.NewReader(string(text)), array.WithUseNumber())
	if err != nil {
		return manifest.Part{}, err
	}
	defer rec.Release()
	f, err := os.Create(path)
	if err != nil {
		return manifest.Part{}, err
	}
	defer f.Close()
	w, err := colfile.NewWriter(f, s.Arrow(), colfile.Options{})
	if err == nil {
		err = w.Write(rec)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return manifest.Part{}, err
	}
	part := manifest.Part{Name: filepath.Base(path), Rows: w.Rows()}
	if !l.Foreign {
		data, err := os.ReadFile(path)
		if err != nil {
			return manifest.Part{}, err
		}
		sum := sha256.Sum256(data)
		part.SHA256 = hex.EncodeToString(sum[:])
		fine := w.FineColumns()
		part.FineColumns, part.JSONColumns = &fine, jsonColumns(s)
	}
	return part, nil
}
