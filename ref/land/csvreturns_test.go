package land

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// Whatever stands in quotes comes out as it went in, wherever the input is cut.
func TestKeepReturns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.StringMatching(`[a"\r\n,]{0,6}`)
		var text strings.Builder
		var want [][]string
		for range rapid.IntRange(1, 4).Draw(t, "rows") {
			row := []string{field.Draw(t, "one"), field.Draw(t, "two")}
			want = append(want, row)
			for i, f := range row {
				text.WriteString([]string{"", ","}[i] + `"` + strings.ReplaceAll(f, `"`, `""`) + `"`)
			}
			text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"))
		}
		for _, in := range []io.Reader{strings.NewReader(text.String()), iotest.OneByteReader(strings.NewReader(text.String())), iotest.DataErrReader(strings.NewReader(text.String()))} {
			got, err := csv.NewReader(&keepReturns{in: in}).ReadAll()
			if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
				t.Fatalf("%q gives %q, %v", text.String(), got, err)
			}
		}
	})
}
