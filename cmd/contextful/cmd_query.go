package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"contextful/ref/duck"
	"contextful/ref/manifest"
	"contextful/ref/query"
)

// readFlags are the flags of the commands that print rows.
type readFlags struct {
	csv, table bool
	limit      int64
	bounds     boundFlags
}

// boundFlags limit a read in time.
type boundFlags struct {
	asOf, validAsOf, availableAsOf, vintage, horizon string
	snapshots                                        []string
}

func (f *boundFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.asOf, "as-of", "", "read the store as it was at this instant, RFC 3339")
	flags.StringVar(&f.validAsOf, "valid-as-of", "", "of tables with valid_time, the rows that held at this instant")
	flags.StringVar(&f.availableAsOf, "available-as-of", "", "of tables with available_time, the rows released by this instant")
	flags.StringVar(&f.vintage, "vintage", "", "of tables with available_time, the first or the latest (default) vintage")
	flags.StringArrayVar(&f.snapshots, "snapshot", nil, "read exactly this snapshot of its table, or <table>=<snapshot>; repeatable")
	flags.StringVar(&f.horizon, "horizon", "", "read as if it were this instant: released or committed by then, without columns that came later")
}

func (f *boundFlags) bounds() (b query.Bounds, err error) {
	for _, flag := range []struct {
		name, text string
		to         **manifest.Instant
	}{{"--as-of", f.asOf, &b.AsOf}, {"--valid-as-of", f.validAsOf, &b.ValidAsOf}, {"--available-as-of", f.availableAsOf, &b.AvailableAsOf},
		{"--horizon", f.horizon, &b.Horizon}} {
		if *flag.to, err = instantFlag(flag.name, flag.text); err != nil {
			return b, err
		}
	}
	for _, text := range f.snapshots {
		pin := query.Pin{ID: text}
		if table, id, ok := strings.Cut(text, "="); ok {
			pin = query.Pin{Table: table, ID: id}
		}
		b.Snapshots = append(b.Snapshots, pin)
	}
	if len(b.Snapshots) > 0 && b.AsOf != nil {
		return b, usageError{fmt.Errorf("--snapshot and --as-of both say what was committed by then; give one of them")}
	}
	switch f.vintage {
	case "first":
		b.First = true
	case "", "latest":
	default:
		return b, usageError{fmt.Errorf("--vintage is %q, neither first nor latest", f.vintage)}
	}
	return b, nil
}

func (f *readFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.csv, "csv", false, "print CSV with a header line")
	flags.BoolVar(&f.table, "table", false, "print a table for people (the default)")
	flags.Int64Var(&f.limit, "limit", 0, "print at most this many rows (0: all)")
	f.bounds.add(cmd)
	cmd.MarkFlagsMutuallyExclusive("csv", "table")
}

// options resolves the flags.
func (a *app) readOptions(f *readFlags, s *session) (query.Options, error) {
	b, err := f.bounds.bounds()
	if err != nil {
		return query.Options{}, err
	}
	if f.limit < 0 {
		return query.Options{}, usageError{fmt.Errorf("--limit is %d, but rows are counted from 0", f.limit)}
	}
	engine, err := a.engine(s)
	if err != nil {
		return query.Options{}, err
	}
	o := query.Options{Limit: f.limit, Bounds: b, Out: a.stdout, Engine: engine, Format: query.Table}
	switch {
	case a.json:
		o.Format = query.JSON
	case f.csv:
		o.Format = query.CSV
	}
	return o, nil
}

// engine gives DuckDB its limits; what it spills goes beside the store, on the same disk.
func (a *app) engine(s *session) (duck.Options, error) {
	memory, err := bytesFlag("--memory", a.memory)
	if err != nil {
		return duck.Options{}, err
	}
	return duck.Options{MemoryLimit: memory}, nil
}

func (a *app) queryCommand() *cobra.Command {
	var flags readFlags
	cmd := &cobra.Command{
		Use:   "query <sql>",
		Short: "Answer one SELECT over the store's tables",
		Long: `Answers one SELECT. Tables are named as they are declared, "filings/annual" in double quotes. All tables of a statement are read
from one resolution, and a statement that began keeps its files through a fold. Nothing outside the store can be read or written.` + exitHelp,
		Example: `  contextful query "SELECT section, count(*) FROM packages GROUP BY section" --limit 10
  contextful query "SELECT * FROM documents" --as-of 2026-11-01T00:00:00Z --json
  contextful query "SELECT * FROM earnings" --valid-as-of 2025-12-31T00:00:00Z --available-as-of 2026-02-01T00:00:00Z`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.read(cmd, &flags, func(s *session, o query.Options) (query.Report, error) {
				o.SQL = args[0]
				return query.Run(cmd.Context(), s.store, o)
			})
		},
	}
	flags.add(cmd)
	return cmd
}

func (a *app) scanCommand() *cobra.Command {
	var flags readFlags
	cmd := &cobra.Command{
		Use:     "scan <table>",
		Short:   "Print every row of a table, in a stable order",
		Long:    "Prints every row a reader sees, by primary key and then in the order of landing." + exitHelp,
		Example: "  contextful context scan documents --json",
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.read(cmd, &flags, func(s *session, o query.Options) (query.Report, error) {
				return query.Scan(cmd.Context(), s.store, args[0], o)
			})
		},
	}
	flags.add(cmd)
	return cmd
}

func (a *app) read(cmd *cobra.Command, flags *readFlags, verb func(*session, query.Options) (query.Report, error)) error {
	s, err := a.open(cmd.Context())
	if err != nil {
		return err
	}
	o, err := a.readOptions(flags, s)
	if err != nil {
		return err
	}
	report, err := verb(s, o)
	if err == nil && report.Truncated && !a.json {
		a.log("stopped after %s; there are more (--limit)", count(int64(report.Rows), "row"))
	}
	return err
}
