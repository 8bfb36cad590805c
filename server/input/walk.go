package input

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sternpost/sternpost/server/problem"
)

// The bounds of numbers without bounds in their schema: those of the database.
const (
	maxInteger = "9007199254740991"
	maxSingle  = "340282346638528859811704183484516925440"
)

// walker reads one input: it scans, checks and writes in one pass. Its methods return
// false only if the input is malformed; problems are collected.
type walker struct {
	scanner
	out   []byte
	path  []step   // from the root to the current value
	seen  []uint64 // a bit for each property of the current objects
	depth int

	problems []fault           // of declared inputs
	unknown  []problem.Problem // of unknown properties, in the order sent

	places    []Place
	operators []string
	isPlain   bool // of a list: whether a form may have the page
	page      Page // of a list
	isSized   bool // of a list: whether a page size is given

	rows, mostRows int // of a write: how many it may still have, and in all

	digits [maxNumber]byte
}

// step leads from a value to one inside it.
type step struct {
	name  string // of a property; empty for an array's element
	index int    // among the schema's properties or the array's elements
}

// fault is a problem and its place in the order of declaration.
type fault struct {
	problem.Problem
	order []int
}

// maxKept limits the buffer that is kept for the next input.
const maxKept = 64 << 10

// start prepares the walker for an input.
func (w *walker) start(data []byte) {
	w.data = data
	w.out = make([]byte, 0, len(data)+16) // the caller keeps it
}

// clear releases the input, so that it is not kept until the next one.
func (w *walker) clear() {
	scratch := w.scratch[:0]
	if cap(scratch) > maxKept {
		scratch = nil
	}
	clear(w.places)
	*w = walker{
		scanner:   scanner{scratch: scratch},
		path:      w.path[:0],
		seen:      w.seen[:0],
		places:    w.places[:0],
		operators: w.operators[:0],
	}
}

// document reads the one value of the input.
func (w *walker) document(n *node) bool {
	if bytes.HasPrefix(w.data, byteOrderMark) {
		return w.fail(notUTF8)
	}
	w.peek()
	if !w.value(n) {
		return false
	}
	w.peek()
	return w.at == len(w.data) || w.unexpected()
}

// value reads the current value of any type.
func (w *walker) value(n *node) bool {
	if w.at == len(w.data) {
		return w.unexpected()
	}
	switch w.data[w.at] {
	case '{':
		return w.object(w.expect(n, kindObject))
	case '[':
		return w.array(w.expect(n, kindArray))
	case '"':
		return w.string(w.expect(n, kindString))
	case 't':
		w.expect(n, kindBoolean)
		return w.constant("true")
	case 'f':
		w.expect(n, kindBoolean)
		return w.constant("false")
	case 'n':
		w.expect(n, kindNull)
		return w.constant("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return w.number(n)
	default:
		return w.unexpected()
	}
}

// expect returns the schema for a value of that type: n, or, with a problem noted,
// anything if n has no such values.
func (w *walker) expect(n *node, kind kinds) *node {
	switch {
	case n.kinds&kind == 0:
		w.refuse(problem.Type(n.types, kind.name()))
	case n.enum != nil && kind != kindString && !(kind == kindNull && n.enumNull):
		w.refuse(n.notInEnum(w.lastSegment()))
	default:
		return n
	}
	return anything
}

// constant reads a value that only needs a check of its type.
func (w *walker) constant(word string) bool {
	w.out = append(w.out, word...)
	return w.word(word)
}

// members are the members of an object that were read so far.
type members struct {
	seen        int             // the first bit of its properties in walker.seen
	others      map[string]bool // the names that are not properties
	count, next int             // the number of members; the property that probably comes next
}

// has tells whether a property was read.
func (w *walker) has(m *members, i int) bool { return w.seen[m.seen+i/64]>>(i%64)&1 != 0 }

// object reads an object, and checks it as a whole.
func (w *walker) object(n *node) bool {
	if !w.enter() {
		return false
	}
	mark := w.mark()
	if n != anything && !n.isLink() {
		if w.rows--; w.rows == -1 {
			w.refuse(problem.MaxRows(int64(w.mostRows)))
		}
	}
	m := members{seen: len(w.seen)}
	for range (len(n.properties) + 63) / 64 {
		w.seen = append(w.seen, 0)
	}
	w.out = append(w.out, '{')
	for more := w.peek() != '}'; more; m.count++ {
		if !w.member(n, &m) {
			return false
		}
		var ok bool
		if more, ok = w.more('}'); !ok {
			return false
		}
	}
	w.out = append(w.out, '}')
	w.at++
	w.depth--

	has := func(i int) bool { return w.has(&m, i) }
	switch {
	case n.minProperties.isAbove(m.count):
		w.refuseWhole(mark, problem.MinProperties(n.minProperties.count))
	case n.maxProperties.isBelow(m.count):
		w.refuseWhole(mark, problem.MaxProperties(n.maxProperties.count))
	default:
		w.missing(n, has)
		if n.lacksAlternative(has) {
			w.refuseOnce(n, n.alternatives[0][0], problem.Required(n.properties[n.alternatives[0][0]].name))
		}
		if n.list != nil {
			w.judgePage(n, has)
		}
	}
	w.seen = w.seen[:m.seen]
	return true
}

// member reads a name and its value.
func (w *walker) member(n *node, m *members) bool {
	if w.peek() != '"' {
		return w.unexpected()
	}
	name, verbatim, ok := w.text()
	if !ok {
		return false
	}
	if m.count > 0 {
		w.out = append(w.out, ',')
	}
	w.write(name, verbatim)
	w.out = append(w.out, ':')
	i := n.find(name, m.next)
	if !w.note(n, m, i, name) {
		return false
	}
	if w.peek() != ':' {
		return w.unexpected()
	}
	w.at++
	w.peek()
	if i < 0 {
		return w.value(anything)
	}
	start := len(w.out)
	ok = w.property(&n.properties[i], i)
	if ok && n.list != nil {
		n.list.notePaging(&w.page, i, w.out[start:])
	}
	return ok
}

// isLink tells whether an object links a row: it has the id and nothing else. Any other object is a row of its own.
func (n *node) isLink() bool {
	return len(n.properties) == 1 && n.properties[0].name == "id"
}

// note records the name of a member, that of the property i or of none. It fails on a duplicate.
func (w *walker) note(n *node, m *members, i int, name []byte) bool {
	if i >= 0 {
		if w.has(m, i) {
			return w.fail(duplicateName)
		}
		w.seen[m.seen+i/64] |= 1 << (i % 64)
		m.next = i + 1
		return true
	}
	if m.others[string(name)] {
		return w.fail(duplicateName)
	}
	if m.others == nil {
		m.others = map[string]bool{}
	}
	m.others[string(name)] = true
	if n.closed {
		w.refuseProperty(name)
	}
	return true
}

// find returns the property of that name, or -1. It tries next first: most objects are
// sent in the order of their declaration.
func (n *node) find(name []byte, next int) int {
	if next < len(n.properties) && n.properties[next].name == string(name) {
		return next
	}
	if i, ok := n.index[string(name)]; ok {
		return i
	}
	return -1
}

// property reads the value of a declared property.
func (w *walker) property(p *property, i int) bool {
	isNull := w.at < len(w.data) && w.data[w.at] == 'n'
	w.path = append(w.path, step{p.name, i})
	ok := w.value(p.node)
	w.path = w.path[:len(w.path)-1]
	if operator := p.node.operator; operator != "" {
		if isNull {
			operator += ":null"
		}
		w.operators = append(w.operators, operator)
	}
	return ok
}

// missing notes the required properties that an object lacks.
func (w *walker) missing(n *node, has func(int) bool) {
	if !n.required {
		return
	}
	for i, p := range n.properties {
		if p.required && !has(i) {
			w.refuseAt(step{p.name, i}, problem.Required(p.name))
		}
	}
}

// judgePage checks the paging inputs of a list.
func (w *walker) judgePage(n *node, has func(int) bool) {
	w.isPlain = n.list.isPlain(has)
	w.isSized = has(n.list.first) || has(n.list.last) || has(n.list.limit)
	if i, wrong := n.list.page(has); wrong != none {
		w.refuseOnce(n, i, wrong)
	}
}

// refuseOnce notes a problem of a property of the current object, unless the property
// already has one.
func (w *walker) refuseOnce(n *node, i int, wrong problem.Problem) {
	depth := len(w.path)
	for _, p := range w.problems {
		if len(p.order) > depth && p.order[depth] == i && w.isAt(p.order[:depth]) {
			return
		}
	}
	w.refuseAt(step{n.properties[i].name, i}, wrong)
}

// isAt tells whether an order is that of the current value.
func (w *walker) isAt(order []int) bool {
	for i, s := range w.path {
		if order[i] != s.index {
			return false
		}
	}
	return true
}

func (w *walker) array(n *node) bool {
	if !w.enter() {
		return false
	}
	mark := w.mark()
	items := n.items
	if items == nil {
		items = anything
	}
	count := 0
	w.out = append(w.out, '[')
	for more := w.peek() != ']'; more; count++ {
		if count > 0 {
			w.out = append(w.out, ',')
		}
		if len(w.problems)-mark.problems >= maxProblems {
			items = anything // there are enough problems, and later ones come later
		}
		w.peek()
		w.path = append(w.path, step{index: count})
		ok := w.value(items)
		w.path = w.path[:len(w.path)-1]
		if !ok {
			return false
		}
		if more, ok = w.more(']'); !ok {
			return false
		}
	}
	w.out = append(w.out, ']')
	w.at++
	w.depth--

	switch {
	case n.minItems.isAbove(count):
		w.refuseWhole(mark, problem.MinItems(n.minItems.count))
	case n.maxItems.isBelow(count):
		w.refuseWhole(mark, problem.MaxItems(n.maxItems.count))
	}
	return true
}

// enter steps over the opening bracket of an array or object.
func (w *walker) enter() bool {
	if w.depth == maxDepth {
		return w.fail(nestedTooDeeply)
	}
	w.depth++
	w.at++
	return true
}

// more skips the comma before a further member. At the closing bracket it returns false
// and does not advance.
func (w *walker) more(closing byte) (more, ok bool) {
	switch w.peek() {
	case ',':
		w.at++
		return true, true
	case closing:
		return false, true
	default:
		return false, w.unexpected()
	}
}

func (w *walker) string(n *node) bool {
	content, verbatim, ok := w.text()
	if !ok {
		return false
	}
	start := len(w.out)
	wrong := none
	switch n.format {
	case formatDate, formatDateTime, formatDuration, formatRelativePeriod:
		w.out, wrong = n.format.appendForm(w.out, content)
	default:
		w.write(content, verbatim)
		wrong = n.format.problem(content)
	}
	if n.enum != nil && !n.enum[string(content)] {
		wrong = n.notInEnum(w.lastSegment())
	}
	if wrong == none {
		wrong = n.lengthProblem(content)
	}
	switch {
	case wrong != none:
	case n.notBlank && isBlank().Match(content):
		wrong = problem.NotBlank()
	case n.pattern != nil && !n.pattern.Match(content):
		wrong = problem.Pattern(n.message)
	}
	if wrong != none {
		w.refuse(wrong)
		return true
	}
	if n.format.isPlace() {
		w.places = append(w.places, Place{Path: w.field(), Format: n.format.name(), start: start, end: len(w.out)})
	}
	return true
}

// none is no problem.
var none problem.Problem

func (n *node) notInEnum(name string) problem.Problem {
	return problem.Enum(name, n.members, n.enumNull)
}

func (n *node) lengthProblem(content []byte) problem.Problem {
	if n.minLength == (limit{}) && n.maxLength == (limit{}) {
		return none
	}
	length, unit := 0, ""
	if n.format == formatPassword {
		length, unit = len(content), "bytes"
	} else {
		length = utf8.RuneCount(content)
	}
	switch {
	case n.minLength.isAbove(length):
		return problem.MinLength(n.minLength.count, unit)
	case n.maxLength.isBelow(length):
		return problem.MaxLength(n.maxLength.count, unit)
	default:
		return none
	}
}

// write writes a string. Verbatim content needs no check.
func (w *walker) write(content []byte, verbatim bool) {
	if !verbatim {
		w.out = AppendText(w.out, content)
		return
	}
	w.out = append(w.out, '"')
	w.out = append(w.out, content...)
	w.out = append(w.out, '"')
}

func (w *walker) number(n *node) bool {
	literal, ok := w.numeral()
	if !ok {
		return false
	}
	if n.isAnything() {
		w.out = append(w.out, literal...)
		return true
	}
	number := parseNumber(literal, w.digits[:0])
	kind := kindNumber
	if number.isInteger() {
		kind = kindInteger
	}
	isNumber := n.kinds&kindNumber != 0
	switch {
	case n.kinds&kind == 0 && !isNumber:
		w.refuse(problem.Type(n.types, kind.name()))
	case n.enum != nil:
		w.refuse(n.notInEnum(w.lastSegment()))
	case n.format == formatDecimal && !number.isDecimal():
		w.refuse(problem.Format(n.format.name()))
	case n.minimum != nil && number.compare(n.minimum.number) < 0:
		w.refuse(problem.Minimum(n.minimum.text))
	case n.maximum != nil && number.compare(n.maximum.number) > 0:
		w.refuse(problem.Maximum(n.maximum.text))
	case !isNumber || n.format == formatDecimal:
		w.out = number.appendTo(w.out)
		return true
	case isZeroSingle(literal):
		w.out = append(w.out, '0')
		return true
	}
	w.out = append(w.out, literal...)
	return true
}

// isZeroSingle tells whether a number is zero in single precision. The database refuses a
// number that is too small; here it counts as zero.
func isZeroSingle(literal []byte) bool {
	f, _ := strconv.ParseFloat(string(literal), 32)
	return f == 0
}

// mark is a point for taking back problems.
type mark struct{ problems, unknown int }

func (w *walker) mark() mark {
	return mark{problems: len(w.problems), unknown: len(w.unknown)}
}

// refuse notes a problem of the current value.
func (w *walker) refuse(wrong problem.Problem) {
	p := fault{Problem: wrong.At(w.field()), order: make([]int, len(w.path))}
	for i, s := range w.path {
		p.order[i] = s.index
	}
	w.problems = append(w.problems, p)
}

// refuseAt notes a problem of a part of the current value.
func (w *walker) refuseAt(s step, wrong problem.Problem) {
	w.path = append(w.path, s)
	w.refuse(wrong)
	w.path = w.path[:len(w.path)-1]
}

// refuseWhole notes a problem of a value as a whole, instead of those below it.
func (w *walker) refuseWhole(since mark, wrong problem.Problem) {
	w.problems = w.problems[:since.problems]
	w.unknown = w.unknown[:since.unknown]
	w.refuse(wrong)
}

// refuseProperty notes an unknown property of the current value.
func (w *walker) refuseProperty(name []byte) {
	if len(w.unknown) == maxProblems {
		return
	}
	text := echo(name)
	field := text
	if len(w.path) > 0 {
		field = w.field() + "." + text
	}
	w.unknown = append(w.unknown, problem.AdditionalProperty(text).At(field))
}

// field returns the dotted path of the current value.
func (w *walker) field() string {
	if len(w.path) == 0 {
		return "(root)"
	}
	var field []byte
	for i, s := range w.path {
		if i > 0 {
			field = append(field, '.')
		}
		field = append(field, s.segment()...)
	}
	return string(field)
}

// lastSegment returns the end of the path of the current value.
func (w *walker) lastSegment() string {
	if len(w.path) == 0 {
		return "(root)"
	}
	return w.path[len(w.path)-1].segment()
}

func (s step) segment() string {
	if s.name == "" {
		return strconv.Itoa(s.index)
	}
	return s.name
}

// listed returns the problems in the order of the report.
func (w *walker) listed() []problem.Problem {
	slices.SortFunc(w.problems, func(a, b fault) int { return slices.Compare(a.order, b.order) })
	var list []problem.Problem
	for _, p := range w.problems {
		list = append(list, p.Problem)
	}
	list = append(list, w.unknown...)
	return list[:min(len(list), maxProblems)]
}
