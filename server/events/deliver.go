package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sternpost/sternpost/server/queue"
)

const (
	// patience is how long the events that a server has read keep others of the webhook unread. What is not answered by
	// then becomes a task of this server.
	patience = time.Second
	// lease is how long no other server reads for a webhook, unless this one ends.
	lease = 30 * time.Second
)

// handout is what a server has leased of a webhook.
type handout struct {
	Read   int
	Last   *int64
	Lease  *string
	Events []*delivery

	mutex     sync.Mutex
	isSettled bool
	behind    map[string][]*delivery // by record: the one that is being sent, or has failed, and those that wait behind it
}

// delivery is an event that is sent.
type delivery struct {
	Seq    int64
	Record string
	Depth  int
	Waits  bool
	Event  json.RawMessage

	state state
	err   error      // why it has failed
	task  chan int64 // receives its task, if it is not answered when the handout is settled
}

type state int

const (
	waiting state = iota
	sending
	failed
	done
)

// deliverFor sends what a webhook has not been told, until it has read all, or another server is at it.
func (e *Events) deliverFor(ctx context.Context, w *webhook) error {
	for ctx.Err() == nil {
		var text *string
		if err := e.DB.QueryRow(`select platform.events_lease($1, $2, $3, $4)::text`, []any{w.Name, lease, e.Process(), int32(batch)}, &text); err != nil {
			return fmt.Errorf("read for %s: %w", w.Name, err)
		}
		if text == nil {
			return nil
		}
		h := &handout{behind: map[string][]*delivery{}}
		if err := json.Unmarshal([]byte(*text), h); err != nil {
			return fmt.Errorf("read for %s: %w", w.Name, err)
		}
		e.read.WithLabelValues(w.Name).Add(float64(h.Read))
		if h.Lease != nil {
			if err := e.deliver(ctx, w, h); err != nil {
				return fmt.Errorf("send to %s: %w", w.Name, err)
			}
		}
		if h.Last == nil {
			return nil
		}
	}
	return nil
}

// deliver sends what was handed out, in the order of each record, and settles it.
func (e *Events) deliver(ctx context.Context, w *webhook, h *handout) error {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var all sync.WaitGroup
	begun := 0
	for ; begun < len(h.Events); begun++ {
		d := h.Events[begun]
		if h.follows(d) {
			continue
		}
		select {
		case w.slots <- struct{}{}:
			all.Go(func() {
				defer func() { <-w.slots }()
				e.send(ctx, w, h, d)
			})
			continue
		case <-patient.Done():
		}
		break
	}
	answered := make(chan struct{})
	go func() {
		all.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-patient.Done():
	}
	err := e.settle(ctx, w, h, begun)
	if err != nil {
		<-answered // what is being sent will be sent again
	}
	return err
}

// follows tells whether a delivery waits behind another of its record. Else it is being sent from now on.
func (h *handout) follows(d *delivery) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	d.task = make(chan int64, 1)
	h.behind[d.Record] = append(h.behind[d.Record], d)
	if d.Waits || len(h.behind[d.Record]) > 1 {
		return true
	}
	d.state = sending
	return false
}

// send sends a delivery and those behind it, up to one that fails.
func (e *Events) send(ctx context.Context, w *webhook, h *handout, d *delivery) {
	for d != nil {
		err := e.post(ctx, w, d.Event, d.Depth)
		if err != nil && ctx.Err() != nil {
			return // the server stops: another one sends it
		}
		next, isSettled := h.ended(d, err)
		if isSettled {
			e.note(ctx, w.Name, e.noteTask(ctx, w, <-d.task, d, err))
			return
		}
		if err == nil {
			e.count(w.Name, succeeded)
		}
		d = next
	}
}

// ended notes what became of a delivery, and returns the next one of its record. Once the handout is settled, that is
// noted of its task instead.
func (h *handout) ended(d *delivery, err error) (next *delivery, isSettled bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.isSettled {
		return nil, true
	}
	if err != nil {
		d.state, d.err = failed, err
		return nil, false
	}
	d.state = done
	rest := h.behind[d.Record][1:]
	if len(rest) == 0 {
		delete(h.behind, d.Record)
		return nil, false
	}
	h.behind[d.Record] = rest
	rest[0].state = sending
	return rest[0], false
}

// settle notes what became of the first events of a handout. What has failed, and what is not answered yet, become tasks
// of this server; what waits behind them become tasks that are due.
func (e *Events) settle(ctx context.Context, w *webhook, h *handout, begun int) error {
	h.mutex.Lock()
	h.isSettled = true
	h.mutex.Unlock()
	behind, held := []int64{}, []int64{}
	var kept []*delivery
	for _, d := range h.Events[:begun] {
		switch d.state {
		case waiting:
			behind = append(behind, d.Seq)
		case sending, failed:
			held, kept = append(held, d.Seq), append(kept, d)
		}
	}
	last := h.Last
	if begun < len(h.Events) {
		before := h.Events[begun].Seq - 1
		last = &before
	}
	var ids []*int64
	err := e.DB.QueryRow(`select platform.events_settle($1, $2::text::timestamptz, $3, $4, $5, $6)`,
		[]any{w.Name, *h.Lease, last, behind, held, w.queue.Lease}, &ids)
	for i, d := range kept {
		id := int64(0)
		if i < len(ids) && ids[i] != nil {
			id = *ids[i]
		}
		if d.state == sending {
			d.task <- id
		} else {
			err = errors.Join(err, e.noteTask(ctx, w, id, d, d.err))
		}
	}
	return err
}

// noteTask notes what became of a delivery that is a task; 0 is none.
func (e *Events) noteTask(ctx context.Context, w *webhook, id int64, d *delivery, err error) error {
	if id == 0 {
		return nil
	}
	defer w.queue.Wake() // others may wait behind it
	return w.queue.Note(ctx, &queue.Task{ID: id, Name: w.Name, Key: d.Record}, e.outcome(w, 0, err))
}

// post sends an event, unless a chain of subscribers has led to it.
func (e *Events) post(ctx context.Context, w *webhook, event json.RawMessage, depth int) error {
	if depth > deepest {
		return &queue.GivenUp{Reason: fmt.Sprintf("it ends a chain of more than %d events", deepest)}
	}
	return w.post(ctx, event)
}

// outcome is what the queue is told of a failed attempt. An address that wants no more stops the webhook.
func (e *Events) outcome(w *webhook, attempts int, err error) error {
	if errors.Is(err, errGone) {
		if err := e.DB.QueryRow(`select platform.events_stop($1)`, []any{w.Name}, new(any)); err != nil {
			return err
		}
		e.Log.Error("a webhook is stopped: its address wants no more events", "subscriber", w.Name, "resume", "sternpost events resume "+w.Name)
	}
	if err != nil && attempts+1 >= w.MaxAttempts {
		return &queue.GivenUp{Reason: err.Error()}
	}
	return err
}

// repeats returns how events are sent again that could not be sent, or that waited behind one.
func (e *Events) repeats(w *webhook) queue.Kind {
	return queue.Kind{
		Kind: "delivery", Name: w.Name, Most: w.Concurrency, Lease: 2*w.Timeout + lease, Delay: queue.Doubling(firstDelay, longest),
		Ended: func(t *queue.Task, err error, delay time.Duration) {
			switch {
			case err == nil:
				e.count(w.Name, succeeded)
			case delay == 0:
				e.count(w.Name, givenUp)
			default:
				e.count(w.Name, repeated)
			}
			e.logRepeat(t, err, delay)
		},
		Run: func(ctx context.Context, t *queue.Task) error {
			var told struct {
				Event json.RawMessage
				Depth int
			}
			if err := json.Unmarshal(t.Payload, &told); err != nil {
				return &queue.GivenUp{Reason: err.Error()}
			}
			select {
			case w.slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			defer func() { <-w.slots }()
			return e.outcome(w, t.Attempts, e.post(ctx, w, told.Event, told.Depth))
		},
	}
}
