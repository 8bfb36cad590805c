package derive

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// What a live answer depends on is split in two: rows, of which only those with certain keys matter where the compiler
// finds such, and the caller, of whom the rules ask some values. Callers with the same values share an answer. In doubt
// any change of a table counts, and each caller has an answer of their own: that costs time, and is never wrong.

// Dependence is what the answer of a live action depends on.
type Dependence struct {
	release.Live
	CallerValues []CallerValue // those of Live, as they are computed

	action    *model.Action
	identity  *model.Model
	chosen    map[string]int // by the key of a prefix: how many comparisons of the expression choose its child
	isPrivate bool
}

// CallerValue is a value that a rule asks of the caller: what a path leads to, whether a condition holds that mentions
// nothing else, whether the caller has one of some roles, or a column of the rows for which a condition holds.
type CallerValue struct {
	Path      *expr.Path
	Condition expr.Node
	Roles     []*model.Role
	Rows      *model.Model
	Column    *model.Field
}

// mostValues is how many values a function can return.
const mostValues = 90

// findLive finds what the live answers depend on.
func (l *Lowering) findLive() {
	for _, a := range l.Schema.Actions {
		if a.Live != nil {
			l.Live[a] = l.dependenceOf(a)
		}
	}
}

func (l *Lowering) dependenceOf(a *model.Action) *Dependence {
	i := slices.IndexFunc(l.Schema.Models, func(m *model.Model) bool { return m.IsIdentity })
	d := &Dependence{action: a, identity: l.Schema.Models[i]}
	d.Clock = expr.Mentions(value.ExpressionsRead(a)...).Now || expr.Mentions(value.ExpressionsRead(a)...).Session()
	if a.Model == nil || a.Custom {
		d.isPrivate = a.Custom
		d.coarse()
	} else {
		d.fine()
	}
	if len(d.CallerValues) > mostValues {
		d.Rows, d.Caller, d.Values, d.CallerValues, d.isPrivate = nil, nil, nil, nil, true
		d.coarse()
	}
	isRole := func(v CallerValue) bool { return v.Roles != nil }
	switch {
	case d.isPrivate:
		d.Shared = release.ByNobody
	case len(d.CallerValues) == 0:
		d.Shared = release.ByAll
	case !slices.ContainsFunc(d.CallerValues, func(v CallerValue) bool { return !isRole(v) }):
		d.Shared = release.ByRole
	default:
		d.Shared = release.ByValues
	}
	return d
}

// coarse is for custom code and unions: any change of what they read.
func (d *Dependence) coarse() {
	for _, m := range append(value.ModelsRead(d.action), d.action.Live.Of...) {
		d.watchRows(m)
	}
	read := expr.Mentions(value.ExpressionsRead(d.action)...)
	asksRole := slices.ContainsFunc(d.action.Rules, func(r *model.Rule) bool { return len(r.Roles) > 0 })
	if d.isPrivate || read.Identity || read.IsAuthenticated || read.Session() || asksRole {
		d.isPrivate = true
		d.watchRows(d.identity)
	}
}

// fine is for gets and lists of a model.
func (d *Dependence) fine() {
	a := d.action
	var sets [][]release.Key
	for _, in := range a.Reads {
		if in.Explicit {
			continue
		}
		d.watchPath(in.AlongCopies())
		if f := ownColumn(in.AlongCopies()); f != nil && isKey(f) && !isFaceted(a, f) && (a.Kind == model.List || !in.Optional) {
			path := strings.Join(value.RequestPath(a, in), ".")
			if a.Kind == model.List {
				path += ".equals"
			}
			sets = append(sets, []release.Key{{Column: f.Column, Input: path}})
		}
	}
	for _, w := range a.Wheres {
		keys := d.keysOf(w.Expression)
		isOptional := slices.ContainsFunc(expr.Mentions(w.Expression).Inputs, func(in expr.Input) bool { return in.InputOptional() })
		if !isOptional {
			sets = append(sets, keys)
		}
	}
	if len(a.Rules) == 0 {
		return
	}
	var ruled []release.Key
	for _, r := range a.Rules {
		keys := []release.Key{{}}
		if r.Expression != nil {
			keys = d.keysOf(r.Expression)
		}
		if len(r.Roles) > 0 {
			keys = when(keys, []int{d.roles(r.Roles)})
		}
		ruled = append(ruled, keys...)
	}
	if a.Kind == model.List { // a get answers that a row is refused
		sets = append(sets, ruled)
	}
	sets = slices.DeleteFunc(sets, hasAny)
	slices.SortStableFunc(sets, func(a, b []release.Key) int { return d.breadth(a) - d.breadth(b) })
	d.watchRows(a.Model, sets...)
	d.watchShown(a.Model, a.Shape(), sets)
}

// breadth ranks sets of keys by how many rows may have one: of an input that is an id, of the rules, of any other input.
func (d *Dependence) breadth(keys []release.Key) int {
	if len(keys) == 0 {
		return 0 // no row
	}
	for _, f := range d.action.Model.Stored() {
		if len(keys) == 1 && keys[0].Input != "" && keys[0].Column == f.Column && f.Type.Kind != expr.ID && !f.Unique {
			return 2
		}
	}
	if keys[0].Input != "" {
		return 0
	}
	return 1
}

// hasAny tells whether a set has a key that every row has, whoever calls.
func hasAny(keys []release.Key) bool {
	return slices.ContainsFunc(keys, func(k release.Key) bool { return k.Column == "" && len(k.When) == 0 })
}

// when makes keys count only if some of the caller's values are true.
func when(keys []release.Key, values []int) []release.Key {
	var all []release.Key
	for _, k := range keys {
		k.When = append(slices.Clone(k.When), values...)
		all = append(all, k)
	}
	return all
}

// watchShown watches what records show of other rows. The rows below the one that an input names have its id as key.
func (d *Dependence) watchShown(m *model.Model, shape model.Shape, sets [][]release.Key) {
	for _, member := range shape {
		f := member.Field
		if !f.IsRelation() {
			continue
		}
		var below [][]release.Key
		for _, keys := range sets {
			if f.FK == nil && f.Inverse != nil && len(keys) == 1 && keys[0].Column == "id" && keys[0].Input != "" {
				below = append(below, []release.Key{{Column: f.Inverse.FK.Column, Input: keys[0].Input}})
			}
		}
		d.watchRows(f.Target, below...)
		d.watchShown(f.Target, member.Shape, nil)
	}
}

// watchRows watches rows of a model: those with a key of any one of the sets, or without sets all of them.
func (d *Dependence) watchRows(m *model.Model, sets ...[]release.Key) {
	d.Rows = watched(d.Rows, m, sets)
}

// watchCaller watches rows on which the caller's values depend.
func (d *Dependence) watchCaller(m *model.Model, sets ...[]release.Key) {
	d.Caller = watched(d.Caller, m, sets)
}

func watched(list []release.Watch, m *model.Model, sets [][]release.Key) []release.Watch {
	isAny := func(w release.Watch) bool { return w.Model == m.Name && len(w.Keys) == 0 }
	if slices.ContainsFunc(list, isAny) {
		return list
	}
	if len(sets) == 0 {
		list = slices.DeleteFunc(list, func(w release.Watch) bool { return w.Model == m.Name })
	}
	same := func(w release.Watch) bool {
		return w.Model == m.Name && slices.EqualFunc(w.Keys, sets, func(a, b []release.Key) bool {
			return slices.EqualFunc(a, b, func(a, b release.Key) bool {
				return a.Column == b.Column && a.Input == b.Input && a.Value == b.Value && slices.Equal(a.When, b.When)
			})
		})
	}
	if slices.ContainsFunc(list, same) {
		return list
	}
	return append(list, release.Watch{Model: m.Name, Keys: sets})
}

// watchPath watches all rows that a path from the row reads.
func (d *Dependence) watchPath(path []*model.Field) {
	for i, f := range path {
		if f.IsRelation() && (f.FK == nil || i+1 < len(path) && model.ReadsRelated(f, path[i+1])) {
			d.watchRows(f.Target)
		}
	}
}

// keysOf returns keys of which each row for which an expression holds has one, and notes what it depends on.
func (d *Dependence) keysOf(n expr.Node) []release.Key {
	d.chosen = map[string]int{}
	expr.Inspect(n, func(n expr.Node) bool {
		switch n := n.(type) {
		case *expr.Logic, *expr.Not:
			return true
		default:
			for _, p := range expr.Prefixes(n) {
				d.chosen[p.Key()]++
			}
		}
		return false
	})
	return d.keys(n)
}

func (d *Dependence) keys(n expr.Node) []release.Key {
	switch n := n.(type) {
	case *expr.Not:
		d.keys(n.Operand)
		return []release.Key{{}}
	case *expr.Logic:
		left, right := d.keys(n.Left), d.keys(n.Right)
		switch {
		case n.Op == syntax.Or:
			return append(left, right...)
		case len(left) == 1 && left[0].Column == "":
			return when(right, left[0].When)
		case len(right) == 1 && right[0].Column == "":
			return when(left, right[0].When)
		case hasAny(left):
			return right
		}
		return left
	case *expr.Literal:
		return []release.Key{{}}
	}
	m := expr.Mentions(n)
	isOfCaller := m.Identity || m.IsAuthenticated
	switch {
	case m.Now || m.Session():
		d.isPrivate = d.isPrivate || isOfCaller || m.Session()
	case !m.Row && len(m.Inputs) == 0 && isOfCaller:
		d.watchPathsOfCaller(n)
		return []release.Key{{When: []int{d.value("a condition on the caller", CallerValue{Condition: n})}}}
	case isOfCaller || len(m.Inputs) > 0:
		if keys := d.equality(n); keys != nil {
			return keys
		}
	}
	d.watchPathsOfCaller(n)
	for _, p := range expr.Paths(n) {
		switch {
		case p.Root == expr.RootRow:
			d.watchPath(d.along(p))
		case p.Root == expr.RootIdentity && (len(p.Steps) == 0 || p.ThroughToMany()):
			d.isPrivate = true
		case p.Root == expr.RootIdentity:
			d.value(spell("ctx.identity", p.Steps), CallerValue{Path: p})
		case p.Root == expr.RootIsAuthenticated:
			d.isPrivate = true
		}
	}
	return []release.Key{{}}
}

// equality returns the key of an equality of a path from the row with an input or a path from the caller; nil if n is
// something else.
func (d *Dependence) equality(n expr.Node) []release.Key {
	c, ok := n.(*expr.Compare)
	if !ok || c.Op != syntax.Equal {
		return nil
	}
	row, isPath := c.Left.(*expr.Path)
	other, isOther := c.Right.(*expr.Path)
	if isPath && isOther && other.Root == expr.RootRow {
		row, other = other, row
	}
	if !isPath || !isOther || row.Root != expr.RootRow {
		return nil
	}
	path := d.along(row)
	switch other.Root {
	case expr.RootInput:
		in := other.Input.(*model.Input)
		f := ownColumn(path)
		if f == nil || !isKey(f) || in.Optional || in.Nullable || in.Union != nil || d.action.Kind == model.List && !in.Explicit {
			return nil
		}
		return []release.Key{{Column: f.Column, Input: strings.Join(value.RequestPath(d.action, in), ".")}}
	case expr.RootIdentity:
		if len(path) == 0 || !isKeyed(path) || other.Type().Kind != expr.Model && !isKey(path[len(path)-1]) {
			return nil
		}
		for _, p := range expr.Prefixes(c) {
			d.isPrivate = d.isPrivate || d.chosen[p.Key()] > 1 // others choose the same child
		}
		d.watchPathsOfCaller(other)
		k := d.reach(d.action.Model, path, other)
		if k.Value == 0 {
			d.isPrivate = true
		}
		if d.isPrivate && slices.ContainsFunc(expr.Prefixes(c), func(p expr.Prefix) bool { return d.chosen[p.Key()] > 1 }) {
			d.watchPath(path)
		}
		return []release.Key{k}
	}
	return nil
}

// along is a path from the row by the copies that its model has, which follow what they are copied from.
func (d *Dependence) along(p *expr.Path) []*model.Field {
	return model.AlongCopy(d.action.Model, model.FieldsOf(p))
}

// isKeyed tells whether a path ends in a value that can be a key.
func isKeyed(path []*model.Field) bool {
	last := path[len(path)-1]
	return last.IsRelation() || isKey(last)
}

// reach returns the key of the rows of a model from which a path leads to what a path from the caller leads to. It
// follows the path from its end: the rows before the end have a key, their ids are a value of the caller, which is the
// key of the rows before them, and so on.
func (d *Dependence) reach(m *model.Model, path []*model.Field, other *expr.Path) release.Key {
	f := m.Field("id")
	if len(path) > 0 {
		f = ownColumn(path)
	}
	if f != nil {
		if len(other.Steps) == 0 {
			return release.Key{Column: f.Column}
		}
		return release.Key{Column: f.Column, Value: d.value(spell("ctx.identity", other.Steps), CallerValue{Path: other})}
	}
	first, rest := path[0], path[1:]
	d.watchCaller(first.Target, []release.Key{d.reach(first.Target, rest, other)})
	key, column := first.FK, first.Target.Field("id")
	if key == nil {
		key, column = m.Field("id"), first.Inverse.FK
	}
	steps := make([]expr.Step, len(rest))
	for i, s := range rest {
		steps[i] = s
	}
	condition := &expr.Compare{Op: syntax.Equal, Left: expr.RowPath(first.Target.Name, steps, other.Span()), Right: other}
	text := column.Name + " of each " + first.Target.Name + " with " + spell(first.Target.Variable, steps) + " == " + spell("ctx.identity", other.Steps)
	return release.Key{Column: key.Column, Value: d.value(text, CallerValue{Condition: condition, Rows: first.Target, Column: column})}
}

// value adds a value of the caller, and returns its place, counted from 1.
func (d *Dependence) value(text string, v CallerValue) int {
	if i := slices.Index(d.Values, text); i >= 0 && (v.Condition == nil || v.Rows != nil) {
		return i + 1
	}
	d.Values, d.CallerValues = append(d.Values, text), append(d.CallerValues, v)
	return len(d.Values)
}

// roles adds the value whether the caller has one of some roles.
func (d *Dependence) roles(roles []*model.Role) int {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = r.Name
	}
	d.watchCaller(d.identity, []release.Key{{Column: "id"}})
	return d.value("has role "+strings.Join(names, " or "), CallerValue{Roles: roles})
}

// watchPathsOfCaller watches what the paths from the caller read.
func (d *Dependence) watchPathsOfCaller(n expr.Node) {
	for _, p := range expr.Paths(n) {
		if p.Root != expr.RootIdentity {
			continue
		}
		at, key := d.identity, []release.Key{{Column: "id"}}
		for _, f := range model.FieldsOf(p) {
			if f.FK != nil || !f.IsRelation() {
				d.watchAt(at, key)
				key = nil
			} else {
				if key = nil; at.IsIdentity {
					key = []release.Key{{Column: f.Inverse.FK.Column}}
				}
				d.watchAt(f.Target, key)
			}
			if f.IsRelation() {
				at = f.Target
			}
		}
	}
}

func (d *Dependence) watchAt(m *model.Model, key []release.Key) {
	if key == nil {
		d.watchCaller(m)
		return
	}
	d.watchCaller(m, key)
}

// ownColumn returns the field whose column holds what a path from the row leads to; nil if another row has it.
func ownColumn(path []*model.Field) *model.Field {
	switch {
	case len(path) == 1 && path[0].FK != nil:
		return path[0].FK
	case len(path) == 1 && !path[0].IsRelation():
		return path[0]
	case len(path) == 2 && path[0].FK != nil && path[1].Name == "id":
		return path[0].FK
	}
	return nil
}

// isFaceted tells whether a list has a facet of a column: that counts also rows that the filter of the field leaves out.
func isFaceted(a *model.Action, f *model.Field) bool {
	return slices.ContainsFunc(a.Facets, func(facet *model.Facet) bool { return facet.Field == f || facet.Field.FK == f })
}

// isKey tells whether a field has the same text in the record of changes as in requests.
func isKey(f *model.Field) bool {
	switch f.Type.Kind {
	case expr.ID, expr.Text, expr.Markdown, expr.Enum, expr.Number, expr.Boolean:
		return !f.Type.Array
	}
	return false
}

func spell(root string, steps []expr.Step) string {
	for _, s := range steps {
		root += "." + s.StepName()
	}
	return root
}
