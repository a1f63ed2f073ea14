package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"contextful/ref/probe"
	"contextful/ref/pull"
	"contextful/ref/push"
	"contextful/ref/store"
)

func (a *app) syncCommand() *cobra.Command {
	return group("sync", "Mirror the store to its bucket and back",
		a.probeCommand(), a.manifestCommand(), a.pushCommand(), a.pullCommand(), a.leaseCommand(), a.syncCompactCommand())
}

func (a *app) probeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "probe",
		Short: "Find out whether the bucket enforces conditional writes",
		Long: `Creates a sentinel under _contextful/cas-probe/, tries to create it again, to replace it under a stale and under its current ETag, lets
several writers race, and deletes it. The verdict is cas, none, or inconclusive (SyncProbeInconclusive).` + exitHelp,
		Example: "  contextful sync probe --json",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, r, err := a.openRemote(cmd.Context())
			if err != nil {
				return err
			}
			report, probeErr := r.probe(cmd.Context())
			// What was seen is printed whatever the verdict.
			printErr := a.print(report, "%s: %s at %s (region %s, %s addressing)%s", report.Verdict, r.bucket.Name(), report.Endpoint,
				orNone(report.Region), report.Addressing, reasons(report))
			return errors.Join(probeErr, printErr)
		},
	}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func reasons(r probe.Report) string {
	if len(r.Reasons) == 0 {
		return ""
	}
	return "\n" + strings.Join(r.Reasons, "\n")
}

func (a *app) manifestCommand() *cobra.Command {
	var emit bool
	cmd := &cobra.Command{
		Use:   "manifest --emit",
		Short: "Print the bucket manifest a first push of this store would commit",
		Long:  "Prints this store's contribution as a bucket manifest, each key with sha256, size and owner. Reads and writes no bucket object." + exitHelp,
		Args:  exactly(0), Example: "  contextful sync manifest --emit",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !emit {
				return usageError{errors.New("manifest needs --emit: it prints the plan of a push")}
			}
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			plan, err := push.Emit(cmd.Context(), s.store, nil)
			if err != nil {
				return err
			}
			enc := json.NewEncoder(a.stdout)
			enc.SetEscapeHTML(false)
			if !a.json {
				enc.SetIndent("", "  ")
			}
			return enc.Encode(plan)
		},
	}
	cmd.Flags().BoolVar(&emit, "emit", false, "print the plan")
	return cmd
}

func (a *app) pushCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "push",
		Short: "Bring this store's rows and snapshots to the bucket",
		Long: `Uploads what the bucket lacks, commits the bucket manifest under If-Match, then moves the bucket's pointers. Under coordination "cas" the
bucket is probed first and must enforce conditions (SyncCoordinationUnproven). A pointer fenced below the bucket's stays local, with a warning.` + exitHelp,
		Example: "  contextful sync push",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, r, err := a.openRemote(cmd.Context())
			if err != nil {
				return err
			}
			bar := a.progress("uploading", "objects")
			report, err := push.Run(cmd.Context(), s.store, push.Options{
				Bucket: r.bucket, Prove: r.prove(), Retries: r.sync.PushRetries, Transfers: r.sync.Transfers,
				Progress: func(done, total int, _ int64) { bar.at(int64(done), int64(total)) },
			})
			bar.end()
			if err != nil {
				return err
			}
			return a.print(report, "generation %d: uploaded %s, %d bytes, in %s", report.Generation, count(int64(report.Uploaded), "object"),
				report.Bytes, count(int64(report.Attempts), "attempt"))
		},
	}
}

func (a *app) pullCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pull",
		Short: "Bring home what the bucket has",
		Long: `Downloads what differs, verifies every object against its listed digest, and moves each table's pointer last. A bucket of another store
refuses before anything is downloaded (StoreIdentityConflict). What was verified stays, so that a refused pull resumes where it was.` + exitHelp,
		Example: "  contextful sync pull",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, r, err := a.openRemote(cmd.Context())
			if err != nil {
				return err
			}
			report, err := a.pull(cmd.Context(), s, r)
			if err != nil {
				return err
			}
			return a.print(report, "generation %d: downloaded %s, %d bytes; %s advanced", report.Generation,
				count(int64(report.Downloaded), "object"), report.Bytes, count(int64(len(report.Advanced)), "table"))
		},
	}
}

// pull brings home everything.
func (a *app) pull(ctx context.Context, s *session, r *remote) (pull.Report, error) {
	bar := a.progress("downloading", "objects")
	report, err := pull.Run(ctx, s.store, pull.Options{
		Bucket: r.bucket, Transfers: r.sync.Transfers,
		Progress: func(done, total int, _ int64) { bar.at(int64(done), int64(total)) },
	})
	bar.end()
	if err == nil {
		s.notePull(ctx, report.Advanced)
	}
	return report, err
}

// pullBefore pulls where config.toml says pull_before_run (store.pull.before-run).
func (a *app) pullBefore(ctx context.Context, s *session) error {
	if s.config == nil || s.config.Sync == nil || !s.config.Sync.PullBeforeRun {
		return nil
	}
	r, err := s.connect()
	if err == nil {
		_, err = a.pull(ctx, s, r)
	}
	return err
}

// tablesOf gives the tables of some names that still exist.
func (s *session) tablesOf(names []string) []*store.Table {
	var tables []*store.Table
	for _, name := range names {
		if t, err := s.store.TableAt(name); err == nil {
			tables = append(tables, t)
		}
	}
	return tables
}
