package access

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
)

// Matrix says for each action what each class of callers may do.
type Matrix struct {
	Classes []*Class
	Rows    []Row // in the order of the schema
	Code    []Row // what the code of jobs and subscribers may do: the decisions are for those who have started it
}

// Row is one action.
type Row struct {
	Action    *model.Action
	APIs      []*model.API // those that expose it; none means that nobody can call it over HTTP
	Decisions []Decision   // one for each class
	Code      string       // the job or subscriber whose code does it; empty for an action
}

// Of returns the matrix of a schema.
func Of(s *model.Schema) *Matrix {
	m := &Matrix{Classes: Classes(s)}
	for _, a := range s.Actions {
		row := Row{Action: a}
		for _, api := range s.APIs {
			if slices.Contains(api.Actions, a) {
				row.APIs = append(row.APIs, api)
			}
		}
		for _, c := range m.Classes {
			row.Decisions = append(row.Decisions, Decide(a.Rules, c))
		}
		m.Rows = append(m.Rows, row)
	}
	for _, a := range s.CodeActions() {
		row := Row{Action: a.Action, Code: a.Code}
		for _, c := range m.Classes {
			if !a.HasCaller {
				c = Anonymous()
			}
			row.Decisions = append(row.Decisions, Decide(a.Rules, c))
		}
		m.Code = append(m.Code, row)
	}
	return m
}

// owner returns the name of the model or union that has an action.
func owner(a *model.Action) string {
	if a.Union != nil {
		return a.Union.Name
	}
	return a.Model.Name
}

// isClosed tells whether the rules admit no class of callers.
func (r Row) isClosed() bool {
	return !slices.ContainsFunc(r.Decisions, func(d Decision) bool { return d.Verdict != Never })
}

// verdict returns the verdict for the class at an index of the matrix.
func (r Row) verdict(class int) Verdict { return r.Decisions[class].Verdict }
