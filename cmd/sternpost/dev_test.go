package main_test

import (
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
)

// postgres is the running Postgres of a project.
type postgres struct {
	pid    int
	socket string
}

// postgresOf reads the file that a running Postgres keeps beside its data.
func postgresOf(t *testing.T, project string) postgres {
	t.Helper()
	name, err := anyLock(project)
	if err != nil || name == "" {
		t.Fatalf("no Postgres runs for %s (%v)", project, err)
	}
	lines := strings.Split(readFile(t, name), "\n")
	if len(lines) < 5 {
		t.Fatalf("%s has %d lines", name, len(lines))
	}
	pid, err := strconv.Atoi(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	return postgres{pid: pid, socket: filepath.Join(lines[4], ".s.PGSQL."+lines[3])}
}

// kill ends it like a system that is short of memory.
func (p postgres) kill(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// answers tells whether a server listens on the socket.
func (p postgres) answers() bool {
	conn, err := net.Dial("unix", p.socket)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// assertNoPostgres makes sure that the Postgres of a project has ended, or soon does.
func assertNoPostgres(t *testing.T, project string) {
	t.Helper()
	found := ""
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var err error
		if found, err = anyLock(project); err == nil && found == "" {
			return
		}
	}
	t.Errorf("Postgres still runs: there is %s", found)
}

// anyLock returns the lock file of a running Postgres below a folder.
func anyLock(project string) (string, error) {
	names, err := filepath.Glob(filepath.Join(project, ".sternpost", "*", "postmaster.pid"))
	if err != nil || len(names) == 0 {
		return "", err
	}
	return names[0], nil
}

// TestDev goes through the life of a project: it makes it, serves it, edits it, stops it
// and starts it again.
func TestDev(t *testing.T) {
	t.Parallel()
	t.Run("as the current user", func(t *testing.T) {
		t.Parallel()
		liveWithProject(t, openDir(t), nil)
	})
	if os.Getuid() != 0 {
		return // the current user is an ordinary one
	}
	t.Run("as an ordinary user", func(t *testing.T) {
		t.Parallel()
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		uid, err := strconv.Atoi(nobody.Uid)
		if err != nil {
			t.Fatal(err)
		}
		home := openDir(t)
		if err := os.Chown(home, uid, uid); err != nil {
			t.Fatal(err)
		}
		liveWithProject(t, home, &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)})
	})
}

func liveWithProject(t *testing.T, home string, as *syscall.Credential) {
	dir := filepath.Join(home, "shop")
	env := []string{"HOME=" + home}
	command{args: []string{"init", dir}, user: as, dir: home, env: env}.expect(t, 0, "")

	port := program.FreePort(t)
	api := "http://127.0.0.1:" + port + "/api/json/"
	dev := command{args: []string{"dev", "--port", port, dir}, user: as, dir: home, env: env}
	if as == nil {
		dev.dir = "" // in the checkout, which may hold the only Postgres there is
	}
	p := dev.start(t)
	at := p.Await(t, 0, "the database was empty; from seed/: 1 identity, 3 rows, 1 call")
	at = p.Await(t, at, "Sternpost serves "+dir)
	at = p.Await(t, at, "auth.password.signup: false")
	at = p.Await(t, at, "Ctrl-C stops everything")
	tryPrintedRequests(t, p.Out.String()[:at])

	awaitAnswer(t, "POST", api+"createTask", `{"title":"caulk the deck"}`, `"title":"caulk the deck"`)
	running := postgresOf(t, dir)
	if !running.answers() {
		t.Error("Postgres does not answer on its socket")
	}

	schema := filepath.Join(dir, "schema.stern")
	edit := func(old, new string) {
		t.Helper()
		text := readFile(t, schema)
		if !strings.Contains(text, old) {
			t.Fatalf("the schema has no %q:\n%s", old, text)
		}
		replaceFile(t, schema, strings.Replace(text, old, new, 1))
	}

	// An addition is served without a restart.
	edit("dueOn Date?", "dueOn Date?\n    place Text?")
	edit("(title?, state?, dueOn?)", "(title?, state?, dueOn?, place?)")
	at = p.Await(t, at, "release 2 installed")
	awaitAnswer(t, "POST", api+"createTask", `{"title":"tar the hull"}`, `"place":null`)

	// An error is shown at its place, and the earlier release is still served.
	good := readFile(t, schema)
	edit("place Text?", "place Txet?")
	at = p.Await(t, at, "schema.stern:7:11: ")
	at = p.Await(t, at, "the schema has errors")
	state := strings.TrimSuffix(api, "api/json/") + "docs/data/state"
	awaitAnswer(t, "POST", state, "{}", `{"release":2,"trouble":"schema.stern:7:11: `)
	awaitAnswer(t, "GET", api+"listTasks?limit=1", "", `"place":null`)
	replaceFile(t, schema, good)

	// A loss of data is refused and explained, and the earlier release is still served.
	lost := strings.Replace(good, "title Text\n", "", 1)
	lost = strings.Replace(lost, "with (title, dueOn?)", "with (dueOn?)", 1)
	replaceFile(t, schema, strings.Replace(lost, "(title?, state?", "(state?", 1))
	at = p.Await(t, at, "column app.task.title would be dropped with its values")
	at = p.Await(t, at, "still served")
	awaitAnswer(t, "GET", api+"listTasks?limit=1", "", `"place":null`)

	// After the fix, it goes on.
	replaceFile(t, schema, strings.Replace(good, "place Text?", "place Text?\n    done Boolean @default", 1))
	p.Await(t, at, "release 3 installed")
	awaitAnswer(t, "POST", state, "{}", `{"release":3,"trouble":""}`)
	awaitAnswer(t, "GET", api+"listTasks?limit=1", "", `"done":false`)

	// A field without values may be removed.
	edit("place Text?\n", "")
	edit(", place?)", ")")
	p.Await(t, at, "release 4 installed")

	// An action without code gets a first version of it, which can be written and fixed
	// while it is served.
	edit("read countTasks() returns (TaskCounts)", "read countTasks() returns (TaskCounts)\n    read tidyUp() returns (Any)")
	at = p.Await(t, at, "tidyUp.sql: complete the function in it")
	at = p.Await(t, at, "release 5 installed")
	awaitAnswer(t, "POST", api+"tidyUp", `{}`, `"code":"ERR_INTERNAL"`)
	awaitAnswer(t, "POST", api+"countTasks", `{}`, `"overdue":0`)
	code := filepath.Join(dir, "functions", "tidyUp.sql")
	replaceFile(t, code, "create function functions.tidy_up() returns jsonb\nlanguage sql\nstable\nas $$\n  selec '\"tidy\"';\n$$;\n")
	at = p.Await(t, at, "functions/tidyUp.sql:5:3: syntax error")
	at = p.Await(t, at, "has errors")
	replaceFile(t, code, "create function functions.tidy_up(day date) returns jsonb\nlanguage sql\nstable\nas $$\n  select '1'::jsonb;\n$$;\n")
	at = p.Await(t, at, "expected: create function functions.tidy_up() returns jsonb")
	replaceFile(t, code, "create function functions.tidy_up() returns jsonb\nlanguage sql\nstable\nas $$\n  select '\"tidy\"'::jsonb;\n$$;\n")
	p.Await(t, at, "release 6 installed")
	awaitAnswer(t, "POST", api+"tidyUp", `{}`, `"tidy"`)

	if err := p.End(t, os.Interrupt); err != nil {
		t.Errorf("after Ctrl-C: %v, want exit 0", err)
	}
	if running.answers() {
		t.Error("Postgres answers after Ctrl-C")
	}
	assertNoPostgres(t, dir)

	// Data and keys outlive a restart. Killed, it leaves no Postgres behind.
	p = dev.start(t)
	p.Await(t, 0, "Ctrl-C stops everything")
	awaitAnswer(t, "GET", api+"listTasks", "", "caulk the deck")
	running = postgresOf(t, dir)
	if err := p.End(t, syscall.SIGKILL); err == nil {
		t.Error("killed, it exits with 0")
	}
	assertNoPostgres(t, dir)
	if running.answers() {
		t.Error("Postgres answers although its parent was killed")
	}

	p = dev.start(t)
	p.Await(t, 0, "Ctrl-C stops everything")
	awaitAnswer(t, "GET", api+"listTasks", "", "caulk the deck")

	// A second one for the same project gets an error.
	second := dev
	second.args = []string{"dev", "--port", program.FreePort(t), dir}
	second.expect(t, exitEnvironment, "in use")
	awaitAnswer(t, "GET", api+"listTasks", "", "caulk the deck")
	if err := p.End(t, syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v, want exit 0", err)
	}
	assertNoPostgres(t, dir)

	// Without its Postgres it ends too, and says so.
	p = dev.start(t)
	at = p.Await(t, 0, "Ctrl-C stops everything")
	postgresOf(t, dir).kill(t)
	p.Await(t, at, "sternpost: the database stopped, and its data is kept: start sternpost dev again")
	if err := p.End(t, syscall.SIGCONT); err == nil || p.Command.ProcessState.ExitCode() != exitEnvironment {
		t.Errorf("after the end of its Postgres: %v, want exit %d", err, exitEnvironment)
	}
}

// printedRequest is a request that dev prints for trying.
var printedRequest = regexp.MustCompile(`(?m)^  # (.*)\n  (curl .*)$`)

// tryPrintedRequests runs the requests that dev has printed, unchanged.
func tryPrintedRequests(t *testing.T, printed string) {
	t.Helper()
	requests := printedRequest.FindAllStringSubmatch(printed, -1)
	if len(requests) != 3 {
		t.Fatalf("dev prints %d requests, want 3:\n%s", len(requests), printed)
	}
	for i, want := range []struct{ title, status, body string }{
		{"make a record with ", "200", `^\{"id":"[^"]+",.*"createdAt":"[^"]+","updatedAt":"[^"]+"\}$`},
		{"read a page with ", "200", `^\{"results":\[\{"id":.*"count":[1-9]\d*\}\}$`},
		{"see what an error looks like", "400", `^\{"code":"ERR_INVALID_INPUT","message":"one or more errors found validating request object",` +
			`"data":\{"errors":\[\{"field":"first","code":"minimum","params":{"limit":1},"error":"Must be greater than or equal to 1"\}\]\}\}$`},
	} {
		title, shell := requests[i][1], requests[i][2]
		if !strings.HasPrefix(title, want.title) {
			t.Errorf("request %d: got the title %q, want %q", i+1, title, want.title)
		}
		// A function in place of curl, so that the printed line stays unchanged.
		script := `curl() { command curl --silent --show-error --write-out '\n%{http_code}' "$@"; }; ` + shell
		out, err := exec.Command("sh", "-c", script).CombinedOutput()
		body, status, _ := strings.Cut(string(out), "\n")
		if err != nil || status != want.status || !regexp.MustCompile(want.body).MatchString(body) {
			t.Errorf("%s\n  got  %s %s (%v)\n  want %s %s", shell, status, body, err, want.status, want.body)
		}
	}
}

// TestDevWorkshop serves the example app as make run does.
func TestDevWorkshop(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"workshop.stern": readFile(t, filepath.Join(workshop(t), "workshop.stern"))})
	p := command{args: []string{"dev", "--port", program.FreePort(t), dir}}.start(t)
	at := p.Await(t, 0, "Ctrl-C stops everything")
	tryPrintedRequests(t, p.Out.String()[:at])
	if err := p.End(t, os.Interrupt); err != nil {
		t.Errorf("after Ctrl-C: %v, want exit 0", err)
	}
	assertNoPostgres(t, dir)
}

// TestDevBeginsBroken starts with a schema that has errors: they are shown, nothing is
// served, and after the fix everything goes on.
func TestDevBeginsBroken(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": strings.Replace(noteSchema, "Text", "Txet", 1)})
	port := program.FreePort(t)
	p := command{args: []string{"dev", "--port", port, dir}}.start(t)
	at := p.Await(t, 0, "schema.stern:3:10: ")
	p.Await(t, at, `do="correct the errors that sternpost dev shows, and save the file; this server waits for the release"`)
	at = p.Await(t, at, "nothing is installed yet: dev waits for a change in "+dir)
	awaitAnswer(t, "GET", "http://127.0.0.1:"+port+"/readyz", "", `"reason":"schema"`)
	replaceFile(t, filepath.Join(dir, "schema.stern"), noteSchema)
	at = p.Await(t, at, "release 1 installed")
	p.Await(t, at, "Sternpost serves "+dir)
	awaitAnswer(t, "POST", "http://127.0.0.1:"+port+"/api/json/createNote", `{"text":"a"}`, `"text":"a"`)

	// A file may come, or go.
	replaceFile(t, filepath.Join(dir, "more.stern"), strings.ReplaceAll(noteSchema, "Note", "Leaf"))
	at = p.Await(t, at, "release 2 installed")
	awaitAnswer(t, "POST", "http://127.0.0.1:"+port+"/api/json/createLeaf", `{"text":"a"}`, `"text":"a"`)
	if err := os.Remove(filepath.Join(dir, "more.stern")); err != nil {
		t.Fatal(err)
	}
	at = p.Await(t, at, "table app.leaf would be dropped with all its rows")

	p.Await(t, at, "sternpost dev --allow drop:leaf "+dir)
	if err := p.End(t, os.Interrupt); err != nil {
		t.Errorf("after Ctrl-C: %v, want exit 0", err)
	}
	command{args: []string{"reset", "--yes", dir}}.expect(t, 0, "")
	p = command{args: []string{"dev", "--port", port, dir}}.start(t)
	p.Await(t, 0, "release 1 installed")
	awaitAnswer(t, "GET", "http://127.0.0.1:"+port+"/api/json/listNotes", "", `"count":0`)
}

// TestDevOnGivenDatabase uses a given database, and starts none.
func TestDevOnGivenDatabase(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": noteSchema})
	db := pgtest.New(t, pgtest.Options{Empty: true})
	port := program.FreePort(t)
	p := command{args: []string{"dev", "--port", port, dir}, env: []string{"DATABASE_URL=" + db.OwnerURL()}}.start(t)
	p.Await(t, 0, "Ctrl-C stops everything")
	awaitAnswer(t, "POST", "http://127.0.0.1:"+port+"/api/json/createNote", `{"text":"a"}`, `"text":"a"`)
	if found, err := anyLock(dir); err != nil || found != "" {
		t.Errorf("a Postgres was started beside the given one: %s (%v)", found, err)
	}
	if err := p.End(t, os.Interrupt); err != nil {
		t.Errorf("after Ctrl-C: %v, want exit 0", err)
	}
}

// TestDevWithoutProject names a missing folder.
func TestDevWithoutProject(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	command{args: []string{"dev", missing}}.expect(t, exitEnvironment, "missing")
	if _, err := os.Stat(missing); err == nil {
		t.Error("the folder was made")
	}
}
