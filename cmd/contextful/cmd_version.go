package main

import (
	"runtime"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this build",
		Long:  "Prints the version of this build and of the Go it was built with." + exitHelp,
		Args:  exactly(0), Example: "  contextful version --json",
		RunE: func(*cobra.Command, []string) error {
			report := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
			}{version, runtime.Version()}
			return a.print(report, "contextful %s (%s)", report.Version, report.Go)
		},
	}
}
