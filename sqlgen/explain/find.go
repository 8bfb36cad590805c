package explain

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// maxCandidates is the number of rows read to find the one that a call pins. The
// conditions that can be put into the query mostly leave one.
const maxCandidates = 1000

// condition is an equality that a row must satisfy: the value of a path from it. A path
// that ends in a to-one compares the id of its row, and one without steps the id of the
// row itself.
type condition struct {
	path  []*model.Field
	value any // as a literal has it; nil means null
}

// find returns the rows of a model that satisfy conditions, in the order of their
// ids. Conditions that pass one to-many are about one and the same child.
func (s *store) find(m *model.Model, conditions []condition, limit int) []*row {
	return s.findFiltered(m, conditions, limit, "")
}

// findFiltered is find among the rows that a filter leaves, a condition on the table with arguments.
func (s *store) findFiltered(m *model.Model, conditions []condition, limit int, filter string, args ...any) []*row {
	q := query{args: args}
	text := "select t.id from " + view(m) + " as t where true"
	if filter != "" {
		text += " and t.id in (select id from " + view(m) + " where " + filter + ")"
	}
	if where := q.where("t", conditions, 0); where != "" {
		text += " and " + where
	}
	var rows []*row
	for _, id := range s.ids(fmt.Sprintf("%s order by t.id limit %d", text, limit+1), q.args...) {
		if len(rows) == limit {
			s.isFull = true
			break
		}
		rows = append(rows, s.row(m, id))
	}
	return rows
}

// query is a query that is being written.
type query struct {
	args    []any
	aliases int
}

// where writes the conditions on the row that depth steps of their paths lead to.
func (q *query) where(alias string, conditions []condition, depth int) string {
	var parts []string
	var relations []*model.Field
	below := map[*model.Field][]condition{}
	for _, c := range conditions {
		if len(c.path) == depth {
			parts = append(parts, q.equal(alias+".id", expr.Type{Kind: expr.ID}, c.value))
			continue
		}
		f := c.path[depth]
		if f.HasColumn() {
			parts = append(parts, q.equal(alias+"."+pg.Ident(f.Column), f.Type, c.value))
			continue
		}
		if below[f] == nil {
			relations = append(relations, f)
		}
		below[f] = append(below[f], c)
	}
	for _, f := range relations {
		parts = append(parts, q.related(alias, f, below[f], depth+1))
	}
	return strings.Join(parts, " and ")
}

// related writes the conditions on a row to which a relation leads. Without such a row,
// its values are null.
func (q *query) related(alias string, f *model.Field, conditions []condition, depth int) string {
	q.aliases++
	to := fmt.Sprint("t", q.aliases)
	link := to + ".id = " + alias + "." + pg.Ident(f.Column)
	if f.FK == nil {
		link = to + "." + pg.Ident(f.Inverse.FK.Column) + " = " + alias + ".id"
	}
	from := " from " + view(f.Target) + " as " + to + " where " + link
	text := "exists (select" + from + " and " + q.where(to, conditions, depth) + ")"
	if f.IsToOne() && allNull(conditions) {
		text = "(" + text + " or not exists (select" + from + "))"
	}
	return text
}

// allNull tells whether all conditions are that something is null.
func allNull(conditions []condition) bool {
	for _, c := range conditions {
		if c.value != nil {
			return false
		}
	}
	return true
}

// equal writes that a column has a value.
func (q *query) equal(column string, t expr.Type, value any) string {
	if value == nil {
		return column + " is null"
	}
	q.args = append(q.args, value)
	array := ""
	if t.Array {
		array = "[]"
	}
	return fmt.Sprintf("%s = $%d::text%s::%s%s", column, len(q.args), array, lower.CastType(t.Kind), array)
}

// pinned returns the conditions that the row of a get, update or delete must satisfy: its
// implicit read inputs and those conjuncts of its @wheres that are equalities with values
// known before a row is read. It returns false if the request gives no set of them that
// pins a row.
func (c *call) pinned() ([]condition, bool) {
	conditions := c.looked()
	for _, w := range c.action.Wheres {
		if !c.mentionsAbsent(w.Expression) {
			conditions = append(conditions, c.equalities(w.Expression)...)
		}
	}
	for _, set := range c.action.Pins {
		if c.isGiven(set) {
			return conditions, true
		}
	}
	return conditions, len(c.action.Pins) == 0
}

// looked returns the conditions of the implicit read inputs.
func (c *call) looked() []condition {
	var conditions []condition
	for _, in := range c.action.Reads {
		if value, given := c.inputs[in.Name]; given && !in.Explicit && in.Union == nil {
			conditions = append(conditions, condition{in.Path, text(value)})
		}
	}
	return conditions
}

// isGiven tells whether none of the inputs of a pinning set is absent.
func (c *call) isGiven(set []*model.Equality) bool {
	for _, e := range set {
		if e.Input != nil {
			if _, given := c.inputs[e.Input.Name]; !given {
				return false
			}
		} else if c.mentionsAbsent(e.Where) {
			return false
		}
	}
	return true
}

// mentionsAbsent tells whether an expression mentions an input that is not given.
func (c *call) mentionsAbsent(n expr.Node) bool {
	for _, in := range expr.Mentions(n).Inputs {
		if _, given := c.inputs[in.InputName()]; !given {
			return true
		}
	}
	return false
}

// equalities returns the conjuncts of an expression that fix a path of the row.
func (c *call) equalities(n expr.Node) []condition {
	switch n := n.(type) {
	case *expr.Logic:
		if n.Op == syntax.And {
			return append(c.equalities(n.Left), c.equalities(n.Right)...)
		}
	case *expr.Compare:
		if n.Op != syntax.Equal {
			return nil
		}
		for _, sides := range [][2]expr.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
			if found, ok := c.equality(sides[0], sides[1]); ok {
				return []condition{found}
			}
		}
	}
	return nil
}

// equality returns the condition that a path of the row has a known value. The interpreter
// handles paths through a to-many, since the other conditions on the same child count.
func (c *call) equality(row, other expr.Node) (condition, bool) {
	path, ok := row.(*expr.Path)
	if !ok || path.Root != expr.RootRow || path.ThroughToMany() || path.Type().Array || expr.Mentions(other).Row {
		return condition{}, false
	}
	var found condition
	for _, step := range path.Steps {
		f, isField := step.(*model.Field)
		if !isField { // of a union, whose rows are found in another way
			return condition{}, false
		}
		found.path = append(found.path, f)
	}
	if isDateBesideTimestamp(path.Type(), other.Type()) || other.Type().Kind == expr.NullKind {
		return condition{}, false
	}
	switch other := other.(type) {
	case *expr.Literal:
		found.value = text(other.Value)
	case *expr.Path:
		if other.ThroughToMany() {
			return condition{}, false
		}
		values := c.values(other, nil)
		if len(values) != 1 || values[0] == nil {
			return condition{}, false
		}
		found.value = text(values[0])
	default:
		return condition{}, false
	}
	return found, true
}

// isDateBesideTimestamp tells whether two types compare by another rule than that
// of the column.
func isDateBesideTimestamp(a, b expr.Type) bool {
	return a.Kind == expr.Date && b.Kind == expr.Timestamp || a.Kind == expr.Timestamp && b.Kind == expr.Date
}

// text returns a value as text, so that the query can say its type.
func text(value any) any {
	switch value := value.(type) {
	case bool:
		return fmt.Sprint(value)
	case []any:
		texts := []string{}
		for _, v := range value {
			texts = append(texts, fmt.Sprint(v))
		}
		return texts
	}
	return value
}
