package integration

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/encryption"
)

const accounts = `
model Account {
  fields {
    name Text @unique
    pin Password
    note Secret?
    parent Account?
    kids Account[]
  }
  actions {
    create open() with (name, pin, note?, kids.name, kids.pin, kids.note?) {
      @validate(name != "bad", message: "a bad name")
    }
    create openBy() with (name, word: Password, hint: Secret?) {
      @set(account.pin = word)
      @set(account.note = hint)
    }
    create openSecretly() with (name, pin, note?) { @permission(expression: ctx.isAuthenticated) }
    create openJudged() with (name, pin, note?) { @permission(expression: account.name == "judged") }
    update change(id) with (name?, pin?, note?)
    get getAccount(id)
    get getFamily(id) { @embed(kids, parent) }
    list listAccounts(name?)
    delete close(id)
  }
  @validate(account.name != "worse", message: "a worse name")
  @permission(expression: true, actions: [create, update, get, list, delete])
}
`

// TestWriteOnly writes passwords and secrets in every way, also in calls that fail,
// and looks for them in all output: responses, headers, the log with each request in
// it, the description of the API, and the database itself.
func TestWriteOnly(t *testing.T) {
	t.Parallel()
	const password, secret = "canary-Pässword-1", `canary-secret \"-2`
	dir := writeProject(t, map[string]string{"schema.stern": accounts})
	db := installApp(t, dir)
	a := serveWith(t, db, dir, db.ServerURL(), serving{debug: true})

	both := func(name string) string {
		return `"name":"` + name + `","pin":"` + password + `","note":"canary-secret \\\"-2"`
	}
	var out strings.Builder
	send := func(status int, path, body string) string {
		t.Helper()
		response, answer := a.send(t, "POST", path, nil, body)
		if response.StatusCode != status {
			t.Errorf("%s %s\ngot  %d %s\nwant %d", path, body, response.StatusCode, answer, status)
		}
		for name, values := range response.Header {
			out.WriteString(name + ": " + strings.Join(values, ", ") + "\n")
		}
		out.WriteString(answer + "\n")
		return answer
	}
	const api = "/api/json/"
	send(200, api+"open", `{`+both("a")+`,"kids":[{`+both("b")+`},{`+both("c")+`}]}`)
	send(200, api+"openBy", `{"name":"d","word":"`+password+`","hint":"canary-secret \\\"-2"}`)
	send(200, api+"openBy", `{"name":"e","word":"`+password+`"}`)
	send(200, api+"openJudged", `{`+both("judged")+`}`)
	send(403, api+"openJudged", `{`+both("x")+`}`)
	send(403, api+"openSecretly", `{`+both("x")+`}`)
	send(400, api+"open", `{`+both("a")+`,"kids":[]}`)
	send(400, api+"open", `{`+both("bad")+`,"kids":[]}`)
	send(409, api+"open", `{`+both("worse")+`,"kids":[]}`)
	send(400, api+"open", `{`+both("x")+`,"kids":[{}]}`)
	send(400, api+"open", `{`+both("x")+`,"kids":"`+password+`"}`)
	send(400, api+"open", `{`+both("x")+`,"kids":[`)
	send(400, api+"openBy", `{"name":7,"word":"`+password+`"}`)
	send(400, api+"openBy", `{"name":"x","word":"`+strings.Repeat(password, 100)+`"}`)
	var id string
	if err := db.Owner(t).QueryRow(t.Context(), "select id from app.account where name = 'a'").Scan(&id); err != nil {
		t.Fatal(err)
	}
	send(200, api+"change", `{"where":{"id":"`+id+`"},"values":{"pin":"`+password+`","note":"canary-secret \\\"-2"}}`)
	send(404, api+"change", `{"where":{"id":"none"},"values":{"pin":"`+password+`"}}`)
	send(200, api+"getAccount", `{"id":"`+id+`"}`)
	send(200, api+"getFamily", `{"id":"`+id+`"}`)
	send(200, api+"listAccounts", `{}`)
	for _, path := range []string{"/api/json/openapi.json", "/api/json/getAccount?id=" + id} {
		_, answer := a.send(t, "GET", path, nil, "")
		out.WriteString(answer)
	}

	var name, pin, note string
	const hashed = "$argon2id$"
	keys, err := encryption.New(encryptionKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	encrypted := keys.Encrypt("")[:len("x1:0123456789abcdef:")]
	rows, err := db.Superuser(t).Query(t.Context(), "select name, pin, coalesce(note, '') from app.account order by name")
	if err != nil {
		t.Fatal(err)
	}
	stored := 0
	for rows.Next() {
		if err := rows.Scan(&name, &pin, &note); err != nil {
			t.Fatal(err)
		}
		stored++
		if strings.Contains(pin+note, "canary") || !strings.HasPrefix(pin, hashed) || note != "" && !strings.HasPrefix(note, encrypted) {
			t.Errorf("account %s is stored with %s and %s", name, pin, note)
		}
		if ok, err := auth.NewPasswords().Verify(t.Context(), pin, password); !ok || err != nil {
			t.Errorf("account %s: the password does not match %s (%v)", name, pin, err)
		}
		if got, err := keys.Decrypt(note); name != "e" && (err != nil || got != secret) {
			t.Errorf("account %s: the secret is %q, %v, want %q", name, got, err, secret)
		}
	}
	if rows.Err() != nil || stored != 6 {
		t.Errorf("%d accounts are stored, error %v, want 6", stored, rows.Err())
	}

	out.WriteString(a.log.String())
	for _, word := range []string{"canary", hashed, encrypted} {
		if at := strings.Index(out.String(), word); at >= 0 {
			t.Errorf("%q shows in: %.300s", word, out.String()[max(0, at-100):])
		}
	}
	if !strings.Contains(a.log.String(), "openJudged") {
		t.Error("the log does not have the requests in it")
	}
}
