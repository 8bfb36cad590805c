package sqlgen_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/pattern"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/explain"
)

// manifestOf reads the manifest as a server does.
func manifestOf(t testing.TB, r *emit.Release) *release.Manifest {
	t.Helper()
	var m release.Manifest
	if err := json.Unmarshal(r.Manifest, &m); err != nil {
		t.Fatalf("read the manifest: %v", err)
	}
	return &m
}

// callEverything calls every function of a release: Postgres looks at the
// statements of a function only when they run. Each is called with sample inputs
// made of its published schema, which the server's reader must take. Nothing may
// go wrong but what such inputs can provoke.
func callEverything(t *testing.T, db *pgtest.DB, m *release.Manifest) {
	t.Helper()
	conn := db.Superuser(t)
	// Samples refer to rows that do not exist. Without triggers, rows would lack their numbers.
	if _, err := conn.Exec(t.Context(), `
		do $$
		declare
			v_trigger record;
		begin
			for v_trigger in select tgname, tgrelid::regclass as called from pg_trigger where tgfoid = 'platform.tg_number'::regproc
			loop
				execute format('alter table %s enable always trigger %I', v_trigger.called, v_trigger.tgname);
			end loop;
		end;
		$$;
		set session_replication_role = replica;
		insert into app.identity (id) values ('me')`); err != nil {
		t.Fatal(err)
	}
	for _, a := range m.Actions {
		reader, err := input.Compile(m.Schemas, a.Input)
		if err != nil {
			t.Errorf("action %s: %v", a.Name, err)
			continue
		}
		for _, body := range samples(t, m, a) {
			in, err := reader.Read([]byte(body))
			if err != nil {
				t.Errorf("action %s does not take the sample of its own schema\n%s\n%v", a.Name, body, err)
				continue
			}
			in.JSON = prepared(in)
			functions := []string{a.Function}
			if form, ok := calls.Form(a, in.OperatorSet(), in.PlainPage(), in.Page().HasCursor); ok {
				functions = append(functions, form)
			}
			for _, function := range functions {
				callSample(t, conn, a, function, string(in.JSON), sealed(t, a))
			}
		}
	}
}

// explainEverything explains the sample calls of all actions, and calls about a row that is named.
func explainEverything(t *testing.T, db *pgtest.DB, compiled *sqlgen.Compiled) {
	t.Helper()
	conn := db.Owner(t)
	for _, a := range compiled.Schema.Actions {
		bodies := append(samples(t, compiled.Manifest, compiled.Manifest.Action(a.Name)), "")
		for _, body := range bodies {
			tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{AccessMode: pgx.ReadOnly})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range []string{"", "me"} {
				r := explain.Request{Action: a, Caller: "me", Row: row, Input: json.RawMessage(body)}
				if _, err := explain.Explain(t.Context(), tx, compiled.Schema, r); err != nil {
					t.Fatalf("explain %s with %s: %v", a.Name, body, err)
				}
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// prepared is an input as a server prepares it for the call: the stored object of a file, and for a
// password or secret a text that must not come out again.
func prepared(in input.Input) []byte {
	return in.Replace(func(i int) []byte {
		switch in.Places()[i].Format {
		case "file", "data-url":
			return []byte(`{"key":"sample","filename":"sample","contentType":"text/plain","size":1}`)
		default:
			return []byte(`"canary"`)
		}
	})
}

// sealed is the context of a call with the texts as a server seals them.
func sealed(t *testing.T, a *release.Action) string {
	t.Helper()
	values := map[string]string{}
	for _, s := range a.Sealed {
		values[s.Name] = "canary"
	}
	text, err := json.Marshal(map[string]any{"identityId": "me", "sealed": values})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func callSample(t *testing.T, conn *pgx.Conn, a *release.Action, function, body, context string) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(), `select platform.file_enter('{sample}')`); err != nil {
		t.Fatal(err)
	}
	answer, err := calls.JSON(t.Context(), conn, function, body, context)
	if err == nil {
		if !json.Valid([]byte(answer)) {
			t.Errorf("api.%s answers %s to %s, which is not JSON", function, answer, body)
		}
		if strings.Contains(answer, "canary") {
			t.Errorf("api.%s answers %s to %s, which shows a password or secret", function, answer, body)
		}
		return
	}
	var refused *pgconn.PgError
	// Row security refuses what custom code writes by an error of Postgres' own.
	if errors.As(err, &refused) && slices.Contains([]string{"SP403", "SP404", "23505", "42501"}, refused.Code) {
		return
	}
	if errors.As(err, &refused) && refused.Code == "23502" && slices.ContainsFunc(a.FromLinks, func(f release.FromLink) bool { return f.Table == refused.TableName }) {
		return // no row is linked by the sample
	}
	t.Errorf("call api.%s with %s: %v", function, body, err)
}

// samples returns bodies for an action: all that its schema has room for, the least
// that it asks for, and for a list each operator and each way to page.
func samples(t testing.TB, m *release.Manifest, a *release.Action) []string {
	t.Helper()
	s := sampler{t: t, schemas: m.Schemas}
	if a.Kind == release.ReadHistory { // a text is not a cursor
		return []string{`{"id":"sample"}`, `{"id":"sample","first":2}`}
	}
	if a.Kind != release.List {
		bodies := []string{s.body(a.Input, false), s.body(a.Input, true)}
		return slices.Compact(bodies)
	}
	least := s.value(s.component(a.Input), true).(map[string]any)
	bodies := []string{s.text(least)}
	for _, paging := range []string{
		`{"first":2}`, `{"last":2}`, `{"limit":2}`, `{"limit":2,"offset":3}`, `{"totalCount":true}`,
	} {
		body := map[string]any{}
		if err := json.Unmarshal([]byte(paging), &body); err != nil {
			t.Fatal(err)
		}
		if least["where"] != nil {
			body["where"] = least["where"]
		}
		bodies = append(bodies, s.text(body))
	}
	properties := s.component(a.Input)["properties"].(map[string]any)
	where := s.resolve(properties["where"].(map[string]any))
	for _, filter := range s.operators(where) {
		if required, ok := least["where"].(map[string]any); ok {
			complete(filter, required)
		}
		bodies = append(bodies, s.text(map[string]any{"where": filter}))
	}
	return bodies
}

// complete adds to a filter what every request has to give.
func complete(filter, required map[string]any) {
	for name, value := range required {
		below, isObject := filter[name].(map[string]any)
		more, hasMore := value.(map[string]any)
		switch {
		case filter[name] == nil:
			filter[name] = value
		case isObject && hasMore:
			complete(below, more)
		}
	}
}

// sampler makes values of JSON Schemas.
type sampler struct {
	t       testing.TB
	schemas release.Schemas
	depth   int
}

// maxSampled is the depth from which on values have only the required members.
const maxSampled = 10

func (s sampler) body(component string, least bool) string {
	return s.text(s.value(s.component(component), least))
}

func (s sampler) text(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s sampler) component(name string) map[string]any {
	schema := map[string]any{}
	if err := json.Unmarshal(s.schemas.Get(name), &schema); err != nil {
		s.t.Fatalf("read the schema %s: %v", name, err)
	}
	return schema
}

func (s sampler) resolve(schema map[string]any) map[string]any {
	if ref, ok := schema["$ref"].(string); ok {
		return s.component(strings.TrimPrefix(ref, "#/components/schemas/"))
	}
	if either, ok := schema["anyOf"].([]any); ok && schema["type"] == nil { // a component or null
		return s.resolve(either[0].(map[string]any))
	}
	return schema
}

// value returns a value for a schema: with all members of its objects, or with
// those only that are required.
func (s sampler) value(schema map[string]any, least bool) any {
	schema = s.resolve(schema)
	if s.depth++; s.depth > maxSampled {
		least = true // it may contain itself
	}
	if values, ok := schema["enum"].([]any); ok {
		return values[0]
	}
	switch kind := typeOf(schema); kind {
	case "<nil>": // any JSON
		return map[string]any{"any": []any{1.5, nil}}
	case "object":
		object := map[string]any{}
		required, _ := schema["required"].([]any)
		if sets, ok := schema["anyOf"].([]any); ok { // one must be given
			required = append(required, sets[0].(map[string]any)["required"].([]any)...)
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			if !least || slices.Contains(required, any(name)) {
				object[name] = s.value(property.(map[string]any), least)
			}
		}
		if schema["minProperties"] != nil && len(object) == 0 {
			name := "equals"
			if properties[name] == nil {
				name = slices.Min(slices.Collect(maps.Keys(properties)))
			}
			object[name] = s.value(properties[name].(map[string]any), least)
		}
		return object
	case "array":
		return []any{s.value(schema["items"].(map[string]any), least)}
	case "integer":
		return 7
	case "number":
		return 7.25
	case "boolean":
		return true
	case "string":
		switch schema["format"] {
		case "date":
			return "2027-03-01"
		case "date-time":
			return "2027-03-01T09:00:00.000Z"
		case "duration":
			return "PT1H"
		case "data-url":
			return "data:text/plain;name=sample;base64,YQ=="
		case "relative-period":
			return "last 3 days"
		case "email":
			return "ada@example.com"
		case "uri":
			return "https://example.com"
		}
		if written, ok := schema["pattern"].(string); ok {
			m, err := pattern.Compile(written)
			if err != nil {
				s.t.Fatal(err)
			}
			return m.Example()
		}
		if most, ok := schema["maxLength"].(float64); ok {
			return "sample"[:min(6, int(most))]
		}
		return "sample"
	default:
		s.t.Fatalf("no sample for a schema of type %q: %v", kind, schema)
		return nil
	}
}

func typeOf(schema map[string]any) string {
	if list, ok := schema["type"].([]any); ok {
		return list[0].(string)
	}
	return fmt.Sprint(schema["type"])
}

func isNullable(schema map[string]any) bool {
	if schema["anyOf"] != nil && schema["type"] == nil {
		return true
	}
	list, ok := schema["type"].([]any)
	return ok && slices.Contains(list, any("null"))
}

// operators returns a filter for each operator below a where, alone, and one more
// with null where it takes null.
func (s sampler) operators(schema map[string]any) []map[string]any {
	var filters []map[string]any
	for name, property := range schema["properties"].(map[string]any) {
		below := s.resolve(property.(map[string]any))
		if below["properties"] == nil {
			filters = append(filters, map[string]any{name: s.value(below, false)})
			if isNullable(property.(map[string]any)) {
				filters = append(filters, map[string]any{name: nil})
			}
			continue
		}
		for _, f := range s.operators(below) {
			filters = append(filters, map[string]any{name: f})
		}
	}
	return filters
}
