package main

import (
	"github.com/spf13/cobra"

	"contextful/ref/capture"
	"contextful/ref/fold"
)

func (a *app) captureCommand() *cobra.Command {
	var f landingFlags
	cmd := &cobra.Command{
		Use:   "capture <table>",
		Short: "Capture the documents of a file as one snapshot",
		Long: `Lands the documents of one file, folds the table and prints the snapshot's id: query --snapshot reads exactly that corpus from then on.
The table declares [pipeline.tables.snapshot]; every row names its document and, where that is declared, the instant of its capture.

The same rows again are the same capture, and its id is printed again: so a capture that was interrupted is ended. A --run-id makes one of
its own.` + exitHelp,
		Example: `  contextful context capture pages --rows pages.jsonl
  contextful context capture pages --rows pages.jsonl --json
  contextful query "SELECT count(*) FROM pages" --snapshot snapshot-01700000000000000000`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			if f.site == "" {
				f.site = s.store.Node()
			}
			engine, err := a.engine(s)
			if err != nil {
				return err
			}
			o, end, err := f.open(a, s, args[0])
			if err != nil {
				return err
			}
			r, err := capture.Run(cmd.Context(), s.store, capture.Options{Land: o,
				Fold: fold.Options{Engine: engine, Progress: func(line string) { a.log("%s", line) }}})
			end()
			if r.Landed.RunID != "" {
				s.noteLanding(cmd.Context(), args[0], r.Landed)
			}
			if err != nil {
				return err
			}
			if t, err := s.store.Table(args[0]); err == nil {
				s.noteFold(cmd.Context(), t, r.Folded)
			}
			return a.printCapture(args[0], r)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.rows, "rows", "", "file of documents, - for standard input")
	flags.StringVar(&f.run, "run-id", "", "name of the run (default: after the rows, so that the same rows are the same capture)")
	flags.StringVar(&f.site, "site-id", "", "where the documents come from, kept as _site_id (default: this node)")
	f.shared(cmd, "leak_score=float64")
	_ = cmd.MarkFlagRequired("rows") // fails only for a flag that does not exist
	return cmd
}

func (a *app) printCapture(table string, r capture.Report) error {
	report := struct {
		SnapshotID string `json:"snapshot_id"`
		RunID      string `json:"run_id"`
		Rows       int64  `json:"rows"`
		Skipped    int64  `json:"rows_skipped"`
		Replayed   bool   `json:"replayed"`
	}{r.SnapshotID, r.Landed.RunID, r.Landed.Rows, r.Landed.Skipped, r.Landed.Replayed}
	if r.Landed.Replayed {
		return a.print(report, "%s: run %s was captured before with the same %s, as %s", table, r.Landed.RunID, count(r.Landed.Rows, "document"), r.SnapshotID)
	}
	if r.Landed.Skipped > 0 {
		return a.print(report, "%s: captured %s as %s; the table had %d more as they are", table, count(r.Landed.Rows, "document"), r.SnapshotID, r.Landed.Skipped)
	}
	return a.print(report, "%s: captured %s as %s", table, count(r.Landed.Rows, "document"), r.SnapshotID)
}
