package refusal

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/sql/release"
)

// TestConstraintField finds the input of a constraint: the only input of the request that writes its
// field, else the field itself.
func TestConstraintField(t *testing.T) {
	t.Parallel()
	action := &release.Action{Kind: release.Create, Inputs: []release.Input{
		{Path: "title", Table: "post", Field: "title"},
		{Path: "author.id", Table: "post", Field: "authorId"},
		{Path: "note", Table: "post", Field: "slug"}, // by a @set
		{Path: "topic.name", Table: "topic", Field: "name"},
		{Path: "parts.name", Table: "part", Field: "name"},
		{Path: "parts.maker.name", Table: "maker", Field: "name"},
		{Path: "parts.maker.town", Table: "maker", Field: "town"},
	}}
	unique := func(table string, fields ...string) release.Constraint {
		return release.Constraint{Kind: release.Unique, Table: table, Fields: fields}
	}
	required := func(table, field string) release.Constraint {
		return release.Constraint{Kind: release.Required, Table: table, Fields: []string{field}}
	}
	for _, c := range []struct {
		name       string
		constraint release.Constraint
		sent, want string
	}{
		{"an input", unique("post", "title"), `{"title":"a"}`, "title"},
		{"an input below a to-one", unique("post", "authorId"), `{"author":{"id":"a"}}`, "author.id"},
		{"an input that a @set takes", unique("post", "slug"), `{"note":"a"}`, "note"},
		{"no input", unique("post", "state"), `{"title":"a"}`, "state"},
		{"an input that is not sent", unique("post", "slug"), `{}`, "slug"},
		{"a field of another table with that name", unique("topic", "name"), `{"parts":[{"name":"a"}]}`, "name"},
		{"the one element", unique("part", "name"), `{"parts":[{"name":"a"}]}`, "parts.0.name"},
		{"the one element that sends it", unique("part", "name"), `{"parts":[{},{"name":"a"}]}`, "parts.1.name"},
		{"several elements", unique("part", "name"), `{"parts":[{"name":"a"},{"name":"b"}]}`, "name"},
		{"below an element", unique("maker", "name"), `{"parts":[{},{"maker":null},{"maker":{"name":"a"}}]}`, "parts.2.maker.name"},
		{"composite, the last that is sent", unique("post", "state", "slug", "title"), `{"title":"a","note":"b"}`, "title"},
		{"composite, the last that is sent, of those before", unique("post", "title", "slug", "state"), `{"title":"a","note":"b"}`, "note"},
		{"composite, none is sent", unique("post", "state", "slug"), `{}`, "state"},
		{"composite, several send the last", unique("part", "name", "state"), `{"parts":[{"name":"a"},{"name":"a"}]}`, "name"},
		{"null", required("post", "slug"), `{"note":null}`, "note"},
		{"missing at the root", required("post", "slug"), `{}`, "slug"},
		{"missing below", required("maker", "name"), `{"parts":[{"maker":{"town":"a"}}]}`, "parts.0.maker.name"},
		{"missing where one is sent", required("maker", "name"), `{"parts":[{"maker":{"name":"a"}},{"maker":{"town":"b"}}]}`, "parts.1.maker.name"},
		{"missing where nothing is sent", required("maker", "name"), `{"parts":[{"maker":{}}]}`, "name"},
		{"missing twice", required("maker", "name"), `{"parts":[{"maker":{"town":"a"}},{"maker":{"town":"b"}}]}`, "name"},
		{"missing from an element", required("part", "name"), `{"parts":[{"name":"a"},{"maker":{"town":"b"}}]}`, "parts.1.name"},
		{"no array", required("part", "name"), `{}`, "name"},
	} {
		if got := inputOf(c.constraint, action, []byte(c.sent)); got != c.want {
			t.Errorf("%s: of %v in %s got %q, want %q", c.name, c.constraint, c.sent, got, c.want)
		}
	}
}

// TestMissingLink names the link of a row that is not there, from which a required field was to be set.
func TestMissingLink(t *testing.T) {
	t.Parallel()
	action := &release.Action{Kind: release.Create, Inputs: []release.Input{{Path: "lines.service.id", Table: "line", Field: "serviceId"}},
		FromLinks: []release.FromLink{{Table: "line", Field: "price", LinkTable: "line", Link: "serviceId"}}}
	known := map[string]release.Constraint{
		"line.price": {Kind: release.Required, Table: "line", Fields: []string{"price"}},
		"line.label": {Kind: release.Required, Table: "line", Fields: []string{"label"}},
	}
	for column, want := range map[string]string{
		"price": `{"code":"ERR_INVALID_INPUT","message":"the record referenced in field 'serviceId' does not exist","data":{"errors":[{"field":"lines.0.service.id","code":"reference","error":"does not exist"}]}}`,
		"label": `{"code":"ERR_INVALID_INPUT","message":"field 'label' cannot be null","data":{"errors":[{"field":"label","code":"null","error":"cannot be null"}]}}`,
	} {
		got := refuseConstraint(&pgconn.PgError{Code: "23502", TableName: "line", ColumnName: column}, action, known, []byte(`{"lines":[{"service":{"id":"x"}}]}`))
		if string(got.Envelope()) != want {
			t.Errorf("%s: got %s, want %s", column, got.Envelope(), want)
		}
	}
}

// TestConstraintUnknown does not explain a constraint of a table that the manifest does not name for
// it.
func TestConstraintUnknown(t *testing.T) {
	t.Parallel()
	known := map[string]release.Constraint{
		"post_title_key":   {Kind: release.Unique, Table: "post", Fields: []string{"title"}},
		"post_validate_01": {Kind: release.Validate, Table: "post", Message: "no"},
	}
	action := &release.Action{Kind: release.Create}
	for _, raised := range []*pgconn.PgError{
		{Code: "23505", TableName: "topic", ConstraintName: "post_title_key"},
		{Code: "23514", TableName: "topic", ConstraintName: "post_validate_01"},
		{Code: "23505", TableName: "post", ConstraintName: "other"},
		{Code: "23502", TableName: "post", ColumnName: "title"},
	} {
		if got := refuseConstraint(raised, action, known, []byte(`{}`)); got != nil {
			t.Errorf("%v: got %v, want nothing", raised, got)
		}
	}
	if got := refuseConstraint(&pgconn.PgError{Code: "23514", TableName: "post", ConstraintName: "post_validate_01"}, action, known, nil); got == nil || string(got.Envelope()) !=
		`{"code":"ERR_CONFLICT","message":"a validation rule failed","data":{"errors":[{"code":"validate","error":"no"}]}}` {
		t.Errorf("got %v", got)
	}
}
