// Package mailserver is a mail server for tests: a real one, that speaks SMTP, and keeps
// the mails it accepts.
package mailserver

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	netmail "net/mail"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Server is a real SMTP server that keeps the mails it accepts.
type Server struct {
	Host    string
	Port    int
	Trusted *tls.Config // trusts its certificate

	mutex  sync.Mutex
	taken  []Mail
	logins int
	rcpt   error
	data   error
}

// Mail is an accepted mail.
type Mail struct {
	From, To string
	IsTLS    bool
	Header   netmail.Header
	Body     []byte // as received
}

// Taken returns the accepted mails, in order.
func (s *Server) Taken() []Mail {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]Mail(nil), s.taken...)
}

// Logins returns the number of logins.
func (s *Server) Logins() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.logins
}

// Refuse sets the answers to recipients and to texts; nil accepts them.
func (s *Server) Refuse(recipient, text error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.rcpt, s.data = recipient, text
}

// New starts a server that listens with TLS from the first byte on, or offers STARTTLS
// unless withTLS is false. It asks for the login ada, secret.
func New(t *testing.T, isImplicit, withTLS bool) *Server {
	t.Helper()
	certificate, pool := newCertificate(t)
	s := &Server{Trusted: &tls.Config{RootCAs: pool, ServerName: "localhost"}}
	server := smtp.NewServer(s)
	server.Domain = "localhost"
	server.AllowInsecureAuth = !withTLS
	if withTLS {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().(*net.TCPAddr)
	s.Host, s.Port = "localhost", address.Port
	if isImplicit {
		l = tls.NewListener(l, server.TLSConfig)
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	return s
}

func newCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// session is the session that go-smtp needs.
type session struct {
	server   *Server
	conn     *smtp.Conn
	from, to string
}

// NewSession begins a connection.
func (s *Server) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &session{server: s, conn: c}, nil
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != "ada" || password != "secret" {
			return smtp.ErrAuthFailed
		}
		s.server.mutex.Lock()
		defer s.server.mutex.Unlock()
		s.server.logins++
		return nil
	}), nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.server.mutex.Lock()
	defer s.server.mutex.Unlock()
	s.to = to
	return s.server.rcpt
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	message, err := netmail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(message.Body)
	if err != nil {
		return err
	}
	_, isTLS := s.conn.TLSConnectionState()
	s.server.mutex.Lock()
	defer s.server.mutex.Unlock()
	if s.server.data != nil {
		return s.server.data
	}
	s.server.taken = append(s.server.taken, Mail{s.from, s.to, isTLS, message.Header, body})
	return nil
}
