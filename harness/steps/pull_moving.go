package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"

	"contextful/fakes/s3cas"
	"contextful/harness/world"
)

// Moving keys: what happens to the bucket's objects between the manifest that lists them and the request that asks for
// them.
func registerPullMoving(s *Suite) {
	s.Step(`^(`+things+`) of "([^"]*)" lies in the bucket (with a byte changed|cut short|with a byte more|as another object)$`, liesDamaged)
	s.Step(`^(`+things+`) of "([^"]*)" is gone from the bucket$`, isGone)
	s.Step(`^the bucket is whole again$`, wholeAgain)
	s.Step(`^the bucket will miss (`+things+`) of "([^"]*)" (once|twice|three times), as (\w+) pulls$`, willMiss)
	s.Step(`^the bucket will (miss|damage) (the|every part after the) (\w+)(?: part)? that (\w+)'s pull asks for$`, willMissNth)
	s.Step(`^the bucket's manifest will move on at each look of (\w+)'s pull$`, manifestMovesOn)
	s.Step(`^a rival will delete (`+things+`) of "([^"]*)" just before (\w+)'s pull is given it$`, rivalDeletes)
	s.Step(`^the bucket goes on without the folded run of "([^"]*)"$`, goesOnWithoutRun)
	s.Step(`^the bucket no longer lists (`+things+`) of "([^"]*)"$`, noLongerListed)
	s.Step(`^the bucket will hold every part of a snapshot that (\w+)'s pull asks for$`, holdEveryPart)
}

// flipped changes one byte in the middle.
func flipped(body []byte) []byte {
	out := bytes.Clone(body)
	if len(out) > 0 {
		out[len(out)/2] ^= 0x20
	}
	return out
}

func rewriteFile(path string, change func([]byte) []byte) error {
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, change(body), 0o644)
}

// originals keeps what the bucket held before a step changed it, so that wholeAgain can put it back.
func originals(w *world.World) map[string][]byte {
	m, ok := w.Values["pull.originals"].(map[string][]byte)
	if !ok {
		m = map[string][]byte{}
		w.Values["pull.originals"] = m
	}
	return m
}

func keepOriginal(ctx context.Context, w *world.World, key string) ([]byte, error) {
	body, err := w.Bucket().Get(ctx, key)
	if err == nil {
		originals(w)[key] = body
	}
	return body, err
}

// keptThing is the key of a thing in the bucket, and what it holds, kept for wholeAgain.
func keptThing(ctx context.Context, w *world.World, what, table string) (key string, body []byte, err error) {
	if key, err = thing(ctx, w, what, table); err != nil {
		return "", nil, err
	}
	body, err = keepOriginal(ctx, w, key)
	return key, body, err
}

func liesDamaged(ctx context.Context, what, table, how string) error {
	w := world.From(ctx)
	key, body, err := keptThing(ctx, w, what, table)
	if err != nil {
		return err
	}
	switch how {
	case "with a byte changed":
		body = flipped(body)
	case "cut short":
		body = body[:len(body)-1]
	case "with a byte more":
		body = append(bytes.Clone(body), '\n')
	default:
		if body, err = w.Bucket().Get(ctx, w.StoreKey("store-id")); err != nil {
			return err
		}
	}
	return w.Bucket().Put(ctx, key, body)
}

func isGone(ctx context.Context, what, table string) error {
	w := world.From(ctx)
	key, _, err := keptThing(ctx, w, what, table)
	if err != nil {
		return err
	}
	return w.Bucket().Delete(ctx, key)
}

// wholeAgain puts back every object a step changed and ends every fault a step of this operation injected.
func wholeAgain(ctx context.Context) error {
	w := world.From(ctx)
	for key, body := range originals(w) {
		if err := w.Bucket().Put(ctx, key, body); err != nil {
			return err
		}
	}
	faults, _ := w.Values["pull.faults"].([]*s3cas.Injection)
	for _, f := range faults {
		f.Remove()
	}
	if len(originals(w))+len(faults) == 0 {
		return fmt.Errorf("nothing was done to the bucket")
	}
	return nil
}

func inject(w *world.World, format string, args ...any) error {
	in, err := w.Inject(fmt.Sprintf(format, args...))
	if err != nil {
		return err
	}
	faults, _ := w.Values["pull.faults"].([]*s3cas.Injection)
	w.Values["pull.faults"] = append(faults, in)
	return nil
}

// willMiss has the fake say that an object is not there, the first times that pulls of the node ask for it.
func willMiss(ctx context.Context, what, table, times, node string) error {
	w := world.From(ctx)
	key, err := thing(ctx, w, what, table)
	if err != nil {
		return err
	}
	for i := range map[string]int{"once": 1, "twice": 2, "three times": 3}[times] {
		if err := inject(w, `(Respond 404 "NoSuchKey" (And Get %s %s (OnIndex %d)))`, world.Who(w.Node(node), "pull"), w.Key(key), i); err != nil {
			return err
		}
	}
	return nil
}

// willMissNth is about the parts in the order in which they are asked for, whatever that order is.
func willMissNth(ctx context.Context, how, which, ordinal, node string) error {
	n, ok := map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}[ordinal]
	if !ok {
		return fmt.Errorf("%q is no ordinal this step knows", ordinal)
	}
	w := world.From(ctx)
	index, action := fmt.Sprintf("(OnIndex %d)", n-1), `Respond 404 "NoSuchKey"`
	if which != "the" {
		index = fmt.Sprintf("(FromIndex %d)", n)
	}
	if how == "damage" {
		action = "Corrupt"
	}
	return inject(w, `(%s (And Get %s %s %s))`, action, world.Who(w.Node(node), "pull"), w.Key("*.parquet"), index)
}

func manifestMovesOn(ctx context.Context, node string) error {
	w := world.From(ctx)
	return inject(w, `(RivalManifest (And Get %s %s))`, world.Who(w.Node(node), "pull"), w.Key("manifest.json"))
}

func rivalDeletes(ctx context.Context, what, table, node string) error {
	w := world.From(ctx)
	key, _, err := keptThing(ctx, w, what, table)
	if err != nil {
		return err
	}
	return inject(w, `(RivalDelete (And Get %s %s))`, world.Who(w.Node(node), "pull"), w.Key(key))
}

// editManifest commits the bucket manifest one generation on, changed. Numbers keep their digits.
func editManifest(ctx context.Context, w *world.World, change func(entries map[string]any) error) error {
	text, err := w.Bucket().Get(ctx, "manifest.json")
	if err != nil {
		return err
	}
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return err
	}
	entries, ok := doc["entries"].(map[string]any)
	number, ok2 := doc["generation"].(json.Number)
	if !ok || !ok2 {
		return fmt.Errorf("the bucket manifest has no entries or no generation")
	}
	generation, err := number.Int64()
	if err != nil {
		return err
	}
	if err := change(entries); err != nil {
		return err
	}
	doc["generation"] = generation + 1
	if text, err = json.Marshal(doc); err != nil {
		return err
	}
	if err := w.Bucket().Put(ctx, fmt.Sprintf("manifests/gen-%d.json", generation+1), text); err != nil {
		return err
	}
	return w.Bucket().Put(ctx, "manifest.json", text)
}

// goesOnWithoutRun is what a collect does: the next generation does not list the run, and then its objects go.
func goesOnWithoutRun(ctx context.Context, table string) error {
	w := world.From(ctx)
	part, err := thing(ctx, w, "the run's part", table)
	if err != nil {
		return err
	}
	var gone []string
	err = editManifest(ctx, w, func(entries map[string]any) error {
		for key := range entries {
			if strings.HasPrefix(key, path.Dir(part)+"/") {
				gone = append(gone, key)
				delete(entries, key)
			}
		}
		return nil
	})
	for _, key := range gone {
		if err == nil {
			err = w.Bucket().Delete(ctx, key)
		}
	}
	return err
}

// noLongerListed makes a manifest that says nothing of an object that is still needed.
func noLongerListed(ctx context.Context, what, table string) error {
	w := world.From(ctx)
	key, err := thing(ctx, w, what, table)
	if err != nil {
		return err
	}
	return editManifest(ctx, w, func(entries map[string]any) error {
		if _, listed := entries[key]; !listed {
			return fmt.Errorf("%s was not listed", key)
		}
		delete(entries, key)
		return nil
	})
}

// widthGate is where the downloads wait whose number is counted: parts of one kind, since whoever brings runs and snapshots
// one after the other may do so.
const widthGate = "width"

func holdEveryPart(ctx context.Context, node string) error {
	w := world.From(ctx)
	return w.Hold(widthGate, "before", "Get", world.Who(w.Node(node), "pull"), w.Key("*/data/snapshots/*.parquet"))
}
