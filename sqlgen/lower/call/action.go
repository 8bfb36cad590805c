package call

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Builder puts the function of an action together, step by step. A method with a value receiver only reads it; one with
// a pointer adds steps or variables to the function. A type that needs more than that holds its builder in the field b
// and keeps the same rule.
type Builder struct {
	Action *model.Action
	Model  *model.Model
	Table  string
	Fn     *pg.Function
	names  *pg.Names // of variables
	rows   string    // with @many, the alias of the rows of the request; "" if the request is one
	closed bool      // whether no caller can be admitted, so that nothing follows

	bound       []*model.Input // the inputs that policies read
	tellsCaller bool           // whether the functions that end the call look for the caller
	NoPolicies  bool           // whether the function reads and writes nothing under row security
	ReadsZone   bool           // whether periods of the filter begin with the caller's day

	Early        rule.Early // what the rules decide before any row is read
	isNamed      bool       // whether the caller was not looked for; then a found row proves that the caller exists
	HidesRefused bool       // whether a row that the rules refuse is answered as missing

	asked map[expr.Node]pg.Expr // the answers to parts of the rules that are evaluated before custom code runs, as variables

	inputs []*pg.Variable           // variables that hold inputs, declared before the others
	Values map[*model.Input]pg.Expr // values of the held inputs
	held   []*pg.Variable           // variables that hold what the rules of a list compare rows with
	Given  map[*model.Input]pg.Expr // whether a request gives an input; nil where the body of the request shows it
}

// Begin starts a function of an action: it enters the context, then refuses callers whom no row could help.
func (l *Lowering) Begin(a *model.Action, name, title string, volatility pg.Volatility) *Builder {
	return l.BeginWith(a, name, title, volatility, nil)
}

// BeginWith is begin for a function for forms of a list.
func (l *Lowering) BeginWith(a *model.Action, name, title string, volatility pg.Volatility, forms []Argument) *Builder {
	b := l.enter(a, name, title, volatility, forms)
	if a.Many {
		b.rows = value.RowAlias("rows", a)
	}
	b.refuseEarly()
	b.answerAgain()
	b.validate()
	b.attachUploads()
	return b
}

// refuseEarly ends the call of a caller whom the rules refuse for every row.
func (b *Builder) refuseEarly() {
	decider := rule.Decider{Expression: b.expressionWithoutRow(value.RuleLogic)}
	b.Early = decider.DecideEarly(b.Action.Rules)
	if b.Action.Kind == model.List && !b.Action.Custom && b.JudgesRows() {
		b.Early = rule.Early{Holds: b.Known(b.Early.Holds), Fails: b.Known(b.Early.Fails)}
		b.Fn.Settings = append(b.Fn.Settings, pg.Setting{Name: "random_page_cost", Value: "1.1"})
	}
	switch {
	case pg.IsFalse(b.Early.Fails):
	case pg.IsTrue(b.Early.Fails):
		b.Fn.Body, b.NoPolicies = nil, true
		b.Step("No rule admits anyone.", b.End("platform.refuse"), b.returnNothing())
		b.closed = true
	default:
		b.Step("", pg.IfThen(b.Early.Fails, append(b.askSession(decider), b.End("platform.refuse"))...))
	}
	b.bindInputs()
}

// askSession ends the call of a caller whom the rules would not refuse for every row with a second factor, shown now.
func (b *Builder) askSession(d rule.Decider) []pg.Statement {
	read := expr.Mentions(value.ExpressionsOfRules(b.Action.Rules)...)
	if !read.Session() {
		return nil
	}
	d.IsRaised = true
	needs := pg.Expr(pg.Str("recentSignIn"))
	if read.SecondFactor {
		needs = &pg.Case{Whens: []pg.When{{Condition: pg.Negate(pg.Fn("platform.second_factor")), Result: pg.Str("secondFactor")}}, Else: needs}
	}
	helps := pg.Negate(d.DecideEarly(b.Action.Rules).Fails)
	return []pg.Statement{b.End("platform.ask_session", &pg.Case{Whens: []pg.When{{Condition: helps, Result: needs}}})}
}

// AnswersAgain tells whether the function of an action also answers a repetition under an idempotency key: it may refuse
// the caller early, or reads the record anew. The server keeps all other answers.
func AnswersAgain(a *model.Action) bool {
	return !isReading(a.Kind) && (readsAgain(a) || !pg.IsFalse(rule.DecideOf(a).Fails))
}

// readsAgain tells whether the record that an action answers can be read anew. Custom code may return any row.
func readsAgain(a *model.Action) bool {
	return AnswersRow(a) && !isReading(a.Kind) && !a.Custom && !a.Many
}

// answerAgain answers a repetition, without carrying anything out.
func (b *Builder) answerAgain() {
	if !AnswersAgain(b.Action) {
		return
	}
	answer := []pg.Statement{b.returnNothing()}
	if readsAgain(b.Action) {
		record := &pg.Select{Columns: b.AnswerColumns(), From: b.Stored(), Where: pg.Eq(pg.Col(b.Table, "id"), replayed)}
		if answersSet(b.Action) {
			answer = []pg.Statement{&pg.ReturnQuery{Query: record}, &pg.Return{}}
		} else {
			record.Columns = []pg.Output{{Value: b.WholeRow()}}
			answer = []pg.Statement{&pg.Return{Value: &pg.Subquery{Query: record}}}
		}
	}
	ifReplayed := pg.IfThen(pg.IsNotNull(replayed), answer...)
	if pg.IsFalse(b.Early.Fails) || b.closed {
		b.Step("", ifReplayed)
		return
	}
	refused := &b.Fn.Body[len(b.Fn.Body)-1]
	refused.Statements = append(refused.Statements, ifReplayed)
}

// replayed is the id of the record that a repetition answers; null for any other call.
var replayed = pg.Fn("platform.replayed")

// JudgesRows tells whether the row may still decide that a caller is refused.
func (b Builder) JudgesRows() bool {
	return value.NeedRow(b.Action.Rules) && !pg.IsTrue(b.Early.Holds)
}

// Step adds a paragraph. Nothing follows a certain refusal.
func (b *Builder) Step(comment string, statements ...pg.Statement) {
	if b.closed || len(statements) == 0 {
		return
	}
	b.Fn.Body = append(b.Fn.Body, pg.Paragraph{Comment: comment, Statements: statements})
}

// Own declares a variable of the function itself.
func (b *Builder) Own(name, typ string, initial pg.Expr) *pg.Variable {
	if !slices.Contains(ownVariables, name) {
		panic("lower: " + name + " is not a name that other variables give way to")
	}
	return b.declare(name, typ, initial)
}

// Variable declares a variable under a name, or under a similar one if the name is taken.
func (b *Builder) Variable(name, typ string, initial pg.Expr) *pg.Variable {
	return b.declare(b.names.Take(name), typ, initial)
}

func (b *Builder) declare(name, typ string, initial pg.Expr) *pg.Variable {
	v := &pg.Variable{Name: name, Type: typ, Initial: initial}
	b.Fn.Variables = append(b.Fn.Variables, v)
	return v
}

// ownVariables are the variables of the functions themselves. One that is named for a column gives way to them.
var ownVariables = []string{
	"v_after", "v_arms", "v_count", "v_entered", "v_filter", "v_has_previous", "v_has_rows_before", "v_ids", "v_is_allowed", "v_is_backwards",
	"v_key", "v_keys", "v_offset", "v_order", "v_page_rows", "v_picked", "v_position", "v_positions", "v_range", "v_ranges",
	"v_records", "v_result", "v_rows", "v_size", "v_sql", "v_total", "v_values",
}

// VariableFor declares a variable named for a column.
func (b *Builder) VariableFor(column, typ string, initial pg.Expr) *pg.Variable {
	name := "v_" + column
	if slices.Contains(ownVariables, name) {
		name = "v_given_" + column
	}
	return b.Variable(name, typ, initial)
}

// Finish returns the function. One that only refuses needs no variables of its own.
func (b *Builder) Finish() *pg.Function {
	if b.closed {
		b.inputs, b.bound, b.Fn.Variables = nil, nil, nil
	}
	b.Fn.Variables = slices.Concat(b.inputs, b.entered(), b.Fn.Variables)
	return b.Fn
}

// hasColumnLike tells whether a table or union that an action reads, or a column of one, has such a name.
func hasColumnLike(a *model.Action, isLike func(name string) bool) bool {
	if u := a.Union; u != nil && (isLike(u.Table) || slices.ContainsFunc(u.Fields, func(f *model.UnionField) bool { return isLike(f.Column) })) {
		return true
	}
	return slices.ContainsFunc(value.ModelsRead(a), func(m *model.Model) bool {
		return isLike(m.Table) || slices.ContainsFunc(m.Stored(), func(f *model.Field) bool { return isLike(f.Column) })
	})
}

// Stored is the table that the function reads and writes rows of, under row security.
func (b Builder) Stored() *pg.TableRef { return pg.Ref(value.AppSchema, b.Table) }
