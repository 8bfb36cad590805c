package expr

import "slices"

// Place is the place of an expression. It decides which names are allowed and the code
// of a mistake.
type Place int

// The places of expressions.
const (
	Where          Place = iota + 1 // @where of an action
	ActionRule                      // @permission of an action
	ModelRule                       // @permission of a model or union
	RoleRule                        // expression of a role
	SetValue                        // value of @set in an action
	ActionValidate                  // @validate of an action
	ModelValidate                   // @validate of a model
	ArmWhere                        // @where of an arm
	ArmValue                        // value of @set in an arm
	Default                         // @default
	Computed                        // @computed
	EventWhere                      // where of an @on
)

// Scope tells what names mean where an expression is. Package schema
// implements it. Lists of names are candidates for "did you mean" and come in
// the order of declaration.
type Scope interface {
	// Place returns where the expression is.
	Place() Place

	// Row returns the variable, the model or union of its row, and whether it may be
	// named. It may not in a rule that covers read or write (RowInRule), nor in the
	// places without a row (the variable is then unknown there). In an arm it is the
	// row of the source model.
	Row() (variable, model string, nameable bool)

	// Field returns the field of a model or union, false if there is none. Identity is
	// a model here, too.
	Field(model, name string) (Step, bool)

	// FieldNames returns the names of all fields and conditions of a model or union.
	FieldNames(model string) []string

	// Condition returns a condition of a model as an expression over its row, false if
	// there is none. The node is nil if the condition is in error.
	Condition(model, name string) (Node, bool)

	// Input returns the input that a name means at this place, and whether it can be
	// named; the Input counts only if the use is InputNameable. A name that is both a
	// read and a write input means the read input in @where and @permission, the write
	// input elsewhere. Input finds none where the language does not allow inputs.
	Input(name string) (Input, InputUse)

	// InputNames returns the names of the inputs that can be named.
	InputNames() []string

	// EnumValues returns the values of an enum, false for an unknown enum.
	EnumValues(enum string) ([]string, bool)

	// EnumNames returns the names of all enums.
	EnumNames() []string

	// EnvNames and SecretNames return the names that the configuration declares.
	EnvNames() []string
	SecretNames() []string

	// HeaderName returns the snake form of a header's name.
	HeaderName(name string) string

	// SourceNames returns the texts that a field of a union can be compared
	// with: the names of the source models for sourceModel, of the arms for
	// sourceArm. It is false for every other field.
	SourceNames(field Step) ([]string, bool)
}

// InputUse tells whether an input can be named.
type InputUse int

// The uses of inputs.
const (
	NoInput          InputUse = iota // no input has that name
	InputNameable                    // it can be named
	InputFiltersList                 // it is an implicit input of a list (ListInput)
	InputBelowToMany                 // it is an input of a create below a to-many step (ManyInput)
)

// Target is the target of a value: a stored field or a to-one in @set, the field
// that bears @default, a field of a union in an arm.
type Target struct {
	Type     Type
	Optional bool   // whether it takes null
	Name     string // as messages call it: order.state, or title
	Level    []Step // the relations to the rows that get the value, if a create makes them: paths may pass these, from row to row
}

// takesMany tells whether a path passes a to-many, so that it has many values for one row of the target.
func (t Target) takesMany(p *Path) bool {
	for i, s := range p.Steps {
		if isToMany(s) && !(p.Root == RootRow && i < len(t.Level) && slices.Equal(p.Steps[:i+1], t.Level[:i+1])) {
			return true
		}
	}
	return false
}
