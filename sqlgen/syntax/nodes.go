package syntax

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Source is one schema file: the name to show in messages and its bytes.
type Source struct {
	Name string
	Text []byte
}

// Place returns the place of a byte of the text.
func (s *Source) Place(offset int) Pos {
	before := s.Text[:offset]
	line := bytes.LastIndexByte(before, '\n') + 1
	return Pos{
		Offset: offset,
		Line:   bytes.Count(before, []byte("\n")) + 1,
		Column: utf8.RuneCount(before[line:]) + 1,
	}
}

// Pos is a place in a file. Line and Column count from 1, Column in characters;
// Offset counts bytes from 0.
type Pos struct {
	Offset, Line, Column int
}

// String returns the place as line:column.
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Span is a stretch of a file, from Start up to but not including End.
type Span struct {
	File       *Source
	Start, End Pos
}

// Node is anything that is in a file.
type Node interface {
	Span() Span
	Incomplete() bool
}

// node is embedded in every node and gives it its place.
type node struct {
	span       Span
	incomplete bool
}

// Span returns the stretch of the file that the node covers.
func (n *node) Span() Span { return n.span }

// Incomplete reports whether part of the node did not parse, for which an error
// has been reported. What the node lacks may have been written all the same, so
// nothing should be said about its absence.
func (n *node) Incomplete() bool { return n.incomplete }

// File is a parsed schema file. The nodes in the tree are whole, despite any errors:
// only members marked "nil means" are ever nil.
//
//	{ Decl }
type File struct {
	Source *Source
	Decls  []Decl
	Tokens []Token // all of them, comments and line ends in their trivia: what Format prints from
	node
}

// Decl is a *Model, *Union, *Enum, *Message, *Role, *API, *Job or *Later.
type Decl interface {
	Node
	isDecl()
}

// Ident is a name as written.
type Ident struct {
	Name string
	node
}

// Doc is the description before a declaration, field, action, arm or enum
// value: the text of its /// lines, joined by line breaks.
type Doc struct {
	Text string
	node
}

// Model is a model declaration.
//
//	model Name { fields { … } conditions { … } actions { … } @attribute … }
type Model struct {
	Doc     *Doc // nil means none
	Name    *Ident
	Members []Member // in the order written
	node
}

// Union is a union declaration.
//
//	union Name { fields { … } arms { … } actions { … } @attribute … }
type Union struct {
	Doc     *Doc // nil means none
	Name    *Ident
	Members []Member // in the order written
	node
}

// Member is a *FieldsBlock, *ConditionsBlock, *ArmsBlock, *ActionsBlock or *Attribute
// directly in a model, union or job. Blocks may repeat; FieldsOf and its siblings join them.
type Member interface {
	Node
	isMember()
}

// FieldsBlock is one fields block.
//
//	fields { Field … }
type FieldsBlock struct {
	Fields []*Field
	node
}

// ConditionsBlock is one conditions block of a model.
//
//	conditions { Condition … }
type ConditionsBlock struct {
	Conditions []*Condition
	node
}

// ArmsBlock is one arms block of a union.
//
//	arms { Arm … }
type ArmsBlock struct {
	Arms []*Arm
	node
}

// ActionsBlock is one actions block.
//
//	actions { Action … }
type ActionsBlock struct {
	Actions []*Action
	node
}

// FieldsOf returns the fields of all fields blocks, in the order written.
func FieldsOf(members []Member) []*Field {
	var fields []*Field
	for _, m := range members {
		if b, ok := m.(*FieldsBlock); ok {
			fields = append(fields, b.Fields...)
		}
	}
	return fields
}

// ConditionsOf returns the conditions of all conditions blocks, in the order written.
func ConditionsOf(members []Member) []*Condition {
	var conditions []*Condition
	for _, m := range members {
		if b, ok := m.(*ConditionsBlock); ok {
			conditions = append(conditions, b.Conditions...)
		}
	}
	return conditions
}

// ArmsOf returns the arms of all arms blocks, in the order written.
func ArmsOf(members []Member) []*Arm {
	var arms []*Arm
	for _, m := range members {
		if b, ok := m.(*ArmsBlock); ok {
			arms = append(arms, b.Arms...)
		}
	}
	return arms
}

// ActionsOf returns the actions of all actions blocks, in the order written.
func ActionsOf(members []Member) []*Action {
	var actions []*Action
	for _, m := range members {
		if b, ok := m.(*ActionsBlock); ok {
			actions = append(actions, b.Actions...)
		}
	}
	return actions
}

// AttributesOf returns the attributes that are directly among the members, in
// the order written.
func AttributesOf(members []Member) []*Attribute {
	var attrs []*Attribute
	for _, m := range members {
		if a, ok := m.(*Attribute); ok {
			attrs = append(attrs, a)
		}
	}
	return attrs
}

// Field is one line of a fields block or message.
//
//	name Type
//	name Type[]? @attribute …
type Field struct {
	Doc      *Doc // nil means none
	Name     *Ident
	Type     *Ident
	Array    *Mark // the [], nil means not an array
	Optional *Mark // the ?, nil means required
	Attrs    []*Attribute
	node
}

// Mark is a piece of punctuation whose presence means something: [] or ?.
type Mark struct {
	node
}

// Condition is one line of a conditions block.
//
//	name = Expr
type Condition struct {
	Doc        *Doc // nil means none
	Name       *Ident
	Expression Expr
	node
}

// Arm is one line of an arms block.
//
//	name Model @where(…) @set(…)
type Arm struct {
	Doc   *Doc // nil means none
	Name  *Ident
	Model *Ident
	Attrs []*Attribute
	node
}

// Action is one line of an actions block.
//
//	kind name(Inputs) with (Inputs) returns (Inputs) @attribute …
type Action struct {
	Doc     *Doc // nil means none
	Kind    *Ident
	Name    *Ident
	Reads   *Inputs
	With    *Inputs // nil means no with clause
	Returns *Inputs // nil means no returns clause
	Attrs   []*Attribute
	node
}

// Inputs is a parenthesised list of inputs, the keyword before it excluded.
//
//	(Input, Input)
type Inputs struct {
	List []*Input
	node
}

// Input is one input of an action.
//
//	path.of.fields?
//	label: Type[]?
type Input struct {
	Label    *Ident // nil means none
	Path     *Path  // of an explicit input: its type, one step
	Array    *Mark  // the [], nil means not an array
	Optional *Mark  // the ?, nil means required
	node
}

// Enum is an enum declaration.
//
//	enum Name { Value … }
type Enum struct {
	Doc    *Doc // nil means none
	Name   *Ident
	Values []*EnumValue
	node
}

// EnumValue is one value of an enum.
//
//	Name @attribute …
type EnumValue struct {
	Doc   *Doc // nil means none
	Name  *Ident
	Attrs []*Attribute
	node
}

// Message is a message declaration.
//
//	message Name { Field … }
type Message struct {
	Doc    *Doc // nil means none
	Name   *Ident
	Fields []*Field
	node
}

// Role is a role declaration.
//
//	role Name { emails { "…" } domains { "…" } expression { … } }
type Role struct {
	Doc    *Doc // nil means none
	Name   *Ident
	Blocks []*RoleBlock
	node
}

// RoleBlock is one block of a role.
//
//	emails { "…" }
//	domains { "…" }
//	expression { … }
type RoleBlock struct {
	Keyword    *Ident // emails, domains or expression
	Members    []*String
	Expression Expr // of expression; nil if there is none to be read
	node
}

// API is an api declaration.
//
//	api Name { models { Model { actions { name } } } }
type API struct {
	Doc    *Doc // nil means none
	Name   *Ident
	Models []*APIModel // of all models blocks
	node
}

// APIModel is a model or union that an api exposes.
//
//	Name
//	Name { actions { name … } }
type APIModel struct {
	Name    *Ident
	Actions []*Ident // of all actions blocks
	Listed  bool     // whether there is an actions block; without one, all actions are exposed
	node
}

// Job is a job declaration. Its fields blocks are those of its inputs.
//
//	job Name { inputs { … } @attribute … }
type Job struct {
	Doc     *Doc // nil means none
	Name    *Ident
	Members []Member // in the order written
	node
}

// Start is the action of a name by which callers start the job.
func (d *Job) Start(as string) *Action {
	reads := &Inputs{node: d.Name.node}
	reads.incomplete = d.incomplete
	for _, f := range FieldsOf(d.Members) {
		in := &Input{Label: f.Name, Path: &Path{Steps: []*Ident{f.Type}, node: f.Type.node}, Array: f.Array, Optional: f.Optional, node: f.node}
		reads.List = append(reads.List, in)
	}
	kind, name := &Ident{Name: "job", node: d.Name.node}, &Ident{Name: as, node: d.Name.node}
	return &Action{Doc: d.Doc, Kind: kind, Name: name, Reads: reads, Attrs: AttributesOf(d.Members), node: d.node}
}

// Later is a declaration of a later stage of the language; its body is skipped.
//
//	flow Name { … }
//	routes { … }
type Later struct {
	Doc     *Doc   // nil means none
	Keyword *Ident // flow, task or routes
	Name    *Ident // nil for routes
	node
}

// Attribute is an attribute with its arguments.
//
//	@name
//	@name(label: expr, path = expr)
type Attribute struct {
	Name   *Ident // without the @
	Args   []*Arg
	Parens bool // whether there are parentheses, empty ones included
	Later  bool // whether the attribute is of a later stage: its arguments were skipped
	node
}

// Arg is one argument of an attribute.
//
//	expr
//	label: expr
//	path = expr
type Arg struct {
	Label  *Ident // nil means none
	Target *Path  // left of =, nil means no assignment
	Value  Expr
	node
}

// Expr is a *Binary, *Not, *Negative, *Call, *Path, *String, *Number, *Bool, *Null,
// *List, *Paren or *BadExpr.
type Expr interface {
	Node
	isExpr()
}

// Operator is a binary operator as written.
type Operator string

// The binary operators.
const (
	Or             Operator = "||"
	And            Operator = "&&"
	Equal          Operator = "=="
	NotEqual       Operator = "!="
	Less           Operator = "<"
	LessOrEqual    Operator = "<="
	Greater        Operator = ">"
	GreaterOrEqual Operator = ">="
	In             Operator = "in"
	Add            Operator = "+"
	Subtract       Operator = "-"
	Multiply       Operator = "*"
	Divide         Operator = "/"
)

// Binary is an operator between two operands.
//
//	left op right
type Binary struct {
	Op     Operator
	OpSpan Span
	Left   Expr
	Right  Expr
	node
}

// Both returns the conjunction of two expressions, as if it were written where the left
// one is. For a path through a to-many each chooses its own child.
func Both(left, right Expr) Expr {
	n := node{span: left.Span()}
	apart := &Not{Operand: &Paren{Inner: &Not{Operand: &Paren{Inner: right, node: n}, node: n}, node: n}, node: n}
	return &Binary{Op: And, OpSpan: left.Span(), Left: &Paren{Inner: left, node: n}, Right: apart, node: n}
}

// Not is a negation.
//
//	!operand
type Not struct {
	Operand Expr
	node
}

// Negative is the opposite of a value. That of a number literal is a *Number.
//
//	-operand
type Negative struct {
	Operand Expr
	node
}

// Call is the call of a function.
//
//	NAME(value, value)
//	NAMEIF(path, condition)
//	ctx.signedInWithin("5 minutes")
type Call struct {
	Name *Ident
	Args []Expr
	node
}

// Path is a chain of names.
//
//	a.b.c
type Path struct {
	Steps []*Ident
	node
}

// String is a text literal with its escapes resolved.
type String struct {
	Value string
	text  string // as written, quotes included
	node
}

// Number is a number literal. Text is its spelling, a leading minus included.
type Number struct {
	Text      string
	IsInteger bool
	node
}

// Bool is true or false.
type Bool struct {
	Value bool
	node
}

// Null is null.
type Null struct {
	node
}

// List is a list.
//
//	[a, b]
type List struct {
	Elements []Expr
	node
}

// Paren is an expression in parentheses.
type Paren struct {
	Inner Expr
	node
}

// BadExpr is in place of an expression that did not parse or is not part of the
// language. The error has been reported, so checks do not report it again.
type BadExpr struct {
	node
}

func (*Model) isDecl()   {}
func (*Union) isDecl()   {}
func (*Enum) isDecl()    {}
func (*Message) isDecl() {}
func (*Role) isDecl()    {}
func (*API) isDecl()     {}
func (*Job) isDecl()     {}
func (*Later) isDecl()   {}

func (*FieldsBlock) isMember()     {}
func (*ConditionsBlock) isMember() {}
func (*ArmsBlock) isMember()       {}
func (*ActionsBlock) isMember()    {}
func (*Attribute) isMember()       {}

func (*Binary) isExpr()   {}
func (*Not) isExpr()      {}
func (*Negative) isExpr() {}
func (*Call) isExpr()     {}
func (*Path) isExpr()     {}
func (*String) isExpr()   {}
func (*Number) isExpr()   {}
func (*Bool) isExpr()     {}
func (*Null) isExpr()     {}
func (*List) isExpr()     {}
func (*Paren) isExpr()    {}
func (*BadExpr) isExpr()  {}

// IsArithmetic tells whether an expression is made by an operator of arithmetic.
func IsArithmetic(e Expr) bool {
	switch e := e.(type) {
	case *Negative:
		return true
	case *Binary:
		switch e.Op {
		case Add, Subtract, Multiply, Divide:
			return true
		}
	}
	return false
}

// Unparen strips parentheses from around an expression.
func Unparen(e Expr) Expr {
	for {
		p, ok := e.(*Paren)
		if !ok {
			return e
		}
		e = p.Inner
	}
}
