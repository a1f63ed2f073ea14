package main

import (
	"fmt"
	"os"
	"path/filepath"

	"contextful/harness/report"

	"github.com/spf13/cobra"
)

func reportCommand() *cobra.Command {
	var out string
	var github bool
	cmd := &cobra.Command{Use: "report [report.json or its directory]", Short: "Write the page, JUnit and badges again from a report.json", Args: cobra.MaximumNArgs(1),
		Long: `Reads a report.json and writes index.html, junit.xml and badges/ beside it, or into --out. With --github it prints ::error annotations and adds a summary to
the file that GITHUB_STEP_SUMMARY names.

EXIT STATUS: 0 written, 2 it is no report.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			from := filepath.Join("build", "conform")
			if len(args) == 1 {
				from = args[0]
			}
			from = reportFile(from)
			r, err := report.Read(from)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Dir(from)
			}
			if err := report.Render(out, r); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(out, report.FileHTML))
			if github {
				return report.GitHub(cmd.OutOrStdout(), r, os.Getenv("GITHUB_STEP_SUMMARY"))
			}
			return nil
		}}
	cmd.Flags().StringVar(&out, "out", "", "directory to write into (default: that of the report)")
	cmd.Flags().BoolVar(&github, "github", false, "annotate the workflow run and add to its summary")
	return cmd
}

// reportFile takes a directory for the report.json in it.
func reportFile(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, report.FileJSON)
	}
	return path
}
