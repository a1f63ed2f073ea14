package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"contextful/features"
	"contextful/harness/steps"
	"contextful/spec"

	"github.com/spf13/cobra"
)

func lintCommand() *cobra.Command {
	var dir string
	var reviewed, verbose bool
	cmd := &cobra.Command{Use: "lint", Short: "Check spec/ and features/: form, coverage, gaps, and scenarios whose clause has changed since they were reviewed", Args: cobra.NoArgs,
		Long: `Checks the law and its questions: pages that cannot be read, tags and gaps that name no clause, facets that nobody asks, and scenarios whose clause has
changed since a person read both. Scenarios that nobody has reviewed yet are counted in one line; -v names each of them.

EXIT STATUS:
  0  nothing to find; notes are no findings
  1  a finding, a review that is missing or out of date among them
  2  spec/ or features/ cannot be read`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			index, set, err := loadFrom(dir)
			if err != nil {
				return err
			}
			if reviewed {
				if dir == "" {
					return fmt.Errorf("--reviewed writes features/reviewed.lock: say where with --dir")
				}
				return os.WriteFile(filepath.Join(dir, "features", "reviewed.lock"), []byte(set.Reviewed(index).Text()), 0o644)
			}
			bad := 0
			for _, f := range index.Lint() {
				fmt.Fprintln(cmd.OutOrStdout(), f)
				bad++
			}
			unread := 0
			for _, f := range set.Lint(index) {
				if !f.Note {
					bad++
				}
				if neverReviewed(f) {
					unread++
					if !verbose {
						continue
					}
				}
				fmt.Fprintln(cmd.OutOrStdout(), f)
			}
			if unread > 0 && !verbose {
				fmt.Fprintf(cmd.OutOrStdout(), "features/reviewed.lock: %s never reviewed against a clause that it asks (-v lists each): read both, then record it with --reviewed\n", unreadScenarios(unread))
			}
			if _, err := steps.All(); err != nil {
				fmt.Fprintln(cmd.OutOrStdout(), "harness/steps:", err)
				bad++
			}
			if bad > 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), findings(bad, unread))
				return exitCode(1)
			}
			return nil
		}}
	cmd.Flags().StringVar(&dir, "dir", "", "a source tree with spec/ and features/ instead of what this binary embeds")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "name every scenario that was never reviewed")
	cmd.Flags().BoolVar(&reviewed, "reviewed", false, "record that every scenario was read against its clause as it stands (a person's word, never a build's)")
	return cmd
}

// neverReviewed tells a scenario that waits for its first reading from one whose clause has changed under it.
func neverReviewed(f features.Finding) bool {
	return f.Review && strings.Contains(f.Message, "was never reviewed against")
}

func unreadScenarios(n int) string {
	if n == 1 {
		return "1 time a scenario was"
	}
	return fmt.Sprintf("%d times a scenario was", n)
}

// findings is the last line: how many, and how many of them only wait for a reader.
func findings(bad, unread int) string {
	out := fmt.Sprintf("%d findings", bad)
	if bad == 1 {
		out = "1 finding"
	}
	if unread > 0 {
		out += fmt.Sprintf(", %d of them reviews that nobody has made yet", unread)
	}
	return out
}

func loadFrom(dir string) (*spec.Index, *features.Set, error) {
	if dir == "" {
		return load()
	}
	index, err := spec.LoadFS(os.DirFS(filepath.Join(dir, "spec")))
	if err != nil {
		return nil, nil, err
	}
	set, err := features.LoadFS(os.DirFS(filepath.Join(dir, "features")))
	return index, set, err
}
