package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Request is a call that is not made.
type Request struct {
	Action  *model.Action
	Caller  string            // the id of an Identity, or its e-mail; empty is anonymous
	Input   json.RawMessage   // the body of the request, checked and in the form in which the server passes it on
	Headers map[string]string // by snake form
	Env     map[string]string
	Secrets map[string]string
	Token   string // what the caller's access token would tell, as platform.token has it; empty means nothing
	Row     string // the id of a row to explain instead of the one that the inputs find; empty means none
	AllRows bool   // whether to explain all rows of the model instead, for any inputs

	Conditions bool // whether to show the clauses of named conditions
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

// Explanation says why a call is admitted or refused. Its JSON is for scripts: members may be added, but not removed.
type Explanation struct {
	Action      string       `json:"action"`
	Kind        model.Kind   `json:"kind"`
	Model       string       `json:"model"`  // or union
	Caller      *Caller      `json:"caller"` // nil is anonymous
	Status      Status       `json:"status"`
	Outcome     string       `json:"outcome"` // in words
	Early       expr.Truth   `json:"early"`   // the decision before a row is read
	Rules       []Rule       `json:"rules"`   // as early as that
	Validations []Validation `json:"validations"`
	Rows        []Row        `json:"rows"`
	Notes       []string     `json:"notes"` // what was not looked at
}

// Status is the status of the answer, as far as rules decide it; 0, which is null as JSON, if the new row does.
type Status int

// MarshalJSON writes the status.
func (s Status) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(s), 10), nil
}

// Caller is the caller.
type Caller struct {
	ID    string   `json:"id"`
	Email string   `json:"email"`
	Roles []string `json:"roles"`
}

// Place is a place in the schema.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func placeOf(s syntax.Span) Place { return Place{s.File.Name, s.Start.Line, s.Start.Column} }

// String writes a place as diagnostics do.
func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Validation is a @validate of the action.
type Validation struct {
	Text string `json:"validation"`
	Place
	Value expr.Truth `json:"value"`
}

// Row is one row with the decisions of the rules for it.
type Row struct {
	ID       string   `json:"id"`
	Arm      string   `json:"arm,omitempty"` // of a union
	Selected bool     `json:"selected"`      // whether the conditions of the action admit it
	Admitted bool     `json:"admitted"`
	Wheres   []Clause `json:"wheres"`
	Rules    []Rule   `json:"rules"`
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
	if len(r.Input) == 0 {
		r.Input = json.RawMessage("{}")
	}
	c := &call{ctx: ctx, tx: tx, request: r, action: r.Action, schema: s, questions: lower.Questions(r.Action)}
	e := &Explanation{
		Action: r.Action.Name, Kind: r.Action.Kind,
		Rules: []Rule{}, Validations: []Validation{}, Rows: []Row{}, Notes: []string{},
	}
	if r.Action.Union != nil {
		e.Model = r.Action.Union.Name
	} else {
		e.Model = r.Action.Model.Name
	}
	if err := c.enter(e); err != nil {
		return nil, err
	}
	if err := c.askEarly(); err != nil {
		return nil, err
	}
	for _, r := range s.Roles {
		isMember := func(m *model.Membership) bool { return c.early[m] == true }
		if slices.ContainsFunc(r.Expressions, isMember) && !slices.Contains(c.roles, r.Name) {
			c.roles = append(c.roles, r.Name)
		}
	}
	if e.Caller != nil {
		e.Caller.Roles = c.roles
	}
	if err := c.decide(e); err != nil {
		return nil, err
	}
	return e, nil
}

// enter finds the caller, and sets what expressions read of the call.
func (c *call) enter(e *Explanation) error {
	bound := map[string]any{}
	for name, values := range map[string]map[string]string{"headers": c.request.Headers, "env": c.request.Env, "secrets": c.request.Secrets} {
		if len(values) > 0 {
			bound[name] = values
		}
	}
	if c.request.Caller != "" {
		if err := c.findCaller(e); err != nil {
			return err
		}
		bound["identityId"], bound["token"] = e.Caller.ID, c.request.Token
	}
	text, err := json.Marshal(bound)
	if err != nil {
		return fmt.Errorf("write the context of the call: %w", err)
	}
	// Dates are read as text.
	if _, err := c.tx.Exec(c.ctx, "select set_config('datestyle', 'ISO', true), platform.enter($1, $2)", c.action.Name, string(text)); err != nil {
		return fmt.Errorf("enter the call: %w", err)
	}
	return nil
}

// findCaller finds the caller and its roles by e-mail. It notes the roles that the rules name and that are missing only
// because the e-mail is not verified.
func (c *call) findCaller(e *Explanation) error {
	found, err := c.rows(lower.Caller(c.request.Caller, c.schema.Roles))
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return &CallerError{c.request.Caller, "there is no Identity with the id or e-mail %s"}
	case len(found) > 1 && found[0][0] != c.request.Caller:
		return &CallerError{c.request.Caller, "several Identities have the e-mail %s: name one by its id"}
	}
	values := found[0]
	email, _ := values[1].(string)
	e.Caller = &Caller{ID: values[0].(string), Email: email}
	c.roles = []string{}
	for i, r := range c.schema.Roles {
		isNamed := slices.ContainsFunc(c.action.Rules, func(rule *model.Rule) bool { return slices.Contains(rule.Roles, r) })
		switch {
		case values[3+i] != true:
		case values[2] == true:
			c.roles = append(c.roles, r.Name)
		case isNamed:
			e.Notes = append(e.Notes, fmt.Sprintf("%s is not verified, and so does not have the role %s", email, r.Name))
		}
	}
	return nil
}

// CallerError is returned for a missing or ambiguous caller.
type CallerError struct {
	Caller  string
	problem string
}

// Error names the caller and the problem.
func (e *CallerError) Error() string { return fmt.Sprintf(e.problem, e.Caller) }

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
		e.Validations = append(e.Validations, Validation{v.Text, placeOf(v.Span), value})
		if value == expr.False && e.Status == 0 && !c.request.AllRows {
			e.Status, e.Outcome = 400, "invalid: "+v.Message
		}
	}
	if e.Status != 0 {
		return nil
	}
	switch c.action.Kind {
	case model.Get, model.Update, model.Delete, model.ReadHistory:
		return c.pin(e)
	case model.List:
		return c.list(e)
	case model.Create:
		return c.create(e)
	}
	e.Status, e.Outcome = 200, "admitted before any row is read"
	if c.action.Kind == model.Start {
		e.Status = 202
	}
	e.Notes = append(e.Notes, "what the code of "+c.action.Name+" does is not checked")
	return nil
}

// create explains a create, whose row does not exist before it is written.
func (c *call) create(e *Explanation) error {
	if c.namesRows() {
		if err := c.explainNamed(e); err != nil {
			return err
		}
	}
	if e.Early == expr.True {
		e.Status, e.Outcome = 200, "admitted for any new row"
	} else {
		e.Outcome = "not decided yet: the rules judge the new row, and if they refuse it (403), nothing is written"
	}
	if !c.namesRows() {
		e.Notes = append(e.Notes, "with --row the rules are applied to an existing row, as if it were the new one")
	}
	e.Notes = append(e.Notes, "constraints and @validates of models are not checked")
	c.refuseLinks(e)
	return nil
}

// explainNamed adds the row that is named by its id.
func (c *call) explainNamed(e *Explanation) (err error) {
	e.Rows, err = c.explainRows(c.isNamed, c.mostNamed())
	if len(e.Rows) == 0 && err == nil && !c.request.AllRows {
		e.Notes = append(e.Notes, "no row has the id "+c.request.Row)
	}
	return err
}

// namesRows tells whether the request names the rows to explain.
func (c *call) namesRows() bool { return c.request.Row != "" || c.request.AllRows }

// isNamed is the condition of the rows that the request names.
func (c *call) isNamed(q lower.Question) pg.Expr {
	if c.request.AllRows {
		return pg.True()
	}
	return pg.Eq(q.ID(), pg.Str(c.request.Row))
}

// mostNamed is the largest number of rows that a request names.
func (c *call) mostNamed() int {
	if c.request.AllRows {
		return math.MaxInt32
	}
	return maxRows
}

// pin explains a get, update or delete by the row that it finds.
func (c *call) pin(e *Explanation) (err error) {
	if c.action.Kind != model.Get && c.action.Kind != model.ReadHistory {
		e.Notes = append(e.Notes, "the write itself is not tried: constraints may refuse it")
	}
	switch {
	case c.namesRows():
		e.Notes = append(e.Notes, "the row is the one of --row, regardless of the inputs")
		e.Rows, err = c.explainRows(c.isNamed, c.mostNamed())
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
// not refused otherwise fails on that.
func (c *call) refuseLinks(e *Explanation) {
	for _, in := range c.action.Writes {
		if id, isMissing := c.early[in].(string); isMissing {
			e.Notes = append(e.Notes, fmt.Sprintf("%s leads to nothing: no %s has the id %s", in.Name, linked(in).Name, id))
			if e.Status == 200 {
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
			missing = fmt.Sprintf("the @where at %s leaves the row out", e.Rows[0].Wheres[i].Place)
		}
	}
	isHistory := c.action.Kind == model.ReadHistory
	switch {
	case missing != "" && isHistory && e.Early == expr.True:
		e.Status, e.Outcome = 200, "admitted for any row, also one that is gone"
	case missing != "" && isHistory && !c.schema.Config.HideRefusedRows:
		e.Status, e.Outcome = 403, "refused: "+missing+", and no rule admits a row that is gone"
	case isHistory && c.schema.Config.HideRefusedRows && e.Early != expr.True && (missing != "" || !e.Rows[0].Admitted):
		e.Status, e.Outcome = 200, "an empty page: no rule admits the row, and hideRefusedRows answers as if it did not exist"
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
	if c.namesRows() {
		return c.explainNamed(e)
	}
	conditions, err := c.rows(c.questions[0].Conditions(), string(c.request.Input))
	if err != nil {
		return err
	}
	satisfies := func(q lower.Question) pg.Expr { return q.Satisfies(conditions[0][0].(string)) }
	e.Rows, err = c.explainRows(satisfies, maxRows)
	e.Notes = append(e.Notes, fmt.Sprintf("at most %d rows are shown, by their ids; --row explains another one", maxRows))
	if c.action.Custom {
		e.Notes = append(e.Notes, "the code of "+c.action.Name+" may return other rows")
	}
	return err
}
