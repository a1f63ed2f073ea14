package colfile

import (
	"errors"
	"fmt"

	"contextful/ref/schema"
	"contextful/ref/vfs"
)

const (
	// maxLevels is how deep the groups of a footer may lie in each other: a column of the language takes two for each of its
	// constructors. A reader that recurses, and every one does, would otherwise be led out of its stack.
	maxLevels = 4 * schema.MaxDepth
	// smallFooter is a footer whose groups cannot lie so deep that the engine is led out of its stack (measured: at some 3,000
	// of them, each of which takes at least seven bytes).
	smallFooter   = 8 << 10
	fieldChildren = 5
)

// levelsWithin refuses a footer whose groups lie deeper than maxLevels.
func levelsWithin(footer []byte) error {
	w := &walker{data: footer}
	var open []int64 // children still to come of each open group
	children := int64(0)
	element := func(id int, kind byte, _ int) (bool, error) {
		if id != fieldChildren || kind != int32Type {
			return false, nil
		}
		v, err := w.varint()
		children = int64(v>>1) ^ -int64(v&1)
		return true, err
	}
	return w.fields(1, func(id int, kind byte, _ int) (bool, error) {
		if id != fieldSchema || kind != listType {
			return false, nil
		}
		item, n, err := w.listHead()
		if err == nil && item != structType {
			err = errors.New("the footer's schema is no list of structs")
		}
		for ; err == nil && n > 0; n-- {
			children = 0
			if err = w.fields(2, element); err != nil {
				break
			}
			for len(open) > 0 && open[len(open)-1] <= 0 {
				open = open[:len(open)-1]
			}
			if len(open) > 0 {
				open[len(open)-1]--
			}
			if children > 0 {
				open = append(open, children)
			}
			if len(open) > maxLevels {
				err = fmt.Errorf("its columns nest deeper than %d", maxLevels)
			}
		}
		return true, err
	})
}

// Shallow is what is asked of a file before an engine that recurses opens it: that its columns do not nest so deep that they lead
// it out of its stack. Only a large footer is read. StorePartDamaged where they do, or where path is no Parquet file.
func Shallow(fsys vfs.FS, path string) error {
	f, err := open(fsys, path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := footerLength(f)
	if err != nil {
		return damaged(path, "has no readable footer").Wrap(err)
	}
	if n <= smallFooter {
		return nil
	}
	footer, _, err := readFooter(f)
	if err == nil {
		err = levelsWithin(footer)
	}
	if err != nil {
		return damaged(path, "has a footer that cannot be read").Wrap(err)
	}
	return nil
}
