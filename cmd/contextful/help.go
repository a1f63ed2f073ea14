package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"contextful/ref/decl"
)

// helpCommand is help for a command; a name that is none is a mistake, where cobra's own prints its page and succeeds.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [<command>…]",
		Short:   "Help about any command",
		Long:    "Prints what --help behind the command prints." + exitHelp,
		Example: "  contextful help context land",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			if of, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range of.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usageError{err}
			}
			if len(rest) > 0 {
				return unknownCommand(of, rest[0])
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// help is what a command does that only holds others.
func help(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return cmd.Help()
}

// unknownCommand says that a group has no such command, and where there is one of that name or nearly.
func unknownCommand(group *cobra.Command, name string) error {
	text := fmt.Sprintf("unknown command %q for %q", name, group.CommandPath())
	var names, same []string
	for _, c := range group.Commands() {
		names = append(names, c.Name())
	}
	var find func(*cobra.Command)
	find = func(c *cobra.Command) {
		if c.Name() == name && c.HasParent() && c.IsAvailableCommand() {
			same = append(same, c.CommandPath())
		}
		for _, child := range c.Commands() {
			find(child)
		}
	}
	find(group.Root())
	if near := decl.Nearest(name, names); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	} else if len(same) > 0 {
		text += "; there is " + strings.Join(same, " and ")
	}
	return usageError{errors.New(text)}
}
