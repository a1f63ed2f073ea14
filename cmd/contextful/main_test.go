package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// endless is an input that never comes: it says when it is asked, and answers only when the test is over.
type endless struct{ asked, over chan struct{} }

func (e endless) Read([]byte) (int, error) {
	select {
	case e.asked <- struct{}{}:
	default:
	}
	<-e.over
	return 0, os.ErrClosed
}

// A command that waits for its input ends with a signal, exits 130, and leaves nothing of its rows.
func TestASignalEndsAWaitForInput(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("CONTEXTFUL_STATE_DIR", t.TempDir())
	declaration := "[project]\nname = \"research\"\n[pipeline]\nid = \"notes\"\n[[pipeline.tables]]\nname = \"documents\"\n"
	if err := os.WriteFile("contextful.toml", []byte(declaration), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"jsonl", "csv", "parquet"} {
		t.Run(format, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(context.Background())
			in := endless{make(chan struct{}, 1), make(chan struct{})}
			defer close(in.over)
			go func() {
				<-in.asked
				interrupt()
			}()
			var out, errs bytes.Buffer
			code := run(ctx, []string{"--json", "context", "land", "documents", "--rows", "-", "--format", format, "--run-id", "r1", "--site-id", "desk"}, in, &out, &errs)
			if code != exitInterrupted || out.Len() > 0 || !strings.HasPrefix(errs.String(), `{"code":"Interrupted"`) {
				t.Fatalf("exit %d\n%s\n%s", code, out.String(), errs.String())
			}
		})
	}
}

func TestMessagesCannotSteerATerminal(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a\nb\r\tc", "a b  c"},
		{"red \x1b[31m", `red \x1b[31m`},
		{"\xff\u202e", `\xff\u202e`},
		{"schön ✓", "schön ✓"},
	} {
		if got := oneLine(c.in); got != c.want {
			t.Errorf("%q is shown as %q, not %q", c.in, got, c.want)
		}
	}
	if long := oneLine(strings.Repeat("x", 100_000)); len(long) > 2100 {
		t.Errorf("%d bytes", len(long))
	}
}
