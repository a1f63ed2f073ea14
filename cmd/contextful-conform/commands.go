package main

import "github.com/spf13/cobra"

// commands is the explicit list; each has a file of its own.
func commands() []*cobra.Command {
	return []*cobra.Command{
		runCommand(),
		listCommand(),
		explainCommand(),
		lintCommand(),
		s3casCommand(),
		initCommand(),
		doctorCommand(),
		mutantsCommand(),
		reportCommand(),
		diffCommand(),
		replayCommand(),
	}
}
