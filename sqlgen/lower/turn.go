package lower

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// A statement that moves a key has locked its own row before its trigger comes to the row to which the key leads now.
// The order of the tables is the other way round: a statement that changes that row locks it, and then the rows that
// copy from it. No trigger can lock the one before the other, since a statement locks its rows before any trigger knows
// them.
//
// So such statements take turns, before they lock anything. Each key that computed fields lead along has a turn. A
// statement that moves the key has it alone. Statements that may come from the row behind the key to one that has the
// key share it: they run side by side. All turns are taken in the order of their names.
//
// Then no statements that change one row each wait in a circle. Assume that some do. All but those that move keys wait
// for a row behind those that they hold, in the order of the tables and ids. So one of the circle waits for a row before
// those that it holds: it has moved a key. Take the one whose key is in the last of the tables. The next in the circle
// holds the row to which the key leads. The circle leads back to the row with the key, and never beyond its table. So
// the next one waits for a row that is not beyond it either: it shares the turn, which the first one has alone. They do
// not run at once. New rows make no difference, since nobody waits for them.
//
// This is not so for rows that a statement locks before its triggers run, in an order of its own: several rows that it
// changes, and rows that a cascade deletes. Delete actions lock the latter before they begin.
//
// Nor is it so for statements that begin with rows locked. Among several statements of a transaction the order is that
// of the user. So triggers take turns only for the first statement of a transaction that locks rows. The turn lasts
// until the transaction ends, as the locks do.
//
// Update actions lock the row to which a key will lead before they lock their own, so they take no step back, and no
// turn. An action whose @set reads the key from the row itself cannot: it takes the turn.

// link is a key that computed fields lead along.
type link struct {
	owner  *schema.Model
	column string
	to     *schema.Model
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

// takeTurns gives a table the triggers that take turns for the statements of an event: one trigger for each list of
// columns. The keeper writes what depends on the rows; nothing does if it has no step.
func (l *lowering) takeTurns(t *pg.Table, m *schema.Model, k *pg.KeeperEvent) {
	w := l.walk(k, m)
	var triggers []*pg.Trigger
	for _, link := range l.links() {
		columns, moves := l.moving(link, m, k)
		moves = moves || w.writes(link)
		shares := w.comesFrom(link, k.Event)
		if shares {
			columns = union(columns, l.settable(m, k))
		}
		if !moves && !shares || k.Event == "update" && columns == nil {
			continue
		}
		if k.Event != "update" {
			columns = nil
		}
		at := slices.IndexFunc(triggers, func(g *pg.Trigger) bool { return slices.Equal(g.Columns, columns) })
		if at < 0 {
			at = len(triggers)
			name := pg.TurnTriggers + k.Event
			if at > 0 {
				name += fmt.Sprintf("_%d", at+1)
			}
			triggers = append(triggers, &pg.Trigger{
				Name: name, Timing: "before " + k.Event, Columns: columns, PerStatement: true, When: locksFirst(), Function: "platform.tg_take_turn",
			})
		}
		how := "shared"
		if moves {
			how = "alone"
		}
		triggers[at].Arguments = append(triggers[at].Arguments, link.name(), how)
	}
	t.Triggers = append(t.Triggers, triggers...)
}

// locksFirst is the condition of a trigger under which its statement is the first of its transaction to lock rows.
func locksFirst() pg.Expr {
	return pg.AllOf(pg.Eq(pg.Fn("pg_trigger_depth"), pg.Lit("0")), pg.IsNull(pg.Fn("pg_current_xact_id_if_assigned")))
}

// moving tells whether the statements of an event move a key of existing rows, and by which columns that they set.
func (l *lowering) moving(k link, m *schema.Model, keeper *pg.KeeperEvent) (columns []string, moves bool) {
	for _, s := range keeper.Steps {
		step := &pg.KeeperEvent{Event: keeper.Event, Steps: []pg.KeeperStep{s}}
		if l.walk(step, m).writes(k) {
			columns, moves = union(columns, l.settable(m, step)), true
		}
	}
	if keeper.Event == "update" && m == k.owner {
		step := &pg.KeeperEvent{Steps: []pg.KeeperStep{&pg.Keep{Watched: []string{k.column}}}}
		if own := l.settable(m, step); len(own) > 0 {
			columns, moves = union(columns, own), true
		}
	}
	return columns, moves
}

// isSetIn tells whether the key is a column of a model's rows that statements set.
func (k link) isSetIn(m *schema.Model) bool {
	return m == k.owner && slices.ContainsFunc(writtenColumnsOf(m), func(f *schema.Field) bool { return f.Column == k.column })
}

// shareLinked has an update lock the rows to which it will move keys, before it locks its own. So it needs no turn; nor
// does it if the request gives no key.
func (l *lowering) shareLinked(b *builder, values pg.Expr) {
	links := slices.Clone(l.links())
	slices.SortStableFunc(links, func(x, y link) int { return cmp.Compare(l.rank(x.to), l.rank(y.to)) })
	keeper := &pg.KeeperEvent{Event: "update", Steps: l.updateSteps(b.model)}
	var statements []pg.Statement
	var needTurn []pg.Expr // the conditions under which another row's key moves
	moves := false
	for _, k := range links {
		columns, _ := l.moving(k, b.model, keeper)
		for _, w := range levels(b.action).writes {
			if !slices.Contains(columns, w.field.Column) {
				continue
			}
			moves = true
			value := b.writtenValue(w, values, 0, inFunction)
			given := value.given
			if given == nil {
				given = pg.True()
			}
			if !k.isSetIn(b.model) || w.field.Column != k.column || w.readsRow() {
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

// writes tells whether the keepers called for a statement move a key of existing rows.
func (w *lockWalk) writes(k link) bool {
	return slices.ContainsFunc(w.written, func(s *pg.Keep) bool {
		return s.Table == k.owner.Table && slices.Contains(s.Columns(), k.column)
	})
}

// comesFrom tells whether a statement may hold a row behind a key when it waits for a row that is not beyond those with
// the key.
func (w *lockWalk) comesFrom(k link, event string) bool {
	holds := w.own == k.to && event != "insert"
	for _, h := range w.held {
		holds = holds || h.table == k.to && !h.isShared
	}
	return holds && slices.ContainsFunc(w.held, func(h held) bool {
		return w.rank(h.table) > w.rank(k.to) && w.rank(h.table) <= w.rank(k.owner)
	})
}

// settable returns the columns that statements can set of those that a keeper watches.
func (l *lowering) settable(m *schema.Model, k *pg.KeeperEvent) []string {
	watched := map[string]bool{}
	for _, s := range k.Steps {
		if s, ok := s.(*pg.Keep); ok {
			for _, c := range s.Watched {
				watched[c] = true
			}
		}
	}
	l.follow(m, func(column, source string) bool {
		isNew := watched[column] && !watched[source]
		watched[source] = watched[source] || isNew
		return isNew
	})
	var columns []string
	for _, f := range writtenColumnsOf(m) {
		if watched[f.Column] {
			columns = append(columns, f.Column)
		}
	}
	return columns
}
