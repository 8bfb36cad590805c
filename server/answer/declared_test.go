package answer_test

import (
	"encoding/json"
	"testing"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/sql/release"
)

// TestMisfit compares answers of custom code with the message that the action declares.
func TestMisfit(t *testing.T) {
	t.Parallel()
	var schemas release.Schemas
	err := json.Unmarshal([]byte(`{
		"Overdue": {"type": "object", "required": ["loans", "total"], "properties": {
			"loans": {"type": "array", "items": {"$ref": "#/components/schemas/Loan"}},
			"total": {"type": "number", "format": "decimal"},
			"worst": {"anyOf": [{"$ref": "#/components/schemas/Loan"}, {"type": "null"}]},
			"note": {"type": ["string", "null"]},
			"more": {},
			"next": {"anyOf": [{"$ref": "#/components/schemas/Overdue"}, {"type": "null"}]}}},
		"Loan": {"type": "object", "required": ["id", "dueOn"], "properties": {
			"id": {"type": "string"},
			"dueOn": {"type": "string", "format": "date"},
			"days": {"type": "integer"},
			"state": {"enum": ["Open", "Back"]}}}}`), &schemas)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := answer.NewDeclared(schemas, "Overdue")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, result, want string }{
		{"as declared", `{"loans":[{"id":"a","dueOn":"2027-03-01","days":3,"state":"Open"}],"total":1.50,"worst":null,"note":null,"more":{"x":1}}`, ""},
		{"optional members left out", `{"loans":[],"total":0}`, ""},
		{"a whole number with a point", `{"loans":[{"id":"a","dueOn":"x","days":3.0}],"total":1}`, ""},
		{"a message in itself", `{"loans":[],"total":0,"next":{"loans":[],"total":0,"next":null}}`, ""},
		{"a row for a record", `{"loans":[{"id":"a","due_on":"2027-03-01","item__fine":2}],"total":0}`,
			"loans.0.dueOn is missing; loans.0.due_on is not declared; loans.0.item__fine is not declared"},
		{"rows for records", `{"loans":[{"id":"a","due_on":"x"},{"id":"b","due_on":"x"},{"id":"c","due_on":"x"}],"total":0}`,
			"loans.0.dueOn is missing; loans.0.due_on is not declared; loans.1.dueOn is missing; loans.1.due_on is not declared; and more"},
		{"null for a required member", `{"loans":null,"total":0}`, "loans is of type null, not array"},
		{"a text for a number", `{"loans":[],"total":"0"}`, "total is of type string, not number"},
		{"a fraction for a whole number", `{"loans":[{"id":"a","dueOn":"x","days":3.5}],"total":0}`, "loans.0.days is of type number, not integer"},
		{"another value of an enum", `{"loans":[{"id":"a","dueOn":"x","state":"open"}],"total":0}`, "loans.0.state is not a value of its enum"},
		{"within an optional member", `{"loans":[],"total":0,"worst":{"id":"a"}}`, "worst.dueOn is missing"},
		{"a wrong optional member", `{"loans":[],"total":0,"note":1}`, "note is of type integer, not string or null"},
		{"an array", `[]`, "it is of type array, not object"},
	} {
		want := c.want
		if want != "" {
			want = "does not answer the message Overdue: " + want
		}
		if got := declared.Misfit([]byte(c.result)); got != want {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}
