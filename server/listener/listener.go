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

// Listener hands out connections that know their state. It exists for what fasthttp does
// not offer: to go on where no connection can be taken for a while, to bound how many
// there are, to see that a client has left, to close connections that never sent a request
// when the server stops, to let an answer arrive that was given before the request was read
// to its end, and to know the path of a request whose header is too long.
type Listener struct {
	net.Listener
	Limits  Limits
	log     *slog.Logger
	starved episode // no connection can be taken
	full    episode // there are too many

	serve   func(net.Conn) error // serves a connection until it ends; nil if none is parked
	stopped atomic.Bool          // nothing is parked any more

	mu    sync.Mutex
	open  map[*Connection]struct{}
	peers map[string]int // how many of them a peer has
}

// Parks lets connections be parked while they wait. serve serves one on which something has
// arrived, and closes it in the end. It is for the time before the first is accepted.
func (l *Listener) Parks(serve func(net.Conn) error) { l.serve = serve }

// New makes a listener of another one.
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

// Wrap makes a connection one of the listener's, which counts it once it is admitted.
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

// take takes a connection, as soon as that can be done.
func (l *Listener) take() (net.Conn, error) {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		inner, err := l.Listener.Accept()
		if err == nil || !isPassing(err) {
			return inner, err
		}
		if l.starved.begins(time.Now()) {
			l.log.Warn("no connection can be taken now", "error", err)
		}
		if !errors.Is(err, syscall.ECONNABORTED) {
			l.shed("")
		}
		time.Sleep(pause)
	}
}

// isPassing tells whether connections may be taken again after a while: the process or the
// system lacks something, or a client was gone before its turn.
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

// admit gives a connection a place. If there is none, those that wait for a request
// longest make room, of the same peer if that has more than its share; where all others
// are at work, the new one is turned away.
func (l *Listener) admit(c *Connection) bool {
	l.mu.Lock()
	isOverShare := c.peer != "" && l.peers[c.peer] >= l.Limits.perPeer
	isFull := len(l.open) >= l.Limits.All
	l.mu.Unlock()

	if isOverShare || isFull {
		if l.full.begins(time.Now()) {
			l.log.Warn("there are too many connections: those that wait longest are closed",
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

// shed closes a part of the connections that wait for a request, those first that have
// waited longest: of one peer, or of all if it is not named. It returns how many.
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

// forget frees the place of a connection that is closed.
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

// Count returns how many connections are open: in all, of one peer, and those on which
// something was sent.
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

// CloseUnused closes the connections on which nothing was ever sent, and those that are
// parked. None is parked from then on.
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

// episode is a trouble that is logged once, and again when it comes back after a while.
// It is for the goroutine that accepts.
type episode struct {
	last time.Time
}

const episodeEnd = time.Minute // without the trouble

func (e *episode) begins(now time.Time) bool {
	isNew := now.Sub(e.last) > episodeEnd
	e.last = now
	return isNew
}

// Limits is how many connections there may be.
type Limits struct {
	All     int
	perPeer int
	trusted []netip.Prefix // proxies, which may have them all
}

// peerOf returns how connections of that address are counted; empty if only all of them
// are.
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

// NetworkOf returns the text by which an address is counted.
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
