package lower

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// early is what is known of an expression before any row is read, in three-valued logic: whether it holds for every
// row, and whether it fails for every row. If neither, it depends on the row. Both are conditions that are never null.
type early struct {
	holds, fails pg.Expr
}

// depends is an expression about which nothing is known.
func depends() early { return early{holds: pg.False(), fails: pg.False()} }

func known(holds bool) early { return early{holds: boolean(holds), fails: boolean(!holds)} }

func bothEarly(a, b early) early {
	return early{holds: pg.AllOf(a.holds, b.holds), fails: pg.AnyOf(a.fails, b.fails)}
}

func eitherEarly(a, b early) early {
	return early{holds: pg.AnyOf(a.holds, b.holds), fails: pg.AllOf(a.fails, b.fails)}
}

// decider evaluates rules before any row is read. A comparison that is false because the caller or an input is missing
// is false for every row.
type decider struct {
	expression

	// inputsKnown is nil where inputs are known. The inputs of an upload are not; it then tells whether the function
	// was called with any.
	inputsKnown pg.Expr
}

// decideEarly lowers what is known of the rules before any row is read.
func (d decider) decideEarly(rules []*model.Rule) early {
	result := known(false)
	var members []pg.Expr // what rules by role alone require
	for _, r := range rules {
		if r.Expression == nil {
			members = append(members, hasRole(r.Roles))
			continue
		}
		result = eitherEarly(result, d.rule(r))
	}
	for _, member := range members {
		result.holds = pg.AnyOf(result.holds, member)
		if !d.isAnonymous(result.fails) { // an anonymous caller has no role
			result.fails = pg.AllOf(result.fails, pg.Negate(member))
		}
	}
	return result
}

// isAnonymous tells whether a condition tests for an anonymous caller.
func (d decider) isAnonymous(e pg.Expr) bool {
	is, ok := e.(*pg.Is)
	if !ok || is.Test != "null" {
		return false
	}
	if is.Value == d.caller {
		return true
	}
	call, ok := is.Value.(*pg.Call)
	return ok && call.Name == "platform.identity_id"
}

func (d decider) rule(r *model.Rule) early {
	result := d.all([]expr.Node{r.Expression})
	if len(r.Roles) > 0 {
		member := hasRole(r.Roles)
		result = bothEarly(result, early{holds: member, fails: pg.Negate(member)})
	}
	return result
}

// all evaluates conjuncts of one expression. It evaluates those that pass a to-many from the caller as one, inside the
// query for a witness, and each of the others by itself.
func (d decider) all(nodes []expr.Node) early {
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

func (d decider) truth(n expr.Node) early {
	switch n := n.(type) {
	case *expr.Logic:
		if n.Op == syntax.Or {
			return eitherEarly(d.truth(n.Left), d.truth(n.Right))
		}
		return d.all([]expr.Node{n})
	case *expr.Not:
		inner := d
		inner.witnesses = map[string]*tableAlias{}
		operand := inner.truth(n.Operand)
		return early{holds: operand.fails, fails: operand.holds}
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
func (d decider) unboundOfCaller(nodes ...expr.Node) *expr.Prefix {
	for _, p := range expr.Prefixes(nodes...) {
		if _, bound := d.witnesses[p.Key()]; !bound && p.Root != expr.RootRow {
			return &p
		}
	}
	return nil
}

// withWitness evaluates conjuncts that mention a prefix from the caller: they hold if they do with some child there,
// and fail if they do with every child. Without a child the comparisons are false, which is never more than with one.
func (d decider) withWitness(p expr.Prefix, conjuncts []expr.Node) early {
	key := p.Key()
	without := d
	without.witnesses = maps.Clone(d.witnesses)
	without.witnesses[key] = nil
	none := without.all(conjuncts)

	start, rest := d.start(p.Root, p.Steps)
	if start == nil {
		return none
	}
	j := newJoins(d.aliases)
	at := *start
	for _, s := range rest {
		at = j.follow(at, field(s))
	}
	with := d
	with.site = inQuery
	with.aliases = j.aliases
	with.witnesses = maps.Clone(d.witnesses)
	with.witnesses[key] = &at
	some := with.all(conjuncts)

	result := none
	if !pg.IsFalse(some.holds) {
		result.holds = pg.AnyOf(&pg.Exists{Query: j.query(nil, some.holds)}, none.holds)
	}
	if !pg.IsTrue(some.fails) {
		result.fails = pg.AllOf(pg.Negate(&pg.Exists{Query: j.query(nil, pg.Negate(some.fails))}), none.fails)
	}
	return result
}

// comparison evaluates a comparison whose prefixes from the caller all have their witnesses.
func (d decider) comparison(c *expr.Compare) early {
	return d.leaf(c, []expr.Node{c.Left, c.Right})
}

// leaf evaluates a comparison or a Boolean path with the given sides.
func (d decider) leaf(n expr.Node, sides []expr.Node) early {
	if d.leadsNowhereFromCaller(n) {
		return known(false)
	}
	m := expr.Mentions(n)
	if !m.Row {
		holds := d.exact(d.expression.holds(n))
		result := early{holds: holds, fails: pg.Negate(holds)}
		if len(m.Inputs) > 0 && d.inputsKnown != nil {
			result.holds = pg.AllOf(d.inputsKnown, result.holds)
			result.fails = pg.AllOf(d.inputsKnown, result.fails)
			result.fails = pg.AnyOf(result.fails, d.nobody(n, sides, false))
		}
		return result
	}
	result := depends()
	result.fails = d.nobody(n, sides, true)
	return result
}

// nobody tells whether a comparison is false because the caller or an input is missing.
func (d decider) nobody(n expr.Node, sides []expr.Node, withInputs bool) pg.Expr {
	c, isCompare := n.(*expr.Compare)
	if !isCompare {
		return pg.False() // a path of the row by itself
	}
	if _, ok := nullTested(c); ok {
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

func (d decider) isNobody(n expr.Node, withInputs bool) []pg.Expr {
	switch n := n.(type) {
	case *expr.Arithmetic:
		return append(d.isNobody(n.Left, withInputs), d.isNobody(n.Right, withInputs)...)
	case *expr.Negative:
		return d.isNobody(n.Operand, withInputs)
	}
	p, ok := n.(*expr.Path)
	if !ok || p.Root != expr.RootIdentity && p.Root != expr.RootInput {
		return nil
	}
	if p.Root == expr.RootInput && !withInputs {
		return nil
	}
	o := d.operand(p)
	if !o.nobody {
		return nil // a required input
	}
	isNull := pg.Expr(pg.IsNull(o.scalar()))
	if p.Root == expr.RootInput && d.inputsKnown != nil {
		isNull = pg.AllOf(d.inputsKnown, isNull)
	}
	return []pg.Expr{isNull}
}

// leadsNowhereFromCaller tells whether a comparison passes a to-many from the caller that
// has no child.
func (d decider) leadsNowhereFromCaller(n expr.Node) bool {
	for _, p := range expr.Prefixes(n) {
		if at, bound := d.witnesses[p.Key()]; bound && at == nil {
			return true
		}
	}
	return false
}

// exact makes a condition that is never null.
func (d decider) exact(e pg.Expr) pg.Expr {
	if isExact(e) {
		return e
	}
	return &pg.Is{Value: e, Test: "true"}
}

// codeMayDecide tells whether an action with custom code has to ask, before the code runs, whether its rules hold for
// every row. Its row is judged afterwards. The answers about the caller may differ then, since the code may write
// anything.
func codeMayDecide(a *model.Action) bool {
	if !judgesAfterCode(a) {
		return false
	}
	if !asksCaller(expressionsOfRules(a.Rules)...) {
		return false
	}
	holds := decideOf(a).holds
	return !pg.IsFalse(holds) && !pg.IsTrue(holds)
}

// asksCaller tells whether expressions follow a path from the caller.
func asksCaller(nodes ...expr.Node) bool {
	return slices.ContainsFunc(expr.Paths(nodes...), func(p *expr.Path) bool { return p.Root == expr.RootIdentity && len(p.Steps) > 0 })
}

// decideOf decides the rules of an action early, for any inputs, for checks outside of its functions.
func decideOf(a *model.Action) early {
	return decider{expression: newExpression(ruleLogic, inFunction, nil, settingOf)}.decideEarly(a.Rules)
}

// isPrepared tells whether the server prepares inputs of an action before it calls
// its function: it stores files, hashes passwords and encrypts secrets.
func isPrepared(a *model.Action) bool {
	if slices.ContainsFunc(a.Sets, isSealed) {
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

// decideFirst lowers the checks of an action that the server makes before it prepares anything: whether its rules hold
// or fail for every row, and its validation. For an upload the input is null: then a condition on inputs is as unknown
// as a condition on the row.
func (l *lowering) decideFirst(a *model.Action) *pg.Function {
	name := l.functions.Take(functionName(a) + "__early")
	l.early[a] = name
	b := l.enter(a, name,
		"action "+a.Name+" before any row is read: true is allowed, false refused, null depends on rows or inputs", pg.Stable, nil)
	b.isDeciding = true
	b.fn.Comment = fmt.Sprintf("action %s of %s, decided early", a.Name, ownerOf(a))
	b.fn.Returns = "boolean"
	isGiven := pg.IsNotNull(input)
	decided := decider{expression: newExpression(ruleLogic, inFunction, nil, b.inputValue), inputsKnown: isGiven}.decideEarly(a.Rules)
	if pg.IsTrue(decided.fails) {
		b.step("No rule admits anyone.", &pg.Return{Value: pg.False()})
		return b.finish()
	}
	if !pg.IsFalse(decided.fails) {
		b.step("", pg.IfThen(decided.fails, &pg.Return{Value: pg.False()}))
	}
	if before := len(b.fn.Body); len(a.Validations) > 0 {
		b.validate()
		p := &b.fn.Body[before]
		p.Statements = []pg.Statement{pg.IfThen(isGiven, p.Statements...)}
	}
	b.findFirst(isGiven, decided.holds)
	switch {
	case pg.IsTrue(decided.holds):
		b.step("", &pg.Return{Value: pg.True()})
		return b.finish()
	case pg.IsFalse(decided.holds):
		b.step("", &pg.Return{Value: pg.Null()})
		return b.finish()
	}
	b.step("", &pg.Return{Value: &pg.Case{Whens: []pg.When{{Condition: decided.holds, Result: pg.True()}}}})
	return b.finish()
}

// findFirst looks for the row of an update, and asks the rules about it, before anything
// is stored for the call. The call does so again.
func (b *builder) findFirst(isGiven, holds pg.Expr) {
	a := b.action
	if a.Kind != model.Update || a.Custom && len(a.Pins) == 0 {
		return
	}
	where := b.lookUp()
	row := func(condition pg.Expr) pg.Expr {
		return &pg.Exists{Query: &pg.Select{From: pg.Ref(relatedSchema, b.table), Where: condition}}
	}
	isMissing, isThere := pg.Negate(row(where)), pg.Expr(pg.False())
	if needRow(a.Rules) && !pg.IsTrue(holds) {
		isMissing = pg.Negate(pg.AnyOf(pg.AllOf(holds, row(where)), row(pg.AllOf(where, b.rowRule()))))
		if !b.hidesRefused {
			isThere = row(where)
		}
	}
	b.step("The row is looked for, and judged, before anything is stored.",
		pg.IfThen(pg.AllOf(isGiven, isMissing), b.end("platform.refuse_or_miss", isThere)))
}
