package emit

import "github.com/sternpost/sternpost/sqlgen/layout"

// doc is a piece of SQL that can be laid out on one line or on several: a layout, a
// text, a catDoc, or nil for nothing.
type doc any

// catDoc is docs behind each other.
type catDoc []doc

// Where a line may end, or must.
var (
	line = layout.Space()
	soft = layout.Gap()
	hard = layout.NewLine()
)

func cat(parts ...doc) doc   { return of(catDoc(parts)) }
func nest(parts ...doc) doc  { return layout.Indent(each(parts)...) }
func group(parts ...doc) doc { return layout.Group(each(parts)...) }

// of returns the layout of a doc.
func of(d doc) layout.Layout {
	switch d := d.(type) {
	case nil:
		return layout.Concat()
	case string:
		return layout.Text(d)
	case layout.Layout:
		return d
	case catDoc:
		if len(d) == 1 {
			return of(d[0])
		}
		return layout.Concat(each(d)...)
	}
	panic("emit: unknown layout")
}

// each returns the layouts of docs.
func each(docs []doc) []layout.Layout {
	layouts := make([]layout.Layout, len(docs))
	for i, d := range docs {
		layouts[i] = of(d)
	}
	return layouts
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

// commaLines is a list on one line, or on several: as many names and literals on each as fit, but one part per line if
// any is more than that.
func commaLines(parts []doc) doc {
	if areWords(parts) {
		return filled(",", "", parts)
	}
	return commaLine(parts)
}

// commaLine is a list with one part per line, or all on one.
func commaLine(parts []doc) doc { return join(cat(",", line), parts) }

// filled puts as many parts on each line as fit. Each has what goes before it, and what goes behind unless it is last.
func filled(behind, before string, parts []doc) doc {
	all := catDoc{parts[0]}
	for _, p := range parts[1:] {
		all = append(all, behind, group(line, before, p))
	}
	return all
}

// areWords tells whether all parts are names and literals.
func areWords(parts []doc) bool {
	for _, p := range parts {
		if _, ok := p.(string); !ok {
			return false
		}
	}
	return len(parts) > 0
}

// bracketed is a list in brackets that breaks after the opening one.
func bracketed(open string, parts []doc, end string) doc {
	if len(parts) == 0 {
		return open + end
	}
	return group(open, nest(soft, commaLines(parts)), soft, end)
}

// bracketedLines is such a list with one part per line, or all on one.
func bracketedLines(open string, parts []doc, end string) doc {
	if len(parts) == 0 {
		return open + end
	}
	return group(open, nest(soft, commaLine(parts)), soft, end)
}

// written writes a doc, from column 0 on.
func written(d doc) string { return of(d).String() }

// oneLine writes a doc on one line of any length.
func oneLine(d doc) string { return of(d).OneLine() }
