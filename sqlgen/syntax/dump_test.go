package syntax

import (
	"fmt"
	"reflect"
	"strings"
)

// dump returns a tree as indented text, without places.
func dump(f *File) string {
	var b strings.Builder
	for _, d := range f.Decls {
		dumpValue(&b, reflect.ValueOf(d), "", 0)
	}
	return b.String()
}

// dumpValue writes one value under a label, if there is anything to write.
func dumpValue(b *strings.Builder, v reflect.Value, label string, depth int) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if line, ok := dumpLine(v.Interface()); ok {
			writeLine(b, label+line, depth)
			return
		}
		dumpValue(b, v.Elem(), label, depth)
	case reflect.Slice:
		for i := range v.Len() {
			dumpValue(b, v.Index(i), label, depth)
		}
	case reflect.Bool:
		if v.Bool() {
			writeLine(b, strings.TrimSuffix(label, ": "), depth)
		}
	case reflect.String:
		writeLine(b, label+v.String(), depth)
	case reflect.Struct:
		name := v.Type().Name()
		if v.Addr().Interface().(Node).Incomplete() {
			name += " (incomplete)"
		}
		writeLine(b, label+name, depth)
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if field.IsExported() && field.Type != reflect.TypeFor[Span]() {
				dumpValue(b, v.Field(i), field.Name+": ", depth+1)
			}
		}
	default:
		panic("dump: " + v.Kind().String())
	}
}

// dumpLine returns a node that takes one line.
func dumpLine(n any) (line string, ok bool) {
	switch n := n.(type) {
	case *Ident:
		return n.Name, true
	case *Doc:
		return fmt.Sprintf("%q", n.Text), true
	case *Mark:
		return "yes", true
	case *Path:
		return "Path " + n.String(), true
	case *String:
		return fmt.Sprintf("String %q", n.Value), true
	case *Number:
		kind := "decimal"
		if n.IsInteger {
			kind = "integer"
		}
		return fmt.Sprintf("Number %s (%s)", n.Text, kind), true
	case *Bool:
		return fmt.Sprintf("Bool %t", n.Value), true
	case *Null:
		return "Null", true
	case *BadExpr:
		return "BadExpr", true
	}
	return "", false
}

func writeLine(b *strings.Builder, line string, depth int) {
	fmt.Fprintf(b, "%s%s\n", strings.Repeat("  ", depth), line)
}
