package stopper

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// A logReader reads strace's log from a pipe, line by line, and can tell whether all that was written has been read.
type logReader struct {
	file *os.File
	text []byte // read and not given out yet
	err  error
}

// next gives the next line. more is false where none came within the wait; 0 waits for good. At the log's end err is io.EOF.
func (l *logReader) next(wait time.Duration) (line string, more bool, err error) {
	over := time.Time{} // a read deadline is an instant; this one is none
	if wait > 0 {
		over = time.Now().Add(wait)
	}
	for {
		if end := bytes.IndexByte(l.text, '\n'); end >= 0 {
			line, l.text = string(l.text[:end]), l.text[end+1:]
			return line, true, nil
		}
		if l.err != nil {
			return "", false, l.err
		}
		if err := l.file.SetReadDeadline(over); err != nil {
			return "", false, err
		}
		some := make([]byte, 64<<10)
		n, err := l.file.Read(some)
		l.text = append(l.text, some[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return "", false, nil
		}
		l.err = err
	}
}

// unread reports whether a line is there that next has not given; it does not wait.
func (l *logReader) unread() bool {
	raw, err := l.file.SyscallConn()
	if err != nil {
		return false
	}
	some := make([]byte, 64<<10)
	_ = l.file.SetReadDeadline(time.Time{}) // one that is over refuses to read at all
	_ = raw.Read(func(fd uintptr) bool {
		n, err := syscall.Read(int(fd), some)
		switch {
		case n > 0:
			l.text = append(l.text, some[:n]...)
		case n == 0 && err == nil:
			l.err = io.EOF
		}
		return true // whatever came of it: to wait is next's business
	})
	return bytes.IndexByte(l.text, '\n') >= 0
}
