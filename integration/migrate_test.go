package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/migrate"
)

// nextMigration writes the migration to the project as it is now.
func nextMigration(t *testing.T, dir, name string, o migrate.PlanOptions) {
	t.Helper()
	compiled, err := compile(dir)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := migrate.ReadFolder(dir)
	if err == nil {
		_, err = migrate.New(folder, name, compiled.Release(), o)
	}
	if err != nil {
		t.Fatalf("migrate new %s: %v", name, err)
	}
}

// up applies the migrations of a project.
func up(ctx context.Context, dir, url string, o migrate.UpOptions) error {
	folder, err := migrate.ReadFolder(dir)
	if err != nil {
		return err
	}
	o.URL = url
	_, err = migrate.Up(ctx, folder, o)
	return err
}

// migratedDatabase makes a database by the migrations of a project, which tern's own
// command line applies.
func migratedDatabase(t *testing.T, dir string) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{}) // a server's login may connect to it
	clear := "drop schema platform, app, related, functions, api cascade; alter default privileges grant execute on functions to public"
	if _, err := db.Owner(t).Exec(t.Context(), clear); err != nil {
		t.Fatal(err)
	}
	tern := exec.CommandContext(t.Context(), "go", "tool", "tern", "migrate", "--conn-string", db.OwnerURL(), "-m", filepath.Join(dir, migrate.DirName))
	if out, err := tern.CombinedOutput(); err != nil {
		t.Fatalf("tern: %v\n%s", err, out[max(0, len(out)-3000):])
	}
	return db
}

// liveSchema has models whose fields may change while clients use the text.
func liveSchema(fields, rest string) string {
	return "model Note {\n  fields {\n    text Text\n" + fields + "\n  }\n  actions {\n    create createNote() with (text)\n    get getNote(id)\n" +
		"    list listNotes()\n    update changeNote(id) with (text)\n  }\n" +
		"  @permission(expression: true, actions: [create, get, list, update])\n}\n" + rest
}

// load sends requests to servers until it is stopped. Each must be answered as if nothing
// happened meanwhile.
type load struct {
	apps  []*app
	stop  atomic.Bool
	count atomic.Int64
	group sync.WaitGroup

	mu      sync.Mutex
	faults  []string
	last    time.Time
	silence time.Duration // the longest between two answers
}

// newLoad makes a load that checks the answers itself: while a server switches over, an
// answer may be that of the next release.
func newLoad(apps ...*app) *load {
	for _, a := range apps {
		a.client.Transport = watch.Transport(&http.Transport{MaxIdleConnsPerHost: 100})
	}
	return &load{apps: apps}
}

// begin starts some clients, each with a server and rows of its own.
func (l *load) begin(ctx context.Context, clients int) {
	for client := range clients {
		l.group.Go(func() {
			a := l.apps[client%len(l.apps)]
			for n := 0; !l.stop.Load(); n++ {
				l.turn(ctx, a, fmt.Sprintf("%d of %d", n, client))
			}
		})
	}
}

// turn makes a note, reads it, changes it and looks for it in the list.
func (l *load) turn(ctx context.Context, a *app, text string) {
	made := l.call(ctx, a, "createNote", `{"text":"`+text+`"}`)
	if made["text"] != text {
		l.fault("createNote of %q answers %v", text, made)
		return
	}
	id := fmt.Sprint(made["id"])
	if got := l.call(ctx, a, "getNote", `{"id":"`+id+`"}`); got["text"] != text || got["id"] != id {
		l.fault("getNote of %q answers %v", text, got)
	}
	if got := l.call(ctx, a, "changeNote", `{"where":{"id":"`+id+`"},"values":{"text":"`+text+`!"}}`); got["text"] != text+"!" {
		l.fault("changeNote of %q answers %v", text, got)
	}
	listed := l.call(ctx, a, "listNotes", `{"last":1}`)
	if results, ok := listed["results"].([]any); !ok || len(results) != 1 {
		l.fault("listNotes answers %v", listed)
	}
}

func (l *load) call(ctx context.Context, a *app, action, body string) map[string]any {
	l.count.Add(1)
	response, text, err := a.try(ctx, "POST", "/api/json/"+action, nil, body)
	var got map[string]any
	l.hear()
	if err == nil && response.StatusCode == 200 {
		err = json.Unmarshal([]byte(text), &got)
	} else if err == nil {
		err = fmt.Errorf("%d %s", response.StatusCode, text)
	}
	if err != nil {
		l.fault("%s %s: %v", action, body, err)
	}
	return got
}

// hear notes an answer.
func (l *load) hear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.last.IsZero() {
		l.last = now
	} else {
		l.silence, l.last = max(l.silence, now.Sub(l.last)), now
	}
}

func (l *load) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// await waits until some more requests have been answered.
func (l *load) await(t *testing.T, more int64) {
	t.Helper()
	for from, deadline := l.count.Load(), time.Now().Add(time.Minute); l.count.Load() < from+more; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d requests were answered in a minute", l.count.Load()-from)
		}
	}
}

func (l *load) end(t *testing.T) {
	t.Helper()
	l.stop.Store(true)
	l.group.Wait()
	t.Logf("%d requests were sent", l.count.Load())
	if len(l.faults) > 0 {
		t.Errorf("%d of %d requests failed; the first:\n%s", len(l.faults), l.count.Load(), strings.Join(l.faults[:min(10, len(l.faults))], "\n"))
	}
}

// TestMigrateBesideCalls renames a field, and changes types, beside calls that lock the tables and views of both models
// in other orders than the migration changes them. No call ends in a deadlock, and none is refused.
func TestMigrateBesideCalls(t *testing.T) {
	t.Parallel()
	schema := func(field, words string) string {
		return "model Book {\n  fields {\n    name Text @default(\"b\")\n    notes Note[]\n    " + words + "\n  }\n}\n" +
			strings.Replace(liveSchema("    book Book?\n    "+field, ""), "expression: true", "expression: note.book == null || note.book.name == \"b\"", 1)
	}
	dir := writeProject(t, map[string]string{"schema.stern": schema("label Text?", "count Number @computed(COUNT(book.notes))")})
	nextMigration(t, dir, "first", migrate.PlanOptions{})
	db := migratedDatabase(t, dir)
	l := newLoad(serve(t, db, dir, db.ServerURL()))
	l.begin(t.Context(), 8)
	defer l.end(t)
	l.await(t, 100)
	for i, fields := range [][2]string{
		{"title Text? @renamed(from: label)", "count Number @computed(COUNT(book.notes))"},
		{"title Text?\n    size Number @default(3)", "count Number @computed(COUNT(book.notes))\n    label Text?"},
		{"title Text?\n    size Decimal @default(3)", "count Number @computed(COUNT(book.notes) + 1)\n    label Text?"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "schema.stern"), []byte(schema(fields[0], fields[1])), 0o600); err != nil {
			t.Fatal(err)
		}
		nextMigration(t, dir, fmt.Sprintf("step_%d", i), migrate.PlanOptions{})
		if err := up(t.Context(), dir, db.OwnerURL(), migrate.UpOptions{Say: func(line string) { t.Log(line) }}); err != nil {
			t.Fatal(err)
		}
		l.await(t, 100)
	}
	var deadlocks int
	if err := db.Superuser(t).QueryRow(t.Context(), "select deadlocks from pg_stat_database where datname = current_database()").Scan(&deadlocks); err != nil || deadlocks > 0 {
		t.Errorf("%d deadlocks (%v)", deadlocks, err)
	}
	t.Logf("the longest silence was %v", l.silence)
}

// TestMigrateUnderLoad migrates below two servers that answer requests: fields come, are
// renamed, get another type and go. No request fails, and none is answered wrongly.
func TestMigrateUnderLoad(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": liveSchema("    label Text?\n    count Number @default(1)", "")})
	nextMigration(t, dir, "first", migrate.PlanOptions{})
	db := migratedDatabase(t, dir)
	l := newLoad(serve(t, db, dir, db.ServerURL()), serve(t, db, dir, db.ServerURL()))
	l.begin(t.Context(), 6)
	defer l.end(t)
	l.await(t, 50)

	tag := "model Tag {\n  fields {\n    name Text @unique\n  }\n}\n"
	for i, step := range []struct {
		schema string
		allow  []string
	}{
		{liveSchema("    label Text?\n    count Number @default(1)\n    colour Text? @index\n    size Number @default(3) @index\n    tag Tag?", tag), nil},
		{liveSchema("    title Text? @renamed(from: label)\n    count Number @default(1)\n    colour Text? @index\n    size Number @default(3) @index\n    tag Tag?", tag), nil},
		{liveSchema("    title Text?\n    count Text @default(\"1\")\n    colour Text? @index\n    size Number @default(3)\n    tag Tag?", tag), nil},
		{liveSchema("", ""), []string{"drop:note.title", "drop:note.count", "drop:note.colour", "drop:note.size", "drop:note.tag_id", "drop:tag"}},
	} {
		if err := os.WriteFile(filepath.Join(dir, "schema.stern"), []byte(step.schema), 0o600); err != nil {
			t.Fatal(err)
		}
		nextMigration(t, dir, fmt.Sprintf("step_%d", i), migrate.PlanOptions{Allow: step.allow})
		if err := up(t.Context(), dir, db.OwnerURL(), migrate.UpOptions{LockTimeout: 500 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		l.await(t, 50)
	}
}

// TestMigrateBehindALongTransaction lets a migration wait for a transaction that stays
// open. Later requests still go on, and the migration is applied as soon as possible.
func TestMigrateBehindALongTransaction(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": liveSchema("    label Text?", "")})
	nextMigration(t, dir, "first", migrate.PlanOptions{})
	db := migratedDatabase(t, dir)
	l := newLoad(serve(t, db, dir, db.ServerURL()))
	l.begin(t.Context(), 4)
	defer l.end(t)
	l.await(t, 20)

	report := db.Owner(t) // reads for long
	if _, err := report.Exec(t.Context(), "begin; select count(*) from app.note"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "schema.stern"), []byte(liveSchema("    title Text? @renamed(from: label)", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	nextMigration(t, dir, "second", migrate.PlanOptions{})
	tries := make(chan string, 1000)
	ended := make(chan error, 1)
	go func() {
		ended <- up(t.Context(), dir, db.OwnerURL(), migrate.UpOptions{
			LockTimeout: 100 * time.Millisecond,
			Say: func(line string) {
				if strings.Contains(line, "is tried again") {
					tries <- line
				}
			},
		})
	}()
	for range 3 {
		select {
		case line := <-tries:
			if !strings.Contains(line, "has been in a transaction") && !strings.Contains(line, "it did not get a lock") {
				t.Errorf("it says %q", line)
			}
		case err := <-ended:
			t.Fatalf("it ended while the table was in use: %v", err)
		}
		l.await(t, 20)
	}
	if _, err := report.Exec(t.Context(), "commit"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	l.await(t, 20)
}
