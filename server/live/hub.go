package live

import (
	"encoding/json"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// Options configure the live answers of a server.
type Options struct {
	DB           *database.DB
	Interval     time.Duration // between two calls of a class
	Calls        int           // at a time
	MaxStreams   int
	MaxPerCaller int
	Overtaken    func() // another release is installed
	Registry     prometheus.Registerer
	Log          *slog.Logger
}

// Query is a call that a stream follows.
type Query struct {
	Action    *release.Action
	Statement *database.Statement // for the form of a list
	General   *database.Statement // where that cannot tell
	Values    *database.Statement // asks for the caller's values; nil if the answer depends on none
	Page      answer.Page
	Input     []byte
	Identity  string
	Token     string
	Context   []byte // of the caller
	Anyone    []byte // the same without the caller
	HasClock  bool   // whether time alone may change the answer
	Finish    func(result []byte) ([]byte, error)
	Refuse    func(error) *refusal.Refusal
	Version   string // that the client has; empty means none
}

// Hub knows who follows what.
type Hub struct {
	Options
	wake    chan struct{} // for the reader
	queued  chan struct{} // for the dispatcher
	checked chan struct{} // for the one that looks sign-ins up
	permit  chan struct{}

	mutex    sync.Mutex
	isOver   bool // the server stops
	isEnded  bool // it has
	streams  map[*Stream]struct{}
	callers  map[string]int // streams by caller
	begun    int            // streams, ever
	classes  map[string]*class
	viewers  map[string]*viewer
	byKey    map[uint64][]job
	byModel  map[string][]job           // those that any change of a model concerns
	columns  map[string]map[string]bool // that are keys, by model
	queue    []job
	isRead   bool // whether the reader has a snapshot
	recent   []change
	passed   int // how many changes were before recent
	outgoing []*Stream
	checks   []*Stream // whose sign-in may have ended
	sends    *sync.Cond

	calls, events prometheus.Counter
}

// New makes a hub. Nothing happens before Run.
func New(o Options) *Hub {
	h := &Hub{
		Options: o, wake: make(chan struct{}, 1), queued: make(chan struct{}, 1), checked: make(chan struct{}, 1), permit: make(chan struct{}, max(1, o.Calls)),
		streams: map[*Stream]struct{}{}, callers: map[string]int{}, classes: map[string]*class{}, viewers: map[string]*viewer{},
		byKey: map[uint64][]job{}, byModel: map[string][]job{}, columns: map[string]map[string]bool{},
		calls:  prometheus.NewCounter(prometheus.CounterOpts{Name: "sternpost_live_calls_total", Help: "Calls for live answers."}),
		events: prometheus.NewCounter(prometheus.CounterOpts{Name: "sternpost_live_events_total", Help: "Events sent to streams of live answers."}),
	}
	h.sends = sync.NewCond(&h.mutex)
	o.Registry.MustRegister(h.calls, h.events,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "sternpost_live_streams", Help: "Open streams of live answers."}, func() float64 {
			h.mutex.Lock()
			defer h.mutex.Unlock()
			return float64(len(h.streams))
		}))
	return h
}

// unit is what a change may concern: it is called anew then.
type unit struct {
	query    *Query
	identity string // as whom it is called
	token    string
	context  []byte
	keys     []uint64
	models   []string
	state    state
	isMarked bool // again, while it is called
	isGone   bool // nobody follows it
	isAlone  bool // it is called by itself: it failed, or its answer is large
	due      time.Time
	called   time.Time
	seen     int // the changes before its call
}

type state int

const (
	resting state = iota
	queued
	calling
)

// job is a unit, and what becomes of its answer.
type job interface {
	base() *unit
	statement() *database.Statement
	prepare() bool // whether it can be called now
	landed(h *Hub, body []byte, err error)
}

func (u *unit) base() *unit { return u }

// class is subscriptions with the same answer.
type class struct {
	unit
	key     string
	isOwn   bool            // of one caller
	values  json.RawMessage // of its callers; nil if the answer depends on none
	subs    []*subscription
	version string // of its answer; empty if that is not known
	records []record
	info    [2]uint64 // digests of pageInfo and resultInfo
}

// viewer is a caller of an action whose rules ask something of the caller.
type viewer struct {
	unit
	key    string
	subs   []*subscription
	values json.RawMessage // nil before they are known
}

// subscription is one query of a stream.
type subscription struct {
	stream  *Stream
	index   int
	query   *Query
	class   *class  // nil before it is known
	viewer  *viewer // nil without
	version string  // that the client has
	isNew   bool    // nothing was sent yet
	waits   bool    // whether the caller's values are being asked for, which may take it out of its class
	next    *result // to be sent; nil means nothing
}

func (v *viewer) statement() *database.Statement { return v.query.Values }
func (c *class) statement() *database.Statement  { return c.query.Statement }

func (v *viewer) prepare() bool { return true }

// prepare chooses in whose name a class of several callers is called. While the values of all of them are being asked for,
// it rests: what becomes of them has it called.
func (c *class) prepare() bool {
	if c.isOwn || c.values == nil {
		return true
	}
	i := slices.IndexFunc(c.subs, func(s *subscription) bool { return !s.waits })
	if i < 0 {
		c.state, c.version = resting, ""
		return false
	}
	q := c.subs[i].query
	c.query, c.identity, c.token, c.context = q, q.Identity, q.Token, q.Context
	return true
}

// subscribe begins to follow a query.
func (h *Hub) subscribe(s *subscription) {
	q := s.query
	for _, w := range slices.Concat(q.Action.Live.Rows, q.Action.Live.Caller) {
		for _, k := range slices.Concat(w.Keys...) {
			if h.columns[w.Model] == nil {
				h.columns[w.Model] = map[string]bool{}
			}
			h.columns[w.Model][k.Column] = true
		}
	}
	if q.Values == nil {
		h.place(s, nil)
		return
	}
	key := q.Action.Name + "\x00" + string(q.Context)
	v := h.viewers[key]
	if v == nil {
		v = &viewer{key: key, unit: unit{query: q, identity: q.Identity, token: q.Token, context: q.Context}}
		h.viewers[key] = v
		h.register(v, q.Action.Live.Caller, nil)
		h.mark(v)
	}
	s.viewer, v.subs = v, append(v.subs, s)
	if v.values != nil && v.state == resting {
		h.place(s, v.values)
	} else {
		s.waits = true
	}
}

// place brings a subscription to the class that its caller's values say.
func (h *Hub) place(s *subscription, values json.RawMessage) {
	q := s.query
	s.waits = false
	shared := q.Action.Live.Shared
	key := q.Action.Name + "\x00" + string(q.Input) + "\x00" + string(q.Anyone) + "\x00" + string(values)
	if shared != release.ByAll && q.Identity != "" {
		key += "\x00"
	}
	if shared == release.ByNobody {
		key += string(q.Context)
	}
	h.join(s, key, values, shared == release.ByNobody)
}

// join brings a subscription to a class.
func (h *Hub) join(s *subscription, key string, values json.RawMessage, isOwn bool) {
	q := s.query
	if s.class != nil && s.class.key == key {
		h.offer(s)
		return
	}
	h.leave(s)
	c := h.classes[key]
	if c == nil {
		c = &class{key: key, isOwn: isOwn, values: values, unit: unit{query: q, identity: q.Identity, token: q.Token, context: q.Context}}
		if q.Action.Live.Shared == release.ByAll {
			c.identity, c.token, c.context = "", "", q.Anyone
		}
		h.classes[key] = c
		h.register(c, q.Action.Live.Rows, values)
		if isOwn {
			h.register(c, q.Action.Live.Caller, values)
		}
	}
	s.class, c.subs = c, append(c.subs, s)
	h.offer(s)
}

// offer gives a subscription the answer of its class, or has that called.
func (h *Hub) offer(s *subscription) {
	c := s.class
	if c.state == resting && c.version != "" && c.version == s.version {
		s.next = &result{version: c.version}
		h.send(s.stream)
		return
	}
	h.mark(c)
}

// leave takes a subscription out of its class.
func (h *Hub) leave(s *subscription) {
	c := s.class
	if c == nil {
		return
	}
	s.class, s.next = nil, nil
	if c.subs = without(c.subs, s); len(c.subs) == 0 {
		c.isGone = true
		delete(h.classes, c.key)
		h.unregister(c)
	}
}

// unsubscribe ends a subscription.
func (h *Hub) unsubscribe(s *subscription) {
	h.leave(s)
	v := s.viewer
	if v == nil {
		return
	}
	if v.subs = without(v.subs, s); len(v.subs) == 0 {
		v.isGone = true
		delete(h.viewers, v.key)
		h.unregister(v)
	}
}

func without[T comparable](list []T, one T) []T {
	i := slices.Index(list, one)
	if i < 0 {
		return list
	}
	last := len(list) - 1
	list[i] = list[last]
	clear(list[last:])
	return list[:last]
}

// mark has a unit called, at the earliest an interval after it was called last.
func (h *Hub) mark(j job) {
	u := j.base()
	switch u.state {
	case calling:
		u.isMarked = true
	case resting:
		u.state, u.due = queued, u.called.Add(h.Interval)
		h.queue = append(h.queue, j)
		signal(h.queued)
	}
}

// markAfter has a unit called after a while.
func (h *Hub) markAfter(j job, pause time.Duration) {
	h.mark(j)
	if u := j.base(); u.state == queued {
		u.due = time.Now().Add(pause)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is about to look
	}
}

// Wake has the record of changes read at once.
func (h *Hub) Wake() { signal(h.wake) }

// lock locks the hub until the returned function is called.
func (h *Hub) lock() (unlock func()) {
	h.mutex.Lock()
	return h.mutex.Unlock
}

// HasRoom tells whether a caller may open another stream; the refusal says why not.
func (h *Hub) HasRoom(caller string) error {
	defer h.lock()()
	switch {
	case h.isOver:
		return &refusal.Unavailable
	case len(h.streams) >= h.MaxStreams:
		return refusal.Unavailable.Saying("too many streams are open")
	case h.callers[caller] >= h.MaxPerCaller:
		return refusal.RateLimited.Saying("too many streams are open")
	}
	return nil
}

// Open begins a stream on a connection that nobody else uses any more. head is sent first.
func (h *Hub) Open(client net.Conn, head []byte, caller, identity, token string, expires time.Time, queries []*Query) {
	s := &Stream{hub: h, client: client, head: head, caller: caller, identity: identity, token: token, expires: expires}
	defer h.lock()()
	h.begun++
	s.turn = h.begun % heartbeatSeconds
	h.streams[s] = struct{}{}
	h.callers[caller]++
	if h.isOver {
		s.ended = &refusal.Unavailable
	}
	for i, q := range queries {
		sub := &subscription{stream: s, index: i, query: q, version: q.Version, isNew: true}
		s.subs = append(s.subs, sub)
		h.subscribe(sub)
	}
	if token != "" {
		h.check(s)
	}
	h.send(s)
	h.Wake()
	s.watch()
}
