package colfile

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// What a file may make this process allocate. A file comes from a bucket or a producer and is not trusted: the library
// allocates what footers and page headers promise before it looks whether the file holds it.
const (
	maxPage      = 256 << 20 // bytes of a page's data, uncompressed, at most
	minPage      = 16 << 20  // and at least, however small the file is
	pageGrowth   = 4 << 10   // by which factor a page may be larger than the whole file
	maxFixed     = 32 << 10  // bytes of a fixed_len_byte_array value
	maxDeltaRows = 1 << 16   // values of a block of packed differences
)

// readerOf opens src, whose footer is walked within its bounds first: a list longer than the bytes that are left, or a column
// chunk that lies outside the file, never reaches the library.
func readerOf(src parquet.ReaderAtSeeker) (*file.Reader, error) {
	boundCodecs()
	footer, at, err := readFooter(src)
	if err != nil {
		return nil, err
	}
	if err := (&walker{data: footer}).skip(structType, false, 0); err != nil {
		return nil, err
	}
	if err := levelsWithin(footer); err != nil {
		return nil, err
	}
	meta, err := metadata.NewFileMetaData(footer, nil)
	if err != nil {
		return nil, err
	}
	if err := arrowSchemaWithin(meta.KeyValueMetadata()); err != nil {
		return nil, err
	}
	size := at + int64(len(footer)) + 8
	meta.SetSourceFileSize(size)
	if err := chunksLieWithin(meta, at); err != nil {
		return nil, err
	}
	props := parquet.NewReaderProperties(memory.DefaultAllocator)
	props.MaxCompressedPageSize = size
	props.MaxUncompressedPageSize = pageLimit(size)
	// The library closes what can be closed; the caller owns src.
	return file.NewParquetReader(unclosable{src}, file.WithMetadata(meta), file.WithReadProps(props))
}

func pageLimit(fileSize int64) int64 {
	return min(max(fileSize*pageGrowth, minPage), maxPage)
}

// chunksLieWithin looks that every column chunk lies before end, where the footer begins, and that a column without
// repetition has as many values as its row group has rows.
func chunksLieWithin(meta *metadata.FileMetaData, end int64) error {
	if meta.NumRows < 0 {
		return fmt.Errorf("it promises %d rows", meta.NumRows)
	}
	columns := meta.Schema.NumColumns()
	for i := range meta.RowGroups {
		group := meta.RowGroup(i)
		if group.NumColumns() != columns {
			return fmt.Errorf("row group %d has %d columns of %d", i, group.NumColumns(), columns)
		}
		for k := range columns {
			c, err := group.ColumnChunk(k)
			if err != nil {
				return err
			}
			start, length := chunkRange(c)
			if start < 0 || length < 0 || start > end || length > end-start {
				return fmt.Errorf("a column chunk of %d bytes at %d does not lie within the %d bytes of data", length, start, end)
			}
			if n := c.NumValues(); n < 0 || n != group.NumRows() && meta.Schema.Column(k).MaxRepetitionLevel() == 0 {
				return fmt.Errorf("a column chunk promises %d values in a row group of %d rows", n, group.NumRows())
			}
		}
	}
	return nil
}

// chunkRange is where a chunk's pages lie.
func chunkRange(c *metadata.ColumnChunkMetaData) (start, length int64) {
	start = c.DataPageOffset()
	if d := c.DictionaryPageOffset(); c.HasDictionaryPage() && d > 0 && d < start {
		start = d
	}
	return start, c.TotalCompressedSize()
}
