package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"contextful/fakes/s3cas"
	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
)

// A Node is a machine of the scenario. The first one named is the store's founder (it runs init); the others are clones:
// the same declaration and configuration, an id of their own and no store-id until their first pull.
type Node struct {
	w       *World
	Name    string
	ID      string // node id; the name unless a step changes it
	Founder bool   // it has (or gets) a store of its own
	Bare    bool   // nothing is written on it: no declaration, no configuration, no init

	// Own overrides, all optional. Declaration and Configuration replace the whole file.
	Declaration   string
	Configuration string
	Settings      map[string]string // [sync] lines, TOML values; an empty value takes the line out
	Env           map[string]string // for every verb of this node
	tables        map[string]*Table

	Point   string // of a copy: where its verb was killed, for messages
	copies  []*Node
	fake    *s3cas.Server // its own, of a Fork
	dir     string
	ready   bool
	count   int
	before  inspect.Tree
	created inspect.Tree
	task    *Task
	last    *Call
}

// Node gives the node of that name; the first use of a name makes it. Nothing is written before its first verb or
// Prepare.
func (w *World) Node(name string) *Node {
	if n, ok := w.nodes[name]; ok {
		return n
	}
	n := &Node{w: w, Name: name, ID: name, Founder: len(w.nodes) == 0, Settings: map[string]string{}, Env: map[string]string{}, tables: map[string]*Table{},
		dir: filepath.Join(w.opts.Dir, name)}
	w.nodes[name] = n
	w.order = append(w.order, name)
	return n
}

// Nodes lists the nodes in order of their first naming.
func (w *World) Nodes() []*Node {
	var out []*Node
	for _, name := range w.order {
		out = append(out, w.nodes[name])
	}
	return out
}

// Project is the node's project directory, the working directory of its verbs.
func (n *Node) Project() string { return filepath.Join(n.dir, "project") }

// Root is the node's store root.
func (n *Node) Root() string { return filepath.Join(n.Project(), ".contextful", "context", n.w.title) }

// Path is a file below the store root.
func (n *Node) Path(rel string) string { return filepath.Join(n.Root(), filepath.FromSlash(rel)) }

// TablePath is a file below a table's directory.
func (n *Node) TablePath(table, rel string) string {
	return filepath.Join(inspect.TableDir(n.Root(), table), filepath.FromSlash(rel))
}

// Tree is what the store root holds now.
func (n *Node) Tree() (inspect.Tree, error) { return inspect.Snap(n.Root()) }

// Before is what the store root held when the node's latest verb was asked.
func (n *Node) Before() inspect.Tree { return n.before }

// Last is the node's latest ended invocation.
func (n *Node) Last() (Call, error) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	if n.last == nil {
		return Call{}, fmt.Errorf("%s has not been asked anything yet", n.Name)
	}
	return *n.last, nil
}

// Task is the node's latest started invocation that nobody has waited for yet. One that was started and ended in the meantime,
// a read while a pull is held, leaves the earlier one.
func (n *Node) Task() (*Task, error) {
	if n.task == nil {
		return nil, fmt.Errorf("%s has nothing under way", n.Name)
	}
	return n.task, nil
}

// Prepare makes the node's directories, has its store initialised (a founder) and writes declaration and configuration
// where they are not what they should be. Every verb does it first; calling it again is free.
func (w *World) Prepare(ctx context.Context, n *Node) error {
	if !n.ready {
		for _, d := range []string{n.Project(), filepath.Join(n.dir, "home", "tmp"), filepath.Join(n.dir, "state")} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				return err
			}
		}
		n.ready = true
		if !n.Bare {
			if err := w.found(ctx, n); err != nil {
				n.ready = false
				return err
			}
		}
	}
	if n.Bare {
		return nil
	}
	if err := put(filepath.Join(n.Project(), "contextful.toml"), n.declaration()); err != nil {
		return err
	}
	return put(n.Path("config.toml"), n.configuration())
}

// found initialises a founder's store; a clone only gets an empty root.
func (w *World) found(ctx context.Context, n *Node) error {
	if cmd := w.opts.Config.Prepare; len(cmd) > 0 {
		return w.prepareCommand(ctx, n, cmd)
	}
	if n.Founder {
		if _, err := w.ok(ctx, n, sut.Init, nil); err != nil {
			return fmt.Errorf("%s's store is not initialised: %w", n.Name, err)
		}
		if err := n.founded("init"); err != nil {
			return err
		}
	}
	return os.MkdirAll(n.Root(), 0o755)
}

// founded fails unless the store has what every founded store has: whatever makes nothing must not get as far as a question.
func (n *Node) founded(by string) error {
	info, err := os.Lstat(n.Path("store-id"))
	if err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return verify.Fail(by+" makes "+n.Name+"'s store", "exit 0 and a file .contextful/context/"+n.w.title+"/store-id", "exit 0 and no such file")
}

// prepareCommand runs the configured command with a file of facts.
func (w *World) prepareCommand(ctx context.Context, n *Node, argv []string) error {
	facts := map[string]any{"node": n.ID, "project": n.Project(), "root": n.Root(), "name": w.title, "founder": n.Founder,
		"access_key_env": envAccess, "secret_key_env": envSecret}
	for k, v := range n.Bucket().Settings() {
		facts[k] = v
	}
	text, err := json.MarshalIndent(facts, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(n.dir, "facts.json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	args := make([]string, len(argv))
	for i, a := range argv {
		args[i] = strings.ReplaceAll(a, "{facts}", path)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = n.Project()
	if out, err := cmd.CombinedOutput(); err != nil {
		return verify.Fail("the [prepare] command sets "+n.Name+" up", "exit 0", fmt.Sprintf("%v: %s", err, out))
	}
	if n.Founder {
		if err := n.founded("the [prepare] command"); err != nil {
			return err
		}
	}
	return os.MkdirAll(n.Root(), 0o755)
}

// put writes a file unless it already says that.
func put(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// Set changes a [sync] line of every node; the value is TOML ("5", "true", `"single-writer"`).
func (w *World) Set(key, value string) { w.sync[key] = value }

// Names of the environment variables that config.toml takes the credentials from.
const (
	envAccess = "CONFORM_ACCESS_KEY"
	envSecret = "CONFORM_SECRET_KEY"
)

func (n *Node) configuration() string {
	if n.Configuration != "" {
		return n.Configuration
	}
	lines := map[string]string{"access_key_id": quote("env://" + envAccess), "secret_access_key": quote("env://" + envSecret)}
	for k, v := range n.Bucket().Settings() {
		lines[k] = quote(v)
	}
	if strings.HasPrefix(n.Bucket().Settings()["endpoint"], "file://") {
		delete(lines, "access_key_id")
		delete(lines, "secret_access_key")
	}
	for _, own := range []map[string]string{n.w.sync, n.Settings} {
		for k, v := range own {
			lines[k] = v
		}
	}
	var keys []string
	for k, v := range lines {
		if v != "" {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	var b strings.Builder
	b.WriteString("[sync]\n")
	for _, k := range keys {
		fmt.Fprintf(&b, "%s = %s\n", k, lines[k])
	}
	return b.String()
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return `""`
	}
	return string(text)
}

// Each gives the copies a crash-point enumeration made of a node, or the node itself where there is none.
func (w *World) Each(name string) []*Node {
	n := w.Node(name)
	if len(n.copies) > 0 {
		return n.copies
	}
	return []*Node{n}
}

// Forget has the node prepared anew at its next verb, for a step that removed its store root.
func (n *Node) Forget() { n.ready = false }

// Has reports whether a file below the store root exists.
func (n *Node) Has(rel string) (bool, error) {
	_, err := os.Lstat(n.Path(rel))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
