package seed_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/cmd/internal/seed"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

const schemaText = `model Owner {
  fields {
    name Text @unique
    identity Identity? @unique
    things Thing[]
  }
  actions {
    create createOwner() with (name)
    create hiddenOwner() with (name)
  }
  @permission(expression: true, actions: [create])
}

model Thing {
  fields {
    owner Owner
    count Number?
    price Decimal?
    tags Text[] @default
    photo File?
    number Text @sequence("T-", per: owner)
  }
}

api Api {
  models {
    Owner {
      actions {
        createOwner
      }
    }
  }
}
`

// newTarget makes an empty database, as dev does.
func newTarget(t *testing.T) (seed.Target, *pgtest.DB) {
	t.Helper()
	compiled, _ := sqlgen.Compile(&sqlgen.Project{Files: []*syntax.Source{{Name: "shop.stern", Text: []byte(schemaText)}}})
	if compiled == nil {
		t.Fatal("the schema has errors")
	}
	db := pgtest.New(t, pgtest.Options{})
	if _, err := install.InstallWith(t.Context(), db.Owner(t), compiled.Release(), install.Options{ByDev: true}); err != nil {
		t.Fatal(err)
	}
	key, err := auth.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	const baseURL = "http://localhost"
	tokens, err := auth.NewTokens(auth.TokenOptions{SigningKey: key, BaseURL: baseURL, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return seed.Target{DatabaseURL: db.OwnerURL(), Compiled: compiled, BaseURL: baseURL, Tokens: tokens}, db
}

// read reads seeds that are in the files of a new folder.
func read(t *testing.T, files map[string]string) ([]seed.File, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, seed.Folder), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, seed.Folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return seed.Read(dir)
}

// counted says how many rows there are of Identity, Owner and Thing.
const counted = `select (select count(*) from app.identity) || ' ' || (select count(*) from app.owner) || ' ' || (select count(*) from app.thing)`

func count(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	var found string
	if err := db.Owner(t).QueryRow(t.Context(), counted).Scan(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestRefused reports the error of each wrong seed with its place, and writes nothing of it, nor of the right
// one before it.
func TestRefused(t *testing.T) {
	t.Parallel()
	to, db := newTarget(t)
	const right = `{"identities":[{"email":"ada@example.com","password":"canary-word"}],"rows":{"Owner":[{"id":"o","name":"Ada"}]}}`
	for _, c := range []struct{ text, want string }{
		{"{\n  \"rows\": {,}\n}", "seed/2.json:2:12: this is not JSON: "},
		{``, "seed/2.json: the file ends early"},
		{`{"row":{}}`, `seed/2.json: unknown field "row"; a seed has identities, rows and calls`},
		{`{"calls":{}}`, "seed/2.json:1:11: calls cannot be of the kind object"},
		{`[]`, "seed/2.json:1:2: a seed, which is an object with identities, rows and calls, cannot be of the kind array"},
		{`{} {}`, "seed/2.json:1:5: there is text after the object of the seed: remove it"},
		{`{"rows":[]}`, "rows is not an object of lists"},
		{`{"rows":{"Owner":{}}}`, "rows.Owner is not a list of objects"},
		{`{"identities":[{"email":"ada","password":"x"}]}`, `seed/2.json:identities[0].email: "ada" is not an e-mail address`},
		{`{"identities":[{"email":"bo@example.com"}]}`, "seed/2.json:identities[0].password: an identity needs a password"},
		{`{"identities":[{"email":"ADA@example.com","password":"x"}]}`, "seed/2.json:identities[0]: another identity has this e-mail address or id"},
		{`{"rows":{"Nobody":[{}]}}`, "seed/2.json:rows.Nobody[0]: the schema has no model Nobody"},
		{`{"rows":{"Owner":[{"name":"Bo"},{"nam":"Cy"}]}}`, "seed/2.json:rows.Owner[1]: Owner has no field nam"},
		{`{"rows":{"Owner":[{}]}}`, "seed/2.json:rows.Owner[0].name: field 'name' cannot be null"},
		{`{"rows":{"Owner":[{"name":"Ada"}]}}`, "seed/2.json:rows.Owner[0].name: the value for the unique field 'name' must be unique"},
		{`{"rows":{"Thing":[{"owner":"o"}]}}`, "seed/2.json:rows.Thing[0].owner: Thing has no column owner: give ownerId the id of a row"},
		{`{"rows":{"Thing":[{"ownerId":"p"}]}}`, "; a row must come after the rows that it names"},
		{`{"rows":{"Thing":[{"ownerId":"o","count":"many"}]}}`, `seed/2.json:rows.Thing[0]: invalid input syntax`},
		{`{"rows":{"Thing":[{"ownerId":"o","photo":"x"}]}}`, "seed/2.json:rows.Thing[0].photo: a File cannot be set directly"},
		{`{"calls":[{"action":"dropOwner"}]}`, `seed/2.json:calls[0].action: the schema has no action "dropOwner"`},
		{`{"calls":[{"action":"hiddenOwner","input":{"name":"Bo"}}]}`, "seed/2.json:calls[0].action: no API exposes hiddenOwner"},
		{`{"calls":[{"action":"createOwner","input":{"nam":"Bo"}}]}`, "seed/2.json:calls[0].input: the input is not valid"},
		{`{"calls":[{"action":"createOwner","as":"bo@example.com","input":{"name":"Bo"}}]}`, "seed/2.json:calls[0].as: identity bo@example.com does not exist: add it to identities"},
	} {
		files, err := read(t, map[string]string{"1.json": right, "2.json": c.text})
		if err == nil {
			_, err = seed.Apply(t.Context(), files, to)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n  got  %v\n  want %s", c.text, err, c.want)
		}
		if found := count(t, db); found != "0 0 0" {
			t.Fatalf("%s: left rows: %s", c.text, found)
		}
	}
	for text, want := range map[string]string{
		"insert into app.owner (name) values ('Bo');\n\nselec 1;":    "seed/2.sql:3:1: syntax error",
		"insert into app.owner (name) values ('Bo'), ('Bo');":        "seed/2.sql: duplicate key value",
		"select 1;\nselect * from app.nobody;":                       "seed/2.sql:2:15: relation",
		"insert into app.owner (name) values ('Bo');\nrollback;\n\n": "seed/2.sql: it ends the transaction",
	} {
		files, err := read(t, map[string]string{"1.json": right, "2.sql": text})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = seed.Apply(t.Context(), files, to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n  got  %v\n  want %s", text, err, want)
		}
		if found := count(t, db); found != "0 0 0" {
			t.Fatalf("%s: left rows: %s", text, found)
		}
	}
}

// TestApply writes files in the order of their names, and makes calls as the named callers.
func TestApply(t *testing.T) {
	t.Parallel()
	to, db := newTarget(t)
	var calls []string
	isRefused := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := to.Tokens.Identify(r.Context(), r.Header.Values("Authorization"))
		if err != nil {
			t.Error(err)
		}
		calls = append(calls, r.URL.Path+" "+caller.ID)
		if isRefused {
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(`{"code":"ERR_CONFLICT","message":"no","data":{"errors":[{"field":"name","error":"is long"}]}}`))
		}
		isRefused = true
	}))
	defer server.Close()
	to.Address = server.URL
	files, err := read(t, map[string]string{
		"1.json": `{"identities":[{"id":"ada","email":"Ada@Example.com","password":"canary-word"}],
			"rows":{"Owner":[{"id":"o","name":"Ada","identityId":"ada","createdAt":"2026-01-02T03:04:05Z"}],
				"Thing":[{"ownerId":"o","number":"T-0007","count":2147483647,"price":0.10,"tags":["a","b"]}]},
			"calls":[{"action":"createOwner","as":"ADA@example.com","input":{"name":"x"}},
				{"action":"createOwner","input":{"name":"y"}},{"action":"createOwner","input":{"name":"z"}}]}`,
		"2.sql":    "insert into app.thing (owner_id) values ('o');\ninsert into app.thing (owner_id) values ('o');",
		"note.txt": "not read",
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := seed.Apply(t.Context(), files, to)
	const want = "seed/1.json:calls[1] createOwner: no (ERR_CONFLICT); name: is long"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := result.String(); got != "1 identity, 2 rows, 1 script, 1 call" || !result.IsKept {
		t.Errorf("result: got %s (kept: %t)", got, result.IsKept)
	}
	if got := strings.Join(calls, ", "); got != "/api/json/createOwner ada, /api/json/createOwner " {
		t.Errorf("calls: got %s", got)
	}
	if found := count(t, db); found != "1 1 3" {
		t.Errorf("rows: got %s", found)
	}
	// A number that a seed gives stays, and the others follow.
	var numbers string
	if err := db.Owner(t).QueryRow(t.Context(), "select string_agg(number, ' ' order by number) from app.thing").Scan(&numbers); err != nil || numbers != "T-0007 T-0008 T-0009" {
		t.Errorf("numbers: got %s, %v", numbers, err)
	}
	var wrote string
	if err := db.Owner(t).QueryRow(t.Context(), `
		select identity.email || identity.issuer || identity.email_verified || owner.created_at || thing.count || thing.price || thing.tags::text
		from app.thing join app.owner on owner.id = thing.owner_id join app.identity on identity.id = owner.identity_id
		where thing.count is not null`).Scan(&wrote); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(wrote, "ada@example.comhttp://localhosttrue2026-01-02 03:04:05") || !strings.HasSuffix(wrote, "21474836470.10{a,b}") {
		t.Errorf("wrote %s", wrote)
	}

	// A database with rows is left alone.
	if result, err = seed.Apply(t.Context(), files, to); err != nil || !result.IsFull || count(t, db) != "1 1 3" || len(calls) != 2 {
		t.Errorf("again: got %+v, %v, %d calls, rows %s", result, err, len(calls), count(t, db))
	}
}

// TestNotDevelopment leaves an empty database alone if dev has not installed its release.
func TestNotDevelopment(t *testing.T) {
	t.Parallel()
	to, db := newTarget(t)
	if _, err := db.Owner(t).Exec(t.Context(), "update platform.release set by_dev = false"); err != nil {
		t.Fatal(err)
	}
	files, err := read(t, map[string]string{"1.json": `{"rows":{"Owner":[{"name":"Ada"}]}}`})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := seed.Apply(t.Context(), files, to); err != nil || !result.IsFull || count(t, db) != "0 0 0" {
		t.Errorf("got %+v, %v, rows %s", result, err, count(t, db))
	}
}
