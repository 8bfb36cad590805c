package mail_test

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/sternpost/sternpost/auth/mail"
	"github.com/sternpost/sternpost/integration/mailserver"
)

// senderTo makes a sender for the server.
func senderTo(t *testing.T, s *mailserver.Server, how mail.TLS, password string) *mail.Sender {
	t.Helper()
	o := mail.Options{From: "Workshop <noreply@shop.example>", Host: s.Host, Port: s.Port, TLS: how, Trusted: s.Trusted}
	if password != "" {
		o.Username, o.Password = "ada", password
	}
	sender, err := mail.NewSender(o)
	if err != nil {
		t.Fatal(err)
	}
	return sender
}

var content = mail.Content{Subject: "Ein neues Paßwort", Text: "öffne\n\nhttps://app.example.com/done?token=to-ken\n", HTML: "<p>öffne"}

// TestSend sends a mail in each of the ways, and checks the received mail.
func TestSend(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		how      mail.TLS
		withTLS  bool
		password string
	}{{mail.StartTLS, true, "secret"}, {mail.ImplicitTLS, true, "secret"}, {mail.NoTLS, false, ""}, {mail.StartTLS, true, ""}} {
		t.Run(string(test.how)+test.password, func(t *testing.T) {
			t.Parallel()
			s := mailserver.New(t, test.how == mail.ImplicitTLS, test.withTLS)
			if err := senderTo(t, s, test.how, test.password).Send(t.Context(), "id-1", "ada@example.com", content); err != nil {
				t.Fatal(err)
			}
			if len(s.Taken()) != 1 {
				t.Fatalf("got %d mails", len(s.Taken()))
			}
			got := s.Taken()[0]
			if got.From != "noreply@shop.example" || got.To != "ada@example.com" || got.IsTLS != test.withTLS {
				t.Errorf("got a mail from %s to %s, TLS %t", got.From, got.To, got.IsTLS)
			}
			if (test.password != "") != (s.Logins() == 1) {
				t.Errorf("got the logins %d", s.Logins())
			}
			h := got.Header
			subject, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
			if err != nil || subject != content.Subject {
				t.Errorf("got the subject %q, %v", subject, err)
			}
			for name, want := range map[string]string{
				"From": `"Workshop" <noreply@shop.example>`, "To": "<ada@example.com>",
				"Message-Id": "<id-1@shop.example>", "Auto-Submitted": "auto-generated",
			} {
				if h.Get(name) != want {
					t.Errorf("%s: got %q, want %q", name, h.Get(name), want)
				}
			}
			if _, err := h.Date(); err != nil {
				t.Errorf("got the date %q", h.Get("Date"))
			}
			kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
			if err != nil || kind != "multipart/alternative" {
				t.Fatalf("got the content type %q", h.Get("Content-Type"))
			}
			parts := multipart.NewReader(bytes.NewReader(got.Body), parameters["boundary"])
			for _, want := range []struct{ kind, text string }{{"text/plain", content.Text}, {"text/html", content.HTML}} {
				part, err := parts.NextRawPart()
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(quotedprintable.NewReader(part))
				if err != nil || !strings.HasPrefix(part.Header.Get("Content-Type"), want.kind) ||
					strings.TrimRight(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n") != strings.TrimRight(want.text, "\n") {
					t.Errorf("got the part %q: %q, %v", part.Header.Get("Content-Type"), text, err)
				}
			}
		})
	}
}

// TestSendNothingInTheOpen checks that no mail and no password go to a server that does
// not encrypt, or that has another name.
func TestSendNothingInTheOpen(t *testing.T) {
	t.Parallel()
	open := mailserver.New(t, false, false)
	other := mailserver.New(t, false, true)
	other.Trusted = open.Trusted
	for _, test := range []struct {
		name string
		s    *mailserver.Server
		how  mail.TLS
	}{{"in the open", open, mail.StartTLS}, {"in the open, as is configured", open, mail.NoTLS}, {"of another certificate", other, mail.StartTLS}} {
		name, s := test.name, test.s
		err := senderTo(t, s, test.how, "secret").Send(t.Context(), "id", "ada@example.com", content)
		if err == nil || len(s.Taken())+s.Logins() > 0 {
			t.Errorf("a server %s: got %v, %d mails, %d logins", name, err, len(s.Taken()), s.Logins())
		}
		var refused *mail.Refused
		if errors.As(err, &refused) {
			t.Errorf("a server %s: %v counts as refused for good", name, err)
		}
	}
}

// TestRefusals distinguishes permanent refusals from temporary ones.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		rcpt, data error
		password   string
		isForGood  bool
	}{
		{"no such mailbox", &smtp.SMTPError{Code: 550, Message: "ada@example.com is unknown"}, nil, "secret", true},
		{"try later", &smtp.SMTPError{Code: 451, Message: "greylisted"}, nil, "secret", false},
		{"refused as spam", nil, &smtp.SMTPError{Code: 554, Message: "spam"}, "secret", true},
		{"full", nil, &smtp.SMTPError{Code: 452, Message: "full"}, "secret", false},
		{"wrong password", nil, nil, "wrong", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := mailserver.New(t, false, true)
			s.Refuse(test.rcpt, test.data)
			err := senderTo(t, s, mail.StartTLS, test.password).Send(t.Context(), "id", "ada@example.com", content)
			var refused *mail.Refused
			if err == nil || errors.As(err, &refused) != test.isForGood {
				t.Fatalf("got %v, want for good %t", err, test.isForGood)
			}
			if strings.Contains(err.Error(), "ada@example.com") || strings.Contains(err.Error(), "to-ken") || strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells more than the log may: %v", err)
			}
		})
	}
	closed := &mailserver.Server{Host: "127.0.0.1", Port: 1}
	if err := senderTo(t, closed, mail.NoTLS, "").Send(t.Context(), "id", "ada@example.com", content); err == nil {
		t.Error("a server that is not there took a mail")
	}
}
