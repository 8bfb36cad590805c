package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const monthly = `
model Invoice {
  fields { number Text  isClosed Boolean @default }
  actions { create createInvoice() with (number) }
  @permission(expression: ctx.isAuthenticated, actions: [create])
  @permission(expression: invoice.number != "kept", jobs: [CloseAll])
}
model Mark {
  fields { text Text  by Text?  began Timestamp  ended Timestamp }
  @permission(expression: true, actions: [create, get], jobs: [CloseAll, Slow])
}
job CloseAll {
  inputs { upTo Text? }
  @permission(expression: ctx.isAuthenticated && upTo != "secret")
}
job Slow {
  inputs { text Text?  seconds Decimal? }
  @permission(expression: true)
}
job Fail {
  inputs { code Text? }
  @permission(expression: ctx.isAuthenticated)
  @retries(0)
}
`

var monthlyCode = map[string]string{
	"schema.stern": monthly,
	"functions/closeAll.sql": `
create function functions.close_all(up_to text) returns jsonb language plpgsql volatile security invoker as $$
declare
  v_count integer;
begin
  update app.invoice set is_closed = true where not is_closed;
  get diagnostics v_count = row_count;
  insert into app.mark (text, by, began, ended) values ('closed', platform.identity_id(), now(), now());
  return jsonb_build_object('closed', v_count, 'upTo', up_to);
end;
$$;`,
	"functions/slow.sql": `
create function functions.slow("text" text, seconds numeric) returns void language plpgsql volatile security invoker as $$
declare
  v_began timestamptz := clock_timestamp();
begin
  insert into app.mark (text, began, ended) values ('begun', v_began, v_began);
  perform pg_sleep(seconds);
  insert into app.mark (text, began, ended) values ("text", v_began, clock_timestamp());
end;
$$;`,
	"functions/fail.sql": `
create function functions.fail(code text) returns void language plpgsql volatile security invoker as $$
begin
  raise exception 'too late: %', (select count(*) from app.invoice) using errcode = code;
end;
$$;`,
}

// jobRun is a run as the API answers it.
type jobRun struct {
	Run, State string
	StartedAt  *string
	FinishedAt *string
	Attempts   int
	Result     any
	Message    *string
}

// startJob starts a job and returns the id of its run.
func (a *app) startJob(t *testing.T, job string, header http.Header, body string) string {
	t.Helper()
	response, answer := a.send(t, "POST", "/api/json/"+job, header, body)
	var started jobRun
	if err := json.Unmarshal([]byte(answer), &started); err != nil || response.StatusCode != 202 || started.Run == "" {
		t.Fatalf("start %s: got %d %s", job, response.StatusCode, answer)
	}
	return started.Run
}

// awaitRun waits until a run has one of some states.
func (a *app) awaitRun(t *testing.T, job, id string, header http.Header, states ...string) jobRun {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		response, answer := a.send(t, "GET", "/api/json/"+job+"?run="+id, header, "")
		var got jobRun
		if err := json.Unmarshal([]byte(answer), &got); err != nil || response.StatusCode != 200 {
			t.Fatalf("run %s of %s: got %d %s", id, job, response.StatusCode, answer)
		}
		if slices.Contains(states, got.State) {
			return got
		}
		if time.Now().After(deadline) {
			t.Fatalf("run %s of %s stays %s; want %v", id, job, answer, states)
		}
	}
}

// TestJob starts jobs by hand, on two servers. Each has its effects once, under the rules that name it, and only who
// started it is told of it.
func TestJob(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, monthlyCode)
	db := installApp(t, dir)
	a, b := serve(t, db, dir, db.ServerURL()), serve(t, db, dir, db.ServerURL())
	ada, eve := a.as(t, "ada"), a.as(t, "eve")
	conn := db.Superuser(t)
	ask := func(query string) (answer string) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), query).Scan(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	for _, number := range []string{"1", "2", "kept"} {
		a.send(t, "POST", "/api/json/createInvoice", ada, fmt.Sprintf(`{"number":%q}`, number))
	}

	id := a.startJob(t, "closeAll", ada, `{"upTo":"x"}`)
	got := b.awaitRun(t, "closeAll", id, b.as(t, "ada"), "succeeded")
	if result := fmt.Sprint(got.Result); result != "map[closed:2 upTo:x]" || got.Attempts != 1 || got.StartedAt == nil || got.FinishedAt == nil || got.Message != nil {
		t.Errorf("got %+v", got)
	}
	if got := ask(`select string_agg(coalesce(by, ''), ' ') from app.mark`); got != "ada" {
		t.Errorf("the code ran by %q, want ada", got)
	}
	for name, header := range map[string]http.Header{"another": eve, "anonymous": nil} {
		if response, answer := a.send(t, "GET", "/api/json/closeAll?run="+id, header, ""); response.StatusCode != 404 {
			t.Errorf("%s may see a run: %d %s", name, response.StatusCode, answer)
		}
	}

	for _, refused := range []struct {
		method, path, body string
		header             http.Header
		status             int
		want               string
	}{
		{"POST", "closeAll", `{}`, nil, 403, "ERR_PERMISSION_DENIED"},
		{"POST", "closeAll", `{"upTo":"secret"}`, ada, 403, "ERR_PERMISSION_DENIED"},
		{"POST", "closeAll", `{"upTo":1}`, ada, 400, `"field":"upTo"`},
		{"GET", "closeAll", ``, ada, 400, `"field":"run"`},
		{"GET", "closeAll?run=x&upTo=y", ``, ada, 400, `"field":"run"`},
		{"GET", "closeAll?run=x", ``, ada, 404, "ERR_RECORD_NOT_FOUND"},
		{"GET", "slow?run=" + id, ``, ada, 404, "ERR_RECORD_NOT_FOUND"},
	} {
		if response, answer := a.send(t, refused.method, "/api/json/"+refused.path, refused.header, refused.body); response.StatusCode != refused.status || !strings.Contains(answer, refused.want) {
			t.Errorf("%s %s %s: got %d %s, want %d %s", refused.method, refused.path, refused.body, response.StatusCode, answer, refused.status, refused.want)
		}
	}

	// A run that nobody has started by a call is told to nobody; who has started one without signing in knows its id.
	byShell := struct{ Run string }{}
	if err := json.Unmarshal([]byte(ask(`select platform.job_start('Slow', '{"text": "by a shell", "seconds": 0}')`)), &byShell); err != nil {
		t.Fatal(err)
	}
	anonymous := a.startJob(t, "slow", nil, `{"text":"by nobody","seconds":0}`)
	a.awaitRun(t, "slow", anonymous, nil, "succeeded")
	for run, header := range map[string]http.Header{byShell.Run: nil, anonymous: ada} {
		if response, answer := a.send(t, "GET", "/api/json/slow?run="+run, header, ""); response.StatusCode != 404 {
			t.Errorf("a run is told to who has not started it: %d %s", response.StatusCode, answer)
		}
	}

	once := func(server *app) string {
		header := server.as(t, "ada")
		header.Set("Idempotency-Key", "one")
		return server.startJob(t, "closeAll", header, `{"upTo":"y"}`)
	}
	first, again := once(a), once(b)
	if first != again {
		t.Errorf("with one key the job is started twice: %s, %s", first, again)
	}
	a.awaitRun(t, "closeAll", first, ada, "succeeded")

	for code, want := range map[string]string{"SP409": "too late: 0", "22000": "the run failed"} {
		got := a.awaitRun(t, "fail", a.startJob(t, "fail", ada, fmt.Sprintf(`{"code":%q}`, code)), ada, "failed")
		if got.Message == nil || *got.Message != want || got.Attempts != 1 {
			t.Errorf("a run that raises %s: got %+v, want the message %q", code, got, want)
		}
	}

	// A server counts the attempts that it has made, and says how many runs of all servers have failed.
	attempts := 0
	for _, server := range []*app{a, b} {
		attempts += server.metric(t, `sternpost_job_attempts_total{job="Fail",outcome="dead"} `)
	}
	if attempts != 2 {
		t.Errorf("the metrics have %d attempts that failed, want 2", attempts)
	}
	counted := serve(t, db, dir, db.ServerURL())
	for deadline := time.Now().Add(10 * time.Second); counted.metric(t, `sternpost_job_runs{job="Fail",state="failed"} `) != 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the metrics do not have the runs that failed")
		}
	}
	if _, page := counted.send(t, "GET", "/jobs", nil, ""); !strings.Contains(page, "CloseAll") || !strings.Contains(page, "22000 too late") {
		t.Errorf("the page of jobs: %s", page)
	}

	// Runs with equal inputs follow each other.
	const equal = `{"text":"equal","seconds":0.2}`
	var runs []string
	for _, server := range []*app{a, b, a} {
		runs = append(runs, server.startJob(t, "slow", server.as(t, "ada"), equal))
	}
	for _, id := range runs {
		a.awaitRun(t, "slow", id, ada, "succeeded")
	}
	if got := ask(`select count(*)::text from app.mark as m join app.mark as n on m.id < n.id and m.began < n.ended and n.began < m.ended
		where m.text = 'equal' and n.text = 'equal'`); got != "0" {
		t.Errorf("%s runs with equal inputs overlap", got)
	}
	if got := ask(`select count(*)::text from app.mark where text = 'equal'`); got != "3" {
		t.Errorf("%s of 3 runs had an effect", got)
	}

	// A run that is cancelled has had no effect, whether it ran or waited behind it.
	conn2 := db.Owner(t)
	running := a.startJob(t, "slow", nil, `{"text":"cancelled","seconds":30}`)
	waiting := a.startJob(t, "slow", nil, `{"text":"cancelled","seconds":30}`)
	a.awaitRun(t, "slow", running, nil, "running")
	for deadline := time.Now().Add(10 * time.Second); ask(`select count(*)::text from pg_stat_activity where application_name like 'sternpost run %'`) == "0"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the run does not run")
		}
	}
	for _, id := range []string{waiting, running} {
		var isDone bool
		if err := conn2.QueryRow(t.Context(), `select platform.job_cancel($1)`, id).Scan(&isDone); err != nil || !isDone {
			t.Errorf("cancel %s: %v %v", id, isDone, err)
		}
		if got := a.awaitRun(t, "slow", id, nil, "cancelled"); *got.Message != "the run was cancelled" {
			t.Errorf("got %+v", got)
		}
	}
	time.Sleep(300 * time.Millisecond) // the server notes the failure
	if got := a.awaitRun(t, "slow", running, nil, "cancelled", "waiting", "failed", "succeeded"); got.State != "cancelled" {
		t.Errorf("a cancelled run is %s", got.State)
	}
	if got := ask(`select count(*)::text from app.mark where text in ('cancelled', 'begun')`); got != "5" {
		t.Errorf("cancelled runs had effects: %s marks", got)
	}
}
