package model

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Written returns an input as the schema writes it, without its type.
func (in *Input) Written() string {
	if len(in.Path) > 0 {
		return PathName(in.Path)
	}
	return in.Name
}

// Schema is a checked project: every name is resolved, every type known, every
// rule of the language holds. Nothing in it is half done, so the stages after
// this one have no user errors left to report.
type Schema struct {
	Config   *Config
	Models   []*Model // in declaration order; Identity comes first
	Unions   []*Union
	Enums    []*Enum
	Messages []*Message
	Roles    []*Role
	APIs     []*API    // the default api first, if it exists and is not declared
	Actions  []*Action // of models and unions, and those that start jobs, in declaration order

	Jobs        []*Job
	Subscribers []*Subscriber // in the order of their first @on
}

// Job is code that runs by itself: when somebody starts it.
type Job struct {
	Name      string
	Doc       string
	Start     *Action // by which callers start it; its model is named for the job, and has no rows
	Schedules []*Schedule
	Retries   int // how often a run that failed is tried again
	Span      syntax.Span
}

// Schedule is one @schedule of a job.
type Schedule struct {
	Text string
	Zone string // empty means UTC
}

// EventsOf returns what a subscriber is told of a model.
func (s *Subscriber) EventsOf(m *Model) []*Event {
	var events []*Event
	for _, e := range s.Events {
		if e.Model == m {
			events = append(events, e)
		}
	}
	return events
}

// Subscriber is who is told of events: code of the project, or a webhook.
type Subscriber struct {
	Name     string
	Function string // snake form
	IsCode   bool   // whether functions/<name>.sql exists
	Events   []*Event
	Span     syntax.Span
}

// Event is one @on: the writes to a model's rows that a subscriber is told of.
type Event struct {
	Model  *Model
	Kinds  []Kind
	Fields []*Field  // of an update: one of them changed; empty means any
	Where  expr.Node // nil means every row
	Span   syntax.Span
}

// History is the @history of a model: every version of its rows is kept.
type History struct {
	Keep string // for how long, as an interval of Postgres; empty means for ever
}

// Config is what the compiler reads of sternpost.yaml.
type Config struct {
	UseDefaultAPI   bool // default true
	HideRefusedRows bool
	ChecksInline    bool // whether @accepts and @maxSize bind data URLs too
	Environment     []string
	Secrets         []string
	Claims          []Claim
	ProvesAny       bool // whether one of several providers names no domains of the addresses that it proves
	Webhooks        []Webhook

	Incomplete bool // whether a name is missing because its entry is in error
}

// Webhook is one entry of subscribers: its address is the server's matter.
type Webhook struct {
	Name string
	Span syntax.Span
}

// Claim is one entry of auth.claims: a field that it adds to Identity.
type Claim struct {
	Key    string
	Field  string
	Unique bool
}

// Model is a model, Identity included.
type Model struct {
	Name        string
	Variable    string // its name in expressions
	Table       string // its name in the database, without schema
	Doc         string
	IsIdentity  bool
	Fields      []*Field // in the order of a record: id, the declared ones, createdAt, updatedAt; an FK field behind its to-one
	Uniques     []*Unique
	Indexes     []*Index
	Conditions  []*Condition
	Validations []*Validation
	Rules       []*Rule // model-level @permission
	Actions     []*Action
	History     *History    // nil means that none is kept
	RenamedFrom string      // the table's former name in the schema language; empty means none
	RenamedAt   syntax.Span // of the @renamed that gives it
	Span        syntax.Span
}

// Field returns the field of that name, or nil.
func (m *Model) Field(name string) *Field {
	for _, f := range m.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Field is a field of a model.
type Field struct {
	Model       *Model
	Name        string
	Column      string // snake form; a to-one on the FK side has its FK field's; empty means no column
	Doc         string
	Type        expr.Type
	Optional    bool
	Unique      bool        // bears @unique, or @sequence without per, or is an FK field of a to-one that does, or is id
	Index       bool        // bears @index
	Default     *Default    // nil means none
	Computed    *Computed   // nil means none; of a to-one its FK field has the same
	Sequence    *Sequence   // nil means none
	BuiltIn     bool        // id, createdAt, updatedAt
	FKOf        *Field      // of an FK field: its to-one
	FK          *Field      // of a to-one on the FK side: its FK field
	Target      *Model      // of a relation: the model it leads to
	Inverse     *Field      // of a relation: the field that leads back; nil means none
	OnDelete    OnDelete    // of a to-one on the FK side; empty if it is computed: the database holds it to no row
	Enum        *Enum       // of an enum field
	Accepts     []string    // of a File: patterns, lower case; empty accepts all
	MaxSize     int64       // of a File: bytes
	Limits                  // of its values
	Hidden      bool        // bears @hidden, or is the FK field of a to-one that does: no record shows it
	RenamedFrom string      // former name; empty means none
	RenamedAt   syntax.Span // of the @renamed that gives it
	Span        syntax.Span
}

// IsRelation tells whether the field's type is a model.
func (f *Field) IsRelation() bool { return f.Type.Kind == expr.Model }

// IsToMany tells whether the field is a relation to any number of rows.
func (f *Field) IsToMany() bool { return f.IsRelation() && f.Type.Array }

// IsToOne tells whether the field is a relation to at most one row.
func (f *Field) IsToOne() bool { return f.IsRelation() && !f.Type.Array }

// HasColumn tells whether the field is a column of its own: every scalar, FK
// fields included. A to-one has none; its FK field does.
func (f *Field) HasColumn() bool { return !f.IsRelation() }

// The methods by which package expr sees a field.

// StepName returns the field's name.
func (f *Field) StepName() string { return f.Name }

// StepType returns the field's type.
func (f *Field) StepType() expr.Type { return f.Type }

// StepOptional tells whether the field may be null.
func (f *Field) StepOptional() bool { return f.Optional }

// StepModel returns the name of the field's model.
func (f *Field) StepModel() string { return f.Model.Name }

// StepStored tells whether the model has a column for the field.
func (f *Field) StepStored() bool { return f.Column != "" }

// StepWriteOnly tells whether the field's value can never be read.
func (f *Field) StepWriteOnly() bool { return f.Type.Kind.IsWriteOnly() }

// OnDelete is the effect of deleting the referenced row.
type OnDelete string

// The effects of deleting the referenced row.
const (
	Cascade  OnDelete = "cascade"
	Restrict OnDelete = "restrict"
	SetNull  OnDelete = "setNull"
)

// Default is a column's default.
type Default struct {
	Bare  bool      // @default without value: the type's own
	Value expr.Node // a *expr.Literal, *expr.List or ctx.now; nil if Bare
}

// Unique is a composite unique constraint.
type Unique struct {
	Fields []*Field // as written: a to-one stands for its FK field
	Span   syntax.Span
}

// Index is a declared index: @index on a model, or on a field.
type Index struct {
	Fields []*Field // as written: a to-one stands for its FK field
	Span   syntax.Span
}

// Enum is an enum.
type Enum struct {
	Name   string
	Doc    string
	Values []*EnumValue
	Span   syntax.Span
}

// EnumValue is one value of an enum.
type EnumValue struct {
	Name        string
	Doc         string
	RenamedFrom string      // former name; empty means none
	RenamedAt   syntax.Span // of the @renamed that gives it
	Span        syntax.Span
}

// Message is the input or result of a read or write.
type Message struct {
	Name   string
	Doc    string
	Fields []*MessageField
	Span   syntax.Span
}

// MessageField is one field of a message.
type MessageField struct {
	Name     string
	Doc      string
	Type     expr.Type
	Optional bool
	Enum     *Enum    // of an enum field
	Model    *Model   // of a model field
	Message  *Message // of a message field
	Span     syntax.Span
}

// Role is a role. Callers have it by a verified e-mail among its members, or by an expression.
type Role struct {
	Name    string
	Doc     string
	Emails  []string // lower case
	Domains []string // lower case
	Span    syntax.Span

	// Expressions give the role to further callers: to each for whom one of them holds.
	Expressions []*Membership
}

// HasMembers tells whether the role has members, by their e-mail addresses.
func (r *Role) HasMembers() bool { return len(r.Emails)+len(r.Domains) > 0 }

// Membership is one expression of a role. It mentions neither rows nor inputs.
type Membership struct {
	Expression expr.Node
	Text       string // in its formatted spelling
	Tree       syntax.Expr
}

// Rule is one @permission. A rule with both expression and roles needs both. A rule for a
// role with an expression becomes several, since rules are joined by or: one for the members
// of the roles, and one for each expression, which is then part of its Expression.
type Rule struct {
	Expression expr.Node // nil means none
	Roles      []*Role   // any one of them; empty means none
	Kinds      []Kind    // of a model-level rule: the kinds it covers
	Jobs       []string  // of a model-level rule: the subscribers whose code it allows the same
	JobKinds   []Kind    // what it allows them
	Text       string    // expression and roles in their formatted spelling, for comments
	Span       syntax.Span
	Condition  string // the expression in its formatted spelling

	By   *Membership // how the caller has the role; nil means none
	Role *Role       // that it is of
	Rest expr.Node   // with By, the expression without it; nil means none
}

// Validation is one @validate.
type Validation struct {
	Expression expr.Node
	Message    string // as given, else the expression in its formatted spelling
	Text       string // the expression in its formatted spelling
	Field      *Field // of a model: the field that a refusal names; nil means none
	Input      *Input // of an action: the input that a refusal names; nil means none
	Span       syntax.Span
}

// Kind is the kind of an action.
type Kind string

// The kinds of actions.
const (
	Get    Kind = "get"
	List   Kind = "list"
	Create Kind = "create"
	Update Kind = "update"
	Delete Kind = "delete"
	Read   Kind = "read"
	Write  Kind = "write"
	Start  Kind = "job" // of a job

	ReadHistory Kind = "history"
)

// RuleKind is the kind that rules of a model name to admit calls of actions of this one.
func (k Kind) RuleKind() Kind {
	if k == ReadHistory {
		return Get
	}
	return k
}

// IsOfCode tells whether all that actions of the kind do is custom code, without a row of their own.
func (k Kind) IsOfCode() bool { return k == Read || k == Write || k == Start }

// Action is an action of a model or union.
type Action struct {
	Kind          Kind
	Name          string
	Function      string // snake form
	Doc           string
	Model         *Model // nil for an action of a union
	Union         *Union // nil for an action of a model
	Reads         []*Input
	Writes        []*Input    // of create and update: the with inputs
	Returns       *Returns    // of read and write
	Custom        bool        // the body is custom code: read, write and @function
	Many          bool        // of create, update and delete: a call takes any number of inputs
	CustomAt      syntax.Span // what says that it is custom code: the @function or the kind
	Rules         []*Rule     // those that count: its own or, if it bears none, its model's for its kind
	OwnRules      bool        // whether Rules are the action's own
	Wheres        []*Where
	Sets          []*Set
	Validations   []*Validation
	OrderBy       []*OrderKey
	Sortable      []*Field      // of a model's list
	UnionSortable []*UnionField // of a union's list
	Facets        []*Facet      // of a list
	Embeds        []*Embed
	Selected      Shape                // what its @select names; nil means that it bears none
	Invitation    *Invitation          // nil means that it bears no @invitation
	Pins          [][]*Equality        // pinning sets of get, update, delete, the first first: each alone pins one row, and one that holds conjuncts of several branches of a || pins it whichever branch holds
	Live          *Live                // nil means that nobody can follow its answer
	IsLogged      bool                 // whether it may write what a subscriber is told of, or what a history keeps
	Allowed       []*syntax.Diagnostic // the warnings that its @allow silences
	Span          syntax.Span
}

// Invitation is the @invitation of a create.
type Invitation struct {
	Address *Field // the e-mail address of the new row, which the create takes
	Account *Field // the to-one to Identity that accepting sets
}

// StoredIn returns the fields in which the action stores an input. Implicit inputs that look
// up or filter are not stored.
func (a *Action) StoredIn(in *Input) []*Field {
	if !in.Explicit {
		if !in.IsWrite {
			return nil
		}
		return []*Field{in.Path[len(in.Path)-1]}
	}
	var fields []*Field
	for _, s := range a.Sets {
		if p, ok := s.Value.(*expr.Path); ok && p.Root == expr.RootInput && p.Input == expr.Input(in) {
			fields = append(fields, s.Target[len(s.Target)-1])
		}
	}
	return fields
}

// Live is the @live of an action.
type Live struct {
	Of []*Model // what its custom code reads
}

// Returns is the result of a read or write: a message, or any JSON.
type Returns struct {
	Message *Message // nil means Any
}

// Input is one input of an action.
type Input struct {
	Name     string      // flat name, or label
	Explicit bool        // label: Type
	Path     []*Field    // of an implicit input on a model: the fields from the action's model on; the last is not a relation
	Union    *UnionField // of an implicit input of a union's action
	Type     expr.Type
	Enum     *Enum    // of an enum input
	Message  *Message // of the one unlabelled message of a read or write
	Optional bool     // marked ?
	Nullable bool     // may be null
	IsWrite  bool     // is in the with clause
	Span     syntax.Span
}

// InputName returns the input's flat name.
func (i *Input) InputName() string { return i.Name }

// InputType returns the input's type.
func (i *Input) InputType() expr.Type { return i.Type }

// InputOptional tells whether the input may be absent.
func (i *Input) InputOptional() bool { return i.Optional }

// InputNullable tells whether the input may be null.
func (i *Input) InputNullable() bool { return i.Nullable }

// Equality is one of the equalities of a get, update or delete: an implicit read
// input, or a conjunct of a @where.
type Equality struct {
	Input *Input        // nil for a conjunct
	Where *expr.Compare // nil for an input
}

// Where is one @where.
type Where struct {
	Expression expr.Node
	Text       string
	Span       syntax.Span
}

// Set is one @set of an action.
type Set struct {
	Target []*Field // the path from the action's model on; a to-one may come as the relation, its FK field or its id
	Value  expr.Node
	Span   syntax.Span
}

// OrderKey is one key of an @orderBy.
type OrderKey struct {
	Field      *Field      // of a model's list
	UnionField *UnionField // of a union's list
	Descending bool
	Span       syntax.Span
}

// Embed is a relation that a record shows in full, with its own embeds.
type Embed struct {
	Field  *Field
	Embeds []*Embed
}

// Union is a read-only view over rows of several models.
type Union struct {
	Name        string
	Variable    string
	Table       string // snake form
	Doc         string
	Fields      []*UnionField
	Arms        []*Arm
	Rules       []*Rule
	Actions     []*Action
	RenamedFrom string      // former name; empty means none
	RenamedAt   syntax.Span // of the @renamed that gives it
	Span        syntax.Span
}

// Field returns the field of that name, or nil.
func (u *Union) Field(name string) *UnionField {
	for _, f := range u.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// UnionField is a field of a union. It is an expr.Step too, without column.
type UnionField struct {
	Union    *Union
	Name     string
	Column   string // snake form
	Doc      string
	Type     expr.Type
	Optional bool
	Enum     *Enum
	BuiltIn  bool // id, sourceModel, sourceArm
	Span     syntax.Span
}

// StepName returns the field's name.
func (f *UnionField) StepName() string { return f.Name }

// StepType returns the field's type.
func (f *UnionField) StepType() expr.Type { return f.Type }

// StepOptional tells whether the field may be null.
func (f *UnionField) StepOptional() bool { return f.Optional }

// StepModel returns the name of the field's union.
func (f *UnionField) StepModel() string { return f.Union.Name }

// StepStored is always false: a union stores nothing.
func (f *UnionField) StepStored() bool { return false }

// StepWriteOnly is always false: a union has no such fields.
func (f *UnionField) StepWriteOnly() bool { return false }

// Arm is one arm of a union.
type Arm struct {
	Name   string
	Doc    string
	Model  *Model
	Wheres []*Where
	Values []*ArmValue // one per declared field of the union, in its order
	Span   syntax.Span
}

// ArmValue is the value that an arm gives to a field of its union.
type ArmValue struct {
	Field *UnionField
	Value expr.Node // a path of the source row or a literal; nil means null
}

// API is a set of actions under one path.
type API struct {
	Name    string
	Path    string // lower case
	Doc     string
	Actions []*Action // in declaration order of the actions

	ExposesIdentity bool     // and with it actions that the server brings for accounts
	IdentityActions []string // the names of these; none means all
}

// Stored returns the fields of a model that are columns, in record order.
func (m *Model) Stored() []*Field {
	var fields []*Field
	for _, f := range m.Fields {
		if f.HasColumn() {
			fields = append(fields, f)
		}
	}
	return fields
}

// PassesOptional tells whether the field of an input, or a relation on the way to it, is
// optional.
func (in *Input) PassesOptional() bool {
	if in.Union != nil {
		return in.Union.Optional
	}
	return slices.ContainsFunc(in.Path, func(f *Field) bool { return f.Optional })
}

// EmbedOf returns the embed of a field, nil if it is not embedded.
func EmbedOf(f *Field, embeds []*Embed) *Embed {
	for _, e := range embeds {
		if e.Field == f {
			return e
		}
	}
	return nil
}

// Orderable returns the fields of its model that a list can be ordered by.
func (a *Action) Orderable() []*Field {
	var fields []*Field
	for _, k := range a.OrderBy {
		fields = append(fields, k.Field)
	}
	for _, f := range a.Sortable {
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	return fields
}
