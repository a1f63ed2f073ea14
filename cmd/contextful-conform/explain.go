package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{Use: "explain <clause>", Short: "Print a clause, its reason, and the scenarios that ask it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			index, set, err := load()
			if err != nil {
				return err
			}
			id, _, _ := strings.Cut(strings.TrimPrefix(args[0], "@"), "#")
			c, ok := index.Lookup(id)
			if !ok {
				return noClause(index, id)
			}
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "%s  %s  (spec/%s:%d)\n", c.ID, c.Level, c.Page, c.Line)
			for _, part := range []struct {
				name string
				list []string
			}{{"needs", c.Needs}, {"facets", c.FacetNames()}, {"raises", c.Raises}} {
				if len(part.list) > 0 {
					fmt.Fprintf(w, "%s: %s\n", part.name, strings.Join(part.list, ", "))
				}
			}
			fmt.Fprintf(w, "from: %s\n\n%s\n", c.From, c.Text)
			if c.Why != "" {
				fmt.Fprintf(w, "\nWhy: %s\n", c.Why)
			}
			if c.Reading != "" {
				fmt.Fprintf(w, "\nReading: %s\n", c.Reading)
			}
			fmt.Fprintln(w)
			n := 0
			for _, s := range set.Scenarios() {
				for _, t := range s.Tags {
					if t.Clause == c.ID {
						fmt.Fprintf(w, "asked by features/%s:%d  @%s  %s\n", s.Feature, s.Line, t, s.Name)
						n++
					}
				}
			}
			for _, g := range set.Gaps() {
				if g.Clause == c.ID {
					what := g.Clause
					if g.Facet != "" {
						what += "#" + g.Facet
					}
					fmt.Fprintf(w, "not asked: %s: %s\n", what, g.Reason)
				}
			}
			if n == 0 {
				fmt.Fprintln(w, "no scenario asks it")
			}
			return nil
		}}
}
