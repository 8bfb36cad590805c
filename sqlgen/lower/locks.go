package lower

import (
	"cmp"
	"iter"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// The order of locks is one rule: rows that are going to be written are locked first, those that values are made of
// before those that are made of them, table after table, and the rows of a table by their ids. A keeper calls the next
// one when it writes, so a single way through the tables has that order; where ways branch, the first keeper locks the
// rows on all of them. A create with nested rows locks what all of them lead to, and a delete what it cascades to. A
// statement that moves a key comes to rows before its own: an action locks them first, any other statement takes a turn
// (turn.go). What this does not reach is left to Postgres, which ends one of the statements that wait in a circle, and
// to the server, which repeats an action: rows of one table that lead to each other, dependencies that run both ways,
// rows that a statement locks in an order of its own, and transactions of several statements.

// reaching is the rows of tables that a change leads to.
type reaching struct {
	*lowering
	rows map[*model.Model]*reached
}

// reached is the rows of one table that a change leads to.
type reached struct {
	model    *model.Model
	isHeld   bool            // whether the statement has locked them, or made them, by itself
	isWhole  bool            // whether the rows are new or gone: all columns count
	columns  map[string]bool // those that change
	strength string          // of the lock
	ways     []lockWay
}

// lockWay is how rows are found.
type lockWay struct {
	from       *model.Model // rows that are reached before; nil for given ids
	key, match string       // the column there, and that of the rows, which have the same value
	ids        pg.Expr      // of the rows, if they are given
}

func (l *lowering) newReach() *reaching { return &reaching{l, map[*model.Model]*reached{}} }

// strengths of locks, each above those before it.
var strengths = []string{"", "share", "no key update", "update"}

// at returns the rows of a model, with another way to them, if one is given. The lock is at least of a strength.
func (r *reaching) at(m *model.Model, strength string, ways ...lockWay) *reached {
	rows := r.rows[m]
	if rows == nil {
		rows = &reached{model: m, columns: map[string]bool{}}
		r.rows[m] = rows
	}
	if slices.Index(strengths, strength) > slices.Index(strengths, rows.strength) {
		rows.strength = strength
	}
	for _, w := range ways {
		if w.ids != nil || !slices.Contains(rows.ways, w) {
			rows.ways = append(rows.ways, w)
		}
	}
	return rows
}

// inOrder returns the rows in the order of the locks.
func (r *reaching) inOrder() []*reached {
	var list []*reached
	for _, m := range r.schema.Models {
		if rows := r.rows[m]; rows != nil {
			list = append(list, rows)
		}
	}
	slices.SortStableFunc(list, func(a, b *reached) int { return cmp.Compare(r.rank(a.model), r.rank(b.model)) })
	return list
}

// follow adds the rows to which changes lead further. It tells whether all ways run in the order of the tables.
func (r *reaching) follow() bool {
	hasOrder := true
	done := map[*model.Model]bool{}
	for {
		list := r.inOrder()
		at := slices.IndexFunc(list, func(rows *reached) bool { return !done[rows.model] })
		if at < 0 {
			return hasOrder
		}
		rows := list[at]
		done[rows.model] = true
		for _, s := range r.stepsFrom(rows) {
			if s.isOwn(rows.model) && !rows.isWhole && !rows.columns[s.via.match] {
				continue // whoever changes the third row comes to the row itself, which is locked
			}
			if s.isOwn(rows.model) && (done[s.via.third] || r.rows[s.via.third] != nil && !rows.isHeld || s.via.third == rows.model) {
				hasOrder = false
				continue
			}
			if s.isOwn(rows.model) {
				r.at(s.via.third, r.copyStrength(rows.model, s.via.third), lockWay{from: rows.model, key: s.via.match, match: "id"})
				continue
			}
			to := r.rows[s.to]
			switch {
			case to != nil && slices.Contains(rows.ways, lockWay{from: s.to, key: "id", match: s.key}):
				continue // a row that is deleted keeps nothing
			case to != nil && to.isWhole || s.via != nil && s.via.third == s.to || done[s.to] || r.rank(s.to) <= r.rank(rows.model):
				hasOrder = false
				continue
			}
			r.step(s, lockWay{from: rows.model, key: s.key, match: s.match})
		}
	}
}

// step adds the rows that a step writes, to which a way leads.
func (r *reaching) step(s *keepStep, way lockWay) {
	if s.via != nil {
		way.match = "id"
		r.at(s.via.third, "no key update", way)
		way = lockWay{from: s.via.third, key: "id", match: s.match}
	}
	rows := r.at(s.to, "no key update", way)
	for _, p := range s.parts {
		rows.columns[p.column] = true
	}
}

// stepsFrom returns the steps for changes of some rows, and adds the columns that follow them.
func (l *lowering) stepsFrom(rows *reached) []*keepStep {
	m := rows.model
	own := slices.DeleteFunc(slices.Clone(l.stepsOf(m)), func(s *keepStep) bool { return !s.isOwn(m) })
	l.closure(m, func(column, source string) bool {
		isNew := rows.columns[source] && !rows.columns[column]
		rows.columns[column] = rows.columns[column] || isNew
		for _, s := range own {
			for _, p := range s.parts {
				if rows.columns[p.across.match] || slices.ContainsFunc(p.across.own, func(c string) bool { return rows.columns[c] }) {
					isNew = isNew || !rows.columns[p.column]
					rows.columns[p.column] = true
				}
			}
		}
		return isNew
	})
	var steps []*keepStep
	for _, s := range l.stepsOf(m) {
		if rows.isWhole && !s.isCopied || slices.ContainsFunc(append(s.watched(m), s.key), func(c string) bool { return rows.columns[c] }) {
			steps = append(steps, s)
		}
	}
	return steps
}

// changeOf follows a change of rows of a model: of all their columns, if none is given.
func (l *lowering) changeOf(m *model.Model, columns ...string) (r *reaching, hasOrder bool) {
	r = l.newReach()
	rows := r.at(m, "")
	rows.isHeld, rows.isWhole = true, columns == nil
	for _, c := range columns {
		rows.columns[c] = true
	}
	return r, r.follow()
}

// isOrdered tells whether the triggers that a change calls lock rows in the order of the tables by themselves, each
// table's at once. last is the place of the table of the last ones.
func (l *lowering) isOrdered(rows *reached, last *int) bool {
	for _, s := range l.stepsFrom(rows) {
		if s.isOwn(rows.model) {
			continue
		}
		if s.via != nil || l.rank(s.to) <= *last {
			return false
		}
		*last = l.rank(s.to)
		next := &reached{model: s.to, columns: map[string]bool{}}
		for _, p := range s.parts {
			next.columns[p.column] = true
		}
		if !l.isOrdered(next, last) {
			return false
		}
	}
	return true
}

// lockAll has a keeper lock the rows on all ways before its first step, where these would not have the order.
func (k *keeper) lockAll(steps []*keepStep) {
	var watched []string
	for _, s := range steps {
		watched = union(watched, append(s.watched(k.model), s.key))
	}
	update := k.locks(watched)
	written := k.locks(nil)
	if !k.carries() {
		written = nil
	}
	if update != nil {
		isChanged := &pg.Exists{Query: k.changedKeys("id", watched)}
		update = append([]pg.Statement{pg.IfThen(pg.Negate(isChanged), &pg.Return{Value: pg.Null()})}, update...)
	}
	switch {
	case update != nil && written != nil:
		k.paragraph(allLocked, &pg.If{Branches: []pg.IfBranch{{Condition: isUpdate, Then: update}}, Else: written})
	case update != nil:
		k.paragraph(allLocked, pg.IfThen(isUpdate, update...))
	case written != nil:
		k.paragraph(allLocked, pg.IfThen(pg.Negate(isUpdate), written...))
	}
}

const allLocked = "All rows are locked before any is written, in the one order of the tables."

// locks locks the rows to which a change leads, of all columns if none is given. It returns none if the triggers have the
// order by themselves, or there is none.
func (k *keeper) locks(columns []string) []pg.Statement {
	r, hasOrder := k.changeOf(k.model, columns...)
	if last := -1; !hasOrder || k.isOrdered(r.rows[k.model], &last) {
		return nil
	}
	rows := func(name, key string) *pg.Select { return k.rows(name, pg.Output{Value: pg.Col(k.model.Table, key)}) }
	for _, reached := range r.rows {
		for i, w := range reached.ways {
			if w.from != k.model {
				continue
			}
			keys := rows(writtenRows, w.key)
			if columns != nil {
				keys = rows(newRows, w.key)
				keys.UnionAll = []*pg.Select{rows(oldRows, w.key)}
			}
			reached.ways[i] = lockWay{ids: &pg.ArrayOf{Query: keys}, match: w.match}
		}
	}
	return r.statements(locker{
		schema:   appSchema,
		variable: func(table string) *pg.Variable { return k.variable("__"+table+"_ids", "text[]") },
		lock:     func(rows *reached, ids pg.Expr) pg.Statement { return lockRows(rows.model, rows.strength, "id", ids) },
	})
}

// lockDeleted has a delete lock the rows to which it leads, if triggers concern those that it cascades to.
func (l *lowering) lockDeleted(b *builder, where pg.Expr) {
	r := l.newReach()
	root := r.at(b.model, "update", lockWay{ids: &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.Col(b.table, "id")}}, From: pg.Ref(relatedSchema, b.table), Where: where,
	}}, match: "id"})
	root.isWhole = true
	if concerns, isTree := r.cascade(b.model); !concerns || !isTree || !r.follow() {
		return
	}
	b.step("All rows to which the delete leads are locked first, in the one order of the tables.", r.statements(l.lockerOf(b))...)
}

// cascade adds the rows that a delete of rows deletes or changes by foreign keys. It tells whether triggers concern them,
// and whether they are of other tables each.
func (r *reaching) cascade(m *model.Model) (concerns, isTree bool) {
	isTree = true
	for _, c := range r.schema.Models {
		for _, f := range c.Fields {
			if f.Target != m || f.FK == nil || f.Computed != nil || f.OnDelete != model.Cascade && f.OnDelete != model.SetNull {
				continue
			}
			if c == m || r.rows[c] != nil && r.rows[c].isWhole {
				return concerns, false
			}
			rows := r.at(c, "no key update", lockWay{from: m, key: "id", match: f.FK.Column})
			rows.columns[f.FK.Column] = true
			if f.OnDelete == model.Cascade {
				rows.isWhole, rows.strength = true, "update"
			}
			concerns = concerns || len(r.stepsFrom(rows)) > 0
			if f.OnDelete == model.Cascade {
				more, isStillTree := r.cascade(c)
				concerns, isTree = concerns || more, isTree && isStillTree
			}
		}
	}
	return concerns, isTree
}

// locker is how a function locks rows.
type locker struct {
	schema   string                               // where it finds them
	variable func(table string) *pg.Variable      // holds ids of rows
	lock     func(*reached, pg.Expr) pg.Statement // locks rows that have these
}

// lockerOf is for actions, which have no right to lock rows by themselves.
func (l *lowering) lockerOf(b *builder) locker {
	return locker{
		schema:   relatedSchema,
		variable: func(table string) *pg.Variable { return b.variable("v_"+table+"_ids", "text[]", nil) },
		lock: func(rows *reached, ids pg.Expr) pg.Statement {
			return &pg.Perform{Value: pg.Fn("platform.lock_rows", pg.Str(rows.model.Table), pg.Str(rows.strength), ids)}
		},
	}
}

// statements locks the rows, in the order of the locks. A variable holds the ids of those where ways begin.
func (r *reaching) statements(by locker) []pg.Statement {
	var statements []pg.Statement
	list := r.inOrder()
	held := map[*model.Model]pg.Expr{}
	selectOf := func(m *model.Model, column, match string, among pg.Expr) *pg.Select {
		return &pg.Select{Columns: []pg.Output{{Value: pg.Col(m.Table, column)}}, From: pg.Ref(by.schema, m.Table), Where: isAnyOf(m.Table, match, among)}
	}
	var idsOf func(rows *reached) pg.Expr
	idsOf = func(rows *reached) pg.Expr {
		if held[rows.model] != nil {
			return held[rows.model]
		}
		var found []*pg.Select
		for _, w := range rows.ways {
			among := w.ids
			if w.from != nil {
				among = idsOf(r.rows[w.from])
			}
			if w.from != nil && w.key != "id" {
				among = &pg.ArrayOf{Query: selectOf(w.from, w.key, "id", among)}
			}
			if w.match != "id" {
				among = &pg.ArrayOf{Query: selectOf(rows.model, "id", w.match, among)}
			}
			if query, isQuery := among.(*pg.ArrayOf); isQuery && query.Query.UnionAll == nil {
				found = append(found, query.Query)
			} else {
				found = append(found, &pg.Select{Columns: []pg.Output{{Value: pg.Fn("unnest", among)}}})
			}
		}
		all := *found[0]
		all.UnionAll = found[1:]
		ids := pg.Expr(&pg.ArrayOf{Query: &all})
		if slices.ContainsFunc(list, func(next *reached) bool {
			return slices.ContainsFunc(next.ways, func(w lockWay) bool { return w.from == rows.model })
		}) {
			v := by.variable(rows.model.Table)
			statements = append(statements, &pg.Assign{Variable: v, Value: ids})
			ids = v
		}
		held[rows.model] = ids
		return ids
	}
	for _, rows := range list {
		if !rows.isHeld {
			ids := idsOf(rows)
			statements = append(statements, by.lock(rows, ids))
		}
	}
	return statements
}

// lockLinked has a create with nested rows lock the rows to which all of them lead: their triggers run one behind the
// other. It also has it lock the rows from which those of an array copy, if triggers write several of these: each row
// of the array locks its own when it is inserted.
func (c *creation) lockLinked(l *lowering) {
	all, copies := l.newReach(), l.newReach()
	leading := 0
	for _, n := range c.inserted {
		leads := false
		for _, w := range n.level.writes {
			to := w.field.FKOf
			if to == nil {
				continue
			}
			ids := &pg.Select{Columns: []pg.Output{{Value: c.column(n.level, w.field, n.rows)}}, From: n.rows.from, Joins: n.rows.joins}
			way := lockWay{match: "id", ids: &pg.ArrayOf{Query: ids}}
			isCopied := func(p *part) bool { return p.kind == copied && p.link() == w.field.Column }
			if slices.ContainsFunc(l.partsOf(n.level.model), isCopied) {
				all.at(to.Target, l.copyStrength(n.level.model, to.Target), way)
				if n.rows.from != nil && len(l.partsOf(to.Target)) > 0 {
					copies.at(to.Target, l.copyStrength(n.level.model, to.Target), way)
				}
			}
			for _, s := range l.stepsOf(n.level.model) {
				if s.key == w.field.Column && (s.match == "id" || s.via != nil) {
					leads = true
					all.step(s, way)
				}
			}
		}
		if leads {
			leading++
		}
	}
	if leading < 2 || !all.follow() {
		all = copies
	}
	if statements := all.statements(l.lockerOf(c.b)); statements != nil {
		c.b.step("Rows to which the new ones lead are locked first, in the one order of the tables.", statements...)
	}
}

func isAnyOf(table, column string, array pg.Expr) pg.Expr {
	return &pg.Any{Value: pg.Col(table, column), Op: "=", Array: array}
}

// closure calls a function for each column that follows others, with each of these, until it finds nothing new.
func (l *lowering) closure(m *model.Model, note func(column, source string) (isNew bool)) {
	for again := true; again; {
		again = false
		for column, source := range l.generatedFrom(m) {
			again = note(column, source) || again
		}
	}
}

// generatedFrom yields each column that follows others of its row in a model's table, with each of these: those that
// Postgres generates, and copies with the key that they are read by.
func (l *lowering) generatedFrom(m *model.Model) iter.Seq2[string, string] {
	return func(yield func(column, source string) bool) {
		for _, p := range l.partsOf(m) {
			if p.kind == copied && !yield(p.column, p.link()) {
				return
			}
		}
		for _, f := range m.Stored() {
			if f.Computed == nil || l.derivedBy(f) != nil {
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

// rank is the place of a model in the order of the dependencies.
func (l *lowering) rank(m *model.Model) int {
	if l.ranks == nil {
		l.ranks = l.rankAll()
	}
	return l.ranks[m]
}

// rankAll puts each model before those whose rows are made of its rows, as far as dependencies run one way.
func (l *lowering) rankAll() map[*model.Model]int {
	ranks := map[*model.Model]int{}
	visited := map[*model.Model]bool{}
	var visit func(m *model.Model)
	visit = func(m *model.Model) {
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

// leadsTo tells whether a change of one model's rows makes keepers write rows of another.
func (l *lowering) leadsTo(from, to *model.Model) bool {
	reached := []*model.Model{from}
	for i := 0; i < len(reached); i++ {
		for _, p := range l.parts {
			if p.other() != reached[i] || slices.Contains(reached, p.owner) {
				continue
			}
			if p.owner == to {
				return true
			}
			reached = append(reached, p.owner)
		}
	}
	return false
}
