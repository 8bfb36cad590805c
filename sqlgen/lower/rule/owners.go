package rule

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/role"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// mostWalked is how many relations the policies of a table should name for one role. On each call Postgres locks them
// all, each as a view and as its table, regardless of the action that their branches are for. It keeps 16 locks of a
// connection out of the table that all connections share, and a list needs up to ten besides.
const mostWalked = 3

// GiveOwners sets the role that the functions of each action run as: role.Open if no branch for the action walks a
// relation.
//
// The others fill the roles of role.Callers one after the other, in the order of their names. Each goes to the first
// role in which no table's policies then name more than mostWalked relations. Without one, it goes to the role in which
// they name the fewest.
func (l *Lowering) GiveOwners(views []*pg.View, demands []Policies) {
	walks := walksOf(views, demands)
	callers := role.Callers()
	walked := make([]walk, len(callers)) // walks of the actions of each role
	for i := range walked {
		walked[i] = walk{}
	}
	actions := slices.SortedFunc(slices.Values(l.Schema.Actions), func(a, b *model.Action) int { return strings.Compare(a.Name, b.Name) })
	for _, a := range actions {
		own := walks[a.Name]
		switch {
		case a.Custom:
			l.Owners[a.Name] = role.Code
		case len(own) == 0:
			l.Owners[a.Name] = role.Open
		default:
			most := make([]int, len(callers))
			for i, w := range walked {
				most[i] = w.mostWith(own)
			}
			at := slices.IndexFunc(most, func(n int) bool { return n <= mostWalked })
			if at < 0 {
				at = slices.Index(most, slices.Min(most))
			}
			walked[at].add(own)
			l.Owners[a.Name] = callers[at]
		}
	}
}

// walk is the views that policies read, by the index of the policies' table in the schema.
type walk map[int][]string

func (w walk) add(other walk) {
	for table, views := range other {
		for _, v := range views {
			if !slices.Contains(w[table], v) {
				w[table] = append(w[table], v)
			}
		}
	}
}

// mostWith is how many views the policies of one table read at most if another walk is added, among the tables that it
// touches.
func (w walk) mostWith(other walk) int {
	most := 0
	for table, views := range other {
		n := len(w[table])
		for _, v := range views {
			if !slices.Contains(w[table], v) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// walksOf returns what the branches for each action read, by its name. It has no entry
// for an action whose branches read nothing.
func walksOf(views []*pg.View, demands []Policies) map[string]walk {
	walks := map[string]walk{}
	for table, p := range demands {
		for _, command := range commands {
			for _, d := range p[command] {
				names := viewsIn(views, d.condition)
				if names == nil {
					continue
				}
				read := walk{table: names}
				for _, by := range d.actions {
					if walks[by.name] == nil {
						walks[by.name] = walk{}
					}
					walks[by.name].add(read)
				}
			}
		}
	}
	return walks
}

// viewsIn returns the names of the views that an expression reads, and of those that they read, each once.
func viewsIn(views []*pg.View, e pg.Expr) []string {
	var names []string
	mentioned := pg.Mentions(e)
	for _, v := range views {
		if !mentioned.Relation(v.Schema, v.Name) {
			continue
		}
		names = append(names, v.Name)
		if v.IsQuery() {
			names = append(names, viewsIn(views, &pg.Subquery{Query: v.Query})...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
