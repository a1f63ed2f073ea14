package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of format versions: what a manifest says of itself, and manifests as older and newer writers leave them.
func registerLayoutFormat(s *Suite) {
	const which = `(run "[^"]*"|the pointer's snapshot|a parent's snapshot)`
	s.Step(`^(\w+)'s snapshot of "([^"]*)" is of major (\d)$`, snapshotMajor)
	s.Step(`^every manifest of "([^"]*)" on (\w+) is of the version that its content asks for$`, versionsAsked)
	s.Step(`^the manifest of `+which+` of "([^"]*)" on (\w+) says no format_version$`, manifestUnversioned)
	s.Step(`^the manifest of `+which+` of "([^"]*)" on (\w+) is of its own major and minor 99, with fields that nobody knows$`, manifestOfTomorrow)
	s.Step(`^the manifest of the pointer's snapshot of "([^"]*)" on (\w+) is as a writer of 1\.0 left it, with no (rows stated|list of parts)$`, manifestOfOld)
	s.Step(`^beside that part of "([^"]*)" on (\w+) lies another$`, secondPart)
	s.Step(`^what lay in the snapshots of "([^"]*)" on (\w+) lies there as it was$`, snapshotsKept)
}

// rewrite changes a JSON document by its keys.
func rewrite(path string, change func(map[string]json.RawMessage) error) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := change(doc); err != nil {
		return err
	}
	if text, err = json.Marshal(doc); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func snapshotMajor(ctx context.Context, node, table, major string) error {
	head, err := currentSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	got, _, _ := strings.Cut(head.FormatVersion, ".")
	return verify.Equal("the major of format_version of "+head.SnapshotID, major, got)
}

// versionsAsked looks at every run and snapshot manifest: major 2 exactly where something is named in another snapshot's directory,
// minor 1 exactly where there is an index of folded runs.
func versionsAsked(ctx context.Context, table, node string) error {
	root := world.From(ctx).Node(node).Root()
	runs, err := inspect.Runs(root, table)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if err := verify.Equal("format_version of run "+r.RunID, "1.0", r.FormatVersion); err != nil {
			return err
		}
	}
	chain, err := inspect.Chain(root, table)
	if err != nil {
		return err
	}
	for _, m := range chain {
		var doc struct {
			FoldedRuns *struct {
				Segments []struct {
					SnapshotID string `json:"snapshot_id"`
				} `json:"segments"`
			} `json:"folded_runs"`
		}
		if err := json.Unmarshal(m.Raw, &doc); err != nil {
			return verify.Fail("the manifest of "+m.SnapshotID, "a JSON object", err)
		}
		major, minor := 1, 0
		for _, p := range m.Parts {
			if p.SnapshotID != "" && p.SnapshotID != m.SnapshotID {
				major = 2
			}
		}
		if doc.FoldedRuns != nil {
			minor = 1
			for _, s := range doc.FoldedRuns.Segments {
				if s.SnapshotID != "" && s.SnapshotID != m.SnapshotID {
					major = 2
				}
			}
		}
		if err := verify.Equal("format_version of "+m.SnapshotID, fmt.Sprintf("%d.%d", major, minor), m.FormatVersion); err != nil {
			return err
		}
	}
	return nil
}

func manifestUnversioned(ctx context.Context, which, table, node string) error {
	w := world.From(ctx)
	path, err := manifestPath(w, w.Node(node), which, table)
	if err != nil {
		return err
	}
	return rewrite(path, func(doc map[string]json.RawMessage) error {
		delete(doc, "format_version")
		return nil
	})
}

func manifestOfTomorrow(ctx context.Context, which, table, node string) error {
	w := world.From(ctx)
	path, err := manifestPath(w, w.Node(node), which, table)
	if err != nil {
		return err
	}
	own, err := formatVersion(path)
	if err != nil {
		return err
	}
	major, _, _ := strings.Cut(own, ".")
	return rewrite(path, func(doc map[string]json.RawMessage) error {
		doc["format_version"] = json.RawMessage(fmt.Sprintf("%q", major+".99"))
		doc["weather"] = json.RawMessage(`{"sky": ["clear", 9007199254740993], "parts": null}`)
		var parts []map[string]json.RawMessage
		if err := json.Unmarshal(doc["parts"], &parts); err != nil {
			return err
		}
		for _, p := range parts {
			p["smell"] = json.RawMessage(`[1, {"of": "rain"}]`)
		}
		text, err := json.Marshal(parts)
		doc["parts"] = text
		return err
	})
}

// manifestOfOld makes a snapshot's manifest as the first format had it. Its parts must be its own.
func manifestOfOld(ctx context.Context, table, node, what string) error {
	w := world.From(ctx)
	head, err := currentSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	for _, p := range head.Parts {
		if p.SnapshotID != "" && p.SnapshotID != head.SnapshotID {
			return fmt.Errorf("the part %s lies in another snapshot's directory: no writer of major 1 leaves that", p.Name)
		}
	}
	w.Values["name:the snapshot's manifest"] = head.SnapshotID + "/_manifest.json"
	return rewrite(filepath.Join(head.Dir, "_manifest.json"), func(doc map[string]json.RawMessage) error {
		doc["format_version"] = json.RawMessage(`"1.0"`)
		delete(doc, "folded_runs")
		delete(doc, "row_count")
		if what == "list of parts" {
			delete(doc, "parts")
			return nil
		}
		var parts []map[string]json.RawMessage
		if err := json.Unmarshal(doc["parts"], &parts); err != nil {
			return err
		}
		for _, p := range parts {
			for name := range p {
				if name != "name" && name != "partition" {
					delete(p, name)
				}
			}
		}
		text, err := json.Marshal(parts)
		doc["parts"] = text
		return err
	})
}

func secondPart(ctx context.Context, table, node string) error {
	root := world.From(ctx).Node(node).Root()
	p, err := inspect.Pointer(root, table)
	if err != nil {
		return err
	}
	dir := inspect.SnapshotDir(root, table, p.SnapshotID)
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".parquet") && !strings.HasPrefix(e.Name(), "folded-") {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "part-00077.parquet"), data, 0o644)
		}
	}
	return fmt.Errorf("%s holds no part", dir)
}

// snapshotsKept compares with what lay there as the node was last asked: new files may have come, none may have changed or gone.
func snapshotsKept(ctx context.Context, table, node string) error {
	n := world.From(ctx).Node(node)
	now, err := n.Tree()
	if err != nil {
		return err
	}
	dir := "tables/" + table + "/data/snapshots/"
	before := n.Before().Only(func(p string) bool { return strings.HasPrefix(p, dir) && inspect.Meaningful(p) })
	if len(before) == 0 {
		return fmt.Errorf("no snapshot of %s lay there before", table)
	}
	after := now.Only(func(p string) bool { _, was := before[p]; return was })
	return verify.Unchanged("what lay in the snapshots of "+table, before, after)
}
