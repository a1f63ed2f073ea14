//go:build !linux

package harness

import "os"

// workBase is where scenarios live by default.
func workBase() string { return os.TempDir() }
