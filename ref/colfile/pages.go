package colfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// Numbers of Parquet's Thrift definition.
const (
	pageData   = 0
	pageDataV2 = 3

	encodingRLE         = 3
	encodingBitPacked   = 4
	encodingDelta       = 5
	encodingDeltaLength = 6
	encodingDeltaText   = 7
)

// pageHeader is what is read of a page's header.
type pageHeader struct {
	kind, compressed, size   int64
	values, encoding, levels int64 // levels: the encoding of V1's definition levels
	repeats                  int64 // the encoding of V1's repetition levels
	definitions, repetitions int64 // bytes of V2's levels
	plainBody                bool  // V2: the values are not compressed
	headerBytes              int
}

// differencesWithin reads the page headers of one column chunk and, where a page holds packed differences, the size of its
// blocks: the library makes room for a whole block before it reads it, and a block may promise four thousand million values.
// Other pages are not opened.
func differencesWithin(src io.ReaderAt, r *file.Reader, group, column int) error {
	c, err := r.MetaData().RowGroup(group).ColumnChunk(column)
	if err != nil {
		return err
	}
	leaf := r.MetaData().Schema.Column(column)
	at, length := chunkRange(c)
	end := at + length
	for seen := int64(0); seen < c.NumValues() && at < end; {
		h, err := readPageHeader(io.NewSectionReader(src, at, end-at))
		if err != nil {
			return err
		}
		body := at + int64(h.headerBytes)
		if h.compressed < 0 || h.compressed > end-body || h.size < 0 || h.size > pageLimit(r.MetaData().GetSourceFileSize()) {
			return fmt.Errorf("a page of %d bytes, %d uncompressed, is larger than its file allows", h.compressed, h.size)
		}
		if h.kind == pageData || h.kind == pageDataV2 {
			if h.values < 0 {
				return errors.New("a page promises fewer than no values")
			}
			if seen += h.values; seen > c.NumValues() && leaf.MaxRepetitionLevel() > 0 {
				return fmt.Errorf("pages hold more than the %d items of their chunk", c.NumValues())
			}
			if h.values > maxPage/4 && h.encoding >= encodingDeltaLength && h.encoding <= encodingDeltaText {
				return fmt.Errorf("a page promises %d texts", h.values)
			}
			if h.encoding >= encodingDelta && h.encoding <= encodingDeltaText {
				data, err := h.body(src, body, c.Compression(), leaf.MaxRepetitionLevel(), leaf.MaxDefinitionLevel())
				if err == nil {
					err = blocksWithin(data, h.encoding == encodingDeltaText)
				}
				if err != nil {
					return err
				}
			}
		}
		at = body + h.compressed
	}
	return nil
}

// readPageHeader takes what a header needs, at first a little.
func readPageHeader(src *io.SectionReader) (*pageHeader, error) {
	for n := int64(512); ; n *= 8 {
		n = min(n, src.Size())
		data := make([]byte, n)
		if _, err := src.ReadAt(data, 0); err != nil && err != io.EOF {
			return nil, err
		}
		h, err := parsePageHeader(data)
		if err == nil || n == src.Size() || n >= maxPage || !errors.Is(err, errShort) {
			return h, err
		}
	}
}

func parsePageHeader(data []byte) (*pageHeader, error) {
	h := &pageHeader{}
	w := &walker{data: data}
	number := func(into *int64) (bool, error) {
		v, err := w.varint()
		*into = int64(v>>1) ^ -int64(v&1)
		return true, err
	}
	inner := func(fields map[int]*int64) (bool, error) {
		return true, w.fields(2, func(id int, kind byte, _ int) (bool, error) {
			if into := fields[id]; into != nil && (kind == int32Type || kind == int64Type || kind == int16Type) {
				return number(into)
			}
			if fields[6] != nil && id == 7 && (kind == boolTrue || kind == boolFalse) {
				h.plainBody = kind == boolFalse
			}
			return false, nil
		})
	}
	err := w.fields(1, func(id int, kind byte, _ int) (bool, error) {
		top := map[int]*int64{1: &h.kind, 2: &h.size, 3: &h.compressed}
		switch {
		case top[id] != nil && kind == int32Type:
			return number(top[id])
		case id == 5 && kind == structType:
			return inner(map[int]*int64{1: &h.values, 2: &h.encoding, 3: &h.levels, 4: &h.repeats})
		case id == 8 && kind == structType:
			return inner(map[int]*int64{1: &h.values, 4: &h.encoding, 5: &h.definitions, 6: &h.repetitions})
		}
		return false, nil
	})
	h.headerBytes = w.at
	return h, err
}

// body gives the encoded values of a page, behind its levels.
func (h *pageHeader) body(src io.ReaderAt, at int64, codec compress.Compression, maxRepetition, maxDefinition int16) ([]byte, error) {
	data := make([]byte, h.compressed)
	if _, err := src.ReadAt(data, at); err != nil {
		return nil, err
	}
	skip := int64(0)
	size := h.size
	if h.kind == pageDataV2 {
		skip = h.definitions + h.repetitions
		if h.definitions < 0 || h.repetitions < 0 || skip > int64(len(data)) || skip > size {
			return nil, errors.New("a page's levels are longer than the page")
		}
		data, size = data[skip:], size-skip
	}
	if codec != compress.Codecs.Uncompressed && !(h.kind == pageDataV2 && h.plainBody) {
		c, err := compress.GetCodec(codec)
		if err != nil {
			return nil, err
		}
		if data, err = compress.Decode(c, make([]byte, size), data); err != nil {
			return nil, err
		}
	}
	if h.kind == pageDataV2 {
		return data, nil
	}
	data, err := h.pastLevels(data, h.repeats, maxRepetition)
	if err != nil {
		return nil, err
	}
	return h.pastLevels(data, h.levels, maxDefinition)
}

// pastLevels gives what is behind the levels at the beginning of a V1 page.
func (h *pageHeader) pastLevels(data []byte, encoding int64, most int16) ([]byte, error) {
	if most == 0 {
		return data, nil
	}
	skip := int64(0)
	switch encoding {
	case encodingRLE:
		if len(data) < 4 {
			return nil, errShort
		}
		skip = 4 + int64(binary.LittleEndian.Uint32(data))
	case encodingBitPacked:
		skip = (h.values*int64(bits.Len16(uint16(most))) + 7) / 8
	}
	if skip > int64(len(data)) {
		return nil, errors.New("a page's levels are longer than the page")
	}
	return data[skip:], nil
}

// blocksWithin looks at the head of packed differences, and for texts with shared beginnings also at those of the endings,
// which follow.
func blocksWithin(data []byte, twice bool) error {
	w := &walker{data: data}
	block, minis, total, err := w.deltaHead()
	if err != nil || !twice {
		return err
	}
	for left := int64(total) - 1; left > 0; left -= int64(block) {
		if _, err := w.varint(); err != nil {
			return err
		}
		widths := w.at
		if err := w.skipBytes(minis); err != nil {
			return err
		}
		// Mini blocks behind the last value are not written.
		for i := int64(0); i < int64(minis) && i*int64(block/minis) < left; i++ {
			if err := w.skipBytes(uint64(w.data[widths+int(i)]) * (block / minis) / 8); err != nil {
				return err
			}
		}
	}
	_, _, _, err = w.deltaHead()
	return err
}

func (w *walker) deltaHead() (block, minis, total uint64, err error) {
	for _, into := range []*uint64{&block, &minis, &total} {
		if *into, err = w.varint(); err != nil {
			return
		}
	}
	if _, err = w.varint(); err != nil { // the first value
		return
	}
	if block == 0 || minis == 0 || block > maxDeltaRows || block%minis != 0 || total > 1<<32 {
		err = fmt.Errorf("a block of differences promises %d values in %d parts, of %d", block, minis, total)
	}
	return
}
