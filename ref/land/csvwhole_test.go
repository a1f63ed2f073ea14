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
func TestWholeCSV(t *testing.T) {
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
			got, err := csv.NewReader(&wholeCSV{in: in}).ReadAll()
			if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
				t.Fatalf("%q gives %q, %v", text.String(), got, err)
			}
		}
	})
}

// Under one column every line is a row, wherever the input is cut; under several an empty line is none.
func TestEmptyLinesOfCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 2).Draw(t, "columns")
		end := func() string { return rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end") }
		var text strings.Builder
		for range rapid.IntRange(0, 2).Draw(t, "before the header") {
			text.WriteString(end())
		}
		text.WriteString([]string{`"v,w"`, "v,w"}[columns-1] + end())
		want := 0
		for range rapid.IntRange(0, 6).Draw(t, "lines") {
			line := rapid.SampledFrom([]string{"", "x", `""`, "\"\n\n\"", "\"\r\n\r\n\r\"", " "}).Draw(t, "line")
			if line != "" && columns == 2 {
				line += ",y"
			}
			text.WriteString(line + end())
			if line != "" || columns == 1 {
				want++
			}
		}
		for _, in := range []io.Reader{strings.NewReader(text.String()), iotest.OneByteReader(strings.NewReader(text.String())), iotest.DataErrReader(strings.NewReader(text.String()))} {
			got, err := csv.NewReader(&wholeCSV{in: in}).ReadAll()
			if err != nil || len(got) != want+1 {
				t.Fatalf("%q gives %q, %v; want %d rows", text.String(), got, err, want)
			}
		}
	})
}
