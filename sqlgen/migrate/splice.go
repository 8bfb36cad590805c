package migrate

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// splice replaces the bytes of a text between two places.
type splice struct {
	from, to int
	text     string
}

// near is the length of equal text between two splices that costs less than a further splice.
const near = 24

// difference returns the splices that make one JSON text of another, in order.
func difference(old, new string) []splice {
	d := differ{old: chunks(old), new: chunks(new)}
	d.between(span{0, len(d.old)}, span{0, len(d.new)})
	var all []splice
	for _, s := range d.splices {
		if n := len(all); n > 0 && s.from-all[n-1].to < near {
			last := &all[n-1]
			last.text += old[last.to:s.from] + s.text
			last.to = s.to
			continue
		}
		all = append(all, s)
	}
	return all
}

// chunk is a member or element of a JSON text, or a bracket of it.
type chunk struct {
	text string
	at   int // in the text
}

// chunks cuts a JSON text behind each comma and bracket that is outside of texts. All
// these are ASCII, so that no character is cut.
func chunks(text string) []chunk {
	var all []chunk
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && strings.IndexByte(",{[]}", c) >= 0:
			all = append(all, chunk{text[start : i+1], start})
			start = i + 1
		}
	}
	if start < len(text) {
		all = append(all, chunk{text[start:], start})
	}
	return all
}

// span is a half-open range of chunks.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// differ compares two lists of chunks by those that occur once in both, in the way of
// B. Cohen's patience diff.
type differ struct {
	old, new []chunk
	splices  []splice
}

func (d *differ) between(old, new span) {
	for old.len() > 0 && new.len() > 0 && d.old[old.from].text == d.new[new.from].text {
		old.from++
		new.from++
	}
	for old.len() > 0 && new.len() > 0 && d.old[old.to-1].text == d.new[new.to-1].text {
		old.to--
		new.to--
	}
	if old.len() == 0 && new.len() == 0 {
		return
	}
	anchors := d.anchors(old, new)
	if len(anchors) == 0 {
		d.replace(old, new)
		return
	}
	for _, a := range anchors {
		d.between(span{old.from, a.old}, span{new.from, a.new})
		old.from, new.from = a.old+1, a.new+1
	}
	d.between(old, new)
}

// small bounds the table of lengths for spans without anchors.
const small = 1 << 20

// replace replaces one span by another, except for the chunks that a longest common subsequence keeps if the spans are
// short.
func (d *differ) replace(old, new span) {
	rows, columns := old.len()+1, new.len()+1
	if rows == 1 || columns == 1 || rows*columns > small {
		d.add(old, new)
		return
	}
	// lengths[i*columns+j] is the length for the chunks from i and j on.
	lengths := make([]int32, rows*columns)
	for i := rows - 2; i >= 0; i-- {
		for j := columns - 2; j >= 0; j-- {
			if d.old[old.from+i].text == d.new[new.from+j].text {
				lengths[i*columns+j] = lengths[(i+1)*columns+j+1] + 1
			} else {
				lengths[i*columns+j] = max(lengths[(i+1)*columns+j], lengths[i*columns+j+1])
			}
		}
	}
	from := [2]int{}
	i, j := 0, 0
	for i < rows-1 && j < columns-1 {
		switch {
		case d.old[old.from+i].text == d.new[new.from+j].text:
			d.add(span{old.from + from[0], old.from + i}, span{new.from + from[1], new.from + j})
			i++
			j++
			from = [2]int{i, j}
		case lengths[(i+1)*columns+j] >= lengths[i*columns+j+1]:
			i++
		default:
			j++
		}
	}
	d.add(span{old.from + from[0], old.to}, span{new.from + from[1], new.to})
}

func (d *differ) add(old, new span) {
	if old.len() == 0 && new.len() == 0 {
		return
	}
	var text strings.Builder
	for _, c := range d.new[new.from:new.to] {
		text.WriteString(c.text)
	}
	d.splices = append(d.splices, splice{d.place(old.from), d.place(old.to), text.String()})
}

// place returns where a chunk of the old text begins, or where the text ends.
func (d *differ) place(i int) int {
	if i < len(d.old) {
		return d.old[i].at
	}
	if i == 0 {
		return 0
	}
	last := d.old[i-1]
	return last.at + len(last.text)
}

// anchor is a chunk that occurs once in both spans.
type anchor struct{ old, new int }

// anchors returns the longest list of anchors that are in the same order in both spans.
func (d *differ) anchors(old, new span) []anchor {
	counts := map[string]*[3]int{} // in the old span, in the new one, and where in the old
	for i := old.from; i < old.to; i++ {
		c := counts[d.old[i].text]
		if c == nil {
			c = &[3]int{}
			counts[d.old[i].text] = c
		}
		c[0]++
		c[2] = i
	}
	for i := new.from; i < new.to; i++ {
		if c := counts[d.new[i].text]; c != nil {
			c[1]++
		}
	}
	var all []anchor
	for i := new.from; i < new.to; i++ {
		if c := counts[d.new[i].text]; c != nil && c[0] == 1 && c[1] == 1 {
			all = append(all, anchor{c[2], i})
		}
	}
	return increasing(all)
}

// increasing returns the longest subsequence whose places in the old text increase.
func increasing(all []anchor) []anchor {
	var ends []int // the anchor that ends the best subsequence of each length
	before := make([]int, len(all))
	for i, a := range all {
		low, high := 0, len(ends)
		for low < high {
			middle := (low + high) / 2
			if all[ends[middle]].old < a.old {
				low = middle + 1
			} else {
				high = middle
			}
		}
		before[i] = -1
		if low > 0 {
			before[i] = ends[low-1]
		}
		if low == len(ends) {
			ends = append(ends, i)
		} else {
			ends[low] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	best := make([]anchor, len(ends))
	for i, n := ends[len(ends)-1], len(ends)-1; n >= 0; i, n = before[i], n-1 {
		best[n] = all[i]
	}
	return best
}

// splicesSQL writes splices as platform.spliced takes them.
func splicesSQL(splices []splice) string {
	if len(splices) == 0 {
		return "'{}'"
	}
	lines := make([]string, len(splices))
	for i, s := range splices {
		lines[i] = fmt.Sprintf("    ['%d', '%d', %s]", s.from, s.to, literal(s.text))
	}
	return "array[\n" + strings.Join(lines, ",\n") + "\n  ]"
}

// literal writes a text in the form that has less to escape.
func literal(text string) string {
	if strings.ContainsAny(text, `'\`) {
		return pg.DollarQuote("", text)
	}
	return pg.Quote(text)
}
