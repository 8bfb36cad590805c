package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestLimitsOfPostgres checks that a schema beyond a limit of Postgres is refused, at its place, and that one that just
// fits is not.
func TestLimitsOfPostgres(t *testing.T) {
	t.Parallel()
	names := func(n int, pattern, separator string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(pattern, letters(i))
		}
		return strings.Join(all, separator)
	}
	model := func(fields int, members string) string {
		return "model Wide {\nfields { " + names(fields, "%s Text", " ") + " }\n" + members + "\n}\n"
	}
	tests := []struct {
		what, schema string
		want         string // the refused text and the message; "" means that nothing is refused
	}{
		{"1,600 columns", model(1597, ""), ""},
		{"1,601 columns", model(1598, ""), "Wide: Wide has 1601 columns, with id, createdAt, updatedAt and the foreign keys; Postgres can hold at most 1600"},
		{"1,600 columns with foreign key", model(1596, "fields { zone Zone }") + "model Zone { fields { wides Wide[] } }", ""},
		{"1,601 columns with foreign key", model(1597, "fields { zone Zone }") + "model Zone { fields { wides Wide[] } }",
			"Wide: Wide has 1601 columns, with id, createdAt, updatedAt and the foreign keys; Postgres can hold at most 1600"},
		{"unique over 32", model(33, "@unique(["+names(32, "%s", ", ")+"])"), ""},
		{"unique over 33", model(33, "@unique(["+names(33, "%s", ", ")+"])"),
			"@unique([" + names(33, "%s", ", ") + "]): this key of Wide has 33 columns; Postgres can hold at most 32"},
		{"index over 32", model(33, "@index("+names(32, "%s", ", ")+")"), ""},
		{"index over 33", model(33, "@index("+names(33, "%s", ", ")+")"),
			"@index(" + names(33, "%s", ", ") + "): this index of Wide has 33 columns; Postgres can hold at most 32"},
		{"100 parameters", model(1, "actions { write all("+names(100, "%s: Text", ", ")+") returns (Any) }"), ""},
		{"101 parameters", model(1, "actions { write all("+names(101, "%s: Text", ", ")+") returns (Any) }"),
			"all: all has 101 parameters; a function of Postgres can have at most 100"},
		{"order by 30", model(31, "actions { list all() { @orderBy("+names(30, "%s: asc", ", ")+") } }"), ""},
		{"order by 31", model(31, "actions { list all() { @orderBy("+names(31, "%s: asc", ", ")+") } }"),
			letters(30) + ": asc: this order has 31 fields; an index of Postgres can hold at most 30, beside the id and a foreign key"},
	}
	for _, test := range tests {
		var errs syntax.Errors
		source := &syntax.Source{Name: "schema.stern", Text: []byte(test.schema)}
		checked := check.Check([]*syntax.File{syntax.Parse(source, &errs)}, check.Options{Config: check.ReadConfig(nil, &errs), Functions: []string{"all.sql"}}, &errs)
		if errs.HasErrors() {
			t.Fatalf("%s: the schema is in error: %s", test.what, errs[0].Message)
		}
		errs = nil
		Unsupported(checked, &errs)
		var got []string
		for _, d := range errs {
			got = append(got, test.schema[d.Span.Start.Offset:d.Span.End.Offset]+": "+d.Message)
		}
		if got := strings.Join(got, "\n"); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.what, got, test.want)
		}
	}
}

// TestLimitOfClaims checks that too many claims are refused, without a place, since Identity is not declared.
func TestLimitOfClaims(t *testing.T) {
	t.Parallel()
	config := &model.Config{}
	for i := range 31 {
		config.Claims = append(config.Claims, model.Claim{Key: letters(i), Field: letters(i), Unique: true})
	}
	var errs syntax.Errors
	source := &syntax.Source{Name: "schema.stern", Text: []byte("model A {}")}
	checked := check.Check([]*syntax.File{syntax.Parse(source, &errs)}, check.Options{Config: config}, &errs)
	if errs.HasErrors() {
		t.Fatalf("the schema is in error: %s", errs[0].Message)
	}
	errs = nil
	Unsupported(checked, &errs)
	if want := "this key of Identity has 33 columns; Postgres can hold at most 32"; len(errs) != 1 || errs[0].Message != want {
		t.Errorf("got %v, want %s", errs, want)
	}
}

// letters returns a field's name for a number: three letters.
func letters(i int) string {
	return "f" + string(rune('a'+i/676)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
}
