package duck

import (
	"slices"

	"contextful/ref/manifest"
	"contextful/ref/schema"
)

// Reconstructed is the column that marks documents captured after a read's horizon.
const Reconstructed = "_available_reconstructed"

// Captured judges captured documents by the instant of their capture: those captured after At are in only where their score is 0, and
// Mark adds Reconstructed, true for them and false for the others. One that nobody says was captured by then counts as
// captured later, and one without a score as unscored. Clause: store.snapshot.post-horizon-capture.
type Captured struct {
	Column string
	At     manifest.Instant
	Score  string // a column of numbers, "" for none
	Mark   bool
}

func (c *Captured) apply(rel *Relation) {
	in := "false"
	if lookup(rel.Columns, c.Column) == schema.Timestamp {
		in = "COALESCE(" + Bound{Column: c.Column, At: c.At}.term(rel.Nanos[c.Column]) + ", false)"
	}
	admitted := in
	switch lookup(rel.Columns, c.Score) {
	case schema.Int32, schema.Int64, schema.Float64:
		admitted = "(" + in + " OR COALESCE(" + Ident(c.Score) + " = 0, false))"
	}
	mark := ""
	if c.Mark {
		mark = ", NOT " + in + " AS " + Ident(Reconstructed)
		rel.Columns = append(slices.Clone(rel.Columns), schema.Column{Name: Reconstructed, Type: schema.Of(schema.Boolean)})
		rel.Empty = "SELECT *, CAST(NULL AS BOOLEAN) AS " + Ident(Reconstructed) + " FROM (" + rel.Empty + ")"
	}
	rel.SQL = "SELECT *" + mark + " FROM (" + rel.SQL + ") WHERE " + admitted
}

func lookup(columns []schema.Column, name string) schema.Kind {
	typ, _ := (&schema.Schema{Columns: columns}).Lookup(name)
	return typ.Kind
}
