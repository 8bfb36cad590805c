package access

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Verdict is what rules say to a class of callers.
type Verdict string

// The verdicts.
const (
	Never   Verdict = "never"   // every call is refused
	Depends Verdict = "depends" // on what the class leaves open
	Always  Verdict = "always"  // every call is admitted, whatever the row
)

// rank orders verdicts by how much they admit.
func (v Verdict) rank() int { return slices.Index([]Verdict{Never, Depends, Always}, v) }

// Exceeds tells whether a verdict admits callers whom another one never does.
func (v Verdict) Exceeds(other Verdict) bool { return v.rank() > other.rank() }

// Decision is a verdict with its reason.
type Decision struct {
	Verdict Verdict
	Rules   []*schema.Rule // on which it depends: any one of them has to hold
	On      []Subject      // what these look at
}

// Subject is a thing on which a decision depends.
type Subject string

// The subjects, in the order in which they are listed.
const (
	OnRow         Subject = "row"
	OnCaller      Subject = "caller" // which caller of the class it is
	OnInput       Subject = "input"
	OnHeader      Subject = "header"
	OnEnvironment Subject = "environment" // a variable or secret of the server
	OnTime        Subject = "time"
)

// Decide returns what rules, joined by or, say to a class of callers.
func Decide(rules []*schema.Rule, c *Class) Decision {
	d := Decision{Verdict: Never}
	on := map[Subject]bool{}
	for _, r := range rules {
		e := evaluator{class: c, on: map[Subject]bool{}}
		switch e.rule(r) {
		case expr.True:
			return Decision{Verdict: Always}
		case expr.Unknown:
			d.Verdict = Depends
			d.Rules = append(d.Rules, r)
			for subject := range e.on {
				on[subject] = true
			}
		}
	}
	for _, subject := range []Subject{OnRow, OnCaller, OnInput, OnHeader, OnEnvironment, OnTime} {
		if on[subject] {
			d.On = append(d.On, subject)
		}
	}
	return d
}

// evaluator evaluates a rule for a class of callers, before any row is read. A
// choice of children needs no care: whatever is chosen, or nothing, a comparison
// through a to-many is unknown here.
type evaluator struct {
	class *Class
	on    map[Subject]bool // what the comparisons look at that are unknown
}

// rule evaluates a rule, which needs its expression and one of its roles.
func (e *evaluator) rule(r *schema.Rule) expr.Truth {
	result := expr.True
	if len(r.Roles) > 0 && !slices.ContainsFunc(r.Roles, func(role *schema.Role) bool { return slices.Contains(e.class.Roles, role) }) {
		result = expr.False
	}
	if r.Expression != nil {
		result = result.And(e.truth(r.Expression))
	}
	return result
}

// truth evaluates a Boolean expression.
func (e *evaluator) truth(n expr.Node) expr.Truth {
	switch n := n.(type) {
	case *expr.Logic:
		if n.Op == syntax.And {
			return e.truth(n.Left).And(e.truth(n.Right))
		}
		return e.truth(n.Left).Or(e.truth(n.Right))
	case *expr.Not:
		return e.truth(n.Operand).Not()
	case *expr.Compare:
		return e.compare(n)
	case *expr.Literal:
		return e.ask(n)
	case *expr.Path:
		switch e.class.knows(n) {
		case missing:
			return expr.False
		case fixed:
			return e.ask(n)
		}
		return e.unknown(n)
	}
	panic(fmt.Sprintf("access: %T is no Boolean expression", n))
}

// ask evaluates what is the same for every caller of the class.
func (e *evaluator) ask(n expr.Node) expr.Truth {
	return expr.EarlyWithoutInputs(e.class.call(), n)
}

// unknown notes what an expression looks at that is not known.
func (e *evaluator) unknown(n expr.Node) expr.Truth {
	m := expr.Mentions(n)
	for subject, is := range map[Subject]bool{
		OnRow:         m.Row,
		OnCaller:      m.Identity,
		OnInput:       len(m.Inputs) > 0,
		OnHeader:      len(m.Headers) > 0,
		OnEnvironment: len(m.Env)+len(m.Secrets) > 0,
		OnTime:        m.Now,
	} {
		if is {
			e.on[subject] = true
		}
	}
	return expr.Unknown
}

// compare evaluates a comparison.
func (e *evaluator) compare(c *expr.Compare) expr.Truth {
	if tested := nullTested(c); tested != nil {
		return e.nullTest(c, tested)
	}
	left, right := e.operand(c.Left), e.operand(c.Right)
	if list, ok := c.Right.(*expr.List); ok && c.Op == syntax.In {
		right = e.searched(list, c.Left)
	}
	switch {
	case left == missing || right == missing:
		return expr.False
	case left == fixed && right == fixed:
		return e.ask(c)
	}
	return e.unknown(c)
}

// nullTested returns the side of a comparison that is tested for null, nil if it is
// no such test.
func nullTested(c *expr.Compare) expr.Node {
	switch {
	case c.Op != syntax.Equal && c.Op != syntax.NotEqual:
		return nil
	case c.Right.Type().Kind == expr.NullKind:
		return c.Left
	case c.Left.Type().Kind == expr.NullKind:
		return c.Right
	}
	return nil
}

// nullTest evaluates a test for null.
func (e *evaluator) nullTest(c *expr.Compare, tested expr.Node) expr.Truth {
	switch e.operand(tested) {
	case open:
		return e.unknown(c)
	case present:
		if c.Op == syntax.Equal {
			return expr.False
		}
		return expr.True
	}
	return e.ask(c)
}

// operand returns what is known of a side of a comparison.
func (e *evaluator) operand(n expr.Node) knowledge {
	switch n := n.(type) {
	case *expr.Literal:
		return fixed
	case *expr.Path:
		return e.class.knows(n)
	case *expr.List:
		return e.list(n.Elements)
	case *expr.Negative:
		return e.operand(n.Operand)
	case *expr.Arithmetic:
		left, right := e.operand(n.Left), e.operand(n.Right)
		switch {
		case left == missing || right == missing:
			return missing
		case left == fixed && right == fixed:
			return fixed
		case left == open || right == open || n.Op == syntax.Divide:
			return open
		}
		return present
	}
	panic(fmt.Sprintf("access: %T is no operand", n))
}

// list returns what is known of a list that is compared as a whole.
func (e *evaluator) list(elements []expr.Node) knowledge {
	known := fixed
	for _, n := range elements {
		switch e.operand(n) {
		case missing:
			return missing
		case open, present:
			known = present
		}
	}
	return known
}

// searched returns what is known of a list in which something is looked for. An
// element that is nobody is not found; if there is no other, nothing is. But what
// involves the row stays unknown until a row is read.
func (e *evaluator) searched(l *expr.List, sought expr.Node) knowledge {
	some := slices.DeleteFunc(slices.Clone(l.Elements), func(n expr.Node) bool { return e.operand(n) == missing })
	if len(some) == 0 && !expr.Mentions(sought).Row {
		return missing
	}
	return e.list(some)
}
