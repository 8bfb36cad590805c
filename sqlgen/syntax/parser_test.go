package syntax

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	text := `
/// Described,
/// twice.
model Order {
  fields { note Text[]? @default("ü") }
  actions { list listOrders(a.b?, c: ID[]) with (x) { @set(order.n = -1) } }
  @validate(!(a.b == 1) || x in [true, null])
}
`
	file, errs := parse(text)
	if len(errs) > 0 {
		t.Fatalf("unexpected errors:\n%s", rendered(t, errs, Options{}))
	}
	model := file.Decls[0].(*Model)
	field := FieldsOf(model.Members)[0]
	action := ActionsOf(model.Members)[0]
	set := action.Attrs[0].Args[0]
	or := AttributesOf(model.Members)[0].Args[0].Value.(*Binary)
	not := or.Left.(*Not)
	in := or.Right.(*Binary)
	tests := []struct {
		what string
		span Span
		want string
	}{
		{"model", model.Span(), strings.TrimSpace(text[strings.Index(text, "model"):])},
		{"description", model.Doc.Span(), "/// Described,\n/// twice."},
		{"name", model.Name.Span(), "Order"},
		{"fields", model.Members[0].Span(), `fields { note Text[]? @default("ü") }`},
		{"field", field.Span(), `note Text[]? @default("ü")`},
		{"type", field.Type.Span(), "Text"},
		{"[]", field.Array.Span(), "[]"},
		{"?", field.Optional.Span(), "?"},
		{"attribute", field.Attrs[0].Span(), `@default("ü")`},
		{"attribute name", field.Attrs[0].Name.Span(), "default"},
		{"action", action.Span(), "list listOrders(a.b?, c: ID[]) with (x) { @set(order.n = -1) }"},
		{"inputs", action.Reads.Span(), "(a.b?, c: ID[])"},
		{"implicit input", action.Reads.List[0].Span(), "a.b?"},
		{"path of input", action.Reads.List[0].Path.Span(), "a.b"},
		{"explicit input", action.Reads.List[1].Span(), "c: ID[]"},
		{"label", action.Reads.List[1].Label.Span(), "c"},
		{"with", action.With.Span(), "(x)"},
		{"argument", set.Span(), "order.n = -1"},
		{"target", set.Target.Span(), "order.n"},
		{"number", set.Value.Span(), "-1"},
		{"||", or.OpSpan, "||"},
		{"binary", or.Span(), "!(a.b == 1) || x in [true, null]"},
		{"not", not.Span(), "!(a.b == 1)"},
		{"parentheses", not.Operand.Span(), "(a.b == 1)"},
		{"in parentheses", Unparen(not.Operand).Span(), "a.b == 1"},
		{"step", Unparen(not.Operand).(*Binary).Left.(*Path).Steps[1].Span(), "b"},
		{"in", in.OpSpan, "in"},
		{"list", in.Right.Span(), "[true, null]"},
	}
	for _, test := range tests {
		start, end := test.span.Start, test.span.End
		if got := text[start.Offset:end.Offset]; got != test.want {
			t.Errorf("%s: got %q, want %q", test.what, got, test.want)
		}
		if want := placeOf(text, start.Offset); start != want {
			t.Errorf("%s begins at %v, want %v", test.what, start, want)
		}
		if want := placeOf(text, end.Offset); end != want {
			t.Errorf("%s ends at %v, want %v", test.what, end, want)
		}
	}
}

// TestTextNotClosedSaysItAll reports one error for a text without end, regardless of what it hides.
func TestTextNotClosedSaysItAll(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`model A { fields { t Text @default("abc`,
		`model A { fields { t Text @default("abc` + "\n",
		`model A { fields { t Text @default("abc)}}`,
		`model A { fields { t Text @default("abc` + "\n\")}}",
		`model A { fields { t Text @default("abc` + "\n\")}}\nmodel B {}",
		`role A { emails { "abc }}`,
	} {
		_, errs := parse(text)
		if len(errs) != 1 || errs[0].Message != textNotClosed() {
			t.Errorf("%q: got\n%s\nwant %q alone", text, rendered(t, errs, Options{}), textNotClosed())
		}
	}
}

func TestFormatExpr(t *testing.T) {
	t.Parallel()
	tests := []struct{ written, want string }{
		{`a.b=="x"&&!(c<-1.5||d  in[1,2,true,null])`, `a.b == "x" && !(c < -1.5 || d in [1, 2, true, null])`},
		{"a /* why */ == // because\n b", `a == b`},
		{`a . b`, `a.b`},
		{`"\u00e9\'"`, `"\u00e9\'"`},
		{`a<b<c`, `a < b < c`},
		{`!!a`, `!!a`},
		{`[]`, `[]`},
	}
	for _, test := range tests {
		file, errs := parse("model A { @validate(" + test.written + ") }")
		if len(errs) > 0 {
			t.Fatalf("%s: unexpected errors:\n%s", test.written, rendered(t, errs, Options{}))
		}
		e := AttributesOf(file.Decls[0].(*Model).Members)[0].Args[0].Value
		if got := FormatExpr(e); got != test.want {
			t.Errorf("%s: got %s, want %s", test.written, got, test.want)
		}
		again, errs := parse("model A {\n  @validate(" + FormatExpr(e) + ")\n}\n")
		if got := string(Format(again)); len(errs) > 0 || got != string(again.Source.Text) {
			t.Errorf("%s: Format and FormatExpr differ: got %s", test.written, got)
		}
	}
}

func TestFormatExprOfUnwrittenText(t *testing.T) {
	t.Parallel()
	text := &String{Value: "\"é\\\n\t\u200b\U000E0001"}
	if got, want := FormatExpr(text), `"\"é\\\n\t\u200B\U000E0001"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEncoding(t *testing.T) {
	t.Parallel()
	const rest = " model B { fields { b Text, c Text } }"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"in a comment", "// caf\xe9\n" + rest, []string{"1:7 BadEncoding", "2:27 Syntax"}},
		{"in a name", "model A { fields { caf\xe9 Text d Text } }\n" + rest, []string{"1:23 BadEncoding", "2:27 Syntax"}},
		{"in a text", "role A { emails { \"caf\xe9\" } }", []string{"1:23 BadEncoding"}},
		{"several times", "// \xff\xfe\xfd", []string{"1:4 BadEncoding"}},
		{"U+0000", "model A {}\x00", []string{"1:11 BadEncoding"}},
		{"U+0000 in a text", "role A { emails { \"a\x00b\" } }", []string{"1:21 BadEncoding"}},
		{"UTF-16", "\xff\xfem\x00o\x00d\x00e\x00l\x00", []string{"1:1 BadEncoding"}},
		{"the replacement character itself", "// \uFFFD", nil},
	}
	for _, test := range tests {
		file, errs := parse(test.text)
		got := placesAndCodes(errs)
		if strings.Join(got, ", ") != strings.Join(test.want, ", ") {
			t.Errorf("%s: %q: got %q, want %q", test.name, test.text, got, test.want)
		}
		if file.Incomplete() != (test.want != nil) {
			t.Errorf("%s: %q: incomplete is %t", test.name, test.text, file.Incomplete())
		}
		if got := string(Format(file)); test.want != nil && got != test.text {
			t.Errorf("%s: %q was changed to %q", test.name, test.text, got)
		}
	}
}

// TestLimits checks that deep nesting and long chains are refused once, at the documented depth.
func TestLimits(t *testing.T) {
	t.Parallel()
	nested := func(opening, inner, closing string, n int) string {
		return strings.Repeat(opening, n) + inner + strings.Repeat(closing, n)
	}
	tests := []struct {
		name, expression string
		errors           int
	}{
		{"parentheses", nested("(", "a", ")", maxNesting), 0},
		{"too many parentheses", nested("(", "a", ")", maxNesting+1), 1},
		{"far too many parentheses", nested("(", "a", ")", 100_000), 1},
		{"lists", nested("[", "a", "]", maxNesting), 0},
		{"too many lists", nested("[", "a", "]", maxNesting+1), 1},
		{"negations", nested("!", "a", "", maxNesting), 0},
		{"too many negations", nested("!", "a", "", maxNesting+1), 1},
		{"far too many negations", nested("!", "a", "", 100_000), 1},
		{"negated parentheses", nested("!(", "a", ")", maxNesting/2), 0},
		{"too many negated parentheses", nested("!(", "a", ")", maxNesting/2+1), 1},
		{"operators", nested("a && ", "a", "", maxOperators), 0},
		{"too many operators", nested("a && ", "a", "", maxOperators+1), 1},
		{"far too many operators", nested("a || ", "a", "", 100_000), 1},
		{"comparisons", nested("a < ", "a", "", 100_000), 1},
		{"operators at all levels", nested("(a && ", "a", ")", maxNesting), 0},
	}
	for _, test := range tests {
		file, errs := parse("model A { @validate(" + test.expression + ") fields { a Text } }")
		if len(errs) != test.errors {
			t.Errorf("%s: got %d errors, want %d:\n%s", test.name, len(errs), test.errors, rendered(t, errs, Options{Max: 3}))
		}
		if fields := FieldsOf(file.Decls[0].(*Model).Members); len(fields) != 1 {
			t.Errorf("%s: the field behind it is lost", test.name)
		}
		Format(file)
	}
}

// TestLargeInput parses inputs that could take more than linear time, or too much stack; the time-out
// of go test is the limit.
func TestLargeInput(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"{", "}", "(", ")", "[", "]", "@", ".", ",", "!", "-", "\"", "'", "`", "`'", "/*", "//", "///\n", "\\", "$ ", "\xff", "\x00",
		"a ", "a\n", "A.", "1 ", "1.", "1e", "true ", "\n", " ",
		"model ", "model A ", "model A {", "model A {\n", "model A { fields { ", "fields {", "fields { a Text\n", "a Text ", "a Text\n",
		"get a(", "get a(\n", "@a(", "@a([", "@a(@a(", "@on(", "job A {", "routes {", "enum E { A ", "a: ", "[[[]", "({[", "a? ", "a[", "a(", "a && (",
		"/// a\nget a(b) {\n", "/* a */ ",
	}
	feed := func(text string) {
		file, errs := parse(text)
		if !errs.HasErrors() && file.Incomplete() {
			t.Errorf("%.60q… is incomplete but has no error", text)
		}
		rendered(t, errs.Sorted(), Options{Max: 10})
		Format(file)
	}
	for _, piece := range pieces {
		for _, around := range []string{"%", "model A { fields { a Text % } }", "model A { @validate(%) }", "model A { actions { get a(%) } }"} {
			feed(strings.Replace(around, "%", strings.Repeat(piece, 1<<13/len(piece)), 1))
		}
	}
	const megabyte = 1 << 20
	random := rand.New(rand.NewPCG(1, 2))
	var garbage strings.Builder
	for garbage.Len() < megabyte {
		garbage.WriteString(pieces[random.IntN(len(pieces))])
	}
	feed(garbage.String())
	feed(strings.Repeat("(", megabyte))
	feed("model A { @validate(" + strings.Repeat("(", megabyte) + ") }")
}

// TestLargeSchema formats a schema that is large in every respect.
func TestLargeSchema(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("model A { fields { a Text @unique // why\n b Text } @validate(a.b == \"c\" && a.d) }\n", 3_000),
		"model A { fields { " + strings.Repeat("a Text\n", 40_000) + "} }",
		"enum A { " + strings.Repeat("a ", 100_000) + "}",
		"model A { actions { get a(" + strings.Repeat("a, ", 60_000) + ") } }",
		"model A { @p([" + strings.Repeat("a, ", 60_000) + "a]) }",
		"model A { " + strings.Repeat("@a ", 60_000) + "}",
		"model A { fields { a Text " + strings.Repeat("@a ", 60_000) + "} }",
		strings.Repeat("// a\n", 50_000) + strings.Repeat("/* a */ ", 25_000),
		"model A { @p(a" + strings.Repeat(".a /* b */", 25_000) + ") }",
	} {
		file, errs := parse(text)
		if len(errs) > 0 {
			t.Fatalf("%.60s…: unexpected errors:\n%s", text, rendered(t, errs, Options{Max: 3}))
		}
		again, _ := parse(string(Format(file)))
		if got, want := len(again.Decls), len(file.Decls); got != want {
			t.Errorf("%.60s…: got %d declarations, want %d", text, got, want)
		}
	}
}

// TestCodes compiles the example in the comment of each code.
func TestCodes(t *testing.T) {
	t.Parallel()
	file, err := goparser.ParseFile(token.NewFileSet(), "codes.go", nil, goparser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		name := spec.Names[0].Name
		_, example, ok := strings.Cut(spec.Doc.Text(), "\n\n\t")
		if !ok {
			if name != string(BadEncoding) {
				t.Errorf("the comment of %s shows no example", name)
			}
			return false
		}
		tested++
		_, errs := parse(example)
		if len(errs) != 1 || string(errs[0].Code) != name {
			t.Errorf("%s: got %q, want this code alone", strings.TrimSpace(example), placesAndCodes(errs))
		}
		return false
	})
	if tested < 5 {
		t.Errorf("found %d examples in codes.go, want one for each code", tested)
	}
}

// placesAndCodes returns errors as "line:column Code".
func placesAndCodes(errs Errors) []string {
	var list []string
	for _, d := range errs.Sorted() {
		list = append(list, d.Span.Start.String()+" "+string(d.Code))
	}
	return list
}
