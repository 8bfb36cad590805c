package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

// Plan describes the call of a function of schema api, with the input and the context of
// the call, and how its result becomes the JSON of the response.
type Plan struct {
	usual Statement

	inputs      *input.Texts // the parts of the body that the function takes one by one; nil means that it takes the body
	size        int          // which of the parts is the number of rows that a form reads; -1 means none
	takesCaller bool         // whether it takes only the caller, and not the whole context
	count       int          // of arguments; 0 if it takes its input as a whole
	types       []string     // of the parameters of a statement
	record      *Record      // nil means that the function returns JSON
	many        bool         // whether it returns any number of records, or JSON values, without pages
	pages       *pages       // nil means that it returns at most one record
}

// Statement is a call in SQL.
type Statement struct {
	Name    string // among the statements of a plan
	SQL     string
	Formats []int16 // of the columns: 0 is text, 1 binary; none means text
}

// NewPlan plans the calls of an action's function. limit is the maximum size of a page's
// records in bytes; 0 means unlimited.
func NewPlan(m *release.Manifest, a *release.Action, limit int) *Plan {
	switch {
	case a.Record == "" && a.Kind.Writes():
		p := newValue(a.Function, a.Arguments)
		p.many = a.Row != ""
		return p
	case a.Record == "":
		return newGuarded(a.Function)
	}
	members := m.Records[a.Record]
	call := callOf(a.Function, a.Arguments)
	p := newValue(a.Function, a.Arguments)
	p.record, p.many = NewRecord(members), a.Row != ""
	if a.Kind == release.List {
		p.pages = newPages(a, members, call, false, limit)
		p.usual = p.pages.plain
		return p
	}
	p.usual = Statement{SQL: "select " + strings.Join(columnsOf(members), ", ") + " from " + call, Formats: formatsOf(members)}
	return p
}

// NewForm plans the calls of a form that a function of an action foresees.
func NewForm(m *release.Manifest, a *release.Action, f *release.Foreseen, form string, limit int) *Plan {
	if a.Record == "" {
		return newGuarded(f.Function, form)
	}
	members := m.Records[a.Record]
	p := newValue(f.Function, f.Arguments)
	p.record, p.pages = NewRecord(members), newPages(a, members, callOf(f.Function, f.Arguments, form), true, limit)
	p.usual = p.pages.plain
	p.size = slices.IndexFunc(f.Arguments, func(argument release.Argument) bool { return argument.Input == "first" })
	return p
}

// Release identifies a release in a database.
type Release struct {
	Number     int64
	Mark, File uint32 // the object of platform.release_mark and its file; 0 if a platform does not have it
}

// ForRelease ends the statements of a plan by a look whether another release was installed since it was loaded. It
// comes after the call, when that has all its locks, and answers no row: see platform.require_newest. The statements
// also differ from those of other releases, where functions of the same names may have other types. Connections and
// poolers identify a prepared statement by its text.
func (p *Plan) ForRelease(r Release) *Plan {
	statements := []*Statement{&p.usual}
	if p.pages != nil {
		statements = append(statements, &p.pages.plain, &p.pages.any, &p.pages.bounded)
	}
	for _, s := range statements {
		if r.Mark != 0 {
			s.SQL += fmt.Sprintf(" union all select %s where case when pg_catalog.pg_relation_filenode(%d) <> %d then platform.require_newest() end",
				strings.TrimSuffix(strings.Repeat("null, ", max(1, len(s.Formats))), ", "), r.Mark, r.File)
		}
		s.SQL += " -- release " + strconv.FormatInt(r.Number, 10)
	}
	return p
}

// IsList tells whether the function returns pages of a list.
func (p *Plan) IsList() bool { return p.pages != nil }

// NewJudge plans the calls that tell which rows of a call of an action with many are refused.
func NewJudge(function string) *Plan {
	return &Plan{usual: Statement{Name: "_judge", SQL: "select platform.judge_rows('" + strings.ReplaceAll(function, "'", "''") + "', $1, $2)"}, size: -1}
}

// NewValue plans the calls of a function that returns one value, which is used unchanged.
func NewValue(function string) *Plan { return newValue(function, nil) }

func newValue(function string, arguments []release.Argument) *Plan {
	p := &Plan{usual: Statement{SQL: "select " + callOf(function, arguments)}, size: -1, types: wholeInput}
	if len(arguments) == 0 {
		return p
	}
	p.types = nil
	for _, a := range arguments {
		p.types = append(p.types, a.Type)
	}
	p.takesCaller = arguments[len(arguments)-1].Type != release.ContextType
	var texts []input.Text
	for _, a := range arguments {
		if a.Input != "" {
			texts = append(texts, input.Text{Path: a.Input, Given: a.Given})
		}
	}
	p.count = len(arguments)
	p.inputs = input.NewTexts(texts)
	return p
}

// wholeInput is the types of the parameters of a function that takes its input as a whole.
var wholeInput = []string{"jsonb", "jsonb"}

// TakesContext tells whether the function takes the whole context of a request, and not
// only the caller.
func (p *Plan) TakesContext() bool { return !p.takesCaller }

// Parameters returns the parameters of a call: for a body from package input, and a
// caller and its access token, which are empty if anonymous. The context, which includes
// them, is used if the plan takes it.
func (a *Answer) Parameters(body []byte, caller, token string, context []byte) [][]byte {
	p := a.plan
	if p.inputs == nil {
		return [][]byte{body, context}
	}
	parameters := p.inputs.Of(body)
	if p.size >= 0 {
		parameters[p.size] = strconv.AppendInt(nil, int64(a.rowsToRead()), 10)
	}
	switch {
	case !p.takesCaller:
		return append(parameters, context)
	}
	return append(parameters, orNull(caller), orNull(token))[:p.count] // a release of an earlier version takes no token
}

// orNull returns a text as a parameter; an empty one is null.
func orNull(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// newGuarded plans the calls of a function that returns one value and may run custom code
// that must not write. For that, stable is not enough. So the statement makes its own
// transaction read-only first: `case` evaluates its condition before the call, and the
// condition is volatile and so is not folded away.
func newGuarded(function string, further ...string) *Plan {
	return &Plan{types: wholeInput, usual: Statement{
		SQL: "select case when pg_catalog.set_config('transaction_read_only', 'on', true) is not null then " + callOf(function, nil, further...) + " end",
	}}
}

// callOf calls a function with its arguments, or with input and context if it declares
// none, and then with further texts from the release.
func callOf(function string, arguments []release.Argument, further ...string) string {
	count := len(arguments)
	if count == 0 {
		count = 2
	}
	var given []string
	for i := range count {
		given = append(given, "$"+strconv.Itoa(i+1))
	}
	for _, text := range further {
		given = append(given, "'"+strings.ReplaceAll(text, "'", "''")+"'")
	}
	return pgx.Identifier{"api", function}.Sanitize() + "(" + strings.Join(given, ", ") + ")"
}

// columnsOf returns the columns of members, in their order.
func columnsOf(members []release.Member) []string {
	isBeside := false
	for _, m := range members {
		isBeside = isBeside || m.Embedded
	}
	columns := make([]string, len(members))
	for i, m := range members {
		columns[i] = pgx.Identifier{m.Column}.Sanitize()
		if isBeside && !m.Embedded {
			columns[i] = "(" + release.RowColumn + ")." + columns[i]
		}
	}
	return columns
}

// formatsOf returns the required formats for the columns of members.
func formatsOf(members []release.Member) []int16 {
	formats := make([]int16, len(members))
	for i, m := range members {
		if writerOf(m).isBinary {
			formats[i] = 1
		}
	}
	return formats
}

// Answer takes the rows of one call.
type Answer struct {
	// Hold reserves memory before an answer takes more than Free bytes; its error ends the
	// answer. Nil means unlimited.
	Hold func(bytes int) error

	plan        *Plan
	statement   *Statement
	out         []byte // the records, one after the other
	held        int    // bytes beyond Free that Hold reserved
	err         error  // of Hold
	*pageAnswer        // nil unless the function returns pages
}

// Free is the number of bytes that an answer may take without Hold.
const Free = 64 << 10

// Begin returns the answer of a call. Only a list uses the page. The answer is appended
// to out, which must be empty.
func (p *Plan) Begin(page Page, out []byte) *Answer {
	a := &Answer{plan: p, statement: &p.usual, out: out}
	if p.pages != nil {
		a.pageAnswer = &pageAnswer{}
		a.beginPage(page)
	}
	return a
}

// Statement returns the call to make.
func (a *Answer) Statement() *Statement { return a.statement }

// Restart discards the rows so far, since the call is repeated.
func (a *Answer) Restart() {
	a.out = a.out[:0]
	if a.pageAnswer != nil {
		a.restartPage()
	}
}

// Row takes a row, in the formats of the statement; nil is null. It does not keep the values. It tells whether more
// rows are wanted. If not, the rest of the result can be skipped.
func (a *Answer) Row(values [][]byte) (more bool) {
	if a.Hold != nil && !a.hold(values) {
		return false
	}
	if a.plan.many {
		a.next()
	}
	switch {
	case a.plan.pages != nil:
		return a.pageRow(values)
	case values[0] == nil: // no record, or null
	case a.plan.record == nil:
		a.out = append(a.out, values[0]...)
	default:
		a.out = a.plan.record.Append(a.out, values)
	}
	return true
}

// next begins the next of several results.
func (a *Answer) next() {
	if len(a.out) == 0 {
		a.out = append(a.out, `{"results":[`...)
	} else {
		a.out = append(a.out, ',')
	}
}

// hold reserves the memory for one more row, if the answer is large.
func (a *Answer) hold(values [][]byte) bool {
	size := len(a.out)
	for _, v := range values {
		size += len(v)
	}
	needed := max(size, cap(a.out)) - Free - a.held
	if needed <= 0 {
		return true
	}
	a.reserve(max(needed, Free))
	return a.err == nil
}

func (a *Answer) reserve(bytes int) {
	if a.err = a.Hold(bytes); a.err == nil {
		a.held += bytes
	}
}

// Keep reserves what a body made from the answer takes beyond what is reserved: its buffer may be larger than its rows.
func (a *Answer) Keep(body []byte) error {
	if needed := cap(body) - Free - a.held; a.Hold != nil && needed > 0 {
		a.reserve(needed)
	}
	return a.err
}

// Err returns the error of Hold that ended the answer.
func (a *Answer) Err() error { return a.err }

// JSON returns the answer, in the memory from Begin if that suffices. The answer is null if there was no row.
func (a *Answer) JSON() []byte {
	switch {
	case a.plan.pages != nil:
		return a.pageJSON()
	case a.plan.many:
		a.out = append(a.out, "]}"...)
	case len(a.out) == 0:
		a.out = append(a.out, "null"...)
	}
	return a.out
}
