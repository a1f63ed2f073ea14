package steps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// A bucket that would write outside the store, and a disk that leads there.
func registerPullHostile(s *Suite) {
	s.Step(`^the bucket lists a key that (.+)$`, listsKey)
	s.Step(`^on (\w+), "([^"]*)" is a link to a directory elsewhere$`, linkElsewhere)
	s.Step(`^behind the link lies what lay there$`, behindUnchanged)
}

// odd are the keys: P stands for the project.
var odd = map[string]string{
	"climbs out of the store root":      "P/../../outside/note.txt",
	"climbs out of the prefix":          "../../../outside/note.txt",
	"climbs and comes back":             "P/tables/../tables/events/schema.json",
	"climbs out of another project":     "elsewhere/../../outside/note.txt",
	"ends with a climb":                 "P/tables/..",
	"is absolute":                       "/outside/note.txt",
	"has an empty segment":              "P/tables//events/schema.json",
	"has an empty segment at its end":   "P/tables/events/",
	"has the segment .":                 "P/tables/./events/schema.json",
	"has a backslash":                   `P/tables\..\..\outside`,
	"has a NUL":                         "P/tables/events\x00/schema.json",
	"belongs to another project":        "elsewhere/tables/events/schema.json",
	"has dots within a segment":         "P/tables/ev..ents/schema.json",
	"has dots only, three of them":      "elsewhere/.../note.txt",
	"begins a segment with two dots":    "elsewhere/..hidden/note.txt",
	"has spaces, quotes and other text": `elsewhere/näch ste's/"note".txt`,
}

// listsKey puts an object under a key of that kind, where an object can lie there, and lists it with its true digest. It
// is kept for namesKey, up to a NUL: how a message shows one is its own business.
func listsKey(ctx context.Context, kind string) error {
	w := world.From(ctx)
	key, ok := odd[kind]
	if !ok {
		return fmt.Errorf("nobody knows a key that %s", kind)
	}
	if rest, ours := strings.CutPrefix(key, "P/"); ours {
		key = w.StoreKey(rest)
	}
	body, err := w.Bucket().Get(ctx, w.TableKey("events", "schema.json"))
	if err != nil {
		return err
	}
	if err := w.Bucket().Put(ctx, key, body); err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	w.Values["name:the key"], _, _ = strings.Cut(key, "\x00")
	return editManifest(ctx, w, func(entries map[string]any) error {
		entries[key] = map[string]any{"sha256": hex.EncodeToString(sum[:]), "size": len(body), "owner": ""}
		return nil
	})
}

// linkElsewhere moves a directory of the store root, if it is there, out of the project and leaves a link to it.
func linkElsewhere(ctx context.Context, node, rel string) error {
	w := world.From(ctx)
	n := w.Node(node)
	if err := w.Prepare(ctx, n); err != nil {
		return err
	}
	outside, err := w.Dir("elsewhere")
	if err != nil {
		return err
	}
	target := filepath.Join(outside, "target")
	here, err := n.Has(rel)
	if err != nil {
		return err
	}
	if here {
		err = os.Rename(n.Path(rel), target)
	} else if err = os.MkdirAll(target, 0o755); err == nil {
		err = os.MkdirAll(filepath.Dir(n.Path(rel)), 0o755)
	}
	if err != nil {
		return err
	}
	tree, err := inspect.Snap(outside)
	if err != nil {
		return err
	}
	w.Values["pull.outside"] = tree
	return os.Symlink(target, n.Path(rel))
}

func behindUnchanged(ctx context.Context) error {
	w := world.From(ctx)
	before, ok := w.Values["pull.outside"].(inspect.Tree)
	if !ok {
		return fmt.Errorf("there is no link")
	}
	outside, err := w.Dir("elsewhere")
	if err != nil {
		return err
	}
	now, err := inspect.Snap(outside)
	if err != nil {
		return err
	}
	return verify.Unchanged("behind the link lies what lay there", before, now)
}
