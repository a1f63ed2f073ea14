package manifest

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// instantLayout is RFC 3339 UTC with nine fractional digits: it sorts as text and keeps every nanosecond.
const instantLayout = "2006-01-02T15:04:05.000000000Z"

// Instant is a moment to the nanosecond. The zero Instant is "absent" and prints as null.
type Instant struct{ time.Time }

// At makes an Instant of t, in UTC.
func At(t time.Time) Instant { return Instant{t.UTC()} }

// ParseInstant reads any RFC 3339 instant and turns it to UTC.
func ParseInstant(text string) (Instant, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return Instant{}, fmt.Errorf("%q is no RFC 3339 instant", text)
	}
	return Instant{t.UTC()}, nil
}

// Holds tells whether 64 bits of nanoseconds hold the instant: beyond, nothing can be stamped with it or follow it.
func (i Instant) Holds() bool {
	return !i.Before(time.Unix(0, math.MinInt64)) && !i.After(time.Unix(0, math.MaxInt64))
}

// String prints RFC 3339 with nine fractional digits and Z.
func (i Instant) String() string { return i.UTC().Format(instantLayout) }

// MarshalJSON prints the instant as a string, the zero one as null.
func (i Instant) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(i.String())
}

// UnmarshalJSON reads null or a string.
func (i *Instant) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*i = Instant{}
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	parsed, err := ParseInstant(text)
	if err != nil {
		return err
	}
	*i = parsed
	return nil
}
