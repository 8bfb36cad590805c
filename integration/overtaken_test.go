package integration

import (
	"strings"
	"testing"
	"time"
)

// TestChangedTable changes a table while a call waits for it: the call is answered, although no release has come.
func TestChangedTable(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": `
model Note {
  fields { text Text }
  actions { create addNote() with (text)  update editNote(id) with (text) }
  @permission(expression: true, actions: [create, update])
}
`})
	db := installApp(t, dir)
	a := serve(t, db, dir, db.ServerURL())
	conn, looker := db.Superuser(t), db.Superuser(t)
	if _, err := conn.Exec(t.Context(), `insert into app.note (id, text) values ('n', 'a')`); err != nil {
		t.Fatal(err)
	}
	for i, call := range [][2]string{{"addNote", `{"text":"b"}`}, {"editNote", `{"where":{"id":"n"},"values":{"text":"c"}}`}} {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `alter table app.note add column later_`+call[0]+` text`); err != nil {
			t.Fatal(err)
		}
		answered := make(chan string, 1)
		go func() {
			response, text, err := a.try(t.Context(), "POST", "/api/json/"+call[0], nil, call[1])
			if err != nil {
				text = err.Error()
			} else {
				text = response.Status + " " + text
			}
			answered <- text
		}()
		for waits, tries := 0, 0; waits == 0; time.Sleep(5 * time.Millisecond) {
			if tries++; tries > 2000 {
				t.Fatal("the call does not wait for the table")
			}
			if err := looker.QueryRow(t.Context(), `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`).Scan(&waits); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := <-answered; !strings.HasPrefix(got, "200 ") {
			t.Errorf("call %d: got %s", i, got)
		}
	}
}
