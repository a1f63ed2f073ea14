package s3castest

// MinIO is where a healthy MinIO node on one drive differs, as measured against RELEASE.2025-09-07T16-13-09Z. The dialect "minio" of
// s3cas answers the same.
func MinIO() map[string]string {
	return map[string]string{
		"put/both":              refused,
		"put/none-match-etag":   refused,
		"delete/stale":          "ok 404 NoSuchKey",
		"delete/match-missing":  "ok",
		"delete/star-missing":   "ok",
		"delete/many":           "deleted a b; kept ",
		"copy/create-present":   "ok v",
		"key/raw":               "400 XMinioInvalidObjectName 400 XMinioInvalidObjectName ok 2 400 XMinioInvalidResourceName 400 XMinioInvalidResourceName",
		"list/overlap":          "a",
		"list/overlap-reversed": "a",
	}
}
