package decl

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"contextful/ref/fault"
	"contextful/ref/key"
)

// full is every block the declaration language has.
const full = `
[project]
name = "research"

[pipeline]
id = "filings-sync"
[pipeline.source]
kind = "command"
command = ["./feed"]

normalize = "json"

[[pipeline.tables]]
name = "documents"
primary_key = ["document_id", "page"]
order_by = "revised_at"
write_mode = "append"
replicate = false
cluster_by = ["issuer", "revised_at"]
partition_by = ["tenant"]
retain_runs = "36h"
bloom_filter = ["document_id"]
columns = { digest = "binary(32)", attrs = "map<utf8, int64>" }
masks = { email = "hash" }
[pipeline.tables.valid_time]
from = "starts"
[pipeline.tables.available_time]
column = "released"
live_since = "2024-01-01T00:00:00Z"
[pipeline.tables.snapshot]
document = "doc_id"
captured_at = "captured_at"
[[pipeline.tables.indexes]]
kind = "vector"
column = "embedding"
model = "e5-small"
dim = 384
[[pipeline.tables.indexes]]
kind = "fulltext"
column = "body"
tokenizer = "cjk"

[[pipeline.tables]]
name = "filings/annual"
write_mode = "replace"

[[job]]
name = "fold-documents"
kind = "fold"
schedule = "0 */6 * * *"
target = "documents"
enabled = false
`

func TestFullDeclaration(t *testing.T) {
	p, err := ParseProject("/p/contextful.toml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if p.StoreRoot() != "/p/.contextful/context/research" {
		t.Errorf("store root %s", p.StoreRoot())
	}
	d := p.Table("documents")
	if d == nil || d.RetainRuns != 36*time.Hour || d.Replicate || d.OrderBy != "revised_at" || !d.Keyed() || len(d.Indexes) != 2 ||
		d.Indexes[0].Metric != "cosine" || d.Indexes[1].Tokenizer != "cjk" || d.AvailableTime.Zone != "UTC" || d.ValidTime.From != "starts" {
		t.Errorf("documents: %+v", d)
	}
	f := p.Table("filings/annual")
	if f.WriteMode != Replace || f.OrderBy != DefaultOrderBy || f.RetainRuns != DefaultRetainRuns || !f.Replicate || f.Keyed() {
		t.Errorf("defaults: %+v", f)
	}
	if p.Pipelines[0].Normalize != "json" || p.Pipelines[0].Source.Command[0] != "./feed" || p.Jobs[0].Enabled {
		t.Errorf("pipeline %+v job %+v", p.Pipelines[0], p.Jobs[0])
	}
}

func TestDeclarationRefusals(t *testing.T) {
	table := func(rest string) string {
		return "[project]\nname = \"p\"\n[[pipeline.tables]]\nname = \"t\"\n" + rest
	}
	for name, c := range map[string]struct {
		text, want, hint string
		code             fault.Code
	}{
		"unknown key":          {table("primry_key = [\"a\"]"), `line 5: unknown key "pipeline.tables.primry_key"`, `"primary_key"`, ""},
		"unknown table":        {"[package]\nname = \"x\"", `line 1: unknown key "package"`, "", ""},
		"no project":           {"", "declares no [project]", "init", ""},
		"not toml":             {"{\"a\": 1}", "line 1", "", ""},
		"not text":             {"\xff\xfe\x00", "UTF-8", "", ""},
		"wrong kind of value":  {table("primary_key = \"a\""), "line 5", "", ""},
		"duplicate key":        {table("name = \"u\""), "line 5", "", ""},
		"project dots":         {"[project]\nname = \"../x\"", "path-safe", "", ""},
		"table data":           {"[project]\nname = \"p\"\n[[pipeline.tables]]\nname = \"a/data/b\"", "own file", "", ""},
		"table absent":         {"[project]\nname = \"p\"\n[[pipeline.tables]]\nreplicate = true", "number 1 has no name", "", ""},
		"table twice":          {table("[[pipeline.tables]]\nname = \"t\""), "already declared", "", ""},
		"tables by case":       {table("[[pipeline.tables]]\nname = \"T\""), "differ only in case", "", ""},
		"key twice":            {table("primary_key = [\"a\", \"A\"]"), "twice", "", ""},
		"key reserved":         {table("primary_key = [\"_run_id\"]"), "reserved", "", ""},
		"key empty":            {table("primary_key = []"), "empty list", "", ""},
		"partition reserved":   {table("partition_by = [\"_ingested_at\"]"), "reserved", "", ""},
		"order reserved":       {table("order_by = \"_run_id\""), "order_by", "", ""},
		"write mode":           {table("write_mode = \"upsert\""), "write_mode", "", ""},
		"retain":               {table("retain_runs = \"1w\""), "retain_runs", "", ""},
		"retain overflow":      {table("retain_runs = \"999999999d\""), "retain_runs", "", ""},
		"column reserved":      {table("columns = { _x = \"utf8\" }"), "reserved", "", ""},
		"column type":          {table("columns = { a = \"int128\" }"), "column \"a\"", "timestamp", fault.StoreTypeUnknown},
		"key nested":           {table("primary_key = [\"a\"]\ncolumns = { a = \"list<utf8>\" }"), "told apart", "", ""},
		"key by case":          {table("primary_key = [\"a\"]\ncolumns = { A = \"utf8\" }"), "columns names", "", ""},
		"columns by case":      {table("columns = { a = \"utf8\", A = \"utf8\" }"), "differ only in case", "", ""},
		"index foreign key":    {table("[[pipeline.tables.indexes]]\nkind = \"fulltext\"\ncolumn = \"c\"\ndim = 3"), "dim do not belong", "", ""},
		"index no dim":         {table("[[pipeline.tables.indexes]]\nkind = \"vector\"\ncolumn = \"c\"\nmodel = \"m\""), "dim", "", ""},
		"job kind":             {"[project]\nname = \"p\"\n[[job]]\nname = \"j\"\nkind = \"clean\"", "kind", "", ""},
		"source kind":          {"[project]\nname = \"p\"\n[pipeline.source]\nkind = \"http\"", "kind", "", ""},
		"available without":    {table("[pipeline.tables.available_time]\nzone = \"UTC\""), "column", "", ""},
		"valid from declared":  {table("primary_key = [\"id\"]\ncolumns = { a = \"utf8\" }\n[pipeline.tables.valid_time]\nfrom = \"a\""), "timestamp", "", ""},
		"valid to by case":     {table("columns = { A = \"timestamp\" }\n[pipeline.tables.valid_time]\nfrom = \"b\"\nto = \"a\""), "valid_time.to", "", ""},
		"availability by type": {table("columns = { a = \"int64\" }\n[pipeline.tables.available_time]\ncolumn = \"a\""), "int64", "", ""},
		"zone":                 {table("[pipeline.tables.available_time]\ncolumn = \"a\"\nzone = \"Mars/Olympus\""), "Mars/Olympus", "", ""},
		"zone of the machine":  {table("[pipeline.tables.available_time]\ncolumn = \"a\"\nzone = \"Local\""), "Local", "", ""},
		"adjust without on":    {table("[pipeline.tables.valid_time]\nfrom = \"f\"\n[pipeline.tables.available_time]\ncolumn = \"a\"\n[[pipeline.tables.available_time.adjustments]]\ntable = \"s\"\ncolumns = [\"p\"]\nfactor = \"x\"\neffective = \"e\""), "on", "", ""},
		"adjust without valid": {table("[pipeline.tables.available_time]\ncolumn = \"a\"\n[[pipeline.tables.available_time.adjustments]]\ntable = \"s\"\ncolumns = [\"p\"]\nfactor = \"x\"\neffective = \"e\"\non = [\"k\"]"), "valid_time", "", ""},
		"valid time from = to": {table("[pipeline.tables.valid_time]\nfrom = \"a\"\nto = \"a\""), "valid_time", "", ""},
	} {
		_, err := ParseProject("/p/contextful.toml", []byte(c.text))
		var e *fault.Error
		if c.code == "" {
			c.code = fault.StoreDeclarationInvalid
		}
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message, c.want) || !strings.Contains(e.Hint, c.hint) ||
			!strings.Contains(e.Message, "/p/contextful.toml") {
			t.Errorf("%s: %v (hint %q)", name, err, hintOf(e))
		}
	}
	ok := table("order_by = \"_ingested_at\"\ncluster_by = [\"_ingested_at\"]\ncolumns = { _lang = \"utf8\" }")
	if _, err := ParseProject("/p/contextful.toml", []byte(ok)); err != nil {
		t.Error(err)
	}
}

func hintOf(e *fault.Error) string {
	if e == nil {
		return ""
	}
	return e.Hint
}

func TestLoadProjectFindsTheNearestAndMerges(t *testing.T) {
	root := t.TempDir()
	write(t, root, "contextful.toml", "[project]\nname = \"a\"\n")
	write(t, root, "pipelines/b.toml", "[pipeline]\nid = \"b\"\n[[pipeline.tables]]\nname = \"two\"\n")
	write(t, root, "pipelines/a.toml", "[pipeline]\nid = \"a\"\n[[pipeline.tables]]\nname = \"one\"\n")
	write(t, root, "deep/er/x", "")
	p, err := LoadProject(nil, Where{StartDir: filepath.Join(root, "deep/er")})
	if err != nil {
		t.Fatal(err)
	}
	if p.Dir != root || len(p.Tables) != 2 || p.Tables[0].Name != "one" {
		t.Errorf("%+v", p)
	}
	if p, err = LoadProject(nil, Where{StartDir: root + "/deep", ProjectDir: ".."}); err != nil || p.Dir != root {
		t.Errorf("--project: %v %v", p, err)
	}
	if p, err = LoadProject(nil, Where{StartDir: "/", DeclarationPath: root + "/contextful.toml"}); err != nil || p.Dir != root {
		t.Errorf("--declaration: %v %v", p, err)
	}
	empty := t.TempDir()
	if _, err = LoadProject(nil, Where{StartDir: empty}); fault.CodeOf(err) != fault.ProjectNotFound {
		t.Errorf("no project: %v", err)
	}
	if _, err = LoadProject(nil, Where{StartDir: "/", ProjectDir: empty}); fault.CodeOf(err) != fault.ProjectNotFound {
		t.Errorf("no project in --project: %v", err)
	}
	if err := os.Mkdir(filepath.Join(empty, FileName), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err = LoadProject(nil, Where{StartDir: empty}); fault.CodeOf(err) != fault.StoreDeclarationInvalid {
		t.Errorf("a directory in its place: %v", err)
	}
	write(t, root, "pipelines/c.toml", "[project]\nname = \"c\"\n")
	if _, err = LoadProject(nil, Where{StartDir: root}); fault.CodeOf(err) != fault.StoreDeclarationInvalid {
		t.Errorf("[project] in a pipeline file: %v", err)
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEndpoints(t *testing.T) {
	for _, c := range []struct {
		text, region string
		want         Endpoint
	}{
		{"file:///srv/b", "", Endpoint{Scheme: "file", Dir: "/srv/b"}},
		{"s3://eu-west-1", "", Endpoint{Scheme: "s3", URL: "https://s3.eu-west-1.amazonaws.com", Region: "eu-west-1"}},
		{"s3://cn-north-1", "", Endpoint{Scheme: "s3", URL: "https://s3.cn-north-1.amazonaws.com.cn", Region: "cn-north-1"}},
		{"r2://0abc", "", Endpoint{Scheme: "r2", URL: "https://0abc.r2.cloudflarestorage.com", Region: "auto", PathStyle: true}},
		{"https://minio.example", "", Endpoint{Scheme: "https", URL: "https://minio.example", Region: "us-east-1", PathStyle: true}},
		{"https://minio.example:9000/", "eu-x-2", Endpoint{Scheme: "https", URL: "https://minio.example:9000", Region: "eu-x-2", PathStyle: true}},
		{"http://127.0.0.1:9000", "", Endpoint{Scheme: "http", URL: "http://127.0.0.1:9000", Region: "us-east-1", PathStyle: true}},
		{"http://[::1]:9000", "", Endpoint{Scheme: "http", URL: "http://[::1]:9000", Region: "us-east-1", PathStyle: true}},
	} {
		got, err := ParseEndpoint(c.text, c.region)
		c.want.Text = c.text
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v %v", c.text, got, err)
		}
	}
	for _, bad := range []string{"", "x", "file://rel", "file://", "s3://", "s3://EU", "r2://a/b", "r2://", "http://example.com", "http://10.0.0.1",
		"https://", "https://h/path", "https://u:p@h", "https://h?x=1", "ftp://h", "http://127.0.0.1.example.com"} {
		if e, err := ParseEndpoint(bad, ""); err == nil {
			t.Errorf("%q parsed as %+v", bad, e)
		}
	}
	if _, err := ParseEndpoint("s3://eu-west-1", "us-east-1"); err == nil {
		t.Error("contradicting region accepted")
	}
}

func TestConfig(t *testing.T) {
	c, err := ParseConfig("/c", []byte("[sync]\nendpoint = \"s3://eu-west-1\"\nbucket = \"my.bucket\"\nprefix = \"team/a\"\naccess_key_id = \"env://AK\"\n"+
		"secret_access_key = \"env://SK\"\npush_retries = 7\npull_tables = [\"*\"]\nlazy_parts = true\npart_cache_bytes = 8589934592\n[node]\nid = \"n-1\"\n"+
		"[encryption]\nkey_source = \"env:K\"\n[replica]\nof = \"x\"\n[catalog]\nurl = \"postgres://h/d\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Sync; s.PushRetries != 7 || s.Transfers != 16 || s.RetainGenerations != 64 || s.Coordination != "cas" || !s.Endpoint.PathStyle ||
		s.PartCacheBytes != 8589934592 || c.NodeID != "n-1" || c.Encryption.KeyEnv != "K" || c.Replica.Of != "x" || c.Catalog.URL == "" {
		t.Errorf("%+v", c.Sync)
	}
	env := func(name string) string { return map[string]string{"AK": "secret", "P": "pre/fix", "BAD": "/x"}[name] }
	if v, err := c.Sync.AccessKeyID.Value(env); err != nil || v != "secret" {
		t.Error(v, err)
	}
	if _, err := c.Sync.SecretAccessKey.Value(env); fault.CodeOf(err) != fault.SyncNotConfigured {
		t.Error(err)
	}
	sync := func(rest string) (*Config, error) {
		return ParseConfig("/c", []byte("[sync]\nendpoint = \"https://h\"\nbucket = \"bkt\"\n"+rest))
	}
	for rest, code := range map[string]fault.Code{
		"prefix = \"a\"\nprefix_from = \"env:P\"": fault.StoreDeclarationInvalid,
		"prefix = \"\"":               fault.StoreDeclarationInvalid,
		"prefix = \"a/\"":             fault.StoreDeclarationInvalid,
		"prefix_from = \"P\"":         fault.StoreDeclarationInvalid,
		"access_key_id = \"AKIA\"":    fault.StoreDeclarationInvalid,
		"access_key_id = \"env://A\"": fault.StoreDeclarationInvalid,
		"push_retries = 0":            fault.StoreDeclarationInvalid,
		"transfers = 0":               fault.StoreDeclarationInvalid,
		"retain_generations = 0":      fault.StoreDeclarationInvalid,
		"coordination = \"none\"":     fault.StoreDeclarationInvalid,
		"pull_tables = []":            fault.SyncPullTablesEmpty,
		"transfer = 4":                fault.StoreDeclarationInvalid,
	} {
		if _, err := sync(rest); fault.CodeOf(err) != code {
			t.Errorf("%s: %v", rest, err)
		}
	}
	if _, err := sync("access_key_id = \"AKIASECRET\""); strings.Contains(err.Error(), "AKIASECRET") {
		t.Error("a literal secret is repeated in the refusal")
	}
	require := func(rest string) error {
		c, err := sync(rest)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.RequireSync(env)
		return err
	}
	if err := require(""); fault.CodeOf(err) != fault.SyncNotConfigured {
		t.Error("a silent bucket root", err)
	}
	if err := require("prefix_from = \"env:UNSET\""); fault.CodeOf(err) != fault.SyncNotConfigured {
		t.Error(err)
	}
	if err := require("prefix_from = \"env:BAD\""); fault.CodeOf(err) != fault.StoreDeclarationInvalid {
		t.Error(err)
	}
	if err := require("prefix_from = \"env:P\""); err != nil {
		t.Error(err)
	}
	if c, err := LoadConfig(nil, t.TempDir()); err != nil || c.Sync != nil {
		t.Error(c, err)
	} else if _, err := c.RequireSync(env); fault.CodeOf(err) != fault.SyncNotConfigured {
		t.Error(err)
	}
}

func TestNode(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	env := map[string]string{"CONTEXTFUL_STATE_DIR": dir}
	get := func(k string) string { return env[k] }
	first, err := ResolveNode(get, nil)
	if err != nil || !strings.HasPrefix(first, "node-") {
		t.Fatal(first, err)
	}
	if again, err := ResolveNode(get, nil); err != nil || again != first {
		t.Error(again, err)
	}
	if id, err := ResolveNode(get, &Config{NodeID: "cfg"}); err != nil || id != "cfg" {
		t.Error(id, err)
	}
	env["CONTEXTFUL_NODE_ID"] = "env"
	if id, err := ResolveNode(get, &Config{NodeID: "cfg"}); err != nil || id != "env" {
		t.Error(id, err)
	}
	env["CONTEXTFUL_NODE_ID"] = "a.b"
	if _, err := ResolveNode(get, nil); fault.CodeOf(err) != fault.StoreNameInvalid {
		t.Error(err)
	}
	env = map[string]string{"CONTEXTFUL_STATE_DIR": "/proc/none"}
	if id, err := ResolveNode(get, nil); err != nil || id != LocalNode {
		t.Error(id, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// FuzzDeclaration: whatever the bytes, there is a validated project or a coded refusal, and never a panic.
func FuzzDeclaration(f *testing.F) {
	for _, s := range []string{full, "", "[project]", "[sync]\nendpoint=\"s3://eu-west-1\"", "a.b.c = [[1,2],{x=1}]", "[[job]]\n[[job]]", "\xff", "[project]\nname='x'\n[pipeline]\ntables=3"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseProject("/p/contextful.toml", data)
		if (p == nil) == (err == nil) {
			t.Fatalf("%v and %v", p, err)
		}
		if err != nil && fault.CodeOf(err) == "" {
			t.Fatalf("no code: %v", err)
		}
		if p != nil {
			for _, table := range p.Tables {
				if key.ValidTable(table.Name) != nil {
					t.Fatalf("table %q passed", table.Name)
				}
			}
		}
		c, err := ParseConfig("/p/config.toml", data)
		if (c == nil) == (err == nil) || (err != nil && fault.CodeOf(err) == "") {
			t.Fatalf("%v and %v", c, err)
		}
	})
}
