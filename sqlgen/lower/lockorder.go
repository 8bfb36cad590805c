package lower

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// Keepers of two statements never wait for each other in a circle if both lock rows of several tables in one order of
// the tables, and rows of one table in the order of their ids. The order of the tables is that of the dependencies: a
// table comes before those whose rows are made of its rows.
//
// The first step of a keeper calls the keepers behind it before the second step begins. So locks are in that order
// where a single way leads to each table. Where two ways lead to one, or the first way leads further than the second
// one begins, the keeper locks the rows on all ways before its first step, table after table. What it has found by then
// stays true. A row that is linked to a locked row is locked too, and no other row can be linked to that one: it would
// have to lock it. The keeper may lock rows that no step writes, since their values turn out to be the same.
//
// A create with nested rows is one statement that inserts rows into several tables. The keeper of its first table runs
// before the others, and locks all rows for them too.
//
// Where dependencies run in a circle there is no such order, and Postgres may end one of two statements.

// orderLocks gives a keeper the locks that it needs before its first step.
func (l *lowering) orderLocks(k *pg.KeeperEvent, m *schema.Model) {
	w := l.walk(k, m)
	if !w.hasOrder() {
		w = l.walkAlone(k, m) // without what creates insert beside its rows
	}
	if !w.hasOrder() || w.keepers < 2 && !w.meets && !w.repeats && w.isOrdered(w.held) {
		return
	}
	k.IfSeveral = w.keepers < 2 && !w.meets && w.isOrdered(distinct(w.held))
	slices.SortStableFunc(w.locks, func(a, b *pg.Lock) int { return cmp.Compare(w.rankOf(a), w.rankOf(b)) })
	k.Locks = needed(w.locks)
}

// needed returns locks without the rows that the statement has locked itself and from which no way leads on.
func needed(locks []*pg.Lock) []*pg.Lock {
	return slices.DeleteFunc(slices.Clone(locks), func(lock *pg.Lock) bool {
		return lock.IsHeld && !slices.ContainsFunc(locks, func(next *pg.Lock) bool {
			return slices.ContainsFunc(next.Ways, func(w *pg.Way) bool { return w.From == lock.Table && !w.IsChanged && !w.IsMoved })
		})
	})
}

// walk follows the steps of a keeper, and those for rows that creates insert beside its rows.
func (l *lowering) walk(k *pg.KeeperEvent, m *schema.Model) *lockWalk {
	w := l.walkAlone(k, m)
	if k.Event == "insert" {
		w.beside(l.createdOf(m), "", changedRows)
	}
	return w
}

// walkAlone follows the steps of a keeper.
func (l *lowering) walkAlone(k *pg.KeeperEvent, m *schema.Model) *lockWalk {
	w := l.newWalk(m, k.Event == "insert")
	w.steps(m, "", changedRows, k.Steps)
	return w
}

func (l *lowering) newWalk(m *schema.Model, isNew bool) *lockWalk {
	return &lockWalk{
		lowering: l, own: m, within: []*schema.Model{m}, seen: map[*pg.Keep]*visit{},
		isNew: map[string]bool{"": isNew}, parents: map[string]parent{},
	}
}

// rowOrigin is how a walk has come to some rows.
type rowOrigin int

const (
	followedRows rowOrigin = iota // a keeper writes them
	changedRows                   // the statement writes them, and they are those of the keeper
	besideRows                    // a create inserts them beside those
)

// createdOf returns the levels of all creates that insert a row of a model.
func (l *lowering) createdOf(m *schema.Model) []*level {
	var roots []*level
	for _, a := range l.schema.Actions {
		if a.Kind == schema.Create && !a.Custom && a.Model == m {
			roots = append(roots, levels(a))
		}
	}
	return roots
}

// beside follows the steps of the keepers for rows that creates insert beside others, relation by relation. They run
// after the keeper of the first row, in an order that Postgres chooses.
func (w *lockWalk) beside(parents []*level, way string, o rowOrigin) {
	var children []*level
	for _, p := range parents {
		children = append(children, p.children...)
	}
	for i, c := range children {
		isSame := func(other *level) bool { return other.field == c.field }
		if slices.ContainsFunc(children[:i], isSame) || !slices.ContainsFunc(children, func(other *level) bool { return isSame(other) && w.locksBeside(other) }) {
			continue
		}
		if slices.Contains(w.within, c.model) {
			w.isCircular = true
			return
		}
		to := &pg.Way{From: c.parent.model.Table, Key: "id", Match: "id", IsChanged: o == changedRows}
		if back := c.back(); back != nil {
			to.Match = back.Column
		} else {
			to.Key = c.field.FK.Column
		}
		w.find(c.model, true, to)
		next := fmt.Sprintf("%s.%s %d", way, c.field.Name, i)
		w.isNew[next] = true
		if back := c.back(); back != nil {
			w.parents[next] = parent{c.parent.model, back.Column, way}
		}
		before := len(w.held)
		w.within = append(w.within, c.model)
		w.steps(c.model, next, besideRows, w.insertSteps(c.model))
		w.within = w.within[:len(w.within)-1]
		if len(w.held) > before {
			w.keepers++
		}
		w.beside(slices.DeleteFunc(slices.Clone(children), func(other *level) bool { return !isSame(other) }), next, besideRows)
	}
}

// locksBeside tells whether keepers lock rows for those of a level, or for those below it.
func (w *lockWalk) locksBeside(c *level) bool {
	return len(w.insertSteps(c.model)) > 0 || slices.ContainsFunc(c.children, w.locksBeside)
}

// lockWalk follows the steps of a keeper, and those of the keepers that they call, in the order in which they lock
// rows.
type lockWalk struct {
	*lowering
	own           *schema.Model // the keeper's
	held          []held
	written       []*pg.Keep // the steps that write rows which existed before
	locks         []*pg.Lock
	within        []*schema.Model // the models on the way
	seen          map[*pg.Keep]*visit
	repeats       bool // whether a way leads to the same rows again
	meets         bool // whether two ways lead to the rows of one table, beside what held tells
	isCircular    bool
	isNew         map[string]bool   // the ways that lead to rows which the statement inserts
	parents       map[string]parent // where ways come from whose rows point back: to a new row, or one that is deleted
	keepers       int               // how many keepers lock rows for rows beside the keeper's
	keepsCascaded bool              // whether keepers concern rows that a delete cascades to
}

// parent is the row to which others point that a create inserts beside it, or that a delete cascades to.
type parent struct {
	model  *schema.Model
	column string // the key of those others
	way    string
}

// visit is what a step of a keeper that others call has locked, with all that it calls. The number of ways through the
// steps grows exponentially, so the walk follows each step once.
type visit struct {
	way      string
	from, to int // in held
	hasEnded bool
}

// held is a set of rows that a step locks. If a statement concerns one row, sets with the same way are of the same row.
type held struct {
	table    *schema.Model
	way      string
	isShared bool // whether they are only read
	isMany   bool // whether one row leads to several
}

// steps follows the steps for rows of a model, which a way has led to.
func (w *lockWalk) steps(m *schema.Model, way string, o rowOrigin, steps []pg.KeeperStep) {
	for _, s := range steps {
		s, ok := s.(*pg.Keep)
		if !ok {
			continue
		}
		if before, ok := w.seen[s]; ok {
			w.again(before, way)
			continue
		}
		now := &visit{way: way, from: len(w.held)}
		w.seen[s] = now
		w.step(m, way, o, s)
		now.to, now.hasEnded = len(w.held), true
	}
}

// again notes that a way leads to a step which the walk has followed before.
func (w *lockWalk) again(before *visit, way string) {
	if !before.hasEnded {
		w.isCircular = true
		return
	}
	for _, h := range w.held[before.from:before.to] {
		w.repeats = true
		if way != before.way || h.isMany {
			w.meets = true
		}
	}
}

func (w *lockWalk) step(m *schema.Model, way string, o rowOrigin, s *pg.Keep) {
	to := w.modelOf(s.Table)
	if readsForItself(to == m, s) {
		source := &pg.Way{From: m.Table, Key: s.Link, Match: "id"}
		if o == changedRows {
			w.find(to, true, &pg.Way{From: m.Table, Key: "id", Match: "id", Watched: s.Watched, IsChanged: true})
			source.Watched, source.IsMoved = []string{s.Link}, true
		}
		if o != followedRows {
			w.hold(w.modelOf(s.Source), way+"."+s.Link, !s.IsBack, source)
		}
		if !w.isNew[way] {
			w.written = append(w.written, s)
		}
		w.steps(to, way, followedRows, w.following(s))
		return
	}
	if p := w.parents[way]; p.model == to && s.Key == p.column && s.Match == "id" {
		if to == w.own {
			w.find(to, true, &pg.Way{From: to.Table, Key: "id", Match: "id", IsChanged: true})
		}
		if w.isNew[way] {
			w.steps(to, p.way, followedRows, w.following(s))
		}
		return // a row that is deleted keeps nothing
	}
	found := &pg.Way{From: m.Table, Key: s.Key, Match: s.Match}
	if o == changedRows {
		found.Watched, found.IsChanged = s.Watched, true
	}
	if s.Through != "" {
		third := *found
		third.Match = "id"
		w.hold(w.modelOf(s.Through), way+"."+s.Key, false, &third)
		found = &pg.Way{From: s.Through, Key: "id", Match: s.Match}
	}
	way += "." + s.Key
	if s.Match != "id" {
		way += fmt.Sprintf(" %d", len(w.held)) // many rows: no two steps need to find the same ones
	}
	w.hold(to, way, false, found)
	if w.isCircular {
		return
	}
	w.written = append(w.written, s)
	w.within = append(w.within, to)
	w.steps(to, way, followedRows, w.following(s))
	w.within = w.within[:len(w.within)-1]
}

// readsForItself tells whether a step reads values of other rows for the changed rows themselves.
func readsForItself(isOwn bool, s *pg.Keep) bool {
	return isOwn && s.Match == "id" && s.Key == "id"
}

// hold notes that a step locks rows.
func (w *lockWalk) hold(m *schema.Model, way string, shares bool, found *pg.Way) {
	if slices.Contains(w.within, m) {
		w.isCircular = true
		return
	}
	w.held = append(w.held, held{m, way, shares, found.Match != "id"})
	lock := w.find(m, false, found)
	lock.IsHeld = false
	switch {
	case !shares && lock.Strength != "update":
		lock.Strength = "no key update"
	case lock.Strength == "":
		lock.Strength = "share"
	}
}

// lockOf returns the lock of a model's rows.
func (w *lockWalk) lockOf(m *schema.Model) *pg.Lock { return w.find(m, false, nil) }

// find notes a way to rows of a model, if one is given. Those of the statement are locked by it.
func (w *lockWalk) find(m *schema.Model, isOwn bool, found *pg.Way) *pg.Lock {
	at := slices.IndexFunc(w.locks, func(o *pg.Lock) bool { return o.Table == m.Table })
	if at < 0 {
		at = len(w.locks)
		w.locks = append(w.locks, &pg.Lock{Table: m.Table, IsHeld: isOwn})
	}
	lock := w.locks[at]
	if found == nil {
		return lock
	}
	for _, o := range lock.Ways {
		if o.From == found.From && o.Key == found.Key && o.Match == found.Match && o.IsChanged == found.IsChanged && o.IsMoved == found.IsMoved {
			o.Watched = union(o.Watched, found.Watched)
			return lock
		}
	}
	lock.Ways = append(lock.Ways, found)
	return lock
}

// union returns the columns of one list, then those that only another one has.
func union(columns, others []string) []string {
	all := slices.Clone(columns)
	for _, c := range others {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// following returns the steps for rows whose columns a step has written, the same ones each time.
func (l *lowering) following(s *pg.Keep) []pg.KeeperStep {
	steps, ok := l.followers[s]
	if !ok {
		m := l.modelOf(s.Table)
		written := l.writtenBy(m, s)
		for _, next := range l.updateSteps(m) {
			if keep, ok := next.(*pg.Keep); ok && slices.ContainsFunc(keep.Watched, func(c string) bool { return written[c] }) {
				steps = append(steps, next)
			}
		}
		l.followers[s] = steps
	}
	return steps
}

// writtenBy returns the columns that a step writes, and those that Postgres generates from them.
func (l *lowering) writtenBy(m *schema.Model, s *pg.Keep) map[string]bool {
	written := map[string]bool{}
	for _, c := range s.Columns() {
		written[c] = true
	}
	l.follow(m, func(column, source string) bool {
		isNew := written[source] && !written[column]
		written[column] = written[column] || isNew
		return isNew
	})
	return written
}

// follow calls a function for each column that follows others, with each of these, until it finds nothing new.
func (l *lowering) follow(m *schema.Model, note func(column, source string) (isNew bool)) {
	for again := true; again; {
		again = false
		for column, source := range l.generatedFrom(m) {
			again = note(column, source) || again
		}
	}
}

// generatedFrom yields each column that follows others of its row in a model's table, with each of these: those that
// Postgres generates, and copies with the key that they are read by.
func (l *lowering) generatedFrom(m *schema.Model) iter.Seq2[string, string] {
	return func(yield func(column, source string) bool) {
		for _, p := range l.partsOf(m) {
			if p.kind == copied && !yield(p.column, p.link()) {
				return
			}
		}
		for _, f := range m.Stored() {
			if f.Computed == nil || l.keptBy(f) != nil {
				continue
			}
			for source := range pg.Mentions(l.generated(f, m.Table)).Columns() {
				if !yield(f.Column, source) {
					return
				}
			}
		}
	}
}

// updateSteps returns the steps of a model's keeper for updates, the same ones each time.
func (l *lowering) updateSteps(m *schema.Model) []pg.KeeperStep { return l.stepsOf(m, "update") }

// insertSteps returns those for inserts.
func (l *lowering) insertSteps(m *schema.Model) []pg.KeeperStep { return l.stepsOf(m, "insert") }

func (l *lowering) stepsOf(m *schema.Model, event string) []pg.KeeperStep {
	steps, ok := l.stepsFor[stepsKey{m, event}]
	if !ok {
		steps = l.keeperEvent(m, event).Steps
		l.stepsFor[stepsKey{m, event}] = steps
	}
	return steps
}

// stepsKey tells for which rows steps are, and for which event.
type stepsKey struct {
	model *schema.Model
	event string
}

// isOrdered tells whether rows are locked in the order of their tables, and those of each table at once.
func (w *lockWalk) isOrdered(sets []held) bool {
	return slices.IsSortedFunc(sets, func(a, b held) int { return cmp.Compare(w.rank(a.table), w.rank(b.table)) }) &&
		len(slices.CompactFunc(slices.Clone(sets), func(a, b held) bool { return a.table == b.table })) == len(sets)
}

// hasOrder tells whether the rows can be locked in the order of their tables.
func (w *lockWalk) hasOrder() bool { return !w.isCircular && !w.goesBack() }

// goesBack tells whether a way leads to a table from one that does not come before it.
func (w *lockWalk) goesBack() bool {
	return slices.ContainsFunc(w.locks, func(lock *pg.Lock) bool {
		return slices.ContainsFunc(lock.Ways, func(o *pg.Way) bool {
			at := slices.IndexFunc(w.locks, func(other *pg.Lock) bool { return other.Table == o.From })
			isHeld := o.From == w.own.Table || at >= 0 && w.locks[at].IsHeld
			return !isHeld && w.rank(w.modelOf(o.From)) >= w.rank(w.modelOf(lock.Table))
		})
	})
}

// distinct returns sets without those whose rows are locked already, if the statement concerns one row.
func distinct(sets []held) []held {
	var first []held
	for _, h := range sets {
		if !slices.Contains(first, h) {
			first = append(first, h)
		}
	}
	return first
}

// rankOf is the place of a lock. The rows of the statement itself are known first.
func (w *lockWalk) rankOf(lock *pg.Lock) int {
	if lock.IsHeld {
		return -1
	}
	return w.rank(w.modelOf(lock.Table))
}

// rank is the place of a model in the order of the dependencies.
func (l *lowering) rank(m *schema.Model) int {
	if l.ranks == nil {
		l.ranks = l.rankAll()
	}
	return l.ranks[m]
}

// rankAll puts each model before those whose rows are made of its rows, as far as dependencies run one way.
func (l *lowering) rankAll() map[*schema.Model]int {
	ranks := map[*schema.Model]int{}
	visited := map[*schema.Model]bool{}
	var visit func(m *schema.Model)
	visit = func(m *schema.Model) {
		if visited[m] {
			return
		}
		visited[m] = true
		for _, p := range l.parts {
			third := p.owner
			if p.across != nil {
				third = p.across.third
			}
			if p.other() == m {
				visit(third)
			}
			if third == m {
				visit(p.owner)
			}
		}
		ranks[m] = len(l.schema.Models) - len(ranks)
	}
	for _, m := range l.schema.Models {
		visit(m)
	}
	return ranks
}

// modelOf returns the model of a table.
func (l *lowering) modelOf(table string) *schema.Model {
	at := slices.IndexFunc(l.schema.Models, func(m *schema.Model) bool { return m.Table == table })
	return l.schema.Models[at]
}
