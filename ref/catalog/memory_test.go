package catalog_test

import (
	"testing"

	"contextful/ref/catalog"
	"contextful/ref/catalog/catalogtest"
)

func TestMemory(t *testing.T) {
	catalogtest.Machine(t, func(*testing.T) catalog.Machine { return catalog.NewMemory() })
	catalogtest.Derived(t, func(*testing.T) catalog.Derived { return catalog.NewMemory() })
}
