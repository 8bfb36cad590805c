package access

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
)

// Matrix says for each action what each class of callers may do.
type Matrix struct {
	Classes []*Class
	Rows    []Row // in the order of the schema
}

// Row is one action.
type Row struct {
	Action    *model.Action
	APIs      []*model.API // those that expose it; none means that nobody can call it over HTTP
	Decisions []Decision   // one for each class
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
