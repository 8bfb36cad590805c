package mailroom

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sternpost/sternpost/auth/mail"
	"github.com/sternpost/sternpost/server/queue"
)

// lease is how long a mail in progress is reserved for this server. If the server ends meanwhile and has no
// connection of its own to the database, the mail waits that long.
const lease = mail.SendTimeout + 30*time.Second

// Sender hands a mail to a mail server; *mail.Sender does.
type Sender interface {
	// Send sends a mail. It fails with a *mail.Refused if a retry cannot help.
	Send(ctx context.Context, id, recipient string, content mail.Content) error
}

// Options configure a room.
type Options struct {
	Sender     Sender                                               // nil means that mails are kept and not sent
	Open       func(name string, kept []byte) (mail.Content, error) // opens the mails in the queue
	PerAddress int                                                  // how many mails of code one address gets within a day
	IsKept     bool                                                 // the content of a sent mail is kept: for developers
	Registry   prometheus.Registerer                                // takes the metrics
	Log        *slog.Logger
}

// room sends mails.
type room struct {
	Options
	sent *prometheus.CounterVec
}

// Kind returns how mails are sent: one at a time.
func Kind(o Options) queue.Kind {
	r := &room{Options: o, sent: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sternpost_mail_total",
		Help: "Attempts to send a mail, by result: sent, kept, retried or failed permanently.",
	}, []string{"result"})}
	for _, result := range []string{"sent", "kept", "retried", "failed"} {
		r.sent.WithLabelValues(result) // the metric begins at 0
	}
	r.Registry.MustRegister(r.sent)
	return queue.Kind{Kind: "mail", Most: 1, Lease: lease, Run: r.send, Delay: backOff, IsKept: o.IsKept, Ended: r.ended}
}

// send hands a mail to the mail server.
func (r *room) send(ctx context.Context, t *queue.Task) error {
	if t.IsLate {
		return &queue.GivenUp{Reason: "it was not sent in time"}
	}
	if !mail.IsOfAccounts(t.Name) && t.Sent >= r.PerAddress {
		return &queue.GivenUp{Reason: fmt.Sprintf("the address has got %d mails within a day (mail.perAddress)", r.PerAddress)}
	}
	content, err := r.Open(t.Name, t.Content)
	if err != nil {
		return &queue.GivenUp{Reason: err.Error()}
	}
	if r.Sender == nil {
		return nil
	}
	hash := sha256.Sum256(fmt.Append(t.Content, t.ID)) // the same in every retry, and different for each mail
	err = r.Sender.Send(ctx, base64.RawURLEncoding.EncodeToString(hash[:16]), t.Key, content)
	if refused := (*mail.Refused)(nil); errors.As(err, &refused) {
		return &queue.GivenUp{Reason: err.Error()}
	}
	return err
}

// ended counts an attempt and logs one that failed.
func (r *room) ended(t *queue.Task, err error, delay time.Duration) {
	result := "sent"
	switch {
	case err == nil && r.Sender == nil:
		result = "kept"
	case err != nil && delay > 0:
		result = "retried"
		r.Log.Warn("a mail is tried again", "mail", t.ID, "name", t.Name, "attempt", t.Attempts+1, "in", delay, "error", err)
	case err != nil:
		result = "failed"
		r.Log.Error("a mail cannot be sent", "mail", t.ID, "name", t.Name, "error", err)
	}
	r.sent.WithLabelValues(result).Inc()
}

// backOff returns the wait after so many attempts before the one that just failed: 4 s, then four times as long each time.
func backOff(attempts int) time.Duration {
	return min(4*time.Second<<(2*min(attempts, 10)), 15*time.Minute)
}
