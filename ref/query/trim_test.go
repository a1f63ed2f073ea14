package query

import (
	"context"
	"testing"

	"contextful/ref/duck"
	"contextful/ref/fault"
)

func TestTrimStatement(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT 1":                      "SELECT 1",
		" SELECT 1 ; -- x;\n":           "SELECT 1",
		";;SELECT 1;":                   "SELECT 1",
		"/* a; /* b; */ */ SELECT ';';": "/* a; /* b; */ */ SELECT ';'",
		`SELECT ";" , 'it''s;';`:        `SELECT ";" , 'it''s;'`,
		`SELECT e'\';' ; `:              `SELECT e'\';'`,
		`SELECT 'e\' ; `:                `SELECT 'e\'`,
		"SELECT $x$ ; $x$;":             "SELECT $x$ ; $x$",
		"SELECT a$b$c;":                 "SELECT a$b$c",
		"-- only":                       "-- only",
		"":                              "",
	} {
		if got := trimStatement(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzStatement: whatever the text, it is refused with a code or is one SELECT that can stand in parentheses.
func FuzzStatement(f *testing.F) {
	for _, s := range []string{"SELECT 1;", "; FROM t -- x", "SELECT ';', e'\\';' /* ; */ ;", "WITH a AS (SELECT $$;$$) FROM a;", "VALUES (1);;", "SELECT 1; SELECT 2",
		"DESCRIBE t", "SELECT * FROM read_csv('x')", "COPY t TO 'x'", "SELECT \"a;\"\"b\"", "SELECT '\\'; --", "SELECT 1)", "SELECT (", "SELECT U&'\\0441;'"} {
		f.Add(s)
	}
	ctx := context.Background()
	session, err := duck.Open(ctx, duck.Options{TempDir: f.TempDir(), Threads: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { session.Close() })
	f.Fuzz(func(t *testing.T, text string) {
		first, err := parse(ctx, session, text)
		if err != nil {
			if code := fault.CodeOf(err); code != fault.QueryRefused && code != fault.QueryFailed {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := parse(ctx, session, "SELECT * FROM (\n"+trimStatement(text)+"\n)")
		if err != nil || len(again.tables) != len(first.tables) {
			t.Fatalf("%q trimmed to %q: %v", text, trimStatement(text), err)
		}
	})
}
