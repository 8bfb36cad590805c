package lower

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// The values that the rules of a list compare rows with are looked up once, before rows are read, and held in
// variables. Postgres then knows them when it plans a statement, and finds nothing behind a null.

// known returns a condition of the rules with the values that are the same for all rows in variables.
func (b *builder) known(condition pg.Expr) pg.Expr {
	around := append(aliasesIn(condition), b.table)
	if b.action.Union != nil {
		for _, arm := range b.action.Union.Arms {
			around = append(around, arm.Model.Table)
		}
	}
	isSame := func(e pg.Expr) bool {
		own, mentioned := aliasesIn(e), pg.Mentions(e)
		return !slices.ContainsFunc(around, func(name string) bool { return mentioned.Table(name) && !slices.Contains(own, name) })
	}
	return pg.Replace(condition, func(e pg.Expr) pg.Expr {
		switch e := e.(type) {
		case *pg.Subquery:
			if reflect.DeepEqual(e, identityID(inQuery)) {
				return b.caller()
			}
			if typ, name := b.typeOf(e.Query); typ != "" && isSame(e) {
				return b.hold(name, typ, e)
			}
		case *pg.Exists:
			if isSame(e) {
				name := "is_known"
				if c, ok := e.Query.Where.(*pg.ColumnRef); ok {
					name = c.Name
				}
				return b.hold(name, "boolean", e)
			}
		}
		return nil
	})
}

// caller is the caller's id: an argument, or a variable that holds it.
func (b *builder) caller() pg.Expr {
	if slices.Contains(b.fn.Arguments, callerArgument) {
		return b.callerID()
	}
	return b.hold("caller", "text", b.callerID())
}

// hold returns the variable that holds a value.
func (b *builder) hold(name, typ string, value pg.Expr) *pg.Variable {
	for _, v := range b.held {
		if reflect.DeepEqual(v.Initial, value) {
			return v
		}
	}
	b.held = append(b.held, b.variableFor(name, typ, value))
	return b.held[len(b.held)-1]
}

// typeOf returns the type of the column that a query reads from a view of a model, and a name for the value. The type is
// empty if it reads anything else.
func (b *builder) typeOf(q *pg.Select) (typ, name string) {
	if len(q.Columns) != 1 {
		return "", ""
	}
	column, ok := q.Columns[0].Value.(*pg.ColumnRef)
	if !ok {
		return "", ""
	}
	for _, m := range modelsRead(b.action) {
		for _, f := range m.Stored() {
			if f.Column == column.Name && slices.ContainsFunc(tablesOf(q), func(t *pg.TableRef) bool {
				return t.Name == m.Table && (t.Alias == column.Table || t.Alias == "" && t.Name == column.Table)
			}) {
				return variableType(f.Type), m.Table + "_" + f.Column
			}
		}
	}
	return "", ""
}

// tablesOf are the tables and views that a query reads.
func tablesOf(q *pg.Select) []*pg.TableRef {
	var tables []*pg.TableRef
	add := func(f pg.From) {
		if t, ok := f.(*pg.TableRef); ok {
			tables = append(tables, t)
		}
	}
	add(q.From)
	for _, j := range q.Joins {
		add(j.With)
	}
	return tables
}

// aliasesIn are the names under which the queries in an expression have their rows.
func aliasesIn(e pg.Expr) []string {
	var names []string
	pg.Replace(e, func(e pg.Expr) pg.Expr {
		var q *pg.Select
		switch e := e.(type) {
		case *pg.Subquery:
			q = e.Query
		case *pg.Exists:
			q = e.Query
		case *pg.ArrayOf:
			q = e.Query
		default:
			return nil
		}
		for _, t := range tablesOf(q) {
			if t.Alias != "" {
				names = append(names, t.Alias)
			} else {
				names = append(names, t.Name)
			}
		}
		return nil
	})
	return names
}

// parameters are the values that the text of a statement takes as $3: those of variables and arguments.
type parameters struct {
	values []pg.Expr
	types  []string
}

// inText is a condition as part of the text of a statement.
func (p *parameters) inText(condition pg.Expr) pg.Expr {
	return pg.Replace(condition, func(e pg.Expr) pg.Expr {
		if v, ok := e.(*pg.Variable); ok {
			return p.of(v)
		}
		return nil
	})
}

// of is the parameter that holds the value of a variable.
func (p *parameters) of(v *pg.Variable) pg.Expr {
	at := slices.Index(p.values, pg.Expr(v))
	if at < 0 {
		at = len(p.values)
		p.values = append(p.values, v)
	}
	parameter := pg.Expr(&pg.Element{Array: pg.Var("$3"), Index: pg.Lit(strconv.Itoa(at + 1))})
	if v.Type != "text" {
		return pg.As(parameter, v.Type)
	}
	return parameter
}

// array is the values as a function of the platform takes them.
func (p *parameters) array() pg.Expr {
	texts := make([]pg.Expr, len(p.values))
	for i, v := range p.values {
		if texts[i] = v; v.(*pg.Variable).Type != "text" {
			texts[i] = pg.As(v, "text")
		}
	}
	return pg.As(&pg.Array{Elements: texts}, "text[]")
}

// lookUpValues looks up the values that ways compare a column with: no more than show a page sooner than the order of
// the list does.
func (b *builder) lookUpValues(ways []way, size pg.Expr) {
	var statements []pg.Statement
	for i := range ways {
		w := &ways[i]
		if w.oneOf == nil {
			continue
		}
		typ := castType(w.oneOf.Type.Kind) + "[]"
		values := slices.Clone(w.values)
		for n, v := range values {
			if found, ok := v.(*pg.ArrayOf); ok {
				w.enough = b.enough(*w, size)
				q := *found.Query
				q.Limit = pg.Lit(w.enough.Name + "[1]")
				values[n] = &pg.ArrayOf{Query: &q}
			}
		}
		w.held = b.variableFor(w.oneOf.Column+"s", typ, nil)
		statements = append(statements, &pg.Assign{Variable: w.held, Value: concatenated(values...)})
		if w.enough != nil {
			w.isMany = pg.Op(pg.Fn("cardinality", w.held), ">=", pg.Lit(w.enough.Name+"[1]"))
		}
	}
	if len(statements) > 0 {
		b.step("What the rules compare rows with.", statements...)
	}
}

// enough is the variable that holds how many values of a way are enough to look along the order.
func (b *builder) enough(w way, size pg.Expr) *pg.Variable {
	own := w.oneOf.Model
	if w.oneOf.FKOf != nil {
		own = w.oneOf.FKOf.Target
	}
	table := func(m *model.Model) pg.Expr { return pg.Str(pg.Qualified(appSchema, m.Table)) }
	return b.hold("enough_"+own.Table, "bigint[]", pg.Fn("platform.enough", table(own), table(w.oneOf.Model), size))
}

// valuesHeld are the variables that hold values of the caller, as arguments of another function.
func (b *builder) valuesHeld() []pg.Argument {
	var arguments []pg.Argument
	for _, v := range b.fn.Variables {
		arguments = append(arguments, pg.Argument{Name: v.Name, Type: v.Type})
	}
	return arguments
}

// manyOf tells whether the caller has so many values for any of some ways.
func manyOf(ways []way) pg.Expr {
	var many []pg.Expr
	for _, w := range ways {
		if w.isMany != nil {
			many = append(many, w.isMany)
		}
	}
	return pg.AnyOf(many...)
}
