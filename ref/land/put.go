package land

import (
	"fmt"
	"math"
	"strconv"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// The put functions take one value of one row; a *rowError says why the column does not. literal is the value as its input
// writes it, nil where the input is typed.

func (c *column) putInt(row int, v int64, literal []byte) error {
	if c.mixes(schema.Int64) {
		return c.putMixed(row, schema.Int64, literal)
	}
	switch c.want {
	case schema.None, schema.Int64:
		if c.kind == schema.Float64 {
			return c.putFloatOfInt(row, v)
		}
		if c.kind != schema.Int64 {
			if err := c.settle(row, schema.Int64, string(literal)); err != nil {
				return err
			}
		}
		if (v > 1<<53 || v < -1<<53) && c.inexact < 0 && !exact(v) {
			c.inexact = row
		}
	case schema.Int32:
		if v != int64(int32(v)) {
			return c.refuse(row, schema.Int64, string(literal))
		}
		if err := c.settle(row, schema.Int32, ""); err != nil {
			return err
		}
	case schema.Float64:
		return c.putFloat(row, float64(v), literal)
	case schema.JSON:
		if literal == nil {
			literal = strconv.AppendInt(nil, v, 10)
		}
		return c.putJSON(row, literal)
	default:
		return c.refuse(row, schema.Int64, string(literal))
	}
	if c.n != row {
		c.pad(row)
	}
	c.ints = append(c.ints, v)
	c.value()
	return nil
}

func (c *column) putFloatOfInt(row int, v int64) error {
	if c.rule.key {
		return c.widened(row, schema.Of(schema.Float64), schema.Of(schema.Int64))
	}
	if !exact(v) {
		return c.loses(row)
	}
	c.pad(row)
	c.floats = append(c.floats, float64(v))
	c.value()
	return nil
}

// exact reports whether float64 holds v.
func exact(v int64) bool {
	f := float64(v)
	return f < math.MaxInt64 && int64(f) == v
}

func (c *column) putFloat(row int, v float64, literal []byte) error {
	if c.mixes(schema.Float64) {
		return c.putMixed(row, schema.Float64, literal)
	}
	switch c.want {
	case schema.None, schema.Float64:
	case schema.JSON:
		if literal == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			return c.refuse(row, schema.Float64, fmt.Sprint(v))
		}
		if literal == nil {
			literal = strconv.AppendFloat(nil, v, 'g', -1, 64)
		}
		return c.putJSON(row, literal)
	default:
		return c.refuse(row, schema.Float64, string(literal))
	}
	if c.kind != schema.Float64 {
		if err := c.settle(row, schema.Float64, string(literal)); err != nil {
			return err
		}
	}
	if c.n != row {
		c.pad(row)
	}
	c.floats = append(c.floats, v)
	c.value()
	return nil
}

func (c *column) putBool(row int, v bool) error {
	if c.mixes(schema.Boolean) {
		return c.putMixed(row, schema.Boolean, fmt.Appendf(nil, "%t", v))
	}
	if c.want == schema.JSON {
		return c.putJSON(row, fmt.Appendf(nil, "%t", v))
	}
	if c.want != schema.None && c.want != schema.Boolean {
		return c.refuse(row, schema.Boolean, fmt.Sprint(v))
	}
	if err := c.settle(row, schema.Boolean, fmt.Sprint(v)); err != nil {
		return err
	}
	c.pad(row)
	bit := byte(0)
	if v {
		bit = 1
	}
	c.bits = append(c.bits, bit)
	c.value()
	return nil
}

// putText takes valid UTF-8.
func (c *column) putText(row int, text []byte) error {
	if c.mixes(schema.Utf8) {
		return c.putMixed(row, schema.Utf8, quoteJSON(nil, text))
	}
	switch c.want {
	case schema.None, schema.Utf8:
		if c.kind == schema.JSON {
			c.plain()
			return c.putJSON(row, quoteJSON(nil, text))
		}
		if c.kind != schema.Utf8 {
			if err := c.settle(row, schema.Utf8, string(text)); err != nil {
				return err
			}
		}
	case schema.JSON:
		return c.putJSON(row, quoteJSON(nil, text))
	case schema.Float64:
		f, ok := wordFloat(text)
		if !ok {
			return c.refuse(row, schema.Utf8, string(text))
		}
		return c.putFloat(row, f, nil)
	case schema.Timestamp:
		at, err := parseTimestamp(text)
		if err == errNoInstant && c.rule.zone != nil {
			at, err = parseLocal(text, c.rule.zone)
		}
		if err == errNoInstant {
			return c.refuse(row, schema.Utf8, string(text))
		}
		if err != nil {
			return &rowError{code: fault.StoreInputMalformed, row: row, column: c.name, text: fmt.Sprintf("column %q: %s %s", c.name, clip(string(text)), err)}
		}
		return c.putInstant(row, at)
	case schema.Binary:
		raw, ok := decodeBase64(text)
		if !ok {
			err := c.refuse(row, schema.Utf8, string(text))
			if e, ok := err.(*rowError); ok {
				e.hint = base64Hint
			}
			return err
		}
		return c.putBytes(row, schema.Binary, raw)
	default:
		return c.refuse(row, schema.Utf8, string(text))
	}
	c.appendBytes(row, text)
	return nil
}

// putJSON takes one JSON document, already in its stored form.
func (c *column) putJSON(row int, text []byte) error {
	if c.want != schema.None && c.want != schema.JSON {
		return c.refuse(row, schema.JSON, string(text))
	}
	return c.putBytes(row, schema.JSON, text)
}

func (c *column) putBytes(row int, k schema.Kind, data []byte) error {
	if c.kind != k {
		if err := c.settle(row, k, string(data)); err != nil {
			return err
		}
	}
	c.appendBytes(row, data)
	return nil
}

func (c *column) appendBytes(row int, data []byte) {
	if c.n != row {
		c.pad(row)
	}
	c.data = append(c.data, data...)
	c.ends = append(c.ends, int32(len(c.data)))
	c.value()
}

func (c *column) putInstant(row int, nanos int64) error {
	if err := c.settle(row, schema.Timestamp, ""); err != nil {
		return err
	}
	c.pad(row)
	c.ints = append(c.ints, nanos)
	c.value()
	return nil
}
