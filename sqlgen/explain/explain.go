package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/emit"
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

// maxRows is the number of rows of a list that are shown.
const maxRows = 5

// call is a request with the data to evaluate it.
type call struct {
	request Request
	action  *model.Action
	schema  *model.Schema
	store   *store
	call    expr.Call
	inputs  map[string]any
	roles   []string
}

// Explain explains a call. It only reads, in a transaction whose role may read the
// views of schema related.
func Explain(ctx context.Context, tx pgx.Tx, s *model.Schema, r Request) (*Explanation, error) {
	c := &call{request: r, action: r.Action, schema: s, store: newStore(ctx, tx, s)}
	e := &Explanation{Action: r.Action}
	if err := c.prepare(e); err != nil {
		return nil, err
	}
	c.decide(e)
	if c.store.isFull && c.action.Kind != model.List {
		e.Notes = append(e.Notes, fmt.Sprintf("only the first %d of the possible rows were read", maxCandidates))
	}
	if c.store.err != nil {
		return nil, c.store.err
	}
	return e, nil
}

// prepare finds the facts that are known before any row is read.
func (c *call) prepare(e *Explanation) error {
	// Dates are read as text.
	if _, err := c.store.tx.Exec(c.store.ctx, "set local datestyle = 'ISO'"); err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}
	var now string
	if err := c.store.tx.QueryRow(c.store.ctx, "select platform.iso(now())").Scan(&now); err != nil {
		return fmt.Errorf("ask for the time: %w", err)
	}
	inputs, err := readInputs(c.action, c.request.Input)
	if err != nil {
		return err
	}
	c.inputs = inputs
	c.call = expr.Call{Now: now, Inputs: inputs, Headers: c.request.Headers, Env: c.request.Env, Secrets: c.request.Secrets}
	if c.request.Caller == "" {
		return nil
	}
	identity, err := c.identity()
	if err != nil {
		return err
	}
	c.call.Identity = identity
	email, _ := identity.Value("email").(string)
	verified := identity.Value("emailVerified") == true
	c.roles = rolesOf(c.schema, email, verified)
	c.addRolesByExpression()
	e.Caller = Caller{ID: identity.id, Email: email, Roles: c.roles}
	if !verified {
		c.noteMissed(e, rolesOf(c.schema, email, true))
	}
	return c.store.err
}

// identity returns the row of the caller.
func (c *call) identity() (*row, error) {
	identities := c.store.models["Identity"]
	if r := c.store.existing(identities, c.request.Caller); r != nil || c.store.err != nil {
		return r, c.store.err
	}
	found := c.store.find(identities, []condition{{[]*model.Field{identities.Field("email")}, c.request.Caller}}, 10)
	switch {
	case c.store.err != nil:
		return nil, c.store.err
	case len(found) == 0:
		return nil, &CallerError{c.request.Caller, "there is no Identity with the id or e-mail %s"}
	case len(found) > 1:
		return nil, &CallerError{c.request.Caller, "several Identities have the e-mail %s: name one by its id"}
	}
	return found[0], nil
}

// CallerError is returned for a missing or ambiguous caller.
type CallerError struct {
	Caller  string
	problem string
}

// Error names the caller and the problem.
func (e *CallerError) Error() string { return fmt.Sprintf(e.problem, e.Caller) }

// addRolesByExpression adds the roles that the caller has by an expression.
func (c *call) addRolesByExpression() {
	for _, r := range c.schema.Roles {
		holds := slices.ContainsFunc(r.Expressions, func(e *model.Membership) bool { return expr.Early(c.call, e.Expression) == expr.True })
		if holds && !slices.Contains(c.roles, r.Name) {
			c.roles = append(c.roles, r.Name)
		}
	}
}

// rolesOf returns the roles of a caller with an e-mail.
func rolesOf(s *model.Schema, email string, verified bool) []string {
	if email == "" || !verified {
		return nil
	}
	email = strings.ToLower(email)
	domain := email[strings.LastIndexByte(email, '@')+1:]
	var names []string
	for _, r := range s.Roles {
		if slices.Contains(r.Emails, email) || strings.Contains(email, "@") && slices.Contains(r.Domains, domain) {
			names = append(names, r.Name)
		}
	}
	return names
}

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
func (c *call) decide(e *Explanation) {
	e.Early = expr.False
	for _, r := range c.action.Rules {
		j := c.judge(r, nil)
		e.Rules = append(e.Rules, j)
		e.Early = e.Early.Or(j.Value)
	}
	if e.Early == expr.False {
		e.Status, e.Outcome = 403, "refused before any row is read: none of its rules can hold"
		if len(c.action.Rules) == 0 {
			e.Outcome = "refused: no rule covers the action, so every call is refused"
		}
		return
	}
	for _, v := range c.action.Validations {
		value := expr.Validate(c.call, v.Expression)
		e.Validations = append(e.Validations, Validation{v, value})
		if value == expr.False && e.Status == 0 {
			e.Status, e.Outcome = 400, "invalid: "+v.Message
		}
	}
	if e.Status != 0 {
		return
	}
	switch c.action.Kind {
	case model.Get, model.Update, model.Delete:
		c.pin(e)
	case model.List:
		c.list(e)
	case model.Create:
		c.create(e)
	default:
		e.Status, e.Outcome = 200, "admitted before any row is read"
		e.Notes = append(e.Notes, "what the code of "+c.action.Name+" does is not checked")
	}
}

// create explains a create, whose row does not exist before it is written.
func (c *call) create(e *Explanation) {
	if c.request.Row != "" {
		c.explainRow(e, c.request.Row)
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
}

// explainRow adds a row that is named by its id.
func (c *call) explainRow(e *Explanation, id string) {
	rows := c.named(id)
	for _, r := range rows {
		e.Rows = append(e.Rows, c.row(r))
	}
	if len(rows) == 0 {
		e.Notes = append(e.Notes, "no row has the id "+id)
	}
}

// named returns the rows of the action's model or union that have an id.
func (c *call) named(id string) []expr.Row {
	one := func(m *model.Model) []*row {
		if r := c.store.existing(m, id); r != nil {
			return []*row{r}
		}
		return nil
	}
	return c.fromSources(one)
}

// fromSources returns rows of the action's model, or those of its union that come
// from such rows.
func (c *call) fromSources(sources func(*model.Model) []*row) []expr.Row {
	var rows []expr.Row
	if c.action.Union != nil {
		for _, r := range c.store.arms(c.action.Union, sources) {
			rows = append(rows, r)
		}
		return rows
	}
	for _, r := range sources(c.action.Model) {
		rows = append(rows, r)
	}
	return rows
}

// row explains the decisions of the action's conditions and rules for a row.
func (c *call) row(r expr.Row) Row {
	x := Row{ID: r.ID()}
	if of, ok := r.(unionRow); ok {
		x.Arm = of.arm.Name
	}
	x.Selected = c.isSelected(r)
	for _, w := range c.action.Wheres {
		if !c.mentionsAbsent(w.Expression) {
			call := c.call
			call.Row = r
			value := expr.False
			if expr.Holds(call, w.Expression) {
				value = expr.True
			}
			x.Wheres = append(x.Wheres, Clause{Text: w.Text, Span: w.Span, Value: value, Operands: c.operands(w.Expression, r)})
		}
	}
	for _, rule := range c.action.Rules {
		j := c.judge(rule, r)
		x.Rules = append(x.Rules, j)
		x.Admitted = x.Admitted || j.Value == expr.True
	}
	return x
}

// isSelected tells whether the conditions of the action hold of a row.
func (c *call) isSelected(r expr.Row) bool {
	call := c.call
	call.Row = r
	var wheres []expr.Node
	for _, w := range c.action.Wheres {
		wheres = append(wheres, w.Expression)
	}
	return expr.Holds(call, wheres...)
}

// pin explains a get, update or delete by the row that it finds.
func (c *call) pin(e *Explanation) {
	if c.action.Kind != model.Get {
		e.Notes = append(e.Notes, "the write itself is not tried: constraints may refuse it")
	}
	var found []expr.Row
	switch {
	case c.request.Row != "":
		found = c.named(c.request.Row)
		e.Notes = append(e.Notes, "the row is the one of --row, regardless of the inputs")
	case c.action.Custom && len(c.action.Pins) == 0:
		e.Outcome = "not decided yet: the rules judge the row that the code returns"
		e.Notes = append(e.Notes, "with --row the rules are applied to that row")
		return
	default:
		conditions, isPinned := c.pinned()
		if !isPinned {
			e.Status, e.Outcome = 400, "invalid: the given inputs do not identify a row"
			return
		}
		if found = c.selected(conditions); len(found) == 0 {
			found = c.leftOut()
		}
	}
	for _, r := range found {
		e.Rows = append(e.Rows, c.row(r))
	}
	c.concludeRow(e)
	c.refuseLinks(e)
}

// leftOut returns the row that the inputs alone find, if a @where leaves it out.
func (c *call) leftOut() []expr.Row {
	conditions := c.looked()
	if len(conditions) == 0 || c.action.Union != nil {
		return nil
	}
	var rows []expr.Row
	for _, r := range c.store.find(c.action.Model, conditions, 2) {
		rows = append(rows, r)
	}
	if len(rows) != 1 { // several could be meant
		return nil
	}
	return rows
}

// refuseLinks says which of the records that a write refers to are missing. A call that is
// not refused otherwise fails on that, before the rules judge its row.
func (c *call) refuseLinks(e *Explanation) {
	for _, in := range c.action.Writes {
		value, given := c.inputs[in.Name]
		id, isText := value.(string)
		if !given || !isText || in.Explicit || len(in.Path) == 0 {
			continue
		}
		target := linked(in.Path)
		if target != nil && c.store.existing(target, id) == nil && c.store.err == nil {
			e.Notes = append(e.Notes, fmt.Sprintf("%s leads to nothing: no %s has the id %s", in.Name, target.Name, id))
			if e.Status == 0 || e.Status == 200 {
				e.Status, e.Outcome = 400, fmt.Sprintf("invalid: the record referenced in %s does not exist", in.Name)
			}
		}
	}
}

// linked returns the model whose ids an input links the action's row to, or nil.
func linked(path []*model.Field) *model.Model {
	switch {
	case len(path) == 1 && path[0].FKOf != nil:
		return path[0].FKOf.Target
	case len(path) == 2 && path[0].FK != nil && path[1].Name == "id":
		return path[0].Target
	}
	return nil
}

// selected returns the rows that satisfy conditions and the @wheres.
func (c *call) selected(conditions []condition) []expr.Row {
	rows := c.fromSources(func(m *model.Model) []*row {
		if c.action.Union != nil {
			conditions = c.unionID(m)
		}
		return c.store.find(m, conditions, maxCandidates)
	})
	return slices.DeleteFunc(rows, func(r expr.Row) bool { return !c.isSelected(r) || !c.hasUnionInputs(r) })
}

// unionID returns the condition on the source rows of a union for a look-up by id; none
// without such an input.
func (c *call) unionID(m *model.Model) []condition {
	if value, given := c.inputs["id"]; given {
		return []condition{{[]*model.Field{m.Field("id")}, value}}
	}
	return nil
}

// hasUnionInputs tells whether a row of a union has the values that the implicit
// inputs of a get ask for.
func (c *call) hasUnionInputs(r expr.Row) bool {
	for _, in := range c.action.Reads {
		value, given := c.inputs[in.Name]
		if in.Union != nil && !in.Explicit && given && !sameValue(in.Type, r.Value(in.Union.Name), value) {
			return false
		}
	}
	return true
}

// sameValue tells whether two values of a type are equal.
func sameValue(t expr.Type, a, b any) bool {
	if values, isArray := a.([]any); isArray {
		others, _ := b.([]any)
		return slices.EqualFunc(values, others, func(a, b any) bool { return sameValue(expr.Type{Kind: t.Kind}, a, b) })
	}
	if t.Kind.Class() == expr.ClassNumeric && a != nil && b != nil {
		x, isNumber := new(big.Rat).SetString(a.(string))
		y, isOther := new(big.Rat).SetString(b.(string))
		return isNumber && isOther && x.Cmp(y) == 0
	}
	return a == b
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
func (c *call) list(e *Explanation) {
	e.Status, e.Outcome = 200, "admitted: each row is shown or left out on its own"
	if e.Early == expr.True {
		e.Outcome = "admitted for any rows"
	}
	if c.request.Row != "" {
		c.explainRow(e, c.request.Row)
		return
	}
	var conditions []condition
	for _, w := range c.action.Wheres {
		if !c.mentionsAbsent(w.Expression) {
			conditions = append(conditions, c.equalities(w.Expression)...)
		}
	}
	filtered := ""
	rows := c.fromSources(func(m *model.Model) []*row {
		if c.action.Union != nil {
			filtered = "; filters of the request are not applied"
			return c.store.find(m, nil, maxCandidates)
		}
		filter := lower.FilterOf(c.action, pg.Lit("$1::jsonb"))
		if pg.IsTrue(filter) || len(c.request.Input) == 0 {
			return c.store.find(m, conditions, maxCandidates)
		}
		return c.store.findFiltered(m, conditions, maxCandidates, emit.Expr(filter), string(c.request.Input))
	})
	for _, r := range rows {
		if len(e.Rows) < maxRows && c.isSelected(r) {
			e.Rows = append(e.Rows, c.row(r))
		}
	}
	e.Notes = append(e.Notes, fmt.Sprintf("at most %d rows are shown, by their ids%s; --row explains another one", maxRows, filtered))
	if c.action.Custom {
		e.Notes = append(e.Notes, "the code of "+c.action.Name+" may return other rows")
	}
}
