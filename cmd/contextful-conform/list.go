package main

import (
	"fmt"
	"io"
	"strings"

	"contextful/features"
	"contextful/harness/steps"
	"contextful/harness/sut"
	"contextful/spec"

	"github.com/spf13/cobra"
)

func listCommand() *cobra.Command {
	var uncovered, words bool
	cmd := &cobra.Command{Use: "list [glob]", Short: "List the clauses of the law and how many scenarios ask each", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if words {
				return listSteps(cmd.OutOrStdout())
			}
			index, set, err := load()
			if err != nil {
				return err
			}
			glob := "*"
			if len(args) == 1 {
				glob = args[0]
			}
			clauses := index.Match(glob)
			if len(clauses) == 0 {
				return noClause(index, glob)
			}
			asked := coverage(set)
			for _, c := range clauses {
				missing := uncoveredFacets(c, asked, set.Gaps())
				if uncovered && len(missing) == 0 {
					continue
				}
				line := fmt.Sprintf("%-6s %3d  %s", c.Level, asked[c.ID], c.ID)
				if len(missing) > 0 && asked[c.ID] > 0 {
					line += "  (nobody asks: " + strings.Join(missing, ", ") + ")"
				}
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			return nil
		}}
	cmd.Flags().BoolVar(&uncovered, "uncovered", false, "only clauses with a facet that no scenario asks and no gap takes out")
	cmd.Flags().BoolVar(&words, "steps", false, "the steps that scenarios are written with, by the file that holds them")
	return cmd
}

// noClause names the clauses a mistyped one may have been meant for.
func noClause(index *spec.Index, id string) error {
	var known, holding []string
	for _, c := range index.All() {
		known = append(known, c.ID)
		if strings.Contains(c.ID, id) {
			holding = append(holding, c.ID)
		}
	}
	hint := sut.DidYouMean(id, known)
	if len(holding) > 0 && len(holding) <= 8 {
		hint = " (did you mean " + strings.Join(holding, ", ") + "?)"
	}
	return fmt.Errorf("no clause is called %q%s; `contextful-conform list` names them all", id, hint)
}

func listSteps(w io.Writer) error {
	defs, err := steps.All()
	if err != nil {
		return err
	}
	for _, d := range defs {
		fmt.Fprintf(w, "%-12s %s\n", d.File, strings.TrimSuffix(strings.TrimPrefix(d.Expr.String(), "^"), "$"))
	}
	return nil
}

func load() (*spec.Index, *features.Set, error) {
	index, err := spec.Load()
	if err != nil {
		return nil, nil, err
	}
	set, err := features.Load()
	return index, set, err
}

// coverage counts scenarios by clause id and by clause#facet; the clause's own count has each scenario once.
func coverage(set *features.Set) map[string]int {
	out := map[string]int{}
	for _, s := range set.Scenarios() {
		seen := map[string]bool{}
		for _, t := range s.Tags {
			if !seen[t.Clause] {
				out[t.Clause]++
				seen[t.Clause] = true
			}
			if t.Facet == "" {
				out[t.Clause+"#*"]++
			} else {
				out[t.String()]++
			}
		}
	}
	return out
}

func uncoveredFacets(c spec.Clause, asked map[string]int, gaps []features.Gap) []string {
	gap := map[string]bool{}
	for _, g := range gaps {
		if g.Clause == c.ID {
			gap[g.Facet] = true
		}
	}
	if len(c.Facets) == 0 {
		if asked[c.ID] > 0 || gap[""] {
			return nil
		}
		return []string{c.ID}
	}
	var out []string
	for _, f := range c.FacetNames() {
		if asked[c.ID+"#"+f] == 0 && asked[c.ID+"#*"] == 0 && !gap[f] && !gap[""] {
			out = append(out, f)
		}
	}
	return out
}
