package model

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// MentionsRow tells whether a rule names the row.
func (r *Rule) MentionsRow() bool {
	return r.Expression != nil && expr.Mentions(r.Expression).Row
}

// Demands tells whether each rule of an action is true only if some part of it is that holds
// returns true for.
func (a *Action) Demands(holds func(expr.Node) bool) bool {
	return len(a.Rules) > 0 && !slices.ContainsFunc(a.Rules, func(r *Rule) bool { return r.Expression == nil || !Demands(r.Expression, holds) })
}

// Demands tells whether an expression is true only if some part of it is that holds returns
// true for: a comparison or a path by itself.
func Demands(n expr.Node, holds func(expr.Node) bool) bool {
	l, ok := n.(*expr.Logic)
	switch {
	case !ok:
		return holds(n)
	case l.Op == syntax.And:
		return Demands(l.Left, holds) || Demands(l.Right, holds)
	}
	return Demands(l.Left, holds) && Demands(l.Right, holds)
}

// AdmitsEverybody tells whether the rule is expression: true, for any role.
func (r *Rule) AdmitsEverybody() bool {
	l, ok := r.Expression.(*expr.Literal)
	return ok && l.Value == true && len(r.Roles) == 0
}

// CodeAction is what the code of a job or a subscriber may do to the rows of a model, as if it were an action.
type CodeAction struct {
	*Action          // its name is CloseMonth.updateInvoice; a get is also a list
	HasCaller bool   // whether somebody may have started the code
	Code      string // the job or the subscriber
}

// CodeActions returns what the code of jobs and subscribers may do: what a rule of a model opens to it by its name.
func (s *Schema) CodeActions() []CodeAction {
	var all []CodeAction
	add := func(code string, hasCaller bool) {
		for _, m := range s.Models {
			for _, kind := range []Kind{Get, Create, Update, Delete} {
				a := &Action{Kind: kind, Name: code + "." + string(kind) + m.Name, Model: m, Custom: true}
				for _, r := range m.Rules {
					if slices.Contains(r.Jobs, code) && (slices.Contains(r.JobKinds, kind) || kind == Get && slices.Contains(r.JobKinds, List)) {
						a.Rules = append(a.Rules, r)
					}
				}
				if len(a.Rules) > 0 {
					all = append(all, CodeAction{a, hasCaller, code})
				}
			}
		}
	}
	for _, j := range s.Jobs {
		add(j.Name, slices.Contains(s.Actions, j.Start))
	}
	for _, subscriber := range s.Subscribers {
		if subscriber.IsCode {
			add(subscriber.Name, false)
		}
	}
	return all
}
