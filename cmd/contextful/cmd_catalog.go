package main

import (
	"github.com/spf13/cobra"

	"contextful/ref/manifest"
)

func (a *app) rebuildCatalogCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild-catalog",
		Short: "Make derived.sqlite again from the store's files",
		Long: `Makes the catalog of what can be derived again, from the pointers, the manifests they reach, the committed runs and every schema.json;
whatever stands in its place is replaced, whole or not at all. A file that cannot be read refuses, naming it, and the old catalog stays.

In machine.sqlite only run rows are filled in, from the run states of the nodes, and only where there is none at all: its journal, cursors and
leases are kept as they are. No read depends on either catalog.` + exitHelp,
		Example: "  contextful context rebuild-catalog",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			tables, runs, err := s.rebuild(cmd.Context())
			if err != nil {
				return err
			}
			report := struct {
				Tables int `json:"tables"`
				Runs   int `json:"runs"`
			}{tables, runs}
			return a.print(report, "rebuilt %s for %s; %s filled in", derivedName, count(int64(tables), "table"), count(int64(runs), "run row"))
		},
	}
}

func (a *app) runListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the runs of pipelines this machine knows of",
		Long: `Lists the run rows of machine.sqlite, newest start first: the runs this machine did, and after rebuild-catalog those of other nodes where it had
none of its own.` + exitHelp,
		Example: "  contextful run list",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			rows, err := s.runRows(cmd.Context())
			if err != nil {
				return err
			}
			report := struct {
				Runs []pipelineRow `json:"runs"`
			}{[]pipelineRow{}}
			if len(rows) == 0 {
				a.log("this machine has run no pipeline here; contextful context rebuild-catalog looks for runs of other nodes")
			}
			var lines []string
			for _, r := range rows {
				row := pipelineRow{PipelineID: r.Pipeline, NodeID: r.Node, RunID: r.RunID, Table: r.Table, Status: r.Status, StartedAt: manifest.At(r.StartedAt)}
				if !r.EndedAt.IsZero() {
					ended := manifest.At(r.EndedAt)
					row.EndedAt = &ended
				}
				report.Runs = append(report.Runs, row)
				lines = append(lines, columns(row.StartedAt.String(), row.PipelineID, row.RunID+"/"+row.NodeID, row.Table, row.Status))
			}
			return a.list(report, lines)
		},
	}
}

type pipelineRow struct {
	PipelineID string            `json:"pipeline_id"`
	NodeID     string            `json:"node_id"`
	RunID      string            `json:"run_id"`
	Table      string            `json:"table"`
	Status     string            `json:"status"`
	StartedAt  manifest.Instant  `json:"started_at"`
	EndedAt    *manifest.Instant `json:"ended_at"`
}
