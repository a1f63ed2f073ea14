package duck

import (
	"fmt"

	"contextful/ref/schema"
)

// shape is what all files of one schema hold: the same columns in the same types and order. nil columns cannot be read as ours.
type shape struct{ columns *schema.Schema }

// shape is that of all files of a group; nil where they have several, or one that cannot be read as ours.
func (g *group) shape() *shape {
	for _, s := range g.shapes {
		if s != g.shapes[0] || s.columns == nil {
			return nil
		}
	}
	return g.shapes[0]
}

// has tells whether files of this shape hold every one of columns, by its very name and in its very type: then nothing need be said of
// the columns beside the files. Types that the engine may see in another way than we do are not looked into.
func (s *shape) has(columns []schema.Column) bool {
	if s == nil {
		return false
	}
	for _, c := range columns {
		i := s.columns.Index(c.Name)
		if i < 0 || s.columns.Columns[i].Name != c.Name || !c.Type.Scalar() || c.Type.Kind == schema.JSON || !s.columns.Columns[i].Type.Equal(c.Type) {
			return false
		}
	}
	return true
}

// read is the FROM of the group's files. A caller's statement goes by name all the same: its plan depends on the bounds of all
// columns in all files, which the engine then knows.
func (g *group) read() string {
	if !g.writes || g.shape() == nil {
		return ReadParquet(g.names)
	}
	return readAlike(g.names, g.rows)
}

// readAlike is ReadParquet for files of one schema, which hold so many rows together. Told to go by name, the engine would open every
// file to make one schema of theirs before it reads the first; told nothing of the rows, it would take all files for as long as that.
func readAlike(files []string, rows int64) string {
	return fmt.Sprintf("read_parquet(%s, union_by_name = false, hive_partitioning = false, explicit_cardinality = %d)", texts(files), max(rows, 1))
}
