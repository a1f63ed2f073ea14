package fold

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"contextful/ref/duck"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/schema"
)

// stage puts the rows to fold into stagedTable, sorted, partitions first, and tells where each partition's rows lie.
func (p *pass) stage(ctx context.Context) ([]rowRange, error) {
	var groups, texts []string
	for _, name := range p.view.Declaration.PartitionBy {
		if !p.has(name) {
			// No row has the column: all of them lie in the null partition.
			groups, texts = append(groups, "NULL"), append(texts, "NULL")
			continue
		}
		typ, _ := (&schema.Schema{Columns: p.rel.Columns}).Lookup(name)
		text, err := partitionText(p.columns[name], typ)
		if err != nil {
			return nil, fault.New(fault.StoreUnsupported, p.options.Table, fmt.Sprintf("partition_by column %q has type %s", name, typ)).Wrap(err)
		}
		groups, texts = append(groups, p.columns[name]), append(texts, text)
	}
	order := slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return g == "NULL" })
	for _, text := range texts {
		// Zero and negative zero are equal, and two values all the same.
		if text != "NULL" && !slices.Contains(order, text) {
			order = append(order, text)
		}
	}
	for _, name := range p.order() {
		if !slices.Contains(order, p.columns[name]) {
			order = append(order, p.columns[name])
		}
	}
	if !p.held {
		if err := p.holdAs(ctx, stagedTable, " ORDER BY "+strings.Join(order, ", ")); err != nil {
			return nil, err
		}
	} else {
		for _, text := range []string{"CREATE TEMP TABLE " + stagedTable + " AS SELECT * FROM " + deltaTable + " ORDER BY " + strings.Join(order, ", "), "DROP TABLE " + deltaTable} {
			if _, err := p.session.Exec(ctx, text); err != nil {
				return nil, err
			}
		}
	}
	found, err := p.ranges(ctx, texts)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		for j, value := range r.values {
			if typ, ok := (&schema.Schema{Columns: p.rel.Columns}).Lookup(p.view.Declaration.PartitionBy[j]); ok && value != nil {
				text := shown(*value, typ)
				r.values[j] = &text
			}
		}
	}
	return found, nil
}

// holdAs makes one of the engine's tables of the rows to fold.
func (p *pass) holdAs(ctx context.Context, table, suffix string) error {
	var in []string
	for _, c := range p.rel.Columns {
		in = append(in, duck.Ident(c.Name)+" AS "+p.columns[c.Name])
	}
	_, err := p.session.Exec(ctx, "CREATE TEMP TABLE "+table+" AS SELECT "+strings.Join(in, ", ")+" FROM ("+p.rel.SQL+")"+suffix)
	return err
}

// heldRows reads such a table under the columns' own names.
func (p *pass) heldRows(table string) string {
	var out []string
	for _, c := range p.rel.Columns {
		out = append(out, p.columns[c.Name]+" AS "+duck.Ident(c.Name))
	}
	return "SELECT " + strings.Join(out, ", ") + " FROM " + table
}

type rowRange struct {
	values   []*string
	from, to int64
}

// ranges finds where each partition's rows lie in the sorted table, and refuses where one is not a single range.
func (p *pass) ranges(ctx context.Context, texts []string) ([]rowRange, error) {
	list := strings.Join(texts, ", ")
	rows, err := p.session.Conn().QueryContext(ctx, "SELECT "+list+", min(rowid), max(rowid), count(*) FROM "+stagedTable+" GROUP BY "+positions(len(texts))+" ORDER BY min(rowid)")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []rowRange
	next := int64(0)
	for rows.Next() {
		r := rowRange{values: make([]*string, len(texts))}
		var count int64
		into := make([]any, 0, len(texts)+3)
		for i := range r.values {
			into = append(into, &r.values[i])
		}
		if err := rows.Scan(append(into, &r.from, &r.to, &count)...); err != nil {
			return nil, err
		}
		if r.from != next || r.to-r.from+1 != count {
			return nil, fault.New(fault.StoreWriteFailed, p.options.Table, "the sorted rows of a partition do not lie together")
		}
		next = r.to + 1
		found = append(found, r)
	}
	return found, rows.Err()
}

func positions(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(list, ", ")
}

// partitionText is the SQL that makes a partition value text without losing anything; shown finishes it.
func partitionText(column string, t schema.Type) (string, error) {
	switch t.Kind {
	case schema.Utf8, schema.JSON:
		return column, nil
	case schema.Boolean, schema.Int32, schema.Int64, schema.Float64:
		return "CAST(" + column + " AS VARCHAR)", nil
	case schema.Timestamp:
		return "CAST(epoch_ns(" + column + ") AS VARCHAR)", nil
	case schema.Binary:
		return "to_base64(" + column + ")", nil
	}
	return "", errors.New("no row can be told apart by it")
}

// shown prints a timestamp's nanoseconds as an instant; other texts stand as they are.
func shown(text string, t schema.Type) string {
	if t.Kind != schema.Timestamp {
		return text
	}
	nanos, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return text
	}
	return manifest.At(time.Unix(0, nanos)).String()
}
