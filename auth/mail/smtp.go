package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
)

// TLS is how the connection to the mail server is encrypted.
type TLS string

// The ways: after a plaintext greeting, from the first byte on, or not at all.
const (
	StartTLS    TLS = "starttls"
	ImplicitTLS TLS = "implicit"
	NoTLS       TLS = "off"
)

// DefaultPort returns the usual port of mail servers for it.
func (t TLS) DefaultPort() int {
	switch t {
	case ImplicitTLS:
		return 465
	case NoTLS:
		return 25
	}
	return 587
}

// Options configure the mail server and the sender.
type Options struct {
	From     string // an address, optionally after a name
	Host     string
	Port     int
	Username string // empty means without authentication
	Password string
	TLS      TLS
	Trusted  *tls.Config // nil means the system's
}

// SendTimeout limits the sending of one mail.
const SendTimeout = 30 * time.Second

// Sender sends mails by SMTP, each on a connection of its own.
type Sender struct {
	client *mail.Client
	from   *netmail.Address
}

// NewSender makes a sender. It does not connect.
func NewSender(o Options) (*Sender, error) {
	from, err := netmail.ParseAddress(o.From)
	if err != nil {
		return nil, fmt.Errorf("mail.from: %q is not an e-mail address", o.From)
	}
	options := []mail.Option{mail.WithPort(o.Port), mail.WithTimeout(SendTimeout)}
	switch o.TLS {
	case StartTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case ImplicitTLS:
		options = append(options, mail.WithSSL())
	case NoTLS:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if o.Trusted != nil {
		options = append(options, mail.WithTLSConfig(o.Trusted))
	}
	if o.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(o.Username), mail.WithPassword(o.Password))
	}
	client, err := mail.NewClient(o.Host, options...)
	if err != nil {
		return nil, fmt.Errorf("mail.smtp: %w", err)
	}
	return &Sender{client: client, from: from}, nil
}

// Send sends a mail. id identifies a duplicate: a mail is sent again if its sender ended
// before it could note that it was sent.
func (s *Sender) Send(ctx context.Context, id, recipient string, content Content) error {
	m := mail.NewMsg()
	m.FromMailAddress(s.from)
	if err := m.To(recipient); err != nil {
		return &Refused{err}
	}
	m.Subject(content.Subject)
	m.SetDate()
	m.SetMessageIDWithValue(id + s.from.Address[strings.LastIndexByte(s.from.Address, '@'):])
	m.SetGenHeader("Auto-Submitted", "auto-generated") // no out-of-office answers
	m.SetBodyString(mail.TypeTextPlain, content.Text)
	if content.HTML != "" {
		m.AddAlternativeString(mail.TypeTextHTML, content.HTML)
	}

	ctx, cancel := context.WithTimeout(ctx, SendTimeout)
	defer cancel()
	client, err := s.client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("reach the mail server: %w", err)
	}
	err = s.client.SendWithSMTPClient(client, m)
	_ = s.client.CloseWithSMTPClient(client) // the mail is already accepted or refused
	return judge(err, recipient)
}

// Refused is the error of a mail that the mail server will never take: do not retry it.
type Refused struct{ cause error }

// Error returns the answer of the mail server.
func (r *Refused) Error() string { return r.cause.Error() }

// Unwrap returns the cause.
func (r *Refused) Unwrap() error { return r.cause }

// judge finds the errors that a retry cannot fix: the recipient, or the mail, is refused
// for good. Its text does not name the recipient, since it is logged.
func judge(err error, recipient string) error {
	var failed *mail.SendError
	if !errors.As(err, &failed) {
		return err
	}
	err = errors.New(strings.ReplaceAll(err.Error(), recipient, "the recipient"))
	if !failed.IsTemp() && failed.ErrorCode() >= 500 &&
		(failed.Reason == mail.ErrSMTPRcptTo || failed.Reason == mail.ErrSMTPData || failed.Reason == mail.ErrSMTPDataClose) {
		return &Refused{err}
	}
	return err
}
