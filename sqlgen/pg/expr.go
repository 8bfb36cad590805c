package pg

// Expr is an SQL expression.
type Expr interface {
	isExpr()
}

// ColumnRef is a column, always qualified by its table or alias.
type ColumnRef struct {
	Table, Name string
}

// Name is a parameter or other bare name.
type Name struct {
	Name string
}

// Text is a text literal.
type Text struct {
	Value string
}

// Raw is a literal or keyword expression that is printed as it is: a number,
// true, null, now().
type Raw struct {
	SQL string
}

// Call is a function call. Name is qualified unless it is Postgres' own.
type Call struct {
	Name string
	Args []Expr
}

// Param is name => value: an argument that a call passes by name.
type Param struct {
	Name  string
	Value Expr
}

// Binary is a binary operator that is not a logical one: =, <, ||, ->>, @> and the like.
type Binary struct {
	Op          string
	Left, Right Expr
}

// Minus is -operand.
type Minus struct {
	Operand Expr
}

// Cast is left::type.
type Cast struct {
	Value Expr
	Type  string
}

// Is is a postfix test: is null, is not null, is true, is not true, is false.
type Is struct {
	Value Expr
	Test  string // null, not null, true, not true, false, not false
}

// Not is a negation.
type Not struct {
	Operand Expr
}

// And is a conjunction; without operands it is true.
type And struct {
	Operands []Expr
}

// Or is a disjunction; without operands it is false.
type Or struct {
	Operands []Expr
}

// In is value in (list), or not in.
type In struct {
	Value Expr
	List  []Expr
}

// Any is value op any (array) or value op all (array).
type Any struct {
	Value Expr
	Op    string
	All   bool
	Array Expr
}

// Case is a searched case, or a simple one if Value is set.
type Case struct {
	Value Expr // nil means searched
	Whens []When
	Else  Expr // nil means null
}

// When is one branch of a Case.
type When struct {
	Condition Expr
	Result    Expr
	Comment   string
}

// Subquery is (select …) as a value.
type Subquery struct {
	Query *Select
}

// Exists is exists (select …).
type Exists struct {
	Query *Select
}

// ArrayOf is array(select …).
type ArrayOf struct {
	Query *Select
}

// Array is array[…].
type Array struct {
	Elements []Expr
}

// Slice is array[from:to].
type Slice struct {
	Array    Expr
	From, To Expr
}

// Element is array[index].
type Element struct {
	Array Expr
	Index Expr
}

// Field is (composite).field.
type Field struct {
	Value Expr
	Name  string
}

// AllFields is (composite).*, in a select list.
type AllFields struct {
	Value Expr
}

// Row is row(…).
type Row struct {
	Values []Expr
	IsBare bool // (…), as in a comparison of rows
}

// RowNumber is row_number() over (order by …).
type RowNumber struct {
	OrderBy []Order
}

// Fragment is the text of an expression as a text literal, from which a function builds a statement of its own. Prefix
// and Suffix are around the expression inside the literal.
type Fragment struct {
	Prefix  string
	Value   Expr     // nil means only Prefix
	Columns []Output // the columns of a query
	Select  *Select  // a query from its select on
	Query   *QueryTail
	Suffix  string
}

// Filters is what the conditions of a list's operators are made of, as a text literal that holds a JSON object: by the
// name of each field its kind, its value in a query and, if it is behind relations, the rows that have it.
type Filters struct {
	Fields []Filter
}

// Filter is a member of Filters: a field that can be filtered by, without a value one whose conditions are elsewhere, or a
// group of fields, which has rows and no value.
type Filter struct {
	Name, Kind string
	Value      Expr
	Rows       *QueryTail // nil means that the value is one of the row itself
	Group      int        // the number of the group that it is in; 0 means none
}

// QueryTail is the part of a query from its from on, for fragments.
type QueryTail struct {
	From  From
	Joins []Join
	Where Expr
}

func (*ColumnRef) isExpr() {}
func (*Name) isExpr()      {}
func (*Variable) isExpr()  {}
func (*Text) isExpr()      {}
func (*Raw) isExpr()       {}
func (*Call) isExpr()      {}
func (*Param) isExpr()     {}
func (*Binary) isExpr()    {}
func (*Minus) isExpr()     {}
func (*Cast) isExpr()      {}
func (*Is) isExpr()        {}
func (*Not) isExpr()       {}
func (*And) isExpr()       {}
func (*Or) isExpr()        {}
func (*In) isExpr()        {}
func (*Any) isExpr()       {}
func (*Case) isExpr()      {}
func (*Subquery) isExpr()  {}
func (*Exists) isExpr()    {}
func (*ArrayOf) isExpr()   {}
func (*Array) isExpr()     {}
func (*Slice) isExpr()     {}
func (*Element) isExpr()   {}
func (*Field) isExpr()     {}
func (*AllFields) isExpr() {}
func (*Row) isExpr()       {}
func (*RowNumber) isExpr() {}
func (*Fragment) isExpr()  {}
func (*Filters) isExpr()   {}

// Col returns table.column.
func Col(table, column string) *ColumnRef { return &ColumnRef{Table: table, Name: column} }

// Var returns a bare name.
func Var(name string) *Name { return &Name{Name: name} }

// Str returns a text literal.
func Str(value string) *Text { return &Text{Value: value} }

// Lit returns an expression that is printed as it is.
func Lit(sql string) *Raw { return &Raw{SQL: sql} }

// True, False and Null are the constants.
func True() *Raw  { return &Raw{SQL: "true"} }
func False() *Raw { return &Raw{SQL: "false"} }
func Null() *Raw  { return &Raw{SQL: "null"} }

// Fn returns a call.
func Fn(name string, args ...Expr) *Call { return &Call{Name: name, Args: args} }

// Op returns left op right.
func Op(left Expr, op string, right Expr) *Binary {
	return &Binary{Op: op, Left: left, Right: right}
}

// Eq returns left = right.
func Eq(left, right Expr) *Binary { return Op(left, "=", right) }

// As returns value::type.
func As(value Expr, typ string) *Cast { return &Cast{Value: value, Type: typ} }

// IsNull and IsNotNull test for null.
func IsNull(value Expr) *Is    { return &Is{Value: value, Test: "null"} }
func IsNotNull(value Expr) *Is { return &Is{Value: value, Test: "not null"} }

// IsTrue and IsFalse tell whether an expression is the constant.
func IsTrue(e Expr) bool  { r, ok := e.(*Raw); return ok && r.SQL == "true" }
func IsFalse(e Expr) bool { r, ok := e.(*Raw); return ok && r.SQL == "false" }

// AllOf joins conditions by and. Constants are folded, nested conjunctions and
// nil operands dissolved.
func AllOf(operands ...Expr) Expr {
	var kept []Expr
	for _, o := range operands {
		switch o := o.(type) {
		case nil:
		case *And:
			kept = append(kept, o.Operands...)
		default:
			if IsFalse(o) {
				return False()
			}
			if !IsTrue(o) {
				kept = append(kept, o)
			}
		}
	}
	switch len(kept) {
	case 0:
		return True()
	case 1:
		return kept[0]
	}
	return &And{Operands: kept}
}

// AnyOf joins conditions by or, likewise.
func AnyOf(operands ...Expr) Expr {
	var kept []Expr
	for _, o := range operands {
		switch o := o.(type) {
		case nil:
		case *Or:
			kept = append(kept, o.Operands...)
		default:
			if IsTrue(o) {
				return True()
			}
			if !IsFalse(o) {
				kept = append(kept, o)
			}
		}
	}
	switch len(kept) {
	case 0:
		return False()
	case 1:
		return kept[0]
	}
	return &Or{Operands: kept}
}

// Negate negates a two-valued condition. Constants, double negations and null tests fold.
func Negate(e Expr) Expr {
	switch e := e.(type) {
	case *Raw:
		if IsTrue(e) {
			return False()
		}
		if IsFalse(e) {
			return True()
		}
	case *Not:
		return e.Operand
	case *Is:
		if rest, ok := cutNot(e.Test); ok {
			return &Is{Value: e.Value, Test: rest}
		}
		return &Is{Value: e.Value, Test: "not " + e.Test}
	}
	return &Not{Operand: e}
}

func cutNot(test string) (string, bool) {
	if len(test) > 4 && test[:4] == "not " {
		return test[4:], true
	}
	return test, false
}
