package decl

import (
	"errors"
	"strings"
	"testing"

	"contextful/ref/fault"
)

// Keys stand where they belong, exactly as they are spelt, with a value of their kind; whoever is wrong is told what is right.
func TestAKeyThatIsWrongIsToldWhatIsRight(t *testing.T) {
	table := func(rest string) string {
		return "[project]\nname = \"p\"\n[pipeline]\nid = \"p\"\n[[pipeline.tables]]\nname = \"t\"\n" + rest
	}
	for _, c := range []struct{ name, text, want, hint string }{
		{"capital letter", table(`Cluster_by = ["a"]`), `line 7: unknown key "pipeline.tables.Cluster_by"`, `it is written "cluster_by"`},
		{"capital section", "[project]\nname = \"p\"\n[Pipeline]\nid = \"p\"", `line 3: unknown key "Pipeline"`, `it is written "pipeline"`},
		{"capital inline", table(`valid_time = { From = "a" }`), `unknown key "pipeline.tables.valid_time.From"`, `it is written "from"`},
		{"capital dotted", table(`valid_time.From = "a"`), `unknown key "pipeline.tables.valid_time.From"`, `it is written "from"`},
		{"of another place", "[project]\nname = \"p\"\n[context.tables.trades]\nprimary_key = [\"a\"]", `line 3: unknown key "context.tables.trades"`, "a table is declared as\n[[pipeline.tables]]\nname = \"trades\""},
		{"too high", "[project]\nname = \"p\"\n[tables.x]", `unknown key "tables.x"`, "[[pipeline.tables]]\nname = \"x\""},
		{"too high, a list", "[project]\nname = \"p\"\n[[tables]]\nname = \"x\"", `unknown key "tables"`, "[[pipeline.tables]]"},
		{"misspelt section", table("[pipeline.tables.available]\ncolumn = \"a\""), `"pipeline.tables.available"`, "[[pipeline.tables]] has the keys name, primary_key,"},
		{"of a table", "[project]\nname = \"p\"\nprimary_key = [\"a\"]", `"project.primary_key"`, "primary_key belongs to [[pipeline.tables]]"},
		{"of the job", table("[[job]]\nname = \"j\"\ntable = \"t\""), `"job.table"`, "[[job]] has the keys name, kind, schedule, target and enabled"},
		{"of config.toml", table("[sync]\nprefix = \"a\""), `"sync"`, "[sync] belongs to config.toml"},
		{"nobody's", "[package]\nname = \"x\"", `"package"`, "the sections are [project], [pipeline], [[pipeline.tables]] and [[job]]"},
		{"one of a list", "[project]\nname = \"p\"\n[pipeline.tables]\nname = \"t\"", "line 3: ", "[[pipeline.tables]]"},
		{"a list of one", "[project]\nname = \"p\"\n[[pipeline]]\nid = \"t\"", "line 3: ", "write [pipeline]"},
		{"text for list", table(`primary_key = "id"`), `line 7: key "pipeline.tables.primary_key" wants a list of texts and has a text`, `primary_key = ["id"]`},
		{"number in list", table("primary_key = [\n\"id\",\n3]"), "number 2 of the list is a whole number", `primary_key = ["…"]`},
		{"text for truth", table(`replicate = "yes"`), "wants true or false and has a text", "replicate = true"},
		{"number for text", table("retain_runs = 7"), "wants a text and has a whole number", `retain_runs = "…"`},
		{"list for types", table(`columns = ["a"]`), `wants names with a text each and has a list`, "columns = {"},
		{"type of two", table(`columns = { a.b = "utf8" }`), `key "pipeline.tables.columns.a" is a text and holds no key "b"`, ""},
		{"below a text", table("[pipeline.tables.order_by]\na = 1"), `"pipeline.tables.order_by" wants a text`, "order_by ="},
		{"section for list", table(`valid_time = "a"`), "wants a section and has a text", "valid_time"},
	} {
		_, err := ParseProject("/p/contextful.toml", []byte(c.text))
		var e *fault.Error
		if !errors.As(err, &e) || e.Code != fault.StoreDeclarationInvalid || !strings.Contains(e.Message, c.want) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s: %v\nhint %q", c.name, err, hintOf(e))
		}
	}
	for _, c := range []struct{ text, want, hint string }{
		{"[pipeline]\nid = \"a\"", `"pipeline"`, "[pipeline] belongs to contextful.toml"},
		{"[sync]\nPrefix = \"a\"", `"sync.Prefix"`, `it is written "prefix"`},
		{"[sync]\npush_retries = \"5\"", "wants a whole number", "push_retries = 5"},
		{"prefix = \"a\"", `"prefix"`, "prefix belongs to [sync]"},
	} {
		_, err := ParseConfig("/c", []byte(c.text))
		var e *fault.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, c.want) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s: %v\nhint %q", c.text, err, hintOf(e))
		}
	}
	_, err := ParseConfig("/c", []byte("[sync]\naccess_key_id = [\"AKIASECRET\"]"))
	var e *fault.Error
	if !errors.As(err, &e) || strings.Contains(e.Message+e.Hint, "AKIASECRET") {
		t.Errorf("%v: a literal secret is repeated", err)
	}
}

// What a hint shows is read as it stands.
func TestWhatAHintShowsCanBeDeclared(t *testing.T) {
	for _, text := range []string{"[project]\nname = \"p\"\n", "[project]\nname = \"a/b\"\n", "[project]\nname = \"p\"\n[pipeline]\nid = \"q\"\n[[job]]\nname = \"j\"\nkind = \"fold\"\n"} {
		p, err := ParseProject("/p/contextful.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, lines, _ := strings.Cut(p.DeclareHint("trades"), "\n")
		p, err = ParseProject("/p/contextful.toml", []byte(text+lines+"\n"))
		if err != nil || p.Table("trades") == nil || p.Pipelines[0].ID == "" {
			t.Errorf("%s: %v", text+lines, err)
		}
	}
}
