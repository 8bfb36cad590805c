package access

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// Verdict is the decision of rules for a class of callers.
type Verdict string

// The verdicts.
const (
	Never   Verdict = "never"   // every call is refused
	Depends Verdict = "depends" // on what the class leaves open
	Always  Verdict = "always"  // every call is admitted, for any row
)

// rank orders verdicts by how much they admit.
func (v Verdict) rank() int { return slices.Index([]Verdict{Never, Depends, Always}, v) }

// Exceeds tells whether a verdict admits callers whom another one never does.
func (v Verdict) Exceeds(other Verdict) bool { return v.rank() > other.rank() }

// Decision is a verdict with its reason.
type Decision struct {
	Verdict Verdict
	Rules   []*model.Rule // on which it depends: any one of them has to hold
	On      []Subject     // what these look at
}

// Subject is a thing on which a decision depends.
type Subject string

// The subjects, in the order in which they are listed.
const (
	OnRow         Subject = "row"
	OnCaller      Subject = "caller" // the identity of the caller within its class
	OnInput       Subject = "input"
	OnHeader      Subject = "header"
	OnEnvironment Subject = "environment" // a variable or secret of the server
	OnTime        Subject = "time"
	OnSession     Subject = "session" // what the caller has shown to sign in
)

// Decide returns the decision of rules, joined by or, for a class of callers.
func Decide(rules []*model.Rule, c *Class) Decision {
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
	for _, subject := range []Subject{OnRow, OnCaller, OnInput, OnHeader, OnEnvironment, OnTime, OnSession} {
		if on[subject] {
			d.On = append(d.On, subject)
		}
	}
	return d
}

// evaluator evaluates a rule for a class of callers, before any row is read.
type evaluator struct {
	class *Class
	on    map[Subject]bool // what the comparisons look at that are unknown
}

// rule evaluates a rule, which needs its expression and one of its roles.
func (e *evaluator) rule(r *model.Rule) expr.Truth {
	if r.By != nil {
		return e.byExpression(r)
	}
	result := expr.True
	if len(r.Roles) > 0 && !slices.ContainsFunc(r.Roles, func(role *model.Role) bool { return slices.Contains(e.class.Roles, role) }) {
		result = expr.False
	}
	if r.Expression != nil {
		result = result.And(e.truth(r.Expression))
	}
	return result
}

// byExpression evaluates a rule for a role that the caller has by an expression. For a class
// with the role, the expression holds, or the callers have the role by their e-mail, and then
// another rule admits them. Other authenticated callers do not have the role, unless every
// caller has it. For anonymous callers, only the expression itself tells.
func (e *evaluator) byExpression(r *model.Rule) expr.Truth {
	result := expr.True
	if r.Rest != nil {
		result = e.truth(r.Rest)
	}
	if slices.Contains(e.class.Roles, r.Role) {
		return result
	}
	if !e.class.IsAuthenticated {
		return e.truth(r.Expression)
	}
	alone := evaluator{class: e.class, on: map[Subject]bool{}}
	if alone.truth(r.By.Expression) == expr.True {
		return result
	}
	return expr.False
}

// truth evaluates a Boolean expression.
func (e *evaluator) truth(n expr.Node) expr.Truth {
	return expr.Foresee(e.class.call(), n, e.class.knows, e.unknown)
}

// unknown notes the unknown subjects of a comparison.
func (e *evaluator) unknown(c *expr.Compare) {
	m := expr.Mentions(c)
	for subject, is := range map[Subject]bool{
		OnRow:         m.Row,
		OnCaller:      m.Identity,
		OnInput:       len(m.Inputs) > 0,
		OnHeader:      len(m.Headers) > 0,
		OnEnvironment: len(m.Env)+len(m.Secrets) > 0,
		OnTime:        m.Now,
		OnSession:     m.Session(),
	} {
		if is {
			e.on[subject] = true
		}
	}
}
