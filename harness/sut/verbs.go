package sut

import "sort"

// A Verb is something an implementation is asked to do. The default templates are the reference command line.
type Verb string

// The verbs. docs/implementers.md holds their table: placeholders, working directory, defaults.
const (
	Init             Verb = "init"
	Land             Verb = "land"
	Capture          Verb = "capture"
	Files            Verb = "files"
	Scan             Verb = "scan"
	Runs             Verb = "runs"
	Compact          Verb = "compact"
	Check            Verb = "check"
	Committed        Verb = "committed"
	Describe         Verb = "describe"
	Rebuild          Verb = "rebuild-catalog"
	RunList          Verb = "run-list"
	Query            Verb = "query"
	Probe            Verb = "probe"
	Emit             Verb = "emit"
	Push             Verb = "push"
	Pull             Verb = "pull"
	LeaseAcquire     Verb = "lease-acquire"
	LeaseRenew       Verb = "lease-renew"
	LeaseRelease     Verb = "lease-release"
	SyncCompact      Verb = "sync-compact"
	PipelineRun      Verb = "pipeline-run"
	PipelineValidate Verb = "pipeline-validate"
)

// everywhere lists the placeholders that every verb may use.
var everywhere = []string{"project", "root", "name", "node", "now"}

// A VerbInfo is one line of the table of verbs: what it does, what it may be told, and how the reference is asked.
type VerbInfo struct {
	Verb         Verb
	Does         string
	Placeholders []string // beyond the ones every verb may use
	Default      Template
}

// Everywhere lists the placeholders any verb's template may use.
func Everywhere() []string { return append([]string(nil), everywhere...) }

// Verbs lists every verb, sorted by name.
func Verbs() []VerbInfo {
	now := []any{"--now", "{now}"}
	argv := func(parts ...any) Template { return Template{Argv: parts} }
	asOf := []any{"--as-of", "{as_of}"}
	clocks := []string{"as_of", "valid_as_of", "available_as_of", "vintage", "horizon", "snapshot"}
	// bounded asks with each bound that has a value, before what comes last.
	bounded := func(parts ...any) Template {
		return argv(append(parts, asOf, []any{"--valid-as-of", "{valid_as_of}"}, []any{"--available-as-of", "{available_as_of}"},
			[]any{"--vintage", "{vintage}"}, []any{"--horizon", "{horizon}"}, []any{"--snapshot", "{snapshot}"}, now, "--json")...)
	}
	list := []VerbInfo{
		{Init, "makes the working directory a project and its store root", nil, argv("init", "{name}")},
		{Land, "lands a file of rows as one run", []string{"table", "rows", "run", "site", "format", "type"},
			argv("context", "land", "{table}", "--rows", "{rows}", "--run-id", "{run}", "--site-id", "{site}", []any{"--format", "{format}"}, []any{"--type", "{type}"}, now, "--json")},
		{Capture, "captures a file of documents as one snapshot", []string{"table", "rows", "run", "site", "format", "type"},
			argv("context", "capture", "{table}", "--rows", "{rows}", []any{"--run-id", "{run}"}, []any{"--site-id", "{site}"}, []any{"--format", "{format}"}, []any{"--type", "{type}"}, now, "--json")},
		{Files, "lists the files a read of the table would open", append([]string{"table"}, clocks...), bounded("context", "files", "{table}")},
		{Scan, "prints every row of the table", append([]string{"table"}, clocks...), bounded("context", "scan", "{table}")},
		{Runs, "lists the committed runs of the table", []string{"table"}, argv("context", "runs", "{table}", now, "--json")},
		{Committed, "says how many rows of a run are committed", []string{"table", "run"}, argv("context", "runs", "{table}", "--run-id", "{run}", now, "--json")},
		{Compact, "folds the table, or every table that is due", []string{"table"}, argv("context", "compact", []any{"{table}"}, now, "--json")},
		{Check, "verifies every digest, chain, pointer and footer", nil, argv("context", "check", now, "--json")},
		{Describe, "prints the columns of the table and their types", []string{"table", "horizon"}, argv("context", "describe", "{table}", []any{"--horizon", "{horizon}"}, now, "--json")},
		{Rebuild, "makes the catalog of what can be derived again", nil, argv("context", "rebuild-catalog", now, "--json")},
		{RunList, "lists the runs of pipelines that this machine knows of", nil, argv("run", "list", now, "--json")},
		{Query, "answers a SELECT over the tables", append([]string{"sql", "limit"}, clocks...), bounded("query", "{sql}", []any{"--limit", "{limit}"})},
		{Probe, "finds out whether the bucket compares and swaps", nil, argv("sync", "probe", now, "--json")},
		{Emit, "prints the bucket manifest this store contributes, asking no bucket", nil, argv("sync", "manifest", "--emit", now)},
		{Push, "brings the bucket up to this store", nil, argv("sync", "push", now, "--json")},
		{Pull, "brings this store up to the bucket", []string{"table", "generation"}, argv("sync", "pull", []any{"--table", "{table}"}, []any{"--generation", "{generation}"}, now, "--json")},
		{LeaseAcquire, "takes the table's compaction lease", []string{"table"}, argv("sync", "lease", "acquire", "{table}", now, "--json")},
		{LeaseRenew, "extends a lease this node holds", []string{"table", "fence"}, argv("sync", "lease", "renew", "{table}", []any{"--fence", "{fence}"}, now, "--json")},
		{LeaseRelease, "gives a lease back", []string{"table", "fence"}, argv("sync", "lease", "release", "{table}", []any{"--fence", "{fence}"}, now, "--json")},
		{SyncCompact, "folds the table under its compaction lease and publishes the snapshot", []string{"table", "held", "fence"},
			argv("sync", "compact", "{table}", []any{"--held={held}"}, []any{"--fence", "{fence}"}, now, "--json")},
		{PipelineRun, "asks the sources of the declared pipelines what is new and lands it", nil, argv("pipeline", "run", now, "--json")},
		{PipelineValidate, "checks the declaration and what it asks for", nil, argv("pipeline", "validate", now, "--json")},
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Verb < list[j].Verb })
	return list
}

func verbInfo(v Verb) (VerbInfo, bool) {
	for _, info := range Verbs() {
		if info.Verb == v {
			return info, true
		}
	}
	return VerbInfo{}, false
}
