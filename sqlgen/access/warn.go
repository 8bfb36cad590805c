package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// The codes of this package's own warnings. Others are the compiler's.
const (
	// ReachedAnonymously: an exposed action can be called without signing in.
	ReachedAnonymously syntax.Code = "ReachedAnonymously"

	// ClosedForAll: no caller can ever call an action.
	ClosedForAll syntax.Code = "ClosedForAll"
)

// Warning is a property of an action that should be intended.
type Warning struct {
	Code    syntax.Code
	Action  *model.Action
	Span    syntax.Span
	Message string
	Gains   []string // of one that access is widened: the classes of callers for whom it is
	Allowed bool     // whether an @allow of the action says that it is meant
}

// Warnings returns the properties of a matrix that should be intended: exposed actions that
// anonymous callers reach, actions that are closed for all callers, and for each warning of
// the compiler that an action widens access, the callers that it admits. Those that an
// action allows come last.
func Warnings(s *model.Schema, m *Matrix, errs syntax.Errors) []Warning {
	var warnings []Warning
	for _, row := range m.Rows {
		if d := row.Decisions[0]; len(row.APIs) > 0 && d.Verdict != Never {
			warnings = append(warnings, Warning{Code: ReachedAnonymously, Action: row.Action, Span: row.Action.Span, Message: reachedAnonymously(row.Action, d)})
		}
	}
	for _, row := range m.Rows {
		if row.isClosed() {
			warnings = append(warnings, Warning{Code: ClosedForAll, Action: row.Action, Span: row.Action.Span, Message: closedForAll(row.Action)})
		}
	}
	for _, d := range errs {
		kinds := widened(d.Code)
		if len(kinds) == 0 {
			continue
		}
		for _, row := range widening(m, d) {
			warnings = append(warnings, m.widens(s, d, row, kinds))
		}
	}
	return append(warnings, allowed(s, m)...)
}

// allowed returns the warnings about access that actions allow.
func allowed(s *model.Schema, m *Matrix) []Warning {
	var warnings []Warning
	for _, row := range m.Rows {
		for _, d := range row.Action.Allowed {
			if d.Code == check.MissingIndex {
				continue // it is not about access
			}
			w := Warning{Code: d.Code, Action: row.Action, Span: d.Span, Message: d.Message}
			if kinds := widened(d.Code); len(kinds) > 0 {
				w = m.widens(s, d, row, kinds)
			}
			w.Allowed = true
			warnings = append(warnings, w)
		}
	}
	return warnings
}

func reachedAnonymously(a *model.Action, d Decision) string {
	if d.Verdict == Always {
		return a.Name + " can be called without signing in"
	}
	return a.Name + " can be called without signing in, depending on " + alternatives(d.Rules)
}

func closedForAll(a *model.Action) string {
	if len(a.Rules) == 0 {
		return fmt.Sprintf("nobody can call %s: no rule covers it", a.Name)
	}
	return fmt.Sprintf("nobody can call %s: none of its rules can ever hold", a.Name)
}

// alternatives words rules that are joined by or.
func alternatives(rules []*model.Rule) string {
	var texts []string
	for _, r := range rules {
		texts = append(texts, r.Text)
	}
	return strings.Join(texts, ", or ")
}

// widened returns the kinds whose own rules an action of this warning bypasses; none for
// other warnings.
func widened(code syntax.Code) []model.Kind {
	switch code {
	case check.EmbedWidens, check.FilterWidens, check.ComputedWidens, check.LinkWidens, check.UnionWidens:
		return []model.Kind{model.Get, model.List}
	case check.NestedWidens:
		return []model.Kind{model.Create}
	}
	return nil
}

// ownerOfRule returns the model that bears the rule at a place.
func ownerOfRule(s *model.Schema, at syntax.Span) *model.Model {
	for _, m := range s.Models {
		if slices.ContainsFunc(m.Rules, func(r *model.Rule) bool { return r.Span == at }) {
			return m
		}
	}
	panic(fmt.Sprintf("access: no model has a rule at %v", at))
}

// widening returns the actions of a warning: those of the union whose arm it blames, except
// those that allow it, or else the action that contains it, the last one before its
// place.
func widening(m *Matrix, d *syntax.Diagnostic) []Row {
	var rows []Row
	var last *Row
	for i, row := range m.Rows {
		a := row.Action
		switch {
		case d.Code == check.UnionWidens:
			if a.Union != nil && slices.ContainsFunc(a.Union.Arms, func(arm *model.Arm) bool { return arm.Span == d.Span }) && !allows(a, d) {
				rows = append(rows, row)
			}
		case a.Span.File != d.Span.File || a.Span.Start.Offset > d.Span.Start.Offset:
		case last == nil || last.Action.Span.Start.Offset < a.Span.Start.Offset:
			last = &m.Rows[i]
		}
	}
	if last != nil {
		rows = append(rows, *last)
	}
	return rows
}

// allows tells whether an action allows a warning.
func allows(a *model.Action, d *syntax.Diagnostic) bool {
	return slices.ContainsFunc(a.Allowed, func(w *syntax.Diagnostic) bool { return w.Code == d.Code && w.Span == d.Span })
}

// widens returns the callers for whom an action bypasses the rules of a model. The notes of
// the warning point to these rules.
func (m *Matrix) widens(s *model.Schema, d *syntax.Diagnostic, row Row, kinds []model.Kind) Warning {
	owner := ownerOfRule(s, d.Notes[0].Span)
	var rules []*model.Rule
	for _, r := range owner.Rules {
		if slices.ContainsFunc(kinds, func(k model.Kind) bool { return slices.Contains(r.Kinds, k) }) {
			rules = append(rules, r)
		}
	}
	w := Warning{Code: d.Code, Action: row.Action, Span: d.Span, Message: d.Message}
	if d.Code == check.UnionWidens {
		w.Message = fmt.Sprintf("%s shows rows of %s, regardless of the rules of %s", row.Action.Name, owner.Name, owner.Name)
	}
	var how, sometimes []string
	for i, c := range m.Classes {
		own := Decide(rules, c).Verdict
		switch v := row.verdict(i); {
		case v.Exceeds(own):
			how = append(how, fmt.Sprintf("%s %s instead of %s", c.Name, v, own))
		case v == Depends && own == Depends:
			sometimes = append(sometimes, c.Name)
		default:
			continue
		}
		w.Gains = append(w.Gains, c.Name)
	}
	if len(sometimes) > 0 {
		how = append(how, fmt.Sprintf("%s where the rules of %s admit them", strings.Join(sometimes, " and "), row.Action.Name))
	}
	if len(how) == 0 {
		w.Message += "; no caller gains access by it"
		return w
	}
	w.Message += ": " + strings.Join(how, ", ")
	return w
}
