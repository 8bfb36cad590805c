package emit

import "strings"

// width is the column that lines should not pass.
const width = 120

// doc is a piece of text that can be laid out on one line or on several. The
// layouts and their algorithm are those of P. Wadler, A prettier printer (2003).
type doc interface{}

type (
	catDoc   []doc
	nestDoc  struct{ inner doc } // two spaces further in
	groupDoc struct {
		inner doc
		flat  int // its length on one line; -1 if it cannot be on one
	}
	lineDoc struct{ flat string } // a line end, or flat where the group is on one line
	hardDoc struct{}              // always a line end
)

var (
	line = lineDoc{" "}
	soft = lineDoc{""}
	hard = hardDoc{}
)

func cat(parts ...doc) doc  { return catDoc(parts) }
func nest(parts ...doc) doc { return nestDoc{catDoc(parts)} }

func group(parts ...doc) doc {
	inner := catDoc(parts)
	return groupDoc{inner: inner, flat: flatLength(inner)}
}

// join puts a separator between parts.
func join(separator doc, parts []doc) doc {
	var all catDoc
	for i, p := range parts {
		if i > 0 {
			all = append(all, separator)
		}
		all = append(all, p)
	}
	return all
}

// commaLines is a list with one part per line, or all on one.
func commaLines(parts []doc) doc { return join(cat(",", line), parts) }

// bracketed is a list in brackets that breaks after the opening one.
func bracketed(open string, parts []doc, end string) doc {
	if len(parts) == 0 {
		return open + end
	}
	return group(open, nest(soft, commaLines(parts)), soft, end)
}

func flatLength(d doc) int {
	switch d := d.(type) {
	case nil:
		return 0
	case string:
		if strings.Contains(d, "\n") {
			return -1
		}
		return len([]rune(d))
	case lineDoc:
		return len(d.flat)
	case hardDoc:
		return -1
	case nestDoc:
		return flatLength(d.inner)
	case groupDoc:
		return d.flat
	case catDoc:
		sum := 0
		for _, p := range d {
			n := flatLength(p)
			if n < 0 {
				return -1
			}
			sum += n
		}
		return sum
	}
	panic("emit: unknown layout")
}

// layout writes a doc, from column 0 on.
func layout(d doc) string {
	w := layoutWriter{}
	w.write(d, 0, false, 0)
	return w.out.String()
}

// oneLine writes a doc on one line, however long.
func oneLine(d doc) string {
	w := layoutWriter{}
	w.write(d, 0, true, 0)
	return w.out.String()
}

type layoutWriter struct {
	out    strings.Builder
	column int
}

// write writes d at an indentation. tail is the length of what follows it on the
// same line, which a group leaves room for.
func (w *layoutWriter) write(d doc, indent int, flat bool, tail int) {
	switch d := d.(type) {
	case nil:
	case string:
		w.text(d)
	case lineDoc:
		if flat {
			w.text(d.flat)
		} else {
			w.newline(indent)
		}
	case hardDoc:
		w.newline(indent)
	case nestDoc:
		w.write(d.inner, indent+2, flat, tail)
	case groupDoc:
		fits := d.flat >= 0 && w.column+d.flat+tail <= width
		w.write(d.inner, indent, flat || fits, tail)
	case catDoc:
		for i, p := range d {
			w.write(p, indent, flat, lead(d[i+1:], tail))
		}
	default:
		panic("emit: unknown layout")
	}
}

// lead is the length of parts up to the first place where a line may end.
func lead(parts catDoc, tail int) int {
	sum := 0
	for _, p := range parts {
		n, ended := leadOf(p)
		sum += n
		if ended {
			return sum
		}
	}
	return sum + tail
}

func leadOf(d doc) (length int, ended bool) {
	switch d := d.(type) {
	case nil:
		return 0, false
	case string:
		if i := strings.IndexByte(d, '\n'); i >= 0 {
			return i, true
		}
		return len([]rune(d)), false
	case lineDoc, hardDoc:
		return 0, true
	case nestDoc:
		return leadOf(d.inner)
	case groupDoc:
		return leadOf(d.inner)
	case catDoc:
		sum := 0
		for _, p := range d {
			n, ended := leadOf(p)
			sum += n
			if ended {
				return sum, true
			}
		}
		return sum, false
	}
	panic("emit: unknown layout")
}

func (w *layoutWriter) text(s string) {
	w.out.WriteString(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		w.column = len([]rune(s[i+1:]))
	} else {
		w.column += len([]rune(s))
	}
}

func (w *layoutWriter) newline(indent int) {
	w.out.WriteByte('\n')
	w.out.WriteString(strings.Repeat(" ", indent))
	w.column = indent
}
