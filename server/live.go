package server

import (
	"bytes"
	"encoding/json"
	"net"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/live"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/server/refusal"
)

// livePath is the name, among the actions of an API, of the path of streams. An action of that name keeps it.
const livePath = "live"

// liveStages open a stream of live answers.
var liveStages = stages{
	arrive: []stage{(*call).answerPreflight, (*call).identify, (*call).readZone, (*call).checkPost},
	act:    []stage{(*call).openStream},
}

const (
	mostQueries   = 100
	liveBodyLimit = 64 << 10
)

// openStream reads the queries of a stream, and begins it. Every refusal by their shape comes before anything is called.
func (k *call) openStream() error {
	queries, err := k.readQueries()
	if err != nil {
		return err
	}
	s, rc := k.server, k.http.Context()
	caller := k.identity
	if caller == "" {
		caller = "address " + s.policy.ClientAddress(k.http)
	}
	if err := s.live.HasRoom(caller); err != nil {
		return err
	}
	header := &rc.Response.Header
	header.SetContentType("text/event-stream")
	header.Set("X-Accel-Buffering", "no")
	header.SetConnectionClose() // the stream ends with its connection, which all versions of HTTP/1 understand
	s.policy.WriteHeaders(rc, k.request.ID)
	head := bytes.Clone(header.Header())
	client, identity, token, expires := k.request.Client, k.identity, k.token, k.expires
	rc.HijackSetNoResponse(true)
	rc.Hijack(func(net.Conn) { s.live.Open(client, head, caller, identity, token, expires, queries) })
	return errAnswered
}

// readQueries reads the queries of a stream as the single calls that they follow.
func (k *call) readQueries() ([]*live.Query, error) {
	if !k.server.policy.TakesBody(k.http) {
		return nil, &refusal.UnsupportedMediaType
	}
	body, err := k.server.policy.ReadBody(k.http)
	if err != nil {
		return nil, err
	}
	if len(body) > liveBodyLimit {
		return nil, &refusal.BodyTooLarge
	}
	whole, err := anyInput.Read(body)
	if err != nil {
		return nil, err
	}
	var sent struct {
		Queries []struct {
			Action  string          `json:"action"`
			Input   json.RawMessage `json:"input"`
			Version string          `json:"version"`
		} `json:"queries"`
	}
	decoder := json.NewDecoder(bytes.NewReader(whole.JSON))
	decoder.DisallowUnknownFields()
	wrong := func(what string) error {
		return &input.Invalid{Problems: []problem.Problem{problem.Validate(what).At("queries")}}
	}
	switch err := decoder.Decode(&sent); {
	case err != nil:
		return nil, wrong(`is a list of objects with action, input and version, and nothing else is sent beside it`)
	case len(sent.Queries) == 0:
		return nil, wrong("must name at least one action")
	case len(sent.Queries) > mostQueries:
		return nil, wrong("must name at most 100 actions")
	}
	exposed, err := k.server.route(k.http, k.release)
	if err != nil {
		return nil, err
	}
	queries := make([]*live.Query, len(sent.Queries))
	for i, q := range sent.Queries {
		if queries[i], err = k.readQuery(exposed.actions[q.Action], q.Input); err != nil {
			return nil, refusal.Of(err).InQuery(i)
		}
		queries[i].Version = q.Version
	}
	return queries, nil
}

// readQuery reads one of them.
func (k *call) readQuery(a *action, sent []byte) (*live.Query, error) {
	switch {
	case a == nil:
		return nil, &refusal.ActionNotFound
	case a.Live == nil:
		return nil, refusal.NotLive.Saying("the action %s is not live", a.Name)
	}
	single := *k
	single.action, single.isFollowed = a, true
	var err error
	if single.in, err = a.follows.Read(bytes.TrimSpace(sent)); err != nil {
		return nil, err
	}
	if page := single.in.Page(); page.CountsAll || page.HasCursor || page.IsBackwards || page.Offset > 0 {
		return nil, refusal.NotLive.Saying("the answer is followed from the front of a list, without totalCount")
	}
	if err := single.chooseStatement(); err != nil {
		return nil, err
	}
	q := &live.Query{
		Action: a.Action, Statement: single.statement, General: &a.call, Page: single.page, Input: single.in.JSON,
		Identity: k.identity, Token: k.token, Context: bytes.Clone(single.makeContext()),
		HasClock: a.Live.Clock || strings.Contains(single.in.OperatorSet(), "Relative"),
	}
	single.identity, single.token = "", ""
	q.Anyone = bytes.Clone(single.makeContext())
	if a.Live.Function != "" {
		q.Values = &a.values
	}
	files, constraints := k.server.files, k.release.constraints
	if a.places != nil {
		q.Finish = func(result []byte) ([]byte, error) { return files.Finish(bytes.Clone(result), a.places) }
	}
	q.Refuse = func(err error) *refusal.Refusal { return refusal.OfCall(err, a.Action, constraints, q.Input) }
	return q, nil
}

// isStream tells whether a request is for a stream.
func isStream(c *fiber.Ctx, exposed *api) bool {
	return c.Params("action") == livePath && exposed.actions[livePath] == nil
}

// newLive makes what follows answers.
func (s *Server) newLive() *live.Hub {
	return live.New(live.Options{
		DB: s.db, Interval: s.config.Live.Interval, Calls: int(s.config.Live.Share * float64(s.config.PoolSize)),
		MaxStreams: s.config.Live.MaxStreams, MaxPerCaller: s.config.Live.MaxPerCaller, Registry: s.telemetry.Registry, Log: s.log,
		Overtaken: func() {
			if r := s.current.Load(); r != nil {
				_, _ = s.catchUp(r.number)
			}
		},
	})
}
