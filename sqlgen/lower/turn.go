package lower

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
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

// link is a key that computed fields lead along.
type link struct {
	owner  *model.Model
	column string
	to     *model.Model
}

// name is the name of the turn.
func (k link) name() string { return k.owner.Table + "." + k.column }

// links returns the keys that computed fields lead along one way, by name.
func (l *lowering) links() []link {
	if l.turns == nil {
		l.turns = l.findLinks()
	}
	return l.turns
}

func (l *lowering) findLinks() []link {
	links := []link{}
	for _, p := range l.parts {
		var k link
		switch {
		case p.across != nil:
			k = link{p.owner, p.across.match, p.across.third}
		case p.kind == copied:
			k = link{p.owner, p.link(), p.other()}
		default:
			continue
		}
		if !slices.Contains(links, k) && !l.leadsTo(k.owner, k.to) {
			links = append(links, k)
		}
	}
	slices.SortFunc(links, func(a, b link) int { return cmp.Compare(a.name(), b.name()) })
	return links
}

// takeTurns gives a table the triggers that take turns for its statements: one trigger for each list of columns.
func (l *lowering) takeTurns(t *pg.Table, m *model.Model) {
	for _, event := range []string{"insert", "update", "delete"} {
		var triggers []*pg.Trigger
		for _, k := range l.links() {
			how, columns := "", []string(nil)
			for _, c := range l.changesBy(event, m) {
				switch {
				case c.moves(k):
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

// change is what a statement leads to.
type change struct {
	*reaching
	by []string // the column that an update sets
}

// changesBy returns what the statements of an event lead to: an update by each column that it may set, an insert with
// the rows that creates insert beside its own.
func (l *lowering) changesBy(event string, m *model.Model) []change {
	var changes []change
	if event == "update" {
		for _, f := range writtenColumnsOf(m) {
			r, _ := l.changeOf(m, f.Column)
			changes = append(changes, change{r, []string{f.Column}})
		}
		return changes
	}
	models := []*model.Model{m}
	for _, a := range l.schema.Actions {
		if event == "insert" && a.Kind == model.Create && !a.Custom && a.Model == m {
			for _, at := range levels(a).inserted() {
				models = append(models, at.model)
			}
		}
	}
	for i, m := range models {
		if !slices.Contains(models[:i], m) {
			r, _ := l.changeOf(m)
			changes = append(changes, change{r, nil})
		}
	}
	return changes
}

// locksFirst is the condition of a trigger under which its statement is the first of its transaction to lock rows.
func locksFirst() pg.Expr {
	return pg.AllOf(pg.Eq(pg.Fn("pg_trigger_depth"), pg.Lit("0")), pg.IsNull(pg.Fn("pg_current_xact_id_if_assigned")))
}

// moves tells whether a statement moves a key of existing rows.
func (c change) moves(k link) bool {
	rows := c.rows[k.owner]
	return rows != nil && rows.columns[k.column] && !(rows.isHeld && rows.isWhole)
}

// comesFrom tells whether a statement on a model's table may hold a row behind a key when it waits for a row that is not
// beyond those with the key.
func (c change) comesFrom(k link, m *model.Model, event string) bool {
	holds := c.rows[k.to] != nil && c.rows[k.to].strength == "no key update" || m == k.to && event != "insert"
	return holds && slices.ContainsFunc(c.inOrder(), func(rows *reached) bool {
		return !rows.isHeld && c.rank(rows.model) > c.rank(k.to) && c.rank(rows.model) <= c.rank(k.owner)
	})
}

// shareLinked has an update lock the rows to which it will move keys, before it locks its own. So it needs no turn; nor
// does it if the request gives no key.
func (l *lowering) shareLinked(b *builder, values pg.Expr) {
	links := slices.Clone(l.links())
	slices.SortStableFunc(links, func(x, y link) int { return cmp.Compare(l.rank(x.to), l.rank(y.to)) })
	var statements []pg.Statement
	var needTurn []pg.Expr // the conditions under which another row's key moves
	moves := false
	for _, k := range links {
		for _, w := range levels(b.action).writes {
			r, _ := l.changeOf(b.model, w.field.Column)
			if !(change{reaching: r}).moves(k) {
				continue
			}
			moves = true
			value := b.writtenValue(w, values, 0, inFunction)
			given := value.given
			if given == nil {
				given = pg.True()
			}
			if b.model != k.owner || w.field.Column != k.column || w.readsRow() {
				needTurn = append(needTurn, given)
				continue
			}
			share := &pg.Perform{Value: pg.Fn("platform.lock_rows", pg.Str(k.to.Table), pg.Str("share"), &pg.Array{Elements: []pg.Expr{value.value}})}
			if value.given == nil {
				statements = append(statements, share)
			} else {
				statements = append(statements, pg.IfThen(value.given, share))
			}
		}
	}
	mayDoWithout := pg.Negate(pg.AnyOf(needTurn...))
	if !moves || pg.IsFalse(mayDoWithout) {
		return
	}
	statements = append(statements, &pg.Perform{Value: pg.Fn("pg_current_xact_id")})
	if len(needTurn) > 0 {
		statements = []pg.Statement{pg.IfThen(mayDoWithout, statements...)}
	}
	b.step("Rows to which keys will lead are locked before the row itself. So the triggers need no turn for it.", statements...)
}

// readsRow tells whether the value is known only when the row is locked.
func (w write) readsRow() bool {
	return w.set != nil && slices.ContainsFunc(expr.Paths(w.set.Value), func(p *expr.Path) bool { return p.Root == expr.RootRow })
}
