package steps

import (
	"context"
	"os"
	"path/filepath"

	"contextful/harness/inspect"
	"contextful/harness/world"
)

// Runs that another tool brings into a store.
func registerBrought(s *Suite) {
	s.Step(`^(\w+)'s run "([^"]*)" of "([^"]*)" is copied to (\w+), and the directories there keep their dates$`, runBrought)
}

// runBrought copies a run's directory into another node's store as tar and rsync do: what is new comes first, and then the directory
// that it came into gets back the date it had.
func runBrought(ctx context.Context, from, run, table, to string) error {
	w := world.From(ctx)
	source, target := w.Node(from), w.Node(to)
	doc, err := inspect.Run(source.Root(), table, run, source.ID)
	if err != nil {
		return err
	}
	dir := target.TablePath(table, "data/runs/"+run)
	before, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, source.ID), os.DirFS(doc.Dir)); err != nil {
		return err
	}
	return os.Chtimes(dir, before.ModTime(), before.ModTime())
}
