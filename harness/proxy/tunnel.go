package proxy

import (
	"net"
	"sync"
)

type hostKey struct{}

// tunnel is one CONNECT, with the host it was opened for.
type tunnel struct {
	net.Conn
	host string
}

func hostOf(c net.Conn) string {
	if t, ok := c.(*tunnel); ok {
		return t.host
	}
	return ""
}

// tunnels is a listener whose connections are the tunnels that were opened.
type tunnels struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newTunnels() *tunnels { return &tunnels{conns: make(chan net.Conn), done: make(chan struct{})} }

func (t *tunnels) add(c net.Conn) {
	select {
	case t.conns <- c:
	case <-t.done:
		_ = c.Close()
	}
}

// Accept gives the next tunnel.
func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case c := <-t.conns:
		return c, nil
	case <-t.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (t *tunnels) Close() error {
	t.once.Do(func() { close(t.done) })
	return nil
}

// Addr is nobody's: a tunnel comes from inside.
func (t *tunnels) Addr() net.Addr { return &net.TCPAddr{} }
