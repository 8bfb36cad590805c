package derive

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// A statement locks its own rows before any trigger runs. So one that moves a key holds its row when it comes to the row
// to which the key leads now, and all others come from that row to those with the key. Such statements take turns before
// they lock anything: the one that moves the key has the turn of the key alone, the others share it. All turns are taken
// in the order of their names, by the first statement of a transaction, and last as long as its locks.
//
// Then no statements that change one row each wait in a circle. In one, some statement waits for a row before those that
// it holds: it has moved a key. Take the one whose key is in the last of the tables. The next in the circle holds the row
// to which the key leads, and waits for a row that is not beyond the key's table: it shares the turn. They do not run at
// once. Nobody waits for new rows.

// Link is a key that computed fields lead along.
type Link struct {
	Owner  *model.Model
	Column string
	To     *model.Model
}

// name is the name of the turn.
func (k Link) name() string { return k.Owner.Table + "." + k.Column }

// Links returns the keys that computed fields lead along one way, by name.
func (l *Lowering) Links() []Link {
	if l.turns == nil {
		l.turns = l.findLinks()
	}
	return l.turns
}

func (l *Lowering) findLinks() []Link {
	links := []Link{}
	for _, p := range l.Parts {
		var k Link
		switch {
		case p.across != nil:
			k = Link{p.Owner, p.across.match, p.across.third}
		case p.Kind == Copied:
			k = Link{p.Owner, p.Link(), p.other()}
		default:
			continue
		}
		if !slices.Contains(links, k) && !l.leadsTo(k.Owner, k.To) {
			links = append(links, k)
		}
	}
	slices.SortFunc(links, func(a, b Link) int { return cmp.Compare(a.name(), b.name()) })
	return links
}

// takeTurns gives a table the triggers that take turns for its statements: one trigger for each list of columns.
func (l *Lowering) takeTurns(t *pg.Table, m *model.Model) {
	for _, event := range []string{"insert", "update", "delete"} {
		var triggers []*pg.Trigger
		for _, k := range l.Links() {
			how, columns := "", []string(nil)
			for _, c := range l.changesBy(event, m) {
				switch {
				case c.Moves(k):
					how = "alone"
				case how == "" && c.comesFrom(k, m, event):
					how = "shared"
				case !c.comesFrom(k, m, event):
					continue
				}
				columns = union(columns, c.by)
			}
			if how == "" {
				continue
			}
			at := slices.IndexFunc(triggers, func(g *pg.Trigger) bool { return slices.Equal(g.Columns, columns) })
			if at < 0 {
				at = len(triggers)
				name := pg.TurnTriggers + event
				if at > 0 {
					name += fmt.Sprintf("_%d", at+1)
				}
				triggers = append(triggers, &pg.Trigger{
					Name: name, Timing: "before " + event, Columns: columns, PerStatement: true, When: locksFirst(), Function: "platform.tg_take_turn",
				})
			}
			triggers[at].Arguments = append(triggers[at].Arguments, k.name(), how)
		}
		t.Triggers = append(t.Triggers, triggers...)
	}
}

// Change is what a statement leads to.
type Change struct {
	*Reaching
	by []string // the column that an update sets
}

// changesBy returns what the statements of an event lead to: an update by each column that it may set, an insert with
// the rows that creates insert beside its own.
func (l *Lowering) changesBy(event string, m *model.Model) []Change {
	var changes []Change
	if event == "update" {
		for _, f := range writtenColumnsOf(m) {
			r, _ := l.ChangeOf(m, f.Column)
			changes = append(changes, Change{r, []string{f.Column}})
		}
		return changes
	}
	models := []*model.Model{m}
	for _, a := range l.Schema.Actions {
		if event == "insert" && a.Kind == model.Create && !a.Custom && a.Model == m {
			for _, at := range value.Levels(a).Inserted() {
				models = append(models, at.Model)
			}
		}
	}
	for i, m := range models {
		if !slices.Contains(models[:i], m) {
			r, _ := l.ChangeOf(m)
			changes = append(changes, Change{r, nil})
		}
	}
	return changes
}

// locksFirst is the condition of a trigger under which its statement is the first of its transaction to lock rows.
func locksFirst() pg.Expr {
	return pg.AllOf(pg.Eq(pg.Fn("pg_trigger_depth"), pg.Lit("0")), pg.IsNull(pg.Fn("pg_current_xact_id_if_assigned")))
}

// Moves tells whether a statement moves a key of existing rows.
func (c Change) Moves(k Link) bool {
	rows := c.rows[k.Owner]
	return rows != nil && rows.columns[k.Column] && !(rows.isHeld && rows.IsWhole)
}

// comesFrom tells whether a statement on a model's table may hold a row behind a key when it waits for a row that is not
// beyond those with the key.
func (c Change) comesFrom(k Link, m *model.Model, event string) bool {
	holds := c.rows[k.To] != nil && c.rows[k.To].Strength == "no key update" || m == k.To && event != "insert"
	return holds && slices.ContainsFunc(c.inOrder(), func(rows *Reached) bool {
		return !rows.isHeld && c.Rank(rows.Model) > c.Rank(k.To) && c.Rank(rows.Model) <= c.Rank(k.Owner)
	})
}

// ReadsRow tells whether the value is known only when the row is locked.
func ReadsRow(w value.Write) bool {
	return w.Set != nil && slices.ContainsFunc(expr.Paths(w.Set.Value), func(p *expr.Path) bool { return p.Root == expr.RootRow })
}
