package land

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkVintage lands into a vintage table that holds so many rows already, a hundred thousand in each run of a day, and says what
// of them was read under the lock.
//
//	release    the next day's rows, of every key
//	delivered  a thousand rows of an old day, as they are
//	random     a thousand new keys of no order, in a table without bloom filters; and with them
func BenchmarkVintage(b *testing.B) {
	const run = 100_000
	day := func(n int) string { return time.Date(2000, 1, 1+n, 0, 0, 0, 0, time.UTC).Format(time.RFC3339) }
	dated := func(day string, keys int) []byte {
		var buf bytes.Buffer
		for k := range keys {
			fmt.Fprintf(&buf, `{"k":"key-%06d","f":"%s","a":"%s","v":%d.25}`+"\n", k, day, day, k)
		}
		return buf.Bytes()
	}
	loose := func(seed, keys int) []byte {
		var buf bytes.Buffer
		for k := range keys {
			fmt.Fprintf(&buf, `{"k":"%016x","f":"%s","a":"%s","v":%d}`+"\n", uint64(seed*run+k)*0x9E3779B97F4A7C15, day(0), day(0), k)
		}
		return buf.Bytes()
	}
	const declared = "\n[[pipeline.tables]]\nname = \"t\"\nprimary_key = [\"k\"]\nbloom_filter = [%s]\n[pipeline.tables.valid_time]\nfrom = \"f\"\n[pipeline.tables.available_time]\ncolumn = \"a\"\n"
	for _, rows := range []int{1_000_000, 10_000_000} {
		for _, c := range []struct {
			name, bloom string
			stored, new func(i int) []byte
		}{
			{"release", "", func(i int) []byte { return dated(day(i), run) }, func(i int) []byte { return dated(day(20_000+i), run) }},
			{"delivered", "", func(i int) []byte { return dated(day(i), run) }, func(i int) []byte { return dated(day(3), 1000) }},
			{"random", "", func(i int) []byte { return loose(i, run) }, func(i int) []byte { return loose(1_000_000+i, 1000) }},
			{"random-bloom", `"k"`, func(i int) []byte { return loose(i, run) }, func(i int) []byte { return loose(1_000_000+i, 1000) }},
		} {
			b.Run(fmt.Sprintf("%dM/%s", rows/1_000_000, c.name), func(b *testing.B) {
				s := openStore(b, fmt.Sprintf(declared, c.bloom))
				land := func(run string, rows []byte) Report {
					r, err := Run(context.Background(), s, Options{Table: "t", Input: bytes.NewReader(rows), RunID: run, SiteID: "s", InputName: "in"})
					if err != nil {
						b.Fatal(err)
					}
					return r
				}
				for i := range rows / run {
					land(fmt.Sprintf("stored%05d", i), c.stored(i))
				}
				measure(b, land, c.new)
			})
		}
	}
}

// measure lands new rows and counts what the comparison read.
func measure(b *testing.B, land func(string, []byte) Report, rows func(int) []byte) {
	var all Compared
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		input := rows(i)
		b.StartTimer()
		r := land(fmt.Sprintf("new%05d", i), input)
		all.Groups, all.GroupsRead, all.BytesRead = all.Groups+r.Compared.Groups, all.GroupsRead+r.Compared.GroupsRead, all.BytesRead+r.Compared.BytesRead
	}
	n := float64(b.N)
	b.ReportMetric(float64(all.Groups)/n, "groups/op")
	b.ReportMetric(float64(all.GroupsRead)/n, "read/op")
	b.ReportMetric(float64(all.BytesRead)/n/1e6, "MBread/op")
}
