package decl

import (
	"slices"
	"time"
	// A zone must mean the same on a machine without a zone database.
	_ "time/tzdata"

	"contextful/ref/schema"
)

// ValidTime is [pipeline.tables.valid_time]: the timestamp columns bounding when a fact held, half open; To may be empty.
type ValidTime struct{ From, To string }

// AvailableTime is [pipeline.tables.available_time]. Clause: store.available-time.declaration.
type AvailableTime struct {
	Column      string // a timestamp column: when the source released the row
	Zone        string // IANA name of the zone in which a value without an offset is read; default UTC
	LiveSince   string // RFC 3339, or ""
	Adjustments []Adjustment
}

// Location is Zone, which the declaration was checked to name.
func (a *AvailableTime) Location() *time.Location {
	l, err := location(a.Zone)
	if err != nil {
		return time.UTC
	}
	return l
}

// Adjustment is one [[pipeline.tables.available_time.adjustments]]: under an availability bound every one of Columns is
// multiplied by the product of the factors of Table whose On columns equal the row's, that were available by the bound, and
// whose Effective instant is after the row's start of validity. Clause: store.available-time.adjustments.
type Adjustment struct {
	Table     string
	Columns   []string
	Factor    string // column of Table
	Effective string // timestamp column of Table
	On        []string
}

type validDoc struct {
	From string `toml:"from"`
	To   string `toml:"to"`
}

type availableDoc struct {
	Column      string          `toml:"column"`
	Zone        string          `toml:"zone"`
	LiveSince   string          `toml:"live_since"`
	Adjustments []adjustmentDoc `toml:"adjustments"`
}

type adjustmentDoc struct {
	Table     string   `toml:"table"`
	Columns   []string `toml:"columns"`
	Factor    string   `toml:"factor"`
	Effective string   `toml:"effective"`
	On        []string `toml:"on"`
}

// addClocks reads valid_time and available_time. Their columns are timestamps by this declaration.
func addClocks(t *Table, doc *tableDoc, bad func(string, ...any) error) error {
	if v := doc.ValidTime; v != nil {
		if v.From == "" || v.From == v.To || ours(v.From) || ours(v.To) {
			return bad("valid_time needs from, and a to that differs from it, neither of them reserved")
		}
		t.ValidTime = &ValidTime{From: v.From, To: v.To}
		for _, c := range []struct{ key, column string }{{"valid_time.from", v.From}, {"valid_time.to", v.To}} {
			if err := t.instant(c.key, c.column, bad); err != nil {
				return err
			}
		}
	}
	a := doc.AvailableTime
	if a == nil {
		return nil
	}
	if a.Column == "" || ours(a.Column) {
		return bad("available_time needs column, not a reserved one")
	}
	if err := t.instant("available_time.column", a.Column, bad); err != nil {
		return err
	}
	if a.LiveSince != "" {
		if _, err := time.Parse(time.RFC3339Nano, a.LiveSince); err != nil {
			return bad("available_time live_since %q is no RFC 3339 instant", a.LiveSince)
		}
	}
	if a.Zone == "" {
		a.Zone = "UTC"
	}
	if _, err := location(a.Zone); err != nil {
		return bad("available_time zone %q is no IANA time zone, such as \"Europe/Berlin\"", a.Zone)
	}
	t.AvailableTime = &AvailableTime{Column: a.Column, Zone: a.Zone, LiveSince: a.LiveSince}
	for i, d := range a.Adjustments {
		if err := t.adjust(i, d, bad); err != nil {
			return err
		}
	}
	return nil
}

// location looks a zone up; the machine's own is none a declaration can mean.
func location(zone string) (*time.Location, error) {
	if zone == "Local" {
		zone = "no/Local"
	}
	return time.LoadLocation(zone)
}

// instant declares a column a timestamp, or refuses where it is declared something else.
func (t *Table) instant(key, column string, bad func(string, ...any) error) error {
	if column == "" {
		return nil
	}
	if why := schema.CheckName(column); why != "" {
		return bad("%s names the column %q, which %s", key, column, why)
	}
	for name, typ := range t.Columns {
		switch {
		case name != column && schema.FoldName(name) == schema.FoldName(column):
			return bad("%s names %q and columns names %q", key, column, name)
		case name == column && typ.Kind != schema.Timestamp:
			return bad("%s names %q, which is declared %s; it must be a timestamp", key, column, typ)
		}
	}
	if t.Columns == nil {
		t.Columns = map[string]schema.Type{}
	}
	t.Columns[column] = schema.Of(schema.Timestamp)
	return nil
}

func (t *Table) adjust(i int, d adjustmentDoc, bad func(string, ...any) error) error {
	in := func(format string, args ...any) error {
		return bad("available_time adjustments number %d "+format, append([]any{i + 1}, args...)...)
	}
	switch {
	case d.Table == "" || d.Factor == "" || d.Effective == "" || len(d.Columns) == 0 || len(d.On) == 0:
		return in("needs table, columns, factor, effective and on")
	case d.Table == t.Name:
		return in("takes its factors from the table itself")
	case t.ValidTime == nil:
		return in("compares with the start of validity, and the table declares no valid_time")
	}
	for _, name := range d.Columns {
		typ, declared := t.Columns[name]
		switch {
		case ours(name) || name == t.OrderBy || slices.Contains(t.DedupKey(), name):
			return in("multiplies %q, which tells rows apart or orders them", name)
		case declared && typ.Kind != schema.Float64 && typ.Kind != schema.Int64 && typ.Kind != schema.Int32:
			return in("multiplies %q, which is declared %s", name, typ)
		}
	}
	t.AvailableTime.Adjustments = append(t.AvailableTime.Adjustments, Adjustment(d))
	return nil
}
