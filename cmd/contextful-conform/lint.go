package main

import (
	"fmt"
	"os"
	"path/filepath"

	"contextful/features"
	"contextful/harness/steps"
	"contextful/spec"

	"github.com/spf13/cobra"
)

func lintCommand() *cobra.Command {
	var dir string
	var reviewed bool
	cmd := &cobra.Command{Use: "lint", Short: "Check spec/ and features/: form, coverage, gaps, and scenarios whose clause has changed since they were reviewed", Args: cobra.NoArgs,
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
			for _, f := range set.Lint(index) {
				fmt.Fprintln(cmd.OutOrStdout(), f)
				if !f.Note {
					bad++
				}
			}
			if _, err := steps.All(); err != nil {
				fmt.Fprintln(cmd.OutOrStdout(), "harness/steps:", err)
				bad++
			}
			if bad > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d findings\n", bad)
				return exitCode(1)
			}
			return nil
		}}
	cmd.Flags().StringVar(&dir, "dir", "", "a source tree with spec/ and features/ instead of what this binary embeds")
	cmd.Flags().BoolVar(&reviewed, "reviewed", false, "record that every scenario was read against its clause as it stands (a person's word, never a build's)")
	return cmd
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
