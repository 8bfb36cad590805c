package lower

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// defaultPageSize is the number of rows of a page if the request names no size.
var defaultPageSize = strconv.Itoa(release.DefaultPageSize)

// list lowers a list to the function that takes any request, and one with static statements, whose plans are kept, for
// the foreseen operator sets.
func (l *lowering) list(a *model.Action) []*pg.Function {
	functions := []*pg.Function{l.generalList(a)}
	if len(a.Facets) > 0 { // facets cost more than a plan does
		return append(functions, l.facetsOf(a)...)
	}
	return append(functions, l.foreseenLists(a)...)
}

// operatorSet is the set of operators in the filter of a request: fields by equals, and values of explicit inputs.
type operatorSet struct {
	equals []filter
	given  []*model.Input
}

// foreseenSets returns the operator sets that have a static statement: the inputs that every request must give,
// alone and with each other input.
func foreseenSets(a *model.Action) []operatorSet {
	var required operatorSet
	for _, in := range a.Reads {
		if in.Optional {
			continue
		}
		if !in.Explicit && !hasEquals(in.Type) {
			return nil
		}
		required = required.with(a, in)
	}
	sets := []operatorSet{required}
	for _, in := range a.Reads {
		if in.Optional && (in.Explicit || hasEquals(in.Type)) {
			sets = append(sets, required.with(a, in))
		}
	}
	return sets
}

func hasEquals(t expr.Type) bool { return !t.Array && t.Kind.HasFilter("equals") }

// with returns the set with one input more.
func (s operatorSet) with(a *model.Action, in *model.Input) operatorSet {
	if in.Explicit {
		return operatorSet{equals: s.equals, given: append(slices.Clone(s.given), in)}
	}
	return operatorSet{equals: append(slices.Clone(s.equals), filter{in, listPath(a.Model, in)}), given: s.given}
}

// operators is the set as a server writes it.
func (s operatorSet) operators() string {
	var list []string
	for _, f := range s.equals {
		list = append(list, dotted(f.at("equals")))
	}
	for _, in := range s.given {
		list = append(list, in.Name)
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// counts tells whether a @where counts: the request gives all inputs that it mentions.
func (s operatorSet) counts(w *model.Where) bool {
	for _, in := range optionalInputs(w) {
		if !slices.Contains(s.given, in) {
			return false
		}
	}
	return true
}

// dotted is a path of the filter as its operators are named.
func dotted(path []string) string { return strings.Join(path, ".") }

// pageAlias is the alias of the ids of a page. A model may be called Page, and an
// alias must not hide its table.
func pageAlias(table string) string {
	if table == "page" {
		return "page_"
	}
	return "page"
}

// filterPath is the path of an implicit input below where.
func filterPath(in *model.Input) []string {
	if in.Union != nil {
		return []string{in.Union.Name}
	}
	path := make([]string, len(in.Path))
	for i, f := range in.Path {
		path[i] = f.Name
	}
	return path
}
