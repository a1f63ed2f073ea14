package s3cas

import (
	"fmt"
	"slices"
)

// Report is a public account of a behaviour.
type Report struct {
	Ref  string `json:"ref"`           // short: owner/repo#number, or the title of a page
	URL  string `json:"url,omitempty"` // empty where we know the behaviour but hold no page that says so
	Says string `json:"says"`          // in our words
}

// Dialect is a public implementation's way of being S3, as a set of modes, with where we have it from.
type Dialect struct {
	Name    string   `json:"name"`
	Does    string   `json:"does"`
	Modes   []string `json:"modes"`
	Reports []Report `json:"reports"`
}

// Dialects lists every dialect, aws first.
func Dialects() []Dialect {
	return []Dialect{
		{"aws", "conditional writes as documented: the default", nil, []Report{
			{"AWS S3 User Guide, conditional requests", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-requests.html", "If-Match and If-None-Match on writes: 412 where they fail, 404 for If-Match on a missing key, 409 on a conflict"},
			{"AWS S3 User Guide, conditional deletes", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-deletes.html", "DELETE takes If-Match with an ETag or *; DeleteObjects takes an ETag per object"},
			{"aws/aws-sdk-ruby#3144", "https://github.com/aws/aws-sdk-ruby/issues/3144", "If-None-Match with an ETag on PutObject is 501"},
		}},
		{"minio", "a healthy node since RELEASE.2025-09-07: as AWS, but for DELETE, CopyObject, odd keys, and keys that are directories of others", []string{"delete_if_match_ignored", "rfc_conditions", "copy_conditions_ignored", "odd_keys_refused", "list_hides_overlap"}, []Report{
			{"s3castest, rows MinIO", "", "measured against RELEASE.2025-09-07T16-13-09Z on one drive; the same rows are run against this dialect"},
			{"minio/minio#21677", "https://github.com/minio/minio/issues/21677", "DELETE ignores If-Match"},
			{"minio/minio#21603", "https://github.com/minio/minio/issues/21603", "without read quorum the conditions of a PUT are skipped (add condition_skipped_on_error to see it)"},
		}},
		{"minio-2025-08", "MinIO before September 2025: If-Match on a missing key creates it", []string{"if_match_missing_creates", "delete_if_match_ignored", "rfc_conditions", "copy_conditions_ignored", "odd_keys_refused", "list_hides_overlap"}, []Report{
			{"minio/minio#21526", "https://github.com/minio/minio/issues/21526", "PutObject with If-Match on a missing key succeeds"},
			{"minio/minio#21677", "https://github.com/minio/minio/issues/21677", "DELETE ignores If-Match"},
		}},
		{"minio-no-quorum", "MinIO that cannot reach a read quorum: conditions are skipped", []string{"condition_skipped_on_error(1)", "delete_if_match_ignored"}, []Report{
			{"minio/minio#21603", "https://github.com/minio/minio/issues/21603", "a conditional PUT goes ahead when the read it needs fails"},
		}},
		{"r2", "conditional writes hold; more than one write a second to a key is 429", []string{"one_write_per_second_per_key"}, []Report{
			{"Cloudflare R2 limits", "https://developers.cloudflare.com/r2/platform/limits/", "one concurrent write per second to the same object name, beyond which the answer is 429"},
		}},
		{"gcs-interop", "If-Match and If-None-Match on PUT are not looked at; one write a second to an object", []string{"ignore_if_match", "ignore_if_none_match", "one_write_per_second_per_key"}, []Report{
			{"Gusto/baerly-storage#52", "https://github.com/Gusto/baerly-storage/pull/52", "the conditional headers are scoped to reads and silently ignored on writes"},
			{"earth-mover/icechunk#533", "https://github.com/earth-mover/icechunk/issues/533", "If-Match is for GET and HEAD; a PUT needs a generation match"},
			{"delta-io/delta-rs#2451", "https://github.com/delta-io/delta-rs/issues/2451", "writes to one key more than once a second are 429"},
		}},
		{"ceph", "If-Match on a missing key is 412; a quoted ETag in If-Match matches nothing; a lost race is 500", []string{"if_match_missing_412", "etag_unquoted_required", "race_500"}, []Report{
			{"minio/minio#21526", "https://github.com/minio/minio/issues/21526", "notes that Ceph answers 412 for If-Match on a missing key"},
			{"block/buzz#3002", "https://github.com/block/buzz/issues/3002", "a quoted ETag in If-Match is 412, the bare one matches"},
			{"ceph tracker 71588", "https://tracker.ceph.com/issues/71588", "a race of conditional writes surfaces as 500"},
		}},
		{"seaweedfs-2025", "conditions are checked first and the write comes later: all racers win", []string{"toctou_window(0)"}, []Report{
			{"seaweedfs/seaweedfs#8800", "https://github.com/seaweedfs/seaweedfs/issues/8800", "three concurrent creations with If-None-Match: * all answer 200"},
		}},
		{"b2", "any conditional PUT is 501", []string{"not_implemented(PutIfMatch, PutIfNoneMatch)"}, []Report{
			{"sathinduga/obsidian-s3-sync-and-backup#78", "https://github.com/sathinduga/obsidian-s3-sync-and-backup/issues/78", "conditional PutObject is answered with the NotImplemented sentence"},
		}},
		{"oss", "any conditional PUT is 501", []string{"not_implemented(PutIfMatch, PutIfNoneMatch)"}, []Report{
			{"tobi/walgit#67", "https://github.com/tobi/walgit/issues/67", "If-None-Match and If-Match on PutObject are 501"},
		}},
		{"spaces", "If-Match matches only without quotes", []string{"etag_unquoted_required"}, []Report{
			{"slatedb/slatedb#1818", "https://github.com/slatedb/slatedb/issues/1818", "a quoted ETag in If-Match is 412, the same without quotes succeeds"},
		}},
		{"hetzner", "If-Match matches only without quotes, and is not looked at on DELETE", []string{"etag_unquoted_required", "delete_if_match_ignored"}, []Report{
			{"design note faults.md", "", "If-Match matches only unquoted; DELETE ignores it. Hetzner serves Ceph: see block/buzz#3002"},
		}},
		{"garage", "no conditional PUT, and a read may be one interval old", []string{"ignore_if_match", "ignore_if_none_match", "stale_get(1s)", "stale_list(1s)"}, []Report{
			{"design note faults.md", "", "conditions on PUT have no effect; reads are eventually consistent"},
		}},
		{"versitygw-posix", "up to every racer wins; keys are cleaned as paths", []string{"toctou_window(0)", "key_normalise"}, []Report{
			{"versity/versitygw#2288", "https://github.com/versity/versitygw/pull/2288", "of 32 concurrent conditional PUTs 2 to 32 succeed"},
		}},
		{"s3proxy", "HEAD, then PUT: a window between them", []string{"toctou_window(2)"}, []Report{
			{"gaul/s3proxy#732", "https://github.com/gaul/s3proxy/issues/732", "asks for If-Match on PUT, which every back end has in another form"},
			{"gaul/s3proxy#831", "https://github.com/gaul/s3proxy/issues/831", "If-None-Match was not looked at; the fix proposed reads first and writes then"},
		}},
		{"rustfs", "each endpoint of a cluster is atomic only by itself", []string{"per_endpoint_atomicity"}, []Report{
			{"rustfs/rustfs#1659", "https://github.com/rustfs/rustfs/issues/1659", "conditional PUTs through several endpoints often succeed in parallel"},
		}},
	}
}

// UseDialect clears the server's own modes and sets those of the dialect; modes of single buckets stay.
func (s *Server) UseDialect(name string) error {
	all := Dialects()
	i := slices.IndexFunc(all, func(d Dialect) bool { return d.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no dialect %q", name)
	}
	var modes []Mode
	for _, text := range all[i].Modes {
		m, err := ParseMode(text)
		if err != nil {
			return fmt.Errorf("dialect %s: %w", name, err)
		}
		modes = append(modes, m)
	}
	s.modeMu.Lock()
	defer s.modeMu.Unlock()
	s.own, s.dialect = modes, name
	s.spreadModesLocked()
	return nil
}

// Dialect is the dialect last set, aws at first. Modes set since then come on top.
func (s *Server) Dialect() string {
	s.modeMu.Lock()
	defer s.modeMu.Unlock()
	return s.dialect
}
