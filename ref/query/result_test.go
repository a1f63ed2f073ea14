package query

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"contextful/ref/duck"
)

// A small answer is held between its two readings; one whose few cells are large is read twice. Both print the same.
func TestAnswersAreHeldWhereTheyAreSmall(t *testing.T) {
	ctx := context.Background()
	for _, length := range []int{10, 3 << 20} {
		s, err := duck.Open(ctx, duck.Options{TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("SELECT i + 9007199254740990 AS n, [{'t': repeat('x', %d)}] AS large FROM range(3) r(i)", length)
		r, err := describe(ctx, s, "", text)
		if err == nil {
			err = r.run(ctx, "", text, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		e := newEncoder(JSON, &out)
		if err = r.write(ctx, e, true); err == nil {
			err = e.end(r.cut, Bounds{})
		}
		if err != nil {
			t.Fatal(err)
		}
		large := strings.Repeat("x", length)
		for _, n := range []string{`"9007199254740990"`, `"9007199254740991"`, `"9007199254740992"`} {
			if want := `[` + n + `,[{"t":"` + large + `"}]]`; strings.Count(out.String(), want) != 1 {
				t.Errorf("%d bytes: no row of %s in %.300s", length, n, out.String())
			}
		}
		if held := r.held != nil; held != (length == 10) {
			t.Errorf("%d bytes: held is %t", length, held)
		}
		s.Close()
	}
}
