package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/land"
	"contextful/ref/schema"
	"contextful/ref/store"
)

const landLong = `Lands the rows of one file as one run: all of them or, on any refusal, none. The run is visible once it is committed.

A row is one JSON object per line, a CSV record under a header, or a Parquet row; - reads standard input. Columns take the type given
here or in contextful.toml, else the type the table already has, else what the values say (CSV: text). The same run id with the same
rows again writes nothing and says so; with other rows it refuses (StoreRunConflict). Under a CSV header of one column an empty line is
a row too, without a value.

A file without a row is refused (StoreInputEmpty), unless --complete says that it is all there is of a table of write_mode "replace".
Of a table that is appended to nothing can be all there is: its earlier rows stay, so --complete is refused.`

// landingFlags say what is landed: by land and, as documents, by capture.
type landingFlags struct {
	rows, format, run, site string
	types                   []string
}

func (f *landingFlags) shared(cmd *cobra.Command, example string) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "jsonl, csv or parquet (default: by the file's name, else jsonl)")
	flags.StringArrayVar(&f.types, "type", nil, "column=type, such as "+example+"; repeatable")
}

// open makes a landing of the flags, its input open and its progress shown. end closes both.
func (f *landingFlags) open(a *app, s *session, table string) (o land.Options, end func(), err error) {
	o = land.Options{Table: table, InputName: f.rows, Format: formatOf(f.format, f.rows), RunID: f.run, SiteID: f.site}
	if o.Types, err = typeFlags(f.types); err != nil {
		return o, nil, err
	}
	if o.TempDir, err = s.scratch(); err != nil {
		return o, nil, err
	}
	input, err := a.input(f.rows)
	if err != nil {
		return o, nil, err
	}
	o.Input = input
	bar := a.progress("landing", "rows")
	o.Progress = func(n int64) { bar.at(n, 0) }
	return o, func() {
		bar.end()
		_ = input.Close() // it was only read
	}, nil
}

func (a *app) landCommand() *cobra.Command {
	var f landingFlags
	var complete bool
	cmd := &cobra.Command{
		Use:   "land <table>",
		Short: "Land the rows of a file as one run",
		Long:  landLong + exitHelp,
		Example: `  contextful context land documents --rows documents.jsonl --run-id 2026-11-30 --site-id here
  gzip -dc rows.csv.gz | contextful context land documents --rows - --format csv --run-id r7 --site-id here --type page=int64`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			if complete {
				if err := mayBeComplete(s, args[0]); err != nil {
					return err
				}
			}
			o, end, err := f.open(a, s, args[0])
			if err != nil {
				return err
			}
			o.Complete = complete
			report, err := land.Run(cmd.Context(), s.store, o)
			end()
			if err != nil {
				return err
			}
			s.noteLanding(cmd.Context(), args[0], report)
			return a.printLanding(args[0], report)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.rows, "rows", "", "file of rows, - for standard input")
	flags.StringVar(&f.run, "run-id", "", "name of the run, one segment of letters, digits, '.', '_', '-'")
	flags.StringVar(&f.site, "site-id", "", "where the rows come from, kept as _site_id")
	f.shared(cmd, "revised_at=timestamp")
	flags.BoolVar(&complete, "complete", false, "the rows are all there is: without one, a table of write_mode \"replace\" is emptied")
	for _, name := range []string{"rows", "run-id", "site-id"} {
		_ = cmd.MarkFlagRequired(name) // fails only for a flag that does not exist
	}
	return cmd
}

// mayBeComplete refuses --complete for a table whose earlier rows would stay: whoever says it expects them to go.
func mayBeComplete(s *session, table string) error {
	t, err := s.store.Table(table)
	if err != nil {
		return err
	}
	if d := t.Declared(); d != nil && d.WriteMode == decl.Replace {
		return nil
	}
	return fault.New(codeUsage, table, fmt.Sprintf("--complete says that the rows are all there is, and table %q is appended to: the rows it has would stay", table)).
		WithHint(`leave --complete out to add the rows; a table that is replaced as a whole is declared with write_mode = "replace" before its first rows`)
}

func (a *app) printLanding(table string, r land.Report) error {
	report := struct {
		RunID     string `json:"run_id"`
		Rows      int64  `json:"rows"`
		Skipped   int64  `json:"rows_skipped"`
		Replayed  bool   `json:"replayed"`
		Parts     int    `json:"parts"`
		CommitSeq int64  `json:"commit_seq"`
		// Folded is the folded-runs index's row, where it answers in place of the manifest.
		Folded *store.FoldedRun `json:"folded,omitempty"`
	}{r.RunID, r.Rows, r.Skipped, r.Replayed, r.Parts, r.CommitSeq, r.Folded}
	if r.Folded != nil {
		return a.print(report, "run %s of %s was committed before with the same %s and folded into %s: nothing written", r.RunID, table, count(r.Rows, "row"), r.Folded.SnapshotID)
	}
	if r.Replayed {
		return a.print(report, "run %s of %s was committed before with the same %s: nothing written", r.RunID, table, count(r.Rows, "row"))
	}
	if r.Rows == 0 && r.Skipped == 0 {
		return a.print(report, "emptied %s: run %s is all there is and has no row, commit %d", table, r.RunID, r.CommitSeq)
	}
	if r.Skipped > 0 {
		return a.print(report, "landed %s in %s as run %s, commit %d; the table had %d more as they are", count(r.Rows, "row"), table, r.RunID, r.CommitSeq, r.Skipped)
	}
	return a.print(report, "landed %s in %s as run %s, commit %d", count(r.Rows, "row"), table, r.RunID, r.CommitSeq)
}

// noteLanding writes the machine's journal. It is a note, not a commit: where it cannot be written, the landing stands.
func (s *session) noteLanding(ctx context.Context, table string, r land.Report) {
	body, err := json.Marshal(r)
	if err == nil {
		err = s.journal(ctx, "land", table, body)
	}
	if err != nil {
		s.store.Logf("note: the journal of this machine was not written: %v", err)
	}
}

func formatOf(flag, name string) string {
	if flag != "" {
		return flag
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return "csv"
	case ".parquet":
		return "parquet"
	}
	return "jsonl"
}

func typeFlags(flags []string) (map[string]schema.Type, error) {
	types := map[string]schema.Type{}
	for _, text := range flags {
		name, typeText, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usageError{fmt.Errorf("--type is %q, but looks like column=type", text)}
		}
		t, err := schema.ParseType(typeText)
		if err != nil {
			return nil, err
		}
		if _, twice := types[name]; twice {
			return nil, usageError{fmt.Errorf("--type names column %q twice", name)}
		}
		types[name] = t
	}
	return types, nil
}
