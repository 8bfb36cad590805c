package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/install"
)

const notes = `
model Note {
  fields {
    text Text
  }
  actions {
    create createNote() with (text)
    list listNotes()
  }
  @permission(expression: true, actions: [create, list])
}
`

// edit replaces a part of a project's schema.
func edit(t *testing.T, dir, old, new string) {
	t.Helper()
	name := filepath.Join(dir, "schema.stern")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("the schema has no %q", old)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// await sends a request until it gets an answer.
func (a *app) await(t *testing.T, action, body, want string) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, got = a.send(t, "POST", "/api/json/"+action, nil, body); strings.Contains(got, want) {
			return
		}
	}
	t.Fatalf("%s %s: got %s, want %s", action, body, got, want)
}

// TestReleaseSwap installs newer releases below a server that answers requests. It
// switches to them without a restart, and no request fails meanwhile.
func TestReleaseSwap(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": notes})
	a := serveApp(t, dir)
	a.await(t, "createNote", `{"text":"first"}`, `"text":"first"`)

	// One client lists all the while.
	var stop atomic.Bool
	ended := make(chan error, 1)
	go func() {
		for !stop.Load() {
			response, got, err := a.try(t.Context(), "POST", "/api/json/listNotes", nil, `{"first":1}`)
			if err != nil || response.StatusCode != 200 {
				ended <- fmt.Errorf("a list during the swap: %v %s", err, got)
				return
			}
		}
		ended <- nil
	}()

	edit(t, dir, "text Text", "text Text\n    colour Text?")
	edit(t, dir, "with (text)", "with (text, colour?)")
	if got := reinstall(t, a.db, dir); got.Release != 2 || !got.Changed {
		t.Errorf("an added field: got %+v", got)
	}
	a.await(t, "createNote", `{"text":"second","colour":"red"}`, `"colour":"red"`)
	a.await(t, "listNotes", `{"first":1}`, `"text":"first","colour":null`)

	edit(t, dir, "list listNotes()", "list listNotes(colour?)\n    delete deleteNote(id)")
	edit(t, dir, "[create, list]", "[create, list, delete]")
	if got := reinstall(t, a.db, dir); got.Release != 3 {
		t.Errorf("an added action: got %+v", got)
	}
	a.await(t, "deleteNote", `{"id":"x"}`, `ERR_RECORD_NOT_FOUND`)
	a.await(t, "listNotes", `{"where":{"colour":{"equals":"red"}},"totalCount":true}`, `"totalCount":1`)

	edit(t, dir, "\n    delete deleteNote(id)", "")
	if got := reinstall(t, a.db, dir); got.Release != 4 {
		t.Errorf("a removed action: got %+v", got)
	}
	a.await(t, "deleteNote", `{"id":"x"}`, `ERR_ACTION_NOT_FOUND`)

	if got := reinstall(t, a.db, dir); got.Release != 4 || got.Changed {
		t.Errorf("the same again: got %+v, want release 4 unchanged", got)
	}
	stop.Store(true)
	if err := <-ended; err != nil {
		t.Error(err)
	}

	// A loss of data is refused, and the old release stays.
	edit(t, dir, "colour Text?", "")
	edit(t, dir, ", colour?)", ")")
	edit(t, dir, "(colour?)", "()")
	compiled, err := compile(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = install.Install(t.Context(), a.db.Owner(t), compiled.Release())
	var refused *install.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "app.note.colour") {
		t.Errorf("a removed field: got %v, want a refusal that names app.note.colour", err)
	}
	a.await(t, "listNotes", `{"where":{"colour":{"equals":"red"}}}`, `"colour":"red"`)
}

// TestInstallUnderWrites installs a release while rows are written. The writers may
// wait, and none of them fails.
func TestInstallUnderWrites(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": notes})
	a := serveApp(t, dir)

	const writers, rows = 4, 60
	ended := make(chan error, writers)
	started := make(chan struct{}, writers)
	for writer := range writers {
		go func() {
			for row := range rows {
				response, got, err := a.try(t.Context(), "POST", "/api/json/createNote", nil, fmt.Sprintf(`{"text":"%d of %d"}`, row, writer))
				if err != nil || response.StatusCode != 200 {
					ended <- fmt.Errorf("writer %d, row %d: %v %s", writer, row, err, got)
					return
				}
				if row == 0 {
					started <- struct{}{}
				}
			}
			ended <- nil
		}()
	}
	for range writers {
		<-started
	}
	edit(t, dir, "text Text", "text Text\n    state Text @default(\"new\")")
	reinstall(t, a.db, dir)
	for range writers {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	a.await(t, "listNotes", `{"first":1,"totalCount":true}`, fmt.Sprintf(`"totalCount":%d`, writers*rows))
	a.await(t, "listNotes", `{"first":1}`, `"state":"new"`)
}

// TestReleaseChangesType gives a field another type while the statements that read it stay
// the same: callers get the new type, regardless of who prepared the statements.
func TestReleaseChangesType(t *testing.T) {
	t.Parallel()
	swap := func(t *testing.T, through func(string) string) {
		dir := writeProject(t, map[string]string{"schema.stern": strings.Replace(notes, "text Text", "text Text\n    size Number @default(1)", 1)})
		edit(t, dir, "list listNotes()", "list listNotes(size?)\n    get getNote(id)")
		edit(t, dir, "[create, list]", "[create, get, list]")
		db := installApp(t, dir)
		a := serve(t, db, dir, through(db.LoginURL()))
		var note struct{ ID string }
		_, created := a.send(t, "POST", "/api/json/createNote", nil, `{"text":"x"}`)
		if err := json.Unmarshal([]byte(created), &note); err != nil {
			t.Fatalf("createNote: %s: %v", created, err)
		}
		for range 20 {
			a.await(t, "getNote", `{"id":"`+note.ID+`"}`, `"size":1`)
			a.await(t, "listNotes", `{}`, `"size":1`)
			a.await(t, "listNotes", `{"where":{"size":{"equals":1}}}`, `"size":1`)
		}
		edit(t, dir, "size Number @default(1)", "size Decimal @default(1)")
		reinstall(t, db, dir)
		a.await(t, "getNote", `{"id":"`+note.ID+`"}`, `"size":1`)
		for range 20 {
			for _, call := range [][2]string{
				{"getNote", `{"id":"` + note.ID + `"}`}, {"listNotes", `{}`}, {"listNotes", `{"where":{"size":{"equals":1}}}`},
			} {
				if response, got := a.send(t, "POST", "/api/json/"+call[0], nil, call[1]); response.StatusCode != 200 {
					t.Fatalf("%s %s: got %d %s", call[0], call[1], response.StatusCode, got)
				}
			}
		}
	}
	t.Run("direct", func(t *testing.T) {
		t.Parallel()
		swap(t, func(url string) string { return url })
	})
	behindPoolers(t, func(t *testing.T, prepared bool) {
		swap(t, pgtest.NewPooler(t, pgtest.PoolerOptions{Prepared: prepared, Size: 2}).Of)
	})
}
