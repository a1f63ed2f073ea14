package main

import (
	"contextful/harness/report"

	"github.com/spf13/cobra"
)

func replayCommand() *cobra.Command {
	return &cobra.Command{Use: "replay <bundle>", Short: "Show a failure bundle: the law, the question, every call and request", Args: cobra.ExactArgs(1),
		Long: `Prints what a failed scenario left behind: the clause, its steps, expected and actual, every command with its output, the requests the bucket saw and what
changed on disk. It starts nothing and needs no network. The last line asks the scenario again.

EXIT STATUS: 0 shown, 2 it is no bundle.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := report.ReadBundle(args[0])
			if err != nil {
				return err
			}
			b.Show(cmd.OutOrStdout())
			return nil
		}}
}
