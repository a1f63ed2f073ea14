package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"contextful/ref/colfile"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/query"
	"contextful/ref/store"
)

func (a *app) contextCommand() *cobra.Command {
	return group("context", "Land rows and look at what the store holds",
		a.landCommand(), a.captureCommand(), a.tablesCommand(), a.filesCommand(), a.scanCommand(), a.runsCommand(), a.snapshotsCommand(), a.compactCommand(),
		a.checkCommand(), a.describeCommand(), a.rebuildCatalogCommand())
}

// table opens the store and one of its tables.
func (a *app) table(ctx context.Context, name string) (*session, *store.Table, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.store.Table(name)
	return s, t, err
}

func (a *app) tablesCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "tables",
		Short:   "List the store's tables",
		Long:    "Lists the tables that are declared or present, with the snapshot that each one's pointer names." + exitHelp,
		Example: "  contextful context tables",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			names, err := s.store.Tables()
			if err != nil {
				return err
			}
			report := struct {
				Tables []tableRow `json:"tables"`
			}{[]tableRow{}}
			var lines []string
			for _, name := range names {
				t, err := s.store.TableAt(name)
				if err != nil {
					return err
				}
				p, _, err := t.Pointer()
				if err != nil {
					return err
				}
				row := tableRow{Table: name, Declared: s.project.Table(name) != nil, SnapshotID: p.SnapshotID}
				report.Tables = append(report.Tables, row)
				lines = append(lines, columns(name, row.words()...))
			}
			return a.list(report, lines)
		},
	}
}

type tableRow struct {
	Table      string  `json:"table"`
	Declared   bool    `json:"declared"`
	SnapshotID *string `json:"snapshot_id"`
}

func (t tableRow) words() []string {
	declared, snapshot := "declared", "not folded yet"
	if !t.Declared {
		declared = "not declared"
	}
	if t.SnapshotID != nil {
		snapshot = *t.SnapshotID
	}
	return []string{declared, snapshot}
}

func (a *app) filesCommand() *cobra.Command {
	var flags boundFlags
	cmd := &cobra.Command{
		Use:   "files <table>",
		Short: "List the Parquet parts a read of the table opens",
		Long: "Lists, sorted and relative to the store root, the parts that the manifests name for a read now, or under bounds. " +
			"A bound on the rows themselves leaves no part out." + exitHelp,
		Example: "  contextful context files documents",
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := flags.bounds()
			if err != nil {
				return err
			}
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			view, err := query.Check(cmd.Context(), s.store, args[0], b)
			if err != nil {
				return err
			}
			report := struct {
				Files []string `json:"files"`
			}{[]string{}}
			for _, f := range view.Files {
				report.Files = append(report.Files, f.Rel)
			}
			return a.list(report, report.Files)
		},
	}
	flags.add(cmd)
	return cmd
}

func (a *app) runsCommand() *cobra.Command {
	var run string
	cmd := &cobra.Command{
		Use:   "runs <table>",
		Short: "List the committed runs of a table and where they were folded",
		Long: `Lists the committed runs in commit order, with their rows and the snapshot that folded them. A run that was folded and whose manifest
is gone since is listed from the folded-runs index. With --run-id, says how many rows of that run are committed, on all nodes;
null where none are or where nothing tells.` + exitHelp,
		Example: "  contextful context runs documents\n  contextful context runs documents --run-id 2026-11-30",
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, t, err := a.table(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if run != "" {
				return a.committed(cmd.Context(), t, run)
			}
			infos, err := t.ListRuns(cmd.Context())
			if err != nil {
				return err
			}
			report := struct {
				Runs []runRow `json:"runs"`
			}{[]runRow{}}
			var lines []string
			for _, info := range infos {
				row := runRow{RunID: info.RunID, NodeID: info.NodeID, CommittedAt: info.CommittedAt, CommitSeq: info.CommitSeq, Gone: info.Gone}
				rows := "rows not recorded"
				if info.RowCount >= 0 {
					row.Rows, rows = &info.RowCount, count(info.RowCount, "row")
				}
				where := "not folded yet"
				if info.FoldedIn != "" {
					row.FoldedIn, where = &info.FoldedIn, info.FoldedIn
				}
				if info.Gone {
					where += ", its manifest is gone"
				}
				report.Runs = append(report.Runs, row)
				lines = append(lines, columns(row.CommittedAt.String(), row.RunID+"/"+row.NodeID, rows, where))
			}
			return a.list(report, lines)
		},
	}
	cmd.Flags().StringVar(&run, "run-id", "", "only how many rows of this run are committed")
	return cmd
}

func (a *app) committed(ctx context.Context, t *store.Table, run string) error {
	if err := key.ValidRun(run); err != nil {
		return err
	}
	report := struct {
		RunID string `json:"run_id"`
		Rows  *int64 `json:"committed_rows"`
	}{RunID: run}
	rows, known, err := t.CommittedRows(ctx, run)
	if err != nil {
		return err
	}
	if !known {
		return a.print(report, "run %s of %s: nothing that is left says that it is committed", run, t.Name())
	}
	report.Rows = &rows
	return a.print(report, "run %s of %s: %s committed", run, t.Name(), count(rows, "row"))
}

type runRow struct {
	RunID       string           `json:"run_id"`
	NodeID      string           `json:"node_id"`
	Rows        *int64           `json:"rows"`
	CommittedAt manifest.Instant `json:"committed_at"`
	CommitSeq   *int64           `json:"commit_seq"`
	FoldedIn    *string          `json:"folded_in"`
	Gone        bool             `json:"gone,omitempty"`
}

func (a *app) snapshotsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "snapshots <table>",
		Short: "List the snapshots reachable from the pointer, newest first",
		Long: `Lists the pointer's snapshot and its parents, as far as retention keeps them, with the rows a read of it alone would open, the runs
that it folded and its parts. A carried part lies where an older snapshot wrote it; context files lists where.` + exitHelp,
		Example: "  contextful context snapshots documents",
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, t, err := a.table(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			chain, err := t.ListSnapshots(cmd.Context())
			if err != nil {
				return err
			}
			report := struct {
				Snapshots []snapshotRow `json:"snapshots"`
			}{[]snapshotRow{}}
			var lines []string
			for _, m := range chain {
				carried := 0
				for _, p := range m.Parts {
					if p.SnapshotID != "" && p.SnapshotID != m.SnapshotID {
						carried++
					}
				}
				report.Snapshots = append(report.Snapshots,
					snapshotRow{m.SnapshotID, m.Parent, m.CreatedAt, m.RowCount, len(m.IncludesRuns), len(m.Parts), carried, m.Fence, m.Collected})
				parts := count(int64(len(m.Parts)), "part")
				if carried > 0 {
					parts += fmt.Sprintf(", %d carried", carried)
				}
				folded := count(int64(len(m.IncludesRuns)), "run") + " folded"
				if m.Collected {
					folded += ", collected"
				}
				lines = append(lines, columns(m.SnapshotID, count(m.RowCount, "row"), folded, parts))
			}
			return a.list(report, lines)
		},
	}
}

type snapshotRow struct {
	SnapshotID string           `json:"snapshot_id"`
	Parent     *string          `json:"parent"`
	CreatedAt  manifest.Instant `json:"created_at"`
	Rows       int64            `json:"rows"`
	Runs       int              `json:"runs"`
	Parts      int              `json:"parts"`
	Carried    int              `json:"carried_parts"` // of Parts: those in another snapshot's directory
	Fence      *int64           `json:"fence"`
	Collected  bool             `json:"collected,omitempty"`
}

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check [<table>]",
		Short: "Check every digest, chain, pointer and footer",
		Long: `Looks at everything the store's documents promise: the identity, each pointer and its chain, each manifest and schema, each part
with its digest, footer and rows. Prints all damage and exits non-zero where there is any.` + exitHelp,
		Example: "  contextful context check",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if _, err := s.store.Table(args[0]); err != nil {
					return err
				}
			}
			fs := s.store.FS()
			o := store.CheckOptions{VerifyPart: func(path string, rows int64) error { return colfile.Verify(fs, path, rows) }}
			if len(args) == 1 {
				o.Tables = args
			}
			damage, err := s.store.Check(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.reportDamage(damage)
		},
	}
}

type damageRow struct {
	Code    fault.Code `json:"code"`
	Subject string     `json:"subject"`
	Message string     `json:"message"`
}

// reportDamage prints all damage on standard output and refuses with the first.
func (a *app) reportDamage(damage []store.Damage) error {
	report := struct {
		OK     bool        `json:"ok"`
		Damage []damageRow `json:"damage"`
	}{len(damage) == 0, []damageRow{}}
	lines := []string{"ok: every document, digest, chain, pointer and footer is what it promises"}
	for i, d := range damage {
		report.Damage = append(report.Damage, damageRow(d))
		line := string(d.Code) + ": " + d.Message
		if i == 0 {
			lines = lines[:0]
		}
		lines = append(lines, line)
	}
	if err := a.list(report, lines); err != nil || report.OK {
		return err
	}
	first := damage[0]
	hint := "all damage is listed on standard output"
	if first.Code == fault.StorePartDamaged {
		hint += "; sync pull brings home what the bucket still has"
	}
	return fault.New(first.Code, first.Subject, first.Message).WithHint(hint)
}

func (a *app) describeCommand() *cobra.Command {
	var horizon string
	cmd := &cobra.Command{
		Use:   "describe <table>",
		Short: "Show a table's columns and types",
		Long: `Shows each column of the table's schema with its type and when it first came. With --horizon only the columns that had come
by then.` + exitHelp,
		Example: "  contextful context describe documents",
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := instantFlag("--horizon", horizon)
			if err != nil {
				return err
			}
			_, t, err := a.table(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			schema, err := t.Schema()
			if err != nil {
				return err
			}
			report := struct {
				Table   string      `json:"table"`
				Columns []columnRow `json:"columns"`
			}{t.Name(), []columnRow{}}
			var lines []string
			if schema != nil {
				for _, c := range schema.Columns {
					first, known := c.FirstLandedAt()
					if known && at != nil && first.After(at.Time) {
						continue
					}
					row := columnRow{Name: c.Name, Type: c.Type.String(), Nullable: c.Nullable}
					since := ""
					if known {
						row.FirstLandedAt = &first
						since = "since " + first.String()
					}
					report.Columns = append(report.Columns, row)
					lines = append(lines, columns(c.Name, since, row.Type)) // the type last: it may be long
				}
			}
			return a.list(report, lines)
		},
	}
	cmd.Flags().StringVar(&horizon, "horizon", "", "only the columns that had come by this instant, RFC 3339")
	return cmd
}

type columnRow struct {
	Name          string            `json:"name"`
	Type          string            `json:"type"`
	Nullable      bool              `json:"nullable"`
	FirstLandedAt *manifest.Instant `json:"first_landed_at,omitempty"`
}
