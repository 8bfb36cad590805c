package lower

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// manifest returns the data that a server needs to call the functions and to understand their errors. It leaves the
// clients' description of the actions open.
func (l *lowering) manifest() *release.Manifest {
	m := &release.Manifest{Records: map[string][]release.Member{}, Constraints: map[string]release.Constraint{}}
	for _, a := range l.schema.Actions {
		call := l.call(a)
		if name, members := publishedRecord(a); name != "" {
			call.Record, m.Records[name] = name, members
			call.Order, call.Sortable = publishedOrder(a)
		}
		m.Actions = append(m.Actions, call)
	}
	for _, c := range l.constraints {
		m.Constraints[c.name] = c.constraint
	}
	m.Headers = headersRead(l.schema)
	m.Compared = environmentCompared(l.schema)
	for _, model := range l.schema.Models {
		for _, f := range model.Stored() {
			if f.Type.Kind == expr.Secret {
				m.Encrypted = append(m.Encrypted, release.Column{Table: model.Table, Column: f.Column})
			}
		}
	}
	return m
}

// call describes how a server calls an action: its functions, and what it prepares for them.
func (l *lowering) call(a *model.Action) *release.Action {
	r := &release.Action{Name: a.Name, Function: functionName(a), Arguments: publishedArguments(a), Early: l.early[a]}
	r.AnswersAgain = answersAgain(a)
	r.Foreseen = l.foreseen[a]
	r.Facets = l.facets[a]
	r.Inputs = publishedInputs(a)
	r.FromCaller = publishedFromCaller(a)
	r.Sealed = publishedSealed(a)
	r.Files = publishedFiles(a)
	r.Inline = inlineFiles(a)
	return r
}

// environmentCompared returns the values of the environment that a rule, a role or a condition compares.
func environmentCompared(s *model.Schema) []string {
	var nodes []expr.Node
	for _, a := range s.Actions {
		nodes = append(nodes, expressionsOfRules(a.Rules)...)
		for _, w := range a.Wheres {
			nodes = append(nodes, w.Expression)
		}
	}
	return expr.Mentions(nodes...).Env
}

// headersRead returns the headers that the database reads. It omits headers that only become a password or secret.
func headersRead(s *model.Schema) []string {
	var nodes []expr.Node
	for _, a := range s.Actions {
		nodes = append(nodes, expressionsRead(a)...)
	}
	for _, m := range s.Models {
		for _, r := range m.Rules {
			if r.Expression != nil {
				nodes = append(nodes, r.Expression)
			}
		}
	}
	return expr.Mentions(nodes...).Headers
}
