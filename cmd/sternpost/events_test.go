package main_test

import (
	"strings"
	"testing"
)

// TestEventsCommand lists events of subscribers and mends them, as the owner and with the login of a server.
func TestEventsCommand(t *testing.T) {
	t.Parallel()
	schema := strings.Replace(noteSchema, "  @permission", "  @on([create], tellShop)\n  @permission", 1)
	db := built(t, files(t, map[string]string{"schema.stern": schema}))
	_, err := db.Superuser(t).Exec(t.Context(), `
		insert into app.note (id, text) values ('a', 'one'), ('b', 'two');
		insert into platform.task (kind, name, key, payload, attempts, failed_at, failure) values
			('delivery', 'tellShop', 'x', '{"event": {"id": "1", "eventName": "note.created", "target": {"id": "x"}}, "depth": 0}', 12, now(), E'answered 500:\n closed'),
			('delivery', 'tellShop', 'y', '{"event": {"id": "2", "eventName": "note.created", "target": {"id": "y"}}, "depth": 0}', 12, now(), 'answered 503:');
		update platform.consumer set stopped_at = now()`)
	if err != nil {
		t.Fatal(err)
	}
	events := func(code int, want string, args ...string) {
		t.Helper()
		for _, url := range []string{db.OwnerURL(), db.ServerURL()} {
			if code == 0 && url == db.ServerURL() && args[0] != "list" {
				continue // it is done
			}
			stdout, stderr, got := command{args: append([]string{"events"}, args...), dir: t.TempDir(), env: []string{"DATABASE_URL=" + url}}.run(t)
			if said := strings.Join(strings.Fields(stdout+stderr), " "); got != code || !strings.Contains(said, want) {
				t.Errorf("events %v\n got exit %d\n%s\nwant exit %d, %s", args, got, said, code, want)
			}
		}
	}
	events(0, "tellShop stopped 2 ", "list")
	events(0, "1 tellShop note.created x 12 dead answered 500: closed", "list")
	events(0, "1: 1 told again", "retry", "1")
	events(0, "tellShop: 1 skipped", "skip", "tellShop")
	events(1, "99 is not an event that waits or was given up", "retry", "99")
	events(0, "tellShop goes on", "resume", "tellShop")
	events(1, "tellShop is not a webhook that is stopped", "resume", "tellShop")
	events(0, "tellShop webhook 2 ", "list")
	events(2, "--since is required", "replay", "tellShop")
	events(2, "--since is required", "replay", "tellShop", "--since", "soon")
	events(1, "there is no subscriber tellWarehouse", "replay", "tellWarehouse", "--since", "3d")
	events(0, "tellShop: 0 events since 2026-01-02T03:04:05Z", "replay", "tellShop", "--since", "2026-01-02T03:04:05Z")
	events(2, "an argument is missing", "skip")
}
