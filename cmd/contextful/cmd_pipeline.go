package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"contextful/ref/catalog/sqlitecat"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/pipeline"
)

func (a *app) pipelineCommand() *cobra.Command {
	return group("pipeline", "Run what contextful.toml says about where rows come from", a.pipelineRunCommand(), a.pipelineValidateCommand())
}

const pipelineRunLong = `Asks the source of a pipeline, or of every pipeline that has one, what is new, and lands it. Rows are committed together with the
position after them, so a run that was killed is simply run again: no row lands twice and none is lost.

A table of write_mode "append" takes each batch as its position comes. One of write_mode "replace" takes a complete inventory or nothing:
without a row it is emptied, and a source that failed, or did not say that it was complete, leaves it as it was.

A command prints one JSON object per line, and finds CONTEXTFUL_TABLE and its last position in CONTEXTFUL_CURSOR:
  {"row": {…}}    {"position": …}    {"inventory": "complete"}    {"skip": "unchanged"}`

func (a *app) pipelineRunCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run [<id>]",
		Short: "Pull what is new from a pipeline's source and land it",
		Long:  pipelineRunLong + exitHelp,
		Example: `  contextful pipeline run
  contextful pipeline run filings-sync --json`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			chosen, err := choosePipelines(s.project, args)
			if err != nil {
				return err
			}
			if err := a.pullBefore(cmd.Context(), s); err != nil {
				return err
			}
			return a.runPipelines(cmd.Context(), s, chosen)
		},
	}
}

// choosePipelines gives the one of that id, or every one that has a source.
func choosePipelines(p *decl.Project, args []string) ([]*decl.Pipeline, error) {
	var chosen []*decl.Pipeline
	for i := range p.Pipelines {
		if line := &p.Pipelines[i]; line.Source != nil && (len(args) == 0 || line.ID == args[0]) {
			chosen = append(chosen, line)
		}
	}
	switch {
	case len(chosen) > 0:
		return chosen, nil
	case len(args) == 0:
		return nil, fault.New(fault.PipelineUnknown, p.Path, p.Path+" declares no [pipeline.source], so there is nothing to run").
			WithHint("contextful context land lands a file by hand")
	case p.Pipeline(args[0]) != nil:
		return nil, fault.New(fault.PipelineUnknown, args[0], fmt.Sprintf("pipeline %q declares no [pipeline.source]", args[0]))
	}
	unknown := fault.New(fault.PipelineUnknown, args[0], fmt.Sprintf("no pipeline %q is declared", args[0]))
	var ids []string
	for _, line := range p.Pipelines {
		if line.ID != "" && line.Source != nil {
			ids = append(ids, line.ID)
		}
	}
	if len(ids) > 0 {
		unknown = unknown.WithHint("those with a source are " + strings.Join(ids, ", "))
	}
	return nil, unknown
}

type pulledRow struct {
	Pipeline string          `json:"pipeline"`
	Table    string          `json:"table"`
	Outcome  string          `json:"outcome"`
	RunID    *string         `json:"run_id"` // of the last batch
	Runs     []string        `json:"runs"`
	Rows     int64           `json:"rows"`
	Position json.RawMessage `json:"position"`
	Error    *refusal        `json:"error,omitempty"`
}

func (a *app) runPipelines(ctx context.Context, s *session, chosen []*decl.Pipeline) error {
	machine, err := sqlitecat.OpenMachine(ctx, s.store.Path(machineName))
	if err != nil {
		return err
	}
	defer machine.Close()
	dir, err := s.scratch()
	if err != nil {
		return err
	}
	result := struct {
		Tables []pulledRow `json:"tables"`
	}{[]pulledRow{}}
	var failed error
	for _, line := range chosen {
		bar := a.progress("pulling "+line.ID, "rows")
		reports, err := pipeline.Run(ctx, pipeline.Options{Store: s.store, Pipeline: line, Machine: machine, TempDir: dir,
			Progress: func(_ string, rows int64) { bar.at(rows, 0) }})
		bar.end()
		if err != nil {
			return err
		}
		for _, r := range reports {
			result.Tables = append(result.Tables, pulledRowOf(r))
			if failed = errors.Join(failed, a.reportPull(ctx, s, r)); !a.json && r.Err == nil {
				if err := a.print(nil, "%s", pullSentence(r)); err != nil {
					return err
				}
			}
		}
	}
	return a.finish(result, failed)
}

// reportPull prints a refusal as it happens, and writes the journal.
func (a *app) reportPull(ctx context.Context, s *session, r pipeline.Report) error {
	if len(r.Runs) > 0 {
		body, err := json.Marshal(pulledRowOf(r))
		if err == nil {
			err = s.journal(ctx, "pipeline", r.Table, body)
		}
		if err != nil {
			s.store.Logf("note: the journal of this machine was not written: %v", err)
		}
	}
	if r.Err != nil {
		a.refuse(r.Err)
	}
	return r.Err
}

func pulledRowOf(r pipeline.Report) pulledRow {
	row := pulledRow{Pipeline: r.Pipeline, Table: r.Table, Outcome: string(r.Outcome), Runs: []string{}, Rows: r.Rows, Position: r.Position}
	for _, b := range r.Runs {
		row.RunID = &b.RunID
		row.Runs = append(row.Runs, b.RunID)
	}
	if r.Err != nil {
		said := describe(r.Err)
		row.Error = &said
	}
	return row
}

func pullSentence(r pipeline.Report) string {
	where := r.Table
	if r.Pipeline != r.Table { // a pipeline of one table is often called after it
		where = r.Pipeline + ": " + r.Table
	}
	runs := count(int64(len(r.Runs)), "run")
	switch r.Outcome {
	case pipeline.Landed:
		return fmt.Sprintf("%s: landed %s in %s", where, count(r.Rows, "row"), runs)
	case pipeline.Replaced:
		return fmt.Sprintf("%s: replaced by %s", where, count(r.Rows, "row"))
	case pipeline.Empty:
		return where + ": emptied, the source has no row left"
	}
	return where + ": nothing new"
}

func (a *app) pipelineValidateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate",
		Short: "Check contextful.toml and what it asks for, and run nothing",
		Long: `Reads contextful.toml with the pipelines/*.toml beside it and checks what they ask for: that each source can be, that jobs name declared
tables. Warns on standard error, without failing, of each keyed table that no scheduled fold job covers.` + exitHelp,
		Example: "  contextful pipeline validate",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.loadProject()
			if err != nil {
				return err
			}
			return a.reportFindings(p, pipeline.Check(p))
		},
	}
}

type findingRow struct {
	Code    fault.Code `json:"code"`
	Subject string     `json:"subject"`
	Message string     `json:"message"`
}

func (a *app) reportFindings(p *decl.Project, findings []pipeline.Finding) error {
	report := struct {
		OK        bool         `json:"ok"`
		Pipelines int          `json:"pipelines"`
		Tables    int          `json:"tables"`
		Problems  []findingRow `json:"problems"`
		Warnings  []findingRow `json:"warnings"`
	}{true, len(p.Pipelines), len(p.Tables), []findingRow{}, []findingRow{}}
	var failed error
	for _, f := range findings {
		row := findingRow(f)
		if f.Code == "" {
			report.Warnings = append(report.Warnings, row)
			a.warn(f.Message)
			continue
		}
		report.OK, report.Problems = false, append(report.Problems, row)
		err := fault.New(f.Code, f.Subject, f.Message)
		a.refuse(err)
		failed = errors.Join(failed, err)
	}
	if !a.json && failed == nil {
		if err := a.print(nil, "ok: %s, %s", count(int64(len(p.Pipelines)), "pipeline"), count(int64(len(p.Tables)), "table")); err != nil {
			return err
		}
	}
	return a.finish(report, failed)
}
