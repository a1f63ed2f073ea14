package pipeline

import (
	"fmt"
	"testing"

	"contextful/ref/decl"

	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	find := func(lines string) (out []string) {
		f := setUp(t, lines)
		f.write("run", "#!/bin/sh\n")
		for _, x := range Check(f.s.Project()) {
			out = append(out, fmt.Sprintf("%s %s", x.Code, x.Subject))
		}
		return out
	}
	table := "[[pipeline.tables]]\nname = \"a\"\nprimary_key = [\"id\"]\n"
	fold := "[[job]]\nname = \"f\"\nkind = \"fold\"\n"
	schedule := "schedule = \"0 * * * *\"\n"
	const missing, warned = "StoreDeclarationInvalid feed", " a"
	require.Equal(t, []string{warned}, find(table))
	require.Equal(t, []string{warned}, find(table+fold))
	require.Empty(t, find(table+fold+schedule))
	require.Empty(t, find(table+fold+schedule+"target = \"a\"\nenabled = true\n"))
	require.Equal(t, []string{warned}, find(table+fold+schedule+"enabled = false\n"))
	require.Equal(t, []string{"StoreDeclarationInvalid f", warned}, find(table+fold+schedule+"target = \"b\"\n"))
	require.Equal(t, []string{warned}, find(table+"[[job]]\nname = \"p\"\nkind = \"sync-push\"\n"+schedule))
	clocks := "[pipeline.tables.valid_time]\nfrom = \"day\"\n[pipeline.tables.available_time]\ncolumn = \"at\"\n[[pipeline.tables.available_time.adjustments]]\n" +
		"table = \"%s\"\ncolumns = [\"price\"]\non = [\"id\"]\nfactor = \"by\"\neffective = \"from\"\n"
	require.Equal(t, []string{warned}, find(table+fmt.Sprintf(clocks, "splits")+fold+schedule))
	require.Empty(t, find(table+fmt.Sprintf(clocks, "splits")+"[[pipeline.tables]]\nname = \"splits\"\n"+fold+schedule))
	source := "[pipeline.source]\nkind = \"command\"\ncommand = [%q]\n[[pipeline.tables]]\nname = \"b\"\n"
	require.Empty(t, find(fmt.Sprintf(source, "./run")))
	require.Equal(t, []string{missing}, find(fmt.Sprintf(source, "./walk")))
	require.Equal(t, []string{missing}, find(fmt.Sprintf(source, "no-such-program-anywhere")))
	require.Equal(t, []string{missing}, find("[pipeline.source]\nkind = \"command\"\ncommand = [\"./run\"]\n"))
	require.Equal(t, []string{" feed"}, find("[pipeline.source]\nkind = \"file\"\npath = \"in/"+decl.TableWord+"\"\n[[pipeline.tables]]\nname = \"b\"\n"))
}
