package land

import (
	"testing"
	"time"

	"contextful/ref/fault"
	"contextful/ref/manifest"
)

func TestParseLocal(t *testing.T) {
	for _, c := range []struct{ zone, text, want string }{
		{"UTC", "2021-07-01T00:00:00", "2021-07-01T00:00:00.000000000Z"},
		{"Europe/Berlin", "2021-01-01T00:00:00", "2020-12-31T23:00:00.000000000Z"},
		{"Europe/Berlin", "2021-07-01T00:00:00.000000001", "2021-06-30T22:00:00.000000001Z"},
		{"Europe/Berlin", "2021-03-28T01:59:59.999999999", "2021-03-28T00:59:59.999999999Z"},
		{"Europe/Berlin", "2021-03-28T02:00:00", ""},
		{"Europe/Berlin", "2021-03-28T02:59:59", ""},
		{"Europe/Berlin", "2021-03-28T03:00:00", "2021-03-28T01:00:00.000000000Z"},
		{"Europe/Berlin", "2021-10-31T01:59:59", "2021-10-30T23:59:59.000000000Z"},
		{"Europe/Berlin", "2021-10-31T02:00:00", "2021-10-31T01:00:00.000000000Z"}, // shown twice: the later
		{"Europe/Berlin", "2021-10-31T02:59:59.5", "2021-10-31T01:59:59.500000000Z"},
		{"Europe/Berlin", "2021-10-31T03:00:00", "2021-10-31T02:00:00.000000000Z"},
		{"Pacific/Apia", "2011-12-30T12:00:00", ""}, // a day that was skipped
		{"Pacific/Apia", "2011-12-31T00:00:00", "2011-12-30T10:00:00.000000000Z"},
		{"Asia/Kathmandu", "1969-12-31T23:59:59.999999999", "1969-12-31T18:29:59.999999999Z"},
		{"UTC", "2021-07-01", ""},
		{"UTC", "2262-04-12T00:00:00", ""},
		{"America/New_York", "2262-04-11T23:00:00", ""},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if n, err := parseLocal([]byte(c.text), zone); err == nil {
			got = manifest.At(time.Unix(0, n)).String()
		}
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.zone, c.text, got, c.want)
		}
	}
}

func TestZoneOfAvailabilityAlone(t *testing.T) {
	s := openStore(t, keyed+"[pipeline.tables.valid_time]\nfrom = \"f\"\n[pipeline.tables.available_time]\ncolumn = \"a\"\nzone = \"Asia/Tokyo\"\n")
	if _, err := land(s, "r1", `{"id":1,"f":"2021-01-01T00:00:00Z","a":"2021-01-01T00:00:00"}`); err != nil {
		t.Error(err)
	}
	if _, err := land(s, "r2", `{"id":1,"f":"2021-01-01T00:00:00","a":"2021-01-01T00:00:00Z"}`); fault.CodeOf(err) != fault.StoreSchemaIncompatible {
		t.Error(err)
	}
}
