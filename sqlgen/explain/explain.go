package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Request is a call that is not made.
type Request struct {
	Action  *model.Action
	Caller  string            // the id of an Identity, or its e-mail; empty is anonymous
	Input   json.RawMessage   // the body of the request, checked and in the form in which the server passes it on
	Headers map[string]string // by snake form
	Env     map[string]string
	Secrets map[string]string
	Row     string // the id of a row to explain instead of the one that the inputs find; empty means none
}

// Mentions returns the mentions of all expressions that decide on the calls of an action.
func Mentions(a *model.Action) expr.Mentioned {
	var nodes []expr.Node
	for _, w := range a.Wheres {
		nodes = append(nodes, w.Expression)
	}
	for _, v := range a.Validations {
		nodes = append(nodes, v.Expression)
	}
	for _, r := range a.Rules {
		if r.Expression != nil {
			nodes = append(nodes, r.Expression)
		}
	}
	return expr.Mentions(nodes...)
}

// Explanation says why a call is admitted or refused.
type Explanation struct {
	Action      *model.Action
	Caller      Caller
	Status      int        // the status of the answer, as far as rules decide it; 0 if the new row does
	Outcome     string     // in words
	Early       expr.Truth // the decision before a row is read
	Rules       []Rule     // as early as that
	Validations []Validation
	Rows        []Row
	Notes       []string // what was not looked at
}

// Caller is the caller.
type Caller struct {
	ID    string // empty means anonymous
	Email string
	Roles []string
}

// Validation is a @validate of the action.
type Validation struct {
	Validation *model.Validation
	Value      expr.Truth
}

// Row is one row with the decisions of the rules for it.
type Row struct {
	ID       string
	Arm      string // of a union; empty otherwise
	Selected bool   // whether the conditions of the action admit it
	Wheres   []Clause
	Admitted bool
	Rules    []Rule
}

// maxRows is the number of rows that are shown.
const maxRows = 5

// call is a request with what the database has said of it before a row is read.
type call struct {
	ctx       context.Context
	tx        pgx.Tx
	request   Request
	action    *model.Action
	schema    *model.Schema
	questions []lower.Question
	early     facts
	roles     []string
}

// Explain explains a call. It only reads, in a transaction whose role may read the
// views of schema related.
func Explain(ctx context.Context, tx pgx.Tx, s *model.Schema, r Request) (*Explanation, error) {
	body := "{}"
	if len(r.Input) > 0 {
		body = string(r.Input)
	}
	c := &call{ctx: ctx, tx: tx, request: r, action: r.Action, schema: s, questions: lower.Questions(r.Action, body)}
	e := &Explanation{Action: r.Action}
	missed, err := c.enter(e)
	if err != nil {
		return nil, err
	}
	if err := c.askEarly(); err != nil {
		return nil, err
	}
	for _, r := range s.Roles {
		isMember := func(m *model.Membership) bool { return c.early[m] == true }
		if e.Caller.ID != "" && slices.ContainsFunc(r.Expressions, isMember) && !slices.Contains(c.roles, r.Name) {
			c.roles = append(c.roles, r.Name)
		}
	}
	e.Caller.Roles = c.roles
	c.noteMissed(e, missed)
	if err := c.decide(e); err != nil {
		return nil, err
	}
	return e, nil
}

// enter finds the caller, and sets what expressions read of the call. It returns the roles that the caller would have
// if the e-mail were verified.
func (c *call) enter(e *Explanation) (missed []string, err error) {
	bound := map[string]any{"headers": notNil(c.request.Headers), "env": notNil(c.request.Env), "secrets": notNil(c.request.Secrets)}
	if c.request.Caller != "" {
		if missed, err = c.findCaller(e); err != nil {
			return nil, err
		}
		bound["identityId"] = e.Caller.ID
	}
	text, err := json.Marshal(bound)
	if err != nil {
		return nil, fmt.Errorf("write the context of the call: %w", err)
	}
	// Dates are read as text.
	if _, err := c.tx.Exec(c.ctx, "set local datestyle = 'ISO'"); err != nil {
		return nil, fmt.Errorf("begin to read: %w", err)
	}
	if _, err := c.tx.Exec(c.ctx, "select platform.enter($1, $2)", c.action.Name, string(text)); err != nil {
		return nil, fmt.Errorf("enter the call: %w", err)
	}
	return missed, nil
}

// notNil returns an object for JSON.
func notNil(values map[string]string) map[string]string {
	if values == nil {
		return map[string]string{}
	}
	return values
}

// findCaller finds the caller and its roles by e-mail.
func (c *call) findCaller(e *Explanation) (missed []string, err error) {
	found, err := c.rows(lower.Caller(c.request.Caller, c.schema.Roles))
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, &CallerError{c.request.Caller, "there is no Identity with the id or e-mail %s"}
	case len(found) > 1 && found[0][0] != c.request.Caller:
		return nil, &CallerError{c.request.Caller, "several Identities have the e-mail %s: name one by its id"}
	}
	values := found[0]
	e.Caller.ID, _ = values[0].(string)
	e.Caller.Email, _ = values[1].(string)
	var byEmail []string
	for i, r := range c.schema.Roles {
		if values[3+i] == true {
			byEmail = append(byEmail, r.Name)
		}
	}
	if values[2] != true {
		return byEmail, nil
	}
	c.roles = byEmail
	return nil, nil
}

// CallerError is returned for a missing or ambiguous caller.
type CallerError struct {
	Caller  string
	problem string
}

// Error names the caller and the problem.
func (e *CallerError) Error() string { return fmt.Sprintf(e.problem, e.Caller) }

// noteMissed says which roles that the rules name are missing only because the e-mail
// is not verified.
func (c *call) noteMissed(e *Explanation, roles []string) {
	for _, name := range roles {
		isNamed := slices.ContainsFunc(c.action.Rules, func(r *model.Rule) bool {
			return slices.ContainsFunc(r.Roles, func(role *model.Role) bool { return role.Name == name })
		})
		if isNamed {
			e.Notes = append(e.Notes, fmt.Sprintf("%s is not verified, and so does not have the role %s", e.Caller.Email, name))
		}
	}
}

// decide goes through the steps of a call in their order, up to the write.
func (c *call) decide(e *Explanation) error {
	e.Early = expr.False
	for _, r := range c.action.Rules {
		j := c.judge(r, c.early)
		e.Rules = append(e.Rules, j)
		e.Early = e.Early.Or(j.Value)
	}
	if e.Early == expr.False {
		e.Status, e.Outcome = 403, "refused before any row is read: none of its rules can hold"
		if len(c.action.Rules) == 0 {
			e.Outcome = "refused: no rule covers the action, so every call is refused"
		}
		return nil
	}
	for _, v := range c.action.Validations {
		value := c.early.truth(v.Expression)
		e.Validations = append(e.Validations, Validation{v, value})
		if value == expr.False && e.Status == 0 {
			e.Status, e.Outcome = 400, "invalid: "+v.Message
		}
	}
	if e.Status != 0 {
		return nil
	}
	switch c.action.Kind {
	case model.Get, model.Update, model.Delete:
		return c.pin(e)
	case model.List:
		return c.list(e)
	case model.Create:
		return c.create(e)
	}
	e.Status, e.Outcome = 200, "admitted before any row is read"
	e.Notes = append(e.Notes, "what the code of "+c.action.Name+" does is not checked")
	return nil
}

// create explains a create, whose row does not exist before it is written.
func (c *call) create(e *Explanation) error {
	if c.request.Row != "" {
		if err := c.explainNamed(e); err != nil {
			return err
		}
	}
	if e.Early == expr.True {
		e.Status, e.Outcome = 200, "admitted for any new row"
	} else {
		e.Outcome = "not decided yet: the rules judge the new row after it is written, and a refusal (403) undoes the write"
	}
	if c.request.Row == "" {
		e.Notes = append(e.Notes, "with --row the rules are applied to an existing row, as if it were the new one")
	}
	e.Notes = append(e.Notes, "constraints and @validates of models are not checked")
	c.refuseLinks(e)
	return nil
}

// explainNamed adds the row that is named by its id.
func (c *call) explainNamed(e *Explanation) (err error) {
	e.Rows, err = c.explainRows(c.isNamed, maxRows)
	if len(e.Rows) == 0 && err == nil {
		e.Notes = append(e.Notes, "no row has the id "+c.request.Row)
	}
	return err
}

// isNamed is the condition of the row that the request names.
func (c *call) isNamed(q lower.Question) pg.Expr { return pg.Eq(q.ID(), pg.Str(c.request.Row)) }

// pin explains a get, update or delete by the row that it finds.
func (c *call) pin(e *Explanation) (err error) {
	if c.action.Kind != model.Get {
		e.Notes = append(e.Notes, "the write itself is not tried: constraints may refuse it")
	}
	switch {
	case c.request.Row != "":
		e.Notes = append(e.Notes, "the row is the one of --row, regardless of the inputs")
		e.Rows, err = c.explainRows(c.isNamed, maxRows)
	case c.action.Custom && len(c.action.Pins) == 0:
		e.Outcome = "not decided yet: the rules judge the row that the code returns"
		e.Notes = append(e.Notes, "with --row the rules are applied to that row")
		return nil
	case len(c.action.Pins) > 0 && c.early[isPinned] != true:
		e.Status, e.Outcome = 400, "invalid: the given inputs do not identify a row"
		return nil
	default:
		e.Rows, err = c.explainRows(lower.Question.IsFound, maxRows)
		if len(e.Rows) == 0 && err == nil && c.action.Union == nil && !pg.IsTrue(c.questions[0].IsLookedUp()) {
			// Inputs alone may find a row that a @where leaves out; one of several could be meant.
			if e.Rows, err = c.explainRows(lower.Question.IsLookedUp, 2); len(e.Rows) > 1 {
				e.Rows = nil
			}
		}
	}
	if err != nil {
		return err
	}
	c.concludeRow(e)
	c.refuseLinks(e)
	return nil
}

// refuseLinks says which of the records that a write refers to are missing. A call that is
// not refused otherwise fails on that, before the rules judge its row.
func (c *call) refuseLinks(e *Explanation) {
	for _, in := range c.action.Writes {
		if id, isMissing := c.early[in].(string); isMissing {
			e.Notes = append(e.Notes, fmt.Sprintf("%s leads to nothing: no %s has the id %s", in.Name, linked(in).Name, id))
			if e.Status == 0 || e.Status == 200 {
				e.Status, e.Outcome = 400, fmt.Sprintf("invalid: the record referenced in %s does not exist", in.Name)
			}
		}
	}
}

// linked returns the model whose ids an input links the action's row to, or nil.
func linked(in *model.Input) *model.Model {
	switch path := in.Path; {
	case in.Explicit:
	case len(path) == 1 && path[0].FKOf != nil:
		return path[0].FKOf.Target
	case len(path) == 2 && path[0].FK != nil && path[1].Name == "id":
		return path[0].Target
	}
	return nil
}

// concludeRow gives the outcome of a get, update or delete for the row that it found.
func (c *call) concludeRow(e *Explanation) {
	isGet := c.action.Kind == model.Get
	missing := ""
	switch {
	case len(e.Rows) == 0:
		missing = "no row matches"
	case !e.Rows[0].Selected:
		missing = "the conditions of the action leave the row out"
		if i := slices.IndexFunc(e.Rows[0].Wheres, func(w Clause) bool { return w.Value != expr.True }); i >= 0 {
			missing = fmt.Sprintf("the @where at %s leaves the row out", place(e.Rows[0].Wheres[i].Span))
		}
	}
	switch {
	case missing != "" && isGet:
		e.Status, e.Outcome = 200, "null: "+missing
	case missing != "":
		e.Status, e.Outcome = 404, "not found: "+missing
	case e.Early == expr.True:
		e.Status, e.Outcome = 200, "admitted for any row"
	case e.Rows[0].Admitted:
		e.Status, e.Outcome = 200, "admitted"
	case !c.schema.Config.HideRefusedRows:
		e.Status, e.Outcome = 403, "refused: no rule admits the row"
	case isGet:
		e.Status, e.Outcome = 200, "null: no rule admits the row, and hideRefusedRows answers as if it did not exist"
	default:
		e.Status, e.Outcome = 404, "not found: no rule admits the row, and hideRefusedRows answers as if it did not exist"
	}
	if len(e.Rows) > 1 {
		e.Notes = append(e.Notes, "several rows were found; this explains the first")
	}
}

// list explains a list by some of its rows.
func (c *call) list(e *Explanation) (err error) {
	e.Status, e.Outcome = 200, "admitted: each row is shown or left out on its own"
	if e.Early == expr.True {
		e.Outcome = "admitted for any rows"
	}
	if c.request.Row != "" {
		return c.explainNamed(e)
	}
	e.Rows, err = c.explainRows(lower.Question.IsFound, maxRows)
	e.Notes = append(e.Notes, fmt.Sprintf("at most %d rows are shown, by their ids; --row explains another one", maxRows))
	if c.action.Custom {
		e.Notes = append(e.Notes, "the code of "+c.action.Name+" may return other rows")
	}
	return err
}
