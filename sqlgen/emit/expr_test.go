package emit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// typ is the type of an operand in the test of precedence.
type typ string

const (
	boolean typ = "boolean"
	number  typ = "numeric"
	text    typ = "text"
	jsonb   typ = "jsonb"
	texts   typ = "text[]"
)

// form is a kind of expression: the types of its operands, its own type, and its text with all parentheses.
type form struct {
	name  string
	takes []typ
	gives typ
	build func(args ...pg.Expr) pg.Expr
	full  string // with %s for each operand
}

func operator(op string, left, right, gives typ) form {
	return form{op, []typ{left, right}, gives, func(a ...pg.Expr) pg.Expr { return pg.Op(a[0], op, a[1]) }, "(%s) " + strings.ReplaceAll(op, "%", "%%") + " (%s)"}
}

func test(name string) form {
	return form{"is " + name, []typ{boolean}, boolean, func(a ...pg.Expr) pg.Expr { return &pg.Is{Value: a[0], Test: name} }, "(%s) is " + name}
}

var forms = []form{
	operator("=", boolean, boolean, boolean),
	operator("<>", text, text, boolean),
	operator("=", number, number, boolean),
	operator("<", number, number, boolean),
	operator("<=", boolean, boolean, boolean),
	operator(">", text, text, boolean),
	operator(">=", number, number, boolean),
	operator("is distinct from", boolean, boolean, boolean),
	operator("is not distinct from", number, number, boolean),
	operator("+", number, number, number),
	operator("-", number, number, number),
	operator("*", number, number, number),
	operator("/", number, number, number),
	operator("%", number, number, number),
	operator("||", text, text, text),
	operator("||", jsonb, jsonb, jsonb),
	operator("||", texts, texts, texts),
	operator("->", jsonb, text, jsonb),
	operator("->>", jsonb, text, text),
	operator("#>", jsonb, texts, jsonb),
	operator("#>>", jsonb, texts, text),
	operator("?", jsonb, text, boolean),
	operator("?|", jsonb, texts, boolean),
	operator("<@", texts, texts, boolean),
	test("null"), test("not null"), test("true"), test("not true"), test("false"), test("not false"),
	{"not", []typ{boolean}, boolean, func(a ...pg.Expr) pg.Expr { return &pg.Not{Operand: a[0]} }, "not (%s)"},
	{"and", []typ{boolean, boolean}, boolean, func(a ...pg.Expr) pg.Expr { return &pg.And{Operands: a} }, "(%s) and (%s)"},
	{"or", []typ{boolean, boolean}, boolean, func(a ...pg.Expr) pg.Expr { return &pg.Or{Operands: a} }, "(%s) or (%s)"},
	{"in", []typ{text, text, text}, boolean, func(a ...pg.Expr) pg.Expr { return &pg.In{Value: a[0], List: a[1:]} }, "(%s) in ((%s), (%s))"},
	{"in boolean", []typ{boolean, boolean}, boolean, func(a ...pg.Expr) pg.Expr { return &pg.In{Value: a[0], List: a[1:]} }, "(%s) in ((%s))"},
	{"any", []typ{text, texts}, boolean, func(a ...pg.Expr) pg.Expr { return &pg.Any{Value: a[0], Op: "=", Array: a[1]} }, "(%s) = any (%s)"},
	{"all", []typ{text, texts}, boolean, func(a ...pg.Expr) pg.Expr { return &pg.Any{Value: a[0], Op: "<", All: true, Array: a[1]} }, "(%s) < all (%s)"},
	{"::text", []typ{number}, text, func(a ...pg.Expr) pg.Expr { return pg.As(a[0], "text") }, "(%s)::text"},
	{"::text of boolean", []typ{boolean}, text, func(a ...pg.Expr) pg.Expr { return pg.As(a[0], "text") }, "(%s)::text"},
	{"::numeric", []typ{text}, number, func(a ...pg.Expr) pg.Expr { return pg.As(a[0], "numeric") }, "(%s)::numeric"},
	{"::text[]", []typ{texts}, texts, func(a ...pg.Expr) pg.Expr { return pg.As(a[0], "text[]") }, "(%s)::text[]"},
	{"case", []typ{boolean, text, text}, text, func(a ...pg.Expr) pg.Expr {
		return &pg.Case{Whens: []pg.When{{Condition: a[0], Result: a[1]}}, Else: a[2]}
	}, "case when (%s) then (%s) else (%s) end"},
	{"simple case", []typ{boolean, boolean, text}, text, func(a ...pg.Expr) pg.Expr {
		return &pg.Case{Value: a[0], Whens: []pg.When{{Condition: a[1], Result: a[2]}}}
	}, "case (%s) when (%s) then (%s) end"},
	{"element", []typ{texts, number}, text, func(a ...pg.Expr) pg.Expr {
		return &pg.Element{Array: a[0], Index: pg.As(a[1], "int")}
	}, "(%s)[(%s)::int]"},
	{"slice", []typ{texts, number, number}, texts, func(a ...pg.Expr) pg.Expr {
		return &pg.Slice{Array: a[0], From: pg.As(a[1], "int"), To: pg.As(a[2], "int")}
	}, "(%s)[(%s)::int:(%s)::int]"},
	{"array", []typ{text, text}, texts, func(a ...pg.Expr) pg.Expr { return &pg.Array{Elements: a} }, "array[(%s), (%s)]"},
	{"lower", []typ{text}, text, func(a ...pg.Expr) pg.Expr { return pg.Fn("lower", a...) }, "lower((%s))"},
	{"to_jsonb", []typ{number}, jsonb, func(a ...pg.Expr) pg.Expr { return pg.Fn("to_jsonb", a...) }, "to_jsonb((%s))"},
	{"between", nil, boolean, func(...pg.Expr) pg.Expr { return pg.Lit("n between -1 and 1") }, "n between -1 and 1"},
	{"negative", nil, number, func(...pg.Expr) pg.Expr { return pg.Lit("-1") }, "(-1)"},
}

// leaf is a column of each type.
func leaf(of typ) (pg.Expr, string) {
	name := map[typ]string{boolean: "b", number: "n", text: "t", jsonb: "j", texts: "a"}[of]
	return pg.Col("sample", name), "sample." + name
}

// sample is an expression beside the same one with all parentheses.
type sample struct {
	tree pg.Expr
	full string
}

// nestings returns each form with each other form as each of its operands, and the chains of three that the precedence
// of a middle one could tear apart.
func nestings() []sample {
	var all []sample
	apply := func(f form, at int, inner sample) sample {
		args := make([]pg.Expr, len(f.takes))
		texts := make([]any, len(f.takes))
		for i, of := range f.takes {
			tree, full := leaf(of)
			if i == at {
				tree, full = inner.tree, inner.full
			}
			args[i], texts[i] = tree, full
		}
		return sample{f.build(args...), fmt.Sprintf(f.full, texts...)}
	}
	for _, outer := range forms {
		all = append(all, apply(outer, -1, sample{}))
		for at, wanted := range outer.takes {
			for _, inner := range forms {
				if inner.gives != wanted {
					continue
				}
				pair := apply(inner, -1, sample{})
				all = append(all, apply(outer, at, pair))
				for below, wantedBelow := range inner.takes {
					for _, innermost := range forms {
						if innermost.gives == wantedBelow {
							all = append(all, apply(outer, at, apply(inner, below, apply(innermost, -1, sample{}))))
						}
					}
				}
			}
		}
	}
	return all
}

// TestPrecedence has Postgres read each expression as it is printed, and with all
// parentheses: both must be the same tree, which Postgres prints in its own way.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	if _, err := conn.Exec(t.Context(), "create table sample (b boolean, n numeric, t text, j jsonb, a text[])"); err != nil {
		t.Fatal(err)
	}
	samples := nestings()
	if len(samples) < 5000 {
		t.Errorf("there are only %d samples", len(samples))
	}

	// A view holds hundreds at once.
	const batch = 400
	for start := 0; start < len(samples); start += batch {
		part := samples[start:min(start+batch, len(samples))]
		read := func(name string, text func(sample) string) []string {
			t.Helper()
			columns := make([]string, len(part))
			for i, s := range part {
				columns[i] = fmt.Sprintf("%s as c%d", text(s), i)
			}
			create := "create view " + name + " as select " + strings.Join(columns, ",\n") + " from sample"
			if _, err := conn.Exec(t.Context(), create); err != nil {
				for _, s := range part {
					if _, err := conn.Exec(t.Context(), "select "+text(s)+" from sample"); err != nil {
						t.Errorf("Postgres does not take %s, which is %s: %v", text(s), s.full, err)
					}
				}
				t.Fatal(err)
			}
			var definition string
			if err := conn.QueryRow(t.Context(), "select pg_get_viewdef('"+name+"'::regclass)").Scan(&definition); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), "drop view "+name); err != nil {
				t.Fatal(err)
			}
			return strings.Split(definition, ",\n    ")
		}
		got := read("printed", func(s sample) string { return emit.Expr(s.tree) })
		want := read("parenthesized", func(s sample) string { return s.full })
		if len(got) != len(want) || len(got) < len(part) {
			t.Fatalf("%d and %d columns for %d expressions", len(got), len(want), len(part))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("printed, %s is read as\n%s\nwant\n%s", emit.Expr(part[i].tree), got[i], want[i])
			}
		}
	}
}

// TestParentheses checks that an expression has no parentheses that it does not need.
func TestParentheses(t *testing.T) {
	t.Parallel()
	a, b, c := pg.Col("t", "a"), pg.Col("t", "b"), &pg.Variable{Name: "v_c"}
	for _, test := range []struct {
		tree pg.Expr
		want string
	}{
		{pg.AllOf(pg.AnyOf(a, b), pg.Negate(c)), "(t.a or t.b) and not v_c"},
		{pg.AnyOf(pg.AllOf(a, b), c), "t.a and t.b or v_c"},
		{pg.Negate(pg.AllOf(a, b)), "not (t.a and t.b)"},
		{pg.Negate(pg.Eq(a, b)), "not t.a = t.b"},
		{pg.Eq(pg.Op(c, "->>", pg.Str("x")), b), "v_c->>'x' = t.b"},
		{pg.As(pg.Op(c, "->>", pg.Str("x")), "bigint"), "(v_c->>'x')::bigint"},
		{pg.Op(pg.Op(c, "->", pg.Str("x")), "->>", pg.Str("y")), "v_c->'x'->>'y'"},
		{pg.Op(pg.Op(a, "+", b), "*", c), "(t.a + t.b) * v_c"},
		{pg.Op(a, "-", pg.Op(b, "-", c)), "t.a - (t.b - v_c)"},
		{pg.Op(pg.Op(a, "-", b), "-", c), "t.a - t.b - v_c"},
		{pg.IsNull(pg.Op(c, "->>", pg.Str("x"))), "v_c->>'x' is null"},
		{pg.Eq(pg.IsNotNull(a), pg.True()), "(t.a is not null) = true"},
		{&pg.In{Value: pg.Fn("platform.action"), List: []pg.Expr{pg.Str("a"), pg.Str("b")}}, "platform.action() in ('a', 'b')"},
		{pg.Negate(&pg.Exists{Query: &pg.Select{From: pg.Ref("app", "order")}}), `not exists (select from app."order")`},
	} {
		if got := emit.Expr(test.tree); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
