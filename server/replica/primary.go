package replica

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// primary is the known state of the primary.
type primary struct {
	questions chan *question
	floor     atomic.Uint64 // the position of its log when the connection was opened
	asked     atomic.Int64  // when it last answered, in nanoseconds
}

// question asks for the position of the log at an identity's last write.
type question struct {
	identity string
	answer   chan Position // holds one; closed without any if it is unknown
}

// mostQuestions limits the questions at a time.
const mostQuestions = 1024

// errUnknown is returned if the primary could not be asked.
var errUnknown = errors.New("the primary does not tell the position of the caller's writes")

// find asks the primary for the position of the log at an identity's last write. Many
// questions are combined.
func (p *primary) find(identity string) (Position, error) {
	q := &question{identity, make(chan Position, 1)}
	select {
	case p.questions <- q:
	default:
		return 0, errUnknown
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case position, isKnown := <-q.answer:
		if isKnown {
			return position, nil
		}
	case <-timer.C:
	}
	return 0, errUnknown
}

// runPrimary keeps a connection to the primary, until the context ends.
func (w *Watch) runPrimary(ctx context.Context) {
	for ctx.Err() == nil {
		err := w.followPrimary(ctx)
		if ctx.Err() == nil {
			w.options.Log.Debug("the primary is not watched", "error", err)
		}
		for end := time.After(reconnectDelay); end != nil; {
			select {
			case <-ctx.Done():
				return
			case q := <-w.primary.questions:
				close(q.answer)
			case <-end:
				end = nil
			}
		}
	}
}

// followPrimary asks the primary on one connection. A crash of the server or the promotion of another one loses the
// positions of identities, and also ends the connection. So a replica must have everything that was written before
// the connection was opened.
func (w *Watch) followPrimary(ctx context.Context) error {
	conn, err := w.options.Primary(ctx)
	if err != nil {
		return err
	}
	defer func() {
		ended, stop := context.WithCancel(context.Background())
		stop()
		_ = conn.Close(ended)
	}()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for isFirst := true; ; isFirst = false {
		var asked []*question
		if !isFirst {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			case q := <-w.primary.questions:
				asked = append(asked, q)
			}
			for len(w.primary.questions) > 0 && len(asked) < mostQuestions {
				asked = append(asked, <-w.primary.questions)
			}
		}
		if err := w.askPrimary(ctx, conn, asked, isFirst); err != nil {
			for _, q := range asked {
				close(q.answer)
			}
			return err
		}
	}
}

// askPrimary sends the questions, and notes the time.
func (w *Watch) askPrimary(ctx context.Context, conn *pgx.Conn, asked []*question, isFirst bool) error {
	ctx, cancel := context.WithTimeout(ctx, staleness)
	defer cancel()
	identities := make([]string, len(asked))
	for i, q := range asked {
		identities[i] = q.identity
	}
	began := time.Now()
	var inserted, flushed string
	var found []*string
	err := conn.QueryRow(ctx, `select pg_current_wal_insert_lsn()::text, pg_current_wal_flush_lsn()::text, platform.position_find($1)::text[]`, identities).
		Scan(&inserted, &flushed, &found)
	if err != nil {
		return fmt.Errorf("ask the primary for its position: %w", err)
	}
	end, err := ParsePosition(inserted)
	if err != nil {
		return err
	}
	safe, err := ParsePosition(flushed)
	if err != nil {
		return err
	}
	positions := make([]Position, len(asked))
	for i := range asked {
		if found[i] != nil {
			if positions[i], err = ParsePosition(*found[i]); err != nil {
				return err
			}
		}
	}
	if isFirst {
		if err := w.bringForward(ctx, conn); err != nil {
			return err
		}
		for _, r := range w.all {
			r.forget()
		}
		w.primary.floor.Store(uint64(end))
	}
	w.primary.asked.Store(began.UnixNano())
	for _, r := range w.all {
		r.expect(mark{began, safe})
	}
	for i, q := range asked {
		q.answer <- positions[i]
	}
	return nil
}

// bringForward makes replicas reach the primary's position in the log. In a quiet database
// the end of the log may be a part of a page that no commit waits for. It goes to the
// replicas only with the next write: possibly never, or after half a minute. The log of a
// transaction with a number is written out within moments.
func (w *Watch) bringForward(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "select pg_current_xact_id()"); err != nil {
		return fmt.Errorf("flush the log of the primary: %w", err)
	}
	return nil
}
