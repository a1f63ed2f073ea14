package steps

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// The two catalogs beside a store: what is in them, what may stand in their place, and that nobody depends on them.
func registerCatalogs(s *Suite) {
	s.Step(`^(\w+) rebuilds its catalog$`, rebuilds)
	s.Step(`^(\w+) has rebuilt its catalog$`, hasRebuilt)
	s.Step(`^in the place of (\w+)'s derived catalog stands (.+)$`, standsInPlace)
	s.Step(`^(\w+)'s derived catalog is kept for another day$`, keepsDerived)
	s.Step(`^(\w+)'s derived catalog has all of "([^"]*)"(?: and "([^"]*)")?: snapshots, runs and columns$`, derivedHas)
	s.Step(`^(\w+)'s derived catalog holds the rows it held when it was rebuilt before$`, derivedSame)
	s.Step(`^(\w+)'s derived catalog is the file it was$`, derivedUntouched)
	s.Step(`^(\w+)'s derived catalog does not mention (.+)$`, derivedLacks)
	s.Step(`^(\w+)'s machine catalog (mentions|does not mention) "([^"]*)"$`, machineMentions)
	s.Step(`^(\w+)'s machine catalog has every row it had$`, machineKeeps)
	s.Step(`^(\w+)'s machine catalog is looked at$`, machineLooked)
	s.Step(`^(\w+)'s "([^"]*)" is, to the byte, what it was$`, fileAsItWas)
	s.Step(`^the bucket has a "([^"]*)" of another machine and lists it$`, bucketListsForeign)
	s.Step(`^(\w+) has not taken the other machine's "([^"]*)"$`, notForeign)
	s.Step(`^the bucket neither holds nor lists a catalog$`, noCatalogInBucket)
	s.Step(`^(\w+) knows the run state of node "([^"]*)": pipeline "([^"]*)" ran "([^"]*)" and stands at "([^"]*)"$`, knowsRunState)
	s.Step(`^(\w+) knows a run state of node "([^"]*)" that is torn$`, knowsTornState)
	s.Step(`^(\w+) lists (no runs of pipelines|the runs? of pipelines (.+))$`, listsPipelineRuns)
	s.Step(`^the (pointer|schema|manifest of (?:run "[^"]*"|the last snapshot|the unreachable snapshot)) of "([^"]*)" on (\w+) is torn$`, documentTorn)
}

const derivedFile, machineFile = "derived.sqlite", "machine.sqlite"

func rebuilds(ctx context.Context, node string) error {
	w := world.From(ctx)
	if err := lookAtCatalogs(w, w.Node(node)); err != nil {
		return err
	}
	_, err := w.Do(ctx, w.Node(node), sut.Rebuild, nil)
	return err
}

func hasRebuilt(ctx context.Context, node string) error {
	w := world.From(ctx)
	if err := w.Ok(ctx, w.Node(node), sut.Rebuild, nil); err != nil {
		return err
	}
	c, err := readCatalog(w, w.Node(node), derivedFile)
	w.Values["catalogs.rebuilt"] = c
	return err
}

// lookAtCatalogs remembers both catalogs as they are before a verb.
func lookAtCatalogs(w *world.World, n *world.Node) error {
	for _, name := range []string{derivedFile, machineFile} {
		text, err := os.ReadFile(n.Path(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		w.Values["catalogs.bytes."+n.Name+name] = text
	}
	return nil
}

func readCatalog(w *world.World, n *world.Node, name string) (inspect.Catalog, error) {
	scratch, err := w.Dir("scratch")
	if err != nil {
		return inspect.Catalog{}, err
	}
	c, err := inspect.ReadCatalog(n.Path(name), scratch)
	if err != nil {
		return c, verify.Fail(n.Name+" has "+name+" in its store root", "a SQLite file", err)
	}
	return c, nil
}

func standsInPlace(ctx context.Context, node, what string) error {
	w := world.From(ctx)
	n := w.Node(node)
	path := n.Path(derivedFile)
	have, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, side := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(path + side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	switch what {
	case "no file":
		return os.Remove(path)
	case "text that is no database":
		return os.WriteFile(path, bytes.Repeat([]byte("not a database, whatever its name says\n"), 200), 0o644)
	case "half of it":
		return os.WriteFile(path, have[:len(have)/2], 0o644)
	case "a damaged one":
		for i := 200; i < len(have); i++ {
			have[i] ^= 0x5a
		}
		return os.WriteFile(path, have, 0o644)
	case "the catalog of another day":
		kept, ok := w.Values["catalogs.kept"].([]byte)
		if !ok {
			return errors.New("no catalog was kept for another day")
		}
		return os.WriteFile(path, kept, 0o644)
	}
	return fmt.Errorf("nobody knows how %s stands there", what)
}

func keepsDerived(ctx context.Context, node string) error {
	w := world.From(ctx)
	text, err := os.ReadFile(w.Node(node).Path(derivedFile))
	w.Values["catalogs.kept"] = text
	return err
}

// derivedHas asks for every name of the tables that the kit's own reader finds in the canonical files.
func derivedHas(ctx context.Context, node, one, two string) error {
	w := world.From(ctx)
	n := w.Node(node)
	c, err := readCatalog(w, n, derivedFile)
	if err != nil {
		return err
	}
	var missing []string
	for _, table := range []string{one, two} {
		if table == "" {
			continue
		}
		words, err := canonicalNames(n.Root(), table)
		if err != nil {
			return err
		}
		for _, word := range words {
			if !c.Mentions(word) {
				missing = append(missing, word+" of "+table)
			}
		}
	}
	return verify.Nothing("names of the store's files that "+node+"'s derived catalog lacks", missing)
}

func canonicalNames(root, table string) ([]string, error) {
	names := []string{table}
	chain, err := inspect.Chain(root, table)
	if err != nil {
		return nil, err
	}
	for _, m := range chain {
		names = append(names, m.SnapshotID)
	}
	runs, err := inspect.Runs(root, table)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		names = append(names, r.RunID)
	}
	fields, err := inspect.Schema(root, table)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names, nil
}

func derivedSame(ctx context.Context, node string) error {
	w := world.From(ctx)
	before, ok := w.Values["catalogs.rebuilt"].(inspect.Catalog)
	if !ok {
		return errors.New("no rebuilt catalog is remembered")
	}
	now, err := readCatalog(w, w.Node(node), derivedFile)
	if err != nil {
		return err
	}
	return verify.SameSet("the rows of "+node+"'s derived catalog, rebuilt from the same files", before.Lines, now.Lines)
}

func derivedUntouched(ctx context.Context, node string) error {
	return fileAsItWas(ctx, node, derivedFile)
}

func fileAsItWas(ctx context.Context, node, name string) error {
	w := world.From(ctx)
	n := w.Node(node)
	before, ok := w.Values["catalogs.bytes."+n.Name+name].([]byte)
	if !ok {
		return fmt.Errorf("nobody looked at %s before", name)
	}
	now, err := os.ReadFile(n.Path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return verify.That(bytes.Equal(before, now), node+"'s "+name+" is, to the byte, what it was", fmt.Sprintf("%d bytes, as before", len(before)), fmt.Sprintf("%d bytes, others", len(now)))
}

func derivedLacks(ctx context.Context, node, phrase string) error {
	w := world.From(ctx)
	words, err := phraseNames(ctx, phrase)
	if err != nil {
		return err
	}
	if id, ok := w.Values["layout.stray"].(string); ok && strings.Contains(phrase, "the unreachable snapshot") {
		words = append(words, id)
	}
	if len(words) == 0 {
		return fmt.Errorf("%s names nothing", phrase)
	}
	c, err := readCatalog(w, w.Node(node), derivedFile)
	if err != nil {
		return err
	}
	found := slices.DeleteFunc(words, func(word string) bool { return !c.Mentions(word) })
	return verify.Nothing("what "+node+"'s derived catalog holds and no reader sees", found)
}

func machineMentions(ctx context.Context, node, how, word string) error {
	w := world.From(ctx)
	c, err := readCatalog(w, w.Node(node), machineFile)
	if err != nil {
		return err
	}
	return verify.That(c.Mentions(word) == (how == "mentions"), node+"'s machine catalog "+how+" "+word, how+" it", strings.Join(c.Lines, "\n"))
}

func machineLooked(ctx context.Context, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	if err := lookAtCatalogs(w, n); err != nil {
		return err
	}
	c, err := readCatalog(w, n, machineFile)
	w.Values["catalogs.machine"] = c
	return err
}

func machineKeeps(ctx context.Context, node string) error {
	w := world.From(ctx)
	before, ok := w.Values["catalogs.machine"].(inspect.Catalog)
	if !ok {
		return errors.New("nobody looked at the machine catalog before")
	}
	now, err := readCatalog(w, w.Node(node), machineFile)
	if err != nil {
		return err
	}
	var gone []string
	for _, line := range before.Lines {
		if !slices.Contains(now.Lines, line) {
			gone = append(gone, line)
		}
	}
	return verify.Nothing("rows that "+node+"'s machine catalog has lost", gone)
}

// bucketListsForeign puts another machine's catalog beside the store's objects, as a careless push would have.
func bucketListsForeign(ctx context.Context, name string) error {
	w := world.From(ctx)
	body := append([]byte("SQLite format 3\x00"), bytes.Repeat([]byte("another machine's "), 300)...)
	key := w.StoreKey(name)
	w.Values["catalogs.foreign"] = body
	if err := w.Bucket().Put(ctx, key, body); err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	return editManifest(ctx, w, func(entries map[string]any) error {
		entries[key] = map[string]any{"sha256": hex.EncodeToString(sum[:]), "size": len(body), "owner": ""}
		return nil
	})
}

func notForeign(ctx context.Context, node, name string) error {
	w := world.From(ctx)
	foreign, ok := w.Values["catalogs.foreign"].([]byte)
	if !ok {
		return errors.New("the bucket has no catalog of another machine")
	}
	have, err := os.ReadFile(w.Node(node).Path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return verify.That(!bytes.Equal(have, foreign), node+"'s "+name+" is its own or none", "not the file that the bucket lists", "that file")
}

func noCatalogInBucket(ctx context.Context) error {
	w := world.From(ctx)
	state, err := w.BucketState(ctx)
	if err != nil {
		return err
	}
	manifest, ok := state["manifest.json"]
	if !ok {
		return verify.Fail("the push has committed a manifest", "manifest.json in the bucket", "none")
	}
	text, err := w.Bucket().Get(ctx, "manifest.json")
	if err != nil {
		return err
	}
	doc, err := inspect.DecodeBucket("manifest.json "+manifest, text)
	if err != nil {
		return verify.Fail("the bucket manifest", "a document that can be read", err)
	}
	var found []string
	for key := range state {
		if strings.Contains(key, ".sqlite") {
			found = append(found, key)
		}
	}
	for key := range doc.Entries {
		if strings.Contains(key, ".sqlite") {
			found = append(found, "listed: "+key)
		}
	}
	return verify.Nothing("catalogs in the bucket", found)
}

func statePath(n *world.Node, node string) string { return n.Path("nodes/" + node + "/run-state.json") }

func knowsRunState(ctx context.Context, at, node, pipeline, run, position string) error {
	w := world.From(ctx)
	n := w.Node(at)
	if err := w.Prepare(ctx, n); err != nil {
		return err
	}
	const when = "2026-02-03T04:05:06.123456789Z"
	text, err := json.Marshal(map[string]any{"format": 1, "node_id": node,
		"runs":    map[string]any{pipeline: map[string]any{"run_id": run, "table": "events", "status": "done", "started_at": when, "ended_at": when}},
		"cursors": []any{map[string]any{"pipeline_id": pipeline, "table": "events", "position": position, "run_id": run, "committed_at": when}}})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(statePath(n, node)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(statePath(n, node), text, 0o644)
}

func knowsTornState(ctx context.Context, at, node string) error {
	if err := knowsRunState(ctx, at, node, "torn", "torn", "torn"); err != nil {
		return err
	}
	return halve(statePath(world.From(ctx).Node(at), node))
}

func halve(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text[:len(text)/2], 0o644)
}

// listsPipelineRuns compares "<pipeline> <run> of <node>" triples, quoted in the phrase one after the other.
func listsPipelineRuns(ctx context.Context, node, _, phrase string) error {
	w := world.From(ctx)
	c, err := w.Answer(ctx, w.Node(node), sut.RunList, nil)
	if err != nil {
		return err
	}
	var report struct {
		Runs *[]struct {
			Pipeline string `json:"pipeline_id"`
			Node     string `json:"node_id"`
			Run      string `json:"run_id"`
		} `json:"runs"`
	}
	what := node + "'s list of the runs of pipelines"
	if err := json.Unmarshal([]byte(c.Stdout), &report); err != nil || report.Runs == nil {
		return verify.Fail(what, `{"runs": […]}`, c.Stdout)
	}
	var have []string
	for _, r := range *report.Runs {
		have = append(have, r.Pipeline+" "+r.Run+" of "+r.Node)
	}
	return verify.SameSet(what, names(phrase), have)
}

func documentTorn(ctx context.Context, which, table, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	path := map[string]string{"pointer": n.TablePath(table, "_pointer.json"), "schema": n.TablePath(table, "schema.json")}[which]
	if rest, ok := strings.CutPrefix(which, "manifest of "); ok {
		var err error
		rest = strings.Replace(rest, "the last snapshot", "the pointer's snapshot", 1)
		if path, err = manifestPath(w, n, rest, table); err != nil {
			return err
		}
	}
	w.Values["name:the torn file"] = strings.TrimPrefix(path, n.Root()+"/")
	return halve(path)
}
