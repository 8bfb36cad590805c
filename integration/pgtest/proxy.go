package pgtest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"regexp"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Fate is the fate of a statement on its way through a Proxy.
type Fate int

// Fates of a statement.
const (
	Pass          Fate = iota // it is run, and answered
	CutBefore                 // the connection breaks before the database has it
	CutUnanswered             // the database runs it, and the connection breaks before the answer
	CutAnswered               // the answer arrives, and the connection breaks after it
)

// Proxy is between a test and its database. It refuses statements like a database without
// a feature, and breaks connections at the critical moments.
type Proxy struct {
	url      string
	target   *pgconn.Config
	listener net.Listener

	mu      sync.Mutex
	refused *regexp.Regexp
	decide  func(statement string) Fate
	open    map[net.Conn]bool
	closed  bool
}

// NewProxy makes a proxy before a database, until the test ends.
func NewProxy(t testing.TB, databaseURL string) *Proxy {
	t.Helper()
	target, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatalf("pgtest: read the URL: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(target.User, target.Password), Host: listener.Addr().String(), Path: "/" + target.Database}
	p := &Proxy{url: u.String() + "?sslmode=disable", target: target, listener: listener, open: map[net.Conn]bool{}}
	go p.accept()
	t.Cleanup(p.close)
	return p
}

// URL connects to the database through the proxy.
func (p *Proxy) URL() string { return p.url }

// Refuse makes all statements fail whose text matches, as not supported.
func (p *Proxy) Refuse(pattern string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = regexp.MustCompile(pattern)
}

// Decide sets what decides the fate of each statement. nil lets all pass.
func (p *Proxy) Decide(decide func(statement string) Fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decide = decide
}

// Cut breaks all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.Close()
	}
}

func (p *Proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Cut()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(client)
	}
}

// keep notes that a connection is open, unless the proxy has ended.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.open[c] = true
	return true
}

func (p *Proxy) forget(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	c.Close()
}

// serve carries one connection.
func (p *Proxy) serve(client net.Conn) {
	defer p.forget(client)
	network, address := pgconn.NetworkAddress(p.target.Host, p.target.Port)
	server, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer p.forget(server)
	if !p.keep(client) || !p.keep(server) {
		return
	}
	w := &wire{proxy: p, client: client, server: server, statements: map[string]string{}}
	go func() {
		defer client.Close()
		defer server.Close()
		_ = w.toClient()
	}()
	_ = w.toServer()
	// It does not wait for the server's last words to a client that is gone.
}

// wire is a connection on its way through the proxy.
type wire struct {
	proxy          *Proxy
	client, server net.Conn
	statements     map[string]string // text by name

	mu   sync.Mutex
	fate Fate // of the statement that the server runs
}

var errCut = errors.New("the proxy cuts the connection")

// toServer reads what the client sends.
func (w *wire) toServer() error {
	in := bufio.NewReader(w.client)
	if err := w.start(in); err != nil {
		return err
	}
	for {
		kind, body, err := message(in)
		if err != nil {
			return err
		}
		switch kind {
		case 'Q':
			body = w.proxy.refuse(body, 0)
			err = w.sends(string(body))
		case 'P':
			name := until(body)
			body = w.proxy.refuse(body, len(name)+1)
			w.statements[name] = until(body[len(name)+1:])
		case 'B':
			portal := until(body)
			err = w.sends(w.statements[until(body[len(portal)+1:])])
		}
		if err == nil {
			err = write(w.server, kind, body)
		}
		if err != nil {
			return err
		}
	}
}

// start passes on the first message of a connection, which has no type. It declines
// encryption.
func (w *wire) start(in *bufio.Reader) error {
	const encrypted, encryptedGSS = 80877103, 80877104
	for {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		if code := binary.BigEndian.Uint32(head[4:]); code == encrypted || code == encryptedGSS {
			if _, err := w.client.Write([]byte{'N'}); err != nil {
				return err
			}
			continue
		}
		rest := make([]byte, binary.BigEndian.Uint32(head[:])-8)
		if _, err := io.ReadFull(in, rest); err != nil {
			return err
		}
		_, err := w.server.Write(append(head[:], rest...))
		return err
	}
}

// sends decides the fate of a statement before it is sent.
func (w *wire) sends(statement string) error {
	w.proxy.mu.Lock()
	decide := w.proxy.decide
	w.proxy.mu.Unlock()
	if decide == nil {
		return nil
	}
	fate := decide(statement)
	if fate == CutBefore {
		return errCut
	}
	if fate != Pass {
		w.mu.Lock()
		w.fate = fate
		w.mu.Unlock()
	}
	return nil
}

// toClient reads the server's answers.
func (w *wire) toClient() error {
	in := bufio.NewReader(w.server)
	for {
		kind, body, err := message(in)
		if err != nil {
			return err
		}
		w.mu.Lock()
		fate := w.fate
		w.mu.Unlock()
		if fate != CutUnanswered {
			if err := write(w.client, kind, body); err != nil {
				return err
			}
		}
		if kind == 'Z' && fate != Pass {
			return errCut
		}
	}
}

// refuse replaces a refused statement with one that fails. The text begins in the body at
// a position.
func (p *Proxy) refuse(body []byte, at int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := until(body[at:])
	if p.refused == nil || !p.refused.MatchString(text) {
		return body
	}
	const fails = `do $$ begin raise exception 'not supported by this database' using errcode = '0A000'; end $$`
	refused := append(append(bytes.Clone(body[:at]), fails...), 0)
	return append(refused, body[at+len(text)+1:]...)
}

// until returns the text up to the first NUL.
func until(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}

func message(in *bufio.Reader) (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	_, err = io.ReadFull(in, body)
	return head[0], body, err
}

func write(to net.Conn, kind byte, body []byte) error {
	b := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))
	_, err := to.Write(append(b, body...))
	return err
}
