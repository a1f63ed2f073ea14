package colfile

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// A footer's ARROW:schema is a flatbuffer, in which a vector says how long it is and tables may be pointed at more than once: the
// library makes room for all of it first. It is walked here before, within these bounds.
const (
	maxArrowFields = 1 << 18 // fields in all, at every depth
	maxArrowDepth  = 4 * 16
)

// Places in Arrow's flatbuffers (Message.fbs, Schema.fbs).
const (
	messageHeader  = 8
	messageBody    = 10
	schemaFields   = 6
	schemaMetadata = 8
	fieldName      = 4
	fieldTypeKind  = 8
	fieldType      = 10
	fieldChildList = 14
	fieldMetadata  = 16
	typeTimestamp  = 10
	timestampZone  = 6
	typeUnion      = 14
	pairKey        = 4
	pairValue      = 6
)

// arrowSchemaWithin refuses a footer whose ARROW:schema would have the library allocate far more than the footer holds. Text that is no
// such thing at all is the library's to refuse.
func arrowSchemaWithin(meta metadata.KeyValueMetadata) (err error) {
	text := meta.FindValue("ARROW:schema")
	if text == nil {
		return nil
	}
	defer guard(&err)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
		raw, err := encoding.DecodeString(*text)
		if err != nil || len(raw) < 8 {
			continue
		}
		if err := schemaMessageWithin(raw); err != nil {
			return fmt.Errorf("its ARROW:schema: %w", err)
		}
	}
	return nil
}

func schemaMessageWithin(raw []byte) error {
	length := binary.LittleEndian.Uint32(raw)
	rest := raw[4:]
	if length == 0xffffffff {
		length, rest = binary.LittleEndian.Uint32(rest), rest[4:]
	}
	if length < 4 || int64(length) > int64(len(rest)) {
		return fmt.Errorf("a message of %d bytes in %d", length, len(rest))
	}
	b := flat(rest[:length])
	root := int(b.u32(0))
	if at := b.slot(root, messageBody); at > 0 && binary.LittleEndian.Uint64(b[at:]) != 0 {
		return errors.New("a schema with a body")
	}
	header := b.slot(root, messageHeader)
	if header == 0 {
		return errors.New("a message without a schema")
	}
	w := &arrowWalk{flat: b}
	schema := header + int(b.u32(header))
	if err := w.pairs(schema, schemaMetadata); err != nil {
		return err
	}
	return w.fields(schema, schemaFields, 1)
}

// flat is a flatbuffer. Reading outside of it panics.
type flat []byte

func (b flat) u32(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

// slot is where a table's field lies, 0 where it has none.
func (b flat) slot(table, field int) int {
	vtable := table - int(int32(b.u32(table)))
	if field >= int(binary.LittleEndian.Uint16(b[vtable:])) {
		return 0
	}
	if off := int(binary.LittleEndian.Uint16(b[vtable+field:])); off > 0 {
		return table + off
	}
	return 0
}

type arrowWalk struct {
	flat
	seen  int
	texts int // bytes of text that would be copied
}

// text counts the bytes of a table's text.
func (w *arrowWalk) text(table, field int) error {
	at := w.slot(table, field)
	if at == 0 {
		return nil
	}
	at += int(w.u32(at))
	if w.texts += int(w.u32(at)); w.texts > 2*len(w.flat) {
		return errors.New("its texts are longer than it is")
	}
	return nil
}

// pairs counts the bytes of a list of keys and values.
func (w *arrowWalk) pairs(table, field int) error {
	at, n, err := w.vector(table, field)
	for i := 0; i < n && err == nil; i++ {
		pair := at + 4*i
		pair += int(w.u32(pair))
		if err = w.text(pair, pairKey); err == nil {
			err = w.text(pair, pairValue)
		}
	}
	return err
}

// vector is where a table's list of tables begins, and its length.
func (w *arrowWalk) vector(table, field int) (at, n int, err error) {
	if at = w.slot(table, field); at == 0 {
		return 0, 0, nil
	}
	at += int(w.u32(at))
	n = int(w.u32(at))
	if n > (len(w.flat)-at-4)/4 {
		return 0, 0, fmt.Errorf("a list promises %d entries", n)
	}
	return at + 4, n, nil
}

func (w *arrowWalk) fields(table, field, depth int) error {
	at, n, err := w.vector(table, field)
	if err != nil {
		return err
	}
	if depth > maxArrowDepth {
		return fmt.Errorf("fields nest deeper than %d", maxArrowDepth)
	}
	for i := range n {
		if w.seen++; w.seen > maxArrowFields {
			return fmt.Errorf("more than %d fields", maxArrowFields)
		}
		f := at + 4*i
		f += int(w.u32(f))
		if err := w.text(f, fieldName); err != nil {
			return err
		}
		if kind := w.slot(f, fieldTypeKind); kind > 0 {
			switch at := w.slot(f, fieldType); {
			case w.flat[kind] == typeUnion:
				return errors.New("a union")
			case w.flat[kind] == typeTimestamp && at > 0:
				if err := w.text(at+int(w.u32(at)), timestampZone); err != nil {
					return err
				}
			}
		}
		if err := w.pairs(f, fieldMetadata); err != nil {
			return err
		}
		if err := w.fields(f, fieldChildList, depth+1); err != nil {
			return err
		}
	}
	return nil
}
