package main

import (
	"os"

	"github.com/spf13/cobra"

	"contextful/ref/store"
)

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init <name>",
		Short: "Make this directory a project, with a store of its own",
		Long: `Writes [project] name = "<name>" into contextful.toml of this directory, appending to a file that declares none, and
creates the store root .contextful/context/<name>/ with its identity. Repeated, it changes nothing.

A second node of a store is a clone, not another init: copy contextful.toml and config.toml, give it a node id, and pull.` + exitHelp,
		Example: "  contextful init research",
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := a.project
			if dir == "" {
				var err error
				if dir, err = os.Getwd(); err != nil {
					return err
				}
			}
			options, err := a.storeOptions(nil)
			if err != nil {
				return err
			}
			r, err := store.InitProject(cmd.Context(), options, dir, args[0])
			if err != nil {
				return err
			}
			report := struct {
				Root    string `json:"root"`
				StoreID string `json:"store_id"`
				Created bool   `json:"created"`
			}{r.Root, r.StoreID, r.IdentityCreated}
			if !r.IdentityCreated && !r.DeclarationWritten {
				return a.print(report, "already a project: %s, store %s", r.Root, r.StoreID)
			}
			return a.print(report, "store %s at %s", r.StoreID, r.Root)
		},
	}
}
