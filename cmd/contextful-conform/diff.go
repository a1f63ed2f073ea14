package main

import (
	"contextful/harness/report"

	"github.com/spf13/cobra"
)

func diffCommand() *cobra.Command {
	return &cobra.Command{Use: "diff <earlier> <later>", Short: "Compare two reports; a regression exits 1", Args: cobra.ExactArgs(2),
		Long: `Compares two report.json (or their directories) scenario by scenario. What passed and now fails, errs, did not run or is unsupported is a regression.

EXIT STATUS: 0 no regression, 1 a regression, 2 one of them is no report.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := report.Read(reportFile(args[0]))
			if err != nil {
				return err
			}
			after, err := report.Read(reportFile(args[1]))
			if err != nil {
				return err
			}
			d := report.Compare(before, after)
			d.Print(cmd.OutOrStdout())
			if code := d.Exit(); code != 0 {
				return exitCode(code)
			}
			return nil
		}}
}
