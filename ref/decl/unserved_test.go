package decl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"contextful/ref/fault"
)

func TestUnserved(t *testing.T) {
	const bucket = "[sync]\nendpoint = \"file:///b\"\nprefix = \"p\"\n"
	for name, text := range map[string]string{
		"encryption":  "[encryption]\nkey_source = \"env:KEY\"\n",
		"replica":     "[replica]\nof = \"origin\"\n",
		"lazy_parts":  bucket + "lazy_parts = true\n",
		"pull_tables": bucket + "pull_tables = [\"a\"]\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseConfig("/p/config.toml", []byte(text))
			require.NoError(t, err)
			require.ErrorIs(t, c.Unserved(), fault.StoreUnsupported)
			require.ErrorContains(t, c.Unserved(), name)
		})
	}
	c, err := ParseConfig("/p/config.toml", []byte(bucket+"lazy_parts = false\n"))
	require.NoError(t, err)
	require.NoError(t, c.Unserved())
}
