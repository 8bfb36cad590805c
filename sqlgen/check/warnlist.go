package check

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// warnLists warns of each list that scans rows for want of an index: the rows of the filters
// that every request has, or those that the rules admit.
func (c *checker) warnLists() {
	for _, a := range c.actions {
		if a.Kind != model.List || a.Custom || a.union != nil || a.tree.Incomplete() {
			continue
		}
		if fields := requiredFilter(a.Action); len(fields) > 0 {
			c.warnRequired(a, fields)
		} else if mayGoUnfiltered(a.Action) && !isNarrowed(a.Action) {
			c.warnChoices(a)
		}
	}
}

// warnRequired warns of a list that every request filters by fields of its own, if no index
// gives these rows in the order of the list. The compiler makes the index behind a single
// to-one.
func (c *checker) warnRequired(a *actionDecl, fields []*model.Field) {
	if len(fields) == 1 && fields[0].FKOf != nil || slices.ContainsFunc(fields, func(f *model.Field) bool { return f.Unique }) {
		return
	}
	wanted := indexFor(a.Action, fields)
	if !isIndexed(a.Model, columnsOf(fields), columnsOf(wanted)[len(fields):]) {
		c.warnAction(a, MissingIndex, a.tree.Name.Span(), missingIndex(a.Name, a.Model.Name, namesOfIndex(fields), namesOfIndex(wanted)))
	}
}

// warnChoices warns of each field that no index begins with and that may be the only filter
// of a request.
func (c *checker) warnChoices(a *actionDecl) {
	for _, in := range a.Reads {
		if !in.Optional || in.Explicit || len(in.Path) > 1 {
			continue
		}
		if f := in.Path[0]; wantsIndex(f) && !leadsIndex(f) {
			wanted := indexFor(a.Action, []*model.Field{f})
			c.warnAction(a, MissingIndex, in.Span, missingIndexOfChoice(a.Name, a.Model.Name, f.Name, namesOfIndex(wanted)))
		}
	}
}

// indexFor returns the fields of an @index that has the rows of some fields in the order of
// a list.
func indexFor(a *model.Action, fields []*model.Field) []*model.Field {
	wanted := slices.Clone(fields)
	for _, k := range a.OrderBy {
		if k.Descending != a.OrderBy[0].Descending || k.Field.Name == "id" {
			break // an @index goes one way, and the order ends by id anyway
		}
		if !slices.Contains(wanted, k.Field) {
			wanted = append(wanted, k.Field)
		}
	}
	return wanted
}

// wantsIndex tells whether equals on a field finds few rows, so that an index helps. On a
// Boolean or enum it finds many, and the order of the list soon meets them. Markdown is
// searched within.
func wantsIndex(f *model.Field) bool {
	if f.Type.Array || !f.Type.Kind.HasFilter("equals") || !takesIndex(f) {
		return false
	}
	return f.Enum == nil && f.Type.Kind != expr.Boolean && f.Type.Kind != expr.Markdown
}

// leadsIndex tells whether an index begins with a field: a declared one, that of a key,
// or the one that the compiler makes for the order of a list.
func leadsIndex(f *model.Field) bool {
	m := f.Model
	return f.Unique || f.FKOf != nil ||
		slices.ContainsFunc(m.Indexes, func(i *model.Index) bool { return i.Fields[0] == f }) ||
		slices.ContainsFunc(m.Uniques, func(u *model.Unique) bool { return u.Fields[0] == f }) ||
		slices.ContainsFunc(m.Actions, func(a *model.Action) bool {
			return a.Kind == model.List && !a.Custom && len(a.OrderBy) > 0 && a.OrderBy[0].Field == f
		})
}

// mayGoUnfiltered tells whether a list has no required filter.
func mayGoUnfiltered(a *model.Action) bool {
	return !slices.ContainsFunc(a.Reads, func(in *model.Input) bool { return !in.Optional && !in.Explicit })
}

// isNarrowed tells whether each rule of a list is true only of rows that share a value with
// the caller, in a column of the row itself. An index
// of the rules then finds the rows, and a filter reads only the caller's own.
func isNarrowed(a *model.Action) bool {
	return len(a.Rules) == 0 || a.Demands(func(n expr.Node) bool {
		compare, ok := n.(*expr.Compare)
		return ok && (compare.Op == syntax.Equal || compare.Op == syntax.In) &&
			(isOwn(compare.Left) && isOfCaller(compare.Right) || isOwn(compare.Right) && isOfCaller(compare.Left))
	})
}

// isOwn tells whether an expression is a path from the row that begins with a column of it.
func isOwn(n expr.Node) bool {
	p, ok := n.(*expr.Path)
	if !ok || p.Root != expr.RootRow || len(p.Steps) == 0 {
		return false
	}
	first := model.FieldsOf(p)[0]
	return first.Column != "" || first.FK != nil
}

// isOfCaller tells whether an expression has values of the caller, and nothing of the row.
func isOfCaller(n expr.Node) bool {
	m := expr.Mentions(n)
	return m.Identity && !m.Row
}

// requiredFilter returns the fields of a list's own model that every request filters
// by with equals. It returns none if a filter also needs a value outside the model's indexes.
func requiredFilter(a *model.Action) []*model.Field {
	var fields []*model.Field
	for _, in := range a.Reads {
		if in.Optional || in.Explicit {
			continue
		}
		f := in.Path[0]
		switch {
		case len(in.Path) == 2 && in.Path[1].Name == "id" && f.FK != nil:
			f = f.FK
		case len(in.Path) > 1 || in.Type.Array || !in.Type.Kind.HasFilter("equals"):
			return nil
		}
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	return fields
}

// isIndexed tells whether an index of a model begins with some columns, in any order,
// and goes on with others.
func isIndexed(m *model.Model, columns, others []string) bool {
	begins := func(fields []*model.Field) bool {
		have := columnsOf(fields)
		if len(have) < len(columns)+len(others) || !slices.Equal(have[len(columns):len(columns)+len(others)], others) {
			return false
		}
		return !slices.ContainsFunc(columns, func(column string) bool { return !slices.Contains(have[:len(columns)], column) })
	}
	return slices.ContainsFunc(m.Indexes, func(i *model.Index) bool { return begins(i.Fields) }) ||
		slices.ContainsFunc(m.Uniques, func(u *model.Unique) bool { return begins(u.Fields) })
}

// namesOfIndex returns the names of fields in an @index.
func namesOfIndex(fields []*model.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		if names[i] = f.Name; f.FKOf != nil {
			names[i] = f.FKOf.Name
		}
	}
	return strings.Join(names, ", ")
}
