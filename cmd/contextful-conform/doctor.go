package main

import (
	"os"

	"contextful/harness/doctor"
	"contextful/spec"

	"github.com/spf13/cobra"
)

func doctorCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{Use: "doctor", Short: "Try every verb of a conform.toml once and say which template is wrong", Args: cobra.NoArgs,
		Long: `Makes a store of three rows on an embedded bucket and asks every verb once, as a user would: init, land, read, fold, push, pull on a second node.
It judges no clause; it finds what would make a whole run fail for one reason.

EXIT STATUS: 0 every verb works, 1 one does not, 2 the conform.toml cannot be used.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := referenceConfig(file, cmd.Flags().Changed("sut"))
			if err != nil {
				return err
			}
			codes, err := knownCodes()
			if err != nil {
				return err
			}
			dir, err := os.MkdirTemp("", "conform-doctor-")
			if err != nil {
				return err
			}
			defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
			checks, err := doctor.Run(cmd.Context(), doctor.Options{Config: cfg, Dir: dir, Wall: wall, Known: func(word string) bool { return codes[word] }})
			if err != nil {
				return err
			}
			doctor.Print(cmd.OutOrStdout(), checks)
			if !doctor.Sound(checks) {
				return exitCode(1)
			}
			return nil
		}}
	cmd.Flags().StringVar(&file, "sut", "conform.toml", "the implementation under test")
	return cmd
}

// knownCodes are the error codes the law raises.
func knownCodes() (map[string]bool, error) {
	law, err := spec.Load()
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, c := range law.All() {
		for _, code := range c.Raises {
			out[code] = true
		}
	}
	return out, nil
}
