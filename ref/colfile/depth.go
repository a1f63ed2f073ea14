package colfile

import (
	"errors"
	"fmt"

	"contextful/ref/schema"
	"contextful/ref/vfs"

	"github.com/apache/arrow-go/v18/parquet"
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

// walkFooter is levelsWithin, and gives what the footer tells on the way: -1 rows where it says none.
func walkFooter(footer []byte) (g Glance, err error) {
	g.Rows = -1
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
			g.Rows = int64(v>>1) ^ -int64(v&1)
			return true, err
		}
		if id != fieldSchema || kind != listType {
			return false, nil
		}
		from := w.at
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
		g.Schema = string(footer[from:w.at])
		return true, err
	})
	return g, err
}

// Glance is what one look at a file's footer tells.
type Glance struct {
	Rows int64 // that it promises
	Size int64 // of the file, in bytes
	// Schema are the bytes of its columns in the footer: files that have the same hold the same columns in the same types and order.
	Schema string
}

// Fits is what is asked of a file before an engine opens it: that its columns do not nest so deep that they lead one which recurses
// out of its stack, and that its footer promises the rows recorded of it, however many where rows is negative. The footer is read
// once, and nothing else. StorePartDamaged where one of them is not so, or where path is no Parquet file.
func Fits(fsys vfs.FS, path string, rows int64) (Glance, error) {
	f, err := open(fsys, path)
	if err != nil {
		return Glance{}, err
	}
	defer f.Close()
	return FitsIn(f, path, rows)
}

// FitsIn is Fits for what is open already, and named path in refusals.
func FitsIn(src parquet.ReaderAtSeeker, path string, rows int64) (Glance, error) {
	footer, at, err := readFooter(src)
	if err != nil {
		return Glance{}, damaged(path, "has no readable footer").Wrap(err)
	}
	g, err := walkFooter(footer)
	if err != nil {
		return Glance{}, damaged(path, "has a footer that cannot be read").Wrap(err)
	}
	if rows >= 0 && g.Rows != rows {
		return Glance{}, damaged(path, fmt.Sprintf("holds %d rows where %d were recorded", g.Rows, rows))
	}
	g.Size = at + int64(len(footer)) + 8
	return g, nil
}
