package integration

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// behindPoolers runs a test behind a PgBouncer without prepared statements, and behind one with them.
func behindPoolers(t *testing.T, run func(t *testing.T, prepared bool)) {
	t.Helper()
	for _, prepared := range []bool{false, true} {
		t.Run(fmt.Sprintf("prepared statements %t", prepared), func(t *testing.T) {
			t.Parallel()
			run(t, prepared)
		})
	}
}

// crowd is a project whose answers tell callers apart, by rules and by custom code.
var crowd = map[string]string{
	"schema.stern": `
model Note {
  fields { text Text  owner Identity }
  actions {
    get getNote(id)
    list listNotes()
    create addNote() with (text) { @set(note.owner = ctx.identity) }
    read count() returns (Any)
    write set(name: Text, value: Text) returns (Any)
    write enterAnother(how: Text) returns (Any)
    list allNotes() { @permission(expression: false) }
  }
  @permission(expression: note.owner == ctx.identity, actions: [get, list, create])
  @permission(expression: ctx.isAuthenticated, actions: [read, write])
}
`,
	"functions/count.sql":        leaving["functions/count.sql"],
	"functions/set.sql":          leaving["functions/set.sql"],
	"functions/enterAnother.sql": leaving["functions/enterAnother.sql"],
}

// TestPooler lets many callers call three servers behind a pooler that has three connections
// for all of them. Each caller gets only its own rows. A call leaves nothing to another, or
// to a stranger who has the connection next.
func TestPooler(t *testing.T) {
	t.Parallel()
	behindPoolers(t, func(t *testing.T, prepared bool) {
		pooler := pgtest.NewPooler(t, pgtest.PoolerOptions{Prepared: prepared, Size: 3})
		dir := writeProject(t, crowd)
		db := installApp(t, dir)
		var servers [3]*app
		for i := range servers {
			servers[i] = serveWith(t, db, dir, pooler.Of(db.LoginURL()), serving{env: []string{
				"STERNPOST_DATABASE_POOL_SIZE=6", "STERNPOST_DATABASE_POOL_WAIT=30",
			}})
			if want := fmt.Sprintf("preparedStatements=%t", prepared); !strings.Contains(servers[i].log.String(), want) {
				t.Errorf("the log does not say %s:\n%s", want, servers[i].log)
			}
		}

		var ended atomic.Bool
		var strangers, callers sync.WaitGroup
		strangers.Go(func() { lookForTraces(t, pooler.Of(db.LoginURL()), &ended) })
		for i := range 9 {
			callers.Go(func() {
				c := &crowdCaller{app: servers[i%3], name: fmt.Sprintf("caller%d", i), random: rand.New(rand.NewPCG(19, uint64(i)))}
				c.live(t, 25)
			})
		}
		callers.Wait()
		ended.Store(true)
		strangers.Wait()

		var connections, listening int
		err := db.Superuser(t).QueryRow(t.Context(), `
			select count(*), count(*) filter (where query ilike 'listen%') from pg_stat_activity
			where datname = current_database() and usename like '%\_server'`).Scan(&connections, &listening)
		if err != nil || connections == 0 || connections > 3 || listening > 0 {
			t.Errorf("got %d connections, %d of them listening (%v), want at most 3 and none", connections, listening, err)
		}

		// A newer release is found without notifications, too.
		edit(t, dir, "list listNotes()", "list listNotes()\n    list laterNotes()")
		reinstall(t, db, dir)
		for i, a := range servers {
			found := false
			for deadline := time.Now().Add(2 * time.Minute); !found && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
				_, described := a.send(t, "GET", "/api/json/openapi.json", nil, "")
				found = strings.Contains(described, "laterNotes")
			}
			if !found {
				t.Errorf("server %d does not find the newer release", i)
			}
		}
	})
}

// crowdCaller calls as one identity.
type crowdCaller struct {
	app    *app
	name   string
	random *rand.Rand
	notes  []string // ids of its own
}

func (c *crowdCaller) live(t *testing.T, calls int) {
	header := http.Header{"Authorization": {"Bearer " + c.app.token(t, c.name)}}
	ask := func(action, body string) string {
		response, got, err := c.app.try(t.Context(), "POST", "/api/json/"+action, header, body)
		if err != nil {
			t.Errorf("%s: %s: %v", c.name, action, err)
			return ""
		}
		return fmt.Sprintf("%d %s", response.StatusCode, got)
	}
	wants := func(what, got string, isRight bool) {
		if !isRight {
			t.Errorf("%s: %s: got %s", c.name, what, got)
		}
	}
	for call := range calls {
		header.Del("Idempotency-Key")
		switch kind := c.random.IntN(10); {
		case kind < 2 || len(c.notes) == 0:
			header.Set("Idempotency-Key", fmt.Sprintf("%s-%d", c.name, call))
			got := ask("addNote", `{"text":"of `+c.name+`"}`)
			again := ask("addNote", `{"text":"of `+c.name+`"}`)
			wants("addNote twice", got+" and "+again, strings.HasPrefix(got, "200") && got == again)
			_, id, _ := strings.Cut(got, `"id":"`)
			id, _, _ = strings.Cut(id, `"`)
			c.notes = append(c.notes, id)
		case kind < 4:
			id := c.notes[c.random.IntN(len(c.notes))]
			got := ask("getNote", `{"id":"`+id+`"}`)
			wants("getNote", got, strings.Contains(got, `"text":"of `+c.name+`"`) && strings.Contains(got, id))
		case kind < 6:
			got := ask("listNotes", `{"first":100}`)
			wants("listNotes", got, strings.Count(got, `"text":"of `+c.name+`"`) == len(c.notes) && strings.Count(got, `"text"`) == len(c.notes))
		case kind < 7:
			got := ask("count", `{}`)
			wants("count", got, got == fmt.Sprintf("200 %d", len(c.notes)))
		case kind < 8:
			got := ask("set", `{"name":"my.own","value":"`+c.name+`"}`)
			wants("set", got, got == `200 "set"`)
		case kind < 9:
			got := ask("enterAnother", `{"how":"`+[]string{"fails", "returns"}[call%2]+`"}`)
			wants("enterAnother", got, strings.HasPrefix(got, []string{"409", "500"}[call%2]))
		default:
			got := ask("allNotes", `{}`)
			wants("allNotes", got, strings.HasPrefix(got, "403"))
		}
	}
}

// lookForTraces looks for traces of calls, on a connection that a pooler gives to
// strangers.
func lookForTraces(t *testing.T, url string, ended *atomic.Bool) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Error(err)
		return
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(t.Context())
	for looks := 0; !ended.Load() || looks == 0; looks++ {
		var traces string
		err := conn.QueryRow(t.Context(), `
			select concat_ws(', ',
				nullif(current_setting('sternpost.identity_id', true), ''),
				nullif(current_setting('sternpost.action', true), ''),
				nullif(current_setting('my.own', true), ''),
				nullif('role ' || current_setting('role'), 'role none'),
				nullif('statement_timeout ' || current_setting('statement_timeout'), 'statement_timeout 0'),
				nullif('transaction_read_only ' || current_setting('transaction_read_only'), 'transaction_read_only off')
			)`).Scan(&traces)
		if err != nil || traces != "" {
			t.Errorf("a stranger finds %q (%v)", traces, err)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// TestPoolerOfCode is TestCodeLeavesNothing behind poolers, which have one connection.
func TestPoolerOfCode(t *testing.T) {
	t.Parallel()
	behindPoolers(t, func(t *testing.T, prepared bool) {
		pooler := pgtest.NewPooler(t, pgtest.PoolerOptions{Prepared: prepared, Size: 1})
		leavesNothing(t, pooler.Of)
	})
}

// TestPoolerOfEvents lets code hear of writes, and runs jobs, behind poolers with few connections: each once, on two servers.
func TestPoolerOfEvents(t *testing.T) {
	t.Parallel()
	project := map[string]string{"schema.stern": shop + "\njob Close {\n  inputs { number Text? }\n  @permission(expression: true)\n}\n", "functions/countOrders.sql": countOrders,
		"functions/close.sql": "create function functions.close(number text) returns jsonb language sql volatile security invoker as $$ select to_jsonb(number) $$;\n"}
	behindPoolers(t, func(t *testing.T, prepared bool) {
		pooler := pgtest.NewPooler(t, pgtest.PoolerOptions{Prepared: prepared, Size: 3})
		dir := writeProject(t, project)
		db := installApp(t, dir)
		a, b := serve(t, db, dir, pooler.Of(db.ServerURL())), serve(t, db, dir, pooler.Of(db.ServerURL()))
		customer := a.record(t, "createCustomer", `{"name":"open"}`)
		const orders = 30
		for i := range orders {
			server := []*app{a, b}[i%2]
			id := server.record(t, "createOrder", fmt.Sprintf(`{"number":"%d","customer":{"id":%q}}`, i, customer))
			server.call(t, "payOrder", fmt.Sprintf(`{"where":{"id":%q}}`, id))
		}
		run := a.startJob(t, "close", nil, `{"number":"7"}`)
		if got := b.awaitRun(t, "close", run, nil, "succeeded", "failed"); got.Result != "7" || got.Attempts != 1 {
			t.Errorf("the run: %+v", got)
		}
		conn, heard := db.Superuser(t), ""
		want := fmt.Sprintf("%d %d", orders, orders)
		for deadline := time.Now().Add(20 * time.Second); heard != want && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if err := conn.QueryRow(t.Context(), `select created || ' ' || paid from app.customer`).Scan(&heard); err != nil {
				t.Fatal(err)
			}
		}
		if heard != want {
			t.Errorf("the code has heard of %s writes, want %s", heard, want)
		}
	})
}
