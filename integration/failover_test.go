//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/doctor"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen/migrate"
)

// pair is a primary with a standby that follows it, and a database with an app.
type pair struct {
	primary, standby *pgtest.Node
	db               *pgtest.DB
	dir              string
}

// newPair makes a pair. In a synchronous pair the primary confirms a commit only if the
// standby has it.
func newPair(t *testing.T, isSynchronous bool) *pair {
	t.Helper()
	p := &pair{primary: pgtest.NewNode(t), dir: writeProject(t, map[string]string{"schema.stern": notes})}
	p.db = p.primary.New(t, appOptions(p.dir))
	p.standby = p.primary.Replica(t, "standby")
	if isSynchronous {
		p.primary.Exec(t, "alter system set synchronous_standby_names = 'standby'")
		p.primary.Exec(t, "select pg_reload_conf()")
	}
	return p
}

// outcomes are the answers that clients got to their writes, by the text that they wrote.
type outcomes struct {
	mu      sync.Mutex
	told    map[string]string // acknowledged, unknown or refused
	other   []string          // answers that nobody foresaw
	count   map[string]int
	lastAck time.Time
}

const (
	acknowledged = "acknowledged"
	unknown      = "unknown"
	refused      = "refused"
)

func newOutcomes() *outcomes { return &outcomes{told: map[string]string{}, count: map[string]int{}} }

// write sends writes one after the other, until stop is closed.
func (o *outcomes) write(t *testing.T, a *app, writer int, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		text := fmt.Sprintf("%d of %d", n, writer)
		response, answer, err := a.try(t.Context(), "POST", "/api/json/createNote", nil, fmt.Sprintf(`{"text":%q}`, text))
		if err != nil {
			o.note(text, "", err.Error())
			return
		}
		var refusal struct{ Code string }
		_ = json.Unmarshal([]byte(answer), &refusal)
		switch {
		case response.StatusCode == 200:
			o.note(text, acknowledged, "")
		case refusal.Code == "ERR_OUTCOME_UNKNOWN":
			o.note(text, unknown, "")
		case refusal.Code == "ERR_UNAVAILABLE":
			o.note(text, refused, "")
			time.Sleep(10 * time.Millisecond)
		default:
			o.note(text, "", answer)
		}
	}
}

func (o *outcomes) note(text, told, other string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if told == "" {
		o.other = append(o.other, other)
		return
	}
	o.told[text] = told
	o.count[told]++
	if told == acknowledged {
		o.lastAck = time.Now()
	}
}

// awaitMore waits until so many more writes were acknowledged, and returns after how long
// the first was.
func (o *outcomes) awaitMore(t *testing.T, more int) time.Duration {
	t.Helper()
	began := time.Now()
	o.mu.Lock()
	before := o.count[acknowledged]
	o.mu.Unlock()
	var first time.Duration
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		o.mu.Lock()
		now := o.count[acknowledged]
		o.mu.Unlock()
		if now > before && first == 0 {
			first = time.Since(began)
		}
		if now >= before+more {
			return first
		}
	}
	t.Fatalf("no %d writes were acknowledged within a minute: %v, %v", more, o.count, o.other)
	return 0
}

// compare compares the answers to clients with the stored rows. It returns how many
// acknowledged writes are lost; any other difference fails the test.
func (o *outcomes) compare(t *testing.T, db *pgtest.DB) (lost int) {
	t.Helper()
	rows, err := db.Superuser(t).Query(t.Context(), "select text, count(*) from app.note group by text")
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]int{}
	for rows.Next() {
		var text string
		var count int
		if err := rows.Scan(&text, &count); err != nil {
			t.Fatal(err)
		}
		if stored[text] = count; count != 1 {
			t.Errorf("%s is stored %d times", text, count)
		}
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	for text, told := range o.told {
		switch is := stored[text] > 0; {
		case told == acknowledged && !is:
			lost++
		case told == refused && is:
			t.Errorf("%s was refused as not carried out, and is stored", text)
		}
	}
	if len(o.other) > 0 {
		t.Errorf("answers that are none of those foreseen: %q", o.other[:min(len(o.other), 5)])
	}
	return lost
}

// TestFailover kills a primary under load and promotes its standby. Servers that know both
// write again by themselves, and their answers stay true.
func TestFailover(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name          string
		isSynchronous bool
	}{{"synchronous", true}, {"asynchronous", false}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, test.isSynchronous)
			a := serve(t, p.db, p.dir, pgtest.Together(p.db.LoginURL(), p.db.At(p.standby).LoginURL()))
			o, stop := newOutcomes(), make(chan struct{})
			var writers sync.WaitGroup
			for writer := range 6 {
				writers.Go(func() { o.write(t, a, writer, stop) })
			}
			o.awaitMore(t, 100)
			p.primary.Kill(t)
			p.standby.Promote(t)
			took := o.awaitMore(t, 100)
			close(stop)
			writers.Wait()
			a.awaitReady(t, `{"status":"ok"}`)

			lost := o.compare(t, p.db.At(p.standby))
			t.Logf("%v; acknowledged and lost: %d; the first write %s after the promotion", o.count, lost, took.Round(time.Millisecond))
			if test.isSynchronous && lost > 0 {
				t.Errorf("%d acknowledged writes are lost, in spite of a synchronous standby", lost)
			}
		})
	}
}

// TestCommandsFindThePrimary gives commands several hosts. The first one only reads.
func TestCommandsFindThePrimary(t *testing.T) {
	t.Parallel()
	p := newPair(t, false)
	several := pgtest.Together(p.db.At(p.standby).OwnerURL(), p.db.OwnerURL())
	findings, err := doctor.Examine(t.Context(), several)
	if err != nil || slices.ContainsFunc(findings, func(f doctor.Finding) bool { return f.Verdict == doctor.Missing }) {
		t.Errorf("doctor: got %v, error %v", findings, err)
	}
	options := migrate.UpOptions{LockTimeout: time.Second, Patience: time.Minute, Say: func(string) {}}
	dir := writeProject(t, map[string]string{"schema.stern": notes})
	compiled, err := compile(dir)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := migrate.ReadFolder(dir)
	if err == nil {
		_, err = migrate.New(folder, "begin", compiled.Release(), migrate.PlanOptions{})
	}
	if err == nil {
		folder, err = migrate.ReadFolder(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	empty := p.primary.New(t, pgtest.Options{Empty: true})
	p.standby.AwaitReplay(t, p.primary)
	options.URL = pgtest.Together(empty.At(p.standby).OwnerURL(), empty.OwnerURL())
	if applied, err := migrate.Up(t.Context(), folder, options); err != nil || applied == 0 {
		t.Errorf("migrate up: applied %d, error %v", applied, err)
	}
	// A URL that names its kind of host is obeyed.
	conn, err := postgres.Connect(t.Context(), several+"&target_session_attrs=standby")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var isStandby bool
	if err := conn.QueryRow(t.Context(), "select pg_is_in_recovery()").Scan(&isStandby); err != nil || !isStandby {
		t.Errorf("target_session_attrs=standby leads to a standby: %t, error %v", isStandby, err)
	}
}

const (
	readOnlyBody = `{"code":"ERR_UNAVAILABLE","message":"the database does not accept writes now"}`
	unknownBody  = `{"code":"ERR_OUTCOME_UNKNOWN","message":"it is not known whether the action was carried out"}`
)

// TestServerOnReplica serves from a replica alone: it reads, refuses writes, and takes them
// once the replica is promoted.
func TestServerOnReplica(t *testing.T) {
	t.Parallel()
	p := newPair(t, false)
	first := serve(t, p.db, p.dir, p.db.LoginURL())
	first.await(t, "createNote", `{"text":"before"}`, `"text":"before"`)
	a := serve(t, p.db, p.dir, p.db.At(p.standby).LoginURL())
	a.await(t, "listNotes", `{}`, `"text":"before"`)
	for range 10 {
		response, got := a.send(t, "POST", "/api/json/createNote", nil, `{"text":"refused"}`)
		if response.StatusCode != 503 || got != readOnlyBody || response.Header.Get("Retry-After") == "" {
			t.Errorf("a write on a replica: got %d %s", response.StatusCode, got)
		}
	}
	response, got := a.send(t, "POST", "/api/json/createNote", http.Header{"Idempotency-Key": {"one"}}, `{"text":"refused"}`)
	if response.StatusCode != 503 || got != readOnlyBody {
		t.Errorf("a write under a key on a replica: got %d %s", response.StatusCode, got)
	}
	a.awaitReady(t, `{"status":"ok"}`)

	p.primary.Kill(t)
	p.standby.Promote(t)
	a.await(t, "createNote", `{"text":"after"}`, `"text":"after"`)
	a.await(t, "listNotes", `{"totalCount":true}`, `"totalCount":2`)
}

// TestNameThatMoves lets the name of the database lead elsewhere, as those of providers do
// after a failover, while open connections stay.
func TestNameThatMoves(t *testing.T) {
	t.Parallel()
	p := newPair(t, false)
	name := newLine(t, p.db.At(p.standby).LoginURL())
	a := serve(t, p.db, p.dir, name.url)
	if _, got := a.send(t, "POST", "/api/json/createNote", nil, `{"text":"early"}`); got != readOnlyBody {
		t.Errorf("a write on a replica: got %s", got)
	}
	name.lead(t, p.db.LoginURL())
	a.await(t, "createNote", `{"text":"one"}`, `"text":"one"`)
	// Every connection then leads to the primary: none refuses.
	for range 20 {
		if response, got := a.send(t, "POST", "/api/json/createNote", nil, `{"text":"one more"}`); response.StatusCode != 200 {
			t.Errorf("a write on the primary: got %d %s", response.StatusCode, got)
		}
	}
}

// TestCommitWithoutStandby ends a write that waits for a standby that does not answer. The
// primary has it and may lose it, so it must not be acknowledged.
func TestCommitWithoutStandby(t *testing.T) {
	t.Parallel()
	p := newPair(t, true)
	a := serveWith(t, p.db, p.dir, p.db.LoginURL(), serving{env: []string{"STERNPOST_DATABASE_STATEMENT_TIMEOUT=0.5"}})
	a.await(t, "createNote", `{"text":"with"}`, `"text":"with"`)
	p.standby.Freeze(t)
	response, got := a.send(t, "POST", "/api/json/createNote", nil, `{"text":"without"}`)
	if response.StatusCode != 503 || got != unknownBody {
		t.Errorf("a write that no standby has: got %d %s, want 503 %s", response.StatusCode, got, unknownBody)
	}
	p.standby.Thaw(t)
	a.await(t, "createNote", `{"text":"again"}`, `"text":"again"`)
}
