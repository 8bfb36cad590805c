package answer

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql/release"
)

// Page is the page of a list that a call asks for.
type Page struct {
	Size        int // 0 means the usual size
	Offset      int
	IsBackwards bool // it is before a cursor, or the last one: its rows come in reverse
	Cursor      string
	HasCursor   bool // whether it is beyond Cursor
	HasLimit    bool // it is given by its position, and so has a number
	CountsAll   bool
	OrderBy     []Key // the order of the request
}

// Key is a field for ordering a list by request.
type Key struct {
	Name       string
	Descending bool
}

// pages describes the calls of a list and the content of its cursors.
type pages struct {
	action string
	order  []sortKey          // the list's own, by id last
	keys   map[string]sortKey // all allowed sort fields
	limit  int                // the maximum bytes of a page's records; 0 means unlimited
	info   int                // the column with data of the page, after all others

	// hasFacets tells that the summary of all rows of the list follows the data of the page.
	hasFacets bool

	// isForm tells that the pages are those of a form: they are at the front, or begin with
	// the row at a position, and nothing follows the rows.
	isForm bool

	// The statements: for a page from the front without a count; for any page; for any
	// page, without rows that exceed its limit.
	plain, any, bounded Statement

	// fat is positive after a page was too large: this many of the next pages use the
	// bounded statement, which costs more.
	fat atomic.Int32
}

// fatPages is the number of pages that use the bounded statement after one that was too
// large.
const fatPages = 1000

// sortKey is a field that the list can be ordered by.
type sortKey struct {
	name       string
	column     int // of the rows
	kind       release.MemberType
	append     func(out, value []byte) []byte
	isNullable bool
	descending bool
	follows    bool // in the direction of the key before it
}

// pageSetting is the setting through which the function of a list returns data of its
// page: whether rows lie on the other side of it, and how many match in total.
const pageSetting = "sternpost.page"

// newPages plans the calls of a list. Besides the columns of the records, the statements
// select those of keys that are in no record.
func newPages(a *release.Action, members []release.Member, from string, isForm bool, limit int) *pages {
	p := &pages{action: a.Name, keys: map[string]sortKey{}, limit: limit, isForm: isForm}
	columns, formats := columnsOf(members), formatsOf(members)
	isBeside := slices.ContainsFunc(members, func(m release.Member) bool { return m.Embedded })
	for _, k := range slices.Concat(a.Sortable, a.Order) {
		at := slices.IndexFunc(members, func(m release.Member) bool { return m.Column == k.Column && !m.Embedded })
		if at < 0 {
			column := pgx.Identifier{k.Column}.Sanitize()
			if isBeside {
				column = "(" + release.RowColumn + ")." + column
			}
			if at = slices.Index(columns, column); at < 0 {
				at = len(columns)
				columns, formats = append(columns, column), append(formats, formatsOf([]release.Member{k.Member})...)
			}
		}
		p.keys[k.Name] = sortKey{
			name: k.Name, column: at, kind: k.Type, append: writerOf(k.Member).append, isNullable: k.Nullable, descending: k.Descending,
			follows: k.Follows,
		}
	}
	for _, k := range a.Order {
		p.order = append(p.order, p.keys[k.Name])
	}
	p.info = len(columns)

	selected := strings.Join(columns, ", ")
	behind, info := ", null", " union all select "+strings.Repeat("null, ", len(columns))+"pg_catalog.current_setting('"+pageSetting+"', true)"
	if p.hasFacets = a.Facets != ""; p.hasFacets {
		behind, info = behind+", null", info+", "+callOf(a.Facets, nil)
	}
	p.plain = Statement{SQL: "select " + selected + " from " + from, Formats: formats}
	withInfo := append(slices.Clone(formats), 0)
	if p.hasFacets {
		withInfo = append(withInfo, 0)
	}
	p.any = Statement{Name: "_any", SQL: "select " + selected + behind + " from " + from + info, Formats: withInfo}
	before := "sum(v_size) over (rows between unbounded preceding and 1 preceding)"
	if isForm {
		before += " - first_value(v_size) over ()" // that may be the row at the cursor
	}
	p.bounded = Statement{Name: "_bounded", Formats: withInfo,
		SQL: "select " + strings.Join(columnNames(len(columns)), ", ") + behind + " from (" +
			"select *, " + before + " as v_before, row_number() over () as v_place from (" +
			"select " + named(columns) + ", " + sizeOf(members, columns) + " as v_size from " + from +
			") as v_rows) as v_rows where v_place <= 3 or v_before < " + strconv.Itoa(limit) + info}
	return p
}

// columnNames returns n names for columns.
func columnNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "v_" + strconv.Itoa(i)
	}
	return names
}

func named(columns []string) string {
	list := make([]string, len(columns))
	for i, name := range columnNames(len(columns)) {
		list[i] = columns[i] + " as " + name
	}
	return strings.Join(list, ", ")
}

// sizeOf estimates the size of a row's record, from its potentially large values, and never as more than it is: else no row
// would show that the page goes on. An element of an array has at least a quarter of its bytes in JSON. It does not read
// texts that are stored out of line.
func sizeOf(members []release.Member, columns []string) string {
	sum := "16"
	for i, m := range members {
		switch {
		case m.Array:
			sum += " + coalesce(pg_column_size(" + columns[i] + ") / 4, 0)"
		case m.Type == release.TextMember:
			sum += " + coalesce(octet_length(" + columns[i] + "), 0)"
		case m.Type == release.JSONMember:
			sum += " + coalesce(octet_length(" + columns[i] + "::text), 0)"
		}
	}
	return sum
}

// pageAnswer is the page part of an answer.
type pageAnswer struct {
	page       Page
	order      []sortKey
	count      int      // of the records
	starts     []int    // of the records, if they come in reverse
	first      []byte   // position of the first row
	last       [][]byte // sort values of the last row
	lastMemory []byte
	scratch    []byte
	more       bool   // rows follow
	isFull     bool   // the following rows exceed the limit
	rowsBefore bool   // rows lie on the other side of the page
	total      string // how many rows match in total; empty if they were not counted
	facets     []byte // the summary of all rows of the list; empty if there is none
	seeks      bool   // whether the first row must be the one at the cursor
	cursor     []byte // its content
	hasStrayed bool   // it was not the one
	leaves     bool   // whether the form leaves the page to the function of the action
}

// beginPage prepares an answer for a page.
func (a *Answer) beginPage(page Page) {
	p := a.plan.pages
	if page.Size == 0 {
		page.Size = release.DefaultPageSize
	}
	a.page, a.order = page, p.orderOf(page.OrderBy)
	a.last = make([][]byte, 0, len(a.order))
	const usual = 128 // bytes of a position
	memory := make([]byte, 3*usual)
	a.first, a.lastMemory, a.scratch = memory[:0:usual], memory[usual:usual:2*usual], memory[2*usual:2*usual]
	a.seeks = p.isForm && page.HasCursor
	if a.seeks {
		a.cursor, _ = decodeCursor(page.Cursor)
	}
	switch {
	case p.limit > 0 && p.fat.Load() > 0:
		a.statement = &p.bounded
	case !p.isForm && (p.hasFacets || page.HasCursor || page.Offset > 0 || page.CountsAll):
		a.statement = &p.any
	}
}

// rowsToRead is the number of rows that a form reads: one more than the page has, which
// tells whether more follow, and the one at the cursor.
func (a *Answer) rowsToRead() int {
	if a.seeks {
		return a.page.Size + 2
	}
	return a.page.Size + 1
}

func (a *Answer) restartPage() {
	a.count, a.starts, a.first, a.last = 0, a.starts[:0], a.first[:0], a.last[:0]
	a.more, a.isFull, a.rowsBefore, a.total, a.hasStrayed, a.leaves = false, false, false, "", false, false
	a.facets = a.facets[:0]
}

// Again tells whether the call must be repeated with another statement: the page was too
// large, and its data comes after its rows.
func (a *Answer) Again() bool {
	p := a.plan.pages
	if p == nil || a.statement != &p.any || !a.isFull {
		return false
	}
	a.statement = &p.bounded
	return true
}

// orderOf returns the order of a request: its named fields, then the remaining fields of
// the list's own order.
func (p *pages) orderOf(named []Key) []sortKey {
	if len(named) == 0 {
		return p.order
	}
	var order []sortKey
	seen := map[string]bool{}
	add := func(k sortKey) {
		if !seen[k.name] {
			seen[k.name] = true
			order = append(order, k)
		}
	}
	for _, n := range named {
		k := p.keys[n.Name]
		k.descending = n.Descending
		add(k)
	}
	for _, k := range p.order {
		if k.follows && len(order) > 0 {
			k.descending = order[len(order)-1].descending
		}
		add(k)
	}
	return order
}

// pageRow takes a row of a page, or the data of the page.
func (a *Answer) pageRow(values [][]byte) (more bool) {
	p := a.plan.pages
	if len(values) > p.info && values[p.info] != nil && !p.isForm {
		a.readInfo(values[p.info])
		if p.hasFacets {
			a.facets = append(a.facets, values[p.info+1]...)
		}
	}
	switch {
	case values[0] == nil: // no row
		a.leaves = p.isForm
		return true
	case a.hasStrayed:
		return true
	case a.seeks && !a.rowsBefore:
		a.keepPosition(values)
		a.rowsBefore = bytes.Equal(a.appendPosition(a.scratch), a.cursor)
		a.hasStrayed = !a.rowsBefore
		return true
	case a.isFull || a.count == a.page.Size:
		a.more = true
		return true
	}
	start := len(a.out)
	switch {
	case a.count == 0:
		a.out = append(a.out, pageStart...)
	case !a.page.IsBackwards:
		a.out = append(a.out, ',')
	}
	record := len(a.out)
	a.out = a.plan.record.Append(a.out, values)
	if p.limit > 0 && a.count > 0 && len(a.out)-len(pageStart) > p.limit {
		a.out = a.out[:start]
		a.isFull, a.more = true, true
		p.fat.Store(fatPages)
		return a.statement == &p.bounded // it is small
	}
	if a.count++; a.page.IsBackwards {
		a.starts = append(a.starts, record)
	}
	a.keepPosition(values)
	if a.count == 1 {
		a.first = a.appendPosition(a.first)
	}
	return true
}

// pageStart is the beginning of a page.
const pageStart = `{"results":[`

// IsUnsure tells that the page was requested from a form, and that the caller must use the
// function of the action: the form leaves the page to it, or no row was at the cursor, so
// that it is unknown whether rows precede the page.
func (a *Answer) IsUnsure() bool {
	return a.pageAnswer != nil && (a.leaves || a.seeks && !a.rowsBefore)
}

// readInfo reads the data that a function returns about its page: whether rows lie on the
// other side of it, t or f, and how many match in total, if they were counted.
func (a *Answer) readInfo(text []byte) {
	rowsBefore, total, _ := strings.Cut(string(text), " ")
	a.rowsBefore, a.total = rowsBefore == "t", total
}

// keepPosition keeps the sort values of a row, since any row may be the last one.
func (a *Answer) keepPosition(values [][]byte) {
	a.last, a.lastMemory = a.last[:0], a.lastMemory[:0]
	for _, k := range a.order {
		value := values[k.column]
		if value != nil {
			a.lastMemory = append(a.lastMemory, value...)
			end := len(a.lastMemory)
			value = a.lastMemory[end-len(value) : end : end]
		}
		a.last = append(a.last, value)
	}
}

// appendPosition appends the position of the last row in the list, the content of a cursor: the version, the list with
// its order, and the sort values of the row.
func (a *Answer) appendPosition(out []byte) []byte {
	out = append(out, "["+cursorVersion+`, "`...)
	out = a.plan.pages.appendMark(out, a.order)
	out = append(out, '"')
	for i, k := range a.order {
		out = append(out, ", "...)
		if value := a.last[i]; value == nil {
			out = append(out, "null"...)
		} else {
			out = k.append(out, value)
		}
	}
	return append(out, ']')
}

// pageJSON ends the page.
func (a *Answer) pageJSON() []byte {
	if a.statement == &a.plan.pages.bounded && !a.isFull {
		a.plan.pages.fat.Add(-1)
	}
	b := a.out
	switch {
	case a.count == 0:
		b = append(b, pageStart...)
	case a.page.IsBackwards:
		b = a.reversed()
	}
	var first, last []byte
	if a.count > 0 {
		first, last = a.first, a.appendPosition(a.scratch)
	}
	next, previous := a.more, a.rowsBefore
	if a.page.IsBackwards {
		first, last, next, previous = last, first, previous, next
	}
	b = append(b, `],"pageInfo":{"startCursor":"`...)
	b = base64.RawURLEncoding.AppendEncode(b, first)
	b = append(b, `","endCursor":"`...)
	b = base64.RawURLEncoding.AppendEncode(b, last)
	b = append(b, `","hasNextPage":`...)
	b = strconv.AppendBool(b, next)
	b = append(b, `,"hasPreviousPage":`...)
	b = strconv.AppendBool(b, previous)
	b = append(b, `,"count":`...)
	b = strconv.AppendInt(b, int64(a.count), 10)
	if a.total != "" {
		b = append(append(b, `,"totalCount":`...), a.total...)
	}
	if a.page.HasLimit {
		b = append(b, `,"pageNumber":`...)
		b = strconv.AppendInt(b, int64(a.page.Offset/a.page.Size+1), 10)
	}
	b = append(b, '}')
	if len(a.facets) > 0 {
		b = append(append(b, `,"resultInfo":`...), a.facets...)
	}
	b = append(b, '}')
	return b
}

// reversed reverses the order of the records. It writes them behind themselves first, unless that takes much memory.
func (a *Answer) reversed() []byte {
	b, start := a.out, len(a.out)
	if 2*start > Free {
		b, start = make([]byte, 0, start+len(a.facets)+1024), 0
	}
	b = append(b, pageStart...)
	end := len(a.out)
	for i := a.count - 1; i >= 0; i-- {
		b = append(b, a.out[a.starts[i]:end]...)
		if end = a.starts[i]; i > 0 {
			b = append(b, ',')
		}
	}
	return b[:copy(b, b[start:])]
}
