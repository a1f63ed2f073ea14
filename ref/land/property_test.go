package land

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// digestOf runs the first pass over rows cut into blocks of about size bytes, keeping at most held bytes in memory.
func digestOf(t *rapid.T, dir string, rows []byte, size int, held int64) (string, string, error) {
	rs := newRules(nil, nil, nil, false)
	sp := newSpool(dir, held)
	defer sp.close()
	c := newCollector("in", rs, sp)
	if err := jsonLines(bytes.NewReader(rows), "in", rs, size)(context.Background(), c.take); err != nil {
		return "", "", err
	}
	d, err := c.digest(nil)
	if err != nil {
		t.Fatal(err)
	}
	var types strings.Builder
	for _, col := range c.columns {
		fmt.Fprintf(&types, "%s %s, ", col.name, col.typ)
	}
	n := 0
	err = sp.each(func(p piece) error {
		n += p.rows
		for _, v := range p.values {
			if v.Len() != p.rows {
				t.Fatalf("a column of %d values in %d rows", v.Len(), p.rows)
			}
		}
		return nil
	})
	if err != nil || int64(n) != c.rows {
		t.Fatal(n, c.rows, err)
	}
	return d, types.String(), nil
}

type member struct{ name, value string }

func genRow(t *rapid.T) []member {
	var row []member
	for _, name := range []string{"a", "b", "c", "d é", "e", "f"} {
		var value string
		switch rapid.IntRange(0, 2).Draw(t, name) {
		case 0:
			continue
		case 1:
			value = "null"
		default:
			switch name {
			case "a":
				value = fmt.Sprint(rapid.Int64().Draw(t, "int"))
			case "b":
				value = rapid.SampledFrom([]string{"1", "0.5", "-0.0", "2", "1e3", "-7"}).Draw(t, "number")
			case "c":
				value = rapid.SampledFrom([]string{`""`, `"x"`, `"a\nb"`, `"\u00e9"`, `"` + strings.Repeat("long ", 30) + `"`}).Draw(t, "text")
			case "f":
				value = rapid.SampledFrom([]string{`"x"`, `"\u001f\"{}"`, `""`, `{}`, `[1]`}).Draw(t, "text or json")
			case "d é":
				value = rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
			default:
				value = rapid.SampledFrom([]string{`{"x":1,"y":[1,2]}`, `[]`, `{}`, `[{"k":null}]`}).Draw(t, "nested")
			}
		}
		row = append(row, member{name, value})
	}
	return row
}

func printRows(rows [][]member) []byte {
	var b bytes.Buffer
	for _, row := range rows {
		b.WriteByte('{')
		for i, m := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%q: %s", m.name, m.value)
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

// The digest depends on rows and types alone: not on blocks, key order, null members, or where the spool lies.
func TestDigestIsCanonical(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(genRow), 1, 40).Draw(t, "rows")
		data := printRows(rows)
		want, types, err := digestOf(t, dir, data, 1<<20, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		size := rapid.SampledFrom([]int{1, 7, 50, 300, 5000}).Draw(t, "block")
		got, gotTypes, err := digestOf(t, dir, data, size, int64(rapid.IntRange(0, 2000).Draw(t, "memory")))
		if err != nil || got != want || gotTypes != types {
			t.Fatalf("in blocks of %d: %s %s %v, whole: %s %s", size, got, gotTypes, err, want, types)
		}
		var shuffled [][]member
		for _, row := range rows {
			r := rapid.Permutation(row).Draw(t, "order")
			kept := r[:0:0]
			for _, m := range r {
				if m.value != "null" || rapid.Bool().Draw(t, "keep") {
					kept = append(kept, m)
				}
			}
			shuffled = append(shuffled, kept)
		}
		if got, _, err := digestOf(t, dir, printRows(shuffled), size, 1<<30); err != nil || got != want {
			t.Fatalf("shuffled: %s %v, want %s", got, err, want)
		}
		if i := rapid.IntRange(0, len(rows)-1).Draw(t, "row"); len(rows) > 0 {
			changed := append([][]member(nil), rows...)
			changed[i] = append([]member{{"extra", "1"}}, changed[i]...)
			if got, _, err := digestOf(t, dir, printRows(changed), size, 1<<30); err != nil || got == want {
				t.Fatalf("another row and the same digest: %v", err)
			}
		}
	})
}

// FuzzRows holds the scanner against a strict JSON reader: a line is accepted exactly when it is one object of valid JSON, and
// every value comes out as it stands there.
func FuzzRows(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `{"a":-0.5e+3,"b":"\ud83d\ude00"}`, `{"a":{"b":[1,{"c":null}]},"d":true}`, `{"a":1,"a":2}`, ` { "x" : null } `, "{\"k\\u0061\":\"\xff\"}", `[]`, `{"a":01}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		var b *block
		rowsOf(rules{}, line, 1, func(only *block) bool { b = only; return true })
		if blank(line) {
			if b.rows != 0 || b.err != nil {
				t.Fatal(b.rows, b.err)
			}
			return
		}
		v := jsontext.Value(bytes.Clone(line))
		object := v.IsValid() && v.Kind() == '{'
		if b.err == nil && !object {
			t.Fatalf("accepted %q", line)
		}
		if b.err != nil {
			if e := b.err.(*rowError); e.code == fault.StoreInputMalformed && object && !excused(line, e.text) {
				t.Fatalf("refused %q: %v", line, b.err)
			}
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(line, &members); err != nil {
			t.Fatal(err)
		}
		for _, c := range b.columns {
			raw := members[c.name]
			if c.typ.Kind == schema.Utf8 {
				var want string
				if err := json.Unmarshal(raw, &want); err != nil || cell(c.values, 0) != want || !utf8.ValidString(want) {
					t.Fatalf("%q became %q, %v", raw, cell(c.values, 0), err)
				}
			}
			delete(members, c.name)
		}
		for name, raw := range members {
			if string(raw) != "null" && !newRules(nil, nil, nil, false).of(name).skip {
				t.Fatalf("%q lost %q", line, name)
			}
		}
	})
}

// excused are the rows that are valid JSON and still refused.
func excused(line []byte, why string) bool {
	for _, s := range []string{"column name", "range of", "nests deeper", "more than"} {
		if strings.Contains(why, s) {
			return true
		}
	}
	return false
}

// FuzzCSV: no input panics, and what is accepted has a value or null for each field.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n1,2\n"), true)
	f.Add([]byte("a\n\"x\"\"y\"\n\n\"\n"), false)
	f.Fuzz(func(t *testing.T, data []byte, typed bool) {
		rs := newRules(nil, nil, nil, false)
		if typed {
			rs = newRules(nil, nil, map[string]schema.Type{"a": schema.Of(schema.Int64), "b": schema.Of(schema.Timestamp), "c": schema.Of(schema.JSON)}, false)
		}
		sp := newSpool(t.TempDir(), 1<<30)
		c := newCollector("in", rs, sp)
		if err := csvLines(bytes.NewReader(data), "in", rs)(context.Background(), c.take); err != nil {
			if fault.CodeOf(err) == "" {
				t.Fatalf("%v has no code", err)
			}
			return
		}
		if _, err := c.digest(nil); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTimestampAgainstTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nanos := rapid.Int64().Draw(t, "nanos")
		text := instantText(nanos)
		got, err := parseTimestamp([]byte(text))
		if err != nil || got != nanos {
			t.Fatalf("%s is %d, read as %d, %v", text, nanos, got, err)
		}
	})
}

func TestFloatAgainstStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,12})?(e[+-]?[0-9]{1,2})?`).Draw(t, "number")
		end, _, ok := number([]byte(text), 0)
		if !ok || end != len(text) {
			t.Fatalf("%s is no number", text)
		}
		var want float64
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if got, err := parseFloat([]byte(text)); err != nil || got != want {
			t.Fatalf("%s reads as %v, want %v, %v", text, got, want, err)
		}
	})
}
