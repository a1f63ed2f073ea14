package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"contextful/harness/doctor"
	"contextful/harness/sut"
	"contextful/spec"

	"github.com/spf13/cobra"
)

func doctorCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{Use: "doctor", Short: "Try every verb of a conform.toml once and say which template is wrong", Args: cobra.NoArgs,
		Long: `Makes a store of three rows on an embedded bucket and asks every verb once, as a user would: init, land, read, fold, push, pull on a second node.
It judges no clause; it finds what would make a whole run fail for one reason.

EXIT STATUS: 0 every verb works, 1 one does not, 2 there is no conform.toml, it cannot be used, or its command cannot be started.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(file, cmd.Flags().Changed("sut"))
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

// loadConfig reads a conform.toml. Where none lies here and none was named, it says how to come by one.
func loadConfig(file string, named bool) (*sut.Config, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if named {
			return nil, fmt.Errorf("there is no %s; `contextful-conform init --sut %s` writes one", file, file)
		}
		return nil, fmt.Errorf("there is no %s here: run `contextful-conform init` first, or name one with --sut", file)
	}
	return sut.Load(file)
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
