package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"contextful/ref/duck"
	"contextful/ref/query"
	"contextful/ref/store"
)

// readFlags are the flags of the commands that print rows.
type readFlags struct {
	csv, table bool
	limit      int64
	asOf       string
}

func (f *readFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.csv, "csv", false, "print CSV with a header line")
	flags.BoolVar(&f.table, "table", false, "print a table for people (the default)")
	flags.Int64Var(&f.limit, "limit", 0, "print at most this many rows (0: all)")
	flags.StringVar(&f.asOf, "as-of", "", "read the store as it was at this instant, RFC 3339")
	cmd.MarkFlagsMutuallyExclusive("csv", "table")
}

// options resolves the flags.
func (a *app) readOptions(f *readFlags, s *session) (query.Options, error) {
	asOf, err := instantFlag("--as-of", f.asOf)
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
	o := query.Options{Limit: f.limit, AsOf: asOf, Out: a.stdout, Engine: engine, Format: query.Table}
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
  contextful query "SELECT * FROM documents" --as-of 2026-11-01T00:00:00Z --json`,
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
		a.log("stopped after %d rows; there are more (--limit)", report.Rows)
	}
	return err
}

// bounds reads --as-of for the commands that list.
func bounds(asOf string) (store.Bounds, error) {
	instant, err := instantFlag("--as-of", asOf)
	return store.Bounds{AsOf: instant}, err
}
