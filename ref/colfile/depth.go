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
	maxLevels     = 4 * schema.MaxDepth
	fieldChildren = 5
	fieldRows     = 3
)

// levelsWithin refuses a footer whose groups lie deeper than maxLevels.
func levelsWithin(footer []byte) error {
	_, err := walkFooter(footer)
	return err
}

// walkFooter is levelsWithin, and gives the number of rows that the footer promises, -1 where it says none.
func walkFooter(footer []byte) (rows int64, err error) {
	rows = -1
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
	err = w.fields(1, func(id int, kind byte, _ int) (bool, error) {
		if id == fieldRows && kind == int64Type {
			v, err := w.varint()
			rows = int64(v>>1) ^ -int64(v&1)
			return true, err
		}
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
	return rows, err
}

// Fits is what is asked of a file before an engine opens it: that its columns do not nest so deep that they lead one which recurses
// out of its stack, and that its footer promises the rows recorded of it, however many where rows is negative. StorePartDamaged
// where one of them is not so, or where path is no Parquet file.
func Fits(fsys vfs.FS, path string, rows int64) error {
	f, err := open(fsys, path)
	if err != nil {
		return err
	}
	defer f.Close()
	footer, _, err := readFooter(f)
	if err != nil {
		return damaged(path, "has no readable footer").Wrap(err)
	}
	promised, err := walkFooter(footer)
	if err != nil {
		return damaged(path, "has a footer that cannot be read").Wrap(err)
	}
	if rows >= 0 && promised != rows {
		return damaged(path, fmt.Sprintf("holds %d rows where %d were recorded", promised, rows))
	}
	return nil
}
