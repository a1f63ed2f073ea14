package decl

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"contextful/ref/fault"
	"contextful/ref/key"
)

// LocalNode is the node id of a machine that can keep none. No bucket lease is taken under it.
const LocalNode = "local"

// nodeFile holds the id generated once per machine user.
const nodeFile = "node-id"

// ResolveNode gives this node's id: CONTEXTFUL_NODE_ID, then [node] id, then the id kept in StateDir (made on first
// use), else LocalNode. config may be nil. Errors: StoreNameInvalid for an id that is not 1 to 64 letters, digits, '_', '-'.
func ResolveNode(getenv func(string) string, config *Config) (string, error) {
	if id := getenv("CONTEXTFUL_NODE_ID"); id != "" {
		if err := key.ValidNode(id); err != nil {
			return "", fault.New(fault.StoreNameInvalid, id, "CONTEXTFUL_NODE_ID: "+reason(err))
		}
		return id, nil
	}
	if config != nil && config.NodeID != "" {
		return config.NodeID, nil
	}
	dir, ok := StateDir(getenv)
	if !ok {
		return LocalNode, nil
	}
	path := filepath.Join(dir, nodeFile)
	if id, err := readNode(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	if err := makeNode(dir, path); err != nil {
		return LocalNode, nil
	}
	return readNode(path)
}

// StateDir is where a machine user's own state lies: $CONTEXTFUL_STATE_DIR, else $XDG_STATE_HOME/contextful, else
// ~/.local/state/contextful. ok is false where the environment names none.
func StateDir(getenv func(string) string) (dir string, ok bool) {
	if dir := getenv("CONTEXTFUL_STATE_DIR"); dir != "" {
		return dir, true
	}
	if base := getenv("XDG_STATE_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "contextful"), true
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "contextful"), true
	}
	return "", false
}

func readNode(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(data))
	if key.ValidNode(id) != nil {
		return "", fault.New(fault.StoreNameInvalid, path, path+" holds no node id").WithHint("remove the file, or set CONTEXTFUL_NODE_ID")
	}
	return id, nil
}

// makeNode writes a fresh id under a temporary name and links it to path: of two first processes one wins, and both read
// the winner's id afterwards.
func makeNode(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".tmp-node-")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString("node-" + hex.EncodeToString(id) + "\n")
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
