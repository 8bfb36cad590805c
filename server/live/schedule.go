package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

const (
	batch       = 100             // calls in one statement
	largeAnswer = 64 << 10        // it has no others beside it in a statement
	clockPause  = time.Minute     // between two calls of what depends on the clock
	faultPause  = 5 * time.Second // after an error that is not the caller's
	outagePause = time.Second     // while the database is away
)

// dispatch calls what is due, in few statements. What is marked while all permits are taken waits, and is called once.
func (h *Hub) dispatch(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case h.permit <- struct{}{}:
		}
		jobs, pause := h.due(time.Now())
		if len(jobs) > 0 {
			go func() {
				defer func() { <-h.permit }()
				h.call(jobs)
			}()
			continue
		}
		<-h.permit
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		case <-h.queued:
		}
	}
}

// due takes the next batch of one statement from the queue. Without one, it returns when to look again.
func (h *Hub) due(now time.Time) (jobs []job, pause time.Duration) {
	defer h.lock()()
	pause = time.Hour
	if !h.isRead {
		return nil, pause
	}
	var of *database.Statement
	h.queue = slices.DeleteFunc(h.queue, func(j job) bool {
		u := j.base()
		switch wait := u.due.Sub(now); {
		case u.isGone, wait <= 0 && !j.prepare():
			return true
		case wait > 0:
			pause = min(pause, wait)
			return false
		case of == nil:
			of = j.statement()
		case of != j.statement(), len(jobs) == batch, u.isAlone, jobs[0].base().isAlone, of.Custom:
			return false
		}
		u.state, u.isMarked, u.seen, u.called = calling, false, h.passed+len(h.recent), now
		jobs = append(jobs, j)
		return true
	})
	return jobs, pause
}

// call calls units, together if that succeeds, else one by one.
func (h *Hub) call(jobs []job) {
	if len(jobs) > 1 {
		calls := make([]answer.Call, len(jobs))
		for i, j := range jobs {
			calls[i] = begin(j, j.statement())
		}
		isSame := func(c answer.Call) bool {
			return c.Answer.Statement() == calls[0].Answer.Statement() && c.Asks == calls[0].Asks
		}
		if !slices.ContainsFunc(calls, func(c answer.Call) bool { return !isSame(c) }) {
			b, parameters := answer.NewBatch(calls)
			h.calls.Inc()
			if h.DB.Call(nil, plain(jobs[0].statement()), parameters, b) == nil {
				for i, j := range jobs {
					if a := calls[i].Answer; a.Again() || a.IsUnsure() {
						h.callOne(j)
					} else {
						h.land(j, a.JSON(), nil)
					}
				}
				return
			}
		}
	}
	for _, j := range jobs {
		h.callOne(j)
	}
}

// plain is a statement on a connection of its own.
func plain(st *database.Statement) database.Statement {
	own := *st
	own.Shared, own.Writes, own.Who.Caller = false, false, "live answers"
	return own
}

func begin(j job, st *database.Statement) answer.Call {
	u := j.base()
	a := st.Begin(u.query.Page, nil)
	call := answer.Call{Answer: a, Parameters: a.Parameters(u.query.Input, u.identity, u.token, u.context)}
	if c, ok := j.(*class); ok && !c.isOwn && c.values != nil {
		call.Asks, call.Context, call.Values = u.query.Action.Live.Function, u.context, c.values
	}
	return call
}

func (h *Hub) callOne(j job) {
	c, err := h.callBy(j, j.statement())
	if err == nil && c.Answer.IsUnsure() {
		c, err = h.callBy(j, j.base().query.General)
	}
	if refusal.IsOvertaken(err) {
		h.Overtaken()
		err = refusal.Unavailable.With(err)
	}
	if err != nil {
		h.land(j, nil, err)
		return
	}
	h.land(j, c.Answer.JSON(), nil)
}

// callBy calls a unit by a function.
func (h *Hub) callBy(j job, st *database.Statement) (answer.Call, error) {
	c := begin(j, st)
	for {
		h.calls.Inc()
		if c.Asks == "" {
			return c, h.DB.Call(nil, plain(st), c.Parameters, c.Answer)
		}
		b, parameters := answer.NewBatch([]answer.Call{c})
		if err := h.DB.Call(nil, plain(st), parameters, b); err != nil || !c.Answer.Again() {
			return c, err
		}
	}
}

// land notes the answer of a unit, and has it called again if something has changed meanwhile.
func (h *Hub) land(j job, body []byte, err error) {
	defer h.lock()()
	u := j.base()
	u.state = resting
	if u.isGone {
		return
	}
	u.isAlone = err != nil || len(body) > largeAnswer
	j.landed(h, body, err)
	switch {
	case u.isGone:
	case u.isMarked:
		h.mark(j)
	case u.state == resting && err != nil && refusal.SQLState(err) != "SP000" && refusal.Of(u.query.Refuse(err)).Status >= 500:
		h.markAfter(j, faultPause)
	}
}

// landed notes the values of a caller, and brings the caller's subscriptions to their classes.
func (v *viewer) landed(h *Hub, body []byte, err error) {
	if err != nil {
		refused := v.query.Refuse(err)
		if refused.Status == refusal.Unavailable.Status {
			h.markAfter(v, outagePause) // nothing is known
			return
		}
		for _, s := range v.subs {
			h.leave(s)
			s.waits, s.next = true, problemOf(refused)
			h.send(s.stream)
		}
		v.values = nil
		return
	}
	h.unregister(v)
	v.values = bytes.Clone(body)
	h.register(v, v.query.Action.Live.Caller, v.values)
	if h.missed(v) {
		v.isMarked = true // it is called again before anything is shown
		return
	}
	if v.isMarked {
		return
	}
	for _, s := range slices.Clone(v.subs) {
		h.place(s, v.values)
	}
}

// landed compares an answer with the one before, and hands it out.
func (c *class) landed(h *Hub, body []byte, err error) {
	if refusal.SQLState(err) == "SP000" { // its caller is none of the class any more, as will be read soon
		for _, s := range c.subs {
			if s.query == c.query {
				s.waits = true
				h.mark(s.viewer)
			}
		}
		h.mark(c)
		return
	}
	if err != nil {
		refused := c.query.Refuse(err)
		if refused.Status == refusal.Unavailable.Status {
			h.markAfter(c, outagePause) // nothing is known
			return
		}
		if c.version = ""; !c.isOwn && c.query.Action.Live.Shared != release.ByAll {
			h.split(c)
			return
		}
		h.hand(c, problemOf(refused))
		return
	}
	if answer.IsJSONB(c.query.Action.Kind) {
		body = answer.Compact(body)
	}
	h.hand(c, c.compare(body))
}

// split gives each caller of a class an answer of their own: what fails for one need not fail for others.
func (h *Hub) split(c *class) {
	for _, s := range slices.Clone(c.subs) {
		var values json.RawMessage
		if s.viewer != nil {
			values = s.viewer.values
		}
		h.join(s, fmt.Sprintf("%s\x00own\x00%s", c.key, s.query.Context), values, true)
	}
}

// hand gives a result to those who follow a class.
func (h *Hub) hand(c *class, r *result) {
	for _, s := range c.subs {
		if !s.waits {
			s.next = r
			h.send(s.stream)
		}
	}
}

// keepTime calls what depends on the clock, keeps idle streams alive, and ends those whose token has expired.
func (h *Hub) keepTime(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for second := 0; ; second++ {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			h.beat(now, second%heartbeatSeconds)
		}
	}
}

func (h *Hub) beat(now time.Time, turn int) {
	defer h.lock()()
	for _, c := range h.classes {
		if c.query.HasClock && c.state == resting && now.Sub(c.called) >= clockPause {
			h.mark(c)
		}
	}
	for s := range h.streams {
		switch {
		case !s.expires.IsZero() && !now.Before(s.expires):
			h.end(s, &refusal.AuthenticationFailed)
		case s.turn == turn:
			s.beats = true
			h.send(s)
		}
	}
}
