package land

import (
	"bytes"
	"io"
)

// keepReturns hands CSV on so that encoding/csv keeps what stands in quotes: that reader takes the carriage return from every "\r\n",
// also where it is part of a value. Within quotes "\r\n" becomes "\r\r\n", of which it leaves "\r\n".
type keepReturns struct {
	in     io.Reader
	buf    []byte
	quoted bool
	cr     bool // the last byte handed on was a '\r' within quotes
	rest   []byte
	err    error
}

func (k *keepReturns) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(k.rest) == 0 {
		if k.err != nil {
			return 0, k.err
		}
		if k.buf == nil {
			k.buf = make([]byte, 32<<10)
		}
		var n int
		n, k.err = k.in.Read(k.buf)
		k.rest = k.widen(k.buf[:n])
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}

// widen gives b itself where no value in it holds "\r\n".
func (k *keepReturns) widen(b []byte) []byte {
	if !k.cr && bytes.IndexByte(b, '\r') < 0 {
		k.quoted = k.quoted != (bytes.Count(b, []byte{'"'})%2 == 1)
		return b
	}
	out := make([]byte, 0, len(b)+len(b)/16+1)
	for _, c := range b {
		if c == '\n' && k.cr {
			out = append(out, '\r')
		}
		if c == '"' {
			k.quoted = !k.quoted
		}
		k.cr = c == '\r' && k.quoted
		out = append(out, c)
	}
	return out
}
