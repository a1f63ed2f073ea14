package sut

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDidYouMean(t *testing.T) {
	known := []string{"store.pull.pointer-last", "store.push.pointer", "lazy", "s3"}
	for word, want := range map[string]string{
		"store.pul.pointer-last":  " (did you mean store.pull.pointer-last?)",
		"store.pull.pionter-last": " (did you mean store.pull.pointer-last?)",
		"pointer-last":            " (did you mean store.pull.pointer-last?)",
		"lzay":                    " (did you mean lazy?)",
		"telepathy":               "",
	} {
		require.Equal(t, want, DidYouMean(word, known), word)
	}
}

func TestErrorsOfAConformTomlSayWhere(t *testing.T) {
	for _, c := range []struct{ old, now, err string }{
		{"clock =", "klock =", "unknown key sut.klock (line 4)"},
		{"clock = \"now-flag\"", "clock = now-flag", "line 4, column "},
		{"lazy = false", "lazi = false", "[capabilities] unknown key lazi (did you mean lazy?)"},
		{"[format]", "[verbs]\npul = [\"x\"]\n[format]", "unknown verb pul (did you mean pull?)"},
	} {
		_, err := Parse("conform.toml", []byte(conform(func(s string) string { return strings.Replace(s, c.old, c.now, 1) })))
		require.ErrorContains(t, err, c.err)
	}
}

func TestStartable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "store")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"), 0o644))
	require.ErrorContains(t, Default("x", []string{file}).Startable(), "permission denied (hint: is it a file, and executable? chmod +x "+file)
	require.ErrorContains(t, Default("x", []string{dir}).Startable(), "cannot be started")
	require.ErrorContains(t, Default("x", []string{file + "2"}).Startable(), "no such file or directory (hint: a path with a slash")
	require.ErrorContains(t, Default("x", []string{"no-such-store"}).Startable(), "executable file not found in $PATH (hint: a bare name")
	require.NoError(t, os.Chmod(file, 0o755))
	require.NoError(t, Default("x", []string{file}).Startable())
}
