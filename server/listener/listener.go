package listener

import (
	"cmp"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Listener hands out connections that know their state. fasthttp lacks this: to continue
// after a failed accept, to limit connections, to notice that a client has left, to close
// unused connections when the server stops, to deliver an answer that was given before the
// request was completely read, and to know the path of a request with too long a header.
type Listener struct {
	net.Listener
	Limits  Limits
	log     *slog.Logger
	starved episode // no connection can be accepted
	full    episode // too many connections are open

	serve   func(net.Conn) error // serves a connection until it ends; nil if none is parked
	stopped atomic.Bool          // nothing is parked any more

	mu    sync.Mutex
	open  map[*Connection]struct{}
	peers map[string]int // the number of connections of each peer
}

// Parks enables the parking of connections that wait. serve serves a connection with new
// data, and closes it at the end. Call Parks before the first Accept.
func (l *Listener) Parks(serve func(net.Conn) error) { l.serve = serve }

// New wraps a listener.
func New(l net.Listener, limits Limits, log *slog.Logger) *Listener {
	return &Listener{Listener: l, Limits: limits, log: log, open: map[*Connection]struct{}{}, peers: map[string]int{}}
}

// Accept waits for the next connection. Its error is permanent.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.take()
		if err != nil {
			return nil, err
		}
		c := l.Wrap(inner)
		if l.admit(c) {
			return c, nil
		}
		inner.Close()
	}
}

// Wrap makes a connection one of the listener's. It counts once it is admitted.
func (l *Listener) Wrap(inner net.Conn) *Connection {
	c := &Connection{Conn: inner, listener: l, peer: l.Limits.peerOf(inner.RemoteAddr())}
	if s, ok := inner.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			c.raw = raw
		}
	}
	c.waiting.Store(time.Now().UnixNano())
	return c
}

const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
)

// take accepts a connection, as soon as possible.
func (l *Listener) take() (net.Conn, error) {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		inner, err := l.Listener.Accept()
		if err == nil || !isPassing(err) {
			return inner, err
		}
		if l.starved.begins(time.Now()) {
			l.log.Warn("cannot accept a connection", "error", err)
		}
		if !errors.Is(err, syscall.ECONNABORTED) {
			l.shed("")
		}
		time.Sleep(pause)
	}
}

// isPassing tells whether accepting may succeed after a while: the process or the system
// lacks a resource, or a client left before it was accepted.
func isPassing(err error) bool {
	for _, passing := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// admit gives a connection a place. If all are taken, the connections that have waited
// longest for a request are closed, those of the same peer if it has more than its share.
// If all others are busy, the new one is closed.
func (l *Listener) admit(c *Connection) bool {
	l.mu.Lock()
	isOverShare := c.peer != "" && l.peers[c.peer] >= l.Limits.perPeer
	isFull := len(l.open) >= l.Limits.All
	l.mu.Unlock()

	if isOverShare || isFull {
		if l.full.begins(time.Now()) {
			l.log.Warn("too many connections: closing those that have been idle longest",
				"limit", l.Limits.All, "limitOfOnePeer", l.Limits.perPeer, "peer", c.peer, "isTheirs", isOverShare)
		}
		peer := ""
		if isOverShare {
			peer = c.peer
		}
		if l.shed(peer) == 0 {
			return false
		}
	}
	l.mu.Lock()
	l.open[c] = struct{}{}
	l.peers[c.peer]++
	l.mu.Unlock()
	return true
}

// shed closes a part of the connections that wait for a request, beginning with the
// longest wait: those of one peer, or of all if peer is empty. It returns their number.
func (l *Listener) shed(peer string) int {
	type waiting struct {
		c     *Connection
		since int64
	}
	var all []waiting
	l.mu.Lock()
	for c := range l.open {
		if since := c.waiting.Load(); since != 0 && (peer == "" || c.peer == peer) {
			all = append(all, waiting{c, since})
		}
	}
	l.mu.Unlock()

	slices.SortFunc(all, func(a, b waiting) int { return cmp.Compare(a.since, b.since) })
	all = all[:(len(all)+15)/16]
	for _, w := range all {
		w.c.Close()
	}
	return len(all)
}

// forget frees the place of a closed connection.
func (l *Listener) forget(c *Connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, isOpen := l.open[c]; !isOpen {
		return
	}
	delete(l.open, c)
	if l.peers[c.peer]--; l.peers[c.peer] == 0 {
		delete(l.peers, c.peer)
	}
}

// Count returns the number of open connections: in total, of one peer, and of those that
// have received data.
func (l *Listener) Count(peer string) (all, theirs, used int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if c.Used.Load() {
			used++
		}
	}
	return len(l.open), l.peers[peer], used
}

// CloseUnused closes the connections that never received data, and the parked ones. After
// it, none is parked.
func (l *Listener) CloseUnused() {
	l.stopped.Store(true)
	l.mu.Lock()
	var unused []*Connection
	for c := range l.open {
		if !c.Used.Load() || c.parked.Load() {
			unused = append(unused, c)
		}
	}
	l.mu.Unlock()
	for _, c := range unused {
		c.Close()
	}
}

// episode is a trouble that is logged once, and again if it returns after a while. It is
// for the accepting goroutine.
type episode struct {
	last time.Time
}

const episodeEnd = time.Minute // without the trouble

func (e *episode) begins(now time.Time) bool {
	isNew := now.Sub(e.last) > episodeEnd
	e.last = now
	return isNew
}

// Limits limits the number of connections.
type Limits struct {
	All     int
	perPeer int
	trusted []netip.Prefix // proxies, exempt from the limit per peer
}

// peerOf returns the peer that connections of an address count for; empty if they count
// only in total.
func (l *Limits) peerOf(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return ""
	}
	at := tcp.AddrPort().Addr().Unmap()
	if slices.ContainsFunc(l.trusted, func(p netip.Prefix) bool { return p.Contains(at) }) {
		return ""
	}
	return NetworkOf(at)
}

// NetworkOf returns the text under which an address counts.
func NetworkOf(a netip.Addr) string {
	if !a.Is6() {
		return a.String()
	}
	network, err := a.WithZone("").Prefix(64)
	if err != nil {
		return a.String()
	}
	return network.String()
}
