package model

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Condition is a named condition of a model. Expressions that name it hold its expression, over the row that they reach.
type Condition struct {
	Model      *Model
	Name       string
	Doc        string
	Expression expr.Node
	Text       string // in its formatted spelling
	Span       syntax.Span
}

// SpellConditions adds to the texts of rules, and of other expressions of actions, what the conditions in them stand for.
func (s *Schema) SpellConditions() {
	done := map[*string]bool{}
	spell := func(text *string, n expr.Node) {
		if means := s.meaning(n); means != nil && !done[text] {
			done[text] = true
			*text += ", where " + strings.Join(means, " and ")
		}
	}
	for _, m := range s.Models {
		for _, r := range m.Rules {
			spell(&r.Text, r.Expression)
		}
		for _, v := range m.Validations {
			spell(&v.Text, v.Expression)
		}
	}
	for _, a := range s.Actions {
		for _, r := range a.Rules {
			spell(&r.Text, r.Expression)
		}
		for _, w := range a.Wheres {
			spell(&w.Text, w.Expression)
		}
	}
	for _, r := range s.Roles {
		for _, e := range r.Expressions {
			spell(&e.Text, e.Expression)
		}
	}
}

// meaning says what the conditions stand for that an expression names, each once.
func (s *Schema) meaning(n expr.Node) []string {
	if n == nil {
		return nil
	}
	var texts []string
	for _, u := range expr.UsesIn(n) {
		for _, m := range s.Models {
			for _, c := range m.Conditions {
				text := m.Name + "." + c.Name + " = " + c.Text
				if m.Name == u.Model && c.Name == u.Condition && !slices.Contains(texts, text) {
					texts = append(texts, text)
				}
			}
		}
	}
	return texts
}
