package decl

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/schema"
)

var (
	segmentForm  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,255}$`)
	durationForm = regexp.MustCompile(`^([0-9]{1,9})([dhms])$`)
)

// pathSafe says whether name is one or more safe segments, none of them "." or "..".
func pathSafe(name string) bool {
	for _, s := range strings.Split(name, "/") {
		if !segmentForm.MatchString(s) || s == "." || s == ".." {
			return false
		}
	}
	return len(name) <= 512
}

// openUnderscore are the underscore columns a producer may fill.
var openUnderscore = []string{"_modality", "_lang", "_provenance", "_prompt_hash"}

// ours says whether a column name is reserved: the engine writes it, or refuses it.
func ours(column string) bool {
	return strings.HasPrefix(column, "_") && !slices.Contains(openUnderscore, column)
}

// retention reads "<n>d|h|m|s".
func retention(text string) (time.Duration, bool) {
	m := durationForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, false
	}
	unit := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}[m[2]]
	if n > int64(1<<62)/int64(unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// merge adds one file's pipeline and jobs to the project.
func (p *Project) merge(file string, doc *fileDoc) error {
	if doc.Pipeline != nil {
		if err := p.addPipeline(file, doc.Pipeline); err != nil {
			return err
		}
	}
	for i, j := range doc.Jobs {
		if err := p.addJob(file, i, j); err != nil {
			return err
		}
	}
	return nil
}

func (p *Project) addPipeline(file string, doc *pipelineDoc) error {
	pipeline := Pipeline{ID: doc.ID, Path: file, Normalize: "native"}
	if doc.ID != "" {
		if err := key.ValidPipeline(doc.ID); err != nil {
			return invalid(file, "[pipeline]: %s", reason(err))
		}
	}
	for _, other := range p.Pipelines {
		if doc.ID != "" && other.ID == doc.ID {
			return invalid(file, "[pipeline] id %q is also declared in %s", doc.ID, other.Path)
		}
	}
	normalize := doc.Normalize
	if s := doc.Source; s != nil {
		limit, err := checkSource(file, doc)
		if err != nil {
			return err
		}
		pipeline.Source = &Source{Kind: s.Kind, Command: s.Command, Path: s.Path, Format: s.Format, Timeout: limit}
		if normalize != "" && s.Normalize != "" && normalize != s.Normalize {
			return invalid(file, "normalize is declared twice: %q and %q", normalize, s.Normalize)
		}
		if normalize == "" {
			normalize = s.Normalize
		}
	}
	switch normalize {
	case "":
	case "native", "json":
		pipeline.Normalize = normalize
	default:
		return invalid(file, "normalize %q is neither \"native\" nor \"json\"", normalize)
	}
	for i := range doc.Tables {
		table, err := buildTable(file, i, &doc.Tables[i])
		if err != nil {
			return err
		}
		for _, other := range p.Tables {
			if other.Name == table.Name {
				return invalid(file, "table %q is already declared in %s", table.Name, other.Path)
			}
			// A case-insensitive file system would put both into one directory.
			if strings.EqualFold(other.Name, table.Name) {
				return invalid(file, "tables %q and %q differ only in case", other.Name, table.Name)
			}
		}
		p.Tables = append(p.Tables, table)
		pipeline.Tables = append(pipeline.Tables, table.Name)
	}
	p.Pipelines = append(p.Pipelines, pipeline)
	return nil
}

// TableWord stands in the path of a file source for the name of the table.
const TableWord = "{table}"

// checkSource gives the limit of a command.
func checkSource(file string, doc *pipelineDoc) (time.Duration, error) {
	s, limit := doc.Source, time.Duration(0)
	bad := func(format string, args ...any) (time.Duration, error) {
		return 0, invalid(file, "[pipeline.source] "+format, args...)
	}
	switch s.Kind {
	case "command":
		if len(s.Command) == 0 || s.Command[0] == "" {
			return bad("kind \"command\" needs command = [\"program\", …]")
		}
		if s.Path != "" || s.Format != "" {
			return bad("path and format belong to kind \"file\"")
		}
		if s.Timeout != nil {
			var ok bool
			if limit, ok = retention(*s.Timeout); !ok || limit == 0 {
				return bad("timeout %q is not <n>d, <n>h, <n>m or <n>s", *s.Timeout)
			}
		}
	case "file":
		if s.Path == "" {
			return bad("kind \"file\" needs path")
		}
		if len(s.Command) > 0 || s.Timeout != nil {
			return bad("command and timeout belong to kind \"command\"")
		}
		if !slices.Contains([]string{"", "jsonl", "csv", "parquet"}, s.Format) {
			return bad("format %q is none of jsonl, csv, parquet", s.Format)
		}
		if len(doc.Tables) > 1 && !strings.Contains(s.Path, TableWord) {
			return bad("path %q is one for %d tables: put {table} into it, so that each has its own", s.Path, len(doc.Tables))
		}
	default:
		return bad("kind %q is neither \"file\" nor \"command\"", s.Kind)
	}
	if doc.ID == "" {
		return bad("needs an id in [pipeline]: the position is kept under it")
	}
	return limit, nil
}

func buildTable(file string, at int, doc *tableDoc) (*Table, error) {
	if doc.Name == "" {
		return nil, invalid(file, "[[pipeline.tables]] number %d has no name", at+1)
	}
	bad := func(format string, args ...any) error {
		return invalid(file, "table %q: "+format, append([]any{doc.Name}, args...)...)
	}
	if err := key.ValidTable(doc.Name); err != nil {
		return nil, bad("%s", reason(err))
	}
	t := &Table{
		Name: doc.Name, Path: file, PrimaryKey: doc.PrimaryKey, OrderBy: DefaultOrderBy, WriteMode: Append, Replicate: true,
		ClusterBy: doc.ClusterBy, PartitionBy: doc.PartitionBy, RetainRuns: DefaultRetainRuns, BloomFilter: doc.BloomFilter,
		ColumnTypes: doc.Columns, Masks: doc.Masks,
	}
	if doc.PrimaryKey != nil && len(doc.PrimaryKey) == 0 {
		return nil, bad("primary_key is an empty list; leave the key out for a table without one")
	}
	lists := []struct {
		key   string
		names []string
		clock bool // whether _ingested_at may stand in it
	}{{"primary_key", doc.PrimaryKey, false}, {"partition_by", doc.PartitionBy, false}, {"bloom_filter", doc.BloomFilter, false},
		{"cluster_by", doc.ClusterBy, true}}
	for _, l := range lists {
		for i, name := range l.names {
			if why := schema.CheckName(name); why != "" {
				return nil, bad("%s holds the column name %q, which %s", l.key, name, why)
			}
			if ours(name) && !(l.clock && name == DefaultOrderBy) {
				return nil, bad("%s names %q, a reserved column", l.key, name)
			}
			for _, other := range l.names[:i] {
				if schema.FoldName(other) == schema.FoldName(name) {
					return nil, bad("%s names column %q twice", l.key, name)
				}
			}
		}
	}
	if doc.OrderBy != nil {
		t.OrderBy = *doc.OrderBy
		if t.OrderBy == "" || (ours(t.OrderBy) && t.OrderBy != DefaultOrderBy) {
			return nil, bad("order_by %q is not a column a table can be ordered by", t.OrderBy)
		}
	}
	if doc.WriteMode != nil {
		t.WriteMode = *doc.WriteMode
		if t.WriteMode != Append && t.WriteMode != Replace {
			return nil, bad("write_mode %q is neither \"append\" nor \"replace\"", t.WriteMode)
		}
	}
	if doc.Replicate != nil {
		t.Replicate = *doc.Replicate
	}
	if doc.RetainRuns != nil {
		d, ok := retention(*doc.RetainRuns)
		if !ok {
			return nil, bad("retain_runs %q is not <n>d, <n>h, <n>m or <n>s", *doc.RetainRuns)
		}
		t.RetainRuns = d
	}
	if err := checkColumns(file, t); err != nil {
		return nil, err
	}
	if err := addBlocks(t, doc, bad); err != nil {
		return nil, err
	}
	return t, nil
}

// addBlocks reads the sub-tables that later issues serve.
func addBlocks(t *Table, doc *tableDoc, bad func(string, ...any) error) error {
	for column, strategy := range doc.Masks {
		if column == "" || strategy == "" {
			return bad("masks needs a column and a strategy, it has %q = %q", column, strategy)
		}
	}
	if err := addClocks(t, doc, bad); err != nil {
		return err
	}
	if s := doc.Snapshot; s != nil {
		if s.Document == "" {
			return bad("snapshot needs document, the column naming the captured document")
		}
		t.Snapshot = &Snapshot{Document: s.Document, CapturedAt: s.CapturedAt, LeakScore: s.LeakScore}
		seen := map[string]string{}
		for _, c := range []struct{ key, column string }{{"document", s.Document}, {"captured_at", s.CapturedAt}, {"leak_score", s.LeakScore}} {
			if c.column == "" {
				continue
			}
			if other := seen[c.column]; other != "" || ours(c.column) {
				return bad("snapshot %s names %q, which is reserved or named by another of its keys", c.key, c.column)
			}
			seen[c.column] = c.key
		}
		if err := t.instant("snapshot.captured_at", s.CapturedAt, bad); err != nil {
			return err
		}
	}
	for i := range doc.Indexes {
		index, err := buildIndex(i, &doc.Indexes[i], bad)
		if err != nil {
			return err
		}
		t.Indexes = append(t.Indexes, index)
	}
	return nil
}

func buildIndex(at int, doc *indexDoc, bad func(string, ...any) error) (Index, error) {
	index := Index{Kind: doc.Kind, Column: doc.Column, IDColumn: doc.IDColumn}
	if doc.Column == "" {
		return index, bad("indexes number %d has no column", at+1)
	}
	foreign := func(keys map[string]bool) string {
		var found []string
		for k, present := range keys {
			if present {
				found = append(found, k)
			}
		}
		slices.Sort(found)
		return strings.Join(found, ", ")
	}
	switch doc.Kind {
	case "vector":
		if doc.Model == nil || *doc.Model == "" || doc.Dim == nil || *doc.Dim < 1 {
			return index, bad("the vector index over %q needs model and a dim of at least 1", doc.Column)
		}
		if doc.Tokenizer != nil {
			return index, bad("tokenizer does not belong to the vector index over %q", doc.Column)
		}
		index.Model, index.Dim, index.Metric = *doc.Model, *doc.Dim, "cosine"
		if doc.Metric != nil && *doc.Metric != "cosine" {
			return index, bad("the vector index over %q has metric %q; only \"cosine\" is known", doc.Column, *doc.Metric)
		}
		for key, value := range map[string]*int64{"m": doc.M, "ef_construction": doc.EfConstruction} {
			if value != nil && *value < 1 {
				return index, bad("the vector index over %q has %s below 1", doc.Column, key)
			}
		}
		if doc.M != nil {
			index.M = *doc.M
		}
		if doc.EfConstruction != nil {
			index.EfConstruction = *doc.EfConstruction
		}
	case "fulltext":
		if keys := foreign(map[string]bool{"model": doc.Model != nil, "dim": doc.Dim != nil, "metric": doc.Metric != nil,
			"m": doc.M != nil, "ef_construction": doc.EfConstruction != nil}); keys != "" {
			return index, bad("%s do not belong to the fulltext index over %q", keys, doc.Column)
		}
		index.Tokenizer = "unicode"
		if doc.Tokenizer != nil {
			index.Tokenizer = *doc.Tokenizer
		}
		if index.Tokenizer != "unicode" && index.Tokenizer != "cjk" {
			return index, bad("tokenizer %q is neither \"unicode\" nor \"cjk\"", index.Tokenizer)
		}
	default:
		return index, bad("index kind %q is neither \"vector\" nor \"fulltext\"", doc.Kind)
	}
	return index, nil
}

func (p *Project) addJob(file string, at int, doc jobDoc) error {
	if doc.Name == "" || !pathSafe(doc.Name) {
		return invalid(file, "[[job]] number %d needs a name of letters, digits, '.', '_' and '-'", at+1)
	}
	for _, other := range p.Jobs {
		if other.Name == doc.Name {
			return invalid(file, "job %q is already declared in %s", doc.Name, other.Path)
		}
	}
	if doc.Kind != "fold" && doc.Kind != "sync-push" {
		return invalid(file, "job %q: kind %q is neither \"fold\" nor \"sync-push\"", doc.Name, doc.Kind)
	}
	if doc.Schedule != "" && len(strings.Fields(doc.Schedule)) != 5 {
		return invalid(file, "job %q: schedule %q has not five fields", doc.Name, doc.Schedule)
	}
	if doc.Target != "" {
		if err := key.ValidTable(doc.Target); err != nil {
			return invalid(file, "job %q: target: %s", doc.Name, reason(err))
		}
	}
	job := Job{Name: doc.Name, Kind: doc.Kind, Schedule: doc.Schedule, Target: doc.Target, Enabled: true, Path: file}
	if doc.Enabled != nil {
		job.Enabled = *doc.Enabled
	}
	p.Jobs = append(p.Jobs, job)
	return nil
}

// checkColumns parses declared types and holds the columns to names that DuckDB can tell apart.
func checkColumns(file string, t *Table) error {
	seen := map[string]string{}
	for _, name := range sortedKeys(t.ColumnTypes) {
		if why := schema.CheckName(name); why != "" {
			return invalid(file, "table %q: columns holds the name %q, which %s", t.Name, name, why)
		}
		if ours(name) {
			return invalid(file, "table %q: columns names %q, which is reserved", t.Name, name)
		}
		if other, ok := seen[schema.FoldName(name)]; ok {
			return invalid(file, "table %q: columns %q and %q differ only in case", t.Name, other, name)
		}
		seen[schema.FoldName(name)] = name
		typ, err := schema.ParseType(t.ColumnTypes[name])
		if err != nil {
			return fault.New(fault.StoreTypeUnknown, file, fmt.Sprintf("%s: table %q: column %q: %s", file, t.Name, name, reason(err))).
				WithHint("known are boolean int32 int64 float64 utf8 json timestamp binary binary(n) float32[n] float16[n] struct<…> list<…> map<utf8, …> variant")
		}
		if t.Columns == nil {
			t.Columns = map[string]schema.Type{}
		}
		t.Columns[name] = typ
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"primary_key", t.PrimaryKey}, {"partition_by", t.PartitionBy}} {
		for _, name := range list.names {
			if other, ok := seen[schema.FoldName(name)]; ok && other != name {
				return invalid(file, "table %q: %s names %q and columns names %q", t.Name, list.key, name, other)
			}
			if typ, ok := t.Columns[name]; ok && !typ.Scalar() && typ.Kind != schema.FixedBinary {
				return invalid(file, "table %q: %s names %q of type %s, which no row can be told apart by", t.Name, list.key, name, typ)
			}
		}
	}
	return nil
}

// reason is the sentence of a refusal without its code.
func reason(err error) string {
	var e *fault.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
