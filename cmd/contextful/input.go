package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"contextful/ref/fault"
)

// input opens the rows; a directory or an unreadable file refuses before the store is touched.
func (a *app) input(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, unopened(name, err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fault.New(fault.StoreInputMalformed, name, name+" is a directory, not a file of rows").
			WithHint(`name one file; a [pipeline.source] of kind "file" reads all files of a directory`)
	}
	return f, nil
}

// unopened is the refusal of an input file that cannot be opened.
func unopened(name string, err error) *fault.Error {
	f := fault.New(fault.StoreInputMalformed, name, "the rows cannot be read").Wrap(err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if dir, wdErr := os.Getwd(); wdErr == nil && !filepath.IsAbs(name) {
			return f.WithHint("a path is taken from " + dir + "; - reads standard input")
		}
		return f.WithHint("name a file that is there, or - for standard input")
	case errors.Is(err, fs.ErrPermission):
		return f.WithHint("give yourself leave to read it, or send it on standard input with --rows -")
	}
	return f.WithHint("copy it to a file of this machine, or send it on standard input with --rows -")
}
