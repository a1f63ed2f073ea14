package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"contextful/ref/fold"
	"contextful/ref/store"
)

// compactReport is what `context compact` prints for one table.
type compactReport struct {
	Table      string  `json:"table"`
	SnapshotID *string `json:"snapshot_id"`
	Parent     *string `json:"parent"`
	Rows       int64   `json:"rows"`
	Fence      *int64  `json:"fence"`
	Runs       int     `json:"runs"`
}

func (a *app) compactCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "compact [<table>]",
		Short: "Fold the committed runs of a table into its next snapshot",
		Long: fmt.Sprintf(`Folds what is committed and not folded yet into a new snapshot and moves the table's pointer to it. Readers that are at work keep
what they began with. A table that is named is folded at once. Without one, every table of the store that is due is folded: it has %d
runs that are not folded, or its oldest such run was committed %d hours ago or earlier. --all folds every table, due or not.
Outside a bucket lease the fence is null; sync compact folds under one.`, fold.DueRuns, int(fold.DueAge.Hours())) + exitHelp,
		Example: "  contextful context compact documents\n  contextful context compact --all",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 1 && all {
				return usageError{errors.New("--all folds every table: it goes without the name of one")}
			}
			if len(args) == 1 {
				report, err := a.fold(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				return a.printFold(report)
			}
			return a.foldAll(cmd.Context(), s, all)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "fold every table, due or not")
	return c
}

// foldAll folds every table that is due, or every one, and fails at the end if any of them failed.
func (a *app) foldAll(ctx context.Context, s *session, all bool) error {
	tables, err := s.store.Tables()
	if err != nil {
		return err
	}
	result := struct {
		Tables []compactReport `json:"tables"`
	}{[]compactReport{}}
	var failed error
	for _, table := range tables {
		due, waiting, err := a.due(ctx, s, table)
		if err == nil && !due && !all {
			a.log("%s: %s to fold, not due", table, count(int64(waiting), "run"))
			continue
		}
		var report compactReport
		if err == nil {
			report, err = a.fold(ctx, s, table)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			a.refuse(err)
			continue
		}
		result.Tables = append(result.Tables, report)
		if !a.json {
			if err := a.printFold(report); err != nil {
				return err
			}
		}
	}
	return a.finish(result, failed)
}

// due asks whether a table is due, and how many runs wait in it.
func (a *app) due(ctx context.Context, s *session, table string) (bool, int, error) {
	t, err := s.store.Table(table)
	if err != nil {
		return false, 0, err
	}
	view, err := t.Resolve(ctx, store.Bounds{})
	if err != nil {
		return false, 0, err
	}
	due, waiting := fold.Due(view, s.store.Clock().Now())
	return due, waiting, nil
}

// finish ends a command over several things, each of which was printed as it came: with --json the whole result, and an exit that says
// whether any of them failed.
func (a *app) finish(result any, failed error) error {
	if a.json {
		if err := encode(a.stdout, result); err != nil {
			return err
		}
	}
	if failed != nil {
		return reportedError{failed}
	}
	return nil
}

// reportedError was already printed, table by table.
type reportedError struct{ error }

func (r reportedError) Unwrap() error { return r.error }

func (a *app) fold(ctx context.Context, s *session, table string) (compactReport, error) {
	engine, err := a.engine(s)
	if err != nil {
		return compactReport{}, err
	}
	t, err := s.store.Table(table)
	if err != nil {
		return compactReport{}, err
	}
	r, err := fold.Run(ctx, s.store, fold.Options{Table: t.Name(), Engine: engine, Progress: func(line string) { a.log("%s", line) }})
	if err != nil {
		return compactReport{}, err
	}
	s.noteFold(ctx, t, r)
	return foldReport(table, r), nil
}

func foldReport(table string, r fold.Report) compactReport {
	report := compactReport{Table: table, Rows: r.Rows, Fence: r.Fence, Runs: r.Runs}
	if r.SnapshotID != "" {
		report.SnapshotID = &r.SnapshotID
	}
	if r.Parent != "" {
		report.Parent = &r.Parent
	}
	return report
}

func (a *app) printFold(r compactReport) error {
	if r.SnapshotID == nil {
		return a.print(r, "%s: nothing to fold", r.Table)
	}
	return a.print(r, "%s: folded %s into %s, %s", r.Table, count(int64(r.Runs), "run"), *r.SnapshotID, count(r.Rows, "row"))
}
