package pipeline

import (
	"context"
	"encoding/json"
	"fmt"

	"contextful/ref/fault"
	"contextful/ref/land"
)

// source hands over what there is of a table.
type source interface {
	// pull begins one. q.position is nil where nothing is committed yet.
	pull(ctx context.Context, q question) (pull, error)
}

// question is what a source is asked.
type question struct {
	table    string
	position json.RawMessage
	// whole: the table takes everything at once, so a position on the way closes no batch.
	whole bool
}

// pull is one under way: the inputs of a batch are read, then ended tells what came behind them. close ends it at any time.
type pull interface {
	inputs() []land.Input
	ended() (ending, error)
	close()
}

// ending is what a source says behind a batch's rows.
type ending struct {
	position  json.RawMessage // nil where it said none
	complete  bool            // everything the source has was handed over
	unchanged bool            // nothing was, because the input is what it was
	more      bool            // another batch follows
}

// sourceFailure is a refusal of the source's own. Whoever reads the source wraps it as an input that failed; it is found again
// with errors.As.
type sourceFailure struct{ fault *fault.Error }

func (f *sourceFailure) Error() string { return f.fault.Error() }

// failures makes them for one table of a pipeline.
type failures struct{ pipeline, table string }

func (f failures) because(cause error, format string, args ...any) *sourceFailure {
	text := fmt.Sprintf("the source of pipeline %q failed for table %q: ", f.pipeline, f.table) + fmt.Sprintf(format, args...)
	e := fault.New(fault.PipelineSourceFailed, f.pipeline, text).
		WithHint("what it said since its last commit has not landed: run the pipeline again when the source is well")
	if cause != nil {
		e = e.Wrap(cause)
	}
	return &sourceFailure{e}
}

func (r *runner) source() source {
	src, dir := r.o.Pipeline.Source, r.dir()
	if src.Kind == "command" {
		return &commandSource{argv: src.Command, dir: dir, limit: src.Timeout, pipeline: r.o.Pipeline.ID, log: r.o.Store.Logf}
	}
	return &fileSource{path: src.Path, format: src.Format, dir: dir, pipeline: r.o.Pipeline.ID}
}
