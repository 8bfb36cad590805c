package mailroom

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sternpost/sternpost/auth/mail"
	"github.com/sternpost/sternpost/server/queue"
)

// TestResults checks the results of mails in the database and in the metrics, once each.
func TestResults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		sender    Sender
		isLate    bool
		isSealed  bool // by a lost key
		sent      int  // to the recipient, before
		result    string
		statement string
	}{
		{"a mail server takes it", senderOf(nil), false, false, 0, "sent", "platform.task_done"},
		{"there is no mail server", nil, false, false, 0, "kept", "platform.task_done"},
		{"the mail server does not answer", senderOf(errors.New("no answer")), false, false, 0, "retried", "platform.task_failed"},
		{"it is of no use any more", senderOf(nil), true, false, 0, "failed", "platform.task_failed"},
		{"nobody can open it", senderOf(nil), false, true, 0, "failed", "platform.task_failed"},
		{"code sends its recipient the last one of a day", senderOf(nil), false, false, 49, "sent", "platform.task_done"},
		{"code sends its recipient one more", senderOf(nil), false, false, 50, "failed", "platform.task_failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db := &oneMail{isLate: test.isLate, sent: test.sent}
			registry := prometheus.NewRegistry()
			q := queue.New(queue.Options{DB: db, Process: func() *int32 { return nil }, Log: slog.New(slog.DiscardHandler)}, Kind(Options{
				Sender: test.sender, Registry: registry, Log: slog.New(slog.DiscardHandler),
				Open: func(string, []byte) (content mail.Content, err error) {
					if test.isSealed {
						err = errors.New("nobody can open it")
					}
					return content, err
				},
				PerAddress: 50,
			}))
			_ = q.Drain(t.Context())
			if !strings.Contains(db.noted, test.statement+"(") {
				t.Errorf("the database is told %q, want %s", db.noted, test.statement)
			}
			want := "# HELP sternpost_mail_total Attempts to send a mail, by result: sent, kept, retried or failed permanently.\n# TYPE sternpost_mail_total counter\n"
			for _, result := range []string{"failed", "kept", "retried", "sent"} {
				count := 0
				if result == test.result {
					count = 1
				}
				want += fmt.Sprintf("sternpost_mail_total{result=%q} %d\n", result, count)
			}
			if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
				t.Error(err)
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
	sent            int
	noted           string // the statement that says what became of it
}

func (d *oneMail) QueryRow(statement string, arguments []any, into ...any) error {
	if !strings.Contains(statement, "platform.task_take(") {
		d.noted += statement
		return nil
	}
	if lease := arguments[2].(time.Duration); lease <= mail.SendTimeout {
		return errors.New("the lease expires while the mail is being sent")
	}
	*into[0].(*string) = `[]`
	if !d.isTaken {
		d.isTaken = true
		*into[0].(*string) = fmt.Sprintf(`[{"id": 1, "name": "x", "key": "x", "content": "c2VhbGVk", "attempts": 0, "isLate": %t, "sent": %d}]`, d.isLate, d.sent)
	}
	return nil
}
