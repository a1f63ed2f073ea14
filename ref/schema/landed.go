package schema

import "contextful/ref/manifest"

// MetaFirstLandedAt is the field metadata under which schema.json keeps when a column first came: an RFC 3339 instant
// (read.horizon.late-columns). Injected columns have none.
const MetaFirstLandedAt = "first_landed_at"

// FirstLandedAt is when the column first came; ok is false where nothing says so.
func (c *Column) FirstLandedAt() (at manifest.Instant, ok bool) {
	at, err := manifest.ParseInstant(c.Metadata[MetaFirstLandedAt])
	return at, err == nil
}

// StampFirst stamps the producers' columns of s that stored, which may be nil, does not have.
func StampFirst(s, stored *Schema, at manifest.Instant) {
	for i := range s.Columns {
		if c := &s.Columns[i]; stored.Index(c.Name) < 0 && !IsInjected(c.Name) {
			c.Metadata = cloneMap(c.Metadata)
			if c.Metadata == nil {
				c.Metadata = map[string]string{}
			}
			c.Metadata[MetaFirstLandedAt] = at.String()
		}
	}
}

// firstOf is the earlier of two stamps; what is no instant is later than all that are, and among equals the smaller text stays: an
// order, so schemas merge the same in any order.
func firstOf(a, b string) string {
	x, errA := manifest.ParseInstant(a)
	y, errB := manifest.ParseInstant(b)
	switch {
	case errA == nil && (errB != nil || x.Before(y.Time)):
		return a
	case errB == nil && (errA != nil || y.Before(x.Time)):
		return b
	}
	return min(a, b)
}
