package s3cas

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// modeID numbers the modes for the fast lookup of a request.
type modeID int

const (
	modeIgnoreIfNoneMatch modeID = iota
	modeIgnoreIfMatch
	modeIfMatchMissingCreates
	modeIfMatchMissing412
	modeInmMissing404
	modeInmExists304
	modeConflictOnce
	modeConflictAlways
	modeToctou
	modeRace500
	mode200ErrorBody
	mode200WithoutETag
	modeETagUnquotedInResponse
	modeETagUnquotedRequired
	modeETagQuotedRejected
	modeETagWeak
	modeETagMultipartSuffix
	modeETagOpaque
	modeDeleteIfMatchIgnored
	modeDelayedDelete
	modeStaleGet
	modeStaleList
	modeListPageSize
	modeListTokenRepeats
	modeListTruncatedWithoutToken
	modeListKeysURLEncoded
	modeListPartial
	modeListGhosts
	modeConditionSkippedOnError
	modeConditionsIgnoredOnMultipart
	modePerEndpoint
	modeLastModifiedSkew
	modeOneWritePerSecond
	modeSlowDown
	modeRejectChecksumHeaders
	modeRejectAWSChunked
	modeKeyNormalise
	modeForbid
	modeNotImplemented
	modeNoSuchBucket
	modeRFCConditions
	modeCopyConditionsIgnored
	modeOddKeysRefused
	modeListHidesOverlap
	numModes
)

// modeSpec is what a mode is called, which arguments it takes, and what it does.
type modeSpec struct {
	name    string
	args    string // a picture of the arguments for error messages: "", "[n]", "<age>", "[op…]", "[n] [op…]", "[key…]", "<d>", "[n] [d]"
	does    string
	history bool // needs superseded versions to be kept
}

var modeSpecs = [numModes]modeSpec{
	modeIgnoreIfNoneMatch:            {"ignore_if_none_match", "", "If-None-Match on a write is not looked at", false},
	modeIgnoreIfMatch:                {"ignore_if_match", "", "If-Match on a write is not looked at (a DELETE has delete_if_match_ignored)", false},
	modeIfMatchMissingCreates:        {"if_match_missing_creates", "", "If-Match on a missing key creates it", false},
	modeIfMatchMissing412:            {"if_match_missing_412", "", "If-Match on a missing key is 412, not 404", false},
	modeInmMissing404:                {"inm_missing_404", "", "If-None-Match: * on a missing key is 404", false},
	modeInmExists304:                 {"inm_exists_304", "", "If-None-Match: * on an existing key is 304, not 412", false},
	modeConflictOnce:                 {"conflict_409_once", "", "the first conditional write to each key is 409 and not applied", false},
	modeConflictAlways:               {"conflict_409_always", "", "every conditional write is 409 and not applied", false},
	modeToctou:                       {"toctou_window", "[n] [d]", "conditions are checked when a request comes and not when it writes: up to n racers of one version win (default 2; 0: all); each waits up to d (default 5ms) for the others", false},
	modeRace500:                      {"race_500", "", "a conditional write that loses to one made while it was in flight is 500, not 412", false},
	mode200ErrorBody:                 {"200_with_error_body", "[op…]", "the operation is not applied, and answers 200 with an <Error> body (default Put Copy CompleteMultipart)", false},
	mode200WithoutETag:               {"200_without_etag", "[op…]", "a success carries no ETag (default all)", false},
	modeETagUnquotedInResponse:       {"etag_unquoted_in_response", "", "the ETag header has no quotes", false},
	modeETagUnquotedRequired:         {"etag_unquoted_required", "", "a quoted If-Match on a write matches nothing (412)", false},
	modeETagQuotedRejected:           {"etag_quoted_rejected", "", "a quoted If-Match on a write is 400", false},
	modeETagWeak:                     {"etag_weak", "", "ETags are answered as W/\"…\"; sent back so, they match nothing", false},
	modeETagMultipartSuffix:          {"etag_multipart_suffix", "", "the ETag of a plain PUT ends in -1, so it is no MD5", false},
	modeETagOpaque:                   {"etag_opaque", "", "each write has an ETag of its own that says nothing of the bytes", false},
	modeDeleteIfMatchIgnored:         {"delete_if_match_ignored", "", "If-Match on DELETE and ETags in DeleteObjects are not looked at", false},
	modeDelayedDelete:                {"delayed_delete", "[n]", "a DELETE is answered 204 and happens after n further requests (default 1)", false},
	modeStaleGet:                     {"stale_get", "<age>", "GET and HEAD see what was there age ago: a duration of the virtual clock, or n versions behind", true},
	modeStaleList:                    {"stale_list", "<age>", "a listing sees what was there age ago: a duration of the virtual clock, or n versions of each key behind", true},
	modeListPageSize:                 {"list_page_size", "<n>", "a listing has at most n entries a page, whatever was asked", false},
	modeListTokenRepeats:             {"list_token_repeats", "", "a continuation token answers the page it came with, for ever", false},
	modeListTruncatedWithoutToken:    {"list_truncated_without_token", "", "a page says that more follows and gives no token", false},
	modeListKeysURLEncoded:           {"list_keys_url_encoded", "", "keys come URL-encoded though nobody asked", false},
	modeListPartial:                  {"list_partial_not_truncated", "[n]", "a listing stops after n entries (default half of the page) and says that it is whole", false},
	modeListGhosts:                   {"list_ghosts", "[key…]", "removed keys, or the given ones, are still listed", true},
	modeConditionSkippedOnError:      {"condition_skipped_on_error", "[n]", "the lookup of every n-th conditional write (default 2) fails, and the write goes ahead unchecked", false},
	modeConditionsIgnoredOnMultipart: {"conditions_ignored_on_multipart", "", "CompleteMultipartUpload does not look at its conditions", false},
	modePerEndpoint:                  {"per_endpoint_atomicity", "", "each Host checks conditions against what it last read or wrote itself", false},
	modeLastModifiedSkew:             {"last_modified_skew", "<d>", "Last-Modified is d off", false},
	modeOneWritePerSecond:            {"one_write_per_second_per_key", "", "a second write to a key within one second of the virtual clock is 429", false},
	modeSlowDown:                     {"slow_down", "[n] [op…]", "every n-th request (default 1: each) is 503", false},
	modeRejectChecksumHeaders:        {"reject_checksum_headers", "", "x-amz-checksum-* and x-amz-sdk-checksum-algorithm are 501", false},
	modeRejectAWSChunked:             {"reject_aws_chunked", "", "an aws-chunked body is 501", false},
	modeKeyNormalise:                 {"key_normalise", "", "keys are cleaned as paths: a//b, a/./b and a/x/../b are a/b", false},
	modeForbid:                       {"forbid", "[op…]", "403 AccessDenied (default all)", false},
	modeNotImplemented:               {"not_implemented", "[op…]", "501 NotImplemented (default all)", false},
	modeNoSuchBucket:                 {"no_such_bucket", "", "404 NoSuchBucket for every request", false},
	modeRFCConditions:                {"rfc_conditions", "", "If-Match and If-None-Match at once, and If-None-Match with an ETag, are judged (412) and not refused (501)", false},
	modeCopyConditionsIgnored:        {"copy_conditions_ignored", "", "CopyObject does not look at the conditions of its destination", false},
	modeOddKeysRefused:               {"odd_keys_refused", "", "keys with an empty segment, . or .. are 400", false},
	modeListHidesOverlap:             {"list_hides_overlap", "", "keys under k/ are not listed where k is an object", false},
}

// Mode is a lasting way in which the server differs from AWS: a name and arguments, printed as name or name(a, b). It holds
// the state it needs (which keys had their conflict, how many requests came), so a mode set anew starts anew.
type Mode struct {
	id    modeID
	args  []string
	ops   []opTest
	n     int
	hasN  bool
	d     time.Duration
	keys  []string
	state *modeState
}

type modeState struct {
	count atomic.Int64
	mu    sync.Mutex
	seen  map[string]any
}

// Name is the mode's name as faults.md lists it.
func (m Mode) Name() string { return modeSpecs[m.id].name }

// String prints the mode so that ParseMode reads it back.
func (m Mode) String() string {
	if len(m.args) == 0 {
		return m.Name()
	}
	return m.Name() + "(" + strings.Join(m.args, ", ") + ")"
}

// ModeNames lists every mode with its arguments and what it does, in the order of the table.
func ModeNames() [][3]string {
	out := make([][3]string, 0, numModes)
	for _, s := range modeSpecs {
		out = append(out, [3]string{s.name, s.args, s.does})
	}
	return out
}

// ParseMode reads name, name(arg, …) or a name with separate arguments. Arguments: n a count, d and age Go durations, op a word of
// the fault language such as Put, PutIfMatch or Reads.
func ParseMode(text string, args ...string) (Mode, error) {
	name := strings.TrimSpace(text)
	if open := strings.IndexByte(name, '('); open >= 0 {
		if !strings.HasSuffix(name, ")") {
			return Mode{}, fmt.Errorf("mode %q: a ) is missing", text)
		}
		var inner []string
		for a := range strings.SplitSeq(name[open+1:len(name)-1], ",") {
			if a = strings.TrimSpace(a); a != "" {
				inner = append(inner, a)
			}
		}
		name, args = strings.TrimSpace(name[:open]), append(inner, args...)
	}
	id := slices.IndexFunc(modeSpecs[:], func(s modeSpec) bool { return s.name == name })
	if id < 0 {
		return Mode{}, fmt.Errorf("there is no mode %q", name)
	}
	m := Mode{id: modeID(id), args: args, state: &modeState{seen: map[string]any{}}}
	spec := modeSpecs[id]
	for _, a := range args {
		if err := m.arg(spec.args, a); err != nil {
			return Mode{}, fmt.Errorf("mode %s takes %s: %w", name, argsOrNone(spec.args), err)
		}
	}
	if strings.HasPrefix(spec.args, "<") && len(args) != 1 {
		return Mode{}, fmt.Errorf("mode %s takes %s, exactly one", name, spec.args)
	}
	return m, nil
}

func argsOrNone(s string) string {
	if s == "" {
		return "no arguments"
	}
	return s
}

// arg takes one argument in by what it looks like and what the mode has room for.
func (m *Mode) arg(shape, a string) error {
	if strings.Contains(shape, "key") {
		m.keys = append(m.keys, a)
		return nil
	}
	if n, err := strconv.Atoi(a); err == nil && (strings.Contains(shape, "n") || strings.Contains(shape, "age")) && !strings.HasPrefix(shape, "<d") {
		if n < 0 || m.hasN {
			return fmt.Errorf("%q is one count too many or negative", a)
		}
		m.n, m.hasN = n, true
		return nil
	}
	if d, err := time.ParseDuration(a); err == nil && (strings.Contains(shape, "d]") || strings.Contains(shape, "<d") || strings.Contains(shape, "age")) {
		if d < 0 && !strings.HasPrefix(shape, "<d") {
			return fmt.Errorf("%q is negative", a)
		}
		m.d = d
		return nil
	}
	if t, ok := opTests[a]; ok && strings.Contains(shape, "op") {
		m.ops = append(m.ops, t)
		return nil
	}
	return fmt.Errorf("%q is none of these", a)
}

// count returns the count argument, or def where there is none.
func (m *Mode) count(def int) int {
	if m.hasN {
		return m.n
	}
	return def
}

// covers reports whether the mode is meant for the request; def answers where it names no operation.
func (m *Mode) covers(rq *request, def bool) bool {
	if len(m.ops) == 0 {
		return def
	}
	return slices.ContainsFunc(m.ops, func(t opTest) bool { return t(rq) })
}

// every reports true for each n-th call.
func (m *Mode) every(n int) bool {
	if n <= 1 {
		return true
	}
	return m.state.count.Add(1)%int64(n) == 0
}

// once reports true for the first call with key.
func (m *Mode) once(key string) bool {
	m.state.mu.Lock()
	defer m.state.mu.Unlock()
	if _, ok := m.state.seen[key]; ok {
		return false
	}
	m.state.seen[key] = true
	return true
}

// modeSet is an immutable set of modes, swapped as a whole.
type modeSet struct {
	by   [numModes]*Mode
	list []Mode
}

func newModeSet(lists ...[]Mode) *modeSet {
	s := &modeSet{}
	for _, l := range lists {
		for i := range l {
			m := l[i]
			s.by[m.id] = &m
		}
	}
	for _, m := range s.by {
		if m != nil {
			s.list = append(s.list, *m)
		}
	}
	return s
}

func (s *modeSet) on(id modeID) bool { return s.by[id] != nil }

func (s *modeSet) get(id modeID) *Mode { return s.by[id] }

func (s *modeSet) needsHistory() bool {
	return slices.ContainsFunc(s.list, func(m Mode) bool { return modeSpecs[m.id].history })
}

// SetMode switches a mode on for every bucket: SetMode("toctou_window", "3") or SetMode("toctou_window(3)"). Setting it again
// replaces its arguments. A mode that shows the past knows it from this moment on.
func (s *Server) SetMode(name string, args ...string) error { return s.setMode("", name, args) }

// SetBucketMode switches a mode on for one bucket, over the server's own; the bucket is created if need be.
func (s *Server) SetBucketMode(bucket, name string, args ...string) error {
	return s.setMode(bucket, name, args)
}

func (s *Server) setMode(bucketName, name string, args []string) error {
	m, err := ParseMode(name, args...)
	if err != nil {
		return err
	}
	var b *bucket
	if bucketName != "" {
		b = s.ensureBucket(bucketName)
	}
	s.modeMu.Lock()
	defer s.modeMu.Unlock()
	if b != nil {
		b.own = withMode(b.own, m)
	} else {
		s.own = withMode(s.own, m)
	}
	s.spreadModesLocked()
	return nil
}

func withMode(list []Mode, m Mode) []Mode {
	list = slices.DeleteFunc(slices.Clone(list), func(o Mode) bool { return o.id == m.id })
	return append(list, m)
}

// ClearModes switches every mode off, those of the buckets too: the server is AWS again.
func (s *Server) ClearModes() {
	s.modeMu.Lock()
	defer s.modeMu.Unlock()
	s.own = nil
	for _, b := range s.allBuckets() {
		b.own = nil
	}
	s.spreadModesLocked()
}

// ClearMode switches one mode off, on the server and on every bucket.
func (s *Server) ClearMode(name string) {
	s.modeMu.Lock()
	defer s.modeMu.Unlock()
	gone := func(m Mode) bool { return m.Name() == name }
	s.own = slices.DeleteFunc(slices.Clone(s.own), gone)
	for _, b := range s.allBuckets() {
		b.own = slices.DeleteFunc(slices.Clone(b.own), gone)
	}
	s.spreadModesLocked()
}

// Modes lists the server's modes, or with a bucket's name those in force there.
func (s *Server) Modes(bucket string) []string {
	set := s.modes.Load()
	if b := s.bucket(bucket); b != nil {
		set = b.modes.Load()
	}
	out := make([]string, 0, len(set.list))
	for _, m := range set.list {
		out = append(out, m.String())
	}
	return out
}

// spreadModesLocked rebuilds the set of the server and of each bucket from the lists.
func (s *Server) spreadModesLocked() {
	s.modes.Store(newModeSet(s.own))
	for _, b := range s.allBuckets() {
		s.spreadToLocked(b)
	}
}

func (s *Server) spreadToLocked(b *bucket) {
	set := newModeSet(s.own, b.own)
	if set.needsHistory() {
		b.startHistory()
	}
	b.modes.Store(set)
}
