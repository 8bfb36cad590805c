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

// TLS says how the connection to the mail server is encrypted.
type TLS string

// The ways: after a greeting in the open, from the first byte on, or not at all.
const (
	StartTLS    TLS = "starttls"
	ImplicitTLS TLS = "implicit"
	NoTLS       TLS = "off"
)

// DefaultPort is where mail servers listen for it.
func (t TLS) DefaultPort() int {
	switch t {
	case ImplicitTLS:
		return 465
	case NoTLS:
		return 25
	}
	return 587
}

// Options say which mail server sends, and for whom.
type Options struct {
	From     string // an address, perhaps with a name before it
	Host     string
	Port     int
	Username string // empty means that the server takes mails from us without
	Password string
	TLS      TLS
	Trusted  *tls.Config // nil means what the system trusts
}

// SendTimeout bounds how long one mail takes.
const SendTimeout = 30 * time.Second

// Sender sends mails by SMTP, each on a connection of its own.
type Sender struct {
	client *mail.Client
	from   *netmail.Address
}

// NewSender makes a sender. It connects to nothing yet.
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

// Send sends a mail. id tells anyone who receives it twice that it is the same: a mail whose
// sender ends before it can note that it was sent is sent again.
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
	_ = s.client.CloseWithSMTPClient(client) // the mail has been taken, or has not
	return judge(err, recipient)
}

// Refused is the error of a mail that the mail server will never take: it must not be tried
// again.
type Refused struct{ cause error }

// Error says what the mail server said.
func (r *Refused) Error() string { return r.cause.Error() }

// Unwrap returns what happened.
func (r *Refused) Unwrap() error { return r.cause }

// judge tells what no other try would mend: that the recipient, or what is sent, is refused
// for good. What is said of it does not name the recipient, since it is logged.
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
