package mailroom

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sternpost/sternpost/auth/mail"
)

// TestResults checks the results of mails in the database and in the metrics, once each.
func TestResults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		sender    Sender
		isLate    bool
		isSealed  bool // by a lost key
		result    string
		statement string
	}{
		{"a mail server takes it", senderOf(nil), false, false, "sent", "platform.mail_sent"},
		{"there is no mail server", nil, false, false, "kept", "platform.mail_sent"},
		{"the mail server does not answer", senderOf(errors.New("no answer")), false, false, "retried", "platform.mail_failed"},
		{"it is of no use any more", senderOf(nil), true, false, "failed", "platform.mail_failed"},
		{"nobody can open it", senderOf(nil), false, true, "failed", "platform.mail_failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db := &oneMail{isLate: test.isLate}
			r := New(Options{
				DB: db, Sender: test.sender, Process: func() *int32 { return nil }, Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
				Open: func([]byte) (mail.Content, bool) { return mail.Content{}, !test.isSealed },
			})
			r.sendDue(t.Context())
			if !strings.Contains(db.noted, test.statement+"(") {
				t.Errorf("the database is told %q, want %s", db.noted, test.statement)
			}
			for _, result := range []string{"sent", "kept", "retried", "failed"} {
				want := 0.0
				if result == test.result {
					want = 1
				}
				if got := testutil.ToFloat64(r.sent.WithLabelValues(result)); got != want {
					t.Errorf("%s: got %v, want %v", result, got, want)
				}
			}
		})
	}
}

// senderOf sends mails with one outcome.
func senderOf(err error) Sender { return outcome{err} }

type outcome struct{ err error }

func (o outcome) Send(context.Context, string, string, mail.Content) error { return o.err }

// oneMail returns a database with one due mail.
type oneMail struct {
	isLate, isTaken bool
	noted           string // the statement that says what became of it
}

func (d *oneMail) QueryRow(statement string, arguments []any, into ...any) error {
	if !strings.Contains(statement, "platform.mail_take(") {
		d.noted += statement
		return nil
	}
	if lease := arguments[0].(time.Duration); lease <= mail.SendTimeout {
		return errors.New("the lease expires while the mail is being sent")
	}
	if d.isTaken {
		return nil
	}
	d.isTaken = true
	id, text, attempts := int64(1), "x", int32(0)
	*into[0].(**int64), *into[1].(**string), *into[2].(**string) = &id, &text, &text
	*into[3].(*[]byte), *into[4].(**int32), *into[5].(**bool) = []byte("sealed"), &attempts, &d.isLate
	return nil
}
