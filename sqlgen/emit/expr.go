package emit

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Binding strengths, weakest first (Postgres manual 4.1.6). An operand is put in parentheses only if it binds more
// weakly than its place requires.
const (
	bindAny = iota
	bindOr
	bindAnd
	bindNot
	bindIs
	bindCompare
	bindIn
	bindOperator
	bindAdd
	bindMultiply
	bindCast
	bindPrimary
)

// Expr writes an expression on one line.
func Expr(e pg.Expr) string { return oneLine(expr(e, bindAny)) }

// expr lays out an expression at a place where it needs no parentheses if it binds at least as strongly as least.
func expr(e pg.Expr, least int) doc {
	d, strength := exprDoc(e)
	if strength < least {
		return group("(", nest(soft, d), soft, ")")
	}
	return d
}

func exprDoc(e pg.Expr) (doc, int) {
	switch e := e.(type) {
	case *pg.ColumnRef:
		return pg.Ident(e.Table) + "." + pg.Ident(e.Name), bindPrimary
	case *pg.Name:
		return e.Name, bindPrimary
	case *pg.Variable:
		return e.Name, bindPrimary
	case *pg.Text:
		return pg.Quote(e.Value), bindPrimary
	case *pg.Raw:
		return e.SQL, rawStrength(e.SQL)
	case *pg.Call:
		return cat(e.Name, bracketed("(", exprs(e.Args), ")")), bindPrimary
	case *pg.Param:
		return cat(pg.ParamIdent(e.Name), " => ", expr(e.Value, bindAny)), bindAny
	case *pg.Binary:
		return binary(e)
	case *pg.Minus:
		return cat("-", expr(e.Operand, bindCast)), bindMultiply
	case *pg.Cast:
		return cat(expr(e.Value, bindCast), "::", e.Type), bindCast
	case *pg.Is:
		return cat(expr(e.Value, bindCompare), " is ", e.Test), bindIs
	case *pg.Not:
		return cat("not ", expr(e.Operand, bindIs)), bindNot
	case *pg.And:
		return logic("and ", e.Operands, bindNot), bindAnd
	case *pg.Or:
		return logic("or ", e.Operands, bindAnd), bindOr
	case *pg.In:
		return cat(expr(e.Value, bindOperator), " in ", bracketed("(", exprs(e.List), ")")), bindIn
	case *pg.Any:
		return anyDoc(e), bindCompare
	case *pg.Case:
		return caseDoc(e), bindPrimary
	case *pg.Subquery:
		return group("(", nest(soft, selectDoc(e.Query)), soft, ")"), bindPrimary
	case *pg.Exists:
		return cat("exists ", group("(", nest(soft, selectDoc(e.Query)), soft, ")")), bindPrimary
	case *pg.ArrayOf:
		return group("array(", nest(soft, selectDoc(e.Query)), soft, ")"), bindPrimary
	case *pg.Array:
		return bracketed("array[", exprs(e.Elements), "]"), bindPrimary
	case *pg.Slice:
		return cat(subscripted(e.Array), "[", expr(e.From, bindAny), ":", expr(e.To, bindAny), "]"), bindPrimary
	case *pg.Element:
		return cat(subscripted(e.Array), "[", expr(e.Index, bindAny), "]"), bindPrimary
	case *pg.Field:
		return cat("(", expr(e.Value, bindAny), ").", pg.Ident(e.Name)), bindPrimary
	case *pg.AllFields:
		switch row := e.Value.(type) {
		case *pg.Name:
			return row.Name + ".*", bindPrimary
		case *pg.Variable:
			return row.Name + ".*", bindPrimary
		}
		return cat("(", expr(e.Value, bindAny), ").*"), bindPrimary
	case *pg.Row:
		if e.IsBare {
			return bracketed("(", exprs(e.Values), ")"), bindPrimary
		}
		return group("row(", nest(soft, filled(",", "", exprs(e.Values))), soft, ")"), bindPrimary
	case *pg.RowNumber:
		return group("row_number() over (order by", nest(line, commaLines(orders(e.OrderBy))), ")"), bindPrimary
	case *pg.Fragment:
		if parts := pieces(fragment(e)); len(parts) > 1 {
			return group(parts[0], nest(line, "|| ", join(cat(line, "|| "), parts[1:]))), bindOperator
		}
		return pg.Quote(fragment(e)), bindPrimary
	case *pg.Filters:
		return filters(e), bindPrimary
	}
	panic(fmt.Sprintf("emit: no layout for expression %T", e))
}

// rawStrength is the binding strength of text that is printed as it is: a lone literal, word or call needs no
// parentheses, anything with a space does.
func rawStrength(sql string) int {
	if strings.HasPrefix(sql, "-") {
		return bindMultiply
	}
	if strings.Contains(sql, " ") {
		return bindAny
	}
	return bindPrimary
}

// subscripted lays out an array before a subscript. Except behind a name, Postgres takes a bare subscript for a syntax
// error or for a further dimension.
func subscripted(e pg.Expr) doc {
	switch e.(type) {
	case *pg.ColumnRef, *pg.Name, *pg.Variable:
		return expr(e, bindPrimary)
	}
	return group("(", nest(soft, expr(e, bindAny)), soft, ")")
}

func exprs(list []pg.Expr) []doc {
	docs := make([]doc, len(list))
	for i, e := range list {
		docs[i] = expr(e, bindAny)
	}
	return docs
}

func binary(e *pg.Binary) (doc, int) {
	switch e.Op {
	case "->", "->>", "#>", "#>>":
		return cat(expr(e.Left, bindOperator), e.Op, expr(e.Right, bindAdd)), bindOperator
	case "=", "<>", "<", "<=", ">", ">=":
		return cat(expr(e.Left, bindIn), " ", e.Op, " ", expr(e.Right, bindIn)), bindCompare
	case "is distinct from", "is not distinct from":
		return cat(expr(e.Left, bindCompare), " ", e.Op, " ", expr(e.Right, bindCompare)), bindIs
	case "+", "-":
		return cat(expr(e.Left, bindAdd), " ", e.Op, " ", expr(e.Right, bindMultiply)), bindAdd
	case "*", "/", "%":
		return cat(expr(e.Left, bindMultiply), " ", e.Op, " ", expr(e.Right, bindCast)), bindMultiply
	case "||":
		return concatenation(e), bindOperator
	}
	return cat(expr(e.Left, bindOperator), " ", e.Op, " ", expr(e.Right, bindAdd)), bindOperator
}

// concatenation lays out a chain of || as commaLines lays out a list.
func concatenation(e *pg.Binary) doc {
	var parts []doc
	var collect func(pg.Expr)
	collect = func(x pg.Expr) {
		if b, ok := x.(*pg.Binary); ok && b.Op == "||" {
			collect(b.Left)
			if f, ok := b.Right.(*pg.Fragment); ok {
				collect(f)
			} else {
				parts = append(parts, expr(b.Right, bindAdd))
			}
			return
		}
		if f, ok := x.(*pg.Fragment); ok {
			parts = append(parts, pieces(fragment(f))...)
			return
		}
		parts = append(parts, expr(x, bindOperator))
	}
	collect(e)
	if areWords(parts) {
		return group(parts[0], nest(filled("", "|| ", append([]doc{""}, parts[1:]...))))
	}
	return group(parts[0], nest(line, "|| ", join(cat(line, "|| "), parts[1:])))
}

func logic(word string, operands []pg.Expr, least int) doc {
	parts := make([]doc, len(operands))
	for i, o := range operands {
		parts[i] = expr(o, least)
	}
	return group(join(cat(line, word), parts))
}

// conjuncts lays out a condition at a place whose lines break with it: behind
// where, on or if, the conjuncts two spaces further in.
func conjuncts(e pg.Expr) doc {
	and, ok := e.(*pg.And)
	if !ok {
		return nest(expr(e, bindAny))
	}
	parts := make([]doc, len(and.Operands))
	for i, o := range and.Operands {
		parts[i] = expr(o, bindNot)
	}
	return nest(join(cat(line, "and "), parts))
}

func anyDoc(e *pg.Any) doc {
	word := "any"
	if e.All {
		word = "all"
	}
	return cat(expr(e.Value, bindIn), " ", e.Op, " ", word, " ", group("(", nest(soft, expr(e.Array, bindAny)), soft, ")"))
}

func caseDoc(e *pg.Case) doc {
	head := cat("case")
	if e.Value != nil {
		head = cat("case ", expr(e.Value, bindAny))
	}
	var whens catDoc
	for _, w := range e.Whens {
		if w.Comment != "" {
			whens = append(whens, hard, comment(w.Comment), hard)
		} else {
			whens = append(whens, line)
		}
		whens = append(whens, group("when ", expr(w.Condition, bindAny), " then", nest(line, expr(w.Result, bindAny))))
	}
	if e.Else != nil {
		whens = append(whens, line, "else ", expr(e.Else, bindAny))
	}
	return group(head, nest(whens), line, "end")
}

func fragment(e *pg.Fragment) string {
	text := e.Prefix
	if e.Value != nil {
		text += oneLine(expr(e.Value, bindNot))
	}
	if e.Columns != nil {
		text += strings.TrimPrefix(oneLine(columns(e.Columns)), " ")
	}
	if e.Select != nil {
		text += oneLine(selectDoc(e.Select))
	}
	if e.Query != nil {
		text += oneLine(tailDoc(e.Query))
	}
	return text + e.Suffix
}

// pieces are the literals that a text is joined of: one, or several where a long one would wrap.
func pieces(text string) []doc {
	var parts []doc
	for len(text) > longestPiece {
		at := -1
		for _, word := range []string{" from ", " join ", " where ", " and ", " or ", " cross ", ", "} {
			if i := strings.LastIndex(text[:longestPiece], word); i > at {
				at = i
			}
		}
		if at <= 0 {
			break
		}
		parts, text = append(parts, pg.Quote(text[:at])), text[at:]
	}
	return append(parts, pg.Quote(text))
}

// longestPiece is the length of a literal that fits on a line in the middle of a function.
const longestPiece = 90

// filters lays out the JSON of filters with a field per line once a line would wrap. Its spaces mean nothing.
func filters(e *pg.Filters) doc {
	open := "'{"
	inside := func(text string) doc { // of the literal
		quoted := pg.Quote(text)
		if strings.HasPrefix(quoted, "E") {
			open = "E'{"
		}
		return quoted[strings.Index(quoted, "'")+1 : len(quoted)-1]
	}
	members := make([]doc, len(e.Fields))
	for i, f := range e.Fields {
		var parts []doc
		if f.Value != nil {
			parts = []doc{inside(jsonText(f.Kind)), inside(jsonText(oneLine(expr(f.Value, bindOperator))))}
		}
		switch {
		case f.Rows != nil && f.Value == nil && pg.IsTrue(f.Rows.Where): // conditions follow
			parts = append(parts, inside(jsonText(oneLine(tailDoc(f.Rows))+" where true")))
		case f.Rows != nil:
			parts = append(parts, inside(jsonText(oneLine(tailDoc(f.Rows)))))
		case f.Group > 0:
			parts = append(parts, "null")
		}
		if f.Group > 0 || f.Value == nil {
			parts = append(parts, fmt.Sprint(f.Group))
		}
		member := bracketedLines("[", parts, "]")
		if f.Value == nil && f.Rows == nil {
			member = "null"
		}
		members[i] = cat(inside(jsonText(f.Name)), ": ", member)
	}
	return bracketedLines(open, members, "}'")
}

func jsonText(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("emit: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func orders(keys []pg.Order) []doc {
	docs := make([]doc, len(keys))
	for i, k := range keys {
		docs[i] = expr(k.Value, bindAny)
		if k.Descending {
			docs[i] = cat(docs[i], " desc")
		}
	}
	return docs
}

// comment writes text as a line comment. Text of a schema may hold line ends, which would end the comment, and marks
// that tern would read.
func comment(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for !pg.IsPlainText(text) {
		text = apart.Replace(text)
	}
	return "-- " + text
}

// apart spaces marks that tern reads even in comments.
var apart = strings.NewReplacer("{{", "{ {", "----", "-- --")
