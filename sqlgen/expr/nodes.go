package expr

import "github.com/sternpost/sternpost/sqlgen/syntax"

// String returns the type as the schema language writes it.
func (t Type) String() string {
	name := t.Name
	if name == "" {
		name = t.Kind.String()
	}
	if t.Array && t.Kind != AnyList {
		return name + "[]"
	}
	return name
}

// Type is the type of a field, an input or an expression. Types are comparable with ==.
type Type struct {
	Kind  Kind
	Name  string // of the enum, model or message
	Array bool
}

// Node is a checked expression: every name is resolved and every operator fits
// its operands. It is a *Literal, *List, *Path, *Arithmetic, *Negative, *Function, *Aggregate, *Compare,
// *Logic or *Not.
type Node interface {
	Type() Type
	Span() syntax.Span
}

// Literal is a constant. A text literal beside a Date, Timestamp or Duration has
// that type, so Value always has the form for its Kind:
//
//	text kinds          string
//	Number, Decimal     string, the digits as written, sign included
//	Boolean             bool
//	Date, Timestamp     string, ISO 8601 (a Timestamp in UTC, three fraction digits)
//	Duration            string, ISO 8601
//	Enum                string, the value's name
//	NullKind            nil
type Literal struct {
	Value   any
	untyped bool // a text literal that has not met another side yet
	base
}

// List is a list of literals, inputs and ctx paths. Its type is that of the
// other side, as an array; but if an element is a Decimal beside Number, or a
// Timestamp beside Date, it is an array of those. An empty list has the kind
// AnyList.
type List struct {
	Elements []Node
	base
}

// Root is the start of a path.
type Root int

// The roots of paths.
const (
	RootRow             Root = iota + 1 // the row, by its variable
	RootInput                           // an input of the action; Input is set
	RootIdentity                        // ctx.identity
	RootIsAuthenticated                 // ctx.isAuthenticated, no steps
	RootNow                             // ctx.now, no steps
	RootHeader                          // ctx.headers.Name, no steps; Name is set
	RootEnv                             // ctx.env.NAME, no steps; Name is set
	RootSecret                          // ctx.secrets.NAME, no steps; Name is set
	RootSecondFactor                    // ctx.secondFactor, no steps
	RootSignedInWithin                  // ctx.signedInWithin(…), no steps; Name is the literal
)

// Step is a field that a path passes or ends in. Package schema's *Field is the
// one implementation outside of tests.
type Step interface {
	StepName() string    // as written in the schema
	StepType() Type      // Array is true for a to-many
	StepOptional() bool  // whether it may be null
	StepModel() string   // the name of the model that has the field
	StepStored() bool    // whether the model has a column for it
	StepWriteOnly() bool // see Kind.IsWriteOnly
}

// Input is an input that a path names. Package schema's *Input is the one
// implementation outside of tests.
type Input interface {
	InputName() string // the flat name
	InputType() Type
	InputOptional() bool // whether it may be absent
	InputNullable() bool // whether it may be null
}

// Path is a chain of names. Without steps and rooted at the row or the identity it
// means that whole row and has the type of its model.
type Path struct {
	Root  Root
	Name  string // RootHeader (snake form), RootEnv, RootSecret, RootSignedInWithin
	Input Input  // RootInput
	Steps []Step
	base
}

// RowPath returns the path from the row of a model, or union, through steps. It is for
// implied paths; span is the place to blame.
func RowPath(model string, steps []Step, span syntax.Span) *Path {
	return newPath(Path{Root: RootRow, Steps: steps}, Type{Kind: Model, Name: model}, span)
}

// newPath completes a path whose root has the given type.
func newPath(p Path, root Type, span syntax.Span) *Path {
	p.base = base{typ: root, span: span}
	if len(p.Steps) > 0 {
		p.typ = p.Steps[len(p.Steps)-1].StepType()
	}
	return &p
}

// ThroughToMany tells whether the path passes a to-many or ends in one.
func (p *Path) ThroughToMany() bool {
	for _, s := range p.Steps {
		if isToMany(s) {
			return true
		}
	}
	return false
}

// MayBeNull tells whether the path's value can be null.
func (p *Path) MayBeNull() bool {
	if p.Root == RootIdentity || p.Root == RootHeader || p.Root == RootInput && (p.Input.InputOptional() || p.Input.InputNullable()) {
		return true
	}
	for _, s := range p.Steps {
		if s.StepOptional() {
			return true
		}
	}
	return false
}

// isWriteOnly tells whether the path ends in a field that can never be read.
func (p *Path) isWriteOnly() bool { return p.typ.Kind.IsWriteOnly() }

// isToMany tells whether a step leads to any number of rows.
func isToMany(s Step) bool { return s.StepType().Kind == Model && s.StepType().Array }

// Compare is a comparison of two operands, neither of which is Boolean logic.
// Op is ==, !=, <, <=, >, >= or in.
type Compare struct {
	Op          syntax.Operator
	Left, Right Node
	base
}

// Logic joins two Boolean operands. Op is && or ||.
type Logic struct {
	Op          syntax.Operator
	Left, Right Node
	base
}

// Not is a negation. Its operand is an expression of its own: for a path through a
// to-many it chooses its own child, regardless of choices outside.
type Not struct {
	Operand Node
	base
}

// base gives a node its type and its place.
type base struct {
	typ  Type
	span syntax.Span
	use  *Use // of a condition that the node stands for; nil means none
}

// Type returns the type of the expression.
func (b *base) Type() Type { return b.typ }

// Span returns where the expression is.
func (b *base) Span() syntax.Span { return b.span }
