package expr

import (
	"fmt"
	"maps"
	"time"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Row is a row as the interpreter sees it.
type Row interface {
	// ID returns the row's id.
	ID() string

	// Value returns the value of a scalar or enum field, in the form in which a
	// Literal of its kind holds it, nil for null; of an array field, a []any.
	Value(field string) any

	// Related returns the rows of a relation: for a to-one, one or none.
	Related(field string) []Row
}

// Call is what an expression is evaluated against. Values have the form in which
// a Literal of their kind holds them, nil for null; those of arrays are []any.
type Call struct {
	Row      Row            // nil where the expression has no row
	Identity Row            // nil means anonymous
	Now      string         // the start of the call
	Inputs   map[string]any // by flat name; what is not in it is absent
	Headers  map[string]string
	Env      map[string]string
	Secrets  map[string]string

	HasSecondFactor bool           // whether the caller's session has shown one
	SignedIn        *time.Duration // how long before the call it showed a credential; nil without a session
}

// Holds tells whether all @wheres of a call or arm hold of its row: they are
// conjuncts of one expression. One that mentions an absent input is skipped.
func Holds(call Call, wheres ...Node) bool {
	var conjuncts []Node
	for _, w := range wheres {
		if !mentionsAbsent(call, w) {
			conjuncts = append(conjuncts, w)
		}
	}
	e := evaluator{call: call, logic: InWhere}
	return e.choose(conjuncts) == True
}

// mentionsAbsent tells whether an expression mentions an input that is absent in
// the request.
func mentionsAbsent(call Call, n Node) bool {
	for _, input := range Mentions(n).Inputs {
		if _, given := call.Inputs[input.InputName()]; !given {
			return true
		}
	}
	return false
}

// Admits tells whether the expression of a @permission admits the call's row.
func Admits(call Call, rule Node) bool {
	e := evaluator{call: call, logic: InRule}
	return e.choose([]Node{rule}) == True
}

// Validate returns the value of a @validate, which fails only if it is false.
func Validate(call Call, rule Node) Truth {
	e := evaluator{call: call, logic: InValidate}
	return e.choose([]Node{rule})
}

// NullSemantics is the meaning of null where an expression is.
type NullSemantics int

// The meaning of null in a @where, a @permission and a @validate.
const (
	InWhere    NullSemantics = iota // two-valued; null is a value to == and !=
	InRule                          // moreover, a comparison with an absent or null input is false
	InValidate                      // SQL's: a comparison with a null or absent value is unknown
)

// evaluator evaluates one expression, for one choice of children at a time.
type evaluator struct {
	call      Call
	logic     NullSemantics
	known     func(*Path) Knowledge // of an early decision: what is known; nil means all values
	undecided func(*Compare)        // likewise: is told of comparisons that stay unknown; nil tells nobody
	chosen    map[string]Row
	pinned    map[string]Row // children that are chosen for all that is evaluated
}

// choose evaluates conjuncts as one expression: they hold if some choice of a child
// for each to-many prefix makes them hold. It ignores the choices of the outer
// expression.
func (e *evaluator) choose(conjuncts []Node) Truth {
	own := *e
	own.chosen = map[string]Row{}
	maps.Copy(own.chosen, e.pinned)
	var prefixes []Prefix
	for _, p := range Prefixes(conjuncts...) {
		if _, isPinned := e.pinned[p.Key()]; !isPinned && e.knows(&Path{Root: p.Root, Steps: p.Steps}) == Fixed {
			prefixes = append(prefixes, p)
		}
	}
	return own.chooseFrom(prefixes, conjuncts)
}

// chooseFrom tries every child for the first of the prefixes, with every choice
// for the others. A prefix without children has no choice; its key is not in
// chosen then.
func (e *evaluator) chooseFrom(prefixes []Prefix, conjuncts []Node) Truth {
	if len(prefixes) == 0 {
		result := True
		for _, n := range conjuncts {
			result = result.And(e.truth(n))
		}
		return result
	}
	prefix, others := prefixes[0], prefixes[1:]
	children := e.children(prefix)
	if len(children) == 0 {
		return e.chooseFrom(others, conjuncts)
	}
	result := False
	for _, child := range children {
		e.chosen[prefix.Key()] = child
		result = result.Or(e.chooseFrom(others, conjuncts))
	}
	delete(e.chosen, prefix.Key())
	return result
}

// children returns the rows of a prefix, given the choices for the shorter ones.
func (e *evaluator) children(p Prefix) []Row {
	last := len(p.Steps) - 1
	row, _ := e.walk(p.Root, p.Steps[:last])
	if row == nil {
		return nil
	}
	return row.Related(p.Steps[last].StepName())
}

// walk follows relations from the row or the identity and returns the final row, nil
// for null. It returns false if it passes a prefix without choice.
func (e *evaluator) walk(root Root, steps []Step) (Row, bool) {
	row := e.call.Row
	if root == RootIdentity {
		row = e.call.Identity
	}
	for i, s := range steps {
		if isToMany(s) {
			child, isChosen := e.chosen[Prefix{Root: root, Steps: steps[:i+1]}.Key()]
			if !isChosen {
				return nil, false
			}
			row = child
			continue
		}
		if row == nil {
			continue
		}
		related := row.Related(s.StepName())
		if len(related) == 0 {
			row = nil
			continue
		}
		row = related[0]
	}
	return row, true
}

// truth evaluates a Boolean expression.
func (e *evaluator) truth(n Node) Truth {
	switch n := n.(type) {
	case *Logic:
		if n.Op == syntax.And {
			return e.truth(n.Left).And(e.truth(n.Right))
		}
		return e.truth(n.Left).Or(e.truth(n.Right))
	case *Not:
		return e.choose([]Node{n.Operand}).Not()
	case *Compare:
		return e.compare(n)
	case *Literal:
		return truthOf(n.Value.(bool))
	case *Path:
		return e.compare(isTrue(n))
	}
	panic(fmt.Sprintf("expr: %T is not a Boolean expression", n))
}

// isTrue returns the meaning of a Boolean path or function by itself.
func isTrue(n Node) *Compare {
	literal := &Literal{Value: true, base: booleanAt(n.Span())}
	return &Compare{Op: syntax.Equal, Left: n, Right: literal, base: literal.base}
}

// compare evaluates a comparison. In a list that is searched, an element that is
// nobody is an element that never matches; in one that is compared as a whole it
// makes the comparison false.
func (e *evaluator) compare(c *Compare) Truth {
	result := e.outcome(c)
	if result == Unknown && e.undecided != nil {
		e.undecided(c)
	}
	return result
}

// outcome is the value of a comparison.
func (e *evaluator) outcome(c *Compare) Truth {
	if isNullTest(c) {
		return e.nullTest(c)
	}
	left, right := e.operand(c.Left), e.operand(c.Right)
	switch {
	case left.isNowhere || right.isNowhere:
		return False
	case left.isNobody || right.isNobody && (c.Op != syntax.In || !isList(c.Right)):
		return False
	case e.undecided != nil && c.Op == syntax.In && right.isAllNobody && !Mentions(c.Left).Row:
		return False // the right side is empty, so the left does not matter
	case left.isUnknown || right.isUnknown:
		return Unknown
	case c.Op == syntax.In:
		return e.member(left.value, right.value)
	case e.logic == InValidate && (left.hasNull() || right.hasNull()):
		return Unknown
	}
	switch c.Op {
	case syntax.Equal:
		return truthOf(equal(left.value, right.value))
	case syntax.NotEqual:
		return truthOf(!equal(left.value, right.value))
	}
	if left.value == nil || right.value == nil {
		return False
	}
	return truthOf(ordered(c.Op, order(left.value, right.value)))
}

// nullTest evaluates a comparison with the literal null.
func (e *evaluator) nullTest(c *Compare) Truth {
	n := c.Left
	if isNull(n) {
		n = c.Right
	}
	o := e.wholeOperand(n)
	switch {
	case o.isNowhere:
		return False
	case o.isUnknown && !o.isSet:
		return Unknown
	}
	return truthOf((o.value == nil && !o.isSet) == (c.Op == syntax.Equal))
}

// isList tells whether a node is a list.
func isList(n Node) bool {
	_, ok := n.(*List)
	return ok
}

// evaluated is a side of a comparison as evaluated.
type evaluated struct {
	value     any  // canonical; nil for null
	isNowhere bool // it leads through a to-many without choice
	isNobody  bool // it, or an element of it, is the identity or a path from it, and null; or in a rule an input, and absent or null
	isUnknown bool // it involves what is not known yet
	isSet     bool // moreover, it is known not to be null

	isAllNobody bool // of a list: every element is nobody
}

// mayBeNull tells whether the value is null or may turn out to be.
func (o evaluated) mayBeNull() bool { return !o.isSet && (o.isUnknown || o.value == nil) }

// hasNull tells whether the value, or an element of it, is null.
func (o evaluated) hasNull() bool {
	if elements, ok := o.value.([]any); ok {
		for _, v := range elements {
			if v == nil {
				return true
			}
		}
	}
	return o.value == nil
}

// operand evaluates one side of a comparison that is not a test for null.
func (e *evaluator) operand(n Node) evaluated {
	if list, ok := n.(*List); ok {
		return e.list(list)
	}
	switch n := n.(type) {
	case *Arithmetic:
		return combined(n.Op, e.operand(n.Left), e.operand(n.Right), func(l, r any) any { return combine(n.Op, l, r) })
	case *Negative:
		o := e.operand(n.Operand)
		o.value = opposite(o.value)
		return o
	case *Function:
		return n.called(evaluateAll(n.Arguments, e.operand))
	}
	o := e.single(n)
	if p, ok := n.(*Path); ok && o.value == nil && !o.isUnknown && e.logic != InValidate {
		o.isNobody = p.Root == RootIdentity || p.Root == RootInput && e.logic == InRule
	}
	return o
}

// combined is the value that arithmetic makes of two operands.
func combined(op syntax.Operator, left, right evaluated, value func(l, r any) any) evaluated {
	return evaluated{
		value:     value(left.value, right.value),
		isNowhere: left.isNowhere || right.isNowhere,
		isNobody:  left.isNobody || right.isNobody,
		isUnknown: left.isUnknown || right.isUnknown,
		isSet:     (left.isUnknown || right.isUnknown) && op != syntax.Divide && !left.mayBeNull() && !right.mayBeNull(),
	}
}

// evaluateAll evaluates each of some nodes.
func evaluateAll(nodes []Node, evaluate func(Node) evaluated) []evaluated {
	var all []evaluated
	for _, n := range nodes {
		all = append(all, evaluate(n))
	}
	return all
}

// list evaluates a list.
func (e *evaluator) list(l *List) evaluated {
	values := []any{}
	result := evaluated{isAllNobody: true}
	for _, n := range l.Elements {
		o := e.operand(n)
		result.isAllNobody = result.isAllNobody && o.isNobody
		result.isNowhere = result.isNowhere || o.isNowhere
		result.isNobody = result.isNobody || o.isNobody
		result.isUnknown = result.isUnknown || o.isUnknown
		result.isSet = result.isSet || o.isSet
		values = append(values, o.value)
	}
	result.value = values
	return result
}

// wholeOperand evaluates the side of a test for null that is not null. A path
// that ends in a to-many is null if there are no children.
func (e *evaluator) wholeOperand(n Node) evaluated {
	p, ok := n.(*Path)
	if !ok || len(p.Steps) == 0 || !isToMany(p.Steps[len(p.Steps)-1]) {
		return e.single(n)
	}
	if e.knows(p) != Fixed {
		return evaluated{isUnknown: true}
	}
	last := len(p.Steps) - 1
	row, isSomewhere := e.walk(p.Root, p.Steps[:last])
	if !isSomewhere {
		return evaluated{isNowhere: true}
	}
	if row == nil || len(row.Related(p.Steps[last].StepName())) == 0 {
		return evaluated{}
	}
	return evaluated{value: true}
}

// single evaluates a literal, a path or arithmetic, without a meaning for null.
func (e *evaluator) single(n Node) evaluated {
	switch n := n.(type) {
	case *List:
		return e.list(n)
	case *Literal:
		return evaluated{value: canonical(n.typ, n.Value)}
	case *Arithmetic:
		return combined(n.Op, e.single(n.Left), e.single(n.Right), func(l, r any) any { return combine(n.Op, l, r) })
	case *Aggregate:
		return evaluated{value: e.aggregateOf(n)}
	case *Negative:
		o := e.single(n.Operand)
		o.value = opposite(o.value)
		return o
	case *Function:
		return n.called(evaluateAll(n.Arguments, e.single))
	case *Path:
		if known := e.knows(n); known != Fixed {
			return evaluated{isUnknown: true, isSet: known == Present}
		}
		return e.path(n)
	}
	panic(fmt.Sprintf("expr: %T is not an operand", n))
}

// knows returns the knowledge of a path's value.
func (e *evaluator) knows(p *Path) Knowledge {
	if e.known == nil {
		return Fixed
	}
	return e.known(p)
}

// path evaluates a path. The value of a row is its id.
func (e *evaluator) path(p *Path) evaluated {
	switch p.Root {
	case RootInput:
		return evaluated{value: canonical(p.typ, e.call.Inputs[p.Input.InputName()])}
	case RootIsAuthenticated:
		return evaluated{value: e.call.Identity != nil}
	case RootNow:
		return evaluated{value: canonical(p.typ, e.call.Now)}
	case RootHeader:
		if text, isSent := e.call.Headers[p.Name]; isSent {
			return evaluated{value: text}
		}
		return evaluated{}
	case RootEnv:
		return evaluated{value: e.call.Env[p.Name]}
	case RootSecret:
		return evaluated{value: e.call.Secrets[p.Name]}
	case RootSecondFactor:
		return evaluated{value: e.call.HasSecondFactor}
	case RootSignedInWithin:
		return evaluated{value: e.call.SignedIn != nil && *e.call.SignedIn < within(p.Name)}
	}
	relations, field := p.Steps, Step(nil)
	if p.typ.Kind != Model {
		last := len(p.Steps) - 1
		relations, field = p.Steps[:last], p.Steps[last]
	}
	row, isSomewhere := e.walk(p.Root, relations)
	switch {
	case !isSomewhere:
		return evaluated{isNowhere: true}
	case row == nil:
		return evaluated{}
	case field == nil:
		return evaluated{value: row.ID()}
	}
	return evaluated{value: canonical(p.typ, row.Value(field.StepName()))}
}

// member evaluates x in a list or array, or x in the value of a to-many for the
// chosen child.
func (e *evaluator) member(x, in any) Truth {
	unset := False
	if e.logic == InValidate {
		unset = Unknown
	}
	if in == nil {
		return unset
	}
	elements, isArray := in.([]any)
	if !isArray {
		elements = []any{in}
	}
	result := False
	for _, element := range elements {
		if x == nil || element == nil {
			result = result.Or(unset)
			continue
		}
		result = result.Or(truthOf(equal(x, element)))
	}
	return result
}
