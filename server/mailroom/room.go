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
)

const (
	pollInterval = 2 * time.Second
	firstDelay   = 4 * time.Second // before the first retry; then four times as long each time
	longestDelay = 15 * time.Minute
	// lease is how long a mail in progress is reserved for this server. If the server ends meanwhile and has no
	// connection of its own to the database, the mail waits that long.
	lease = mail.SendTimeout + 30*time.Second
)

// Database is the part of the database that the room needs.
type Database interface {
	// QueryRow runs a statement that returns one row.
	QueryRow(statement string, arguments []any, into ...any) error
}

// Sender hands a mail to a mail server; *mail.Sender does.
type Sender interface {
	// Send sends a mail. It fails with a *mail.Refused if a retry cannot help.
	Send(ctx context.Context, id, recipient string, content mail.Content) error
}

// Options configure a room.
type Options struct {
	DB       Database
	Sender   Sender                                              // nil means that mails are kept and not sent
	Open     func(sealed []byte) (content mail.Content, ok bool) // opens the mails in the queue
	IsKept   bool                                                // the content of a sent mail is kept: for developers
	IsServed func() bool                                         // whether a release is served, which mails need
	Process  func() *int32                                       // of a connection that ends with this server, in the database; nil means none
	Registry prometheus.Registerer                               // takes the metrics
	Log      *slog.Logger
}

// Room sends mails.
type Room struct {
	Options
	sent     *prometheus.CounterVec
	woken    chan struct{}
	isFailed bool // whether the last access to the database failed
}

// New makes a room. It sends nothing before Run.
func New(o Options) *Room {
	r := &Room{Options: o, woken: make(chan struct{}, 1), sent: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sternpost_mail_total",
		Help: "Attempts to send a mail, by result: sent, kept, retried or failed permanently.",
	}, []string{"result"})}
	for _, result := range []string{"sent", "kept", "retried", "failed"} {
		r.sent.WithLabelValues(result) // the metric begins at 0
	}
	r.Registry.MustRegister(r.sent)
	return r
}

// Wake makes the room look for due mails at once. It does not block.
func (r *Room) Wake() {
	select {
	case r.woken <- struct{}{}:
	default: // it is about to look
	}
}

// Run sends the due mails until the context ends.
func (r *Room) Run(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-r.woken:
		}
		if r.IsServed() {
			r.sendDue(ctx)
		}
	}
}

// sendDue sends until no mail is due.
func (r *Room) sendDue(ctx context.Context) {
	for ctx.Err() == nil {
		isSome, err := r.sendNext(ctx)
		if err != nil {
			if !r.isFailed && ctx.Err() == nil {
				r.Log.Warn("cannot look for due mails", "error", err)
			}
			r.isFailed = true
			return
		}
		r.isFailed = false
		if !isSome {
			return
		}
	}
}

// sendNext sends one mail, if one is due. It leases the mail: if this server ends meanwhile,
// another takes it once the connection of this one has ended, or the lease.
func (r *Room) sendNext(ctx context.Context) (isSome bool, err error) {
	var m waiting
	err = r.DB.QueryRow(`select id, name, recipient, content, attempts, is_late from platform.mail_take($1, $2)`, []any{lease, r.Process()},
		&m.id, &m.name, &m.recipient, &m.content, &m.attempts, &m.isLate)
	if err != nil {
		return false, fmt.Errorf("take a mail: %w", err)
	}
	if m.id == nil {
		return false, nil
	}
	return true, r.note(ctx, &m, r.send(ctx, &m))
}

// waiting is a due mail; its id is empty if none is due.
type waiting struct {
	id              *int64
	name, recipient *string
	content         []byte
	attempts        *int32
	isLate          *bool
}

var (
	errLate   = &givenUp{"it was not sent in time"}
	errSealed = &givenUp{"it was encrypted with another signing key"}
)

// givenUp is the reason why a mail is not retried.
type givenUp struct{ reason string }

func (e *givenUp) Error() string { return e.reason }

// send hands a mail to the mail server.
func (r *Room) send(ctx context.Context, m *waiting) error {
	if *m.isLate {
		return errLate
	}
	content, ok := r.Open(m.content)
	if !ok {
		return errSealed
	}
	if r.Sender == nil {
		return nil
	}
	hash := sha256.Sum256(m.content) // the same in every retry, and different for each mail
	return r.Sender.Send(ctx, base64.RawURLEncoding.EncodeToString(hash[:16]), *m.recipient, content)
}

// note records the result for a mail.
func (r *Room) note(ctx context.Context, m *waiting, failed error) error {
	if failed == nil {
		result := "sent"
		if r.Sender == nil {
			result = "kept"
		}
		r.sent.WithLabelValues(result).Inc()
		return r.tell(`select platform.mail_sent($1, $2)`, *m.id, r.IsKept)
	}
	if ctx.Err() != nil {
		return ctx.Err() // the server stops: another one sends it
	}
	var refused *mail.Refused
	var late *givenUp
	var delay *time.Duration
	if errors.As(failed, &refused) || errors.As(failed, &late) {
		r.sent.WithLabelValues("failed").Inc()
		r.Log.Error("a mail cannot be sent", "mail", *m.id, "name", *m.name, "error", failed)
	} else {
		next := backOff(*m.attempts)
		delay = &next
		r.sent.WithLabelValues("retried").Inc()
		r.Log.Warn("a mail is tried again", "mail", *m.id, "name", *m.name, "attempt", *m.attempts+1, "in", next, "error", failed)
	}
	return r.tell(`select platform.mail_failed($1, $2, $3)`, *m.id, failed.Error(), delay)
}

// tell calls a function that returns nothing. Postgres answers null for it if the function is in SQL.
func (r *Room) tell(statement string, arguments ...any) error {
	return r.DB.QueryRow(statement, arguments, new(any))
}

// backOff returns the wait after so many attempts before the one that just failed.
func backOff(attempts int32) time.Duration {
	delay := firstDelay
	for range min(attempts, 10) {
		delay = min(4*delay, longestDelay)
	}
	return delay
}
