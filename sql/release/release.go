// Package release is the contract between the compiler and the server: what the
// compiler writes into platform.release, and what a server reads from there.
//
// It holds plain data, its JSON form and the one reader of the published JSON Schemas,
// nothing else. The compiler fills a
// Manifest in package lower; the server builds its calls from one and never sees
// a schema file.
package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Format is the version of the manifest's form. A server serves the formats it
// knows and says in /readyz that a newer one is too new.
const Format = 1

// Manifest is what a server needs to serve one release.
type Manifest struct {
	Format      int                   `json:"format"`
	APIs        []API                 `json:"apis"`
	Models      []Model               `json:"models"`                // those with actions, unions too, in declaration order
	Callers     []string              `json:"callers"`               // classes of callers: anonymous, authenticated, each role
	Actions     []*Action             `json:"actions"`               // in declaration order
	Records     map[string][]Member   `json:"records"`               // what functions answer rows of: the columns in the order of the wire
	Schemas     Schemas               `json:"schemas"`               // JSON Schemas 2020-12 by component name
	Constraints map[string]Constraint `json:"constraints"`           // by name; of a required column by table.column
	Headers     []string              `json:"headers,omitempty"`     // snake forms under ctx.headers that some rule reads
	Environment []string              `json:"environment,omitempty"` // names under ctx.env
	Secrets     []string              `json:"secrets,omitempty"`     // names under ctx.secrets
	Claims      []Claim               `json:"claims,omitempty"`      // of the configuration, kept with an identity
	Encrypted   []Column              `json:"encrypted,omitempty"`   // of Secret fields
}

// errTooNew comes right when the server is replaced by a newer one.
var errTooNew = errors.New("the database is newer than this server")

// ReadManifest reads a manifest of a form that this package knows.
func ReadManifest(text []byte) (*Manifest, error) {
	var form struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, err
	}
	if form.Format > Format {
		return nil, fmt.Errorf("%w: its format is %d, this server knows up to %d", errTooNew, form.Format, Format)
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, err
	}
	return m, nil
}

// Action returns the action of that name, or nil.
func (m *Manifest) Action(name string) *Action {
	for _, a := range m.Actions {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Claim is a claim of ID tokens that the project keeps with an identity.
type Claim struct {
	Key    string `json:"key"`    // its name in ID tokens
	Column string `json:"column"` // of app.identity
}

// Column is a column of a table in schema app.
type Column struct {
	Table  string `json:"table"`
	Column string `json:"column"`
}

// API is a set of actions under one path.
type API struct {
	Name    string   `json:"name"`
	Path    string   `json:"path"` // the first path segment: the name in lower case
	Doc     string   `json:"doc,omitempty"`
	Actions []string `json:"actions"` // names

	// Identity tells that the API exposes the model Identity, and with it the actions that
	// a server brings for accounts.
	Identity bool `json:"identity,omitempty"`
}

// Model is a model or union, as far as actions need to be told where they belong.
type Model struct {
	Name    string `json:"name"`
	Doc     string `json:"doc,omitempty"`
	IsUnion bool   `json:"isUnion,omitempty"`
	Table   string `json:"table,omitempty"` // in schema app; a union has none
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
)

// Writes tells whether actions of the kind change rows.
func (k Kind) Writes() bool {
	return k == Create || k == Update || k == Delete || k == Write
}

// Action is one action, whatever the APIs that expose it.
type Action struct {
	Name     string `json:"name"`
	Kind     Kind   `json:"kind"`
	Model    string `json:"model"` // the model or union it belongs to
	Doc      string `json:"doc,omitempty"`
	Function string `json:"function"`         // in schema api
	Record   string `json:"record,omitempty"` // of Records: what the function answers rows of; empty means that it answers JSON
	Early    string `json:"early,omitempty"`  // in schema api, likewise: true, false or null; empty means none
	Input    string `json:"input"`            // component: the schema of the whole request body
	Result   string `json:"result,omitempty"` // component: the schema of the answer; empty for a delete, and where any JSON may come

	// Arguments are what Function takes, in order; none means (input jsonb, context jsonb),
	// which is what Early always takes.
	Arguments []Argument `json:"arguments,omitempty"`

	// Foreseen is the function that has a statement for each operator set of a list that
	// is foreseen; nil means that there is none.
	Foreseen *Foreseen `json:"foreseen,omitempty"`

	// Order is what a list whose function answers rows is ordered by, the id at last;
	// Sortable is what requests may order it by.
	Order    []SortKey `json:"order,omitempty"`
	Sortable []SortKey `json:"sortable,omitempty"`

	// Facets is the function of a list that tells of the values of all its rows, in the
	// same statement as the page; empty means that there are none. It takes PlainSignature.
	Facets string `json:"facets,omitempty"` // in schema api

	// Inputs says which input writes which field: the way from a constraint that
	// failed back to the offending input.
	Inputs []Input `json:"inputs,omitempty"`

	// FromCaller are the required fields that it writes from the caller, who may lack them.
	FromCaller []FromCaller `json:"fromCaller,omitempty"`

	// Sealed are the passwords and secrets that the action makes of texts.
	Sealed []Sealed `json:"sealed,omitempty"`

	// Files are the inputs that have an upload route.
	Files []FileInput `json:"files,omitempty"`

	// Inline are its other inputs for files that bound them, all below other rows. The
	// paths have no places within arrays.
	Inline []FileInput `json:"inline,omitempty"`

	// LookUp is the path of the first look-up input of get, update and delete.
	LookUp string `json:"lookUp,omitempty"`

	// Anonymous is false if the action's rules can never admit an anonymous caller.
	Anonymous bool `json:"anonymous"`

	// AnonymousUploads is true if the rules can admit an anonymous caller who sends a
	// file ahead of the call, where neither the row nor the inputs are known.
	AnonymousUploads bool `json:"anonymousUploads,omitempty"`

	// Rules are the permission rules that count, as they are written; one that
	// admits is enough.
	Rules []string `json:"rules,omitempty"`

	// Access says for each class of callers whether the rules admit it: always, never,
	// or depends.
	Access []string `json:"access,omitempty"`

	// Custom tells that the action runs code of the project, which may refuse with
	// errors of its own.
	Custom bool `json:"custom,omitempty"`
}

// Argument is an argument of a function that takes its inputs one by one. One without
// Input, which is the last, says what is known of the request: the id of the caller as
// text, or the whole context as jsonb.
type Argument struct {
	Name  string `json:"name"`
	Type  string `json:"type"`            // as Postgres prints it
	Input string `json:"input,omitempty"` // the member of the request's body, dotted: values.title

	// Given tells that the argument says whether the request gives the input, null or not.
	Given bool `json:"given,omitempty"`
}

// ContextType is the type of an argument that takes the whole context.
const ContextType = "jsonb"

// Signature is the types of what the action's function takes, as Postgres prints them.
func (a *Action) Signature() string {
	if len(a.Arguments) == 0 {
		return PlainSignature
	}
	types := make([]string, len(a.Arguments))
	for i, argument := range a.Arguments {
		types[i] = argument.Type
	}
	return strings.Join(types, ", ")
}

// PlainSignature is the types of what a function takes that takes its input as a whole.
const PlainSignature = "jsonb, jsonb"

// FormSignature is the types of what a function takes that has a statement for each form.
const FormSignature = PlainSignature + ", text"

// Foreseen is the function of a list for operator sets that are foreseen. A request without
// paging inputs other than first and after, and without orderBy, may go to the form of its
// set; every other request goes to the action's function.
type Foreseen struct {
	Function string   `json:"function"` // in schema api, called with (input jsonb, context jsonb, form text)
	Forms    []string `json:"forms"`    // the sets, as OperatorSet writes them

	// Seeks tells that the forms take a position. What they answer then begins with the
	// row at the position, if there is still one: it tells that rows lie before the page.
	Seeks bool `json:"seeks,omitempty"`
}

// Member is a column of the rows that a function answers, and the member that it becomes
// in a record. The first one is the id, which no row is without.
type Member struct {
	Name   string     `json:"name"`
	Column string     `json:"column"`
	Type   MemberType `json:"type"`
	Array  bool       `json:"array,omitempty"`

	// Embedded tells that the column is beside the row and holds embedded records.
	// Where any member is, the row itself is the column RowColumn.
	Embedded bool `json:"embedded,omitempty"`
}

// SortKey is a field that a list is ordered by.
type SortKey struct {
	Member
	Nullable   bool `json:"nullable,omitempty"`
	Descending bool `json:"descending,omitempty"`

	// Follows tells that it goes the way of the key before it, also in the order of a
	// request; Descending says which way that is in the list's own.
	Follows bool `json:"follows,omitempty"`
}

// DefaultPageSize is how many records a page has whose size a request leaves open.
const DefaultPageSize = 50

// RowColumn is the column that holds the row where embedded records are beside it.
const RowColumn = "v_row"

// MemberType says how the values of a column are written as JSON.
type MemberType string

// The types of members.
const (
	TextMember      MemberType = "text"
	NumberMember    MemberType = "number"
	DecimalMember   MemberType = "decimal"
	BooleanMember   MemberType = "boolean"
	TimestampMember MemberType = "timestamp"
	DateMember      MemberType = "date"
	DurationMember  MemberType = "duration"
	RealMember      MemberType = "real" // single precision, of a Vector
	JSONMember      MemberType = "json" // as it is
)

// Input is a write input and the field it writes.
type Input struct {
	Path  string `json:"path"`  // dotted, from the request body's root: values.author.id
	Table string `json:"table"` // without schema
	Field string `json:"field"` // a to-one by its FK field: authorId
}

// FromCaller is a required field that an action writes from a path that begins at the
// caller's Identity, which may be null.
type FromCaller struct {
	Table string `json:"table"`
	Field string `json:"field"`
	Lacks string `json:"lacks"` // what a caller may lack on the way: person
}

// Sealed is a password or secret that an action writes and that no input brings as
// such: the server hashes or encrypts a text, and hands the result to the function as
// a member of "sealed" in its context. The text is one of the following; where it is an
// input that is absent or null, there is no such member.
type Sealed struct {
	Name string `json:"name"` // of the member: the field that is written, as the schema names it
	As   string `json:"as"`   // password or secret

	Input       string  `json:"input,omitempty"`       // its path, dotted, from the request body's root
	Header      string  `json:"header,omitempty"`      // its snake form
	Environment string  `json:"environment,omitempty"` // a name under ctx.env
	Secret      string  `json:"secret,omitempty"`      // a name under ctx.secrets
	Text        *string `json:"text,omitempty"`        // a literal

	// Hidden tells that nothing else of the action reads the input, so that the
	// function is called without its text.
	Hidden bool `json:"hidden,omitempty"`
}

// The values of Sealed.As.
const (
	Password = "password"
	Secret   = "secret"
)

// FileInput is an input that takes files and has an upload route. What it demands of
// a file is what the field demands that the file is stored in.
type FileInput struct {
	Name    string   `json:"name"`              // top-level; the last segment of the route
	Path    string   `json:"path"`              // dotted, from the request body's root: values.cover
	Array   bool     `json:"array,omitempty"`   // takes several
	Accepts []string `json:"accepts,omitempty"` // patterns, lower case: image/png, image/*; none accepts every type
	MaxSize int64    `json:"maxSize"`           // bytes
}

// ConstraintKind is what a constraint demands.
type ConstraintKind string

// The kinds of constraints that a caller can break.
const (
	Unique    ConstraintKind = "unique"
	Reference ConstraintKind = "reference"
	Required  ConstraintKind = "required"
	Validate  ConstraintKind = "validate"
	MaxLength ConstraintKind = "maxLength"
	MaxItems  ConstraintKind = "maxItems"
	Range     ConstraintKind = "range" // of values that arithmetic makes
)

// Constraint is a database constraint as callers know it.
type Constraint struct {
	Kind    ConstraintKind `json:"kind"`
	Table   string         `json:"table"`
	Fields  []string       `json:"fields,omitempty"`  // a to-one by its FK field
	Message string         `json:"message,omitempty"` // of Validate
	Limit   int64          `json:"limit,omitempty"`   // of MaxLength, in characters, and MaxItems
}

// Schemas is a list of named JSON Schemas that keeps its order, and that of the
// members of each: errors are reported in declaration order.
type Schemas []Schema

// Schema is a named JSON Schema.
type Schema struct {
	Name string
	JSON json.RawMessage
}

// Get returns the schema of that name, or nil.
func (s Schemas) Get(name string) json.RawMessage {
	for _, e := range s {
		if e.Name == name {
			return e.JSON
		}
	}
	return nil
}

// MarshalJSON writes the schemas as one object in order.
func (s Schemas) MarshalJSON() ([]byte, error) {
	written := make([]Keyword, len(s))
	for i, e := range s {
		written[i] = Keyword{e.Name, e.JSON}
	}
	return writeMembers(written)
}

// UnmarshalJSON reads an object and keeps the order of its members.
func (s *Schemas) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("read the schemas of a manifest: no object")
	}
	*s = nil
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return fmt.Errorf("read the schemas of a manifest: %w", err)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fmt.Errorf("read the schemas of a manifest: %w", err)
		}
		*s = append(*s, Schema{Name: name.(string), JSON: raw})
	}
	return nil
}
