package derive

import (
	"cmp"
	"iter"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/lower/value"
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

// Reaching is the rows of tables that a change leads to.
type Reaching struct {
	*Lowering
	rows map[*model.Model]*Reached
}

// Reached is the rows of one table that a change leads to.
type Reached struct {
	Model    *model.Model
	isHeld   bool            // whether the statement has locked them, or made them, by itself
	IsWhole  bool            // whether the rows are new or gone: all columns count
	columns  map[string]bool // those that change
	Strength string          // of the lock
	ways     []LockWay
}

// LockWay is how rows are found.
type LockWay struct {
	from       *model.Model // rows that are reached before; nil for given ids
	key, Match string       // the column there, and that of the rows, which have the same value
	Ids        pg.Expr      // of the rows, if they are given
}

// NewReach begins with no rows.
func (l *Lowering) NewReach() *Reaching { return &Reaching{l, map[*model.Model]*Reached{}} }

// strengths of locks, each above those before it.
var strengths = []string{"", "share", "no key update", "update"}

// At returns the rows of a model, with another way to them, if one is given. The lock is at least of a strength.
func (r *Reaching) At(m *model.Model, strength string, ways ...LockWay) *Reached {
	rows := r.rows[m]
	if rows == nil {
		rows = &Reached{Model: m, columns: map[string]bool{}}
		r.rows[m] = rows
	}
	if slices.Index(strengths, strength) > slices.Index(strengths, rows.Strength) {
		rows.Strength = strength
	}
	for _, w := range ways {
		if w.Ids != nil || !slices.Contains(rows.ways, w) {
			rows.ways = append(rows.ways, w)
		}
	}
	return rows
}

// inOrder returns the rows in the order of the locks.
func (r *Reaching) inOrder() []*Reached {
	var list []*Reached
	for _, m := range r.Schema.Models {
		if rows := r.rows[m]; rows != nil {
			list = append(list, rows)
		}
	}
	slices.SortStableFunc(list, func(a, b *Reached) int { return cmp.Compare(r.Rank(a.Model), r.Rank(b.Model)) })
	return list
}

// Follow adds the rows to which changes lead further. It tells whether all ways run in the order of the tables.
func (r *Reaching) Follow() bool {
	hasOrder := true
	done := map[*model.Model]bool{}
	for {
		list := r.inOrder()
		at := slices.IndexFunc(list, func(rows *Reached) bool { return !done[rows.Model] })
		if at < 0 {
			return hasOrder
		}
		rows := list[at]
		done[rows.Model] = true
		for _, s := range r.stepsFrom(rows) {
			if s.isOwn(rows.Model) && !rows.IsWhole && !rows.columns[s.Via.match] {
				continue // whoever changes the third row comes to the row itself, which is locked
			}
			if s.isOwn(rows.Model) && (done[s.Via.third] || r.rows[s.Via.third] != nil && !rows.isHeld || s.Via.third == rows.Model) {
				hasOrder = false
				continue
			}
			if s.isOwn(rows.Model) {
				r.At(s.Via.third, r.CopyStrength(rows.Model, s.Via.third), LockWay{from: rows.Model, key: s.Via.match, Match: "id"})
				continue
			}
			to := r.rows[s.to]
			switch {
			case to != nil && slices.Contains(rows.ways, LockWay{from: s.to, key: "id", Match: s.Key}):
				continue // a row that is deleted keeps nothing
			case to != nil && to.IsWhole || s.Via != nil && s.Via.third == s.to || done[s.to] || r.Rank(s.to) <= r.Rank(rows.Model):
				hasOrder = false
				continue
			}
			r.Step(s, LockWay{from: rows.Model, key: s.Key, Match: s.Match})
		}
	}
}

// Step adds the rows that a step writes, to which a way leads.
func (r *Reaching) Step(s *keepStep, way LockWay) {
	if s.Via != nil {
		way.Match = "id"
		r.At(s.Via.third, "no key update", way)
		way = LockWay{from: s.Via.third, key: "id", Match: s.Match}
	}
	rows := r.At(s.to, "no key update", way)
	for _, p := range s.parts {
		rows.columns[p.Column] = true
	}
}

// stepsFrom returns the steps for changes of some rows, and adds the columns that follow them.
func (l *Lowering) stepsFrom(rows *Reached) []*keepStep {
	m := rows.Model
	own := slices.DeleteFunc(slices.Clone(l.StepsOf(m)), func(s *keepStep) bool { return !s.isOwn(m) })
	l.closure(m, func(column, source string) bool {
		isNew := rows.columns[source] && !rows.columns[column]
		rows.columns[column] = rows.columns[column] || isNew
		for _, s := range own {
			for _, p := range s.parts {
				if rows.columns[p.across.match] || slices.ContainsFunc(p.across.own, func(c string) bool { return rows.columns[c] }) {
					isNew = isNew || !rows.columns[p.Column]
					rows.columns[p.Column] = true
				}
			}
		}
		return isNew
	})
	var steps []*keepStep
	for _, s := range l.StepsOf(m) {
		if rows.IsWhole && !s.isCopied || slices.ContainsFunc(append(s.watched(m), s.Key), func(c string) bool { return rows.columns[c] }) {
			steps = append(steps, s)
		}
	}
	return steps
}

// ChangeOf follows a change of rows of a model: of all their columns, if none is given.
func (l *Lowering) ChangeOf(m *model.Model, columns ...string) (r *Reaching, hasOrder bool) {
	r = l.NewReach()
	rows := r.At(m, "")
	rows.isHeld, rows.IsWhole = true, columns == nil
	for _, c := range columns {
		rows.columns[c] = true
	}
	return r, r.Follow()
}

// isOrdered tells whether the triggers that a change calls lock rows in the order of the tables by themselves, each
// table's at once. last is the place of the table of the last ones.
func (l *Lowering) isOrdered(rows *Reached, last *int) bool {
	for _, s := range l.stepsFrom(rows) {
		if s.isOwn(rows.Model) {
			continue
		}
		if s.Via != nil || l.Rank(s.to) <= *last {
			return false
		}
		*last = l.Rank(s.to)
		next := &Reached{Model: s.to, columns: map[string]bool{}}
		for _, p := range s.parts {
			next.columns[p.Column] = true
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
		watched = union(watched, append(s.watched(k.model), s.Key))
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
	r, hasOrder := k.ChangeOf(k.model, columns...)
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
			reached.ways[i] = LockWay{Ids: &pg.ArrayOf{Query: keys}, Match: w.Match}
		}
	}
	return r.Statements(Locker{
		Schema:   value.AppSchema,
		Variable: func(table string) *pg.Variable { return k.variable("__"+table+"_ids", "text[]") },
		Lock:     func(rows *Reached, ids pg.Expr) pg.Statement { return lockRows(rows.Model, rows.Strength, "id", ids) },
	})
}

// Cascade adds the rows that a delete of rows deletes or changes by foreign keys. It tells whether triggers concern them,
// and whether they are of other tables each.
func (r *Reaching) Cascade(m *model.Model) (concerns, isTree bool) {
	isTree = true
	for _, c := range r.Schema.Models {
		for _, f := range c.Fields {
			if f.Target != m || f.FK == nil || f.Computed != nil || f.OnDelete != model.Cascade && f.OnDelete != model.SetNull {
				continue
			}
			if c == m || r.rows[c] != nil && r.rows[c].IsWhole {
				return concerns, false
			}
			rows := r.At(c, "no key update", LockWay{from: m, key: "id", Match: f.FK.Column})
			rows.columns[f.FK.Column] = true
			if f.OnDelete == model.Cascade {
				rows.IsWhole, rows.Strength = true, "update"
			}
			concerns = concerns || len(r.stepsFrom(rows)) > 0
			if f.OnDelete == model.Cascade {
				more, isStillTree := r.Cascade(c)
				concerns, isTree = concerns || more, isTree && isStillTree
			}
		}
	}
	return concerns, isTree
}

// Locker is how a function locks rows.
type Locker struct {
	Schema   string                               // where it finds them
	Variable func(table string) *pg.Variable      // holds ids of rows
	Lock     func(*Reached, pg.Expr) pg.Statement // locks rows that have these
}

// Statements locks the rows, in the order of the locks. A variable holds the ids of those where ways begin.
func (r *Reaching) Statements(by Locker) []pg.Statement {
	var statements []pg.Statement
	list := r.inOrder()
	held := map[*model.Model]pg.Expr{}
	selectOf := func(m *model.Model, column, match string, among pg.Expr) *pg.Select {
		return &pg.Select{Columns: []pg.Output{{Value: pg.Col(m.Table, column)}}, From: pg.Ref(by.Schema, m.Table), Where: isAnyOf(m.Table, match, among)}
	}
	var idsOf func(rows *Reached) pg.Expr
	idsOf = func(rows *Reached) pg.Expr {
		if held[rows.Model] != nil {
			return held[rows.Model]
		}
		var found []*pg.Select
		for _, w := range rows.ways {
			among := w.Ids
			if w.from != nil {
				among = idsOf(r.rows[w.from])
			}
			if w.from != nil && w.key != "id" {
				among = &pg.ArrayOf{Query: selectOf(w.from, w.key, "id", among)}
			}
			if w.Match != "id" {
				among = &pg.ArrayOf{Query: selectOf(rows.Model, "id", w.Match, among)}
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
		if slices.ContainsFunc(list, func(next *Reached) bool {
			return slices.ContainsFunc(next.ways, func(w LockWay) bool { return w.from == rows.Model })
		}) {
			v := by.Variable(rows.Model.Table)
			statements = append(statements, &pg.Assign{Variable: v, Value: ids})
			ids = v
		}
		held[rows.Model] = ids
		return ids
	}
	for _, rows := range list {
		if !rows.isHeld {
			ids := idsOf(rows)
			statements = append(statements, by.Lock(rows, ids))
		}
	}
	return statements
}

func isAnyOf(table, column string, array pg.Expr) pg.Expr {
	return &pg.Any{Value: pg.Col(table, column), Op: "=", Array: array}
}

// closure calls a function for each column that follows others, with each of these, until it finds nothing new.
func (l *Lowering) closure(m *model.Model, note func(column, source string) (isNew bool)) {
	for again := true; again; {
		again = false
		for column, source := range l.generatedFrom(m) {
			again = note(column, source) || again
		}
	}
}

// generatedFrom yields each column that follows others of its row in a model's table, with each of these: those that
// Postgres generates, and copies with the key that they are read by.
func (l *Lowering) generatedFrom(m *model.Model) iter.Seq2[string, string] {
	return func(yield func(column, source string) bool) {
		for _, p := range l.PartsOf(m) {
			if p.Kind == Copied && !yield(p.Column, p.Link()) {
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

// Rank is the place of a model in the order of the dependencies.
func (l *Lowering) Rank(m *model.Model) int {
	if l.ranks == nil {
		l.ranks = l.rankAll()
	}
	return l.ranks[m]
}

// rankAll puts each model before those whose rows are made of its rows, as far as dependencies run one way.
func (l *Lowering) rankAll() map[*model.Model]int {
	ranks := map[*model.Model]int{}
	visited := map[*model.Model]bool{}
	var visit func(m *model.Model)
	visit = func(m *model.Model) {
		if visited[m] {
			return
		}
		visited[m] = true
		for _, p := range l.Parts {
			third := p.Owner
			if p.across != nil {
				third = p.across.third
			}
			if p.other() == m {
				visit(third)
			}
			if third == m {
				visit(p.Owner)
			}
		}
		ranks[m] = len(l.Schema.Models) - len(ranks)
	}
	for _, m := range l.Schema.Models {
		visit(m)
	}
	return ranks
}

// leadsTo tells whether a change of one model's rows makes keepers write rows of another.
func (l *Lowering) leadsTo(from, to *model.Model) bool {
	reached := []*model.Model{from}
	for i := 0; i < len(reached); i++ {
		for _, p := range l.Parts {
			if p.other() != reached[i] || slices.Contains(reached, p.Owner) {
				continue
			}
			if p.Owner == to {
				return true
			}
			reached = append(reached, p.Owner)
		}
	}
	return false
}
