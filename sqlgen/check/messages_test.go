package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestNotes compares the printed error, with the notes that point to the other places.
func TestNotes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{
			"to-many of a unique to-one",
			"model A { fields { b B @unique } }\nmodel B { fields { as A[] } }",
			`a.stern:2:20: b is @unique, so as cannot hold many rows: one of the two has to change [MissingToOne]
    model B { fields { as A[] } }
                       ^^
a.stern:1:20: b is declared here
`,
		},
		{
			"to-many beside a whole one-to-one",
			"model A { fields { b B @unique } }\nmodel B { fields { a A? as A[] } }",
			`a.stern:2:25: B.as needs a field of type B in A that leads back [MissingToOne]
    model B { fields { a A? as A[] } }
                            ^^
`,
		},
		{
			"many candidates",
			"model A { fields { a B b B c B d B e B f B g B } }\nmodel B { fields { as A[] } }",
			`a.stern:2:20: several fields of A could lead back from B.as: say which with @relation [AmbiguousRelation]
    model B { fields { as A[] } }
                       ^^
a.stern:1:20: A.a could lead back
a.stern:1:24: A.b could lead back
a.stern:1:28: A.c could lead back
a.stern:1:32: A.d could lead back
a.stern:1:36: A.e could lead back
note: and 2 more
`,
		},
		{
			"input of a create that can be left out",
			"model C { fields { t Text } actions { create c() with (t?) } }",
			`a.stern:1:56: a new C needs a value in t, but input t can be left out: drop its ?, or give the field a @default [UncoveredField]
    model C { fields { t Text } actions { create c() with (t?) } }
                                                           ^^
a.stern:1:20: t is declared here, required and without default
`,
		},
		{
			"attribute twice",
			"model A { fields { n Number @default @default } }",
			`a.stern:1:39: @default can be on a field only once [RepeatedAttribute]
    model A { fields { n Number @default @default } }
                                          ^^^^^^^
a.stern:1:30: @default is here first
`,
		},
		{
			"attribute of no field",
			"model A { fields { n Number @permission(expression: true) f File @where(true) } }",
			`a.stern:1:30: @permission cannot be on a field [MisplacedAttribute]
    model A { fields { n Number @permission(expression: true) f File @where(true) } }
                                 ^^^^^^^^^^
a.stern:1:67: @where cannot be on a field [MisplacedAttribute]
    model A { fields { n Number @permission(expression: true) f File @where(true) } }
                                                                      ^^^^^
`,
		},
		{
			"attribute of other fields",
			"model A { fields { n Number @accepts([\"image/*\"]) } }",
			`a.stern:1:30: @accepts cannot be on a field of that type [MisplacedAttribute]
    model A { fields { n Number @accepts(["image/*"]) } }
                                 ^^^^^^^
`,
		},
		{
			"renamed twice",
			"model A { fields { n Number @renamed(from: x) m Number @renamed(from: x) } }",
			`a.stern:1:71: two declarations claim to be renamed from x [BadRename]
    model A { fields { n Number @renamed(from: x) m Number @renamed(from: x) } }
                                                                          ^
a.stern:1:44: @renamed is here first
`,
		},
		{
			"input twice",
			"model A { fields { b B } actions { list l(b.id, bId) } }\nmodel B { }",
			`a.stern:1:49: there are two inputs called bId here [DuplicateInput]
    model A { fields { b B } actions { list l(b.id, bId) } }
                                                    ^^^
a.stern:1:43: b.id is here first
`,
		},
		{
			"set twice",
			"model A { fields { b B } actions { update u(id) { @set(a.b.id = \"x\") @set(a.bId = \"y\") } } }\nmodel B { }",
			`a.stern:1:70: b is set twice [SetConflict]
    model A { fields { b B } actions { update u(id) { @set(a.b.id = "x") @set(a.bId = "y") } } }
                                                                         ^^^^^^^^^^^^^^^^^
a.stern:1:51: b.id is here first
`,
		},
		{
			"set and input",
			"model A { fields { b B } actions { update u(id) with (b.id) { @set(a.bId = \"y\") } } }\nmodel B { }",
			`a.stern:1:63: b is set here and given by an input [SetConflict]
    model A { fields { b B } actions { update u(id) with (b.id) { @set(a.bId = "y") } } }
                                                                  ^^^^^^^^^^^^^^^^^
a.stern:1:55: b.id is here first
`,
		},
		{
			"required self reference",
			"model P { fields { next P @unique prev P } }",
			`a.stern:1:25: next leads from P to P and must be optional: the first row could never be made [RequiredSelfReference]
    model P { fields { next P @unique prev P } }
                            ^
`,
		},
		{
			"required self references that are ambiguous",
			"model P { fields { a P b P all P[] } }",
			`a.stern:1:22: a leads from P to P and must be optional: the first row could never be made [RequiredSelfReference]
    model P { fields { a P b P all P[] } }
                         ^
a.stern:1:26: b leads from P to P and must be optional: the first row could never be made [RequiredSelfReference]
    model P { fields { a P b P all P[] } }
                             ^
a.stern:1:28: several fields of P could lead back from P.all: say which with @relation [AmbiguousRelation]
    model P { fields { a P b P all P[] } }
                               ^^^
a.stern:1:20: P.a could lead back
a.stern:1:24: P.b could lead back
`,
		},
		{
			"name on Identity claimed twice",
			"model A { fields { who Identity @unique @relation(x) t Text } actions { list l(who.x.t) { @where(ctx.identity.x.t == a.t) } } }\nmodel B { fields { who Identity @unique @relation(x) } }",
			`a.stern:1:84: Identity has no field "x" [UnknownField]
    model A { fields { who Identity @unique @relation(x) t Text } actions { list l(who.x.t) { @where(ctx.identity.x.t == a.t) } } }
                                                                                       ^
a.stern:1:20: A.who claims the name x on Identity, as another model does: give one of them another name with @relation(name)
a.stern:2:20: B.who claims the name x on Identity, as another model does: give one of them another name with @relation(name)
a.stern:1:111: Identity has no field "x" [UnknownField]
    model A { fields { who Identity @unique @relation(x) t Text } actions { list l(who.x.t) { @where(ctx.identity.x.t == a.t) } } }
                                                                                                                  ^
a.stern:1:20: A.who claims the name x on Identity, as another model does: give one of them another name with @relation(name)
a.stern:2:20: B.who claims the name x on Identity, as another model does: give one of them another name with @relation(name)
`,
		},
		{
			"value without its enum",
			"enum E { Red Green }\nmodel A { fields { e E @default(Red) list E[] @default([Gren, Green]) } actions { update u(id) { @set(a.e = Red) } } }",
			`a.stern:2:33: nothing here is called "Red" (did you mean "E.Red"?) [UnknownName]
    model A { fields { e E @default(Red) list E[] @default([Gren, Green]) } actions { update u(id) { @set(a.e = Red) } } }
                                    ^^^
a.stern:2:57: nothing here is called "Gren" [UnknownName]
    model A { fields { e E @default(Red) list E[] @default([Gren, Green]) } actions { update u(id) { @set(a.e = Red) } } }
                                                            ^^^^
a.stern:2:63: nothing here is called "Green" (did you mean "E.Green"?) [UnknownName]
    model A { fields { e E @default(Red) list E[] @default([Gren, Green]) } actions { update u(id) { @set(a.e = Red) } } }
                                                                  ^^^^^
a.stern:2:109: nothing here is called "Red" (did you mean "E.Red"?) [UnknownName]
    model A { fields { e E @default(Red) list E[] @default([Gren, Green]) } actions { update u(id) { @set(a.e = Red) } } }
                                                                                                                ^^^
`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var errors syntax.Errors
			for _, d := range checkText(test.text) {
				if !d.Warning {
					errors = append(errors, d)
				}
			}
			var b strings.Builder
			if err := syntax.Render(&b, errors, syntax.Options{}); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != test.want {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", test.text, got, test.want)
			}
		})
	}
}

// TestRuleNotes gets a warning about a rule with two ways to its role: one note points to the rule.
func TestRuleNotes(t *testing.T) {
	t.Parallel()
	text := `model A { fields { b B } actions { get a(id) { @embed(b) @permission(expression: true) } } }
model B { fields { n Text } @permission(roles: [Staff], actions: [get]) @permission(expression: b.n == "x", actions: [list]) }
model Person { fields { identity Identity @unique boss Boolean } }
role Staff { emails { "boss@example.com" } expression { ctx.identity.person.boss } }`
	var got []string
	for _, d := range checkText(text) {
		if d.Code == EmbedWidens {
			for _, n := range d.Notes {
				got = append(got, text[n.Span.Start.Offset:n.Span.End.Offset])
			}
		}
	}
	want := []string{`@permission(roles: [Staff], actions: [get])`, `@permission(expression: b.n == "x", actions: [list])`}
	if !slices.Equal(got, want) {
		t.Errorf("got notes at %q, want %q", got, want)
	}
}
