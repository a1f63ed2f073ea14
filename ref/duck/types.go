package duck

import (
	"fmt"
	"slices"
	"strings"

	"contextful/ref/schema"
)

// SQLType is the type under which a column of type t is seen. fine: its timestamps are TIMESTAMP_NS, otherwise TIMESTAMPTZ.
// json is text of which every value is a document (group.raw); the engine's own json type would be parsed on every cast.
func SQLType(t schema.Type, fine bool) string { return sqlType(t, fine, false) }

// storedType is the type DuckDB reads from a part: as SQLType, but a vector is a list.
func storedType(t schema.Type, fine bool) string { return sqlType(t, fine, true) }

func sqlType(t schema.Type, fine, stored bool) string {
	switch t.Kind {
	case schema.Boolean:
		return "BOOLEAN"
	case schema.Int32:
		return "INTEGER"
	case schema.Int64:
		return "BIGINT"
	case schema.Float64:
		return "DOUBLE"
	case schema.Timestamp:
		if fine {
			return "TIMESTAMP_NS"
		}
		return "TIMESTAMPTZ"
	case schema.Binary, schema.FixedBinary:
		return "BLOB"
	case schema.Vector32, schema.Vector16:
		if stored {
			return "FLOAT[]"
		}
		return fmt.Sprintf("FLOAT[%d]", t.Dim)
	case schema.List:
		return sqlType(*t.Elem, fine, stored) + "[]"
	case schema.Map:
		return "MAP(VARCHAR, " + sqlType(*t.Elem, fine, stored) + ")"
	case schema.Struct:
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = Ident(f.Name) + " " + sqlType(f.Type, fine, stored)
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")"
	case schema.Variant:
		return `STRUCT("kind" VARCHAR, "string" VARCHAR, "int64" BIGINT, "float64" DOUBLE, "boolean" BOOLEAN, "bytes" VARCHAR)`
	}
	return "VARCHAR"
}

// hasTimestamp says whether a value of type t holds an instant at any depth.
func hasTimestamp(t schema.Type) bool {
	switch t.Kind {
	case schema.Timestamp:
		return true
	case schema.List, schema.Map:
		return hasTimestamp(*t.Elem)
	case schema.Struct:
		for _, f := range t.Fields {
			if hasTimestamp(f.Type) {
				return true
			}
		}
	}
	return false
}

// hasVector says whether a value of type t holds a vector at any depth.
func hasVector(t schema.Type) bool {
	switch t.Kind {
	case schema.Vector32, schema.Vector16:
		return true
	case schema.List, schema.Map:
		return hasVector(*t.Elem)
	case schema.Struct:
		return slices.ContainsFunc(t.Fields, func(f schema.Field) bool { return hasVector(f.Type) })
	}
	return false
}
