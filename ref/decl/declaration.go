package decl

import (
	"slices"
	"time"

	"contextful/ref/schema"
)

// Project is a parsed and validated declaration: contextful.toml and the pipelines/*.toml beside it.
type Project struct {
	Dir       string // absolute directory of the project
	Path      string // absolute path of the declaration file
	Name      string
	Pipelines []Pipeline
	Tables    []*Table // in the order they are declared
	Jobs      []Job
}

// Table finds a declared table, or nil.
func (p *Project) Table(name string) *Table {
	if p == nil {
		return nil
	}
	for _, t := range p.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Pipeline is one [pipeline] with the tables it feeds.
type Pipeline struct {
	ID        string
	Path      string // the file that declares it
	Source    *Source
	Normalize string // "native" or "json": what undeclared objects and arrays become
	Tables    []string
}

// Source is a [pipeline.source]: kind "file" reads Path, kind "command" runs Command and reads its lines.
type Source struct {
	Kind    string
	Command []string // Command[0], where it has a slash, resolves against the declaration's directory
	// Path is of kind "file": a file or a directory. "{table}" in it stands for the table's name, and must stand in it where the
	// pipeline has several tables.
	Path    string
	Format  string        // "", "jsonl", "csv" or "parquet"
	Timeout time.Duration // of kind "command": how long one run of it may take, 0 for no limit
}

// Write modes of a table.
const (
	Append = "append"
	// Replace makes every landing a complete inventory that supersedes all earlier ones. With a primary_key the rows of the
	// newest inventory still go through the dedup view, so a key given twice in one inventory reads once.
	Replace = "replace"
)

// DefaultOrderBy is the order_by of a table that declares none.
const DefaultOrderBy = "_ingested_at"

// DefaultRetainRuns is how long folded runs are kept where a table does not say.
const DefaultRetainRuns = 7 * 24 * time.Hour

// Table is one [[pipeline.tables]], with defaults filled in.
type Table struct {
	Name          string
	Path          string // the file that declares it
	PrimaryKey    []string
	OrderBy       string // DefaultOrderBy unless declared
	WriteMode     string // Append or Replace
	Replicate     bool   // default true
	ClusterBy     []string
	PartitionBy   []string
	RetainRuns    time.Duration
	BloomFilter   []string
	ColumnTypes   map[string]string // declared column types as written
	Columns       map[string]schema.Type
	Masks         map[string]string
	ValidTime     *ValidTime
	AvailableTime *AvailableTime
	Snapshot      *Snapshot
	Indexes       []Index
}

// Keyed says whether the table reads through the dedup view.
func (t *Table) Keyed() bool { return len(t.PrimaryKey) > 0 }

// LineKey tells the lines of a keyed table apart: the primary key and, under valid_time, the start of validity. A read returns
// at most one row of each. nil where the table has no key. Clauses: store.declare.dedup-view, store.bound-time.interval-rows.
func (t *Table) LineKey() []string {
	if !t.Keyed() {
		return nil
	}
	k := slices.Clone(t.PrimaryKey)
	if t.ValidTime != nil && !slices.Contains(k, t.ValidTime.From) {
		k = append(k, t.ValidTime.From)
	}
	return k
}

// DedupKey is what a fold keeps one row of: LineKey and, in a vintage table, the availability instant; where the table holds captured
// documents also the instant of the capture, since a horizon read may have to go back to an earlier one. Clauses:
// store.available-time.vintage-dedup-key, store.snapshot.post-horizon-capture.
func (t *Table) DedupKey() []string {
	k := t.LineKey()
	if k != nil && t.AvailableTime != nil && !slices.Contains(k, t.AvailableTime.Column) {
		k = append(k, t.AvailableTime.Column)
	}
	if k != nil && t.AvailableTime != nil && t.Snapshot != nil && t.Snapshot.CapturedAt != "" && !slices.Contains(k, t.Snapshot.CapturedAt) {
		k = append(k, t.Snapshot.CapturedAt)
	}
	return k
}

// Unserved names the first declared block that changes what a read of the table means and that this build does not serve, or "".
func (t *Table) Unserved() string {
	switch {
	case len(t.Masks) > 0:
		return "masks"
	}
	return ""
}

// Snapshot is [pipeline.tables.snapshot]: the columns describing a captured document. Clause: store.snapshot.capture.
type Snapshot struct {
	Document   string // names the document; no row is without it
	CapturedAt string // a timestamp, in every row, or "": then the instant of the commit says when
	LeakScore  string // a number, 0 where the document tells nothing of what came after its time; or ""
}

// Index is one [[pipeline.tables.indexes]]. Kind is "vector" (Column, Model, Dim, IDColumn, Metric, M, EfConstruction) or
// "fulltext" (Column, IDColumn, Tokenizer).
type Index struct {
	Kind           string
	Column         string
	IDColumn       string
	Model          string
	Dim            int64
	Metric         string
	M              int64
	EfConstruction int64
	Tokenizer      string
}

// Job is one [[job]]: Kind "fold" or "sync-push". Target "" means every table.
type Job struct {
	Name     string
	Kind     string
	Schedule string
	Target   string
	Enabled  bool
	Path     string
}

// Folds says whether a scheduled fold job covers the table (store.declare.fold-job): its kind is fold, it has a schedule, it is
// not disabled, and its target is absent or names the table.
func (p *Project) Folds(table string) bool {
	return slices.ContainsFunc(p.Jobs, func(j Job) bool {
		return j.Kind == "fold" && j.Schedule != "" && j.Enabled && (j.Target == "" || j.Target == table)
	})
}

// Pipeline finds a declared pipeline by its id, or nil.
func (p *Project) Pipeline(id string) *Pipeline {
	for i := range p.Pipelines {
		if id != "" && p.Pipelines[i].ID == id {
			return &p.Pipelines[i]
		}
	}
	return nil
}

// The shapes below are the file's own: what TOML holds before defaults and checks.

type fileDoc struct {
	Project  *projectDoc  `toml:"project"`
	Pipeline *pipelineDoc `toml:"pipeline"`
	Jobs     []jobDoc     `toml:"job"`
}

type projectDoc struct {
	Name string `toml:"name"`
}

type pipelineDoc struct {
	ID        string     `toml:"id"`
	Normalize string     `toml:"normalize"`
	Source    *sourceDoc `toml:"source"`
	Tables    []tableDoc `toml:"tables"`
}

type sourceDoc struct {
	Kind    string   `toml:"kind"`
	Command []string `toml:"command"`
	Path    string   `toml:"path"`
	Format  string   `toml:"format"`
	Timeout *string  `toml:"timeout"`
	// Normalize stands here too, since in TOML a key after a table header belongs to that table.
	Normalize string `toml:"normalize"`
}

type tableDoc struct {
	Name          string            `toml:"name"`
	PrimaryKey    []string          `toml:"primary_key"`
	OrderBy       *string           `toml:"order_by"`
	WriteMode     *string           `toml:"write_mode"`
	Replicate     *bool             `toml:"replicate"`
	ClusterBy     []string          `toml:"cluster_by"`
	PartitionBy   []string          `toml:"partition_by"`
	RetainRuns    *string           `toml:"retain_runs"`
	BloomFilter   []string          `toml:"bloom_filter"`
	Columns       map[string]string `toml:"columns"`
	Masks         map[string]string `toml:"masks"`
	ValidTime     *validDoc         `toml:"valid_time"`
	AvailableTime *availableDoc     `toml:"available_time"`
	Snapshot      *snapshotDoc      `toml:"snapshot"`
	Indexes       []indexDoc        `toml:"indexes"`
}

type snapshotDoc struct {
	Document   string `toml:"document"`
	CapturedAt string `toml:"captured_at"`
	LeakScore  string `toml:"leak_score"`
}

type indexDoc struct {
	Kind           string  `toml:"kind"`
	Column         string  `toml:"column"`
	IDColumn       string  `toml:"id_column"`
	Model          *string `toml:"model"`
	Dim            *int64  `toml:"dim"`
	Metric         *string `toml:"metric"`
	M              *int64  `toml:"m"`
	EfConstruction *int64  `toml:"ef_construction"`
	Tokenizer      *string `toml:"tokenizer"`
}

type jobDoc struct {
	Name     string `toml:"name"`
	Kind     string `toml:"kind"`
	Schedule string `toml:"schedule"`
	Target   string `toml:"target"`
	Enabled  *bool  `toml:"enabled"`
}
