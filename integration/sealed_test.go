package integration

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/encryption"
)

const sealing = `
model Account {
  fields {
    name Text @unique
    pin Password?
    note Secret?
    parent Account?
    kids Account[]
  }
  actions {
    create openBy() with (name, word: Text, hint: Text?, kids.name) {
      @set(account.pin = word)
      @set(account.note = hint)
      @set(account.kids.pin = ctx.env.REGION)
      @set(account.kids.note = ctx.secrets.PEPPER)
    }
    create openNamed() with (name) {
      @set(account.pin = name)
      @set(account.note = null)
    }
    create openChecked() with (name, word: Text) {
      @set(account.pin = word)
      @validate(word != "bad", message: "a bad word")
    }
    create openBelow() with (name, parent.name?) { @set(account.note = parentName) }
    create openRefused() with (name, word: Text) {
      @set(account.pin = word)
      @permission(expression: account.name == "nobody")
    }
    update change(name) with (word: Text?, hint: Text?) {
      @set(account.pin = word)
      @set(account.note = hint)
    }
    update reset(name) {
      @set(account.pin = "canary-literal")
      @set(account.note = ctx.headers.XNote)
    }
  }
  @permission(expression: true, actions: [create, update])
}
`

// TestSealedTexts sets passwords and secrets to texts of every kind: inputs, headers,
// values of the environment and literals. The server computes the stored values, and a
// text that only it reads does not even reach the database.
func TestSealedTexts(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{
		"schema.stern":   sealing,
		"sternpost.yaml": "environment:\n  - name: REGION\nsecrets:\n  - name: PEPPER\n",
	})
	db := installApp(t, dir)
	owner := db.Superuser(t)
	a := serveWith(t, db, dir, db.ServerURL(), serving{env: []string{"REGION=canary-region", "PEPPER=canary-pepper"}, debug: true})
	// A watched function fails if it is called with a text to seal.
	watch := func(function string) {
		t.Helper()
		var result string
		err := owner.QueryRow(t.Context(), "select prorettype::regtype::text from pg_proc where oid = ('api.' || $1)::regproc", function).Scan(&result)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := owner.Exec(t.Context(), strings.NewReplacer("FUNCTION", function, "RESULT", result).Replace(`
			alter function api.FUNCTION rename to FUNCTION__watched;
			create function api.FUNCTION(input jsonb, context jsonb) returns RESULT
			language plpgsql
			security definer
			as $$
			begin
				if input::text || (context - '{env,secrets}'::text[])::text like '%canary%' then
					raise exception 'the database sees a text';
				end if;
				return api.FUNCTION__watched(input, context);
			end;
			$$;`)); err != nil {
			t.Fatal(err)
		}
	}
	for _, function := range []string{"open_by", "open_by__early", "open_refused__early", "change", "change__early", "reset", "reset__early"} {
		watch(function)
	}

	tests := []struct {
		action, body string
		header       http.Header
		status       int
		account      string // the owner of the values
		pin, note    string // their plain values; empty means null
	}{
		{action: "openBy", body: `{"name":"a","word":"canary-\"w\"","hint":"canary-hint","kids":[{"name":"b"},{"name":"c"}]}`, status: 200,
			account: "a", pin: `canary-"w"`, note: "canary-hint"},
		{account: "b", pin: "canary-region", note: "canary-pepper"},
		{account: "c", pin: "canary-region", note: "canary-pepper"},
		{action: "openBy", body: `{"name":"d","word":"canary-w","kids":[]}`, status: 200, account: "d", pin: "canary-w"},
		{action: "openNamed", body: `{"name":"e"}`, status: 200, account: "e", pin: "e"},
		{action: "openChecked", body: `{"name":"f","word":"canary-good"}`, status: 200, account: "f", pin: "canary-good"},
		{action: "openChecked", body: `{"name":"x","word":"bad"}`, status: 400},
		{action: "openChecked", body: `{"name":"x"}`, status: 400},
		{action: "openRefused", body: `{"name":"x","word":"canary-refused"}`, status: 403},
		{action: "openBelow", body: `{"name":"g","parent":{"name":"h"}}`, status: 200, account: "g", note: "h"},
		{account: "h"},
		{action: "openBelow", body: `{"name":"i","parent":{}}`, status: 200, account: "i"},
		{action: "openBelow", body: `{"name":"j","parent":null}`, status: 200, account: "j"},
		{action: "openBelow", body: `{"name":"k"}`, status: 200, account: "k"},
		{action: "change", body: `{"where":{"name":"a"},"values":{"hint":"canary-changed"}}`, status: 200,
			account: "a", pin: `canary-"w"`, note: "canary-changed"},
		{action: "change", body: `{"where":{"name":"a"}}`, status: 200, account: "a", pin: `canary-"w"`, note: "canary-changed"},
		{action: "change", body: `{"where":{"name":"a"},"values":{"word":""}}`, status: 200, account: "a", pin: "\x00", note: "canary-changed"},
		{action: "change", body: `{"where":{"name":"none"},"values":{"word":"canary"}}`, status: 404},
		{action: "reset", body: `{"where":{"name":"a"}}`, header: http.Header{"X-Note": {"canary-1", "canary-2"}}, status: 200,
			account: "a", pin: "canary-literal", note: "canary-1, canary-2"},
		{action: "reset", body: `{"where":{"name":"a"}}`, status: 200, account: "a", pin: "canary-literal"}, // an absent header is null
	}
	keys, err := encryption.New(encryptionKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		if test.action != "" {
			if response, answer := a.send(t, "POST", "/api/json/"+test.action, test.header, test.body); response.StatusCode != test.status {
				t.Errorf("%s %s\ngot  %d %s\nwant %d", test.action, test.body, response.StatusCode, answer, test.status)
			}
		}
		if test.account == "" {
			continue
		}
		var pin, note *string
		if err := owner.QueryRow(t.Context(), "select pin, note from app.account where name = $1", test.account).Scan(&pin, &note); err != nil {
			t.Errorf("%s %s: %v", test.action, test.body, err)
			continue
		}
		want := func(text string) string { return strings.TrimPrefix(text, "\x00") }
		if (pin != nil) != (test.pin != "") {
			t.Errorf("%s %s: the password of %s is set: %t", test.action, test.body, test.account, pin != nil)
		} else if pin != nil {
			if ok, err := auth.NewPasswords().Verify(t.Context(), *pin, want(test.pin)); !ok || err != nil {
				t.Errorf("%s %s: the password of %s is %s, not of %q (%v)", test.action, test.body, test.account, *pin, test.pin, err)
			}
		}
		if (note != nil) != (test.note != "") {
			t.Errorf("%s %s: the secret of %s is set: %t", test.action, test.body, test.account, note != nil)
		} else if note != nil {
			if got, err := keys.Decrypt(*note); err != nil || got != want(test.note) {
				t.Errorf("%s %s: the secret of %s is %q, %v, want %q", test.action, test.body, test.account, got, err, test.note)
			}
		}
	}
	var x int
	if err := owner.QueryRow(t.Context(), "select count(*) from app.account where name = 'x'").Scan(&x); err != nil || x != 0 {
		t.Errorf("%d accounts of refused calls, error %v", x, err)
	}

	watch("open_checked__early")
	if response, answer := a.send(t, "POST", "/api/json/openChecked", nil, `{"name":"y","word":"canary-read"}`); response.StatusCode != 500 {
		t.Errorf("a text that the database reads: got %d %s, want 500 of the function that watches", response.StatusCode, answer)
	}
	request := http.Header{"Origin": {"https://app.example.com"}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"x-note"}}
	if response, _ := a.send(t, "OPTIONS", "/api/json/reset", request, ""); !strings.Contains(response.Header.Get("Access-Control-Allow-Headers"), "X-Note") {
		t.Errorf("a preflight allows %q, not X-Note", response.Header.Get("Access-Control-Allow-Headers"))
	}
}
