package lower

import (
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// write is one value that an action writes.
type write struct {
	field *schema.Field // that has the column
	input *schema.Input
	path  []string // in the object of values
}

// writes returns what an action writes, in the order of its inputs.
func writes(a *schema.Action) []write {
	var list []write
	for _, in := range a.Writes {
		w := write{field: storedAs(ownField(in)), input: in}
		for _, f := range in.Path {
			w.path = append(w.path, f.Name)
		}
		list = append(list, w)
	}
	return list
}

// isGiven tells whether a request gives a value, null included: f in the object,
// or id in the object of f, or f itself as null.
func isGiven(root pg.Expr, path []string) pg.Expr {
	if len(path) == 1 {
		return hasMember(root, path[0])
	}
	outer := member(root, path[:len(path)-1]...)
	return pg.AnyOf(
		hasMember(outer, path[len(path)-1]),
		pg.Eq(outer, pg.Str("null")),
	)
}
