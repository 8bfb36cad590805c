package value

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// ModelsRead returns the models whose tables an action's functions read, or could:
// its own, those that it embeds, and those that its inputs and expressions lead
// through.
func ModelsRead(a *model.Action) []*model.Model {
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
	for _, p := range expr.Paths(append(expressions(a), ArmExpressions(a)...)...) {
		for _, s := range p.Steps {
			if f, ok := s.(*model.Field); ok {
				add(f.Model)
				add(f.Target)
			}
		}
	}
	return models
}

// ArmExpressions returns the expressions of the arms of a union's action.
func ArmExpressions(a *model.Action) []expr.Node {
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
	return append(nodes, ExpressionsOfRules(a.Rules)...)
}

// TableOf is the name that queries give the rows of an action.
func TableOf(a *model.Action) string {
	if a.Union != nil {
		return a.Union.Table
	}
	return a.Model.Table
}

// A create is judged by its new row, once that row and all beside it are stored. The rules ask about the caller as it
// was before: a row that the call itself has written, such as the membership that it makes, admits no caller and
// refuses none. So a path from the caller skips the rows that the action has inserted. They are found by the relations
// that the inputs lead through, from the new row on. The rows that custom code writes are not known; there, the parts
// of the rules that are about the caller alone are evaluated before it runs.

// WrittenBy returns the rows that an action has inserted when its row is judged, as far as a path from the caller in
// its rules may reach them; it returns nil if none does. For custom code only the returned row is known to be new.
func WrittenBy(a *model.Action) *Level {
	if a.Kind != model.Create || a.Model == nil {
		return nil
	}
	root := &Level{Model: a.Model}
	if !a.Custom {
		root = Levels(a)
	}
	for _, s := range referringSteps(a) {
		if slices.ContainsFunc(root.Inserted(), func(l *Level) bool { return l.Model == s.Target }) {
			return root
		}
	}
	return nil
}

// referringSteps returns the steps by which paths from the caller, in the rules of an action, pass from a row to those
// that refer to it. Other steps lead to no new row: only rows written with a new row refer to it.
func referringSteps(a *model.Action) []*model.Field {
	var steps []*model.Field
	for _, p := range expr.Paths(ExpressionsOfRules(a.Rules)...) {
		if p.Root != expr.RootIdentity {
			continue
		}
		for _, s := range p.Steps {
			if f := Field(s); f.IsRelation() && f.FK == nil {
				steps = append(steps, f)
			}
		}
	}
	return steps
}

// IsOver tells whether an access token of a caller is over.
func IsOver(caller, token pg.Expr) pg.Expr {
	return &pg.Exists{Query: &pg.Select{
		From: &pg.TableRef{Schema: "platform", Name: "caller_validity", Alias: "validity"},
		Where: pg.AllOf(
			pg.Eq(pg.Col("validity", "identity_id"), caller),
			pg.Fn("platform.is_over", pg.Col("validity", "valid_from"), caller, token),
		),
	}}
}

// CallerRoles is the view of the caller's roles. No model's table has such a name.
const CallerRoles = "caller__roles"

// NeedRow tells whether rules mention the row, so that some callers can only be judged after it is read.
func NeedRow(rules []*model.Rule) bool {
	for _, r := range rules {
		if r.Expression != nil && expr.Mentions(r.Expression).Row {
			return true
		}
	}
	return false
}

// ExpressionsOfRules returns the expressions of rules that have one.
func ExpressionsOfRules(rules []*model.Rule) []expr.Node {
	var nodes []expr.Node
	for _, r := range rules {
		if r.Expression != nil {
			nodes = append(nodes, r.Expression)
		}
	}
	return nodes
}

// RuleInputs returns the inputs that rules mention, each once.
func RuleInputs(rules []*model.Rule) []*model.Input {
	var inputs []*model.Input
	for _, in := range expr.Mentions(ExpressionsOfRules(rules)...).Inputs {
		inputs = append(inputs, in.(*model.Input))
	}
	return inputs
}

// SettingOf reads an input of the call from its setting.
func SettingOf(in expr.Input) pg.Expr {
	i := in.(*model.Input)
	return pg.As(Settled(pg.Fn("platform.input", pg.Str(model.SnakeForm(i.Name))), InQuery), VariableType(i.Type))
}

// IsSealed tells whether a @set makes a password or secret of a text. The server does so before the call, so that no
// database sees the text.
func IsSealed(s *model.Set) bool {
	if !s.Target[len(s.Target)-1].Type.Kind.IsWriteOnly() {
		return false
	}
	switch v := s.Value.(type) {
	case *expr.Path:
		return v.Type().Kind == expr.Text
	case *expr.Literal:
		return v.Value != nil
	}
	return false
}

// ExpressionsRead returns the expressions of an action that its functions evaluate.
func ExpressionsRead(a *model.Action) []expr.Node {
	other := *a
	other.Sets = slices.DeleteFunc(slices.Clone(a.Sets), IsSealed)
	return expressions(&other)
}

// RowAlias is an alias for the rows of a query as a whole. A column of the same name, of this query or of any around
// it, would take precedence.
func RowAlias(name string, a *model.Action) string {
	for _, m := range ModelsRead(a) {
		if m.Table == name {
			return name + "_"
		}
		for _, f := range m.Fields {
			if f.Name == name || f.Column == name {
				return name + "_" // no column has such a name
			}
		}
	}
	if a.Union != nil && slices.ContainsFunc(a.Union.Fields, func(f *model.UnionField) bool { return f.Name == name || f.Column == name }) {
		return name + "_"
	}
	return name
}
