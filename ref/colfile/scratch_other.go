//go:build !linux

package colfile

import "os"

// scratch makes a temporary file, removed when done.
func scratch() (*os.File, string, func(), error) {
	f, err := os.CreateTemp("", "contextful-part-*.parquet")
	if err != nil {
		return nil, "", nil, err
	}
	return f, f.Name(), func() { f.Close(); os.Remove(f.Name()) }, nil
}
