package steps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"contextful/fakes/s3cas"
	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the query operation: statements that want more than the tables, and statements that run while others write.
func registerQuery(s *Suite) {
	s.Step(`^files lie beside (\w+)'s store that hold a secret$`, secretFiles)
	s.Step(`^(\w+) asks: (.+)$`, asksSQL)
	s.Step(`^nothing of the secret is in the answer$`, noSecret)
	s.Step(`^nobody has asked the address$`, addressUnasked)
	s.Step(`^no statement has made or changed a file beside it$`, besideUnchanged)
	s.Step(`^(\w+)'s count of "([^"]*)" and "([^"]*)" is held as it opens the first part$`, countHeld)
	s.Step(`^the held count is (\d+) of "([^"]*)" and (\d+) of "([^"]*)"$`, heldCount)
	s.Step(`^(\w+) has folded every table$`, hasFoldedAll)
}

// secret is a word that stands in every file which no statement may read.
const secret = "rosebud"

const secretKey = "secrets.csv"

func secretFiles(ctx context.Context, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	dir, err := w.Dir("beside")
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"secrets.csv": "id,word\n1," + secret + "\n", "secrets.json": `[{"id": 1, "word": "` + secret + `"}]`, "secrets.db": secret} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	runs, err := inspect.Runs(n.Root(), "events")
	if err != nil {
		return err
	}
	if len(runs) == 0 || len(runs[0].Parts) == 0 {
		return verify.Fail(node+" has a run of events", "a manifest that names a part", "none")
	}
	part := runs[0].Parts[0].Path
	body, err := os.ReadFile(part)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "secrets.parquet"), body, 0o644); err != nil {
		return err
	}
	s, err := w.Fake()
	if err != nil {
		return err
	}
	if err := w.Bucket().Put(ctx, secretKey, []byte("id,word\n1,"+secret+"\n")); err != nil {
		return err
	}
	w.Values["query.words"] = strings.NewReplacer("{dir}", dir, "{csv}", filepath.Join(dir, "secrets.csv"), "{json}", filepath.Join(dir, "secrets.json"),
		"{parquet}", filepath.Join(dir, "secrets.parquet"), "{db}", filepath.Join(dir, "secrets.db"), "{target}", filepath.Join(dir, "made"), "{part}", part,
		"{address}", s.URL()+"/"+w.BucketName()+"/"+w.FullKey(secretKey))
	tree, err := inspect.Snap(dir)
	w.Values["query.beside"] = tree
	return err
}

// asksSQL asks a statement whatever comes of it; {csv}, {part}, {address} and the like stand for what secretFiles made.
func asksSQL(ctx context.Context, node, sql string) error {
	w := world.From(ctx)
	if r, ok := w.Values["query.words"].(*strings.Replacer); ok {
		sql = r.Replace(sql)
	}
	_, err := w.Do(ctx, w.Node(node), sut.Query, sut.A("sql", sql))
	return err
}

func noSecret(ctx context.Context) error {
	c, err := outcome(ctx, "query", "")
	if err != nil {
		return err
	}
	if err := verify.Equal("what the query printed", "", strings.TrimSpace(c.Stdout)); err != nil {
		return err
	}
	return verify.That(!strings.Contains(c.Stderr, secret), "what the query says of a file that nobody may read", "nothing of what it holds", c.Stderr)
}

func addressUnasked(ctx context.Context) error {
	w := world.From(ctx)
	s, err := w.Fake()
	if err != nil {
		return err
	}
	return verify.Never("nobody has asked the address", s.JournalFor(s3cas.Filter{Key: w.FullKey(secretKey)}))
}

func besideUnchanged(ctx context.Context) error {
	before, ok := world.From(ctx).Values["query.beside"].(inspect.Tree)
	if !ok {
		return errors.New("no step has laid files beside the store")
	}
	dir, err := world.From(ctx).Dir("beside")
	if err != nil {
		return err
	}
	now, err := inspect.Snap(dir)
	if err != nil {
		return err
	}
	return verify.Unchanged("the files beside the store", before, now)
}

// countHeld holds one statement over two tables when it opens a part for the first time, of whichever table.
func countHeld(ctx context.Context, node, one, other string) error {
	sql := fmt.Sprintf(`WITH a AS (SELECT count(*) AS n FROM "%s"), b AS (SELECT count(*) AS n FROM "%s") SELECT a.n AS one, b.n AS other FROM a, b`, one, other)
	return holdQuery(ctx, node, sql, "tables/*/data/*.parquet", inspect.Grid{Columns: []string{"one", "other"}})
}

func heldCount(ctx context.Context, one int, _ string, other int, _ string) error {
	r, ok := world.From(ctx).Values["fold.read"].(*heldRead)
	if !ok {
		return errors.New("no count was held")
	}
	r.want.Rows = [][]any{{one, other}}
	return heldReadGave(ctx)
}

func hasFoldedAll(ctx context.Context, node string) error {
	w := world.From(ctx)
	return w.Ok(ctx, w.Node(node), sut.Compact, nil)
}
