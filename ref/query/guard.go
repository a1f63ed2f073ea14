package query

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"contextful/ref/duck"
	"contextful/ref/fault"
)

// statement is what a caller's SQL is about.
type statement struct {
	tables []string // table names as written; one that a WITH defines is among them, marked in with
	with   map[string]bool
	views  bool // names are used in ways a WITH before the statement cannot serve
}

// harmless are the table functions that make rows of their arguments alone.
var harmless = []string{"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree"}

func refused(format string, args ...any) *fault.Error {
	return fault.New(fault.QueryRefused, "", fmt.Sprintf(format, args...)).
		WithHint("a query is one SELECT over the store's tables; contextful context land brings rows in")
}

// parse reads the statement with the engine's own parser. Errors: QueryRefused, QueryFailed.
func parse(ctx context.Context, s *duck.Session, sql string) (*statement, error) {
	if strings.ContainsRune(sql, 0) {
		return nil, refused("the statement holds a NUL character")
	}
	var text string
	if err := s.Conn().QueryRowContext(ctx, "SELECT CAST(json_serialize_sql("+duck.Text(sql)+") AS VARCHAR)").Scan(&text); err != nil {
		return nil, s.Explain(err)
	}
	var doc struct {
		Error      bool              `json:"error"`
		Type       string            `json:"error_type"`
		Message    string            `json:"error_message"`
		Statements []json.RawMessage `json:"statements"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, refused("the statement cannot be understood").Wrap(err)
	}
	switch {
	case doc.Error && doc.Type == "not implemented":
		return nil, refused("only one SELECT is answered; nothing can be written, set, attached or installed through a query")
	case doc.Error:
		return nil, fault.New(fault.QueryFailed, "", strings.Join(strings.Fields(doc.Message), " ")).
			WithHint("a name that is also a word of SQL, or has a dot or a dash in it, stands in double quotes, a text in single ones")
	case len(doc.Statements) == 0:
		return nil, refused("there is no statement")
	case len(doc.Statements) > 1:
		return nil, refused("there are %d statements; only one SELECT is answered", len(doc.Statements))
	}
	var tree any
	if err := json.Unmarshal(doc.Statements[0], &tree); err != nil {
		return nil, refused("the statement cannot be understood").Wrap(err)
	}
	w := walker{with: map[string]bool{}}
	if err := w.walk(tree); err != nil {
		return nil, err
	}
	return w.statement(), nil
}

type reference struct {
	name      string
	qualified bool
}

type walker struct {
	refs []reference
	with map[string]bool // names a WITH defines, in lower case
	show bool            // DESCRIBE or SUMMARIZE
}

func (w *walker) statement() *statement {
	st := &statement{with: w.with, views: w.show || len(w.with) > 0}
	for _, r := range w.refs {
		st.views = st.views || r.qualified
		if !slices.Contains(st.tables, r.name) {
			st.tables = append(st.tables, r.name)
		}
	}
	return st
}

func (w *walker) walk(node any) error {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			if err := w.walk(child); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := w.visit(n); err != nil {
			return err
		}
		for _, child := range n {
			if err := w.walk(child); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) visit(n map[string]any) error {
	if ctes, ok := n["cte_map"].(map[string]any); ok {
		entries, _ := ctes["map"].([]any)
		for _, e := range entries {
			if entry, ok := e.(map[string]any); ok {
				w.with[strings.ToLower(text(entry["key"]))] = true
			}
		}
	}
	switch n["type"] {
	case "RECURSIVE_CTE_NODE", "CTE_NODE":
		w.with[strings.ToLower(text(n["cte_name"]))] = true
	case "BASE_TABLE":
		name, schema, catalog := text(n["table_name"]), text(n["schema_name"]), text(n["catalog_name"])
		if catalog != "" || (schema != "" && !strings.EqualFold(schema, "main")) {
			return refused("%s is not a table of the store", strings.Trim(catalog+"."+schema+"."+name, "."))
		}
		w.refs = append(w.refs, reference{name, schema != ""})
	case "TABLE_FUNCTION":
		function, _ := n["function"].(map[string]any)
		name := text(function["function_name"])
		if name == "" || !slices.Contains(harmless, strings.ToLower(name)) || text(function["schema"]) != "" || text(function["catalog"]) != "" {
			return refused("the table function %s is not available; a query reads the store's tables and nothing else", name)
		}
	case "SHOW_REF":
		if n["query"] == nil {
			return refused("SHOW is not available; DESCRIBE <table> and SUMMARIZE <table> are, and contextful context tables lists the tables")
		}
		w.show = true
	}
	return nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// looksLikeFile says whether a table name that no table has was meant as a file to be read.
func looksLikeFile(name string) bool {
	if strings.ContainsAny(name, "*?[") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") ||
		strings.Contains(name, "://") {
		return true
	}
	lower := strings.ToLower(name)
	for _, end := range []string{".parquet", ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".db", ".duckdb", ".sqlite", ".gz", ".zst", ".xlsx"} {
		if strings.HasSuffix(lower, end) {
			return true
		}
	}
	return false
}
