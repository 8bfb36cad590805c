package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Rule is the decision of one rule for the call.
type Rule struct {
	Rule    *model.Rule
	Value   expr.Truth
	Clauses []Clause // of its expression, the whole first, then its parts in the order written
	Roles   []string // those that it asks for; none means any caller
	Needs   string   // what would have to hold for it to admit the call; empty if it does, or if rows decide
}

// Clause is a part of an expression with its value.
type Clause struct {
	Text     string
	Span     syntax.Span
	Depth    int // how many clauses it is in
	Value    expr.Truth
	Operands []Operand // of a comparison or path: what is in it
}

// Operand is a path of an expression with its values. Through a to-many it can have any
// number of them.
type Operand struct {
	Text   string
	Values []any // as literals have them; nil is null
	Known  bool  // false before a row is read
	Hidden bool  // whether the values are not to be shown
	Kind   expr.Kind
}

// judge returns the decision of a rule by what is known.
func (c *call) judge(r *model.Rule, f facts) Rule {
	j := Rule{Rule: r, Value: expr.True}
	var needs []string
	if r.By != nil { // the caller has the role by an expression, which is one of those below
		j.Roles = []string{r.Role.Name}
	} else if len(r.Roles) > 0 {
		for _, role := range r.Roles {
			j.Roles = append(j.Roles, role.Name)
		}
		if !slices.ContainsFunc(j.Roles, func(name string) bool { return slices.Contains(c.roles, name) }) {
			j.Value = expr.False
			needs = append(needs, "the caller has the role "+strings.Join(j.Roles, " or "))
		}
	}
	for _, n := range expressionsOf(r) {
		value := f.truth(n)
		j.Value = j.Value.And(value)
		clauses(&j.Clauses, n, f, 0)
		if value == expr.False {
			needs = append(needs, c.needs(n, true, f, len(needs) > 0))
		}
	}
	if j.Value == expr.False {
		j.Needs = strings.Join(needs, ", and ")
	}
	return j
}

// clauses appends an expression and its clauses with their values.
func clauses(list *[]Clause, n expr.Node, f facts, depth int) {
	inner := clausesOf(n)
	clause := Clause{Text: source(n), Span: n.Span(), Depth: depth, Value: f.truth(n)}
	if inner == nil {
		clause.Operands = operands(n, f)
	}
	*list = append(*list, clause)
	for _, part := range inner {
		clauses(list, part, f, depth+1)
	}
}

// clausesOf returns what a chain of one operator, or a negation, is made of; nil for all other expressions.
func clausesOf(n expr.Node) []expr.Node {
	switch n := n.(type) {
	case *expr.Logic:
		return parts(n, n.Op)
	case *expr.Not:
		return []expr.Node{n.Operand}
	}
	return nil
}

// parts returns the operands of a chain of one operator.
func parts(n expr.Node, op syntax.Operator) []expr.Node {
	if l, ok := n.(*expr.Logic); ok && l.Op == op {
		return append(parts(l.Left, op), parts(l.Right, op)...)
	}
	return []expr.Node{n}
}

// operands returns the values of an expression's paths, each path once.
func operands(n expr.Node, f facts) []Operand {
	var list []Operand
	for _, p := range expr.Paths(n) {
		o := Operand{Text: source(p), Known: p.Root != expr.RootRow || f.hasRow(), Hidden: isHidden(p), Kind: p.Type().Kind}
		if !slices.ContainsFunc(list, func(other Operand) bool { return other.Text == o.Text }) {
			o.Values, _ = f[o.Text].([]any)
			list = append(list, o)
		}
	}
	return list
}

// isHidden tells whether the values of a path are not to be shown.
func isHidden(p *expr.Path) bool { return p.Type().Kind.IsOpaque() || p.Root == expr.RootSecret }

// source returns an expression as the schema writes it, in one line.
func source(n expr.Node) string {
	return syntax.SourceOf(n.Span())
}

// needs words the changes that would give an expression a value that it does not have.
// within tells whether the text is within other words.
func (c *call) needs(n expr.Node, want bool, f facts, within bool) string {
	switch n := n.(type) {
	case *expr.Not:
		return c.needs(n.Operand, !want, f, within)
	case *expr.Logic:
		var open []string
		for _, part := range parts(n, n.Op) {
			if value := f.truth(part); value == expr.True && want || value == expr.False && !want {
				continue
			}
			open = append(open, c.needs(part, want, f, true))
		}
		if len(open) == 0 {
			return "one related row satisfies all of " + source(n)
		}
		joint := " and "
		if (n.Op == syntax.And) != want {
			joint = " or "
		}
		joined := strings.Join(open, joint)
		if len(open) > 1 && within {
			return "(" + joined + ")"
		}
		return joined
	case *expr.Literal:
		return "nothing: it is always " + fmt.Sprint(n.Value)
	}
	text := wanted(source(n), want)
	if want && c.request.Caller == "" && expr.Mentions(n).Identity {
		text += " (signed in)"
	}
	return text
}

func wanted(text string, want bool) string {
	if want {
		return text
	}
	return "not (" + text + ")"
}

// show words the values of an operand.
func (o Operand) show() string {
	switch {
	case !o.Known:
		return "not known before a row is read"
	case o.Hidden && len(o.Values) == 1 && o.Values[0] == nil:
		return "null"
	case o.Hidden:
		return "(not shown)"
	case len(o.Values) == 0:
		return "nothing: no row matches"
	}
	const most = 5
	var texts []string
	for i, v := range o.Values {
		if i == most {
			texts = append(texts, fmt.Sprintf("and %d more", len(o.Values)-most))
			break
		}
		texts = append(texts, showValue(v, o.Kind))
	}
	return strings.Join(texts, ", ")
}

func showValue(v any, kind expr.Kind) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case []any:
		var texts []string
		for _, e := range v {
			texts = append(texts, showValue(e, kind))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case string:
		switch kind.Class() {
		case expr.ClassNumeric, expr.ClassEnum:
			return v
		}
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}
