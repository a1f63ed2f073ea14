package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"contextful/ref/decl"
)

// completionCommand is cobra's, but asks for a shell that it knows.
func completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args, c.Example = nil, "  contextful completion bash > /etc/bash_completion.d/contextful"
		c.Long = "Prints a script that completes commands, flags, tables and pipelines. The help of each shell says how it is loaded." + exitHelp
		c.RunE = func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("there is no completion for the shell %q; there is for bash, fish, powershell and zsh", args[0])}
			}
			return c.Help()
		}
	}
}

// addCompletion tells the shell what may stand where: tables and pipelines by the words of Use, files only for flags that take one.
func (a *app) addCompletion(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
		switch {
		case strings.Contains(cmd.Use, "<table>"):
			cmd.ValidArgsFunction = a.completeNames(func(p *decl.Project) (names []string) {
				for _, t := range p.Tables {
					names = append(names, t.Name)
				}
				return names
			})
		case strings.Contains(cmd.Use, "<id>"):
			cmd.ValidArgsFunction = a.completeNames(func(p *decl.Project) (names []string) {
				for _, l := range p.Pipelines {
					if l.Source != nil {
						names = append(names, l.ID)
					}
				}
				return names
			})
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { completeFlag(cmd, f) })
	for _, child := range cmd.Commands() {
		a.addCompletion(child)
	}
}

func completeFlag(cmd *cobra.Command, f *pflag.Flag) {
	with := cobra.CompletionFunc(cobra.NoFileCompletions)
	switch f.Name {
	case "rows", "declaration":
		return // a file
	case "project":
		with = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	case "format":
		with = cobra.FixedCompletions([]cobra.Completion{"jsonl", "csv", "parquet"}, cobra.ShellCompDirectiveNoFileComp)
	case "vintage":
		with = cobra.FixedCompletions([]cobra.Completion{"first", "latest"}, cobra.ShellCompDirectiveNoFileComp)
	}
	_ = cmd.RegisterFlagCompletionFunc(f.Name, with) // fails only where it was registered before
}

// completeNames completes one argument from the declaration; where that cannot be read, the command will say so.
func (a *app) completeNames(of func(*decl.Project) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		p, err := a.loadProject()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return of(p), cobra.ShellCompDirectiveNoFileComp
	}
}
