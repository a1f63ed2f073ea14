package land

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// A line of {} is cheap to send and dear to hold where a struct of thousands of fields is declared.
func TestBlocksAreCutByWhatTheirRowsHold(t *testing.T) {
	wide := schema.Type{Kind: schema.Struct}
	for i := range 2000 {
		wide.Fields = append(wide.Fields, schema.Field{Name: fmt.Sprintf("f%d", i), Type: schema.Of(schema.Int64)})
	}
	rs := newRules(nil, nil, map[string]schema.Type{"s": wide}, false)
	const rows = 3000
	// A blank line among the first block's rows moves the numbers of all that follow.
	text := "{\"s\":{}}\n\n" + strings.Repeat("{\"s\":{}}\n", rows-1)
	got, blocks, last := 0, 0, int64(0)
	err := jsonLines(strings.NewReader(text), "in", rs, jsonBlock)(context.Background(), func(b *block) error {
		if b.rows*len(wide.Fields) > blockCells {
			t.Errorf("a block of %d rows of %d fields", b.rows, len(wide.Fields))
		}
		got, blocks, last = got+b.rows, blocks+1, b.lineOf(b.rows-1)
		return nil
	})
	if err != nil || got != rows || blocks < 2 || last != rows+1 {
		t.Fatal(got, blocks, last, err)
	}
	bad := text + "{\"s\":{}} x\n"
	c := newCollector("in", rs, newSpool(t.TempDir(), 1<<30))
	err = jsonLines(bytes.NewReader([]byte(bad)), "in", rs, jsonBlock)(context.Background(), c.take)
	if fault.CodeOf(err) != fault.StoreInputMalformed || !strings.Contains(err.Error(), fmt.Sprintf("in:%d", rows+2)) {
		t.Fatal(err)
	}
}
