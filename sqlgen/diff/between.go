package diff

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Between plans the way from old to new. Without an old one, nil, it makes everything.
//
// The order is a law, and each part of it has a reason.
//
//  1. The project's own functions may depend on anything: on the type of a table's rows,
//     on columns, on views. So they are dropped before the objects that they mention
//     change, and made again at the end.
//  2. Policies depend on views and views on columns, so both are dropped before a table
//     changes under them and made again after it: policies before views, then views
//     before policies. Those that depend on nothing that changes stay.
//  3. Steps that take away from any table come before all that add to any, since a new
//     table or constraint may have the name of an old one.
//  4. Renames come next, tables and keys in an order in which no name is taken twice:
//     all later steps use the names of the new schema.
//  5. Columns are made before rows get their values. Rows get them before types change
//     and columns go that they may be computed from. Only then is anything required.
//  6. Keys come before the references to them. New tables are made behind those that they refer to, with these
//     references; those in circles and those to existing tables come after all tables.
//  7. Functions of actions answer rows of tables. Those that are gone, or that Postgres
//     cannot replace, are dropped before any table. The others are made at the end, for
//     nothing depends on them.
//
// With Concurrent, steps that would look at the rows of a table, while others wait for it, are put off: constraints are
// added without looking at rows and validated later, indexes are made concurrently, before those that they follow are
// dropped, and a column becomes required through a check. These steps are Later, in order, each in a transaction of its
// own, and CREATE INDEX CONCURRENTLY in none. Rows that would break them are counted first, before any lock, so that
// nothing is changed if there are some.
func Between(old, new *pg.Database, options Options) *Plan {
	if old == nil {
		old = &pg.Database{}
	}
	p := &planner{
		permissions: permissions{options: options, used: map[string]bool{}},
		old:         old,
		new:         new,
		plan:        &Plan{},
		offViews:    map[string]bool{},
		touched:     map[string]bool{},
	}
	p.match()
	p.remake()
	p.keepAnew()
	p.views()
	p.dropFunctions()
	p.takeOff()
	p.stopTesting()
	p.stopKeeping()
	p.freeze()
	p.takeAway()
	p.dropRemade()
	p.dropTables()
	p.dropHistories()
	p.rename()
	p.renameViews()
	p.create()
	p.alter()
	p.compute()
	p.addUp()
	p.countFiles()
	p.putBack()
	p.functions()
	p.code()
	p.plan.Locks = p.locks()
	p.plan.Steps = slices.Concat(p.counts, p.plan.Steps, p.later)
	// Possible renames come first: with them, other refusals go.
	slices.SortStableFunc(p.plan.Refused, func(a, b *Refusal) int { return min(1, len(b.Renames)) - min(1, len(a.Renames)) })
	p.plan.Unused = p.unused()
	p.plan.Result = p.result()
	return p.plan
}

type planner struct {
	permissions
	old, new *pg.Database
	plan     *Plan
	counts   []*Step // before all others
	later    []*Step

	pairs    []*pair
	offViews map[string]bool // old views that cannot stay
	touched  map[string]bool // tables whose columns or views change, by old and new name

	dropsFiles bool // whether rows or values that may name files go
}

// pair is a table in both databases, or in one of them.
type pair struct {
	old, new  *pg.Table         // nil means that the table is missing there
	columns   map[string]string // kept columns: old name → new name
	names     map[string]string // renamed names: old name → new name
	rekeeps   bool              // whether triggers that keep columns are dropped and made again
	retouched bool              // whether another trigger replaced the one that sets updated_at during the change
	remade    map[string]bool   // computed columns that are made anew, by old and new name
	retyped   map[string]bool   // columns, by old name, whose type changes
	kept      map[any]any       // constraints, references and indexes: old → new
	succeeded []*pg.Index       // old ones that go when those that follow them are there
	later     []*pg.Reference   // of a new table: those that it is not made with
}

// step adds a step of the plan's transaction, without a number of rows.
func (p *planner) step(c Change, table *pg.Table, reason string, lock Lock, hazards ...Hazard) *Step {
	s := &Step{Change: c, Reason: reason, Lock: lock, Hazards: hazards, Rows: Unknown}
	if table != nil {
		s.Table = table.Name
	}
	p.plan.Steps = append(p.plan.Steps, s)
	return s
}

// afterwards adds a step that follows the transaction of the others.
func (p *planner) afterwards(c Change, table *pg.Table, reason string, lock Lock, hazards ...Hazard) {
	p.step(c, table, reason, lock, hazards...)
	last := len(p.plan.Steps) - 1
	p.plan.Steps[last].Later = true
	p.later = append(p.later, p.plan.Steps[last])
	p.plan.Steps = p.plan.Steps[:last]
}

func (p *planner) refuse(r *Refusal) { p.plan.Refused = append(p.plan.Refused, r) }

// touch notes that a table changes in a way that custom code may depend on.
func (p *planner) touch(pr *pair) {
	if pr.old != nil {
		p.touched[pr.old.Name] = true
	}
	if pr.new != nil {
		p.touched[pr.new.Name] = true
	}
}

// match finds each table, and each column of it, in both databases.
func (p *planner) match() {
	taken := map[*pg.Table]bool{}
	for _, n := range p.new.Tables {
		o := p.old.Table(n.Name)
		if o == nil && n.RenamedFrom != "" && len(p.old.Tables) > 0 {
			if o = p.old.Table(n.RenamedFrom); o == nil {
				p.warn(n.RenamedAt, n.Origin.Of+" was never called "+n.RenamedFrom+" in the database: its @renamed has no effect")
			}
		}
		taken[o] = true
		p.pairs = append(p.pairs, p.pairUp(o, n))
	}
	for _, o := range p.old.Tables {
		if !taken[o] {
			p.pairs = append(p.pairs, p.pairUp(o, nil))
		}
	}
}

func (p *planner) warn(place, message string) {
	p.plan.Warnings = append(p.plan.Warnings, Warning{place, message})
}

func (p *planner) pairUp(o, n *pg.Table) *pair {
	pr := &pair{old: o, new: n, columns: map[string]string{}, names: map[string]string{}, retyped: map[string]bool{}, remade: map[string]bool{}, kept: map[any]any{}}
	if o == nil || n == nil {
		p.touch(pr)
		return pr
	}
	if o.Name != n.Name {
		pr.names[o.Name] = n.Name
		p.touch(pr)
	}
	for _, c := range n.Columns {
		from := c.Name
		if o.Column(from) == nil && c.RenamedFrom != "" {
			if from = c.RenamedFrom; o.Column(from) == nil {
				p.warn(c.RenamedAt, originOf(n, c).String()+" was never called "+from+" in the database: its @renamed has no effect")
				continue
			}
			pr.names[from] = c.Name
			p.touch(pr)
		}
		if was := o.Column(from); was != nil {
			pr.columns[from] = c.Name
			if was.Type != c.Type {
				pr.retyped[from] = true
				p.touch(pr)
			}
		}
	}
	if len(pr.columns) < len(o.Columns) || len(pr.columns) < len(n.Columns) {
		p.touch(pr)
	}
	return pr
}

// originOf is the origin of a column.
func originOf(t *pg.Table, c *pg.Column) pg.Origin {
	o := c.Origin
	o.Of = t.Origin.Of
	return o
}

// gone is the reason for removing a part of an old table if the new table exists.
func (pr *pair) gone(what string) string {
	if pr.new == nil {
		return pr.old.Origin.Of + " is gone"
	}
	o := pr.new.Origin
	text := o.Of + ", " + what + " is gone"
	if o.Place != "" {
		text += ", " + o.Place
	}
	return text
}

// views finds the views that cannot stay: those that are gone, and those that show a retyped or dropped column. A view that shows more, behind its old columns, is replaced in place. A view over a query goes with the views
// that it reads.
func (p *planner) views() {
	for _, v := range p.old.Views {
		n := p.new.View(v.Name)
		if v.IsQuery() {
			readsGone := slices.ContainsFunc(v.Reads, func(name string) bool { return p.offViews[name] })
			p.offViews[v.Name] = readsGone || n == nil || n.Digest != v.Digest
			continue
		}
		pr := p.pairOf(v.Table)
		if n == nil || n.Table != v.Table || pr == nil || pr.new == nil || pr.old.Name != pr.new.Name || len(pr.retyped) > 0 || !showsAll(n, p.renamedView(v)) {
			p.offViews[v.Name] = true
		}
	}
}

// renamedView returns an old view over a table that stays with the new names of its columns.
func (p *planner) renamedView(v *pg.View) *pg.View {
	pr := p.pairOf(v.Table)
	renamed := *v
	renamed.Columns = slices.Clone(v.Columns)
	for i, c := range v.Columns {
		renamed.Columns[i] = pg.ViewColumn{Name: pr.renamed([]string{c.Name})[0], Value: pg.Renamed(c.Value, pr.names)}
	}
	return &renamed
}

// renameViews lets the views that stay follow renamed columns.
func (p *planner) renameViews() {
	for _, v := range p.old.Views {
		if v.IsQuery() || p.offViews[v.Name] {
			continue
		}
		for i, c := range p.renamedView(v).Columns {
			if old := v.Columns[i].Name; old != c.Name {
				p.step(RenameViewColumn{v, old, c.Name}, nil, "it follows the column of app."+v.Table, AccessExclusive)
			}
		}
	}
}

// showsAll tells whether n shows everything that o shows, in the same way.
func showsAll(n, o *pg.View) bool {
	for _, c := range o.Columns {
		if !slices.Contains(n.Columns, c) {
			return false
		}
	}
	return true
}

func (p *planner) pairOf(oldTable string) *pair {
	for _, pr := range p.pairs {
		if pr.old != nil && pr.old.Name == oldTable {
			return pr
		}
	}
	return nil
}

// takeOff removes the policies and views that cannot stay.
func (p *planner) takeOff() {
	for _, pr := range p.pairs {
		if pr.old == nil {
			continue
		}
		for _, o := range pr.old.Policies {
			if n := pr.policy(o); n == nil || n.Digest != o.Digest {
				p.step(DropPolicy{pr.old, o}, pr.old, pr.policyReason(o, n), AccessExclusive)
			} else if p.standsOnChange(pr, o) {
				p.step(DropPolicy{pr.old, o}, pr.old, "it depends on what changes, and is made again", AccessExclusive)
			}
		}
	}
	queries, ofTables := partition(p.old.Views)
	for _, v := range slices.Backward(queries) {
		if p.offViews[v.Name] {
			p.touched[v.Name] = true
			p.step(DropView{v}, nil, "what it shows changes: "+v.Title, AccessExclusive)
		}
	}
	for _, v := range ofTables {
		if p.offViews[v.Name] {
			p.touched[v.Table] = true
			p.step(DropView{v}, nil, "it shows what changes in table app."+v.Table, AccessExclusive)
		}
	}
}

// partition splits views into those over queries, which read the others, and those over tables.
func partition(views []*pg.View) (queries, ofTables []*pg.View) {
	for _, v := range views {
		if v.IsQuery() {
			queries = append(queries, v)
		} else {
			ofTables = append(ofTables, v)
		}
	}
	return queries, ofTables
}

// policy returns the new policy with the name of an old one.
func (pr *pair) policy(o *pg.Policy) *pg.Policy {
	if pr.new == nil {
		return nil
	}
	at := slices.IndexFunc(pr.new.Policies, func(n *pg.Policy) bool { return n.Name == o.Name })
	if at < 0 {
		return nil
	}
	return pr.new.Policies[at]
}

func (pr *pair) policyReason(o, n *pg.Policy) string {
	if n == nil {
		return pr.gone("what policy " + o.Name + " stood for")
	}
	return pr.new.Origin.String() + ": its rules, or the actions under them, are others"
}

// standsOnChange tells whether a policy that stays the same depends on a view that is dropped, or on a column whose
// type changes.
func (p *planner) standsOnChange(pr *pair, o *pg.Policy) bool {
	return slices.ContainsFunc(o.Views, func(v string) bool { return p.offViews[v] }) ||
		slices.ContainsFunc(o.Columns, func(c string) bool { return pr.retyped[c] })
}

// putBack makes views and policies, and gives privileges.
func (p *planner) putBack() {
	for _, n := range p.new.Views {
		o := p.old.View(n.Name)
		reason := "the rows of app." + n.Table + ", for the paths of rules, filters and embeds"
		if n.IsQuery() {
			reason = n.Title
		}
		switch {
		case o == nil || p.offViews[n.Name]:
			p.step(CreateView{View: n}, nil, reason, AccessExclusive)
		case len(n.Columns) != len(o.Columns):
			p.step(CreateView{View: inOrderOf(p.renamedView(o), n), Replace: true}, nil, reason, AccessExclusive)
		}
	}
	for _, pr := range p.pairs {
		if pr.new == nil {
			continue
		}
		for _, n := range pr.new.Policies {
			o := pr.oldPolicy(n)
			if o == nil || o.Digest != n.Digest || p.standsOnChange(pr, o) {
				p.step(CreatePolicy{pr.new, n}, pr.new, pr.new.Origin.String(), AccessExclusive)
			}
		}
		p.grants(pr)
	}
}

func (pr *pair) oldPolicy(n *pg.Policy) *pg.Policy {
	if pr.old == nil {
		return nil
	}
	at := slices.IndexFunc(pr.old.Policies, func(o *pg.Policy) bool { return o.Name == n.Name })
	if at < 0 {
		return nil
	}
	return pr.old.Policies[at]
}

func (p *planner) grants(pr *pair) {
	var had []*pg.Grant
	var from []string
	if pr.old != nil {
		for _, g := range pr.old.Grants {
			mapped := *g
			mapped.Columns = pr.renamed(g.Columns)
			had = append(had, &mapped)
			if !slices.Contains(from, g.Role) {
				from = append(from, g.Role)
			}
		}
	}
	same := func(a, b *pg.Grant) bool {
		return a.Privilege == b.Privilege && a.Role == b.Role && slices.Equal(a.Columns, b.Columns)
	}
	if !slices.EqualFunc(had, pr.new.Grants, same) || pr.old != nil && slices.ContainsFunc(pr.new.Numbered(), pr.isNewlyNumbered) {
		p.step(SetGrants{pr.new, from}, pr.new, pr.new.Origin.String()+": what its actions read and write", NoLock)
	}
}

// renamed returns names of columns after all renames.
func (pr *pair) renamed(columns []string) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c
		if to, ok := pr.names[c]; ok && pr.columns[c] == to {
			list[i] = to
		}
	}
	return list
}

// byCall returns functions by their names and argument types.
func byCall(list []*pg.Function) map[string]*pg.Function {
	functions := make(map[string]*pg.Function, len(list))
	for _, f := range list {
		functions[calledAs(f)] = f
	}
	return functions
}

func calledAs(f *pg.Function) string { return f.Name + "(" + f.Types() + ")" }

// fits tells whether another function can replace a function: Postgres demands that the parameters have the same names
// and that it returns the same, and leaves its owner.
func fits(o, n *pg.Function) bool {
	return o.Returns == n.Returns && slices.Equal(o.Arguments, n.Arguments) && o.Owner == n.Owner
}

// dropFunctions drops the functions that are gone or cannot be replaced. They answer rows of tables, which therefore
// cannot be dropped before.
func (p *planner) dropFunctions() {
	functions := byCall(p.new.Functions)
	for _, o := range p.old.Functions {
		switch n := functions[calledAs(o)]; {
		case n == nil:
			p.step(DropFunction{o}, nil, o.Title+" is gone", NoLock)
		case !fits(o, n):
			p.step(DropFunction{o}, nil, n.Origin.String()+": it has other parameters, another result or another owner", NoLock)
		}
	}
}

// functions makes and replaces the functions of actions.
func (p *planner) functions() {
	functions := byCall(p.old.Functions)
	for _, n := range p.new.Functions {
		o := functions[calledAs(n)]
		if o == nil || o.Digest != n.Digest || !fits(o, n) {
			p.step(CreateFunction{n, o != nil && fits(o, n)}, nil, n.Origin.String(), NoLock)
		}
	}
}

// code drops the project's own functions before all other steps, and makes them anew after them, if they are different
// or mention a table that changes.
func (p *planner) code() {
	same := slices.EqualFunc(p.old.Code, p.new.Code, func(o, n *pg.CodeFile) bool { return o.Name == n.Name && o.Digest == n.Digest })
	reason := "the files of custom code are others"
	if same {
		mentions := func(f *pg.CodeFile) bool {
			return slices.ContainsFunc(f.Mentions, func(table string) bool { return p.touched[table] })
		}
		at := slices.IndexFunc(slices.Concat(p.old.Code, p.new.Code), mentions)
		if at < 0 {
			return
		}
		reason = slices.Concat(p.old.Code, p.new.Code)[at].Name + " mentions a table that changes"
	}
	if len(p.old.Code) > 0 {
		p.plan.Steps = slices.Insert(p.plan.Steps, 0, &Step{Change: ClearCode{}, Reason: reason, Rows: Unknown})
	}
	if len(p.new.Code) > 0 {
		p.step(RunCode{p.new.Code}, nil, reason, NoLock)
	}
}

// inOrderOf returns a view with the columns that another shows first, in its order.
func inOrderOf(o, n *pg.View) *pg.View {
	ordered := *n
	ordered.Columns = nil
	for _, c := range o.Columns {
		if slices.Contains(n.Columns, c) {
			ordered.Columns = append(ordered.Columns, c)
		}
	}
	for _, c := range n.Columns {
		if !slices.Contains(ordered.Columns, c) {
			ordered.Columns = append(ordered.Columns, c)
		}
	}
	return &ordered
}

// result is the new database with its columns in the database's order: first those of the old table, then those that
// were added behind them.
func (p *planner) result() *pg.Database {
	after := *p.new
	after.Tables, after.Views = nil, nil
	for _, pr := range p.pairs {
		if pr.new == nil {
			continue
		}
		t := *pr.new
		if pr.old != nil {
			t.Columns = nil
			for _, c := range pr.old.Columns {
				if to, ok := pr.columns[c.Name]; ok {
					t.Columns = append(t.Columns, pr.new.Column(to))
				}
			}
			for _, c := range pr.new.Columns {
				if !slices.Contains(t.Columns, c) {
					t.Columns = append(t.Columns, c)
				}
			}
		}
		after.Tables = append(after.Tables, &t)
	}
	for _, v := range p.new.Views {
		if o := p.old.View(v.Name); o != nil && !v.IsQuery() && !p.offViews[v.Name] {
			v = inOrderOf(p.renamedView(o), v)
		}
		after.Views = append(after.Views, v)
	}
	return &after
}
