package live

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/refusal"
)

const (
	pollInterval = 25 * time.Millisecond // while there is a stream
	leastPause   = 5 * time.Millisecond  // between two looks, however much this server writes
	retryPause   = time.Second           // after a failure
	mostRecent   = 1 << 12               // changes that are kept for the calls under way
)

// Run reads, calls and sends until the context ends.
func (h *Hub) Run(ctx context.Context) {
	go h.dispatch(ctx)
	go h.keepTime(ctx)
	go h.checkAll(ctx)
	for range senders {
		go h.sendAll()
	}
	r := reader{hub: h}
	defer func() {
		r.drop()
		defer h.lock()()
		h.isEnded = true
		h.sends.Broadcast()
	}()
	for ctx.Err() == nil {
		pause := pollInterval
		unlock := h.lock()
		isIdle := len(h.streams) == 0
		unlock()
		switch {
		case isIdle:
			r.drop()
			pause = time.Hour
		default:
			if err := r.read(ctx); err != nil && ctx.Err() == nil {
				h.Log.Warn("cannot read changes for live answers", "error", err)
				r.drop()
				pause = retryPause
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		case <-h.wake:
			if pause < retryPause || isIdle {
				time.Sleep(leastPause)
			} else {
				time.Sleep(pause)
			}
		}
	}
}

// reader reads the record of changes. It keeps a snapshot: new is what was not visible then.
type reader struct {
	hub     *Hub
	conn    *pgx.Conn
	seen    *string // nil before the first look
	cluster *int64
}

// drop forgets the snapshot. All answers are called anew after the next one.
func (r *reader) drop() {
	if r.conn != nil {
		database.Drop(r.conn)
	}
	*r = reader{hub: r.hub}
	defer r.hub.lock()()
	r.hub.isRead = false
}

func (r *reader) read(ctx context.Context) (err error) {
	if r.conn == nil {
		if r.conn, err = r.hub.DB.Dial(ctx); err != nil {
			return err
		}
	}
	var upto string
	var cluster *int64
	var text *string
	bounded, cancel := context.WithTimeout(ctx, database.CheckTimeout)
	defer cancel()
	err = database.QueryRow(bounded, r.conn, `select upto::text, cluster, changes::text from platform.live_read($1::text::pg_snapshot)`, []any{r.seen}, &upto, &cluster, &text)
	if err != nil {
		return fmt.Errorf("read changes: %w", err)
	}
	var changes []change
	if text != nil {
		if err := json.Unmarshal([]byte(*text), &changes); err != nil {
			return fmt.Errorf("read changes: %w", err)
		}
	}
	isFirst := r.seen == nil || r.cluster != nil && cluster != nil && *r.cluster != *cluster
	r.seen, r.cluster = &upto, cluster
	r.hub.take(changes, isFirst)
	return nil
}

// take marks what changes concern; after a first look, everything.
func (h *Hub) take(changes []change, isFirst bool) {
	defer h.lock()()
	if isFirst {
		h.isRead = true
		for _, c := range h.classes {
			h.mark(c)
		}
		for _, v := range h.viewers {
			h.mark(v)
		}
		signal(h.queued)
	}
	for _, c := range changes {
		if c.Model == "" {
			h.checkSignIns(c)
			continue
		}
		h.hit(c)
	}
	h.recent = append(h.recent, changes...)
	if extra := len(h.recent) - mostRecent; extra > 0 {
		h.recent = append([]change(nil), h.recent[extra:]...)
		h.passed += extra
	}
}

// missed tells whether changes since a unit was called may concern it, by the keys that it has now.
func (h *Hub) missed(j job) bool {
	u := j.base()
	if u.seen < h.passed {
		return true
	}
	isHit := false
	for _, c := range h.recent[u.seen-h.passed:] {
		h.concerned(c, func(other job) { isHit = isHit || other == j })
	}
	return isHit
}

// checkSignIns ends the streams of sign-ins that have ended.
func (h *Hub) checkSignIns(c change) {
	ids := map[string]bool{}
	for _, row := range []map[string]json.RawMessage{c.Old, c.New} {
		if id, ok := textOf(row["identity_id"]); ok {
			ids[id] = true
		}
	}
	for s := range h.streams {
		switch {
		case !ids[s.identity]:
		case s.token == "": // of a machine's key it is not known: its client comes again
			h.end(s, &refusal.Unavailable)
		default:
			h.check(s)
		}
	}
}

// check has it looked up whether a stream's sign-in has ended.
func (h *Hub) check(s *Stream) {
	h.checks = append(h.checks, s)
	signal(h.checked)
}

// checkAll ends the streams whose sign-in has ended.
func (h *Hub) checkAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.checked:
		}
		unlock := h.lock()
		streams := h.checks
		h.checks = nil
		unlock()
		var identities, tokens []string
		for _, s := range streams {
			identities, tokens = append(identities, s.identity), append(tokens, s.token)
		}
		var over []int64
		err := h.DB.QueryRow(`
			select array(
				select place
				from unnest($1::text[], $2::text[]) with ordinality as called (identity_id, token, place)
				where platform.live_over(identity_id, token)
			)`, []any{identities, tokens}, &over)
		unlock = h.lock()
		for _, place := range over {
			h.end(streams[place-1], &refusal.AuthenticationFailed)
		}
		if err != nil {
			h.checks = append(h.checks, streams...)
			time.AfterFunc(outagePause, func() { signal(h.checked) })
		}
		unlock()
	}
}
