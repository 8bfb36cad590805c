package lower

import (
	"cmp"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// A delete locks its row first, and then the rows that cascades delete. Statements that change one of those lock it
// first, and then the row that sums them up. So a delete action locks, before it begins, all rows to which the delete
// leads: table after table, in the order of the dependencies.
//
// It does not if rows of a table lead to others of that table. A delete outside of actions cannot.

// lockDeleted has a delete lock the rows to which it leads, if keepers concern those that it cascades to.
func (l *lowering) lockDeleted(b *builder, where pg.Expr) {
	w := l.newWalk(b.model, false)
	root := w.find(b.model, false, nil)
	root.Strength = "update"
	w.cascade(b.model, "")
	w.steps(b.model, "", followedRows, l.stepsOf(b.model, "delete"))
	if w.isCircular || !w.keepsCascaded {
		return
	}
	slices.SortStableFunc(w.locks, func(x, y *pg.Lock) int { return cmp.Compare(w.rankOf(x), w.rankOf(y)) })
	ids := b.variable("v_"+b.table+"_ids", "text[]", nil)
	d := deleteLocks{b: b, walk: w, held: map[string]*pg.Variable{b.table: ids}}
	statements := []pg.Statement{&pg.Assign{Variable: ids, Value: &pg.ArrayOf{Query: selectOf(b.table, "id", where)}}}
	for _, lock := range w.locks {
		statements = append(statements, d.lock(lock)...)
	}
	b.step("All rows to which the delete leads are locked first, in the one order of the tables.", statements...)
}

// cascade follows the foreign keys that lead to rows which are deleted, and the steps of the keepers for the rows that
// have them.
func (w *lockWalk) cascade(m *schema.Model, way string) {
	for _, c := range w.schema.Models {
		for _, f := range c.Fields {
			if f.Target != m || f.FK == nil || f.OnDelete != schema.Cascade && f.OnDelete != schema.SetNull {
				continue
			}
			next := way + "." + c.Table + "." + f.FK.Column
			w.hold(c, next, false, &pg.Way{From: m.Table, Key: "id", Match: f.FK.Column})
			if w.isCircular {
				return
			}
			w.parents[next] = parent{m, f.FK.Column, ""}
			steps := w.stepsOf(c, "delete")
			if f.OnDelete == schema.SetNull {
				steps = slices.DeleteFunc(slices.Clone(w.stepsOf(c, "update")), func(s pg.KeeperStep) bool {
					keep, ok := s.(*pg.Keep)
					return !ok || !slices.Contains(keep.Watched, f.FK.Column)
				})
			}
			w.keepsCascaded = w.keepsCascaded || len(steps) > 0
			w.within = append(w.within, c)
			w.steps(c, next, followedRows, steps)
			if f.OnDelete == schema.Cascade {
				w.lockOf(c).Strength = "update"
				w.cascade(c, next)
			}
			w.within = w.within[:len(w.within)-1]
		}
	}
}

// deleteLocks writes the statements that lock rows before a delete.
type deleteLocks struct {
	b    *builder
	walk *lockWalk
	held map[string]*pg.Variable // the ids of the row to delete, and of rows locked so far, by table
}

// lock locks the rows of a table, and holds their ids if ways begin there.
func (d *deleteLocks) lock(lock *pg.Lock) []pg.Statement {
	var statements []pg.Statement
	ids := d.ids(lock)
	beginsThere := func(o *pg.Way) bool { return o.From == lock.Table }
	isBegin := func(other *pg.Lock) bool { return slices.ContainsFunc(other.Ways, beginsThere) }
	if d.held[lock.Table] == nil && slices.ContainsFunc(d.walk.locks, isBegin) {
		v := d.b.variable("v_"+lock.Table+"_ids", "text[]", nil)
		statements = append(statements, &pg.Assign{Variable: v, Value: ids})
		d.held[lock.Table], ids = v, v
	}
	return append(statements, &pg.Perform{Value: pg.Fn("platform.lock_rows", pg.Str(lock.Table), pg.Str(lock.Strength), ids)})
}

// ids is the array of the ids of the rows of a table to which the delete leads.
func (d *deleteLocks) ids(lock *pg.Lock) pg.Expr {
	if v := d.held[lock.Table]; v != nil {
		return v
	}
	var all *pg.Select
	for _, o := range lock.Ways {
		from := d.ids(d.walk.lockOf(d.walk.modelOf(o.From)))
		var q *pg.Select
		switch {
		case o.Match == "id":
			q = selectOf(o.From, o.Key, isAnyOf(o.From, "id", from))
		case o.Key == "id":
			q = selectOf(lock.Table, "id", isAnyOf(lock.Table, o.Match, from))
		default:
			keys := &pg.ArrayOf{Query: selectOf(o.From, o.Key, isAnyOf(o.From, "id", from))}
			q = selectOf(lock.Table, "id", isAnyOf(lock.Table, o.Match, keys))
		}
		if all == nil {
			all = q
		} else {
			all.UnionAll = append(all.UnionAll, q)
		}
	}
	return &pg.ArrayOf{Query: all}
}

func selectOf(table, column string, where pg.Expr) *pg.Select {
	return &pg.Select{Columns: []pg.Output{{Value: pg.Col(table, column)}}, From: pg.Ref(relatedSchema, table), Where: where}
}

func isAnyOf(table, column string, array pg.Expr) pg.Expr {
	return &pg.Any{Value: pg.Col(table, column), Op: "=", Array: array}
}
