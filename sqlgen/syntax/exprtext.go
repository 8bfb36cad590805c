package syntax

import (
	"fmt"
	"strings"
	"unicode"
)

// FormatExpr returns the expression on one line, spelled as Format would spell
// it. Comments in it are left out.
func FormatExpr(e Expr) string {
	var b strings.Builder
	writeExpr(&b, e)
	return b.String()
}

func writeExpr(b *strings.Builder, e Expr) {
	switch e := e.(type) {
	case *Binary:
		writeExpr(b, e.Left)
		b.WriteString(" " + string(e.Op) + " ")
		writeExpr(b, e.Right)
	case *Not:
		b.WriteString("!")
		writeExpr(b, e.Operand)
	case *Negative:
		b.WriteString("-")
		writeExpr(b, e.Operand)
	case *Call:
		b.WriteString(e.Name.Name)
		b.WriteString("(")
		writeExprs(b, e.Args)
		b.WriteString(")")
	case *Path:
		b.WriteString(e.String())
	case *String:
		b.WriteString(e.spelling())
	case *Number:
		b.WriteString(e.Text)
	case *Bool:
		fmt.Fprint(b, e.Value)
	case *Null:
		b.WriteString("null")
	case *List:
		b.WriteString("[")
		writeExprs(b, e.Elements)
		b.WriteString("]")
	case *Paren:
		b.WriteString("(")
		writeExpr(b, e.Inner)
		b.WriteString(")")
	case *BadExpr:
		b.Write(e.span.File.Text[e.span.Start.Offset:e.span.End.Offset])
	default:
		panic(fmt.Sprintf("syntax: expression of type %T", e))
	}
}

func writeExprs(b *strings.Builder, list []Expr) {
	for i, e := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		writeExpr(b, e)
	}
}

// String returns the path as written: its steps joined by dots.
func (p *Path) String() string {
	names := make([]string, len(p.Steps))
	for i, step := range p.Steps {
		names[i] = step.Name
	}
	return strings.Join(names, ".")
}

// spelling returns the literal as written; of one that was never written, the
// plainest form.
func (s *String) spelling() string {
	if s.text != "" {
		return s.text
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s.Value {
		switch i := strings.IndexRune("\"\\\a\b\f\n\r\t\v", r); {
		case i >= 0:
			b.WriteByte('\\')
			b.WriteByte(`"\abfnrtv`[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
