package list

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/table"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// isFolded tells whether an index serves startsWith on an input. Markdown is long, and people search inside it rather
// than by its beginning.
func isFolded(in *model.Input) bool {
	return in.Union == nil && in.Type.Kind == expr.Text && !in.Type.Array
}

// foldedFields returns the fields of a model that lists find by their beginnings.
func foldedFields(s *model.Schema, m *model.Model) []*model.Field {
	isFiltered := func(f *model.Field) bool {
		return slices.ContainsFunc(s.Actions, func(a *model.Action) bool {
			return a.Kind == model.List && !a.Custom && slices.ContainsFunc(a.Reads, func(in *model.Input) bool {
				return len(in.Path) > 0 && in.Path[len(in.Path)-1] == f && isFolded(in)
			})
		})
	}
	return slices.DeleteFunc(slices.Clone(m.Fields), func(f *model.Field) bool { return !isFiltered(f) })
}

// orderIndex is an index for the order of a list.
type orderIndex struct {
	action *model.Action
	behind []*model.Field // columns with the same value in all its rows; none means that it has all rows
	keys   []value.SortKey
}

// orderIndexes returns the indexes that the own orders of lists need in a table: the order alone, behind each foreign key
// that the list can be filtered by, and behind each column that a way of admitting rows compares with the caller. The
// order by id alone uses the primary key. A union's order has them where the arm takes each key from a column of its own,
// behind the columns that have one value in all rows of the arm: other rows of a caller are not read to find none of it.
func (l *Lowering) orderIndexes(m *model.Model) []orderIndex {
	var indexes []orderIndex
	add := func(a *model.Action, keys []value.SortKey, over func(expr.Node) expr.Node, same []*model.Field) {
		if len(keys) > 1 || keys[0].Field.Name != "id" || keys[0].Descending || same != nil {
			indexes = append(indexes, orderIndex{a, same, keys})
		}
		for _, in := range a.Reads {
			if f := value.OwnColumn(in); f != nil && f.FKOf != nil {
				indexes = append(indexes, orderIndex{a, []*model.Field{f}, keys})
			}
		}
		for _, w := range admittedByPolicy(m, a.Rules, over).ways {
			if w.lead != nil {
				w.equal = append(w.equal, same...)
			}
			if fields := w.indexed(keys); fields != nil {
				indexes = append(indexes, orderIndex{a, fields, keys})
			}
		}
	}
	for _, a := range m.Actions {
		if a.Kind == model.List && !a.Custom {
			add(a, value.OwnOrder(a), asItIs, nil)
		}
	}
	for _, u := range l.Schema.Unions {
		for _, arm := range value.ArmsOf(u) {
			for _, a := range u.Actions {
				if arm.Model != m || a.Kind != model.List {
					continue
				}
				if keys, same := ownKeys(arm, a), sameIn(arm); keys != nil {
					add(a, keys, arm.Over, same[:min(len(same), value.MaxKeys-len(keys))])
				}
			}
		}
	}
	return indexes
}

// sameIn are the fields that have one value in all rows of an arm.
func sameIn(a value.Arm) []*model.Field {
	var same []*model.Field
	for _, part := range operandsOf(a.Row(value.WhereLogic, value.InQuery, value.NoInput).AllHold(a.Conditions())) {
		if f, _, _ := equality(a.Model, part); f != nil && !slices.Contains(same, f) {
			same = append(same, f)
		}
	}
	return same
}

// ownKeys is the order of a union's list in terms of the arm's own columns, nil if some key is not one. Fields that an
// arm gives one value to order nothing there.
func ownKeys(a value.Arm, action *model.Action) []value.SortKey {
	var keys []value.SortKey
	for _, k := range value.KeysOfArms(action) {
		f := a.Union.Field(k.Field.Name)
		if _, isConstant := a.Value(f).(*expr.Literal); isConstant {
			continue
		}
		own := a.OwnField(f)
		if own == nil {
			return nil
		}
		keys = append(keys, value.SortKey{Field: own, Descending: k.Descending})
	}
	return keys
}

// orderedBy returns a list with a foreseen filter whose rows an @index has in the order of the list, or nil.
func orderedBy(m *model.Model, i *model.Index) *model.Action {
	for _, a := range m.Actions {
		isServed := func(set operatorSet) bool { return set.isInOrderOf(i, value.OwnOrder(a)) }
		if a.Kind == model.List && !a.Custom && slices.ContainsFunc(foreseenSets(a), isServed) {
			return a
		}
	}
	return nil
}

// isInOrderOf tells whether an @index begins with the columns that the set compares with one value each, and goes on in
// the order of a list. The id that ends the order may be missing there: it is added, see declaredIndex.
func (s operatorSet) isInOrderOf(i *model.Index, keys []value.SortKey) bool {
	leading := len(s.equals)
	if leading == 0 || len(i.Fields) <= leading {
		return false
	}
	for _, f := range s.equals {
		column := value.OwnColumn(f.Input)
		if column == nil || !slices.ContainsFunc(i.Fields[:leading], func(led *model.Field) bool { return value.StoredAs(led) == column }) {
			return false
		}
	}
	for at, k := range keys {
		if k.Descending != keys[0].Descending {
			return false
		}
		if leading+at == len(i.Fields) {
			return k.Field.Name == "id"
		}
		if value.StoredAs(i.Fields[leading+at]) != k.Field {
			return false
		}
	}
	return true
}

// leadingColumns are the columns that the indexes of a table begin with.
func leadingColumns(t *pg.Table) map[string]bool {
	leading := map[string]bool{}
	for _, c := range t.Constraints {
		if c.Kind != pg.Check {
			leading[c.Columns[0]] = true
		}
	}
	for _, i := range t.Indexes {
		leading[i.Keys[0].Column] = leading[i.Keys[0].Column] || i.Keys[0].Function == ""
	}
	return leading
}

// GiveIndexes gives a table its indexes, and notes what they begin with.
func (l *Lowering) GiveIndexes(t *pg.Table, m *model.Model) {
	t.Indexes = l.indexes(m, t.Constraints)
	l.indexed[m] = leadingColumns(t)
}

// indexes lowers the declared indexes, adds those that the orders of lists need, and gives each foreign key an index
// unless another one begins with it.
func (l *Lowering) indexes(m *model.Model, keys []*pg.Constraint) []*pg.Index {
	leading := map[string]bool{}
	for _, k := range keys {
		if k.Kind != pg.Check && k.Where == "" {
			leading[k.Columns[0]] = true
		}
	}
	var further []*pg.Index
	for _, i := range m.Indexes {
		further = append(further, l.declaredIndex(m, i, keys))
	}
	for _, o := range l.orderIndexes(m) {
		i := o.index(m)
		if !slices.ContainsFunc(further, func(known *pg.Index) bool { return serves(known, i, len(o.behind)) }) {
			i.Name = l.Names.Take(i.Name)
			further = append(further, i)
		}
	}
	for _, f := range foldedFields(l.Schema, m) {
		further = append(further, &pg.Index{
			Name:    l.Names.Take(m.Table + "_" + f.Column + "_fold_idx"),
			Origin:  table.OriginOfField(f),
			Keys:    []pg.IndexKey{{Column: f.Column, Function: "platform.fold"}},
			Comment: "startsWith of lists on " + f.Name,
		})
	}
	for _, i := range further {
		leading[i.Keys[0].Column] = true
	}

	var indexes []*pg.Index
	for _, f := range m.Fields {
		if f.FK != nil && !leading[f.FK.Column] {
			indexes = append(indexes, l.index(m, table.OriginOfField(f), []*model.Field{f.FK}, ""))
			leading[f.FK.Column] = true
		}
	}
	for _, column := range l.AcrossColumns(m) {
		if !leading[column] {
			i := &pg.Index{Name: l.Names.Take(m.Table + "_" + column + "_idx"), Origin: table.OriginOf(m), Keys: []pg.IndexKey{{Column: column}}}
			indexes = append(indexes, i)
		}
	}
	return append(indexes, further...)
}

// declaredIndex lowers an @index. If a list has its rows in the order of the index, as they are filtered by what leads
// it, the id that ends this order follows the declared fields, unless another index of the model has them and the id
// already. So Postgres need not sort them.
func (l *Lowering) declaredIndex(m *model.Model, i *model.Index, keys []*pg.Constraint) *pg.Index {
	fields, comment := i.Fields, "@index("+strings.Join(value.NamesOf(i.Fields), ", ")+")"
	id := m.Field("id")
	withID := append(slices.Clone(fields), id)
	if a := orderedBy(m, i); a != nil && !slices.Contains(fields, id) && len(fields) < value.MaxKeys && !hasIndexOn(m, withID, keys) {
		fields = withID
		comment += ", then the id that ends the order of " + a.Name
	}
	return l.index(m, table.OriginOfIndex(m, i), fields, comment)
}

// hasIndexOn tells whether an @index, or a key that binds all rows, begins with the fields.
func hasIndexOn(m *model.Model, fields []*model.Field, keys []*pg.Constraint) bool {
	columns := value.StoredColumnsOf(fields)
	begins := func(with []string) bool {
		return len(with) >= len(columns) && slices.Equal(with[:len(columns)], columns)
	}
	return slices.ContainsFunc(m.Indexes, func(i *model.Index) bool { return begins(value.StoredColumnsOf(i.Fields)) }) ||
		slices.ContainsFunc(keys, func(k *pg.Constraint) bool { return k.Kind != pg.Check && k.Where == "" && begins(k.Columns) })
}

// index returns the index for the order of a list, under the name it should have.
func (o orderIndex) index(m *model.Model) *pg.Index {
	i := &pg.Index{Name: m.Table, Origin: pg.Origin{Of: "action " + o.action.Name + " of model " + m.Name, Place: table.PlaceOf(o.action.Span)}}
	add := func(f *model.Field, descending bool) {
		i.Keys = append(i.Keys, pg.IndexKey{Column: f.Column, Descending: descending})
		i.Name += "_" + f.Column
		if descending {
			i.Name += "_desc"
		}
	}
	var order []string
	for _, k := range o.keys {
		order = append(order, k.Field.Name)
	}
	i.Comment = "the order of " + o.action.Name + " by " + strings.Join(order, ", ")
	if len(o.behind) > 0 {
		names := make([]string, len(o.behind))
		for n, f := range o.behind {
			add(f, false)
			if names[n] = f.Name; f.FKOf != nil {
				names[n] = f.FKOf.Name
			}
		}
		i.Comment += ", for rows of one " + strings.Join(names, " and ")
	}
	keys := o.keys
	if keys[0].Descending {
		keys = value.Reverse(keys) // Postgres reads an index in both directions
	}
	for _, k := range keys {
		if !slices.Contains(o.behind, k.Field) {
			add(k.Field, k.Descending)
		}
	}
	i.Name += "_idx"
	return i
}

// serves tells whether an index can replace another one: it begins with the same columns, and has the order behind
// them, forwards or in reverse.
func serves(known, wanted *pg.Index, behind int) bool {
	if len(known.Keys) < len(wanted.Keys) {
		return false
	}
	for n, k := range wanted.Keys {
		if known.Keys[n].Column != k.Column || known.Keys[n].Function != "" {
			return false
		}
	}
	isReversed := func(n int) bool { return known.Keys[n].Descending != wanted.Keys[n].Descending }
	for n := behind; n < len(wanted.Keys); n++ {
		if isReversed(n) != isReversed(behind) {
			return false
		}
	}
	return true
}

func (l *Lowering) index(m *model.Model, origin pg.Origin, fields []*model.Field, comment string) *pg.Index {
	i := &pg.Index{Origin: origin, Comment: comment}
	name := m.Table
	for _, f := range fields {
		c := value.StoredAs(f).Column
		i.Keys = append(i.Keys, pg.IndexKey{Column: c})
		name += "_" + c
	}
	i.Name = l.Names.Take(name + "_idx")
	return i
}
