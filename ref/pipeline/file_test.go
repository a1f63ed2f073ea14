package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"contextful/ref/fault"

	"github.com/stretchr/testify/require"
)

const fromDir = "[pipeline.source]\nkind = \"file\"\npath = \"in\"\n[[pipeline.tables]]\nname = \"stock\"\nwrite_mode = \"replace\"\n"

func TestDirectoryOfAllFormats(t *testing.T) {
	f := setUp(t, fromDir)
	f.write("in/a.csv", "x\n1\n")
	f.write("in/sub/b.ndjson", "{\"x\":\"2\"}")
	f.write("in/c.JSONL", "{\"x\":\"3\"}\n")
	f.write("in/.hidden/d.jsonl", "{\"x\":\"4\"}\n")
	f.write("in/e.csv~", "x\n5\n")
	require.NoError(t, os.Symlink(filepath.Join(f.dir, "in", "a.csv"), filepath.Join(f.dir, "in", "z.csv")))
	r := f.run()
	require.NoError(t, r.Err)
	require.Equal(t, Replaced, r.Outcome)
	require.EqualValues(t, 4, r.Rows)
	require.Equal(t, Unchanged, f.run().Outcome)

	// A new name of the same content is a change; a directory that is a link is the directory.
	require.NoError(t, os.Rename(filepath.Join(f.dir, "in", "c.JSONL"), filepath.Join(f.dir, "in", "y.jsonl")))
	require.Equal(t, Replaced, f.run().Outcome)
	require.NoError(t, os.Rename(filepath.Join(f.dir, "in"), filepath.Join(f.dir, "elsewhere")))
	require.NoError(t, os.Symlink(filepath.Join(f.dir, "elsewhere"), filepath.Join(f.dir, "in")))
	require.NoError(t, os.Remove(filepath.Join(f.dir, "elsewhere", "z.csv")))
	r = f.run()
	require.NoError(t, r.Err)
	require.EqualValues(t, 3, r.Rows)
}

func TestDirectoryThatIsNoInventory(t *testing.T) {
	for name, breakIt := range map[string]func(f *fixture) error{
		"gone":           func(f *fixture) error { return os.RemoveAll(filepath.Join(f.dir, "in")) },
		"broken link":    func(f *fixture) error { return os.Symlink("nowhere", filepath.Join(f.dir, "in", "b.jsonl")) },
		"link to a dir":  func(f *fixture) error { return os.Symlink(f.dir, filepath.Join(f.dir, "in", "b.jsonl")) },
		"unknown format": func(f *fixture) error { return os.WriteFile(filepath.Join(f.dir, "in", "b.xml"), nil, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			f := setUp(t, fromDir)
			f.write("in/a.jsonl", "{\"x\":1}\n")
			require.NoError(t, f.run().Err)
			require.NoError(t, breakIt(f))
			r := f.run()
			require.ErrorIs(t, r.Err, fault.PipelineSourceFailed)
			require.Equal(t, Failed, r.Outcome)
			require.Len(t, f.runs("stock"), 1)
		})
	}
}

// TestFileThatMoves: the position names the bytes that landed, so bytes that change under the reading are no position.
func TestFileThatMoves(t *testing.T) {
	f := setUp(t, fromDir)
	f.write("in/a.jsonl", "{\"x\":1}\n")
	for name, move := range map[string]func(p *filePull) error{
		"changed": func(p *filePull) error {
			in, err := p.inputs()[0].Open()
			if err != nil {
				return err
			}
			f.write("in/a.jsonl", "{\"x\":2}\n")
			return in.Close()
		},
		"another": func(p *filePull) error {
			f.write("in/b.jsonl", "{\"x\":2}\n")
			_, err := p.ended()
			return err
		},
		"gone": func(p *filePull) error {
			if err := os.Remove(filepath.Join(f.dir, "in", "a.jsonl")); err != nil {
				return err
			}
			_, err := p.inputs()[0].Open()
			return err
		},
	} {
		p, err := (&fileSource{path: "in", dir: f.dir, pipeline: "feed"}).pull(t.Context(), question{table: "stock"})
		require.NoError(t, err)
		var failed *sourceFailure
		require.ErrorAs(t, move(p.(*filePull)), &failed, name)
		f.write("in/a.jsonl", "{\"x\":1}\n")
	}
}

// TestOneFile: of an appended table it lands whole when it has changed, and not again while it has not.
func TestOneFile(t *testing.T) {
	f := setUp(t, "[pipeline.source]\nkind = \"file\"\npath = \"{table}.txt\"\nformat = \"csv\"\n[[pipeline.tables]]\nname = \"log\"\n[[pipeline.tables]]\nname = \"other\"\n")
	f.write("log.txt", "x\n1\n")
	reports, err := Run(t.Context(), f.options())
	require.NoError(t, err)
	require.Equal(t, Landed, reports[0].Outcome)
	require.ErrorIs(t, reports[1].Err, fault.PipelineSourceFailed, "a table that fails does not keep the others")
	require.Equal(t, Unchanged, f.run().Outcome)
	f.write("log.txt", "x\n1\n2\n")
	r := f.run()
	require.Equal(t, Landed, r.Outcome)
	require.EqualValues(t, 2, r.Rows)
	require.Equal(t, "feed-00000001", f.runs("log")[1].RunID[:13])
	f.write("log.txt", "x\n")
	require.Equal(t, Unchanged, f.run().Outcome, "nothing to append")
}
