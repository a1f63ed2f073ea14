package colfile

import (
	"errors"
	"fmt"
	"iter"
)

// Types of Thrift's compact protocol, as they stand in field headers. A boolean field carries its value there.
const (
	stop = iota
	boolTrue
	boolFalse
	int8Type
	int16Type
	int32Type
	int64Type
	doubleType
	binaryType
	listType
	setType
	mapType
	structType
	uuidType
)

// Places in FileMetaData that lead to the flag: FileMetaData.schema[].logicalType.TIMESTAMP.isAdjustedToUTC.
const (
	fieldSchema      = 2
	fieldLogicalType = 10
	fieldTimestamp   = 8
	fieldAdjusted    = 1
)

const maxThriftDepth = 32

var errShort = errors.New("the footer ends inside a value")

// walker reads compact Thrift within bounds: no input makes it read outside data, recurse deeper than maxThriftDepth or
// take more than one step per byte.
type walker struct {
	data []byte
	at   int
}

func (w *walker) byte() (byte, error) {
	if w.at >= len(w.data) {
		return 0, errShort
	}
	w.at++
	return w.data[w.at-1], nil
}

func (w *walker) varint() (uint64, error) {
	var v uint64
	for shift := uint(0); shift < 70; shift += 7 {
		b, err := w.byte()
		if err != nil {
			return 0, err
		}
		v |= uint64(b&0x7f) << min(shift, 63)
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, errors.New("a number in the footer does not end")
}

func (w *walker) skipBytes(n uint64) error {
	if n > uint64(len(w.data)-w.at) {
		return errShort
	}
	w.at += int(n)
	return nil
}

// field reads the next field header of a struct: its id, its type, and where the byte with the type stands.
func (w *walker) field(last int) (id int, kind byte, at int, err error) {
	at = w.at
	head, err := w.byte()
	if err != nil || head == stop {
		return 0, stop, at, err
	}
	kind = head & 0x0f
	if delta := int(head >> 4); delta != 0 {
		return last + delta, kind, at, nil
	}
	v, err := w.varint()
	return int(int16(v>>1) ^ -int16(v&1)), kind, at, err
}

func (w *walker) listHead() (kind byte, n uint64, err error) {
	head, err := w.byte()
	if err != nil {
		return 0, 0, err
	}
	if n = uint64(head >> 4); n == 15 {
		if n, err = w.varint(); err != nil {
			return 0, 0, err
		}
	}
	// Every element takes at least a byte, so a longer list is a lie that would cost time.
	if n > uint64(len(w.data)-w.at) {
		return 0, 0, errShort
	}
	return head & 0x0f, n, nil
}

// skip passes over a value of the given type; element tells a list's boolean, which is a byte, from a field's, which is none.
func (w *walker) skip(kind byte, element bool, depth int) error {
	if depth > maxThriftDepth {
		return fmt.Errorf("the footer nests deeper than %d", maxThriftDepth)
	}
	switch kind {
	case boolTrue, boolFalse:
		if element {
			return w.skipBytes(1)
		}
		return nil
	case int8Type:
		return w.skipBytes(1)
	case int16Type, int32Type, int64Type:
		_, err := w.varint()
		return err
	case doubleType:
		return w.skipBytes(8)
	case uuidType:
		return w.skipBytes(16)
	case binaryType:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skipBytes(n)
	case listType, setType:
		kind, n, err := w.listHead()
		for ; err == nil && n > 0; n-- {
			err = w.skip(kind, true, depth+1)
		}
		return err
	case mapType:
		return w.skipMap(depth)
	case structType:
		return w.fields(depth, func(id int, kind byte, at int) (bool, error) { return false, nil })
	}
	return fmt.Errorf("the footer holds the unknown type %d", kind)
}

func (w *walker) skipMap(depth int) error {
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := w.byte()
	if err != nil {
		return err
	}
	if n > uint64(len(w.data)-w.at) {
		return errShort
	}
	for ; n > 0; n-- {
		if err := w.skip(kinds>>4, true, depth+1); err != nil {
			return err
		}
		if err := w.skip(kinds&0x0f, true, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// fields walks a struct. visit says whether it consumed the field's value itself.
func (w *walker) fields(depth int, visit func(id int, kind byte, at int) (bool, error)) error {
	for id := 0; ; {
		next, kind, at, err := w.field(id)
		if err != nil || kind == stop {
			return err
		}
		id = next
		taken, err := visit(id, kind, at)
		if err == nil && !taken {
			err = w.skip(kind, false, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

// flagOffsets gives the place of each timestamp's isAdjustedToUTC, whose low four bits are 1 for true and 2 for false.
func flagOffsets(footer []byte) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		w := &walker{data: footer}
		var found []int
		timestamp := func(id int, kind byte, at int) (bool, error) {
			if id == fieldAdjusted && (kind == boolTrue || kind == boolFalse) {
				found = append(found, at)
			}
			return false, nil
		}
		logical := func(id int, kind byte, _ int) (bool, error) {
			if id != fieldTimestamp || kind != structType {
				return false, nil
			}
			return true, w.fields(4, timestamp)
		}
		element := func(id int, kind byte, _ int) (bool, error) {
			if id != fieldLogicalType || kind != structType {
				return false, nil
			}
			return true, w.fields(3, logical)
		}
		err := w.fields(1, func(id int, kind byte, _ int) (bool, error) {
			if id != fieldSchema || kind != listType {
				return false, nil
			}
			item, n, err := w.listHead()
			if err == nil && item != structType {
				err = errors.New("the footer's schema is no list of structs")
			}
			for ; err == nil && n > 0; n-- {
				err = w.fields(2, element)
			}
			return true, err
		})
		if err != nil {
			yield(0, err)
			return
		}
		for _, at := range found {
			if !yield(at, nil) {
				return
			}
		}
	}
}
