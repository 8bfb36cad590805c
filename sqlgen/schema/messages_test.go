package schema

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestNotes compares what is shown of an error, with the notes that point to the
// other places involved.
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
