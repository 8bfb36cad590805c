package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/sql/release"
)

// pagingNames are the properties that the body of every list has.
var pagingNames = [...]string{"first", "last", "after", "before", "limit", "offset", "totalCount"}

// list says where the paging inputs are among the properties of a list's body.
type list struct {
	first, last, after, before, limit, offset int
	totalCount                                int
	orderBy                                   int // -1 if the list cannot be sorted
}

// newList compiles the body of a list. Its dependentSchemas must be exactly the rules
// that page checks.
func newList(n *node, dependent []release.Property) (*list, error) {
	at := func(name string) int {
		if i, ok := n.index[name]; ok {
			return i
		}
		return -1
	}
	l := &list{
		first: at("first"), last: at("last"), after: at("after"), before: at("before"),
		limit: at("limit"), offset: at("offset"), totalCount: at("totalCount"), orderBy: at("orderBy"),
	}
	for _, name := range pagingNames {
		if at(name) < 0 {
			return nil, fmt.Errorf("the body of a list needs the property %s", name)
		}
	}
	got, err := readPagingRules(dependent)
	if err != nil {
		return nil, err
	}
	if want := pagingRules(); !slices.Equal(got, want) {
		return nil, fmt.Errorf("they must say %s, not %s", strings.Join(want, ", "), strings.Join(got, ", "))
	}
	return l, nil
}

// pagingRules are the rules that page checks, sorted.
func pagingRules() []string {
	rules := []string{
		needsRule("offset", "limit"),
		excludesRule("first", "last"),
		excludesRule("after", "before"),
		excludesRule("first", "before"),
		excludesRule("last", "after"),
	}
	for _, cursor := range [...]string{"first", "last", "after", "before"} {
		rules = append(rules, excludesRule(cursor, "limit"), excludesRule(cursor, "offset"))
	}
	slices.Sort(rules)
	return rules
}

func needsRule(name, other string) string {
	return name + " needs " + other
}

// excludesRule is independent of the order of the two names.
func excludesRule(name, other string) string {
	return min(name, other) + " excludes " + max(name, other)
}

// readPagingRules reads dependentSchemas as rules, sorted, each once.
func readPagingRules(dependent []release.Property) ([]string, error) {
	var rules []string
	for _, d := range dependent {
		for _, k := range d.Schema.Keywords {
			if k.Name != "required" && k.Name != "properties" {
				return nil, fmt.Errorf("%s: the keyword %s is not supported", d.Name, k.Name)
			}
		}
		for _, name := range d.Schema.Required {
			rules = append(rules, needsRule(d.Name, name))
		}
		for _, p := range d.Schema.Properties {
			if !p.Schema.IsNever {
				return nil, fmt.Errorf("%s: properties: %s: only false is supported", d.Name, p.Name)
			}
			rules = append(rules, excludesRule(d.Name, p.Name))
		}
	}
	slices.Sort(rules)
	return slices.Compact(rules), nil
}

// page returns the first problem of a combination of paging inputs, and its property. The
// problem is none for a valid combination.
func (l *list) page(has func(property int) bool) (property int, wrong problem.Problem) {
	isOffset := has(l.limit) || has(l.offset)
	for _, cursor := range [...]int{l.first, l.last, l.after, l.before} {
		if isOffset && has(cursor) {
			return cursor, problem.Excludes("limit")
		}
	}
	switch {
	case has(l.offset) && !has(l.limit):
		return l.offset, problem.Needs("limit")
	case has(l.first) && has(l.last):
		return l.last, problem.Excludes("first")
	case has(l.after) && has(l.before):
		return l.before, problem.Excludes("after")
	case has(l.first) && has(l.before):
		return l.before, problem.Excludes("first")
	case has(l.last) && has(l.after):
		return l.after, problem.Excludes("last")
	default:
		return 0, none
	}
}

// isPlain tells whether a page is at the front, in the list's own order and without a
// count.
func (l *list) isPlain(has func(property int) bool) bool {
	for _, i := range [...]int{l.last, l.before, l.limit, l.offset, l.totalCount} {
		if has(i) {
			return false
		}
	}
	return l.orderBy < 0 || !has(l.orderBy)
}

// Page is the page that the body of a list asks for.
type Page struct {
	Size        int // 0 if the request does not set it
	Offset      int
	IsBackwards bool // it is before a cursor, or the last one
	Cursor      string
	HasCursor   bool // it is beyond Cursor
	HasLimit    bool // it is given by its position
	CountsAll   bool
	OrderBy     []Key
}

// Key is a field for ordering a list by request.
type Key struct {
	Name       string
	Descending bool
}

// notePaging notes the value of a paging input. The value is not checked yet: an invalid one is
// refused, and then the page is not used.
func (l *list) notePaging(p *Page, property int, value []byte) {
	number := func() int {
		n, _ := strconv.Atoi(string(value))
		return n
	}
	switch property {
	case l.first:
		p.Size = number()
	case l.last:
		p.Size, p.IsBackwards = number(), true
	case l.limit:
		p.Size, p.HasLimit = number(), true
	case l.offset:
		p.Offset = number()
	case l.after:
		p.Cursor, p.HasCursor = readText(value), true
	case l.before:
		p.Cursor, p.HasCursor, p.IsBackwards = readText(value), true, true
	case l.totalCount:
		p.CountsAll = string(value) == "true"
	case l.orderBy:
		p.OrderBy = readOrder(value)
	}
}

// readText reads a string; it returns an empty text for any other value.
func readText(value []byte) string {
	var text string
	_ = json.Unmarshal(value, &text)
	return text
}

// readOrder reads an array of objects, each with the names of fields and their directions.
func readOrder(value []byte) []Key {
	var keys []Key
	d := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		name, err := d.ReadToken()
		if err != nil {
			return keys
		}
		if name.Kind() != '"' {
			continue
		}
		field := name.String()
		direction, err := d.ReadToken()
		if err != nil {
			return keys
		}
		if direction.Kind() == '"' {
			keys = append(keys, Key{Name: field, Descending: direction.String() == "desc"})
		}
	}
}

// Paging is added to the body of a list for values that the request leaves open. The zero
// Paging adds nothing.
type Paging struct {
	Size       int  // of the page; 0 leaves it to the database
	TotalCount bool // whether to count always
}

// WithPaging returns the reader with additions to the body of a list. It leaves any other
// body unchanged.
func (r *Reader) WithPaging(p Paging) *Reader {
	added := newReader(r.root)
	added.paging = p
	return added
}

// complete adds to the body that a walker has read.
func (p Paging) complete(w *walker) {
	add := func(member string) {
		w.out = w.out[:len(w.out)-1]
		if len(w.out) > 1 {
			w.out = append(w.out, ',')
		}
		w.out = append(append(w.out, member...), '}')
	}
	switch {
	case p.Size == 0 || w.isSized:
	case w.page.IsBackwards:
		add(`"last":` + strconv.Itoa(p.Size))
	default:
		add(`"first":` + strconv.Itoa(p.Size))
	}
	if p.Size > 0 && !w.isSized {
		w.page.Size = p.Size
	}
	if p.TotalCount {
		add(`"totalCount":true`) // the database uses the last of two
		w.isPlain, w.page.CountsAll = false, true
	}
}

// withOperators returns the body of a list with operands below where that know their
// operator. Query objects are shared between fields, so they are copied.
func (n *node) withOperators() (*node, error) {
	i, ok := n.index["where"]
	if !ok {
		return n, nil
	}
	where, err := n.properties[i].node.operands("", maxDepth)
	if err != nil {
		return nil, fmt.Errorf("where: %w", err)
	}
	body := *n
	body.properties = slices.Clone(n.properties)
	body.properties[i].node = where
	return &body, nil
}

// operands copies the part of a filter at a path. A value that is not an object with
// properties is an operand.
func (n *node) operands(path string, depth int) (*node, error) {
	if depth == 0 {
		return nil, errors.New("a filter is nested without end")
	}
	part := *n
	if n.kinds&kindObject == 0 || len(n.properties) == 0 {
		part.operator = path
		return &part, nil
	}
	part.properties = slices.Clone(n.properties)
	for i, p := range part.properties {
		below := p.name
		if path != "" {
			below = path + "." + p.name
		}
		node, err := p.node.operands(below, depth-1)
		if err != nil {
			return nil, err
		}
		part.properties[i].node = node
	}
	return &part, nil
}
