package main_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
)

// TestDevSeeds fills an empty database: with nothing of a wrong seed, with all of the fixed one, once, and again after
// a reset.
func TestDevSeeds(t *testing.T) {
	t.Parallel()
	const schema = `model Note {
  fields {
    text Text
    author Identity?
  }
  actions {
    create createNote() with (text) {
      @permission(expression: ctx.isAuthenticated)
      @set(note.author = ctx.identity)
    }
    list listNotes()
  }
  @permission(expression: true, actions: [list])
}
`
	const seeds = `{"identities":[{"id":"ada","email":"ada@example.com","password":"canary-word"}],
  "rows":{"Note":[{"id":"a","text":"a row"}]},
  "calls":[{"action":"createNote","as":"ada@example.com","input":{"text":"a call"}}]}`
	dir := files(t, map[string]string{
		"schema.stern": schema, "seed/2.json": strings.Replace(seeds, `"text":"a row"`, `"txt":"a row"`, 1),
		"seed/1.sql": "insert into app.note (text) values ('a script');",
	})
	port := program.FreePort(t)
	base := "http://127.0.0.1:" + port
	list := base + "/api/json/listNotes"
	dev := command{args: []string{"dev", "--port", port, dir}}
	p := dev.start(t)
	at := p.Await(t, 0, "seed/2.json:rows.Note[0]: Note has no field txt")
	at = p.Await(t, at, "nothing was written")
	at = p.Await(t, at, "Ctrl-C stops everything")
	awaitAnswer(t, "GET", list, "", `"count":0`)
	awaitAnswer(t, "POST", base+"/docs/data/state", "{}", `Note has no field txt`)

	replaceFile(t, filepath.Join(dir, "seed", "2.json"), seeds)
	at = p.Await(t, at, "the database was empty; from seed/: 1 identity, 1 row, 1 script, 1 call")
	p.Await(t, at, "sign in as ada@example.com (the password is in seed/2.json)")
	for _, want := range []string{`"count":3`, `"text":"a row"`, `"text":"a script"`, `"text":"a call","authorId":"ada"`} {
		awaitAnswer(t, "GET", list, "", want)
	}
	response, err := http.PostForm(base+"/auth/token", url.Values{
		"grant_type": {"password"}, "username": {"ada@example.com"}, "password": {"canary-word"}})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the identity signs in with status %d", response.StatusCode)
	}
	if err := p.End(t, os.Interrupt); err != nil {
		t.Errorf("after Ctrl-C: %v, want exit 0", err)
	}

	// A database with rows is left alone.
	p = dev.start(t)
	p.Await(t, 0, "seed/ was not used: it only fills an empty development database")
	awaitAnswer(t, "GET", list, "", `"count":3`)
	if err := p.End(t, os.Interrupt); err != nil {
		t.Errorf("after Ctrl-C: %v, want exit 0", err)
	}

	// After a reset it is filled again; a refused call leaves the writes before it, and says so.
	if out := (command{args: []string{"reset", "--yes", dir}}).expect(t, 0, ""); out != "dropped; sternpost dev starts with what is in seed/\n" {
		t.Errorf("reset says %q", out)
	}
	replaceFile(t, filepath.Join(dir, "seed", "2.json"), strings.Replace(seeds, `"as":"ada@example.com",`, "", 1))
	p = dev.start(t)
	at = p.Await(t, 0, "seed/2.json:calls[0] createNote: not authorized to access (ERR_PERMISSION_DENIED)")
	p.Await(t, at, "later calls were not made, and what was written before is kept: 1 identity, 1 row, 1 script.\nCorrect the file, stop dev, and start over with an empty database: sternpost reset "+dir)
	awaitAnswer(t, "GET", list, "", `"count":2`)
	if err := p.End(t, os.Interrupt); err != nil {
		t.Errorf("after Ctrl-C: %v, want exit 0", err)
	}
}

// TestDevSeedsApps serves the example apps with their rows, as make run does.
func TestDevSeedsApps(t *testing.T) {
	t.Parallel()
	for app, want := range map[string]string{
		"workshop": "1 identity, 9 rows, 3 calls",
		"ledger":   "2 identities, 10 rows, 4 calls",
		"clinic":   "4 identities, 34 rows",
	} {
		t.Run(app, func(t *testing.T) {
			t.Parallel()
			dir := openDir(t)
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "integration", "apps", app))); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(dir, ".sternpost")); err != nil { // of who tried the app
				t.Fatal(err)
			}
			p := command{args: []string{"dev", "--port", program.FreePort(t), dir}}.start(t)
			p.Await(t, 0, "the database was empty; from seed/: "+want)
			if err := p.End(t, os.Interrupt); err != nil {
				t.Errorf("after Ctrl-C: %v, want exit 0", err)
			}
		})
	}
}
