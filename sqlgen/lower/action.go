package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// action lowers an action to its functions.
func (l *lowering) action(a *model.Action) []*pg.Function {
	functions := l.body(a)
	if isPrepared(a) {
		functions = append(functions, l.decideFirst(a))
	}
	return functions
}

// body lowers the body of an action.
func (l *lowering) body(a *model.Action) []*pg.Function {
	switch {
	case a.Union != nil && a.Kind == model.Get:
		return []*pg.Function{l.unionGet(a)}
	case a.Union != nil:
		return l.list(a)
	case a.Custom:
		return []*pg.Function{l.custom(a, (*builder).answerRows)}
	}
	switch a.Kind {
	case model.Get:
		return []*pg.Function{l.get(a)}
	case model.List:
		return l.list(a)
	case model.Create:
		return []*pg.Function{l.create(a)}
	case model.Update:
		return []*pg.Function{l.update(a)}
	case model.Delete:
		return []*pg.Function{l.deletion(a)}
	}
	panic(fmt.Sprintf("lower: an action of kind %s was not refused", a.Kind))
}

// functionName is the name of an action's function. PL/pgSQL lets parameters, the columns of its answer and FOUND be
// qualified by the name of the function. If a function had the name of a table that it reads, of a second alias of one,
// or of the rows of its union, PL/pgSQL would take a column there for them.
func functionName(a *model.Action) string {
	isRead := func(m *model.Model) bool { return isAliasOf(m.Table, a.Function) }
	if slices.ContainsFunc(modelsRead(a), isRead) || isAliasOf(tableOf(a), a.Function) {
		return a.Function + "__action"
	}
	return a.Function
}

// isAliasOf tells whether a name is a table's, or an alias that joins would give it.
func isAliasOf(table, name string) bool {
	number, isNumbered := strings.CutPrefix(name, table+"_")
	return name == table || isNumbered && strings.Trim(number, "0123456789") == ""
}

// modelsRead returns the models whose tables an action's functions read, or could:
// its own, those that it embeds, and those that its inputs and expressions lead
// through.
func modelsRead(a *model.Action) []*model.Model {
	var models []*model.Model
	add := func(m *model.Model) {
		if m != nil && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	add(a.Model)
	if a.Union != nil {
		for _, arm := range a.Union.Arms {
			add(arm.Model)
		}
	}
	var addShown func(model.Shape)
	addShown = func(shape model.Shape) {
		for _, m := range shape {
			add(m.Field.Target)
			addShown(m.Shape)
		}
	}
	if a.Model != nil {
		addShown(a.Shape())
	}
	for _, in := range append(a.Reads[:len(a.Reads):len(a.Reads)], a.Writes...) {
		for _, f := range in.Path {
			add(f.Target)
		}
	}
	for _, p := range expr.Paths(append(expressions(a), armExpressions(a)...)...) {
		for _, s := range p.Steps {
			if f, ok := s.(*model.Field); ok {
				add(f.Model)
				add(f.Target)
			}
		}
	}
	return models
}

// armExpressions returns the expressions of the arms of a union's action.
func armExpressions(a *model.Action) []expr.Node {
	if a.Union == nil {
		return nil
	}
	var nodes []expr.Node
	for _, arm := range a.Union.Arms {
		for _, w := range arm.Wheres {
			nodes = append(nodes, w.Expression)
		}
		for _, v := range arm.Values {
			if v.Value != nil {
				nodes = append(nodes, v.Value)
			}
		}
	}
	return nodes
}

// expressions returns every expression of an action.
func expressions(a *model.Action) []expr.Node {
	var nodes []expr.Node
	for _, w := range a.Wheres {
		nodes = append(nodes, w.Expression)
	}
	for _, s := range a.Sets {
		nodes = append(nodes, s.Value)
	}
	for _, v := range a.Validations {
		nodes = append(nodes, v.Expression)
	}
	return append(nodes, expressionsOfRules(a.Rules)...)
}

var (
	input   = pg.Var("input")
	context = pg.Var("context")
)

// builder puts the function of an action together, step by step. A method with a value receiver only reads it; one with
// a pointer adds steps or variables to the function. A type that needs more than that holds its builder in the field b
// and keeps the same rule.
type builder struct {
	action *model.Action
	model  *model.Model
	table  string
	fn     *pg.Function
	names  *pg.Names // of variables
	closed bool      // whether no caller can be admitted, so that nothing follows

	isDeciding  bool           // whether the function only decides, and reads nothing under row security
	bound       []*model.Input // the inputs that policies read
	tellsCaller bool           // whether the functions that end the call look for the caller
	readsZone   bool           // whether periods of the filter begin with the caller's day

	early        early // what the rules decide before any row is read
	isNamed      bool  // whether the caller was not looked for; then a found row proves that the caller exists
	hidesRefused bool  // whether a row that the rules refuse is answered as missing

	asked map[expr.Node]pg.Expr // the answers to parts of the rules that are evaluated before custom code runs, as variables

	inputs []*pg.Variable           // variables that hold inputs, declared before the others
	values map[*model.Input]pg.Expr // values of the held inputs
	held   []*pg.Variable           // variables that hold what the rules of a list compare rows with
	given  map[*model.Input]pg.Expr // whether a request gives an input; nil where the body of the request shows it
}

// begin starts a function of an action: it enters the context, then refuses callers whom no row could help.
func (l *lowering) begin(a *model.Action, name, title string, volatility pg.Volatility) *builder {
	return l.beginWith(a, name, title, volatility, nil)
}

// beginWith is begin for a function for forms of a list.
func (l *lowering) beginWith(a *model.Action, name, title string, volatility pg.Volatility, forms []argument) *builder {
	b := l.enter(a, name, title, volatility, forms)
	b.refuseEarly()
	b.answerAgain()
	b.validate()
	b.attachUploads()
	return b
}

// tableOf is the name that queries give the rows of an action.
func tableOf(a *model.Action) string {
	if a.Union != nil {
		return a.Union.Table
	}
	return a.Model.Table
}

// ownerOf names what an action belongs to, for comments.
func ownerOf(a *model.Action) string {
	if a.Union != nil {
		return "union " + a.Union.Name
	}
	return "model " + a.Model.Name
}

// refuseEarly ends the call of a caller whom the rules refuse for every row.
func (b *builder) refuseEarly() {
	b.early = decider{expression: b.expressionWithoutRow(ruleLogic)}.decideEarly(b.action.Rules)
	if b.action.Kind == model.List && !b.action.Custom && b.judgesRows() {
		b.early = early{holds: b.known(b.early.holds), fails: b.known(b.early.fails)}
		b.fn.Settings = append(b.fn.Settings, pg.Setting{Name: "random_page_cost", Value: "1.1"})
	}
	switch {
	case pg.IsFalse(b.early.fails):
	case pg.IsTrue(b.early.fails):
		b.fn.Body, b.isDeciding = nil, true
		b.step("No rule admits anyone.", b.end("platform.refuse"), b.returnNothing())
		b.closed = true
	default:
		b.step("", pg.IfThen(b.early.fails, b.end("platform.refuse")))
	}
	b.bindInputs()
}

// answersAgain tells whether the function of an action also answers a repetition under an idempotency key: it may refuse
// the caller early, or reads the record anew. The server keeps all other answers.
func answersAgain(a *model.Action) bool {
	return !isReading(a.Kind) && (readsAgain(a) || !pg.IsFalse(decideOf(a).fails))
}

// readsAgain tells whether the record that an action answers can be read anew. Custom code may return any row.
func readsAgain(a *model.Action) bool { return answersRow(a) && !isReading(a.Kind) && !a.Custom }

// answerAgain answers a repetition, without carrying anything out.
func (b *builder) answerAgain() {
	if !answersAgain(b.action) {
		return
	}
	answer := []pg.Statement{b.returnNothing()}
	if readsAgain(b.action) {
		record := &pg.Select{Columns: b.answerColumns(), From: b.stored(), Where: pg.Eq(pg.Col(b.table, "id"), replayed)}
		if answersSet(b.action) {
			answer = []pg.Statement{&pg.ReturnQuery{Query: record}, &pg.Return{}}
		} else {
			record.Columns = []pg.Output{{Value: b.wholeRow()}}
			answer = []pg.Statement{&pg.Return{Value: &pg.Subquery{Query: record}}}
		}
	}
	ifReplayed := pg.IfThen(pg.IsNotNull(replayed), answer...)
	if pg.IsFalse(b.early.fails) || b.closed {
		b.step("", ifReplayed)
		return
	}
	refused := &b.fn.Body[len(b.fn.Body)-1]
	refused.Statements = append(refused.Statements, ifReplayed)
}

// replayed is the id of the record that a repetition answers; null for any other call.
var replayed = pg.Fn("platform.replayed")

// judgesRows tells whether the row may still decide that a caller is refused.
func (b builder) judgesRows() bool {
	return needRow(b.action.Rules) && !pg.IsTrue(b.early.holds)
}

// step adds a paragraph. Nothing follows a certain refusal.
func (b *builder) step(comment string, statements ...pg.Statement) {
	if b.closed {
		return
	}
	b.fn.Body = append(b.fn.Body, pg.Paragraph{Comment: comment, Statements: statements})
}

// own declares a variable of the function itself.
func (b *builder) own(name, typ string, initial pg.Expr) *pg.Variable {
	if !slices.Contains(ownVariables, name) {
		panic("lower: " + name + " is not a name that other variables give way to")
	}
	return b.declare(name, typ, initial)
}

// variable declares a variable under a name, or under a similar one if the name is taken.
func (b *builder) variable(name, typ string, initial pg.Expr) *pg.Variable {
	return b.declare(b.names.Take(name), typ, initial)
}

func (b *builder) declare(name, typ string, initial pg.Expr) *pg.Variable {
	v := &pg.Variable{Name: name, Type: typ, Initial: initial}
	b.fn.Variables = append(b.fn.Variables, v)
	return v
}

// ownVariables are the variables of the functions themselves. One that is named for a column gives way to them.
var ownVariables = []string{
	"v_after", "v_arms", "v_count", "v_entered", "v_filter", "v_has_previous", "v_has_rows_before", "v_ids", "v_is_allowed", "v_is_backwards",
	"v_key", "v_keys", "v_offset", "v_order", "v_page_rows", "v_picked", "v_position", "v_positions", "v_range", "v_ranges",
	"v_records", "v_result", "v_rows", "v_size", "v_sql", "v_total", "v_values",
}

// variableFor declares a variable named for a column.
func (b *builder) variableFor(column, typ string, initial pg.Expr) *pg.Variable {
	name := "v_" + column
	if slices.Contains(ownVariables, name) {
		name = "v_given_" + column
	}
	return b.variable(name, typ, initial)
}

// finish returns the function. One that only refuses needs no variables of its own.
func (b *builder) finish() *pg.Function {
	if b.closed {
		b.inputs, b.bound, b.fn.Variables = nil, nil, nil
	}
	b.fn.Variables = slices.Concat(b.inputs, b.entered(), b.fn.Variables)
	return b.fn
}

// hasColumnLikeVariable tells whether a column, or a table as a whole, has the name of an argument of an action's
// function, or begins as its variables do: Postgres would report the bare name as ambiguous.
func hasColumnLikeVariable(a *model.Action, arguments []pg.Argument) bool {
	isLike := func(name string) bool {
		return strings.HasPrefix(name, "v_") || slices.ContainsFunc(arguments, func(a pg.Argument) bool { return a.Name == name })
	}
	for _, m := range modelsRead(a) {
		if isLike(m.Table) || slices.ContainsFunc(m.Stored(), func(f *model.Field) bool { return isLike(f.Column) }) {
			return true
		}
	}
	return false
}

// stored is the table that the function reads and writes rows of, under row security.
func (b builder) stored() *pg.TableRef { return pg.Ref(appSchema, b.table) }
