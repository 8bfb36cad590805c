package diff

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// takeAway drops triggers, references, constraints and indexes of the tables that stay, if they are gone or different.
// An index whose successor is made concurrently goes behind it.
func (p *planner) takeAway() {
	for _, pr := range p.pairs {
		if pr.old == nil || pr.new == nil {
			continue
		}
		for _, t := range pr.old.Triggers {
			if triggerOf(pr.new, t.Name) == nil && !p.isOff(pr, t) {
				s := p.step(DropTrigger{pr.old, t.Name}, pr.old, pr.gone("what trigger "+t.Name+" stood for"), AccessExclusive)
				if pr.old.History && !pr.new.History && strings.HasSuffix(t.Name, pg.HistoryTrigger) {
					s.Hazards = []Hazard{LosesData}
				}
			}
		}
		p.dropSequences(pr)
		for _, r := range pr.old.References {
			if n := p.keptReference(pr, r); n != nil {
				pr.kept[r] = n
			} else {
				p.step(DropConstraint{pr.old, r.Name}, pr.old, pr.gone("reference "+r.Name), AccessExclusive)
			}
		}
		for _, c := range pr.old.Constraints {
			switch n := pr.keptConstraint(c); {
			case n != nil:
				pr.kept[c] = n
			case c.Where != "":
				p.step(DropIndex{c.Name}, pr.old, pr.gone("key "+c.Name), AccessExclusive)
			default:
				p.step(DropConstraint{pr.old, c.Name}, pr.old, pr.gone("constraint "+c.Name), AccessExclusive)
			}
		}
		for _, i := range pr.old.Indexes {
			if n := pr.keptIndex(i); n != nil {
				pr.kept[i] = n
			}
		}
		for _, i := range pr.old.Indexes {
			switch {
			case pr.kept[i] != nil:
			case p.options.Concurrent && p.hasSuccessor(pr, i):
				pr.succeeded = append(pr.succeeded, i)
			default:
				p.step(DropIndex{i.Name}, pr.old, pr.gone("index "+i.Name), AccessExclusive)
			}
		}
	}
}

// hasSuccessor tells whether a new index or key begins with the keys of an old index. Queries need the old one until the
// new one is made. It can stay until then, unless something else takes its name.
func (p *planner) hasSuccessor(pr *pair, o *pg.Index) bool {
	keys, isRemade := pr.renamedKeys(o)
	if isRemade || p.takesName(o.Name) {
		return false
	}
	kept := pr.keptNew()
	begins := func(n []pg.IndexKey) bool { return len(n) >= len(keys) && slices.Equal(n[:len(keys)], keys) }
	return slices.ContainsFunc(pr.new.Indexes, func(n *pg.Index) bool { return !kept[n] && begins(n.Keys) }) ||
		slices.ContainsFunc(pr.new.Constraints, func(n *pg.Constraint) bool {
			return !kept[n] && n.Kind != pg.Check && n.Where == "" && begins(keysOf(n))
		})
}

// keysOf are the keys of a constraint's index.
func keysOf(c *pg.Constraint) []pg.IndexKey {
	keys := make([]pg.IndexKey, len(c.Columns))
	for i, name := range c.Columns {
		keys[i].Column = name
	}
	return keys
}

// takesName tells whether a table, an index, a key or a sequence of the new schema has a name.
func (p *planner) takesName(name string) bool {
	return slices.ContainsFunc(p.new.Tables, func(t *pg.Table) bool {
		return t.Name == name ||
			slices.ContainsFunc(t.Indexes, func(i *pg.Index) bool { return i.Name == name }) ||
			slices.ContainsFunc(t.Constraints, func(c *pg.Constraint) bool { return c.Kind != pg.Check && c.Name == name }) ||
			slices.ContainsFunc(t.Numbered(), func(c *pg.Column) bool { return c.Sequence.Name == name })
	})
}

// keptNew returns the parts of the new table that the old one has already.
func (pr *pair) keptNew() map[any]bool {
	kept := map[any]bool{}
	for _, n := range pr.kept {
		kept[n] = true
	}
	return kept
}

func triggerOf(t *pg.Table, name string) *pg.Trigger {
	for _, g := range t.Triggers {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// best returns the element of the new list that an old one becomes, or nil: one that is the same and has the same name,
// else one that is the same and not yet matched.
func best[T any](pr *pair, list []*T, same func(*T) bool, called func(*T) bool) *T {
	claimed := pr.keptNew()
	var other *T
	for _, n := range list {
		if !same(n) || claimed[n] {
			continue
		}
		if called(n) {
			return n
		}
		if other == nil {
			other = n
		}
	}
	return other
}

func (p *planner) keptReference(pr *pair, o *pg.Reference) *pg.Reference {
	target := o.Table
	if to := p.pairOf(o.Table); to != nil && to.new != nil {
		target = to.new.Name
	}
	column := pr.renamed([]string{o.Column})[0]
	return best(pr, pr.new.References, func(n *pg.Reference) bool {
		return n.Column == column && n.Table == target && n.Schema == o.Schema && n.OnDelete == o.OnDelete
	}, func(n *pg.Reference) bool { return n.Name == o.Name })
}

func (pr *pair) keptConstraint(o *pg.Constraint) *pg.Constraint {
	if o.Kind == pg.Check && slices.ContainsFunc(o.Columns, func(c string) bool { return pr.retyped[c] }) {
		return nil // with two such columns it would not be between the two changes
	}
	if pr.isRemade(o.Columns) {
		return nil
	}
	columns := pr.renamed(o.Columns)
	condition, where := pg.Renamed(o.Condition, pr.names), pg.Renamed(o.Where, pr.names)
	return best(pr, pr.new.Constraints, func(n *pg.Constraint) bool {
		return n.Kind == o.Kind && n.Condition == condition && n.Where == where && (n.Kind == pg.Check || slices.Equal(n.Columns, columns))
	}, func(n *pg.Constraint) bool { return n.Name == o.Name })
}

func (pr *pair) keptIndex(o *pg.Index) *pg.Index {
	keys, isRemade := pr.renamedKeys(o)
	if isRemade {
		return nil
	}
	return best(pr, pr.new.Indexes, func(n *pg.Index) bool { return slices.Equal(n.Keys, keys) },
		func(n *pg.Index) bool { return n.Name == o.Name })
}

// renamedKeys returns the keys of an old index after all renames, and whether one of its columns is made anew.
func (pr *pair) renamedKeys(o *pg.Index) (keys []pg.IndexKey, isRemade bool) {
	keys = slices.Clone(o.Keys)
	for i := range keys {
		isRemade = isRemade || pr.remade[keys[i].Column]
		keys[i].Column = pr.renamed([]string{keys[i].Column})[0]
	}
	return keys, isRemade
}

// dropTables drops the tables that are gone, if they hold nothing or it is allowed: first the references between them,
// then the tables.
func (p *planner) dropTables() {
	var gone []*Step
	for _, pr := range p.pairs {
		if pr.new != nil {
			continue
		}
		o := pr.old
		rows := p.rows(o.Name, "")
		if rows != 0 && !p.allows("drop:"+o.Name) {
			p.refuse(&Refusal{
				Object: "table app." + o.Name, Change: "would be dropped with all its rows", Reason: pr.gone(""),
				Allow: "drop:" + o.Name, Renames: p.tableRenames(o), Table: o.Name, Rows: rows,
			})
			continue
		}
		s := &Step{Change: DropTable{o}, Table: o.Name, Reason: pr.gone(""), Lock: AccessExclusive, Rows: rows}
		if rows != 0 {
			s.Hazards = []Hazard{LosesData}
			p.dropsFiles = p.dropsFiles || countsFiles(o)
		}
		gone = append(gone, s)
		for _, c := range o.Columns {
			if c.Sequence != nil && c.Sequence.Per != "" {
				p.step(DropSequence{o, c}, o, pr.gone(""), NoLock)
			}
		}
		for _, r := range o.References {
			p.step(DropConstraint{o, r.Name}, o, pr.gone(""), AccessExclusive)
		}
	}
	p.plan.Steps = append(p.plan.Steps, gone...)
}

// dropHistories asks for histories that are not kept any longer: also of a table without rows, whose rows may have been
// deleted. Servers delete them then.
func (p *planner) dropHistories() {
	for _, pr := range p.pairs {
		if pr.old == nil || !pr.old.History || pr.new != nil && pr.new.History {
			continue
		}
		if allow := "history:" + pr.old.Name; !p.allows(allow) {
			p.refuse(&Refusal{
				Object: "the history of table app." + pr.old.Name, Change: "would be deleted", Reason: pr.gone("its @history"),
				Allow: allow, Table: pr.old.Name, Rows: Unknown,
			})
		}
	}
}

// tableRenames returns the renames that would keep the rows of a table: for each new model that has most of its
// columns.
func (p *planner) tableRenames(o *pg.Table) []Rename {
	var list []Rename
	for _, pr := range p.pairs {
		if pr.old != nil || pr.new.RenamedFrom != "" {
			continue
		}
		alike := 0
		for _, c := range o.Columns {
			if n := pr.new.Column(c.Name); n != nil && n.Type == c.Type {
				alike++
			}
		}
		if builtIn := 3; (alike-builtIn)*2 >= len(o.Columns)-builtIn {
			list = append(list, Rename{
				Declaration: pr.new.Origin.Line, From: strings.TrimPrefix(o.Origin.Of, "model "), Place: pr.new.Origin.Place, Table: pr.new.Name,
			})
		}
	}
	return list
}

// create makes the tables that are new.
func (p *planner) create() {
	var tables []*pg.Table
	pairs := map[*pg.Table]*pair{}
	for _, pr := range p.pairs {
		if pr.old == nil {
			tables = append(tables, pr.new)
			pairs[pr.new] = pr
		}
	}
	for _, c := range pg.InOrder(tables) {
		p.step(CreateTable{c.Table, c.Now}, c.Table, c.Table.Origin.String(), NoLock)
		pairs[c.Table].later = c.Later
	}
}

// addUp adds the constraints, indexes, references and triggers that are new or changed;
// keys come before the references that may need them.
func (p *planner) addUp() {
	var references []func()
	for _, pr := range p.pairs {
		if pr.new == nil {
			continue
		}
		kept := pr.keptNew()
		for _, c := range pr.new.Constraints {
			if !kept[c] && (pr.old != nil || c.Where != "") { // a new table has its own from the start
				p.addConstraint(pr, c)
			}
		}
		for _, i := range pr.new.Indexes {
			if !kept[i] {
				p.addIndex(pr, i)
			}
		}
		for _, i := range pr.succeeded {
			p.afterwards(DropIndex{i.Name}, pr.new, pr.gone("index "+i.Name), AccessExclusive)
		}
		added := pr.new.References
		if pr.old == nil {
			added = pr.later
		}
		for _, r := range added {
			if !kept[r] {
				references = append(references, func() { p.addReference(pr, r) })
			}
		}
	}
	for _, add := range references {
		add()
	}
	p.startKeeping()
	p.startTesting()
	for _, pr := range p.pairs {
		if pr.new == nil {
			continue
		}
		for _, t := range pr.new.Triggers {
			var o *pg.Trigger
			if pr.old != nil && !p.isOff(pr, t) {
				o = triggerOf(pr.old, t.Name)
			}
			if o != nil && o.Digest == t.Digest && !(pr.retouched && t.Name == touchTrigger) {
				continue
			}
			if o != nil {
				p.step(DropTrigger{pr.new, t.Name}, pr.new, pr.new.Origin.String(), AccessExclusive)
			}
			p.step(CreateTrigger{pr.new, t}, pr.new, pr.new.Origin.String(), ShareRowExclusive)
		}
	}
	for _, pr := range p.pairs {
		if pr.old != nil && pr.new != nil && pr.new.Tester != nil && p.retests(pr) {
			p.testRows(pr)
		}
	}
}

func (p *planner) addIndex(pr *pair, i *pg.Index) {
	switch {
	case pr.old == nil:
		p.step(CreateIndex{Table: pr.new, Index: i}, pr.new, i.Origin.String(), Share)
	case p.options.Concurrent:
		p.afterwards(CreateIndex{pr.new, i, true}, pr.new, i.Origin.String(), ShareUpdateExclusive, Long)
	default:
		p.step(CreateIndex{Table: pr.new, Index: i}, pr.new, i.Origin.String(), Share, LocksWrites, Long)
	}
}

// addConstraint adds a key or check to an existing table, if its rows satisfy it or the step is allowed to find out.
func (p *planner) addConstraint(pr *pair, c *pg.Constraint) {
	reason := c.Origin.String()
	if pr.old == nil {
		p.step(CreateUnique{Table: pr.new, Constraint: c}, pr.new, reason, Share)
		return
	}
	hazards := p.mayAdd(pr, c)
	if c.Kind == pg.Check {
		if p.options.Concurrent {
			p.step(AddConstraint{Table: pr.new, Constraint: c, NotValid: true}, pr.new, reason, AccessExclusive)
			p.afterwards(Validate{pr.new, c.Name}, pr.new, reason, ShareUpdateExclusive, append(hazards, Long)...)
			return
		}
		p.step(AddConstraint{Table: pr.new, Constraint: c}, pr.new, reason, AccessExclusive, append(hazards, LocksReads, LocksWrites, Long)...)
		return
	}
	switch {
	case p.options.Concurrent:
		p.afterwards(CreateUnique{pr.new, c, true}, pr.new, reason, ShareUpdateExclusive, append(hazards, Long)...)
		if c.Where == "" {
			p.afterwards(AddConstraint{Table: pr.new, Constraint: c, FromIndex: true}, pr.new, reason, AccessExclusive)
		}
	case c.Where != "":
		p.step(CreateUnique{Table: pr.new, Constraint: c}, pr.new, reason, Share, append(hazards, LocksWrites, Long)...)
	default:
		p.step(AddConstraint{Table: pr.new, Constraint: c}, pr.new, reason, AccessExclusive, append(hazards, LocksReads, LocksWrites, Long)...)
	}
}

// mayAdd refuses a constraint that rows break, or may break without a database to ask. It returns the hazard of adding
// it.
func (p *planner) mayAdd(pr *pair, c *pg.Constraint) []Hazard {
	if pr.isLookedAt(c) {
		return nil
	}
	was, known := pr.before(c.Columns)
	if !known { // a column is new, or its values change on the way: only Postgres can tell
		if c.Kind != pg.Check && slices.ContainsFunc(c.Columns, func(name string) bool {
			return pr.was(name) == nil && pr.new.Column(name).Default == "" && !pr.new.Column(name).NotNull
		}) {
			return nil // it holds null in every row
		}
		if c.Kind == pg.Unique && slices.ContainsFunc(c.Columns, func(name string) bool { return p.isNumbered(pr, name, c.Columns) }) {
			return nil // its values are those of a sequence
		}
		if p.options.Concurrent && slices.ContainsFunc(c.Columns, func(name string) bool { return p.backfill(pr.new.Name, name) != nil }) {
			p.step(CountRows{pr.breaking(c, pr.new, c.Columns)}, pr.new, c.Origin.String(), NoLock) // its rows have just been written
		}
		return []Hazard{MayFail}
	}
	if c.Kind == pg.Unique && slices.ContainsFunc(pr.old.Constraints, func(o *pg.Constraint) bool {
		isBeyond := func(column string) bool { return !slices.Contains(was, column) }
		return o.Kind == pg.Unique && o.Where == "" && !slices.ContainsFunc(o.Columns, isBeyond)
	}) {
		return nil // the same key, or a part of it, has bound all rows
	}
	if slices.ContainsFunc(pr.old.Constraints, func(o *pg.Constraint) bool { return isWider(pg.Renamed(o.Condition, pr.names), c.Condition) }) {
		return nil
	}
	return p.mayBreak(pr.breaking(c, pr.old, was))
}

// lengths matches the conditions of @minLength, @maxLength, @minItems and @maxItems.
var lengths = regexp.MustCompile(`\A((?:char_length|platform\.longest|platform\.shortest|cardinality)\([^()]*\) (<=|>=)) ([0-9]+)\z`)

// isWider tells whether a condition is a limit of a length as another one is, and not a narrower one.
func isWider(old, new string) bool {
	was, is := lengths.FindStringSubmatch(old), lengths.FindStringSubmatch(new)
	if was == nil || is == nil || was[1] != is[1] {
		return false
	}
	if was[2] == ">=" {
		was, is = is, was
	}
	return len(was[3]) < len(is[3]) || len(was[3]) == len(is[3]) && was[3] <= is[3]
}

// breaking is the refusal of a constraint for the rows that break it, by the present names of its table and columns.
func (pr *pair) breaking(c *pg.Constraint, t *pg.Table, columns []string) *Refusal {
	r := &Refusal{Reason: c.Origin.String(), Table: t.Name}
	if c.Kind == pg.Check {
		back := map[string]string{pr.new.Name: t.Name}
		for i, name := range c.Columns {
			back[name] = columns[i]
		}
		r.Condition = "(" + pg.Renamed(c.Condition, back) + ") is false"
		r.Object, r.Change = "constraint "+c.Name+" on table app."+pr.new.Name, "would be broken by rows"
		r.Allow = "check:" + pr.new.Name + "." + c.Name
		return r
	}
	list := make([]string, len(columns))
	for i, name := range columns {
		list[i] = pg.Ident(name)
	}
	values := strings.Join(list, ", ")
	bound := ""
	if c.Where != "" {
		bound = " where " + c.Where
		r.Condition = c.Where + " and "
	}
	r.Condition += "(" + values + ") in (select " + values + " from " + pg.Qualified(t.Schema, t.Name) + bound + " group by " + values + " having count(*) > 1)"
	r.Object, r.Change = "key "+c.Name+" on table app."+pr.new.Name, "would be broken by rows that have the same values"
	r.Allow = "unique:" + pr.new.Name + "." + strings.Join(c.Columns, ",")
	if len(columns) == 1 {
		r.Column, r.Sealed = columns[0], t.Column(columns[0]).Opaque != ""
	}
	return r
}

// mayBreak refuses a change that rows break, or may break without a database to ask.
func (p *planner) mayBreak(r *Refusal) []Hazard {
	switch r.Rows = p.rows(r.Table, r.Condition); {
	case r.Rows == 0:
		return nil
	case r.Rows > 0:
		r.Allow = "" // Postgres would not allow it
		p.refuse(r)
	case !p.allows(r.Allow):
		r.Change = strings.Replace(r.Change, "would be broken", "may be broken", 1)
		p.refuse(r)
	default:
		p.count(r)
	}
	return []Hazard{MayFail}
}

// count has rows that break an allowed change counted before the first step, while no lock makes others wait.
func (p *planner) count(r *Refusal) {
	p.counts = append(p.counts, &Step{Change: CountRows{r}, Table: r.Table, Reason: r.Reason, Rows: Unknown})
}

// isLookedAt tells whether a check follows from the type of a column that is new, or whose values are checked with it:
// values that an enum or another type has no place for.
func (pr *pair) isLookedAt(c *pg.Constraint) bool {
	if !c.OfType {
		return false
	}
	n := pr.new.Column(c.Columns[0])
	o := pr.was(n.Name)
	return o == nil || len(n.Values) > 0 || o.Type != n.Type
}

// was returns the old column that became the one of that name, or nil.
func (pr *pair) was(name string) *pg.Column {
	if pr.old == nil {
		return nil
	}
	for _, c := range pr.old.Columns {
		if pr.columns[c.Name] == name {
			return c
		}
	}
	return nil
}

// before returns the current names of some columns, if they already hold their later values.
func (pr *pair) before(columns []string) (names []string, known bool) {
	for _, name := range columns {
		o, n := pr.was(name), pr.new.Column(name)
		if o == nil || o.Type != n.Type || len(renames(o, n)) > 0 {
			return nil, false
		}
		names = append(names, o.Name)
	}
	return names, true
}

func (p *planner) addReference(pr *pair, r *pg.Reference) {
	reason := r.Origin.String()
	if pr.old == nil {
		p.step(AddReference{Table: pr.new, Reference: r}, pr.new, reason, ShareRowExclusive)
		return
	}
	var hazards []Hazard
	if o := pr.was(r.Column); o != nil && !p.referred(pr, o, r) {
		hazards = p.mayRefer(pr, o, r)
	}
	if p.options.Concurrent {
		p.step(AddReference{pr.new, r, true}, pr.new, reason, ShareRowExclusive)
		p.afterwards(Validate{pr.new, r.Name}, pr.new, reason, ShareUpdateExclusive, append(hazards, Long)...)
		return
	}
	p.step(AddReference{Table: pr.new, Reference: r}, pr.new, reason, ShareRowExclusive, append(hazards, LocksWrites, Long)...)
}

// referred tells whether a column has pointed to the same table before.
func (p *planner) referred(pr *pair, o *pg.Column, r *pg.Reference) bool {
	return slices.ContainsFunc(pr.old.References, func(was *pg.Reference) bool {
		to := p.pairOf(was.Table)
		return was.Column == o.Name && to != nil && to.new != nil && to.new.Name == r.Table
	})
}

func (p *planner) mayRefer(pr *pair, o *pg.Column, r *pg.Reference) []Hazard {
	at := slices.IndexFunc(p.pairs, func(to *pair) bool { return to.new != nil && to.new.Name == r.Table })
	column := pg.Ident(pr.old.Name) + "." + pg.Ident(o.Name)
	condition := column + " is not null"
	if target := p.pairs[at].old; target != nil {
		condition += " and not exists (select from " + pg.Qualified(target.Schema, target.Name) + " as target_row where target_row.id = " + column + ")"
	}
	return p.mayBreak(&Refusal{
		Object: "reference " + r.Name + " on table app." + pr.new.Name, Change: "would be broken by rows that point to nothing in app." + r.Table,
		Reason: r.Origin.String(), Allow: "reference:" + pr.new.Name + "." + r.Column,
		Table: pr.old.Name, Column: o.Name, Condition: condition,
	})
}
