package pull_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/nodetest"
	"contextful/ref/pull"
	"contextful/ref/push"
	"contextful/ref/store"
	"contextful/ref/vfs"

	"github.com/stretchr/testify/require"
)

// copied is a bucket in memory with what the fake holds now.
func copied(w *nodetest.World) *bucket.Memory {
	m := bucket.NewMemory()
	for _, k := range w.S3.Keys("bkt", "team/") {
		body, _, _ := w.S3.Get("bkt", k)
		m.Set(k, body)
	}
	return m
}

func onMem(t *testing.T, m *vfs.Mem) *store.Store {
	t.Helper()
	s, err := store.Open(ctx, store.Options{Root: "/p/store", Node: "beta", FS: m, Project: &decl.Project{Name: "p"},
		Clock: clock.Fixed{Instant: time.Unix(9000, 0)}, LockTimeout: time.Minute})
	require.NoError(t, err)
	return s
}

// seen reads the table as a reader does, to the bytes: one line per file.
func seen(t *testing.T, m *vfs.Mem) ([]string, error) {
	t.Helper()
	tab, err := onMem(t, m).TableAt("events")
	require.NoError(t, err)
	view, err := tab.Resolve(ctx, store.Bounds{})
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range view.Files {
		data, err := vfs.ReadFile(m, f.Path, 1<<20)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(string(data), "part") {
			return nil, fmt.Errorf("%s holds %q", f.Rel, data)
		}
		files = append(files, f.Rel)
	}
	return files, nil
}

// TestAPullSurvivesEveryCrash stops the machine at each operation of a pull, in each way in which a disk forgets.
func TestAPullSurvivesEveryCrash(t *testing.T) {
	w, a, _, _ := seeded(t)
	first := copied(w)
	a.Land("events", "r3", "z")
	a.Fold("events", 1)
	a.Land("events", "r4")
	a.MustPush()
	second := copied(w)
	get := func(m *vfs.Mem, b *bucket.Memory) error {
		_, err := pull.Run(ctx, onMem(t, m), pull.Options{Bucket: bucket.Under(b, "team"), Pause: nodetest.NoPause, Transfers: 1})
		return err
	}
	whole := vfs.NewMem()
	require.NoError(t, whole.MkdirAll("/p"))
	require.NoError(t, get(whole, second))
	want, err := seen(t, whole)
	require.NoError(t, err)
	for _, mode := range []vfs.CrashMode{vfs.CrashLoses, vfs.CrashKeepsNames, vfs.CrashKeepsAll} {
		for n := 1; ; n++ {
			m := vfs.NewMem()
			require.NoError(t, m.MkdirAll("/p"))
			if n%2 == 0 { // from an older state, and from an empty disk
				require.NoError(t, get(m, first))
			}
			m.CrashAt(n)
			pulled := get(m, second)
			fired := m.Down()
			m.Crash(mode)
			where := fmt.Sprintf("mode %d, operation %d", mode, n)
			if fired && pulled == nil {
				t.Fatalf("%s: the pull says that it succeeded", where)
			}
			if _, err := seen(t, m); err != nil {
				t.Fatalf("%s: a reader meets %v", where, err)
			}
			require.NoError(t, get(m, second))
			got, err := seen(t, m)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s: the next pull leaves %q (%v), want %q", where, got, err, want)
			}
			litter(t, m, "/p/store", where)
			if !fired && n%2 == 1 {
				break
			}
		}
	}
}

func litter(t *testing.T, m *vfs.Mem, dir, where string) {
	t.Helper()
	list, err := m.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		if e.IsDir() {
			litter(t, m, path.Join(dir, e.Name()), where)
		} else if vfs.TemporaryName(e.Name()) && (strings.Contains(dir, "/runs/") || strings.Contains(dir, "/snapshots/")) {
			t.Errorf("%s: litter %s", where, path.Join(dir, e.Name()))
		}
	}
}

var errKilled = errors.New("killed")

// TestAPushSurvivesItsDeathAtEachRequest ends a push before and after each of its requests: whoever pulls then reads a committed
// state, and the next push completes it.
func TestAPushSurvivesItsDeathAtEachRequest(t *testing.T) {
	w, a, _, _ := seeded(t)
	before := copied(w)
	a.Land("events", "r3", "z")
	a.Fold("events")
	send := func(b *bucket.Memory) error {
		_, err := push.Run(ctx, a.Store(), push.Options{Bucket: bucket.Under(b, "team"), Pause: nodetest.NoPause, Transfers: 1})
		return err
	}
	complete := clone(before)
	require.NoError(t, send(complete))
	want := strings.Join(complete.Keys(), "\n")
	for n := 0; ; n++ {
		b := clone(before)
		asked := 0
		dead := func(late bool) func(bucket.Call) error {
			return func(bucket.Call) error {
				if !late {
					asked++
				}
				if asked > n/2+1 || asked == n/2+1 && (n%2 == 0 || late) {
					return errKilled
				}
				return nil
			}
		}
		b.Before, b.After = dead(false), dead(true)
		err := send(b)
		b.Before, b.After = nil, nil
		where := fmt.Sprintf("request %d, after=%v", n/2, n%2 == 1)
		m := vfs.NewMem()
		require.NoError(t, m.MkdirAll("/p"))
		if _, perr := pull.Run(ctx, onMem(t, m), pull.Options{Bucket: bucket.Under(b, "team"), Pause: nodetest.NoPause}); perr != nil && !errors.Is(perr, fault.SyncObjectDigestMismatch) {
			t.Fatalf("%s: a pull meets %v", where, perr)
		} else if perr != nil && !strings.Contains(perr.Error(), "schema.json") {
			t.Fatalf("%s: a pull meets %v", where, perr)
		}
		if _, rerr := seen(t, m); rerr != nil {
			t.Fatalf("%s: a reader meets %v", where, rerr)
		}
		require.NoError(t, send(b))
		if got := strings.Join(b.Keys(), "\n"); got != want {
			t.Fatalf("%s: the next push leaves\n%s\nwant\n%s", where, got, want)
		}
		if err == nil {
			break
		}
	}
}

func clone(m *bucket.Memory) *bucket.Memory {
	c := bucket.NewMemory()
	for _, k := range m.Keys() {
		body, _ := m.Peek(k)
		c.Set(k, body)
	}
	return c
}
