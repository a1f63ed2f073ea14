package main

import (
	"context"

	"github.com/spf13/cobra"

	"contextful/ref/key"
	"contextful/ref/lease"
)

func (a *app) leaseCommand() *cobra.Command {
	return group("lease", "Take, keep or give back the compaction lease of a table",
		a.leaseVerb("acquire", "Take the lease of a table; raises the fence of its bucket pointer", false,
			func(ctx context.Context, o lease.Options, s lease.Subject, _ *int64) (lease.Report, error) {
				return lease.Acquire(ctx, o, s)
			}),
		a.leaseVerb("renew", "Keep a lease this node holds for another ten minutes", true, lease.Renew),
		a.leaseVerb("release", "Give back a lease this node holds; its fence stays", true, lease.Release),
	)
}

type leaseFunc func(context.Context, lease.Options, lease.Subject, *int64) (lease.Report, error)

func (a *app) leaseVerb(name, short string, fenced bool, verb leaseFunc) *cobra.Command {
	var fence int64
	cmd := &cobra.Command{
		Use: name + " <table>", Short: short, Args: exactly(1),
		Long:    short + `. A lease that another node holds refuses with LeaseHeld (acquire) or LeaseNotHeld.` + exitHelp,
		Example: "  contextful sync lease " + name + " documents",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			table, err := s.store.Table(args[0])
			if err != nil {
				return err
			}
			r, err := s.connect()
			if err != nil {
				return err
			}
			report, err := verb(cmd.Context(), s.leaseOptions(r), lease.Compaction(table.Name()), fenceFlag(cmd, &fence))
			if err != nil {
				return err
			}
			s.noteLease(cmd.Context(), key.CompactLease(s.project.Name, table.Name()), report)
			if report.Holder == nil {
				return a.print(report, "released; the fence stays at %d", report.Fence)
			}
			return a.print(report, "held by %s with fence %d until %s", *report.Holder, report.Fence, report.ExpiresAt)
		},
	}
	if fenced {
		cmd.Flags().Int64Var(&fence, "fence", 0, "the fence of the holding that is meant (default: whatever this node holds)")
	}
	return cmd
}

// fenceFlag gives the value of --fence, nil where it was not given.
func fenceFlag(cmd *cobra.Command, value *int64) *int64 {
	if !cmd.Flags().Changed("fence") {
		return nil
	}
	return value
}
