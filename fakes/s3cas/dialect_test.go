package s3cas_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"contextful/fakes/s3cas"
)

// probe asks a server the questions by which dialects differ, one letter and answer each.
func (f *fixture) probe() string {
	f.t.Helper()
	f.Put(bkt, "p", []byte("v"))
	tag := f.etag("p")
	st := func(r reply) int { return r.status }
	out := []string{
		fmt.Sprint("create-over=", st(f.put("p", "v", "If-None-Match", "*"))),
		fmt.Sprint("stale=", st(f.put("p1", "v", "If-Match", "x"))),
		fmt.Sprint("quoted=", st(f.put("p", "v", "If-Match", `"`+tag+`"`))),
	}
	f.Put(bkt, "d", []byte("v"))
	out = append(out, fmt.Sprint("delete-stale=", st(f.do("DELETE", "/bkt/d", "", "If-Match", "x"))))
	f.Put(bkt, "s", []byte("v"))
	out = append(out, fmt.Sprint("stale-replace=", st(f.put("s", "v", "If-Match", "x"))))
	out = append(out, fmt.Sprint("twice=", st(f.put("t", "1")), "/", st(f.put("t", "2"))))
	won := fmt.Sprint(f.race(4, "r", "If-None-Match", "*"))
	if won != "0" && won != "1" {
		won = "many"
	}
	out = append(out, "race="+won)
	f.inject(`(Rival "theirs" (And PutIfMatch (Key "l")))`)
	f.Put(bkt, "l", []byte("v"))
	out = append(out, fmt.Sprint("lost=", st(f.put("l", "x", "If-Match", f.etag("l")))))
	_ = f.put("n//m", "v")
	out = append(out, fmt.Sprint("clean=", st(f.get("n/m"))))
	return strings.Join(out, " ")
}

// likeAWS is what AWS answers; the table says where each dialect differs.
const likeAWS = "create-over=412 stale=404 quoted=200 delete-stale=412 stale-replace=412 twice=200/200 race=1 lost=412 clean=404"

// startRacing starts a server whose window stays open until the four racers for "r" have come, however slow the machine.
func startRacing(t *testing.T) *fixture {
	var f *fixture
	f = start(t, func(o *s3cas.Options) {
		o.Sleep = func(ctx context.Context, _ time.Duration) error {
			racers := s3cas.Filter{Key: "r"}
			if len(f.JournalFor(racers)) == 0 {
				return nil
			}
			_, err := f.WaitJournal(ctx, racers, 4)
			select { // the last one has been announced; let it look too
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
			return err
		}
	})
	return f
}

func differing(got string) string {
	var out []string
	base := strings.Fields(likeAWS)
	for i, w := range strings.Fields(got) {
		if w != base[i] {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

func TestDialects(t *testing.T) {
	differs := map[string]string{
		"aws":             "",
		"minio":           "delete-stale=204",
		"minio-2025-08":   "stale=200 delete-stale=204",
		"minio-no-quorum": "create-over=200 stale=200 delete-stale=204 stale-replace=200 race=many lost=200",
		"r2":              "twice=200/429",
		"gcs-interop":     "create-over=200 stale=200 quoted=429 stale-replace=200 twice=200/429 lost=200",
		"ceph":            "stale=412 quoted=412 lost=500",
		"seaweedfs-2025":  "race=many lost=200",
		"b2":              "create-over=501 stale=501 quoted=501 stale-replace=501 race=0 lost=501",
		"oss":             "create-over=501 stale=501 quoted=501 stale-replace=501 race=0 lost=501",
		"spaces":          "quoted=412",
		"hetzner":         "quoted=412 delete-stale=204",
		"garage":          "create-over=200 stale=200 stale-replace=200 race=many lost=200",
		"versitygw-posix": "race=many lost=200 clean=200",
		"s3proxy":         "race=many lost=200",
		"rustfs":          "",
	}
	for _, d := range s3cas.Dialects() {
		t.Run(d.Name, func(t *testing.T) {
			expected, ok := differs[d.Name]
			if !ok {
				t.Fatal("this dialect is not in the table")
			}
			f := startRacing(t)
			if err := f.UseDialect(d.Name); err != nil {
				t.Fatal(err)
			}
			want(t, "modes", strings.Join(f.Modes(""), ";"), strings.Join(f.Modes(bkt), ";"))
			want(t, "where it differs from AWS", differing(f.probe()), expected)
			want(t, "name", f.Dialect(), d.Name)
			if d.Does == "" || len(d.Reports) == 0 {
				t.Fatal("a dialect says what it does and where that is known from")
			}
			for _, r := range d.Reports {
				if r.Ref == "" || r.Says == "" {
					t.Fatalf("an empty report: %+v", r)
				}
			}
		})
	}
	if err := start(t).UseDialect("none"); err == nil {
		t.Fatal("an unknown dialect was accepted")
	}
}
