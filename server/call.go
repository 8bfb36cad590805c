package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/budget"
	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/replica"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// call is a request to an action on its way through the stages.
type call struct {
	caller
	server  *Server
	http    *fiber.Ctx
	release *served
	action  *action // nil if the name is unknown
	in      input.Input
	page    answer.Page
	// statement is the function for this input: that of the action, or of a form of a list.
	statement *database.Statement
	prepared  prepared
	keys      [][]byte // of idempotency, beside those in the header
	once      *once    // nil if the call may be repeated
	// isFollowed tells that its answer is followed, so that nothing of it is about this request alone.
	isFollowed bool
	rows       *answer.Answer
}

// stage is one step of a call. It may refuse, and returns errAnswered if it has written the response.
type stage func(*call) error

var errAnswered = errors.New("the response is written")

// stages are the steps of a request. Their order is part of the API: the first stage that fails decides the answer.
type stages struct {
	arrive []stage // before the release matters
	act    []stage // made again if another release replaces the served one meanwhile
}

// callStages make one call: one statement, one function, one JSON document.
var callStages = stages{
	arrive: []stage{(*call).answerPreflight, (*call).identify, (*call).readZone, (*call).checkMethod},
	act: []stage{
		(*call).answerRun, // a question for a run of a job ends here
		(*call).readInput,
		(*call).runAccount,      // an action of every account ends here
		(*call).chooseStatement, // by the form of a list
		(*call).readKey,         // under which the call is carried out once
		(*call).addContext,
		(*call).prepare, // files, passwords and secrets, unless the call was carried out before
		(*call).ask,
		(*call).answer,
	},
}

func (s *Server) call(c *fiber.Ctx) error { return s.goThrough(c, &callStages) }

// goThrough takes a request to an action through its stages.
func (s *Server) goThrough(c *fiber.Ctx, of *stages) error {
	r := s.current.Load()
	exposed, err := s.route(c, r)
	if err != nil {
		return err
	}
	if of == &callStages && isStream(c, exposed) {
		of = &liveStages
	}
	k := s.calls.Get().(*call)
	*k = call{server: s, http: c, release: r, caller: caller{request: request.Of(c)}}
	if err = k.goThrough(of.arrive); err == nil {
		err = s.onNewest(c, r, exposed, func(r *served, api *api) error {
			k.release = r
			k.setAction(api.actions[c.Params("action")])
			return k.goThrough(of.act)
		})
	}
	*k = call{}
	s.calls.Put(k)
	if err == errAnswered {
		return nil
	}
	return err
}

// setAction sets the action of the call; nil if its name is unknown.
func (k *call) setAction(a *action) {
	if k.action = a; a != nil {
		k.request.Action = a.metrics
	}
}

func (k *call) goThrough(stages []stage) error {
	for _, do := range stages {
		if err := do(k); err != nil {
			return err
		}
	}
	return nil
}

// onNewest calls do with a release. It calls do again with the next release if that one
// replaces the first meanwhile, and once more with the same one: a table that changes under a running
// function ends it, and its release may be installed later.
func (s *Server) onNewest(c *fiber.Ctx, r *served, exposed *api, do func(*served, *api) error) error {
	var err error
	isRepeated := false
	for range maxReleases {
		err = do(r, exposed)
		if !refusal.IsOvertaken(err) {
			return err
		}
		isNewer, errLook := s.catchUp(r.number)
		switch {
		case errLook != nil:
			return errLook
		case !isNewer && isRepeated:
			return err
		case !isNewer:
			isRepeated = true
			continue
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

// answerPreflight answers the question of a browser whether it may send a request.
func (k *call) answerPreflight() error { return k.preflight() }

func (k *call) preflight(more ...string) error {
	if !k.server.policy.IsPreflight(k.http) {
		return nil
	}
	if err := request.Preflight(k.http, append(k.release.headerNames(), more...)); err != nil {
		return err
	}
	return errAnswered
}

func (k *call) identify() error {
	who, err := k.server.identify(k.http)
	k.identity, k.token, k.family, k.expires = who.ID, who.Token, who.Family, who.Expires
	return err
}

func (k *call) readZone() (err error) {
	k.zone, err = k.server.zones.Load().parse(k.http.Request().Header.PeekAll("Time-Zone"))
	return err
}

func (k *call) checkMethod() error { return checkMethod(k.http) }

// readInput reads the input of the action. Unreadable input is refused before an unknown action, and input that does not
// fit the schema after it.
func (k *call) readInput() error {
	byQuery := k.http.Method() == fiber.MethodGet
	if !byQuery && !k.server.policy.TakesBody(k.http) {
		return &refusal.UnsupportedMediaType
	}
	reader := anyInput
	if k.action != nil {
		reader = k.action.reader
	}
	var err error
	if byQuery {
		k.in, err = reader.ReadQuery(string(k.http.Request().URI().QueryString()))
	} else {
		body, unread := k.server.policy.ReadBody(k.http)
		if unread != nil {
			return unread
		}
		k.in, err = reader.Read(body)
	}
	switch {
	case input.IsMalformed(err):
		return err
	case k.action == nil:
		return &refusal.ActionNotFound
	case byQuery && !k.action.byQuery:
		return refusal.NotAllowed(fiber.MethodPost)
	case k.action.Row != "":
		return input.OfRows(err)
	}
	return err
}

// anyInput reads the input sent to an action that does not exist.
var anyInput = input.Any()

// chooseStatement reads the page of a list and its cursor, and chooses the function for this form of the list.
func (k *call) chooseStatement() error {
	k.statement, k.page = &k.action.call, pageOf(k.in.Page())
	if k.page.HasCursor && k.action.call.IsList() {
		position, isCursor := k.action.call.Position(k.page)
		if !isCursor {
			return notACursor(k.page)
		}
		k.in = k.in.WithMember("position", position)
	}
	if form, ok := k.action.forms[k.in.OperatorSet()]; ok && k.in.PlainPage() && (k.action.seeks || !k.page.HasCursor) {
		k.statement = form
	} else if k.action.call.IsList() {
		k.in = k.in.WithMember("operators", input.AppendText(nil, []byte(k.in.OperatorSet())))
	}
	return nil
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
	return &input.Invalid{Problems: []problem.Problem{problem.Cursor().At(field)}}
}

// readKey reads the key under which the call is carried out once.
func (k *call) readKey() (err error) {
	keys := k.http.Request().Header.PeekAll("Idempotency-Key")
	k.once, err = k.server.onceOf(k.http, k.action, &k.caller, append(slices.Clip(keys), k.keys...), k.in.JSON)
	return err
}

// ask makes the call, by the action's own function if that of a form cannot tell.
func (k *call) ask() error {
	err := k.askBy(k.statement)
	if err == nil && k.rows.IsUnsure() {
		if !k.statement.TakesContext() {
			k.prepared.context = k.makeContext()
		}
		err = k.askBy(&k.action.call)
	}
	if err == nil {
		return nil
	}
	why := refusal.OfCall(err, k.action.Action, k.release.constraints, k.prepared.input)
	if k.action.Row != "" {
		why = k.judgeRows(why)
	}
	k.server.files.Discard(k.prepared.stored, why)
	if refusal.IsOvertaken(err) {
		return err
	}
	return why
}

// askBy makes the call by a function, and makes it only once if it must not be repeated.
func (k *call) askBy(function *database.Statement) error {
	s, st, isWrite := k.server, *function, k.action.Kind.Writes()
	if st.Who.Caller = k.identity; k.identity == "" && !st.Shared { // few of the shared ones wait at the gate
		st.Who.Caller, st.Who.IsAddress = s.policy.ClientAddress(k.http), true
	}
	k.rows = st.Begin(k.page, k.request.Result[:0])
	if !isWrite { // a write must be answered
		k.rows.Hold = s.holdAnswer(k.http)
	}
	params := k.rows.Parameters(k.prepared.input, k.identity, k.token, k.prepared.context)
	if isWrite && s.db.HasReplicas() {
		st.After = s.noting(k.http, &k.caller)
	}
	var err error
	switch {
	case !isWrite && s.db.HasReplicas():
		var seen replica.Seen
		if seen, err = seenBy(k.http, &k.caller); err == nil {
			err = s.db.Read(k.request.Client, st, params, k.rows, seen, k.release.number)
		}
	case k.once == nil:
		err = s.db.Call(k.request.Client, st, params, k.rows)
	default:
		k.once.Body = func() ([]byte, error) { return k.body(false) }
		if k.action.AnswersAgain && k.action.Record != "" && !k.action.Custom && k.action.Row == "" {
			k.once.Record = k.record
		}
		err = s.db.CallOnce(k.request.Client, st, params, k.rows, &k.once.Once)
	}
	if err == nil {
		err = k.rows.Err()
	}
	if err == nil && isWrite && len(k.release.manifest.Subscribers) > 0 {
		s.events.Wake()
	}
	if err == nil && k.action.Invitation != "" {
		s.mailed()
	}
	if err == nil && isWrite && k.release.isLive {
		s.live.Wake()
	}
	if err == nil && k.action.Kind == release.Start {
		s.runs.Wake()
	}
	return err
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

// answer writes the response.
func (k *call) answer() error {
	if k.once != nil {
		if k.once.IsReplayed { // while this one was prepared
			k.server.files.Discard(k.prepared.stored, &refusal.OutcomeUnknown)
		}
		k.once.answer(k.http)
		return nil
	}
	result, err := k.body(k.action.Kind.Writes())
	if err != nil {
		return err
	}
	if err := k.rows.Keep(result); err != nil {
		return err
	}
	k.request.Give(result, k.http.Response())
	k.http.Response().Header.SetContentType(request.JSONType)
	return nil
}

// body makes the body of a response from the rows. hasWritten tells whether the changes of
// the call are committed.
func (k *call) body(hasWritten bool) ([]byte, error) {
	result := k.rows.JSON()
	if answer.IsJSONB(k.action.Kind) {
		result = answer.Compact(result)
	}
	if k.action.places != nil {
		var err error
		if result, err = k.server.files.Finish(result, k.action.places); err != nil {
			return nil, err
		}
	}
	if k.action.answers == nil {
		return result, nil
	}
	return result, misdeclared(k.action, result, hasWritten)
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

// caller is the identity and the client of a request.
type caller struct {
	identity string    // empty for an anonymous caller
	token    string    // of auth.Identity; empty for a machine's key
	family   string    // of the sign-in; empty if it is not known
	expires  time.Time // of the access token; zero means never
	zone     string
	request  *request.Request
}

// addContext adds the second argument of the function, if it takes one.
func (k *call) addContext() error {
	k.prepared = prepared{input: k.in.JSON}
	if k.statement.TakesContext() {
		k.prepared.context = k.makeContext()
	}
	return k.invite()
}

// invite adds to the context the invitation that the call sends, if its input has an e-mail address for it.
func (k *call) invite() error {
	if k.action.Invitation == "" {
		return nil
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(k.in.JSON, &in); err != nil {
		return fmt.Errorf("read the input of %s: %w", k.action.Name, err)
	}
	var address *string
	if text := in[k.action.Invitation]; text == nil || json.Unmarshal(text, &address) != nil || address == nil {
		return nil
	}
	invitation, err := k.server.signIn.Accounts.Invite(k.action.Invitation, *address, k.http.Get("Accept-Language"))
	if err != nil {
		return account.Refuse(err)
	}
	member, err := json.Marshal(invitation)
	k.prepared.context = withMember(k.prepared.context, "invitation", member)
	return err
}

// makeContext builds the second argument of a function: everything about the request that it
// needs beside the input. Defaults are left out, since each member costs the database
// work.
func (k *call) makeContext() []byte {
	b := k.request.Scratch[:0] // a comma before each member
	if k.identity != "" {
		b = append(b, `,"identityId":`...)
		b = answer.Quote(b, k.identity)
	}
	if k.token != "" {
		b = append(b, `,"token":`...)
		b = answer.Quote(b, k.token)
	}
	if k.zone != defaultZone {
		b = append(b, `,"timeZone":"`...)
		b = append(b, k.zone...)
		b = append(b, '"')
	}
	if (k.release.hasCustomCode || k.release.manifest.IsLogged()) && !k.isFollowed {
		b = append(b, `,"requestId":"`...)
		b = append(b, k.request.ID...)
		b = append(b, '"')
	}
	if len(k.release.headers) > 0 {
		b = append(b, `,"headers":{`...)
		first := len(b)
		for _, h := range k.release.headers {
			values := k.http.Request().Header.PeekAll(h.name)
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
	b = append(b, k.release.environment...)
	if len(b) == 0 {
		b = append(b, '{')
	}
	b[0] = '{'
	b = append(b, '}')
	k.request.Scratch = b
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
