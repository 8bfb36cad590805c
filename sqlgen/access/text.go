package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Text returns a matrix and its warnings for people: the actions by model, one
// line each, and under it the rules on which an entry depends.
func Text(m *Matrix, warnings []Warning) string {
	var b strings.Builder
	widths := m.widths()
	line := []string{"", ""}
	for _, c := range m.Classes {
		line = append(line, c.Name)
	}
	writeLine(&b, line, widths)
	last := ""
	for _, row := range slices.Concat(m.Rows, m.Code) {
		name := owner(row.Action)
		if row.Code != "" {
			name = "Code of jobs and subscribers"
		}
		if name != last {
			fmt.Fprintf(&b, "\n%s\n", name)
			last = name
		}
		writeLine(&b, row.cells(), widths)
		for _, c := range m.conditions(row) {
			fmt.Fprintf(&b, "      %s\n", strings.ReplaceAll(c, "\n", "\n      "))
		}
	}
	if len(m.Rows) == 0 {
		b.WriteString("\nthere are no actions\n")
	}
	if slices.ContainsFunc(warnings, func(w Warning) bool { return !w.Allowed }) {
		b.WriteString("\nMake sure that this is meant:\n")
	}
	writeNames(&b, "without signing in one can call", m.names(warnings, ReachedAnonymously, Always))
	writeNames(&b, "without signing in one can call, if a rule above holds,", m.names(warnings, ReachedAnonymously, Depends))
	writeNames(&b, "nobody can call", m.names(warnings, ClosedForAll, Never))
	for _, w := range warnings {
		if w.Code != ReachedAnonymously && w.Code != ClosedForAll && !w.Allowed {
			writeWarning(&b, w)
		}
	}
	if slices.ContainsFunc(warnings, func(w Warning) bool { return w.Allowed }) {
		b.WriteString("\nAn @allow says that this is meant:\n")
	}
	for _, w := range warnings {
		if w.Allowed {
			writeWarning(&b, w)
		}
	}
	return b.String()
}

// writeWarning writes a warning with its place.
func writeWarning(b *strings.Builder, w Warning) {
	fmt.Fprintf(b, "  %s:%d:%d: %s\n", w.Span.File.Name, w.Span.Start.Line, w.Span.Start.Column, w.Message)
}

// names returns the actions with a warning of a code and with this verdict for anonymous
// callers.
func (m *Matrix) names(warnings []Warning, code syntax.Code, v Verdict) []string {
	var names []string
	for _, w := range warnings {
		row := m.Rows[slices.IndexFunc(m.Rows, func(r Row) bool { return r.Action == w.Action })]
		if w.Code == code && row.verdict(0) == v {
			names = append(names, w.Action.Name)
		}
	}
	return names
}

// lineWidth is the greatest width of a list of names.
const lineWidth = 100

// writeNames writes a text and a list of names, over several lines if it is long, and
// nothing without names.
func writeNames(b *strings.Builder, text string, names []string) {
	if len(names) == 0 {
		return
	}
	line := "  " + text
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		if len(line)+1+len(name) > lineWidth {
			b.WriteString(line + "\n")
			line = "   "
		}
		line += " " + name
	}
	b.WriteString(line + "\n")
}

// cells returns the columns of an action: its kind, its name and the verdicts.
func (r Row) cells() []string {
	name := r.Action.Name
	if len(r.APIs) == 0 && r.Code == "" {
		name += " (in no api)"
	}
	cells := []string{"  " + string(r.Action.Kind), name}
	for _, d := range r.Decisions {
		cells = append(cells, string(d.Verdict))
	}
	return cells
}

// widths returns the widths of the columns.
func (m *Matrix) widths() []int {
	widths := []int{0, 0}
	for _, c := range m.Classes {
		widths = append(widths, len(c.Name))
	}
	for _, row := range slices.Concat(m.Rows, m.Code) {
		for i, cell := range row.cells() {
			widths[i] = max(widths[i], len(cell))
		}
	}
	return widths
}

// writeLine writes cells in columns, without space at the end.
func writeLine(b *strings.Builder, cells []string, widths []int) {
	var line strings.Builder
	for i, cell := range cells {
		gap := 3
		if i == 0 {
			gap = 1
		}
		fmt.Fprintf(&line, "%-*s", widths[i]+gap, cell)
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// conditions words the rules on which the entries of a row depend. Classes with the same
// rules are together, and without their names if no others depend.
func (m *Matrix) conditions(row Row) []string {
	var conditions []string
	var done []int
	for i, d := range row.Decisions {
		if d.Verdict != Depends || slices.Contains(done, i) {
			continue
		}
		var names []string
		others := false
		for j, other := range row.Decisions {
			switch {
			case other.Verdict != Depends:
			case slices.Equal(other.Rules, d.Rules):
				names = append(names, m.Classes[j].Name)
				done = append(done, j)
			default:
				others = true
			}
		}
		text := "if " + indented(d.Rules)
		if others {
			text = strings.Join(names, ", ") + ": " + text
		}
		conditions = append(conditions, text)
	}
	return conditions
}

// indented words rules that are joined by or, one to a line.
func indented(rules []*model.Rule) string {
	var texts []string
	for _, r := range rules {
		texts = append(texts, r.Text)
	}
	return strings.Join(texts, "\n  or ")
}
