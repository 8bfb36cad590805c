package server

import (
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/budget"
	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/replica"
	"github.com/sternpost/sternpost/server/request"
)

// call runs one action: one statement, one function, one JSON document. The order of its
// stages is part of the API: the first stage that fails answers.
func (s *Server) call(c *fiber.Ctx) error {
	r := s.current.Load()
	exposed, err := s.route(c, r)
	if err != nil {
		return err
	}
	if s.policy.IsPreflight(c) {
		return request.Preflight(c, r.headerNames())
	}
	who, err := s.identify(c)
	if err != nil {
		return err
	}
	zone, err := s.zones.Load().parse(c.Request().Header.PeekAll("Time-Zone"))
	if err != nil {
		return err
	}
	if err := checkMethod(c); err != nil {
		return err
	}

	caller := caller{identity: who.ID, token: who.Token, family: who.Family, zone: zone, request: request.Of(c)}
	return s.onNewest(c, r, exposed, func(r *served, api *api) error {
		return s.perform(c, r, api, &caller)
	})
}

// onNewest calls do with a release. It calls do again with the next release if that one
// replaces the first meanwhile.
func (s *Server) onNewest(c *fiber.Ctx, r *served, exposed *api, do func(*served, *api) error) error {
	var err error
	for range maxReleases {
		err = do(r, exposed)
		if !refusal.IsOvertaken(err) {
			return err
		}
		isNewer, errLook := s.catchUp(r.number)
		switch {
		case errLook != nil:
			return errLook
		case !isNewer:
			return err
		}
		// The release was replaced between its look-up and the call. Start over, since
		// the newer release may want another input.
		r = s.current.Load()
		var errRoute error // the error of the call stays, for the last round
		if exposed, errRoute = s.route(c, r); errRoute != nil {
			return errRoute
		}
	}
	return err
}

// maxReleases limits how many releases a request may see. It is far more than are
// installed during one request.
const maxReleases = 5

// perform reads the input for an action of one release and makes the call.
func (s *Server) perform(c *fiber.Ctx, r *served, api *api, who *caller) error {
	action := api.actions[c.Params("action")]
	if action != nil {
		who.request.Action = action.metrics
	}
	in, err := s.readInput(c, action)
	if err != nil {
		return err
	}

	if account.Is(action.Action) {
		return s.runAccount(c, action, in.JSON, who)
	}
	page := pageOf(in.Page())
	if page.HasCursor && action.call.IsList() {
		position, isCursor := action.call.Position(page)
		if !isCursor {
			return notACursor(page)
		}
		in = in.WithMember("position", position)
	}
	statement := action.call
	if form, ok := action.forms[in.OperatorSet()]; ok && in.PlainPage() && (action.seeks || !page.HasCursor) {
		statement = form
	} else if action.call.IsList() {
		in = in.WithMember("operators", input.AppendText(nil, []byte(in.OperatorSet())))
	}
	made, err := s.onceOf(c, action, who, in.JSON)
	if err != nil {
		return err
	}
	call := &prepared{input: in.JSON}
	if statement.TakesContext() {
		call.context = who.context(c, r)
	}
	if len(in.Places()) > 0 || len(action.sealed) > 0 {
		if made != nil { // do not prepare it a second time either
			if isReplayed, err := s.replay(c, action, who, made); err != nil || isReplayed {
				return err
			}
		}
		if call, err = s.prepare(c, action, r, who, in, call.context); err != nil {
			return err
		}
	}
	answered, err := s.ask(c, r, action, statement, page, who, call, made)
	if err == nil && answered.IsUnsure() {
		if !statement.TakesContext() {
			call.context = who.context(c, r)
		}
		answered, err = s.ask(c, r, action, action.call, page, who, call, made)
	}
	if err != nil {
		why := refusal.OfCall(err, action.Action, r.constraints, call.input)
		s.files.Discard(call.stored, why)
		if refusal.IsOvertaken(err) {
			return err
		}
		return why
	}
	if made != nil {
		if made.IsReplayed { // while this one was prepared
			s.files.Discard(call.stored, &refusal.OutcomeUnknown)
		}
		made.answer(c)
		return nil
	}
	result, err := s.body(action, answered, action.Kind.Writes())
	if err != nil {
		return err
	}
	if err := answered.Keep(result); err != nil {
		return err
	}
	who.request.Give(result, c.Response())
	c.Response().Header.SetContentType(request.JSONType)
	return nil
}

// body makes the body of a response from the rows. hasWritten tells whether the changes of
// the call are committed.
func (s *Server) body(action *action, answered *answer.Answer, hasWritten bool) ([]byte, error) {
	result := answered.JSON()
	if answer.IsJSONB(action.Kind) {
		result = answer.Compact(result)
	}
	if action.places != nil {
		var err error
		if result, err = s.files.Finish(result, action.places); err != nil {
			return nil, err
		}
	}
	if action.answers == nil {
		return result, nil
	}
	return result, misdeclared(action, result, hasWritten)
}

// misdeclared returns the refusal of an answer of custom code that is not as declared, or
// nil. Only servers in development compare the two.
func misdeclared(action *action, result []byte, hasWritten bool) error {
	text := action.answers.Misfit(result)
	if text == "" {
		return nil
	}
	text = "the code of " + action.Name + " " + text
	if hasWritten {
		text += ". What it has written stays"
	}
	return refusal.Internal.With(errors.New(text)).Saying("%s", text)
}

// ask makes the call, and makes it only once if it must not be repeated.
func (s *Server) ask(
	c *fiber.Ctx, r *served, action *action, st database.Statement, page answer.Page, who *caller, call *prepared, made *once,
) (*answer.Answer, error) {
	if st.Who.Caller = who.identity; who.identity == "" && !st.Shared { // few of the shared ones wait at the gate
		st.Who.Caller, st.Who.IsAddress = s.policy.ClientAddress(c), true
	}
	answered := st.Begin(page, who.request.Result[:0])
	if !action.Kind.Writes() { // a write must be answered
		answered.Hold = s.holdAnswer(c)
	}
	params := answered.Parameters(call.input, who.identity, who.token, call.context)
	var err error
	if s.db.HasReplicas() && action.Kind.Writes() {
		st.After = s.noting(c, who)
	}
	switch {
	case s.db.HasReplicas() && !action.Kind.Writes():
		var seen replica.Seen
		if seen, err = seenBy(c, who); err == nil {
			err = s.db.Read(who.request.Client, st, params, answered, seen, r.number)
		}
	case made == nil:
		err = s.db.Call(who.request.Client, st, params, answered)
	default:
		made.Body = func() ([]byte, error) { return s.body(action, answered, false) }
		err = s.db.CallOnce(who.request.Client, st, params, answered, &made.Once)
	}
	if err == nil {
		err = answered.Err()
	}
	return answered, err
}

// holdAnswer returns a function that reserves memory for a large answer. The memory is
// released when the answer has been written.
func (s *Server) holdAnswer(c *fiber.Ctx) func(bytes int) error {
	client := request.Of(c).Client
	return func(bytes int) error {
		held := listener.HoldOf(client, func() *budget.Held { return s.answers.Of(s.policy.ClientAddress(c)) })
		if held == nil { // the connection does not come from our listener
			return nil
		}
		return held.Take(int64(bytes))
	}
}

// pageOf returns the page that an input asks for.
func pageOf(p input.Page) answer.Page {
	page := answer.Page{
		Size: p.Size, Offset: p.Offset, IsBackwards: p.IsBackwards, Cursor: p.Cursor, HasCursor: p.HasCursor,
		HasLimit: p.HasLimit, CountsAll: p.CountsAll,
	}
	for _, k := range p.OrderBy {
		page.OrderBy = append(page.OrderBy, answer.Key(k))
	}
	return page
}

// notACursor returns the refusal of a value that is not a cursor of the list.
func notACursor(page answer.Page) error {
	field := "after"
	if page.IsBackwards {
		field = "before"
	}
	return &input.Invalid{Problems: []input.Problem{{Field: field, Error: "is not a cursor of this list"}}}
}

// readInput reads the input of an action; action is nil if the name is unknown.
// Unreadable input is refused before the action, and input that does not fit the schema
// after it.
func (s *Server) readInput(c *fiber.Ctx, action *action) (input.Input, error) {
	byQuery := c.Method() == fiber.MethodGet
	if !byQuery && !s.policy.TakesBody(c) {
		return input.Input{}, &refusal.UnsupportedMediaType
	}
	reader := anyInput
	if action != nil {
		reader = action.reader
	}

	var in input.Input
	var err error
	if byQuery {
		in, err = reader.ReadQuery(string(c.Request().URI().QueryString()))
	} else {
		body, unread := s.policy.ReadBody(c)
		if unread != nil {
			return input.Input{}, unread
		}
		in, err = reader.Read(body)
	}

	switch {
	case input.IsMalformed(err):
		return in, err
	case action == nil:
		return in, &refusal.ActionNotFound
	case byQuery && !action.byQuery:
		return in, refusal.NotAllowed(fiber.MethodPost)
	}
	return in, err
}

// anyInput reads the input sent to an action that does not exist.
var anyInput = input.Any()

// caller is the identity and the client of a request.
type caller struct {
	identity string // empty for an anonymous caller
	token    string // of auth.Identity; empty for a machine's key
	family   string // of the sign-in; empty if it is not known
	zone     string
	request  *request.Request
}

// context builds the second argument of a function: everything about the request that it
// needs beside the input. Defaults are left out, since each member costs the database
// work.
func (who *caller) context(c *fiber.Ctx, r *served) []byte {
	b := who.request.Scratch[:0] // a comma before each member
	if who.identity != "" {
		b = append(b, `,"identityId":`...)
		b = answer.Quote(b, who.identity)
	}
	if who.token != "" {
		b = append(b, `,"token":`...)
		b = answer.Quote(b, who.token)
	}
	if who.zone != defaultZone {
		b = append(b, `,"timeZone":"`...)
		b = append(b, who.zone...)
		b = append(b, '"')
	}
	if r.hasCustomCode {
		b = append(b, `,"requestId":"`...)
		b = append(b, who.request.ID...)
		b = append(b, '"')
	}
	if len(r.headers) > 0 {
		b = append(b, `,"headers":{`...)
		first := len(b)
		for _, h := range r.headers {
			values := c.Request().Header.PeekAll(h.name)
			if len(values) == 0 { // an absent header is null
				continue
			}
			if len(b) > first {
				b = append(b, ',')
			}
			b = append(b, h.member...)
			b = answer.Quote(b, joinValues(values))
		}
		b = append(b, '}')
	}
	b = append(b, r.environment...)
	if len(b) == 0 {
		b = append(b, '{')
	}
	b[0] = '{'
	b = append(b, '}')
	who.request.Scratch = b
	return b
}

// joinValues joins the values of a header that was sent several times.
func joinValues(values [][]byte) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// identify returns the identity of the caller. The values are copied, since they are kept.
func (s *Server) identify(c *fiber.Ctx) (auth.Identity, error) {
	var authorization []string
	for _, v := range c.Request().Header.PeekAll("Authorization") {
		authorization = append(authorization, string(v))
	}
	identity, err := s.identifier.Identify(c.Context(), authorization)
	if err == nil {
		return identity, nil
	}
	var refused *auth.Refusal
	if errors.As(err, &refused) {
		r := refusal.AuthenticationFailed
		r.Message, r.Authenticate = refused.Error(), refused.WWWAuthenticate()
		return auth.Identity{}, &r
	}
	return auth.Identity{}, refusal.OfStore(err)
}
