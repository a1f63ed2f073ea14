package duck

import (
	"context"
	"errors"
	"strings"

	"contextful/ref/fault"

	"github.com/duckdb/duckdb-go/v2"
)

// Explain turns an engine's error into a refusal: QueryRefused where the lock-down stopped it, StoreWriteFailed where disk or
// memory ran out, QueryFailed otherwise, in one line. A refusal stays itself, and so does a cancelled context.
func Explain(err error) error {
	var coded *fault.Error
	if err == nil || errors.As(err, &coded) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var engine *duckdb.Error
	if !errors.As(err, &engine) {
		return fault.New(fault.QueryFailed, "", oneLine(err.Error()))
	}
	message := oneLine(engine.Msg)
	switch {
	case engine.Type == duckdb.ErrorTypePermission, strings.Contains(message, "disabled by configuration"),
		strings.Contains(message, "configuration has been locked"):
		return fault.New(fault.QueryRefused, "", message)
	case engine.Type == duckdb.ErrorTypeOutOfMemory:
		return fault.New(fault.QueryFailed, "", message).WithHint("it needs more memory than its limit and could not spill: raise --memory")
	case strings.Contains(message, "No space left on device"), strings.Contains(message, "Read-only file system"):
		return fault.New(fault.StoreWriteFailed, "", message)
	}
	f := fault.New(fault.QueryFailed, "", message)
	switch {
	case strings.Contains(message, "Referenced column"):
		f = f.WithHint("contextful context describe <table> lists the columns there are")
	case strings.HasPrefix(message, "Conversion Error"):
		f = f.WithHint("TRY_CAST gives NULL where a value does not convert")
	}
	return f
}

// Explain is the package's Explain with our own names for files in the message.
func (s *Session) Explain(err error) error {
	err = Explain(err)
	var coded *fault.Error
	if errors.As(err, &coded) {
		for _, r := range s.shown {
			coded.Message = strings.ReplaceAll(coded.Message, r.alias, r.path)
		}
	}
	return err
}

// oneLine keeps an engine's sentence and drops the drawing below it and the list of candidate functions.
func oneLine(message string) string {
	for _, cut := range []string{"\n\nLINE ", "\nLINE ", "\n\tCandidate functions", "\n\nPossible solutions"} {
		message, _, _ = strings.Cut(message, cut)
	}
	return strings.Join(strings.Fields(message), " ")
}
