package land

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"contextful/ref/fault"
)

const (
	jsonBlock  = 1 << 20  // bytes of input parsed at a time
	maxLine    = 64 << 20 // of one row
	maxWorkers = 4
)

// source reads an input to its end and hands its blocks on, in order, on the caller's goroutine.
type source func(ctx context.Context, take func(*block) error) error

// unreadable is an input that failed under us, not one with bad rows.
func unreadable(input string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.StoreInputMalformed, input, input+" could not be read to its end").WithHint(readAgain).Wrap(err)
}

// jsonLines reads JSON Lines: blocks of whole lines are parsed side by side and taken in order. When it returns early, a
// goroutine may still wait for the input's next bytes.
func jsonLines(in io.Reader, name string, rs rules, blockBytes int) source {
	return jsonLinesFrom(in, name, 1, rs, blockBytes)
}

// jsonLinesFrom is jsonLines of an input that begins at a line of a longer text: messages name the line of that.
func jsonLinesFrom(in io.Reader, name string, first int64, rs rules, blockBytes int) source {
	type job struct {
		data []byte
		line int64
		done chan *block // closed behind the last
	}
	return func(ctx context.Context, take func(*block) error) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		workers := max(1, min(runtime.GOMAXPROCS(0), maxWorkers))
		jobs, ordered := make(chan *job, workers), make(chan *job, workers)
		var readErr error // published by closing ordered
		for range workers {
			go func() {
				for j := range jobs {
					rowsOf(rs, j.data, j.line, func(b *block) bool {
						select {
						case j.done <- b:
							return true
						case <-ctx.Done():
							return false
						}
					})
					close(j.done)
				}
			}()
		}
		go func() {
			defer close(ordered)
			defer close(jobs)
			line := first
			readErr = lineBlocks(in, name, first, blockBytes, func(data []byte, lines int64) error {
				j := &job{data: data, line: line, done: make(chan *block, 1)}
				line += lines
				for _, to := range []chan *job{jobs, ordered} {
					select {
					case to <- j:
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				return nil
			})
		}()
		for j := range ordered {
			for b := range j.done {
				// Cancelled, blocks before this one may be missing.
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := take(b); err != nil {
					return err
				}
			}
		}
		if readErr != nil {
			return readErr
		}
		return ctx.Err()
	}
}

// lineBlocks cuts an input into blocks of whole lines, each of about blockBytes or one line. The bytes of a block are its receiver's.
// line is the number of the first.
func lineBlocks(in io.Reader, name string, line int64, blockBytes int, each func(data []byte, lines int64) error) error {
	var carry []byte
	for {
		buf := make([]byte, len(carry), max(blockBytes, 2*len(carry)))
		copy(buf, carry)
		n, err := io.ReadFull(in, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return unreadable(name, err)
		}
		cut := bytes.LastIndexByte(buf, '\n') + 1
		if end {
			cut = len(buf)
		}
		// What is carried is bounded below; the line it ends with may still be too long.
		if first := bytes.IndexByte(buf[:cut], '\n'); first > maxLine || first < 0 && cut > maxLine {
			return lineTooLong(name, line)
		}
		if cut > 0 {
			lines := int64(bytes.Count(buf[:cut], []byte{'\n'}))
			if err := each(buf[:cut:cut], lines); err != nil {
				return err
			}
			line += lines
		}
		carry = buf[cut:]
		if len(carry) > maxLine {
			return lineTooLong(name, line)
		}
		if end {
			return nil
		}
	}
}

func lineTooLong(name string, line int64) error {
	where := fmt.Sprintf("%s:%d", name, line)
	return fault.New(fault.StoreInputMalformed, where, where+": the line is longer than 64 MiB").WithHint(oneArray)
}
