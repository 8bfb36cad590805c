package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/server/refusal"
)

const (
	internalBody    = `{"code":"ERR_INTERNAL","message":"an internal error occurred"}`
	unavailableJSON = `{"code":"ERR_UNAVAILABLE","message":"the service is temporarily unavailable"}`
	overloadedJSON  = `{"code":"ERR_UNAVAILABLE","message":"the service is overloaded"}`
	timeoutBody     = `{"code":"ERR_TIMEOUT","message":"the action took too long"}`
	deniedBody      = `{"code":"ERR_PERMISSION_DENIED","message":"not authorized to access"}`
)

func invalid(message string, entry problem.Problem) string {
	return string(refusal.InputInvalid.Saying("%s", message).Listing(entry).Envelope())
}

// Errors of the database, and the answers to them.
func TestRaisedErrors(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	fail := func(code, message, detail string) string {
		body, _ := json.Marshal(map[string]string{"code": code, "message": message, "detail": detail})
		return string(body)
	}
	tests := []struct {
		action, body string
		status       int
		want         string
	}{
		{"fail", fail("SP400", "one or more validation rules failed", `{"errors":[{"code":"validate","error":"a <b>"},{"code":"validate","error":"c"}]}`), 400,
			`{"code":"ERR_INVALID_INPUT","message":"one or more validation rules failed","data":{"errors":[{"code":"validate","error":"a <b>"},{"code":"validate","error":"c"}]}}`},
		{"fail", fail("SP400", "one or more errors found validating request object", `{"errors":[{"field":"after","code":"cursor","error":"is not a cursor of this list"}]}`), 400,
			invalid("one or more errors found validating request object", problem.Cursor().At("after"))},
		{"fail", fail("SP400", "my own words", ""), 400, `{"code":"ERR_INVALID_INPUT","message":"my own words"}`},
		{"fail", fail("SP400", "my own words", "relation app.secret"), 400, `{"code":"ERR_INVALID_INPUT","message":"my own words"}`},
		{"fail", fail("SP400", strings.Repeat("ä", 600), ""), 400, `{"code":"ERR_INVALID_INPUT","message":"` + strings.Repeat("ä", 500) + `"}`},
		{"fail", fail("SP401", "the identity does not exist", ""), 401, `{"code":"ERR_AUTHENTICATION_FAILED","message":"the identity does not exist"}`},
		{"fail", fail("SP403", "not authorized to access", ""), 403, deniedBody},
		{"fail", fail("SP404", "record not found", ""), 404, `{"code":"ERR_RECORD_NOT_FOUND","message":"record not found"}`},
		{"fail", fail("SP409", "taken", ""), 409, `{"code":"ERR_CONFLICT","message":"taken"}`},
		{"fail", fail("SP429", "too many uploads outstanding", ""), 429, `{"code":"ERR_RATE_LIMITED","message":"too many uploads outstanding"}`},
		{"fail", fail("SP999", "unknown to the server", ""), 500, internalBody},
		{"fail", fail("42501", "permission denied for table x", ""), 403, deniedBody},
		{"snoop", `{}`, 403, deniedBody},
		{"fail", fail("P0001", "plain raise", ""), 500, internalBody},
		{"fail", fail("22P02", "bad value", ""), 500, internalBody},
		{"fail", fail("XX000", "internal", ""), 500, internalBody},
		{"fail", fail("42883", "no such function", ""), 500, internalBody},
		{"fail", fail("23505", "no constraint of ours", ""), 500, internalBody},
		{"fail", fail("53100", "disk full", ""), 503, unavailableJSON},
		{"fail", fail("08006", "connection failure", ""), 503, unavailableJSON},
		{"fail", fail("25006", "read-only", ""), 503, `{"code":"ERR_UNAVAILABLE","message":"the database does not accept writes now"}`},
		{"failReading", fail("25006", "read-only", ""), 500, internalBody},
		{"fail", fail("57P01", "going down", ""), 503, unavailableJSON},
		{"fail", fail("57014", "cancelled", ""), 504, timeoutBody},
		{"fail", fail("55P03", "lock", ""), 504, timeoutBody},

		{"createNote", `{"title":null}`, 400, invalid("field 'title' cannot be null", problem.Null().At("title"))},
		{"updateNote", `{"where":{"id":"n1"},"values":{"title":null}}`, 400, invalid("field 'title' cannot be null", problem.Null().At("values.title"))},
		{"createNote", `{"title":"forbidden"}`, 409, `{"code":"ERR_CONFLICT","message":"a validation rule failed","data":{"errors":[{"code":"validate","error":"this title is forbidden"}]}}`},
		{"createNote", `{"title":"a","slug":"knots"}`, 400, invalid("the value for the unique field 'slug' must be unique", problem.Unique([]string{"slug"}).At("slug"))},
		{"createNote", `{"title":"a","twins":[{"title":"b","slug":"knots"}]}`, 400, invalid("the value for the unique field 'slug' must be unique", problem.Unique([]string{"slug"}).At("twins.0.slug"))},
		{"createNote", `{"title":"a","slug":"s","twins":[{"title":"b","slug":"knots"}]}`, 400, invalid("the value for the unique field 'slug' must be unique", problem.Unique([]string{"slug"}).At("slug"))},
		{"createNote", `{"title":"a","author":{"id":"nobody"}}`, 400, invalid("the record referenced in field 'authorId' does not exist", problem.Reference().At("author.id"))},
		{"createNote", `{"title":"a","writer":"nobody"}`, 400, invalid("the record referenced in field 'authorId' does not exist", problem.Reference().At("writer"))},
		{"createNote", `{"title":"a","writer":"nobody","author":{"id":"nobody"}}`, 400, invalid("the record referenced in field 'authorId' does not exist", problem.Reference().At("authorId"))},
		{"createNote", `{"title":"a","place":1000}`, 500, internalBody},
		{"deleteAuthor", `{"id":"ada"}`, 400, invalid("the record is referenced by other records", problem.Restrict().At("id"))},
		{"deleteAuthor", `{"id":"bob"}`, 200, `"bob"`},
	}
	for _, test := range tests {
		status, got := s.post(t, test.action, test.body)
		if status != test.status || got != test.want {
			t.Errorf("%s %s\n got %d %s\nwant %d %s", test.action, test.body, status, got, test.status, test.want)
		}
	}

	// The second of two inputs breaks the composite one.
	for i, want := range []string{"", invalid("the values for the unique composite fields (shelf, place) must be unique", problem.Unique([]string{"shelf", "place"}).At("place"))} {
		if _, got := s.post(t, "createNote", `{"title":"a","place":1,"shelf":"s"}`); i == 1 && got != want {
			t.Errorf("composite\n got %s\nwant %s", got, want)
		}
	}

	t.Run("headers", func(t *testing.T) {
		for code, want := range map[string][2]string{
			"SP401": {"WWW-Authenticate", `Bearer error="invalid_token"`},
			"SP429": {"Retry-After", "1"},
			"53100": {"Retry-After", "1"},
		} {
			resp, _ := s.do(t, "POST", "/api/json/fail", fail(code, "x", ""), nil)
			if got := resp.Header.Get(want[0]); got != want[1] {
				t.Errorf("%s: %s: got %q, want %q", code, want[0], got, want[1])
			}
		}
	})
}

// TestMissingRightIsLogged checks that the log names the missing right of the code, since
// callers only learn that they are refused. A row that a policy does not admit, and an
// exception that the code raised, are ordinary refusals, and not in the log.
func TestMissingRightIsLogged(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	refused := func(action, body string, logged int) {
		t.Helper()
		if status, got := s.post(t, action, body); status != 403 || got != deniedBody {
			t.Errorf("%s: got %d %s, want 403 %s", action, status, got, deniedBody)
		}
		if got := strings.Count(s.log.String(), `"level":"WARN","msg":"request"`); got != logged {
			t.Errorf("%s: %d requests are logged as warnings, want %d:\n%s", action, got, logged, s.log)
		}
	}
	refused("fail", `{"code":"42501","message":"raised by the code"}`, 0)
	refused("snoop", `{}`, 1)
	if want := "permission denied for table author"; !strings.Contains(s.log.String(), want) {
		t.Errorf("the log has no %q:\n%s", want, s.log)
	}
	d.exec(t, `
		drop function api.snoop;
		create table app.guarded (id int);
		alter table app.guarded enable row level security;
		grant insert on app.guarded to sternpost_caller;
		call public.declare_function('snoop', 'volatile', $$
		begin
		  perform platform.enter('snoop', context);
		  insert into app.guarded values (1);
		  return 'null';
		end;
		$$)`)
	refused("snoop", `{}`, 1)
}

func TestIdentityThatDoesNotExist(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	resp, body := s.do(t, "POST", "/api/json/getNote", `{"id":"n1"}`, map[string]string{"Authorization": "Bearer nobody"})
	if want := `{"code":"ERR_AUTHENTICATION_FAILED","message":"the identity does not exist"}`; resp.StatusCode != 401 || body != want {
		t.Errorf("got %d %s, want 401 %s", resp.StatusCode, body, want)
	}
	if got := resp.Header.Get("WWW-Authenticate"); got != `Bearer error="invalid_token"` {
		t.Errorf("WWW-Authenticate: got %q", got)
	}
}

// An unforeseen error is logged in full under the id that the client has. The log never
// contains the input.
func TestLogOfFailures(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	resp, _ := s.do(t, "POST", "/api/json/createNote", `{"title":"in confidence","place":1000}`, map[string]string{"Authorization": "Bearer ada", "X-Request-Id": "the-one"})
	id := resp.Header.Get("X-Request-Id")
	var line string
	for l := range strings.Lines(s.log.String()) {
		if strings.Contains(l, `"requestId":"`+id+`"`) {
			line += l
		}
	}
	for _, want := range []string{`"level":"ERROR"`, `"sqlstate":"23514"`, `"constraint":"note_place_check"`, `"where":"SQL statement`, `"path":"/api/json/createNote"`} {
		if !strings.Contains(line, want) {
			t.Errorf("the log has no %s: %s", want, line)
		}
	}
	for _, secret := range []string{"in confidence", "ada", "Bearer"} {
		if strings.Contains(line, secret) {
			t.Errorf("the log shows %s: %s", secret, line)
		}
	}
}
