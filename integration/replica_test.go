//go:build unix

package integration

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// diary is an app whose callers see only some rows, so that reads evaluate a rule.
const diary = `
model Page {
  fields { text Text  owner Identity }
  actions {
    create createPage() with (text) { @set(page.owner = ctx.identity) }
    get getPage(id)
    list listPages()
  }
  @permission(expression: ctx.isAuthenticated, actions: [create, get, list])
}
`

// copies is a primary with replicas and an app, and the watch over the target of reads.
type copies struct {
	*pair
	a, b *app // two servers of it
}

// newCopies serves an app from a primary and one replica, by two servers.
func newCopies(t *testing.T) *copies {
	t.Helper()
	c := &copies{pair: &pair{primary: pgtest.NewNode(t), dir: writeProject(t, map[string]string{"schema.stern": diary})}}
	c.db = c.primary.New(t, appOptions(c.dir))
	c.standby = c.primary.Replica(t, "standby")
	c.a = c.serve(t, c.db.ServerURL(), c.db.At(c.standby).ServerURL(), "60")
	c.b = c.serve(t, c.db.ServerURL(), c.db.At(c.standby).ServerURL(), "60")
	return c
}

// The log messages of a server when a replica comes and goes.
const (
	isUsed    = `msg="reads go to the replica"`
	isLeftOut = `msg="reads do not go to the replica"`
)

// serve serves the app by one more server. It reads from replicas with at most so many
// seconds of lag.
func (c *copies) serve(t *testing.T, url, readURL, lag string) *app {
	t.Helper()
	a := serveWith(t, c.db, c.dir, url, serving{env: []string{"DATABASE_READ_URL=" + readURL, "STERNPOST_DATABASE_READ_LAG=" + lag}})
	c.awaitLog(t, a, 0, isUsed)
	return a
}

// awaitLog waits until a server has logged a text after a place in its log, and returns
// the end of that text.
func (c *copies) awaitLog(t *testing.T, a *app, after int, said string) int {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		text := a.log.String()
		if at := strings.Index(text[after:], said); at >= 0 {
			return after + at + len(said)
		}
	}
	t.Fatalf("the log does not say %q:\n%s", said, a.log.String()[after:])
	return 0
}

// until waits until a condition holds.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute it is not so that %s", what)
		}
	}
}

// as is the header of a caller, with further fields.
func (a *app) as(t *testing.T, identity string, more ...string) http.Header {
	t.Helper()
	header := http.Header{}
	if identity != "" {
		header.Set("Authorization", "Bearer "+a.token(t, identity))
	}
	for i := 0; i < len(more); i += 2 {
		header.Set(more[i], more[i+1])
	}
	return header
}

// write writes a page, and returns the position that the answer names.
func (c *copies) write(t *testing.T, a *app, identity, text string) (position string) {
	t.Helper()
	response, got := a.send(t, "POST", "/api/json/createPage", a.as(t, identity), fmt.Sprintf(`{"text":%q}`, text))
	position = response.Header.Get("Sternpost-Position")
	if response.StatusCode != 200 || position == "" {
		t.Fatalf("write %s: got %d %s, position %q", text, response.StatusCode, got, position)
	}
	return position
}

// sees tells whether a caller sees a page.
func (c *copies) sees(t *testing.T, a *app, header http.Header, text string) bool {
	t.Helper()
	response, got := a.send(t, "POST", "/api/json/listPages", header, `{"first":1000}`)
	if response.StatusCode != 200 {
		t.Fatalf("list: got %d %s", response.StatusCode, got)
	}
	return strings.Contains(got, fmt.Sprintf("%q", text))
}

// pause stops the replay of the replica, or lets it go on.
func (c *copies) pause(t *testing.T, isPaused bool) {
	t.Helper()
	if !isPaused {
		c.standby.Exec(t, "select pg_wal_replay_resume()")
		return
	}
	c.standby.Exec(t, "select pg_wal_replay_pause()")
	state, conn := "", c.standby.Superuser(t)
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline) && state != "paused"; time.Sleep(5 * time.Millisecond) {
		if err := conn.QueryRow(t.Context(), "select pg_get_wal_replay_pause_state()").Scan(&state); err != nil {
			t.Fatal(err)
		}
	}
	if state != "paused" {
		t.Fatalf("the replay is %s, want paused", state)
	}
}

// answeredBy counts the reads that the primary, or the replica, has answered.
func (a *app) answeredBy(t *testing.T, database string) int {
	t.Helper()
	return a.metric(t, fmt.Sprintf("sternpost_reads_total{database=%q} ", database))
}

// metric returns the number behind a text in the server's metrics, 0 if there is none.
func (a *app) metric(t *testing.T, text string) int {
	t.Helper()
	response, err := http.Get(a.admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(all), text)
	line, _, _ := strings.Cut(after, "\n")
	count, _ := strconv.Atoi(line)
	return count
}

// TestReadYourWrites pauses the replay of a replica. A writer reads its writes on each
// server, with or without the header. Other callers may read older rows, until the replica
// is too far behind.
func TestReadYourWrites(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	for _, identity := range []string{"ada", "bob", "eve"} {
		c.a.token(t, identity)
	}
	c.write(t, c.a, "ada", "first")
	c.standby.AwaitReplay(t, c.primary)
	near := c.serve(t, c.db.ServerURL(), c.db.At(c.standby).ServerURL(), "0.5")

	c.pause(t, true)
	position := c.write(t, c.a, "ada", "second")
	for _, test := range []struct {
		name   string
		at     *app
		header http.Header
		sees   bool
	}{
		{"the writer, on the same server", c.a, c.a.as(t, "ada"), true},
		{"the writer, on another server", c.b, c.b.as(t, "ada"), true},
		{"somebody else", c.a, c.a.as(t, "bob"), false},
		{"somebody else, on another server", c.b, c.b.as(t, "bob"), false},
		{"somebody else who was told of it", c.b, c.b.as(t, "bob", "Sternpost-Position", position), true},
		{"the writer, who asks for less", c.b, c.b.as(t, "ada", "Sternpost-Position", "0/1"), false},
	} {
		if got := c.sees(t, test.at, test.header, "second"); got != test.sees {
			t.Errorf("%s: sees it %t, want %t", test.name, got, test.sees)
		}
	}
	response, got := c.a.send(t, "POST", "/api/json/listPages", c.a.as(t, "bob", "Sternpost-Position", "here"), `{}`)
	if response.StatusCode != 400 || !strings.Contains(got, "ERR_INPUT_MALFORMED") {
		t.Errorf("a position that is none: got %d %s", response.StatusCode, got)
	}

	// No caller reads from a replica that is too far behind.
	near.awaitSee(t, c, "bob", "second")
	if c.sees(t, c.a, c.a.as(t, "bob"), "second") {
		t.Error("the replay was not paused all the time")
	}
	c.pause(t, false)
	c.a.awaitSee(t, c, "bob", "second")
	// Then the replica answers again: first the other caller, then the writer.
	for _, identity := range []string{"bob", "ada"} {
		until(t, "the replica answers "+identity, func() bool {
			before := c.a.answeredBy(t, "replica")
			c.sees(t, c.a, c.a.as(t, identity), "second")
			return c.a.answeredBy(t, "replica") > before
		})
	}
}

// awaitSee waits until a caller sees a page.
func (a *app) awaitSee(t *testing.T, c *copies, identity, text string) {
	t.Helper()
	until(t, identity+" sees it", func() bool { return c.sees(t, a, a.as(t, identity), text) })
}

// TestNewIdentity lets a caller read who is too new for the replica.
func TestNewIdentity(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	c.pause(t, true)
	if c.sees(t, c.a, c.a.as(t, "new"), "nothing") {
		t.Error("there is nothing to see")
	}
}

// TestReplicaAway freezes a replica and kills it. Reads go to the primary, and back to the
// replica after its return.
func TestReplicaAway(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	c.write(t, c.a, "ada", "first")
	header := c.a.as(t, "bob")
	c.standby.Freeze(t)
	for range 3 { // the first may wait until the server gives the replica up
		if !c.sees(t, c.a, header, "first") {
			t.Error("the primary does not show what was written")
		}
	}
	said := c.awaitLog(t, c.a, 0, isLeftOut)
	c.standby.Thaw(t)
	said = c.awaitLog(t, c.a, said, isUsed)

	c.standby.Kill(t)
	for range 20 {
		if !c.sees(t, c.a, header, "first") {
			t.Error("the primary does not show what was written")
		}
	}
	c.standby.Start(t)
	c.awaitLog(t, c.a, said, isUsed)
	if !c.sees(t, c.a, header, "first") {
		t.Error("the replica does not show what was written")
	}
}

// TestPromotionOfReplica names both servers in both URLs, so that reads go to the one that
// is a replica. The replica is promoted; the old primary comes back as its replica.
func TestPromotionOfReplica(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	both := pgtest.Together(c.db.LoginURL(), c.db.At(c.standby).LoginURL())
	a := c.serve(t, both, both, "60")
	position := c.write(t, a, "ada", "first")
	c.standby.AwaitReplay(t, c.primary)
	c.primary.Kill(t)
	// Without a primary, known identities can still read.
	header := a.issued(t, "ada", "Sternpost-Position", position)
	response, got := a.send(t, "POST", "/api/json/listPages", header, `{}`)
	for try := 0; try < 500 && response.StatusCode == 503; try++ { // how far the replica is, the server asks now and then
		time.Sleep(20 * time.Millisecond)
		response, got = a.send(t, "POST", "/api/json/listPages", header, `{}`)
	}
	if response.StatusCode != 200 || !strings.Contains(got, "first") {
		t.Errorf("a read without a primary: got %d %s", response.StatusCode, got)
	}
	c.standby.Promote(t)
	a.db = c.db.At(c.standby)
	a.awaitWrite(t, "/api/json/createPage", a.issued(t, "ada"), `{"text":"second"}`)
	if !c.sees(t, a, a.issued(t, "ada"), "second") {
		t.Error("after the promotion the writer does not see what was written")
	}
	again := c.standby.Replica(t, "again")
	d := c.serve(t, c.db.At(c.standby).ServerURL(), c.db.At(again).ServerURL(), "60")
	if !c.sees(t, d, d.issued(t, "ada"), "second") {
		t.Error("the new replica does not show what was written")
	}
}

// issued is as for an existing identity.
func (a *app) issued(t *testing.T, identity string, more ...string) http.Header {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + issue(t, a.signer, identity)}}
	for i := 0; i < len(more); i += 2 {
		header.Set(more[i], more[i+1])
	}
	return header
}

// awaitWrite sends a write until it is carried out.
func (a *app) awaitWrite(t *testing.T, path string, header http.Header, body string) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var response *http.Response
		if response, got = a.send(t, "POST", path, header, body); response.StatusCode == 200 {
			return
		}
	}
	t.Fatalf("POST %s: got %s", path, got)
}

// TestReleaseBeforeReplica installs a release that the replica does not have yet.
func TestReleaseBeforeReplica(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	c.write(t, c.a, "ada", "first")
	c.standby.AwaitReplay(t, c.primary)
	c.pause(t, true)
	edit(t, c.dir, "list listPages()", "list listPages()\n    list allPages()")
	reinstall(t, c.db, c.dir)
	header := c.a.as(t, "ada")
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		response, got := c.a.send(t, "POST", "/api/json/allPages", header, `{}`)
		if response.StatusCode == 200 {
			break
		}
		if response.StatusCode != 404 || time.Now().After(deadline) {
			t.Fatalf("an action of a new release: got %d %s", response.StatusCode, got)
		}
	}
	if !c.sees(t, c.a, header, "first") {
		t.Error("what was written is not shown")
	}
}

// TestOneWayToOneReplica lets the name of a replica lead to another server than the watched
// one, as that of a load balancer does: no caller reads older rows.
func TestOneWayToOneReplica(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	other := c.primary.Replica(t, "other")
	name := newLine(t, c.db.At(c.standby).ServerURL())
	a := c.serve(t, c.db.ServerURL(), name.url, "60")
	c.write(t, a, "ada", "before") // ada now exists there
	other.AwaitReplay(t, c.primary)
	other.Exec(t, "select pg_wal_replay_pause()")
	name.lead(t, c.db.At(other).ServerURL()) // new connections, while the watched one stays
	position := c.write(t, a, "ada", "first")
	c.standby.AwaitReplay(t, c.primary)
	for range 20 {
		if !c.sees(t, a, a.issued(t, "ada", "Sternpost-Position", position), "first") {
			t.Fatal("a replica answers that is not the one that is watched")
		}
		time.Sleep(20 * time.Millisecond)
	}
}
