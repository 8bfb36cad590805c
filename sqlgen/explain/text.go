package explain

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// Text returns an explanation for people: the answer, then the rules with their clauses,
// for each row or, if no row matters, before one is read.
func Text(e *Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s of %s) called by %s\n", e.Action, e.Kind, e.Model, e.Caller.show())
	if e.Status != 0 {
		fmt.Fprintf(&b, "%d, %s\n", e.Status, e.Outcome)
	} else {
		fmt.Fprintf(&b, "%s\n", e.Outcome)
	}
	if len(e.Rules) > 0 && (e.Early != expr.Unknown || len(e.Rows) == 0) {
		b.WriteString("\nbefore any row is read\n")
		writeRules(&b, e.Rules)
	}
	for _, v := range e.Validations {
		fmt.Fprintf(&b, "\n@validate at %s: %s\n  %s\n", v.Place, v.Value, v.Text)
	}
	for _, r := range e.Rows {
		writeRow(&b, e, r)
	}
	for i, note := range e.Notes {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}

func (c *Caller) show() string {
	if c == nil {
		return "an anonymous caller"
	}
	text := c.ID
	if c.Email != "" {
		text = c.Email + " (" + c.ID + ")"
	}
	if len(c.Roles) > 0 {
		return text + ", roles: " + strings.Join(c.Roles, ", ")
	}
	return text + ", without any role"
}

func writeRow(b *strings.Builder, e *Explanation, r Row) {
	name := r.ID
	if r.Arm != "" {
		name += " (arm " + r.Arm + ")"
	}
	switch {
	case !r.Selected:
		fmt.Fprintf(b, "\nrow %s: the conditions of the action leave it out\n", name)
	case r.Admitted:
		fmt.Fprintf(b, "\nrow %s: admitted\n", name)
	case e.Kind == model.List:
		fmt.Fprintf(b, "\nrow %s: left out\n", name)
	default:
		fmt.Fprintf(b, "\nrow %s: refused\n", name)
	}
	for _, w := range r.Wheres {
		fmt.Fprintf(b, "  @where at %s: %s\n", w.Place, w.Value)
		writeClauses(b, []Clause{w})
	}
	if e.Early == expr.Unknown {
		writeRules(b, r.Rules)
	}
}

func writeRules(b *strings.Builder, rules []Rule) {
	for _, r := range rules {
		fmt.Fprintf(b, "  @permission at %s: %s\n", r.Place, r.Value)
		if len(r.Roles) > 0 {
			fmt.Fprintf(b, "    roles: %s\n", strings.Join(r.Roles, ", "))
		}
		writeClauses(b, r.Clauses)
		if r.Needs != "" {
			fmt.Fprintf(b, "    it would admit the call if %s\n", r.Needs)
		}
	}
}

// writeClauses writes clauses with their values, those of the innermost ones in one column.
func writeClauses(b *strings.Builder, clauses []Clause) {
	width := 0
	for _, c := range clauses {
		if len(c.Operands) > 0 {
			width = max(width, 2*c.Depth+utf8.RuneCountInString(c.Text))
		}
	}
	for _, c := range clauses {
		column := 0
		if len(c.Operands) > 0 {
			column = width
		}
		line := fmt.Sprintf("    %-*s  %-7s", column, strings.Repeat("  ", c.Depth)+c.Text, c.Value)
		var operands []string
		for _, o := range c.Operands {
			operands = append(operands, o.Text+": "+o.Value)
		}
		b.WriteString(strings.TrimRight(line+"  "+strings.Join(operands, "; "), " ") + "\n")
	}
}

// JSON returns an explanation for scripts.
func JSON(e *Explanation) []byte {
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("explain: write an explanation: %v", err))
	}
	return append(text, '\n')
}
