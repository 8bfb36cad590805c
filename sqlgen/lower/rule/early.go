package rule

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Early is what is known of an expression before any row is read, in three-valued logic: whether it holds for every
// row, and whether it fails for every row. If neither, it depends on the row. Both are conditions that are never null.
type Early struct {
	Holds, Fails pg.Expr
}

// depends is an expression about which nothing is known.
func depends() Early { return Early{Holds: pg.False(), Fails: pg.False()} }

func known(holds bool) Early { return Early{Holds: value.Boolean(holds), Fails: value.Boolean(!holds)} }

func bothEarly(a, b Early) Early {
	return Early{Holds: pg.AllOf(a.Holds, b.Holds), Fails: pg.AnyOf(a.Fails, b.Fails)}
}

func eitherEarly(a, b Early) Early {
	return Early{Holds: pg.AnyOf(a.Holds, b.Holds), Fails: pg.AllOf(a.Fails, b.Fails)}
}

// Decider evaluates rules before any row is read. A comparison that is false because the caller or an input is missing
// is false for every row.
type Decider struct {
	value.Expression

	// inputsKnown is nil where inputs are known. The inputs of an upload are not; it then tells whether the function
	// was called with any.
	InputsKnown pg.Expr
}

// DecideEarly lowers what is known of the rules before any row is read.
func (d Decider) DecideEarly(rules []*model.Rule) Early {
	result := known(false)
	var members []pg.Expr // what rules by role alone require
	for _, r := range rules {
		if r.Expression == nil {
			members = append(members, HasRole(r.Roles))
			continue
		}
		result = eitherEarly(result, d.rule(r))
	}
	for _, member := range members {
		result.Holds = pg.AnyOf(result.Holds, member)
		if !d.isAnonymous(result.Fails) { // an anonymous caller has no role
			result.Fails = pg.AllOf(result.Fails, pg.Negate(member))
		}
	}
	return result
}

// isAnonymous tells whether a condition tests for an anonymous caller.
func (d Decider) isAnonymous(e pg.Expr) bool {
	is, ok := e.(*pg.Is)
	if !ok || is.Test != "null" {
		return false
	}
	if is.Value == d.Caller {
		return true
	}
	call, ok := is.Value.(*pg.Call)
	return ok && call.Name == "platform.identity_id"
}

func (d Decider) rule(r *model.Rule) Early {
	result := d.All([]expr.Node{r.Expression})
	if len(r.Roles) > 0 {
		member := HasRole(r.Roles)
		result = bothEarly(result, Early{Holds: member, Fails: pg.Negate(member)})
	}
	return result
}

// All evaluates conjuncts of one expression. It evaluates those that pass a to-many from the caller as one, inside the
// query for a witness, and each of the others by itself.
func (d Decider) All(nodes []expr.Node) Early {
	result := known(true)
	var joint []expr.Node
	for _, n := range flatten(nodes) {
		if d.unboundOfCaller(n) != nil {
			joint = append(joint, n)
		} else {
			result = bothEarly(result, d.truth(n))
		}
	}
	if len(joint) > 0 {
		result = bothEarly(result, d.withWitness(*d.unboundOfCaller(joint...), joint))
	}
	return result
}

// flatten splits conjunctions into their operands.
func flatten(nodes []expr.Node) []expr.Node {
	var list []expr.Node
	for _, n := range nodes {
		if l, ok := n.(*expr.Logic); ok && l.Op == syntax.And {
			list = append(list, flatten([]expr.Node{l.Left, l.Right})...)
		} else {
			list = append(list, n)
		}
	}
	return list
}

func (d Decider) truth(n expr.Node) Early {
	switch n := n.(type) {
	case *expr.Logic:
		if n.Op == syntax.Or {
			return eitherEarly(d.truth(n.Left), d.truth(n.Right))
		}
		return d.All([]expr.Node{n})
	case *expr.Not:
		inner := d
		inner.Witnesses = map[string]*value.TableAlias{}
		operand := inner.truth(n.Operand)
		return Early{Holds: operand.Fails, Fails: operand.Holds}
	}
	if p := d.unboundOfCaller(n); p != nil {
		return d.withWitness(*p, []expr.Node{n})
	}
	switch n := n.(type) {
	case *expr.Literal:
		return known(n.Value.(bool))
	case *expr.Compare:
		return d.comparison(n)
	case *expr.Path:
		return d.leaf(n, []expr.Node{n})
	}
	panic(fmt.Sprintf("lower: %T is not a Boolean expression", n))
}

// unboundOfCaller returns the first prefix from the caller that has no witness yet.
// Children of the row are unknown, as the row is.
func (d Decider) unboundOfCaller(nodes ...expr.Node) *expr.Prefix {
	for _, p := range expr.Prefixes(nodes...) {
		if _, bound := d.Witnesses[p.Key()]; !bound && p.Root != expr.RootRow {
			return &p
		}
	}
	return nil
}

// withWitness evaluates conjuncts that mention a prefix from the caller: they hold if they do with some child there,
// and fail if they do with every child. Without a child the comparisons are false, which is never more than with one.
func (d Decider) withWitness(p expr.Prefix, conjuncts []expr.Node) Early {
	key := p.Key()
	without := d
	without.Witnesses = maps.Clone(d.Witnesses)
	without.Witnesses[key] = nil
	none := without.All(conjuncts)

	start, rest := d.Start(p.Root, p.Steps)
	if start == nil {
		return none
	}
	j := value.NewJoins(d.Aliases)
	at := *start
	for _, s := range rest {
		at = j.Follow(at, value.Field(s))
	}
	with := d
	with.Site = value.InQuery
	with.Aliases = j.Aliases
	with.Witnesses = maps.Clone(d.Witnesses)
	with.Witnesses[key] = &at
	some := with.All(conjuncts)

	result := none
	if !pg.IsFalse(some.Holds) {
		result.Holds = pg.AnyOf(&pg.Exists{Query: j.Query(nil, some.Holds)}, none.Holds)
	}
	if !pg.IsTrue(some.Fails) {
		result.Fails = pg.AllOf(pg.Negate(&pg.Exists{Query: j.Query(nil, pg.Negate(some.Fails))}), none.Fails)
	}
	return result
}

// comparison evaluates a comparison whose prefixes from the caller all have their witnesses.
func (d Decider) comparison(c *expr.Compare) Early {
	return d.leaf(c, []expr.Node{c.Left, c.Right})
}

// leaf evaluates a comparison or a Boolean path with the given sides.
func (d Decider) leaf(n expr.Node, sides []expr.Node) Early {
	if d.leadsNowhereFromCaller(n) {
		return known(false)
	}
	m := expr.Mentions(n)
	if !m.Row {
		holds := d.Exact(d.Expression.Holds(n))
		result := Early{Holds: holds, Fails: pg.Negate(holds)}
		if len(m.Inputs) > 0 && d.InputsKnown != nil {
			result.Holds = pg.AllOf(d.InputsKnown, result.Holds)
			result.Fails = pg.AllOf(d.InputsKnown, result.Fails)
			result.Fails = pg.AnyOf(result.Fails, d.nobody(n, sides, false))
		}
		return result
	}
	result := depends()
	result.Fails = d.nobody(n, sides, true)
	return result
}

// nobody tells whether a comparison is false because the caller or an input is missing.
func (d Decider) nobody(n expr.Node, sides []expr.Node, withInputs bool) pg.Expr {
	c, isCompare := n.(*expr.Compare)
	if !isCompare {
		return pg.False() // a path of the row by itself
	}
	if _, ok := value.NullTested(c); ok {
		return pg.False()
	}
	var conditions []pg.Expr
	for i, side := range sides {
		list, isList := side.(*expr.List)
		if !isList {
			conditions = append(conditions, d.isNobody(side, withInputs)...)
			continue
		}
		if c.Op == syntax.In && i == 1 {
			continue // an anonymous caller as an element merely matches nothing
		}
		for _, e := range list.Elements {
			conditions = append(conditions, d.isNobody(e, withInputs)...)
		}
	}
	return pg.AnyOf(conditions...)
}

func (d Decider) isNobody(n expr.Node, withInputs bool) []pg.Expr {
	switch n := n.(type) {
	case *expr.Arithmetic:
		return append(d.isNobody(n.Left, withInputs), d.isNobody(n.Right, withInputs)...)
	case *expr.Negative:
		return d.isNobody(n.Operand, withInputs)
	case *expr.Function:
		var conditions []pg.Expr
		for _, argument := range n.Arguments {
			conditions = append(conditions, d.isNobody(argument, withInputs)...)
		}
		return conditions
	}
	p, ok := n.(*expr.Path)
	if !ok || p.Root != expr.RootIdentity && p.Root != expr.RootInput {
		return nil
	}
	if p.Root == expr.RootInput && !withInputs {
		return nil
	}
	o := d.Operand(p)
	if !o.Nobody {
		return nil // a required input
	}
	isNull := pg.Expr(pg.IsNull(o.Scalar()))
	if p.Root == expr.RootInput && d.InputsKnown != nil {
		isNull = pg.AllOf(d.InputsKnown, isNull)
	}
	return []pg.Expr{isNull}
}

// leadsNowhereFromCaller tells whether a comparison passes a to-many from the caller that
// has no child.
func (d Decider) leadsNowhereFromCaller(n expr.Node) bool {
	for _, p := range expr.Prefixes(n) {
		if at, bound := d.Witnesses[p.Key()]; bound && at == nil {
			return true
		}
	}
	return false
}

// Exact makes a condition that is never null.
func (d Decider) Exact(e pg.Expr) pg.Expr {
	if value.IsExact(e) {
		return e
	}
	return &pg.Is{Value: e, Test: "true"}
}

// CodeMayDecide tells whether an action with custom code has to ask, before the code runs, whether its rules hold for
// every row. Its row is judged afterwards. The answers about the caller may differ then, since the code may write
// anything.
func CodeMayDecide(a *model.Action) bool {
	if !JudgesAfterCode(a) {
		return false
	}
	if !AsksCaller(value.ExpressionsOfRules(a.Rules)...) {
		return false
	}
	holds := DecideOf(a).Holds
	return !pg.IsFalse(holds) && !pg.IsTrue(holds)
}

// AsksCaller tells whether expressions follow a path from the caller.
func AsksCaller(nodes ...expr.Node) bool {
	return slices.ContainsFunc(expr.Paths(nodes...), func(p *expr.Path) bool { return p.Root == expr.RootIdentity && len(p.Steps) > 0 })
}

// DecideOf decides the rules of an action early, for any inputs, for checks outside of its functions.
func DecideOf(a *model.Action) Early {
	return Decider{Expression: value.NewExpression(value.RuleLogic, value.InFunction, nil, value.SettingOf)}.DecideEarly(a.Rules)
}

// IsPrepared tells whether the server prepares inputs of an action before it calls
// its function: it stores files, hashes passwords and encrypts secrets.
func IsPrepared(a *model.Action) bool {
	if slices.ContainsFunc(a.Sets, value.IsSealed) {
		return true
	}
	for _, in := range append(a.Reads[:len(a.Reads):len(a.Reads)], a.Writes...) {
		if in.Type.Kind.IsPrepared() {
			return true
		}
		if in.Message != nil && holdsPrepared(in.Message, map[*model.Message]bool{}) {
			return true
		}
	}
	return false
}

func holdsPrepared(m *model.Message, seen map[*model.Message]bool) bool {
	if seen[m] {
		return false
	}
	seen[m] = true
	for _, f := range m.Fields {
		if f.Type.Kind == expr.File || f.Message != nil && holdsPrepared(f.Message, seen) {
			return true
		}
	}
	return false
}
