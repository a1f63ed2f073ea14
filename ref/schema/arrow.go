package schema

import (
	"fmt"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"

	"contextful/ref/fault"
)

// Extension names, carried as field metadata over plain storage: a reader without the extension still reads the values.
const (
	extensionKey  = "ARROW:extension:name"
	extensionJSON = "arrow.json"
	extensionVar  = "contextful.variant"
)

// variantStorage is what a variant column stores: the kind names the one field that is not null. bytes is padded base64.
func variantStorage() *arrow.StructType {
	return arrow.StructOf(
		arrow.Field{Name: "kind", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "string", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "int64", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "float64", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		arrow.Field{Name: "boolean", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		arrow.Field{Name: "bytes", Type: arrow.BinaryTypes.String, Nullable: true},
	)
}

// VariantFields is the struct that a variant is stored as.
func VariantFields() Type {
	t, _ := fromStruct(variantStorage(), "", 1) // which it holds
	return t
}

// TimestampType is how every instant is held: UTC nanoseconds.
func TimestampType() *arrow.TimestampType {
	return &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
}

// ArrowField is the type as an Arrow field: json and variant carry their extension name as metadata.
func (t Type) ArrowField(name string, nullable bool) arrow.Field {
	f := arrow.Field{Name: name, Nullable: nullable}
	switch t.Kind {
	case Boolean:
		f.Type = arrow.FixedWidthTypes.Boolean
	case Int32:
		f.Type = arrow.PrimitiveTypes.Int32
	case Int64:
		f.Type = arrow.PrimitiveTypes.Int64
	case Float64:
		f.Type = arrow.PrimitiveTypes.Float64
	case Utf8:
		f.Type = arrow.BinaryTypes.String
	case JSON:
		f.Type = arrow.BinaryTypes.String
		f.Metadata = arrow.NewMetadata([]string{extensionKey}, []string{extensionJSON})
	case Timestamp:
		f.Type = TimestampType()
	case Binary:
		f.Type = arrow.BinaryTypes.Binary
	case FixedBinary:
		f.Type = &arrow.FixedSizeBinaryType{ByteWidth: t.Width}
	case Vector32:
		f.Type = arrow.FixedSizeListOfField(int32(t.Dim), arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Float32})
	case Vector16:
		f.Type = arrow.FixedSizeListOfField(int32(t.Dim), arrow.Field{Name: "element", Type: arrow.FixedWidthTypes.Float16})
	case List:
		f.Type = arrow.ListOfField(t.Elem.ArrowField("element", true))
	case Map:
		f.Type = arrow.MapOfFields(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String}, t.Elem.ArrowField("value", true))
	case Struct:
		fields := make([]arrow.Field, len(t.Fields))
		for i, m := range t.Fields {
			fields[i] = m.Type.ArrowField(m.Name, true)
		}
		f.Type = arrow.StructOf(fields...)
	case Variant:
		f.Type = variantStorage()
		f.Metadata = arrow.NewMetadata([]string{extensionKey}, []string{extensionVar})
	default:
		f.Type = arrow.Null
	}
	return f
}

// Arrow is the schema as Arrow's, metadata included: what a part is written with and schema.json prints.
func (s *Schema) Arrow() *arrow.Schema {
	fields := make([]arrow.Field, len(s.Columns))
	for i, c := range s.Columns {
		f := c.Type.ArrowField(c.Name, c.Nullable)
		if len(c.Metadata) > 0 {
			all := cloneMap(c.Metadata)
			for j, k := range f.Metadata.Keys() {
				all[k] = f.Metadata.Values()[j]
			}
			f.Metadata = sortedMetadata(all)
		}
		fields[i] = f
	}
	if len(s.Metadata) == 0 {
		return arrow.NewSchema(fields, nil)
	}
	md := sortedMetadata(s.Metadata)
	return arrow.NewSchema(fields, &md)
}

func sortedMetadata(m map[string]string) arrow.Metadata {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = m[k]
	}
	return arrow.NewMetadata(keys, values)
}

// FromArrow reads an Arrow schema, such as that of a Parquet file. Storage that a type of the language holds without loss is
// widened to it: int8, int16, uint8, uint16 to int32; uint32, uint64 to int64 (a value past int64 is the reader's to refuse);
// float16, float32 to float64; any text encoding to utf8; timestamps of any unit, with or without a zone, to timestamp.
// Anything else (dates, times, decimals, unions …) is StoreUnsupported, naming the column. Two columns differing only in case
// are StoreColumnAmbiguous, a name that no column may have StoreInputMalformed.
func FromArrow(as *arrow.Schema) (*Schema, error) {
	s := &Schema{}
	seen := make(map[string]string, as.NumFields())
	for _, f := range as.Fields() {
		if why := CheckName(f.Name); why != "" {
			return nil, fault.New(fault.StoreInputMalformed, f.Name, fmt.Sprintf("the column name %q %s", f.Name, why))
		}
		if other, ok := seen[FoldName(f.Name)]; ok {
			return nil, ambiguous(other, f.Name)
		}
		seen[FoldName(f.Name)] = f.Name
		t, err := fromField(f, f.Name, 1)
		if err != nil {
			return nil, err
		}
		c := Column{Name: f.Name, Type: t, Nullable: f.Nullable}
		for i, k := range f.Metadata.Keys() {
			if k == extensionKey || k == "PARQUET:field_id" {
				continue
			}
			if c.Metadata == nil {
				c.Metadata = map[string]string{}
			}
			c.Metadata[k] = f.Metadata.Values()[i]
		}
		s.Columns = append(s.Columns, c)
	}
	md := as.Metadata()
	for i, k := range md.Keys() {
		if s.Metadata == nil {
			s.Metadata = map[string]string{}
		}
		s.Metadata[k] = md.Values()[i]
	}
	return s, nil
}

func extensionOf(f arrow.Field) string {
	if v, ok := f.Metadata.GetValue(extensionKey); ok {
		return v
	}
	if e, ok := f.Type.(arrow.ExtensionType); ok {
		return e.ExtensionName()
	}
	return ""
}

func fromField(f arrow.Field, path string, depth int) (Type, error) {
	ext := extensionOf(f)
	dt := f.Type
	if e, ok := dt.(arrow.ExtensionType); ok {
		dt = e.StorageType()
	}
	if d, ok := dt.(*arrow.DictionaryType); ok {
		dt = d.ValueType
	}
	if depth > MaxDepth {
		return Type{}, fault.New(fault.StoreUnsupported, path, fmt.Sprintf("column %q nests deeper than %d", path, MaxDepth))
	}
	if ext == extensionVar && arrow.TypeEqual(dt, variantStorage()) {
		return Of(Variant), nil
	}
	switch dt := dt.(type) {
	case *arrow.NullType:
		return Type{}, nil
	case *arrow.BooleanType:
		return Of(Boolean), nil
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Uint8Type, *arrow.Uint16Type:
		return Of(Int32), nil
	case *arrow.Int64Type, *arrow.Uint32Type, *arrow.Uint64Type:
		return Of(Int64), nil
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		return Of(Float64), nil
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		if ext == extensionJSON {
			return Of(JSON), nil
		}
		return Of(Utf8), nil
	case *arrow.TimestampType:
		return Of(Timestamp), nil
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return Of(Binary), nil
	case *arrow.FixedSizeBinaryType:
		if dt.ByteWidth >= 1 && dt.ByteWidth <= MaxWidth {
			return Type{Kind: FixedBinary, Width: dt.ByteWidth}, nil
		}
	case *arrow.FixedSizeListType:
		if n := int(dt.Len()); n >= 1 && n <= MaxDim {
			switch dt.Elem().ID() {
			case arrow.FLOAT32:
				return Type{Kind: Vector32, Dim: n}, nil
			case arrow.FLOAT16:
				return Type{Kind: Vector16, Dim: n}, nil
			}
		}
	case *arrow.MapType:
		if key, err := fromField(dt.KeyField(), path+"{key}", depth+1); err != nil || key.Kind != Utf8 {
			break
		}
		e, err := fromField(dt.ItemField(), path+"{}", depth+1)
		return Type{Kind: Map, Elem: &e}, err
	case *arrow.ListType:
		return fromList(dt.ElemField(), path, depth)
	case *arrow.LargeListType:
		return fromList(dt.ElemField(), path, depth)
	case *arrow.StructType:
		if dt.NumFields() > 0 {
			return fromStruct(dt, path, depth)
		}
	}
	return Type{}, fault.New(fault.StoreUnsupported, path, fmt.Sprintf("column %q has the type %s, which no column type holds", path, f.Type))
}

func fromList(elem arrow.Field, path string, depth int) (Type, error) {
	e, err := fromField(elem, path+"[]", depth+1)
	return Type{Kind: List, Elem: &e}, err
}

func fromStruct(dt *arrow.StructType, path string, depth int) (Type, error) {
	t := Type{Kind: Struct}
	seen := map[string]string{}
	for _, m := range dt.Fields() {
		at := path + "." + m.Name
		if why := CheckName(m.Name); why != "" {
			return Type{}, fault.New(fault.StoreInputMalformed, at, fmt.Sprintf("the field name %q %s", at, why))
		}
		if other, ok := seen[FoldName(m.Name)]; ok {
			return Type{}, ambiguous(path+"."+other, at)
		}
		seen[FoldName(m.Name)] = m.Name
		mt, err := fromField(m, at, depth+1)
		if err != nil {
			return Type{}, err
		}
		t.Fields = append(t.Fields, Field{m.Name, mt})
	}
	return t, nil
}
