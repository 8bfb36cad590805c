// Package release is the contract between the compiler and the server: the content of
// platform.release, which the compiler writes and servers read.
//
// It contains only plain data, its JSON form and the one reader of the published JSON
// Schemas. The compiler fills a Manifest in package lower; the server builds its calls
// from one and never sees a schema file.
package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Format is the version of the manifest's form. A server serves the formats it knows and
// reports in /readyz that a newer one is too new.
const Format = 1

// Manifest is everything that a server needs to serve one release.
type Manifest struct {
	Format       int                   `json:"format"`
	APIs         []API                 `json:"apis"`
	Models       []Model               `json:"models"`                 // those with actions, including unions, in declaration order
	Callers      []string              `json:"callers"`                // classes of callers: anonymous, authenticated, each role
	Actions      []*Action             `json:"actions"`                // in declaration order
	ByExpression []string              `json:"byExpression,omitempty"` // the callers of roles that may be had by an expression
	Records      map[string][]Member   `json:"records"`                // the rows that functions return: their columns in the order of the wire
	Schemas      Schemas               `json:"schemas"`                // JSON Schemas 2020-12 by component name
	Constraints  map[string]Constraint `json:"constraints"`            // by name; of a required column by table.column
	Headers      []string              `json:"headers,omitempty"`      // snake forms under ctx.headers that a rule reads
	Environment  []string              `json:"environment,omitempty"`  // names under ctx.env
	Compared     []string              `json:"compared,omitempty"`     // those that a rule or a condition compares: empty is no value
	Secrets      []string              `json:"secrets,omitempty"`      // names under ctx.secrets; empty is no value
	Claims       []Claim               `json:"claims,omitempty"`       // of the configuration, kept with an identity
	Encrypted    []Column              `json:"encrypted,omitempty"`    // of Secret fields
	Jobs         []Job                 `json:"jobs,omitempty"`         // what runs by itself
	Subscribers  []Subscriber          `json:"subscribers,omitempty"`  // who is told of events
	Histories    []History             `json:"histories,omitempty"`    // what is kept of which models
	Mails        []string              `json:"mails,omitempty"`        // those that code may send, by the names of their templates
}

// History is a table every version of whose rows is kept.
type History struct {
	Table string `json:"table"`          // in schema app
	Keep  string `json:"keep,omitempty"` // for how long, as an interval of Postgres; empty means for ever
	Row   string `json:"row"`            // the function in schema api that says what is shown of a row
}

// IsLogged tells whether writes are recorded with their origin: for subscribers, or in histories.
func (m *Manifest) IsLogged() bool { return len(m.Subscribers)+len(m.Histories) > 0 }

// HasLive tells whether clients can follow answers.
func (m *Manifest) HasLive() bool {
	return slices.ContainsFunc(m.Actions, func(a *Action) bool { return a.Live != nil })
}

// Job is code that runs by itself.
type Job struct {
	Name    string `json:"name"`
	Run     string `json:"run"`     // the function in schema api that runs its code
	Input   string `json:"input"`   // component: the schema of its inputs
	Retries int    `json:"retries"` // how often a run that failed is tried again

	Schedules []Schedule `json:"schedules,omitempty"`
}

// Schedule is when a job runs by itself.
type Schedule struct {
	Text     string `json:"text"`
	TimeZone string `json:"timeZone,omitempty"` // empty means UTC
}

// HasSchedules tells whether a job runs by itself.
func (m *Manifest) HasSchedules() bool {
	return slices.ContainsFunc(m.Jobs, func(j Job) bool { return len(j.Schedules) > 0 })
}

// Subscriber is who is told of events: code, or a webhook.
type Subscriber struct {
	Name   string            `json:"name"`
	Run    string            `json:"run,omitempty"` // the function in schema api that runs its code; a webhook has none
	Events map[string]string `json:"events"`        // the functions that say what a change means to it, by model
}

// errTooNew ends when a newer server replaces this one.
var errTooNew = errors.New("the database is newer than this server")

// ReadManifest reads a manifest of a known form.
func ReadManifest(text []byte) (*Manifest, error) {
	var form struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, err
	}
	if form.Format > Format {
		return nil, fmt.Errorf("%w: the format of its release is %d, and this server reads formats up to %d", errTooNew, form.Format, Format)
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

	// Identity tells that the API exposes the model Identity, and with it the server's own
	// actions for accounts: those of IdentityActions, or all if there are none.
	Identity        bool     `json:"identity,omitempty"`
	IdentityActions []string `json:"identityActions,omitempty"`
}

// Model is a model or union, with the data that actions need about it.
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
	Start  Kind = "job" // it starts the job that its model is

	ReadHistory Kind = "history"
)

// Writes tells whether actions of the kind change rows.
func (k Kind) Writes() bool {
	return k == Create || k == Update || k == Delete || k == Write || k == Start
}

// Action is one action, independent of the APIs that expose it.
type Action struct {
	Name     string `json:"name"`
	Kind     Kind   `json:"kind"`
	Model    string `json:"model"` // the model or union it belongs to
	Doc      string `json:"doc,omitempty"`
	Function string `json:"function"`         // in schema api
	Record   string `json:"record,omitempty"` // of Records: the rows that the function returns; empty means that it returns JSON
	Early    string `json:"early,omitempty"`  // in schema api, likewise: true, false or null; empty means none
	Input    string `json:"input"`            // component: the schema of the whole request body
	Result   string `json:"result,omitempty"` // component: the schema of the answer; empty for a delete, and for arbitrary JSON

	// AnswersAgain is true if Function answers a repetition under an idempotency key, in the transaction in which
	// platform.answer_find found the first call: it refuses the caller as ever before any row is read, and returns the
	// record, which Function returns without custom code, as it is now.
	AnswersAgain bool `json:"answersAgain,omitempty"`

	// Arguments are the arguments of Function, in order; none means (input jsonb, context
	// jsonb), which Early always takes.
	Arguments []Argument `json:"arguments,omitempty"`

	// Foreseen are the functions with a statement for each foreseen operator set of a list.
	Foreseen []*Foreseen `json:"foreseen,omitempty"`

	// Order is the default order of a list whose function returns rows, the id last;
	// Sortable is the order that requests may choose.
	Order    []SortKey `json:"order,omitempty"`
	Sortable []SortKey `json:"sortable,omitempty"`

	// Facets is the function of a list that summarizes the values of all its rows, in the
	// same statement as the page; empty means none. It takes PlainSignature.
	Facets string `json:"facets,omitempty"` // in schema api

	// Inputs maps inputs to the fields that they write: they lead from a failed
	// constraint back to the offending input.
	Inputs []Input `json:"inputs,omitempty"`

	// FromCaller are the required fields that it writes from the caller, which may lack them.
	FromCaller []FromCaller `json:"fromCaller,omitempty"`

	// FromLinks are the required fields that it writes from rows that the request links, which may not be there.
	FromLinks []FromLink `json:"fromLinks,omitempty"`

	// Sealed are the passwords and secrets that the action makes from texts.
	Sealed []Sealed `json:"sealed,omitempty"`

	// Files are the inputs that have an upload route.
	Files []FileInput `json:"files,omitempty"`

	// Inline are its other inputs for files with limits, all below other rows. The paths
	// have no places within arrays.
	Inline []FileInput `json:"inline,omitempty"`

	// LookUp is the path of the first look-up input of get, update and delete.
	LookUp string `json:"lookUp,omitempty"`

	// Invitation is the input of a create whose e-mail address gets an invitation; empty if it invites nobody.
	Invitation string `json:"invitation,omitempty"`

	// Anonymous is false if the action's rules can never admit an anonymous caller.
	Anonymous bool `json:"anonymous"`

	// AnonymousUploads is true if the rules can admit an anonymous caller that sends a
	// file before the call, when neither the row nor the inputs are known.
	AnonymousUploads bool `json:"anonymousUploads,omitempty"`

	// Rules are the effective permission rules, as written; one that admits is enough.
	Rules []string `json:"rules,omitempty"`

	// Access tells for each class of callers whether the rules admit it: always, never,
	// or depends.
	Access []string `json:"access,omitempty"`

	// Live is what the answer depends on, if clients can follow it; nil if they cannot.
	Live *Live `json:"live,omitempty"`
	// Row is the component of one of many inputs, if a call takes those, as rows, and answers their records as results.
	// Inputs and LookUp are of one of them.
	Row string `json:"row,omitempty"`

	// Custom tells that the action runs code of the project, which may refuse with its
	// own errors.
	Custom bool `json:"custom,omitempty"`
}

// Argument is an argument of a function that takes its inputs one by one. The last ones
// have no Input and hold data of the request: the id of the caller and its access token as
// text, or the whole context as jsonb.
type Argument struct {
	Name  string `json:"name"`
	Type  string `json:"type"`            // as Postgres prints it
	Input string `json:"input,omitempty"` // the member of the request's body, dotted: values.title, position.0

	// Given tells that the argument is whether the request gives the input, null or not.
	Given bool `json:"given,omitempty"`
}

// ContextType is the type of an argument that takes the whole context.
const ContextType = "jsonb"

// Signature returns the argument types of the action's function, as Postgres prints them.
func (a *Action) Signature() string {
	if len(a.Arguments) == 0 {
		return PlainSignature
	}
	return typesOf(a.Arguments)
}

func typesOf(arguments []Argument) string {
	types := make([]string, len(arguments))
	for i, argument := range arguments {
		types[i] = argument.Type
	}
	return strings.Join(types, ", ")
}

// PlainSignature is the argument types of a function that takes its input as a whole.
const PlainSignature = "jsonb, jsonb"

// Signature returns the argument types of a function with a statement for each form.
func (f *Foreseen) Signature() string {
	if len(f.Arguments) == 0 {
		return PlainSignature + ", text"
	}
	return typesOf(f.Arguments) + ", text"
}

// Foreseen is a function of a list for foreseen operator sets. A request may use the form
// of its set if it has no paging inputs but first and after, and no orderBy; every other
// request uses the action's function. So does one that a form answers with a row of
// nulls.
type Foreseen struct {
	Function string   `json:"function"` // in schema api
	Forms    []string `json:"forms"`    // the sets, as OperatorSet writes them

	// AnswersAgain is true if Function answers a repetition under an idempotency key, in the transaction in which
	// platform.answer_find found the first call: it refuses the caller as ever before any row is read, and returns the
	// record, which Function returns without custom code, as it is now.
	AnswersAgain bool `json:"answersAgain,omitempty"`

	// Arguments are the arguments of Function before the last one, which is the form; none
	// means (input jsonb, context jsonb, form text). The one that takes first takes the
	// number of rows to read: one more than the page has, and the one at a position.
	Arguments []Argument `json:"arguments,omitempty"`

	// Seeks tells that the forms take a position. Their answer then begins with the row
	// at the position, if it still exists: it shows that rows precede the page.
	Seeks bool `json:"seeks,omitempty"`
}

// Member is a column of the rows that a function returns, and its member in a record. The
// first one is the id, which every row has.
type Member struct {
	Name   string     `json:"name"`
	Column string     `json:"column"`
	Type   MemberType `json:"type"`
	Array  bool       `json:"array,omitempty"`

	// Embedded tells that the column is beside the row and holds embedded records. If any
	// member is embedded, the row itself is the column RowColumn.
	Embedded bool `json:"embedded,omitempty"`
}

// SortKey is a field that a list is ordered by.
type SortKey struct {
	Member
	Nullable   bool `json:"nullable,omitempty"`
	Descending bool `json:"descending,omitempty"`

	// Follows tells that its direction is that of the key before it, also in the order of
	// a request; Descending is that direction in the list's own order.
	Follows bool `json:"follows,omitempty"`
}

// DefaultPageSize is the number of records in a page if a request does not set it.
const DefaultPageSize = 50

// RowColumn is the column that holds the row if embedded records are beside it.
const RowColumn = "v_row"

// MemberType is how the values of a column are written as JSON.
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
	Lacks string `json:"lacks"` // the part of the path that a caller may lack: person
}

// FromLink is a required field that an action writes from a row that the request links. It is null only if that row is not
// there.
type FromLink struct {
	Table     string `json:"table"`
	Field     string `json:"field"`
	LinkTable string `json:"linkTable"`
	Link      string `json:"link"` // the FK field
}

// Sealed is a password or secret that an action writes and no input contains directly.
// The server hashes or encrypts a text, and passes the result to the function as a member
// of "sealed" in its context. The text is one of the following; an input that is absent
// or null makes no member.
type Sealed struct {
	Name string `json:"name"` // of the member: the written field, by its name in the schema
	As   string `json:"as"`   // password or secret

	Input       string  `json:"input,omitempty"`       // its path, dotted, from the request body's root
	Header      string  `json:"header,omitempty"`      // its snake form
	Environment string  `json:"environment,omitempty"` // a name under ctx.env
	Secret      string  `json:"secret,omitempty"`      // a name under ctx.secrets
	Text        *string `json:"text,omitempty"`        // a literal

	// Hidden tells that only this reads the input, so that the function is called without
	// its text.
	Hidden bool `json:"hidden,omitempty"`
}

// The values of Sealed.As.
const (
	Password = "password"
	Secret   = "secret"
)

// FileInput is an input that takes files and has an upload route. Its requirements for a
// file are those of the field that stores the file.
type FileInput struct {
	Name    string   `json:"name"`              // top-level; the last segment of the route
	Path    string   `json:"path"`              // dotted, from the request body's root: values.cover
	Array   bool     `json:"array,omitempty"`   // takes several
	Accepts []string `json:"accepts,omitempty"` // patterns, lower case: image/png, image/*; none accepts every type
	MaxSize int64    `json:"maxSize"`           // bytes
}

// ConstraintKind is the kind of a constraint.
type ConstraintKind string

// The kinds of constraints that a caller can break.
const (
	Unique    ConstraintKind = "unique"
	Reference ConstraintKind = "reference"
	Required  ConstraintKind = "required"
	Validate  ConstraintKind = "validate"
	MinLength ConstraintKind = "minLength"
	MaxLength ConstraintKind = "maxLength"
	MinItems  ConstraintKind = "minItems"
	MaxItems  ConstraintKind = "maxItems"
	NotBlank  ConstraintKind = "notBlank"
	Pattern   ConstraintKind = "pattern"
	HasFormat ConstraintKind = "format"
	Range     ConstraintKind = "range" // of results of arithmetic
)

// Constraint is a database constraint in the terms of callers.
type Constraint struct {
	Kind    ConstraintKind `json:"kind"`
	Table   string         `json:"table"`
	Fields  []string       `json:"fields,omitempty"`  // a to-one by its FK field
	Message string         `json:"message,omitempty"` // of Validate, and of Pattern if it has one
	Limit   int64          `json:"limit,omitempty"`   // of lengths, in characters, and of numbers of elements
	Format  string         `json:"format,omitempty"`  // of HasFormat, in JSON Schema
}

// PatternMessage is the keyword beside a pattern that says what a refusal says.
const PatternMessage = "x-pattern-message"

// Schemas is a list of named JSON Schemas that keeps its order, and that of the members
// of each: errors are reported in declaration order.
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
		return fmt.Errorf("read the schemas of a manifest: they are not an object")
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
