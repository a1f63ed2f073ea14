package colfile

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"

	"contextful/ref/fault"
	"contextful/ref/vfs"
)

func damaged(path, what string) *fault.Error {
	return fault.New(fault.StorePartDamaged, path, fmt.Sprintf("part %s %s", path, what))
}

// reader opens the Parquet footer of src. Every error is StorePartDamaged, naming path.
func reader(src parquet.ReaderAtSeeker, path string) (r *file.Reader, err error) {
	defer func() {
		if err != nil && fault.CodeOf(err) == "" {
			err = damaged(path, "cannot be read as Parquet").Wrap(err)
		}
	}()
	defer guard(&err)
	return readerOf(src)
}

type unclosable struct{ parquet.ReaderAtSeeker }

func open(fsys vfs.FS, path string) (vfs.File, error) {
	f, err := fsys.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged(path, "is missing").Wrap(err)
	}
	if err != nil {
		return nil, damaged(path, "cannot be opened").Wrap(err)
	}
	return f, nil
}

// Verify opens the part afresh and reports whether its footer is whole and it holds exactly rows rows, however many where rows is
// negative: its manifest does not say. Otherwise StorePartDamaged, naming the path and what was found.
func Verify(fsys vfs.FS, path string, rows int64) error {
	f, err := open(fsys, path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := reader(f, path)
	if err != nil {
		return err
	}
	defer r.Close()
	if rows < 0 {
		rows = r.NumRows()
	}
	if r.NumRows() != rows {
		return damaged(path, fmt.Sprintf("holds %d rows where %d were recorded", r.NumRows(), rows))
	}
	return rowGroupsHold(r, path, rows)
}

func rowGroupsHold(r *file.Reader, path string, rows int64) error {
	var sum int64
	for _, g := range r.MetaData().RowGroups {
		if g.NumRows < 0 {
			return damaged(path, fmt.Sprintf("has a row group of %d rows", g.NumRows))
		}
		sum += g.NumRows
	}
	if sum != rows {
		return damaged(path, fmt.Sprintf("promises %d rows and its row groups hold %d", rows, sum))
	}
	return nil
}

// Info is what a part's footer says.
type Info struct {
	Schema *arrow.Schema
	Rows   int64
	// Annotated names the columns (a.b for the field b of a) that carry Parquet's own JSON annotation: DuckDB gives those a type of its own, and reads no
	// list of files in which others hold the same column as plain text.
	Annotated []string
}

// ReadInfo gives a part's Arrow schema and row count, from its footer alone. Its json columns carry arrow.json where the writer
// said so (Parquet's JSON annotation or ARROW:schema; DuckDB's COPY of text says neither). StorePartDamaged where it cannot be read.
func ReadInfo(fsys vfs.FS, path string) (Info, error) {
	f, err := open(fsys, path)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	return infoOf(f, path)
}

func infoOf(src parquet.ReaderAtSeeker, path string) (info Info, err error) {
	r, err := reader(src, path)
	if err != nil {
		return info, err
	}
	defer r.Close()
	fr, err := arrowReader(r, path, 64<<10)
	if err != nil {
		return info, err
	}
	info.Rows = r.NumRows()
	for i := range r.MetaData().Schema.NumColumns() {
		c := r.MetaData().Schema.Column(i)
		if _, ok := c.LogicalType().(pqschema.JSONLogicalType); ok {
			info.Annotated = append(info.Annotated, c.Path())
		}
	}
	info.Schema, err = schemaOf(fr, path)
	return info, err
}

func schemaOf(fr *pqarrow.FileReader, path string) (sc *arrow.Schema, err error) {
	defer func() {
		if err != nil {
			err = damaged(path, "has a schema that cannot be read").Wrap(err)
		}
	}()
	defer guard(&err)
	if sc, err = fr.Schema(); err != nil {
		return nil, err
	}
	return withJSON(sc, fr), nil
}

// withJSON marks the json columns and the variants of a part, at every depth: the library forgets what ARROW:schema says of them,
// and reads text annotated JSON as bare bytes.
func withJSON(sc *arrow.Schema, fr *pqarrow.FileReader) *arrow.Schema {
	meta := fr.ParquetReader().MetaData()
	said := map[string]arrow.Field{}
	if text := meta.KeyValueMetadata().FindValue(arrowSchema); text != nil {
		if raw, err := base64.StdEncoding.DecodeString(*text); err == nil {
			// Metadata that cannot be read says nothing: the columns are the text they are stored as.
			if kept, err := flight.DeserializeSchema(raw, memory.DefaultAllocator); err == nil {
				for _, f := range kept.Fields() {
					said[f.Name] = f
				}
			}
		}
	}
	fields := sc.Fields()
	leaf := 0
	for i, f := range fields {
		if leaf < meta.Schema.NumColumns() {
			fields[i] = textField(f, meta.Schema.Column(leaf))
		}
		if kept, ok := said[f.Name]; ok {
			fields[i] = withExtension(fields[i], kept)
		}
		leaf += leafCount(f.Type)
	}
	md := sc.Metadata()
	return arrow.NewSchema(fields, &md)
}

const (
	extensionName = "ARROW:extension:name"
	jsonExtension = "arrow.json"
)

// withExtension takes over what kept, the field as its writer had it, says of f and of what lies in it.
func withExtension(f, kept arrow.Field) arrow.Field {
	name, _ := kept.Metadata.GetValue(extensionName)
	if e, ok := kept.Type.(arrow.ExtensionType); ok {
		name, kept.Type = e.ExtensionName(), e.StorageType()
	}
	if name == jsonExtension && f.Type.ID() == arrow.STRING || name != "" && f.Type.ID() == arrow.STRUCT {
		values := f.Metadata.ToMap()
		values[extensionName] = name
		f.Metadata = arrow.MetadataFrom(values)
	}
	switch t := f.Type.(type) {
	case *arrow.StructType:
		from, ok := kept.Type.(*arrow.StructType)
		if !ok || from.NumFields() != t.NumFields() {
			break
		}
		inner := t.Fields()
		for i := range inner {
			if inner[i].Name == from.Field(i).Name {
				inner[i] = withExtension(inner[i], from.Field(i))
			}
		}
		f.Type = arrow.StructOf(inner...)
	case *arrow.MapType:
		if from, ok := kept.Type.(*arrow.MapType); ok {
			f.Type = arrow.MapOfFields(t.KeyField(), withExtension(t.ItemField(), from.ItemField()))
		}
	case *arrow.ListType:
		if from, ok := kept.Type.(*arrow.ListType); ok {
			f.Type = arrow.ListOfField(withExtension(t.ElemField(), from.ElemField()))
		}
	}
	return f
}

func arrowReader(r *file.Reader, path string, batch int64) (fr *pqarrow.FileReader, err error) {
	defer func() {
		if err != nil {
			err = damaged(path, "cannot be read as Arrow").Wrap(err)
		}
	}()
	defer guard(&err)
	return pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: batch}, memory.DefaultAllocator)
}
