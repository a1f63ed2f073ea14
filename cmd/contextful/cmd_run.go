package main

import "github.com/spf13/cobra"

func (a *app) runCommand() *cobra.Command {
	return group("run", "Look at the runs of pipelines", a.runListCommand())
}
