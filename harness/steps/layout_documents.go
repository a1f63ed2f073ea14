package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Steps that change the documents of a store under the implementation, as a damage, another build or a crash would.
func registerLayoutDocuments(s *Suite) {
	const which = `(run "[^"]*"|the pointer's snapshot|a parent's snapshot|the unreachable snapshot)`
	s.Step(`^the manifest of `+which+` of "([^"]*)" on (\w+) is of (the next major|its own major and minor 99)$`, manifestVersion)
	s.Step(`^the manifest of `+which+` of "([^"]*)" on (\w+) says that (\w+) is "([^"]*)"$`, manifestSays)
	s.Step(`^the manifest of `+which+` of "([^"]*)" on (\w+) says that (\w+) is (true|\d+)$`, manifestSaysPlain)
	s.Step(`^the manifest of `+which+` of "([^"]*)" on (\w+) is taken away$`, manifestAway)
	s.Step(`^the manifest of `+which+` of "([^"]*)" on (\w+) is put back$`, manifestBack)
	s.Step(`^the manifest of run "([^"]*)" of "([^"]*)" on (\w+) is marked logged by the pipeline "([^"]*)"$`, manifestLogged)
	s.Step(`^the log of pipeline "([^"]*)" and node "([^"]*)" on (\w+) has the entry "([^"]*)" of run "([^"]*)" of "([^"]*)"$`, logEntry)
	s.Step(`^another writer's manifest of run "([^"]*)" of "([^"]*)" comes to (\w+)$`, rivalManifest)
	s.Step(`^the manifest of run "([^"]*)" of "([^"]*)" on (\w+) is still the other writer's$`, rivalKept)
	s.Step(`^run "([^"]*)" of "([^"]*)" is collected on (\w+)$`, runCollected)
	s.Step(`^what (\w+) keeps of "([^"]*)" for itself alone is damaged$`, ownFilesDamaged)
	s.Step(`^a complete snapshot of other rows, made (after|just before) the pointer's, comes into "([^"]*)" on (\w+)$`, strayComes)
}

// manifestPath finds a manifest by the words of a feature.
func manifestPath(w *world.World, n *world.Node, which, table string) (string, error) {
	if run, ok := strings.CutPrefix(which, "run "); ok {
		return n.TablePath(table, "data/runs/"+strings.Trim(run, `"`)+"/"+n.ID+"/_manifest.json"), nil
	}
	if which == "the unreachable snapshot" {
		id, _ := w.Values["layout.stray"].(string)
		return filepath.Join(inspect.SnapshotDir(n.Root(), table, id), "_manifest.json"), nil
	}
	chain, err := inspect.Chain(n.Root(), table)
	at := map[string]int{"the pointer's snapshot": 0, "a parent's snapshot": 1}[which]
	if err != nil {
		return "", err
	}
	if at >= len(chain) {
		return "", verify.Fail(fmt.Sprintf("%s has %s of %s", n.Name, which, table), fmt.Sprintf("a chain of %d or more", at+1), len(chain))
	}
	w.Values["name:the snapshot's manifest"] = chain[at].SnapshotID + "/_manifest.json"
	return filepath.Join(chain[at].Dir, "_manifest.json"), nil
}

// edit changes keys of a JSON document and leaves the others as they are; a nil value is null.
func edit(path string, keys map[string]any) error {
	return rewrite(path, func(doc map[string]json.RawMessage) error {
		for k, v := range keys {
			text, err := json.Marshal(v)
			if err != nil {
				return err
			}
			doc[k] = text
		}
		return nil
	})
}

// manifestVersion writes another format_version: a major nobody reads yet, or a minor that anybody may ignore.
func manifestVersion(ctx context.Context, which, table, node, version string) error {
	w := world.From(ctx)
	path, err := manifestPath(w, w.Node(node), which, table)
	if err != nil {
		return err
	}
	if version != "the next major" {
		return edit(path, map[string]any{"format_version": fmt.Sprintf("%v.99", w.Values["layout.major"])})
	}
	own, err := formatVersion(path)
	if err != nil {
		return err
	}
	next := fmt.Sprintf("%d.0", w.Config().FormatMajor+1)
	w.Values["layout.major"], _, _ = strings.Cut(own, ".")
	w.Values["name:the next major"], w.Values["name:the newest it reads"] = next, fmt.Sprint(w.Config().FormatMajor)
	return edit(path, map[string]any{"format_version": next})
}

func formatVersion(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var doc struct {
		FormatVersion string `json:"format_version"`
	}
	return doc.FormatVersion, json.Unmarshal(text, &doc)
}

func manifestSays(ctx context.Context, which, table, node, key, value string) error {
	w := world.From(ctx)
	path, err := manifestPath(w, w.Node(node), which, table)
	if err != nil {
		return err
	}
	return edit(path, map[string]any{key: value})
}

// manifestSaysPlain is manifestSays of a truth or a number, which stand in JSON as they are.
func manifestSaysPlain(ctx context.Context, which, table, node, key, value string) error {
	w := world.From(ctx)
	path, err := manifestPath(w, w.Node(node), which, table)
	if err != nil {
		return err
	}
	return edit(path, map[string]any{key: json.RawMessage(value)})
}

func manifestAway(ctx context.Context, which, table, node string) error {
	w := world.From(ctx)
	path, err := manifestPath(w, w.Node(node), which, table)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	w.Values["layout.away."+path] = text
	return os.Remove(path)
}

func manifestBack(ctx context.Context, which, table, node string) error {
	w := world.From(ctx)
	path, err := manifestPath(w, w.Node(node), which, table)
	if err != nil {
		return err
	}
	text, ok := w.Values["layout.away."+path].([]byte)
	if !ok {
		return fmt.Errorf("%s was never taken away", path)
	}
	return os.WriteFile(path, text, 0o644)
}

// rivalManifest commits an empty run under the same id, as a writer would that knows no lock of this machine.
func rivalManifest(ctx context.Context, run, table, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	path := n.TablePath(table, "data/runs/"+run+"/"+n.ID+"/_manifest.json")
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s is there already", path)
	}
	text, err := json.Marshal(map[string]any{"format_version": "1.0", "run_id": run, "table": table, "node_id": n.ID, "parts": []any{}, "row_count": 0,
		"committed_at": sut.Instant(w.Now()), "batch_digest": strings.Repeat("0", 64), "site_id": "rival"})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	w.Values["layout.rival"] = string(text)
	return os.WriteFile(path, text, 0o644)
}

func rivalKept(ctx context.Context, run, table, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	text, err := os.ReadFile(n.TablePath(table, "data/runs/"+run+"/"+n.ID+"/_manifest.json"))
	if err != nil {
		return verify.Fail("the other writer's manifest of run "+run, w.Values["layout.rival"], err)
	}
	return verify.Equal("the manifest of run "+run, fmt.Sprint(w.Values["layout.rival"]), string(text))
}

// leasedFence is the fence of the pipeline lease that the features' logged runs were committed under.
const leasedFence = 1

func manifestLogged(ctx context.Context, run, table, node, pipeline string) error {
	n := world.From(ctx).Node(node)
	path := n.TablePath(table, "data/runs/"+run+"/"+n.ID+"/_manifest.json")
	return edit(path, map[string]any{"logged": true, "pipeline_id": pipeline, "fence": leasedFence})
}

// logEntry appends to a commit log under the next number.
func logEntry(ctx context.Context, pipeline, of, node, kind, run, table string) error {
	dir := world.From(ctx).Node(node).Path("cursors/" + pipeline + "/" + of)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"kind": kind, "table": table, "run_id": run, "cursor": nil, "fence": leasedFence})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%020d.json", len(entries)+1)), text, 0o644)
}

// runCollected removes a folded run's directory, as a collection does once it is old enough.
func runCollected(ctx context.Context, run, table, node string) error {
	n := world.From(ctx).Node(node)
	dir := n.TablePath(table, "data/runs/"+run)
	if _, err := os.Stat(filepath.Join(dir, n.ID, "_manifest.json")); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// ownFilesDamaged turns a bit of each byte in the last quarter of the files that lie beside a table's data and say nothing to
// another reader: the implementation's own, if it has any. The lay-out's high-water mark is not one of them.
func ownFilesDamaged(ctx context.Context, node, table string) error {
	dir := world.From(ctx).Node(node).TablePath(table, "")
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		if !e.Type().IsRegular() || inspect.Meaningful(path) || e.Name() == "_commit_seq" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i := len(data) * 3 / 4; i < len(data); i++ {
			data[i] ^= 0x10
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// strayComes folds other rows in a table of the same shape and copies that snapshot in under a later or an earlier
// instant: complete in itself, and named by nobody.
func strayComes(ctx context.Context, age, table, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	if err := w.Land(ctx, n, world.Landing{Table: "strays", Rows: w.MakeRows(9001, 4, 2, "stray")}); err != nil {
		return err
	}
	if err := hasFolded(ctx, node, "strays"); err != nil {
		return err
	}
	from, err := inspect.Chain(n.Root(), "strays")
	if err != nil {
		return err
	}
	if len(from) == 0 {
		return verify.Fail(node+" has made a snapshot", "a chain", "none")
	}
	to, err := inspect.Chain(n.Root(), table)
	if err != nil {
		return err
	}
	if len(to) == 0 {
		return verify.Fail(node+" has made a snapshot", "a chain", "none")
	}
	made, parent := to[0].CreatedAt.Add(time.Hour), any(to[0].SnapshotID)
	if age == "just before" {
		made, parent = to[0].CreatedAt.Add(-2), nil
		if to[0].Parent != "" {
			parent = to[0].Parent
		}
	}
	id := snapshotID(made)
	dir := inspect.SnapshotDir(n.Root(), table, id)
	if err := os.CopyFS(dir, os.DirFS(from[0].Dir)); err != nil {
		return err
	}
	w.Values["layout.stray"] = id
	return edit(filepath.Join(dir, "_manifest.json"), map[string]any{
		"snapshot_id": id, "table": table, "created_at": sut.Instant(made), "parent": parent, "parts": movedParts(from[0], id)})
}

// movedParts gives the parts of a snapshot under another id, their other keys as they are.
func movedParts(s inspect.SnapshotDoc, id string) []map[string]any {
	var doc struct {
		Parts []map[string]any `json:"parts"`
	}
	_ = json.Unmarshal(s.Raw, &doc) // it was decoded before
	for _, p := range doc.Parts {
		if _, ok := p["snapshot_id"]; ok {
			p["snapshot_id"] = id
		}
	}
	return doc.Parts
}
