package lower

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/list"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/table"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// manifest returns the data that a server needs to call the functions and to understand their errors. It leaves the
// clients' description of the actions open.
func (l *lowering) manifest() *release.Manifest {
	m := &release.Manifest{Records: map[string][]release.Member{}, Constraints: map[string]release.Constraint{}}
	for _, a := range l.Schema.Actions {
		request := l.call(a)
		if name, members := call.PublishedRecord(a); name != "" {
			request.Record, m.Records[name] = name, members
			request.Order, request.Sortable = list.PublishedOrder(a)
		}
		m.Actions = append(m.Actions, request)
	}
	for _, c := range l.Constraints {
		m.Constraints[c.Name] = c.Constraint
	}
	m.Jobs, m.Subscribers, m.Histories = l.Jobs, l.Subscribers, l.Histories
	m.Headers = headersRead(l.Schema)
	m.Compared = environmentCompared(l.Schema)
	for _, model := range l.Schema.Models {
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
	r := &release.Action{Name: a.Name, Function: rule.FunctionName(a), Arguments: call.PublishedArguments(a), Early: l.Early[a]}
	r.AnswersAgain = call.AnswersAgain(a)
	r.Foreseen = l.Foreseen[a]
	r.Facets = l.Facets[a]
	if d := l.Live[a]; d != nil {
		r.Live = &d.Live
	}
	r.Inputs = call.PublishedInputs(a)
	r.FromCaller = call.PublishedFromCaller(a)
	r.FromLinks = call.PublishedFromLinks(a)
	r.Sealed = call.PublishedSealed(a)
	r.Files = table.PublishedFiles(a)
	r.Inline = table.InlineFiles(a)
	return r
}

// environmentCompared returns the values of the environment that a rule, a role or a condition compares.
func environmentCompared(s *model.Schema) []string {
	var nodes []expr.Node
	for _, a := range s.Actions {
		nodes = append(nodes, value.ExpressionsOfRules(a.Rules)...)
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
		nodes = append(nodes, value.ExpressionsRead(a)...)
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
