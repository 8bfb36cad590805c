package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/model"
)

// TestTenants calls every action of the clinic for the two colleagues of one practice, and for a stranger, with random
// inputs that name rows of the other practice. No answer shows a row of it, no row is linked to it or changed there,
// and each answer is the same as for a row that does not exist.
func TestTenants(t *testing.T) {
	t.Parallel()
	const rounds = 6
	a := serveApp(t, appDir("clinic"))
	compiled, err := compile(appDir("clinic"))
	if err != nil {
		t.Fatal(err)
	}
	if len(compiled.Schema.Models) != 12 || len(compiled.Manifest.Actions) < 36 { // Identity is one
		t.Fatalf("the clinic has %d models and %d actions", len(compiled.Schema.Models), len(compiled.Manifest.Actions))
	}
	others := a.seed(t, appDir("clinic"))
	db := a.db.Superuser(t)
	before := tenantRows(t, a, compiled.Schema, "south")
	_, text := a.send(t, "GET", "/docs/samples", nil, "")
	var samples map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &samples); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), "insert into app.identity (id) values ('stranger')"); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	answers := map[int]int{}
	for _, caller := range []string{"nora", "nils", "stranger"} {
		header := authorized(a.token(t, caller))
		header.Set("Content-Type", "application/json")
		call := func(action, body string) (int, string) {
			response, text := a.send(t, http.MethodPost, "/api/json/"+action, header, body)
			return response.StatusCode, text
		}
		for _, action := range compiled.Manifest.Actions {
			for range rounds {
				var sample any
				if err := json.Unmarshal(samples[action.Name], &sample); err != nil {
					t.Fatal(err)
				}
				sample, named := foreign(r, sample, "", others)
				if !named {
					continue
				}
				body, err := json.Marshal(sample)
				if err != nil {
					t.Fatal(err)
				}
				status, answer := call(action.Name, string(body))
				answers[status]++
				if strings.Contains(answer, "south ") || strings.Contains(answer, `"id":"south`) { // no input has such a text
					t.Errorf("%s of %s as %s reads %s", action.Name, body, caller, answer)
				}
				missing := strings.ReplaceAll(string(body), "south", "ghost")
				_, other := call(action.Name, missing)
				hasWritten := status == http.StatusOK && action.Kind.Writes() // and so may have changed what the next call answers
				if !hasWritten && likeMissing(answer) != likeMissing(other) {
					t.Errorf("%s as %s tells rows of the other practice from missing ones:\n%s: %s\n%s: %s", action.Name, caller, body, answer, missing, other)
				}
			}
		}
	}
	if answers[http.StatusOK] == 0 || answers[http.StatusForbidden] == 0 || answers[http.StatusNotFound] == 0 {
		t.Errorf("the answers are %v: this shows little", answers)
	}
	if after := tenantRows(t, a, compiled.Schema, "south"); !maps.Equal(after, before) {
		t.Errorf("rows of the other practice have changed:\n%v\nwere\n%v", after, before)
	}
	for table, rows := range tenantRows(t, a, compiled.Schema, "") {
		for _, row := range strings.Split(rows, "\n") {
			if !strings.Contains(row, `"id": "south`) && regexp.MustCompile(`_id": "south`).MatchString(row) {
				t.Errorf("a row of %s is linked to the other practice: %s", table, row)
			}
		}
	}
}

// likeMissing is an answer without what differs between two calls of the same action.
func likeMissing(answer string) string {
	answer = regexp.MustCompile(`"(id|[a-zA-Z]*Id|createdAt|updatedAt)":"[^"]*"`).ReplaceAllString(answer, "")
	return strings.ReplaceAll(answer, "south", "ghost")
}

// foreign replaces ids in the input of an action by ids of other rows, at random, and tells whether it has named any.
func foreign(r *rand.Rand, v any, name string, others []string) (any, bool) {
	named := false
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			member, is := foreign(r, v[key], key, others)
			v[key], named = member, named || is
		}
	case []any:
		for i, e := range v {
			element, is := foreign(r, e, name, others)
			v[i], named = element, named || is
		}
	case string:
		isID := name == "id" || strings.HasSuffix(name, "Id") || name == "place" || name == "equals" || name == "number" || name == "name"
		if isID && r.IntN(8) > 0 {
			return others[r.IntN(len(others))], true
		}
	}
	return v, named
}

// seed writes the identities and rows of an app's seeds, and returns the ids of the other practice.
func (a *app) seed(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "seed", filepath.Base(dir)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var seeds struct {
		Identities []struct{ ID, Email string }
		Rows       map[string][]map[string]any
	}
	if err := json.Unmarshal(text, &seeds); err != nil {
		t.Fatal(err)
	}
	db := a.db.Superuser(t)
	for _, i := range seeds.Identities {
		if _, err := db.Exec(t.Context(), "insert into app.identity (id, email) values ($1, $2)", i.ID, i.Email); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for _, name := range []string{"Practice", "Member", "Room", "Service", "Patient", "Contact", "Appointment", "Note", "Invoice", "Line", "Payment"} {
		for _, row := range seeds.Rows[name] {
			var columns, values []string
			var arguments []any
			for _, field := range slices.Sorted(maps.Keys(row)) {
				columns = append(columns, model.SnakeForm(field))
				arguments = append(arguments, fmt.Sprint(row[field]))
				values = append(values, fmt.Sprintf("$%d", len(arguments)))
			}
			insert := fmt.Sprintf("insert into app.%s (%s) values (%s)", model.SnakeForm(name), strings.Join(columns, ", "), strings.Join(values, ", "))
			if _, err := db.Exec(t.Context(), insert, arguments...); err != nil {
				t.Fatalf("%s %v: %v", insert, arguments, err)
			}
			if id := row["id"].(string); strings.HasPrefix(id, "south") {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// TestTenantsTied ties rows of two practices by plain SQL, as its owner can: the rules of the models refuse it at the end
// of the transaction, from whichever side it comes.
func TestTenantsTied(t *testing.T) {
	t.Parallel()
	a := serveApp(t, appDir("clinic"))
	a.seed(t, appDir("clinic"))
	db := a.db.Owner(t)
	for statement, broken := range map[string]string{
		"update app.appointment set room_id = (select id from app.room where practice_id = 'south' limit 1) where id like 'north%'":   "appointment_validate_01",
		"update app.appointment set with_id = (select id from app.member where practice_id = 'south' limit 1) where id like 'north%'": "appointment_validate_02",
		"update app.invoice set patient_id = 'south-patient-1' where id = 'north-invoice-1'":                                          "invoice_validate_01",
		"update app.line set service_id = 'south-visit' where id = 'north-line-1'":                                                    "line_validate_01",
		"update app.service set practice_id = 'south' where id = 'north-visit'":                                                       "line_validate_01",
		"update app.patient set practice_id = 'south', number = 'moved' where id = 'north-patient-1'":                                 "_validate_0",
	} {
		if _, err := db.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), broken) {
			t.Errorf("%s: got %v, want a broken %s", statement, err, broken)
		}
	}
}

// tenantRows returns the rows of each table whose ids begin with a text, as JSON.
func tenantRows(t *testing.T, a *app, s *model.Schema, begin string) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for _, m := range s.Models {
		if m.IsIdentity {
			continue
		}
		var text *string
		query := fmt.Sprintf("select string_agg(to_jsonb(r)::text, e'\\n' order by id) from app.%s as r where starts_with(id, $1)", m.Table)
		if err := a.db.Superuser(t).QueryRow(t.Context(), query, begin).Scan(&text); err != nil {
			t.Fatal(err)
		}
		if text != nil {
			rows[m.Table] = *text
		}
	}
	return rows
}
