package main

import (
	"github.com/spf13/cobra"

	"contextful/ref/compact"
	"contextful/ref/fold"
)

const syncCompactLong = `Pulls, takes the table's compaction lease, folds under its fence, uploads the snapshot, commits the bucket manifest, moves the bucket's
pointer and then this node's, and gives the lease back. With --held, a lease this node took before (sync lease acquire) is used and kept.

A node that was paused and overtaken refuses with LeaseFenced: nothing of its pass is read by anyone.`

func (a *app) syncCompactCommand() *cobra.Command {
	var held bool
	var fence int64
	cmd := &cobra.Command{
		Use:   "compact <table>",
		Short: "Fold a table under its bucket lease and publish the snapshot",
		Long:  syncCompactLong + exitHelp,
		Example: `  contextful sync compact documents
  contextful sync lease acquire documents && contextful sync compact documents --held`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("fence") && !held {
				return usageError{flagError{"--fence", errNeedsHeld}}
			}
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			t, err := s.store.Table(args[0])
			if err != nil {
				return err
			}
			r, err := s.connect()
			if err != nil {
				return err
			}
			engine, err := a.engine(s)
			if err != nil {
				return err
			}
			up, down := a.progress("uploading", "objects"), a.progress("downloading", "objects")
			report, err := compact.Run(cmd.Context(), s.store, compact.Options{
				Table: t.Name(), Held: held, Fence: fenceFlag(cmd, &fence), Bucket: r.bucket, Prove: r.prove(),
				Retries: r.sync.PushRetries, Transfers: r.sync.Transfers,
				Fold:      fold.Options{Engine: engine, Progress: func(line string) { a.log("%s", line) }},
				Uploads:   func(done, total int, _ int64) { up.at(int64(done), int64(total)) },
				Downloads: func(done, total int, _ int64) { down.at(int64(done), int64(total)) },
			})
			up.end()
			down.end()
			if err != nil {
				return err
			}
			s.noteFold(cmd.Context(), t, report)
			return a.printFold(foldReport(t.Name(), report))
		},
	}
	cmd.Flags().BoolVar(&held, "held", false, "use the lease this node already holds, and keep it")
	cmd.Flags().Int64Var(&fence, "fence", 0, "with --held: the fence of the holding that is meant")
	return cmd
}
