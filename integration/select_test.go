package integration

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// studio has relations to one and to many, to models with rules of their own that refuse
// most callers and to models without rules.
const studio = `
model Session {
  fields {
    title Text @unique
    open Boolean @default
    length Duration?
    minutes Number @computed(COUNT(session.takes))
    sleeve File?
    player Player?
    room Room?
    takes Take[]
    notes Note[]
  }
  actions {
    get embedded(title) { @embed(player, room, takes, notes.player) }
    get selected(title) { @select(player, room, takes, notes.text, notes.player, title, minutes) }
    get narrow(title) { @select(player.name, takes.id, room.door.code) }
    list embeddedList() { @embed(player, room, takes, notes.player) @orderBy(title: asc) }
    list selectedList(title?) { @select(player, room, takes, notes.text, notes.player, title) @orderBy(length: desc) @sortable(title) }
    create start() with (title, open, sleeve?, player.id?, room.id?, takes.number, notes.text, notes.player.id) {
      @select(sleeve, player, room, takes, notes.player, minutes)
    }
    update retitle(title) with (newTitle: Text, player.id?) { @set(session.title = newTitle) @select(title, player, takes.number) }
  }
  @permission(expression: session.open, actions: [get, list, create, update])
  @permission(expression: session.player.identity == ctx.identity, actions: [get, list, create, update])
}
model Player {
  fields { name Text  portrait File?  identity Identity? @unique }
  actions { get getPlayer(id) }
  @permission(expression: player.identity == ctx.identity, actions: [get, list])
}
model Room { fields { name Text  door Door? } }
model Door { fields { code Text } }
model Take {
  fields { session Session  number Number }
  @permission(expression: false, actions: [get, list])
}
model Note { fields { session Session  text Text  player Player? } }
`

// TestSelect asks as several callers for records that select related rows. A caller who may
// call the action sees the same of related rows, regardless of their models' own rules. A
// caller who may not see the row sees nothing of them.
func TestSelect(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, map[string]string{"schema.stern": studio}))
	if _, err := a.db.Superuser(t).Exec(t.Context(), `
		insert into app.identity (id, email, issuer) values ('ada', 'ada@example.com', 'https://x'), ('bob', 'bob@example.com', 'https://x');
		insert into app.player (id, name, identity_id) values ('a', 'Ada', 'ada'), ('b', 'Bob', 'bob');
		insert into app.door (id, code) values ('d', '12');
		insert into app.room (id, name, door_id) values ('r', 'Red', 'd');
		insert into app.session (id, title, open, player_id, room_id, length) values
			('o', 'open', true, 'b', 'r', '1 hour'), ('c', 'closed', false, 'b', null, null), ('n', 'nobody', true, null, null, '2 hours');
		insert into app.take (id, session_id, number) values ('t2', 'o', 2), ('t1', 'o', 1), ('t3', 'c', 3);
		insert into app.note (id, session_id, text, player_id) values ('m1', 'o', 'Loud.', 'a'), ('m2', 'o', 'Fast.', null)`); err != nil {
		t.Fatal(err)
	}
	send := func(identity, action, input string) (int, string) {
		t.Helper()
		header := http.Header{}
		if identity != "" {
			header.Set("Authorization", "Bearer "+a.token(t, identity))
		}
		response, got := a.send(t, "POST", "/api/json/"+action, header, input)
		return response.StatusCode, got
	}
	read := func(text string) (record map[string]any) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &record); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return record
	}
	text := func(v any) string {
		t.Helper()
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	same := func(who string, embedded, selected map[string]any) {
		t.Helper()
		for _, relation := range []string{"player", "room", "takes"} {
			if text(embedded[relation]) != text(selected[relation]) {
				t.Errorf("%s sees of %s\nby @select %s\nby @embed  %s", who, relation, text(selected[relation]), text(embedded[relation]))
			}
		}
		var notes []any
		for _, n := range embedded["notes"].([]any) {
			note := n.(map[string]any)
			notes = append(notes, map[string]any{"id": note["id"], "text": note["text"], "player": note["player"]})
		}
		if got := selected["notes"].([]any); text(got) != text(notes) && len(got)+len(notes) > 0 {
			t.Errorf("%s sees of notes\nby @select %s\nby @embed  %s", who, text(got), text(notes))
		}
	}
	for _, identity := range []string{"", "ada", "bob"} {
		for _, title := range []string{"open", "closed", "nobody"} {
			want := http.StatusOK
			if title == "closed" && identity != "bob" {
				want = http.StatusForbidden
			}
			input := `{"title":"` + title + `"}`
			status, embedded := send(identity, "embedded", input)
			status2, selected := send(identity, "selected", input)
			status3, narrow := send(identity, "narrow", input)
			if status != want || status2 != want || status3 != want {
				t.Fatalf("%s as %q: got %d, %d and %d, want %d", title, identity, status, status2, status3, want)
			}
			if want != http.StatusOK {
				if strings.Contains(selected+narrow, "Bob") {
					t.Errorf("%s as %q shows a related row: %s %s", title, identity, selected, narrow)
				}
				continue
			}
			same(title+" as "+identity, read(embedded), read(selected))
		}
		_, embedded := send(identity, "embeddedList", `{}`)
		_, selected := send(identity, "selectedList", `{"orderBy":[{"title":"asc"}]}`)
		rows, selectedRows := read(embedded)["results"].([]any), read(selected)["results"].([]any)
		if want := map[string]int{"": 2, "ada": 2, "bob": 3}[identity]; len(rows) != want || len(selectedRows) != want {
			t.Fatalf("%q lists %d and %d sessions, want %d", identity, len(rows), len(selectedRows), want)
		}
		for i := range rows {
			same("the list of "+identity, rows[i].(map[string]any), selectedRows[i].(map[string]any))
		}
	}

	// Rules of the related model refuse callers who do not use the action.
	if status, got := send("ada", "getPlayer", `{"id":"b"}`); status != http.StatusForbidden {
		t.Errorf("another player: got %d %s", status, got)
	}

	const open = `{"id":"o","player":{"id":"b","name":"Bob"},"takes":[{"id":"t1"},{"id":"t2"}],"room":{"id":"r","door":{"id":"d","code":"12"}}}`
	if _, got := send("", "narrow", `{"title":"open"}`); got != open {
		t.Errorf("narrow: got %s, want %s", got, open)
	}
	const nobody = `{"id":"n","player":null,"takes":[],"room":null}`
	if _, got := send("", "narrow", `{"title":"nobody"}`); got != nobody {
		t.Errorf("narrow: got %s, want %s", got, nobody)
	}
}

// TestSelectPages walks through a list that is ordered by fields its records do not show, one
// record at a time in both directions.
func TestSelectPages(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, map[string]string{"schema.stern": studio}))
	if _, err := a.db.Superuser(t).Exec(t.Context(), `insert into app.session (id, title, open, length)
		select 's' || n, 'T' || n, true, case when n % 3 > 0 then make_interval(mins => n) end from generate_series(1, 7) as n`); err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct{ size, cursor, more, from, want string }{
		{"first", "after", "hasNextPage", "endCursor", "s6 s3 s7 s5 s4 s2 s1"}, // those without a length come first, then the longest
		{"last", "before", "hasPreviousPage", "startCursor", "s1 s2 s4 s5 s7 s3 s6"},
	} {
		var ids []string
		cursor := ""
		for range 10 {
			input := `{"` + way.size + `":1`
			if cursor != "" {
				input += `,"` + way.cursor + `":"` + cursor + `"`
			}
			_, got := a.send(t, "POST", "/api/json/selectedList", nil, input+"}")
			var page struct {
				Results  []map[string]any
				PageInfo map[string]any
			}
			if err := json.Unmarshal([]byte(got), &page); err != nil || len(page.Results) != 1 {
				t.Fatalf("%s: got %s, %v", input, got, err)
			}
			if _, has := page.Results[0]["length"]; has {
				t.Errorf("the record shows what it is ordered by: %s", got)
			}
			ids = append(ids, page.Results[0]["id"].(string))
			if cursor = page.PageInfo[way.from].(string); page.PageInfo[way.more] != true {
				break
			}
		}
		if got := strings.Join(ids, " "); got != way.want {
			t.Errorf("%s: got %s, want %s", way.size, got, way.want)
		}
	}
}

// TestSelectOfWrites writes rows and selects from them: own files and those of related rows
// have their addresses, computed fields are right, and rules judge the writes as without.
func TestSelectOfWrites(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, map[string]string{"schema.stern": studio}))
	if _, err := a.db.Superuser(t).Exec(t.Context(), `
		insert into app.identity (id, email, issuer) values ('ada', 'ada@example.com', 'https://x'), ('bob', 'bob@example.com', 'https://x');
		insert into app.player (id, name, identity_id) values ('a', 'Ada', 'ada'), ('b', 'Bob', 'bob');
		insert into app.session (id, title, open, player_id) values ('c', 'closed', false, 'b')`); err != nil {
		t.Fatal(err)
	}
	const sleeve = "data:text/plain;name=a.txt;base64,YQ=="
	closed := func(title, player string) string {
		return `{"title":"` + title + `","open":false,"player":{"id":"` + player + `"},"takes":[],"notes":[]}`
	}
	for _, test := range []struct {
		identity, action, input string
		status                  int
		holds                   []string
	}{
		{"", "start", `{"title":"one","open":true,"sleeve":"` + sleeve + `","player":{"id":"a"},"takes":[{"number":1},{"number":2}],"notes":[{"text":"x","player":{"id":"b"}}]}`, 200,
			[]string{`"sleeve":{"`, `"url":"data:text/plain;name=a.txt`, `"player":{"id":"a","name":"Ada","portrait":null,"identityId":"ada"`, `"room":null`,
				`"number":1`, `"number":2`, `"player":{"id":"b","name":"Bob"`, `"minutes":2}`}},
		{"", "start", closed("two", "b"), 403, nil},
		{"ada", "start", closed("two", "b"), 403, nil},
		{"bob", "start", closed("two", "b"), 200, []string{`"player":{"id":"b"`, `"takes":[]`, `"minutes":0}`}},
		{"", "start", `{"title":"one","open":true,"takes":[],"notes":[]}`, 400, []string{"must be unique"}},
		{"ada", "retitle", `{"where":{"title":"closed"},"values":{"newTitle":"mine","player":{"id":"a"}}}`, 403, nil},
		{"bob", "retitle", `{"where":{"title":"closed"},"values":{"newTitle":"hers","player":{"id":"a"}}}`, 200, []string{`{"id":"c","title":"hers","player":{"id":"a","name":"Ada"`, `"takes":[]}`}},
		{"bob", "retitle", `{"where":{"title":"none"},"values":{"newTitle":"x"}}`, 404, nil},
		{"bob", "retitle", `{"where":{"title":"hers"},"values":{"newTitle":"x"}}`, 403, nil},
		{"", "retitle", `{"where":{"title":"one"},"values":{"newTitle":"first","player":null}}`, 200, []string{`"title":"first","player":null,"takes":[{"id":"`}},
	} {
		header := http.Header{}
		if test.identity != "" {
			header.Set("Authorization", "Bearer "+a.token(t, test.identity))
		}
		response, got := a.send(t, "POST", "/api/json/"+test.action, header, test.input)
		if response.StatusCode != test.status {
			t.Errorf("%s %s as %q: got %d %s, want %d", test.action, test.input, test.identity, response.StatusCode, got, test.status)
		}
		for _, part := range test.holds {
			if !strings.Contains(got, part) {
				t.Errorf("%s %s as %q: got %s, want %s in it", test.action, test.input, test.identity, got, part)
			}
		}
	}
}
