package input

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Reader reads the inputs of one action. It may be used concurrently.
type Reader struct {
	root    *node
	paging  Paging
	most    int       // how many rows one input may have
	counted int       // how many objects that is; 0 means any number
	walkers sync.Pool // of *walker
}

func newReader(root *node) *Reader {
	return &Reader{root: root, walkers: sync.Pool{New: func() any { return &walker{} }}}
}

// beside is the number of objects in an update beside its rows: the input as a whole, and what finds the record.
const beside = 2

// LimitRows limits the rows of an input that creates rows, or updates one: the record and all below it. isUpdate tells
// that the record is in a member, beside what finds it.
func (r *Reader) LimitRows(most int, isUpdate bool) {
	r.counted, r.most = most, most
	if isUpdate {
		r.counted += beside
	}
}

// Any returns a reader that accepts any values. It detects a malformed request before its
// action is known.
func Any() *Reader {
	return newReader(anything)
}

// Read reads a body strictly and checks it against the schema. An empty body is
// an empty object. The error is *Malformed or *Invalid; the body may be reused
// afterwards.
func (r *Reader) Read(body []byte) (Input, error) {
	if len(body) == 0 {
		body = []byte("{}")
	}
	w := r.walkers.Get().(*walker)
	defer func() {
		w.clear()
		r.walkers.Put(w)
	}()
	w.start(body)
	w.rows, w.mostRows = cmp.Or(r.counted, math.MaxInt), r.most
	if !w.document(r.root) {
		return Input{}, &Malformed{Reason: w.reason}
	}
	if problems := w.listed(); len(problems) > 0 {
		return Input{}, &Invalid{Problems: problems}
	}
	if r.root.list != nil {
		r.paging.complete(w)
	}
	in := Input{JSON: w.out, places: slices.Clone(w.places), operators: w.operatorSet(), plain: w.isPlain, page: w.page}
	for i, p := range in.places {
		in.places[i].json = in.JSON[p.start:p.end]
	}
	return in, nil
}

// Input is an input that fits its schema.
type Input struct {
	// JSON holds the values that were read, compact and in one form: a Number
	// without point and exponent, a Decimal without exponent, a Timestamp in UTC
	// with milliseconds, a Date without time, a Duration without zero parts.
	JSON []byte

	places    []Place
	operators string
	plain     bool
	page      Page
}

// Page returns the page that a list asks for.
func (in Input) Page() Page { return in.page }

// TakesFiles tells whether a value of the input may be a file.
func (r *Reader) TakesFiles() bool {
	return r.root.takes(map[*node]bool{}, formatDataURL, formatFile)
}

// TakesPasswords tells whether a value of the input may be a password, to be hashed.
func (r *Reader) TakesPasswords() bool {
	return r.root.takes(map[*node]bool{}, formatPassword)
}

// TakesSecrets tells whether a value of the input may be a secret, to be encrypted.
func (r *Reader) TakesSecrets() bool {
	return r.root.takes(map[*node]bool{}, formatSecret)
}

// takes tells whether a value at or below the node has one of these formats.
func (n *node) takes(seen map[*node]bool, formats ...format) bool {
	if n == nil || seen[n] {
		return false
	}
	seen[n] = true
	if slices.Contains(formats, n.format) || n.items.takes(seen, formats...) {
		return true
	}
	for _, p := range n.properties {
		if p.node.takes(seen, formats...) {
			return true
		}
	}
	return false
}

// OperatorSet returns the operators in the filter of a list as dotted paths, sorted and
// joined by commas: author.id.equals,title.startsWith. An explicit input is represented
// by its name alone. An operator with a null operand ends in :null.
func (in Input) OperatorSet() string {
	return in.operators
}

// WithMember returns the input, an object, with one more member.
func (in Input) WithMember(name string, value []byte) Input {
	out := append(make([]byte, 0, len(in.JSON)+len(name)+len(value)+4), in.JSON[:len(in.JSON)-1]...)
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(AppendText(out, []byte(name)), ':')
	in.JSON = append(append(out, value...), '}')
	return in
}

// PlainPage tells whether a list asks for a page from the front in the order of the
// action and without a count. Of the paging inputs it gives at most first and after, and
// it gives neither orderBy nor totalCount.
func (in Input) PlainPage() bool {
	return in.plain
}

// Places returns the values that must be replaced before the call, in their order in
// JSON: files, passwords and secrets that are not null.
func (in Input) Places() []Place {
	return in.places
}

// Place is a text within an input that is replaced before the call.
type Place struct {
	Path       string // dotted, as in the field of a problem
	Format     string // data-url, file, password or secret; text for a place from Find
	start, end int    // within Input.JSON
	json       []byte
}

// IsFound tells whether the place is from Find.
func (p Place) IsFound() bool { return p.Format == "text" }

// Text returns the value.
func (p Place) Text() string {
	if !bytes.ContainsRune(p.json, '\\') {
		return string(p.json[1 : len(p.json)-1])
	}
	var text string
	if err := json.Unmarshal(p.json, &text); err != nil {
		panic("input: a place holds no string: " + err.Error())
	}
	return text
}

// Replace returns the JSON of the input with each place replaced by the JSON from value;
// i counts the places in their order.
func (in Input) Replace(value func(i int) []byte) []byte {
	out := make([]byte, 0, len(in.JSON)+replacementSize*len(in.places))
	done := 0
	for i, p := range in.places {
		out = append(out, in.JSON[done:p.start]...)
		out = append(out, value(i)...)
		done = p.end
	}
	return append(out, in.JSON[done:]...)
}

// WithoutContents returns the input with an empty text in each place of an inline file.
// Such an input is small: a caller that has read the files can release the original.
func (in Input) WithoutContents() Input {
	out := in
	out.JSON, out.places = nil, slices.Clone(in.places)
	done := 0
	for i, p := range in.places {
		value := p.json
		if p.isInline() {
			value = []byte(`""`)
		}
		out.JSON = append(out.JSON, in.JSON[done:p.start]...)
		out.places[i].start = len(out.JSON)
		out.JSON = append(out.JSON, value...)
		out.places[i].end = len(out.JSON)
		done = p.end
	}
	out.JSON = append(out.JSON, in.JSON[done:]...)
	for i, p := range out.places {
		out.places[i].json = out.JSON[p.start:p.end]
	}
	return out
}

// replacementSize is room for the replacement of a place: a file, or a sealed text.
const replacementSize = 256

// Find returns the text at a path of objects, as a place; false if there is none.
func (in Input) Find(path string) (Place, bool) {
	pointer := jsontext.Pointer("/" + strings.ReplaceAll(path, ".", "/"))
	d := jsontext.NewDecoder(bytes.NewReader(in.JSON))
	for {
		if _, err := d.ReadToken(); err != nil {
			return Place{}, false // the end
		}
		if d.StackPointer() != pointer {
			continue
		}
		value, err := d.ReadValue() // the value after the name
		if err != nil || value.Kind() != '"' {
			return Place{}, false
		}
		end := int(d.InputOffset())
		p := Place{Path: path, Format: "text", start: end - len(value), end: end}
		p.json = in.JSON[p.start:p.end]
		return p, true
	}
}

// With returns the input with one more place to be replaced.
func (in Input) With(p Place) Input {
	at, isThere := slices.BinarySearchFunc(in.places, p.start, func(q Place, start int) int { return q.start - start })
	if !isThere {
		in.places = slices.Insert(slices.Clone(in.places), at, p)
	}
	return in
}

// operatorSet joins the operators in the input.
func (w *walker) operatorSet() string {
	switch len(w.operators) {
	case 0:
		return ""
	case 1:
		return w.operators[0]
	default:
		slices.Sort(w.operators)
		return strings.Join(w.operators, ",")
	}
}
