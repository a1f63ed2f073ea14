package land

import (
	"bytes"
	"io"
)

// wholeCSV hands CSV on so that encoding/csv loses nothing of it. That reader takes the carriage return from every "\r\n", also where
// it is part of a value: within quotes "\r\n" becomes "\r\r\n", of which it leaves "\r\n". And it skips empty lines, though under a
// header of one column an empty line is a row, its field empty: such a line becomes `""`. Under several columns it is no row.
type wholeCSV struct {
	in      io.Reader
	buf     []byte
	quoted  bool
	cr      bool // the last byte handed on was a '\r' within quotes
	begun   bool // the line has something in it
	held    bool // a '\r' at the beginning of a line waits for what follows
	columns int  // of the header: 0 while it is not over, 1, or 2 for more
	rest    []byte
	err     error
}

func (w *wholeCSV) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(w.rest) == 0 {
		if w.err != nil && w.held {
			w.held, w.rest = false, []byte{'\r'}
			break
		}
		if w.err != nil {
			return 0, w.err
		}
		if w.buf == nil {
			w.buf = make([]byte, 32<<10)
		}
		var n int
		n, w.err = w.in.Read(w.buf)
		w.rest = w.widen(w.buf[:n])
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// plain tells that b needs nothing: no value in it holds "\r\n", and none of its lines is an empty row.
func (w *wholeCSV) plain(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if w.columns == 0 || w.held || w.cr || bytes.IndexByte(b, '\r') >= 0 {
		return false
	}
	return w.columns > 1 || (w.begun || b[0] != '\n') && !bytes.Contains(b, []byte("\n\n"))
}

// widen gives b itself where nothing is to be done.
func (w *wholeCSV) widen(b []byte) []byte {
	if w.plain(b) {
		w.quoted = w.quoted != (bytes.Count(b, []byte{'"'})%2 == 1)
		w.begun = len(b) == 0 && w.begun || len(b) > 0 && b[len(b)-1] != '\n'
		return b
	}
	out := make([]byte, 0, len(b)+len(b)/16+4)
	for _, c := range b {
		if w.held {
			w.held, w.begun = false, c != '\n'
			if c == '\n' {
				out = append(w.emptyRow(out), '\r', '\n')
				continue
			}
			out = append(out, '\r')
		}
		if c == '\n' && w.cr {
			out = append(out, '\r')
		}
		if c == '"' {
			w.quoted = !w.quoted
		}
		w.cr = c == '\r' && w.quoted
		switch {
		case w.quoted:
			w.begun = true
		case c == '\r' && !w.begun:
			w.held = true
			continue
		case c == '\n' && !w.begun:
			out = w.emptyRow(out)
		case c == '\n':
			w.begun, w.columns = false, max(w.columns, 1)
		default:
			w.begun = true
			if c == ',' && w.columns == 0 {
				w.columns = 2
			}
		}
		out = append(out, c)
	}
	return out
}

// emptyRow writes the row that an empty line is, if it is one.
func (w *wholeCSV) emptyRow(out []byte) []byte {
	if w.columns == 1 {
		return append(out, `""`...)
	}
	return out
}
