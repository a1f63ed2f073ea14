package s3cas_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"contextful/fakes/s3cas"
)

// modeTests has one case per mode, by name. Each is run against a fresh server and must differ from AWS in what it says.
var modeTests = map[string]func(*fixture){
	"ignore_if_none_match": func(f *fixture) {
		f.mode("ignore_if_none_match")
		f.Put(bkt, "k", []byte("1"))
		want(f.t, "created over", f.put("k", "2", "If-None-Match", "*").String()+f.content("k"), "2002")
		want(f.t, "If-Match still holds", f.put("k", "3", "If-Match", "x"), "412 PreconditionFailed")
	},
	"ignore_if_match": func(f *fixture) {
		f.mode("ignore_if_match")
		f.Put(bkt, "k", []byte("1"))
		want(f.t, "stale passes", f.put("k", "2", "If-Match", "x").String()+f.content("k"), "2002")
		want(f.t, "missing passes", f.put("m", "2", "If-Match", "x"), "200")
		want(f.t, "If-None-Match still holds", f.put("k", "3", "If-None-Match", "*"), "412 PreconditionFailed")
	},
	"if_match_missing_creates": func(f *fixture) {
		f.mode("if_match_missing_creates")
		want(f.t, "created", f.put("k", "1", "If-Match", "x").String()+f.content("k"), "2001")
		want(f.t, "stale still refused", f.put("k", "2", "If-Match", "x"), "412 PreconditionFailed")
	},
	"if_match_missing_412": func(f *fixture) {
		f.mode("if_match_missing_412")
		want(f.t, "412", f.put("k", "1", "If-Match", "x").String()+f.content("k"), "412 PreconditionFailed<none>")
	},
	"inm_missing_404": func(f *fixture) {
		f.mode("inm_missing_404")
		want(f.t, "404", f.put("k", "1", "If-None-Match", "*").String()+f.content("k"), "404 NoSuchKey<none>")
	},
	"inm_exists_304": func(f *fixture) {
		f.mode("inm_exists_304")
		f.Put(bkt, "k", []byte("1"))
		r := f.put("k", "2", "If-None-Match", "*")
		want(f.t, "304 without a body", fmt.Sprint(r.status, r.body, f.content("k")), "3041")
	},
	"conflict_409_once": func(f *fixture) {
		f.mode("conflict_409_once")
		want(f.t, "first", f.put("k", "1", "If-None-Match", "*").String()+f.content("k"), "409 ConditionalRequestConflict<none>")
		want(f.t, "second", f.put("k", "1", "If-None-Match", "*"), "200")
		want(f.t, "another key", f.put("j", "1", "If-None-Match", "*"), "409 ConditionalRequestConflict")
		want(f.t, "plain", f.put("l", "1"), "200")
	},
	"conflict_409_always": func(f *fixture) {
		f.mode("conflict_409_always")
		for range 3 {
			want(f.t, "conflict", f.put("k", "1", "If-None-Match", "*"), "409 ConditionalRequestConflict")
		}
		want(f.t, "plain", f.put("k", "1"), "200")
		want(f.t, "delete", f.do("DELETE", "/bkt/k", "", "If-Match", "x"), "409 ConditionalRequestConflict")
	},
	"toctou_window": func(f *fixture) {
		f.mode("toctou_window", "3", "10s") // three racers fill the window, so nobody waits for the ten seconds
		want(f.t, "3 of 3 win", f.race(3, "new", "If-None-Match", "*"), 3)
		f.Put(bkt, "k", []byte("v"))
		want(f.t, "3 of 3 replace", f.race(3, "k", "If-Match", f.etag("k")), 3)
		f.mode("toctou_window(2, 20ms)")
		want(f.t, "one alone", f.put("k", "x", "If-Match", f.etag("k")), "200")
		want(f.t, "stale is still refused", f.put("k", "x", "If-Match", "q"), "412 PreconditionFailed")
		tag := f.etag("k")
		f.inject(`(Hold "g" before PutIfMatch)`) // the check comes before the hold: a held writer is in the window
		ch := f.async(func() reply { return f.put("k", "held", "If-Match", tag) })
		f.held("g", 1)
		f.ClearFaults()
		want(f.t, "another meanwhile", f.put("k", "other", "If-Match", tag), "200")
		f.Gate("g").Release()
		want(f.t, "and the held one wins too", (<-ch).String()+f.content("k"), "200held")
	},
	"race_500": func(f *fixture) {
		f.mode("race_500")
		f.Put(bkt, "k", []byte("v"))
		f.inject(`(Rival "theirs" (And PutIfMatch (OnIndex 0)))`)
		want(f.t, "lost in flight", f.put("k", "x", "If-Match", f.etag("k")), "500 InternalError")
		want(f.t, "lost before", f.put("k", "x", "If-Match", "q"), "412 PreconditionFailed")
	},
	"200_with_error_body": func(f *fixture) {
		f.mode("200_with_error_body")
		r := f.put("k", "1")
		want(f.t, "200 and an error", fmt.Sprint(r.status, r.code, r.header.Get("Etag"), f.content("k")), "200InternalError<none>")
		f.Put(bkt, "s", nil)
		want(f.t, "copy", f.do("PUT", "/bkt/c", "", "X-Amz-Copy-Source", "/bkt/s").String()+f.content("c"), "200 InternalError<none>")
		f.mode("200_with_error_body(Get)")
		want(f.t, "chosen operations", fmt.Sprint(f.put("k", "1").code, f.get("k").code), "InternalError")
	},
	"200_without_etag": func(f *fixture) {
		f.mode("200_without_etag")
		want(f.t, "put", fmt.Sprint(f.put("k", "1").header.Get("Etag"), f.get("k").header.Get("Etag"), f.content("k")), "1")
		f.mode("200_without_etag(Put)")
		want(f.t, "put only", fmt.Sprint(f.put("k", "1").header.Get("Etag"), f.get("k").header.Get("Etag") != ""), "true")
	},
	"etag_unquoted_in_response": func(f *fixture) {
		f.mode("etag_unquoted_in_response")
		want(f.t, "bare", f.put("k", "1").header.Get("Etag"), f.etag("k"))
	},
	"etag_unquoted_required": func(f *fixture) {
		f.mode("etag_unquoted_required")
		f.Put(bkt, "k", []byte("1"))
		want(f.t, "quoted", f.put("k", "1", "If-Match", `"`+f.etag("k")+`"`), "412 PreconditionFailed")
		want(f.t, "bare", f.put("k", "1", "If-Match", f.etag("k")), "200")
		want(f.t, "delete quoted", f.do("DELETE", "/bkt/k", "", "If-Match", `"`+f.etag("k")+`"`), "412 PreconditionFailed")
	},
	"etag_quoted_rejected": func(f *fixture) {
		f.mode("etag_quoted_rejected")
		f.Put(bkt, "k", []byte("1"))
		want(f.t, "quoted", f.put("k", "1", "If-Match", `"`+f.etag("k")+`"`), "400 InvalidArgument")
		want(f.t, "bare", f.put("k", "1", "If-Match", f.etag("k")), "200")
	},
	"etag_weak": func(f *fixture) {
		f.mode("etag_weak")
		tag := f.put("k", "1").header.Get("Etag")
		want(f.t, "weak", tag, `W/"`+f.etag("k")+`"`)
		want(f.t, "it matches nothing", f.put("k", "2", "If-Match", tag), "412 PreconditionFailed")
		want(f.t, "but for a read", f.get("k", "If-None-Match", tag).status, 304)
	},
	"etag_multipart_suffix": func(f *fixture) {
		f.mode("etag_multipart_suffix")
		tag := f.put("k", "1").header.Get("Etag")
		want(f.t, "suffixed", tag, `"c4ca4238a0b923820dcc509a6f75849b-1"`)
		want(f.t, "and good", f.put("k", "2", "If-Match", tag), "200")
	},
	"etag_opaque": func(f *fixture) {
		f.mode("etag_opaque")
		one, two := f.put("k", "1").header.Get("Etag"), f.put("k", "1").header.Get("Etag")
		want(f.t, "same bytes, other tag", one == two || strings.Contains(one, "c4ca4238"), false)
		want(f.t, "ABA is seen", f.put("k", "2", "If-Match", one), "412 PreconditionFailed")
		want(f.t, "current", f.put("k", "2", "If-Match", two), "200")
	},
	"delete_if_match_ignored": func(f *fixture) {
		f.mode("delete_if_match_ignored")
		f.Put(bkt, "k", []byte("1"))
		want(f.t, "deleted", f.do("DELETE", "/bkt/k", "", "If-Match", "x").String()+f.content("k"), "204<none>")
	},
	"delayed_delete": func(f *fixture) {
		f.mode("delayed_delete(2)")
		f.Put(bkt, "k", []byte("1"))
		want(f.t, "promised", f.do("DELETE", "/bkt/k", ""), "204")
		want(f.t, "still there", f.get("k"), "200")
		want(f.t, "still there", f.get("k"), "200")
		want(f.t, "gone", f.get("k"), "404 NoSuchKey")
		f.Put(bkt, "k", []byte("1"))
		_ = f.do("DELETE", "/bkt/k", "")
		f.Put(bkt, "k", []byte("2"))
		_, _ = f.get("a"), f.get("b")
		want(f.t, "a later write survives", f.content("k"), "2")
	},
	"stale_get": func(f *fixture) {
		f.Put(bkt, "k", []byte("v1"))
		f.mode("stale_get", "10s")
		f.Put(bkt, "k", []byte("v2"))
		want(f.t, "old", f.get("k").body, "v1")
		f.now.Add(10 * time.Second)
		want(f.t, "new after its age", f.get("k").body, "v2")
		f.Delete(bkt, "k")
		want(f.t, "a deletion is late too", f.get("k").body, "v2")
		f.mode("stale_get", "1")
		want(f.t, "one version behind", f.get("k").body, "v2")
		want(f.t, "writes see the truth", f.put("k", "v3", "If-None-Match", "*"), "200")
		want(f.t, "one behind", f.get("k"), "404 NoSuchKey")
	},
	"stale_list": func(f *fixture) {
		f.Put(bkt, "a", nil)
		f.mode("stale_list", "10s")
		f.Put(bkt, "b", nil)
		f.Delete(bkt, "a")
		want(f.t, "old", f.listed(""), "a")
		want(f.t, "a read is fresh", f.get("b"), "200")
		f.now.Add(10 * time.Second)
		want(f.t, "new", f.listed(""), "b")
	},
	"list_page_size": func(f *fixture) {
		f.fill("a", "b", "c")
		f.mode("list_page_size", "2")
		want(f.t, "two", f.listed(""), "a b more token")
		_, _, tok := f.list("")
		want(f.t, "rest", f.listed("continuation-token="+url.QueryEscape(tok)), "c")
	},
	"list_token_repeats": func(f *fixture) {
		f.fill("a", "b", "c")
		f.mode("list_token_repeats")
		_, _, tok := f.list("max-keys=2")
		want(f.t, "the same again", f.listed("max-keys=2&continuation-token="+tok), "a b more token")
	},
	"list_truncated_without_token": func(f *fixture) {
		f.fill("a", "b")
		f.mode("list_truncated_without_token")
		want(f.t, "no token", f.listed("max-keys=1"), "a more")
	},
	"list_keys_url_encoded": func(f *fixture) {
		f.fill("a b/c+d")
		f.mode("list_keys_url_encoded")
		want(f.t, "encoded", f.listed(""), "a+b/c%2Bd")
	},
	"list_partial_not_truncated": func(f *fixture) {
		f.fill("a", "b", "c", "d")
		f.mode("list_partial_not_truncated")
		want(f.t, "half", f.listed(""), "a b")
		f.mode("list_partial_not_truncated(1)")
		want(f.t, "one", f.listed("max-keys=3"), "a")
	},
	"list_ghosts": func(f *fixture) {
		f.fill("a", "b")
		f.mode("list_ghosts")
		f.Delete(bkt, "a")
		want(f.t, "a ghost", f.listed(""), "a b")
		want(f.t, "that cannot be read", f.get("a"), "404 NoSuchKey")
		f.mode("list_ghosts(never/was)")
		want(f.t, "a given ghost", f.listed(""), "b never/was")
	},
	"condition_skipped_on_error": func(f *fixture) {
		f.mode("condition_skipped_on_error(3)")
		f.Put(bkt, "k", []byte("1"))
		var got []string
		for range 6 {
			got = append(got, fmt.Sprint(f.put("k", "2", "If-None-Match", "*").status))
		}
		want(f.t, "every third", got, "[412 412 200 412 412 200]")
	},
	"conditions_ignored_on_multipart": func(f *fixture) {
		f.Put(bkt, "k", []byte("1"))
		want(f.t, "held by default", f.multipart("k", "x", "If-None-Match", "*"), "412 PreconditionFailed")
		f.mode("conditions_ignored_on_multipart")
		want(f.t, "ignored", f.multipart("k", "x", "If-None-Match", "*").String()+f.content("k"), "200x")
		want(f.t, "not on a put", f.put("k", "2", "If-None-Match", "*"), "412 PreconditionFailed")
	},
	"per_endpoint_atomicity": func(f *fixture) {
		f.mode("per_endpoint_atomicity")
		f.Put(bkt, "k", []byte("1"))
		tag := f.get("k", "Host", "one.test").header.Get("Etag")
		_ = f.get("k", "Host", "two.test")
		want(f.t, "first endpoint", f.put("k", "a", "If-Match", tag, "Host", "one.test"), "200")
		want(f.t, "same endpoint again", f.put("k", "b", "If-Match", tag, "Host", "one.test"), "412 PreconditionFailed")
		want(f.t, "the other endpoint has not heard", f.put("k", "c", "If-Match", tag, "Host", "two.test"), "200")
		want(f.t, "lost update", f.content("k"), "c")
	},
	"last_modified_skew": func(f *fixture) {
		f.mode("last_modified_skew", "-1h")
		f.Put(bkt, "k", nil)
		want(f.t, "an hour off", f.get("k").header.Get("Last-Modified"), "Sun, 01 Mar 2026 11:00:00 GMT")
		want(f.t, "in lists too", strings.Contains(f.do("GET", "/bkt?list-type=2", "").body, "2026-03-01T11:00:00.000Z"), true)
	},
	"one_write_per_second_per_key": func(f *fixture) {
		f.mode("one_write_per_second_per_key")
		want(f.t, "first", f.put("k", "1"), "200")
		want(f.t, "too soon", f.put("k", "2").String()+f.content("k"), "429 TooManyRequests1")
		want(f.t, "another key", f.put("j", "1"), "200")
		f.now.Add(time.Second)
		want(f.t, "later", f.put("k", "3"), "200")
	},
	"slow_down": func(f *fixture) {
		f.mode("slow_down")
		want(f.t, "each", f.put("k", "1").String()+f.get("k").String(), "503 SlowDown503 SlowDown")
		f.mode("slow_down(2, Get)")
		want(f.t, "every second", fmt.Sprint(f.put("k", "1"), f.get("k"), f.get("k"), f.put("k", "1")), "200 200 503 SlowDown 200")
	},
	"reject_checksum_headers": func(f *fixture) {
		f.mode("reject_checksum_headers")
		want(f.t, "refused", f.put("k", "abc", "X-Amz-Checksum-Crc32", "NSRBwg=="), "501 NotImplemented")
		want(f.t, "without", f.put("k", "abc"), "200")
	},
	"reject_aws_chunked": func(f *fixture) {
		body := "3\r\nabc\r\n0\r\nx-amz-checksum-crc32:NSRBwg==\r\n\r\n"
		hs := []string{"X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "X-Amz-Decoded-Content-Length", "3", "Content-Encoding", "aws-chunked"}
		want(f.t, "understood", f.put("k", body, hs...).String()+f.content("k"), "200abc")
		f.mode("reject_aws_chunked")
		want(f.t, "refused", f.put("k", body, hs...), "501 NotImplemented")
	},
	"key_normalise": func(f *fixture) {
		f.mode("key_normalise")
		_ = f.put("a//b", "1")
		want(f.t, "one key", f.put("a/x/../b", "2", "If-None-Match", "*"), "412 PreconditionFailed")
		want(f.t, "under its clean name", f.listed("")+f.get("a/./b").body, "a/b1")
	},
	"forbid": func(f *fixture) {
		f.mode("forbid")
		want(f.t, "all", fmt.Sprint(f.put("k", "1"), f.get("k")), "403 AccessDenied 403 AccessDenied")
		f.mode("forbid(Writes)")
		want(f.t, "writes", fmt.Sprint(f.put("k", "1"), f.get("k")), "403 AccessDenied 404 NoSuchKey")
	},
	"not_implemented": func(f *fixture) {
		f.mode("not_implemented(PutIfMatch, PutIfNoneMatch)")
		want(f.t, "conditional", fmt.Sprint(f.put("k", "1", "If-None-Match", "*"), f.put("k", "1")), "501 NotImplemented 200")
	},
	"rfc_conditions": func(f *fixture) {
		f.mode("rfc_conditions")
		f.Put(bkt, "k", []byte("v"))
		want(f.t, "both", f.put("k", "w", "If-Match", f.etag("k"), "If-None-Match", "*"), "412 PreconditionFailed")
		want(f.t, "same tag", f.put("k", "w", "If-None-Match", f.etag("k")), "412 PreconditionFailed")
		want(f.t, "stale and other", f.put("k", "w", "If-Match", "x", "If-None-Match", "y"), "412 PreconditionFailed")
		want(f.t, "other tag", f.put("k", "w", "If-None-Match", `"x"`), "200")
	},
	"copy_conditions_ignored": func(f *fixture) {
		f.mode("copy_conditions_ignored")
		f.fill("s", "d")
		want(f.t, "copied over", f.do("PUT", "/bkt/d", "", "X-Amz-Copy-Source", "/bkt/s", "If-None-Match", "*"), "200")
		want(f.t, "a put is judged", f.put("d", "", "If-None-Match", "*"), "412 PreconditionFailed")
	},
	"odd_keys_refused": func(f *fixture) {
		f.mode("odd_keys_refused")
		want(f.t, "refused", fmt.Sprint(f.put("a//b", ""), f.put("a/./b", ""), f.put("../b", ""), f.put("a/b/", ""), f.put("a..b", "")),
			"400 XMinioInvalidObjectName 400 XMinioInvalidResourceName 400 XMinioInvalidResourceName 200 200")
	},
	"list_hides_overlap": func(f *fixture) {
		f.mode("list_hides_overlap")
		f.fill("a", "a/b", "a-c", "d/e")
		want(f.t, "hidden", f.listed(""), "a a-c d/e")
	},
	"no_such_bucket": func(f *fixture) {
		f.mode("no_such_bucket")
		want(f.t, "none", fmt.Sprint(f.put("k", "1"), f.get("k")), "404 NoSuchBucket 404 NoSuchBucket")
	},
}

func TestModes(t *testing.T) {
	for _, m := range s3cas.ModeNames() {
		name := m[0]
		t.Run(name, func(t *testing.T) {
			fn := modeTests[name]
			if fn == nil {
				t.Fatal("this mode has no test")
			}
			fn(start(t))
		})
	}
}

func TestModeText(t *testing.T) {
	for _, text := range []string{"toctou_window(3, 10ms)", "stale_get(2m)", "list_page_size(7)", "forbid(Get, PutIfMatch)", "list_ghosts(a/b, c)", "slow_down(3, Put)", "etag_weak", "last_modified_skew(-3h)"} {
		m, err := s3cas.ParseMode(text)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "round trip", m, text)
	}
	for _, bad := range []string{"nonsense", "etag_weak(1)", "stale_get", "stale_get(x)", "stale_get(-1s)", "list_page_size(-1)", "forbid(Nobody)", "toctou_window(2", "list_page_size(1, 2)", "toctou_window(1, 2)"} {
		if _, err := s3cas.ParseMode(bad); err == nil {
			t.Fatalf("%s was accepted", bad)
		}
	}
}

func TestModesPerBucket(t *testing.T) {
	f := start(t)
	f.CreateBucket("other")
	if err := f.SetBucketMode("other", "forbid"); err != nil {
		t.Fatal(err)
	}
	f.mode("inm_exists_304")
	f.Put(bkt, "k", nil)
	want(t, "here", f.put("k", "", "If-None-Match", "*").status, 304)
	want(t, "there", f.do("PUT", "/other/k", ""), "403 AccessDenied")
	want(t, "modes there", fmt.Sprint(f.Modes("other"), f.Modes("")), "[inm_exists_304 forbid] [inm_exists_304]")
	f.ClearMode("forbid")
	want(t, "cleared", f.do("PUT", "/other/k", ""), "200")
	f.ClearModes()
	want(t, "none", len(f.Modes("other")), 0)
}
