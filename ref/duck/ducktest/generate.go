package ducktest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
)

// Generate lands the rows of a SELECT as one run: for benchmarks, where rows as text would cost more than what is measured. The engine's
// session is the caller's; columns are as in Landing, and the SELECT gives exactly those.
func Generate(t testing.TB, st *store.Store, session *duck.Session, table, run string, columns []string, sql string, at time.Time) {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tab, err := st.Table(table)
	must(err)
	arriving, err := schemaOf(tab, columns)
	must(err)
	lock, err := tab.Lock(ctx)
	must(err)
	defer lock.Release()
	merged, grown, err := lock.MergeSchema(arriving, nil)
	must(err)
	next, err := lock.NextCommitSeq(ctx)
	must(err)
	w, err := lock.BeginRun(ctx, run)
	must(err)
	defer w.Abandon()
	file := filepath.Join(w.Dir(), key.PartName(0))
	rows, err := session.Exec(ctx, fmt.Sprintf("COPY (SELECT *, make_timestamp_ns(%d) AS _ingested_at, '%s' AS _run_id, 'site' AS _site_id, "+
		"row_number() OVER () - 1 AS _row_seq, %d::BIGINT AS _commit_seq FROM (%s)) TO %s (FORMAT parquet, COMPRESSION zstd)",
		at.UnixNano(), run, next.Seq, sql, duck.Text(file)))
	must(err)
	fine := fineOf(t, session, file, arriving)
	_, err = colfile.FlipFile(file, true)
	must(err)
	data, err := os.ReadFile(file)
	must(err)
	sum := sha256.Sum256(data)
	if grown {
		must(lock.WriteSchema(merged))
	}
	must(w.Commit(ctx, &manifest.Run{CommittedAt: manifest.At(at), CommitSeq: &next.Seq, RowCount: rows,
		Parts: []manifest.Part{{Name: key.PartName(0), Rows: rows, SHA256: hex.EncodeToString(sum[:]), FineColumns: &fine, JSONColumns: jsonColumns(arriving)}}}))
}

// fineOf names the timestamps of a file that the engine wrote, and nobody has turned yet, with digits below the microsecond.
func fineOf(t testing.TB, session *duck.Session, file string, columns *schema.Schema) []string {
	t.Helper()
	fine := []string{}
	for _, c := range columns.Columns {
		if c.Type.Kind != schema.Timestamp || c.Name == schema.IngestedAt {
			continue
		}
		n, err := session.Int(context.Background(), "SELECT count(*) FROM "+duck.ReadParquet([]string{file})+" WHERE epoch_ns("+duck.Ident(c.Name)+") % 1000 <> 0")
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			fine = append(fine, c.Name)
		}
	}
	return fine
}
