package land

import (
	"testing"
	"time"

	"contextful/ref/fault"
	"contextful/ref/manifest"

	"pgregory.net/rapid"
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

// TestWallTimesShowWhatWasRead: an instant's wall time reads as that instant or, where the clock showed it twice, as the later one.
func TestWallTimesShowWhatWasRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kolkata",
			"Africa/Casablanca", "Antarctica/Troll", "America/Caracas"}).Draw(t, "zone")
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(-6_000_000_000, 6_000_000_000).Draw(t, "at"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos"))
		if _, next := at.In(zone).ZoneBounds(); rapid.Bool().Draw(t, "near a change") && !next.IsZero() {
			at = next.Add(time.Duration(rapid.Int64Range(-7200, 7200).Draw(t, "by")) * time.Second)
		}
		const wall = "2006-01-02T15:04:05.999999999"
		text := at.In(zone).Format(wall)
		got, err := parseLocal([]byte(text), zone)
		if err != nil {
			t.Fatalf("%s in %s: %v", text, zone, err)
		}
		if got < at.UnixNano() || time.Unix(0, got).In(zone).Format(wall) != text {
			t.Fatalf("%s in %s, shown at %s, reads as %s", text, zone, at.UTC(), time.Unix(0, got).UTC())
		}
	})
}
