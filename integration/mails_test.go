package integration

import (
	"bytes"
	"fmt"
	"io"
	"mime/quotedprintable"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/mailserver"
	"github.com/sternpost/sternpost/integration/pgtest"
)

var mailing = map[string]string{
	"schema.stern": `
model Visit {
  fields { email Text  name Text }
  actions {
    create createVisit() with (email, name)
    write tell(email: Text?, template: Text?, name: Text?, count: Number, fails: Boolean?) returns (Any)
    read peek(email: Text) returns (Any)
  }
  @permission(expression: true, actions: [create, read, write])
  @permission(expression: true, jobs: [Remind])
  @on([create], greet)
}
job Remind {
  inputs { fails Boolean }
  @permission(expression: true)
  @retries(1)
}
`,
	"functions/tell.sql": `
create function functions.tell(email text, "template" text, name text, count bigint, fails boolean) returns jsonb language plpgsql volatile as $$
begin
  for i in 1..count loop
    perform platform.send_mail(email, "template", case when name is not null then jsonb_build_object('name', name, 'room', 12345678) else '[]' end);
  end loop;
  if fails then
    raise exception 'no' using errcode = 'SP409';
  end if;
  return '"told"';
exception when invalid_parameter_value then
  return to_jsonb(sqlerrm);
end;
$$;`,
	"functions/peek.sql": `
create function functions.peek(email text) returns jsonb language plpgsql stable as $$
begin
  perform platform.send_mail(email, 'visit', '{"name": "peek", "room": 1}');
  return '"told"';
end;
$$;`,
	"functions/remind.sql": `
create function functions.remind(fails boolean) returns void language plpgsql volatile as $$
begin
  perform platform.send_mail(visit.email, 'visit', jsonb_build_object('name', visit.name, 'room', 2, 'language', 'de-CH')) from app.visit;
  if fails then
    raise exception 'no';
  end if;
end;
$$;`,
	"functions/greet.sql": `
create function functions.greet(event jsonb) returns void language sql volatile as $$
  select platform.send_mail(event #>> '{target,data,email}', 'visit', event #> '{target,data}' || '{"room": 3}');
$$;`,
	"mail/visit.txt":    "Subject: Your visit, {{.name}}\n\nRoom {{.room}}.\n",
	"mail/visit.de.txt": "Subject: Ihr Termin, {{.name}}\n\nRaum {{.room}}.\n",
}

// serveMails serves a project with a mail server, on two servers.
func serveMails(t *testing.T, env ...string) (db *pgtest.DB, a, b *app, mails *mailserver.Server) {
	t.Helper()
	mails = mailserver.New(t, false, false)
	env = append(env, mailEnvironment(mails)...)
	dir := writeProject(t, mailing)
	db = installApp(t, dir)
	return db, serveWith(t, db, dir, db.ServerURL(), serving{env: env}), serveWith(t, db, dir, db.ServerURL(), serving{env: env}), mails
}

// mailEnvironment has the settings of a server whose mails go to a mail server.
func mailEnvironment(mails *mailserver.Server) []string {
	return []string{
		"STERNPOST_MAIL_FROM=Clinic <noreply@clinic.example>", "STERNPOST_MAIL_SMTP_TLS=off",
		"STERNPOST_MAIL_SMTP_HOST=" + mails.Host, fmt.Sprintf("STERNPOST_MAIL_SMTP_PORT=%d", mails.Port),
	}
}

// awaitTasks waits until no task is left to do.
func awaitTasks(t *testing.T, db *pgtest.DB) {
	t.Helper()
	conn := db.Superuser(t)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var left int
		if err := conn.QueryRow(t.Context(), `select count(*) from platform.task where done_at is null and failed_at is null`).Scan(&left); err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d tasks are left", left)
		}
	}
}

// subjects returns to whom which mails were sent.
func subjects(mails *mailserver.Server) string {
	var all []string
	for _, m := range mails.Taken() {
		text, _ := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(m.Body)))
		all = append(all, m.To+": "+m.Header.Get("Subject")+": "+strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// TestMailsOfCode sends mails from an action, a job and a subscriber: each once, and those of what is rolled back never.
func TestMailsOfCode(t *testing.T) {
	t.Parallel()
	db, a, b, mails := serveMails(t)
	a.call(t, "createVisit", `{"email":"ada@example.com","name":"Ada"}`)
	a.call(t, "tell", `{"email":"Bo@Example.com","template":"visit","name":"Bo","count":1}`)
	for _, fails := range []string{"false", "true"} {
		id := b.startJob(t, "remind", nil, `{"fails":`+fails+`}`)
		b.awaitRun(t, "remind", id, nil, "succeeded", "failed")
	}
	if response, answer := a.send(t, "POST", "/api/json/tell", nil, `{"email":"eve@example.com","template":"visit","name":"Eve","count":1,"fails":true}`); response.StatusCode != 409 {
		t.Errorf("got %d %s", response.StatusCode, answer)
	}
	if response, answer := a.send(t, "POST", "/api/json/peek", nil, `{"email":"eve@example.com"}`); response.StatusCode != 500 {
		t.Errorf("a read sends mails: %d %s", response.StatusCode, answer)
	}
	for deadline := time.Now().Add(20 * time.Second); len(mails.Taken()) < 3 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
	}
	awaitTasks(t, db)
	if got, want := subjects(mails), `ada@example.com: Ihr Termin, Ada: Raum 2.
ada@example.com: Your visit, Ada: Room 3.
bo@example.com: Your visit, Bo: Room 12345678.`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBadMailsOfCode refuses addresses and templates at once, and lets no value make a header.
func TestBadMailsOfCode(t *testing.T) {
	t.Parallel()
	db, a, _, mails := serveMails(t)
	const address, template = `the address of the mail visit is not an e-mail address`, `there is no template mail/%s.txt for a mail of code`
	for _, test := range []struct{ input, want string }{
		{`"template":"visit"`, address},
		{`"email":"","template":"visit"`, address},
		{`"email":"ada","template":"visit"`, address},
		{`"email":"ada@","template":"visit"`, address},
		{`"email":"ada@example.com\n","template":"visit"`, address},
		{`"email":"ada@example.com\r\nBcc: eve@example.com","template":"visit"`, address},
		{`"email":"ada@example.com, eve@example.com","template":"visit"`, address},
		{`"email":"Ada <ada@example.com>","template":"visit"`, address},
		{`"email":"\"ada eve\"@example.com","template":"visit"`, address},
		{`"email":"` + strings.Repeat("a", 243) + `@example.com","template":"visit"`, address},
		{`"email":"ada@example.com"`, fmt.Sprintf(template, "<NULL>")},
		{`"email":"ada@example.com","template":"visits"`, fmt.Sprintf(template, "visits")},
		{`"email":"ada@example.com","template":"visit.de"`, fmt.Sprintf(template, "visit.de")},
		{`"email":"ada@example.com","template":"verifyEmail"`, fmt.Sprintf(template, "verifyEmail")},
		{`"email":"ada@example.com","template":"visit"`, `the data of the mail visit is not a JSON object`},
	} {
		if _, got := a.send(t, "POST", "/api/json/tell", nil, `{"count":1,`+test.input+`}`); got != fmt.Sprintf("%q", test.want) {
			t.Errorf("%s: got %s, want %s", test.input, got, test.want)
		}
	}
	a.call(t, "tell", `{"email":"ada@example.com","template":"visit","name":"Ada\r\nBcc: eve@example.com\r\n\r\n<b>","count":1}`)
	for deadline := time.Now().Add(20 * time.Second); len(mails.Taken()) == 0 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
	}
	awaitTasks(t, db)
	if got, want := subjects(mails), "ada@example.com: Your visit, Ada Bcc: eve@example.com <b>: Room 12345678."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestMailsPerAddress lets many transactions at once send to one address, by two servers: it gets as many mails a day as
// is set, and others get theirs.
func TestMailsPerAddress(t *testing.T) {
	t.Parallel()
	db, a, b, mails := serveMails(t, "STERNPOST_MAIL_PER_ADDRESS=5")
	var all sync.WaitGroup
	for i := range 8 {
		server, email := a, "ada@example.com"
		if i%2 == 1 {
			server, email = b, "ADA@example.com"
		}
		all.Go(func() {
			server.call(t, "tell", fmt.Sprintf(`{"email":%q,"template":"visit","name":"Ada","count":3}`, email))
		})
	}
	all.Wait()
	awaitTasks(t, db)
	a.call(t, "tell", `{"email":"bo@example.com","template":"visit","name":"Bo","count":1}`)
	b.call(t, "tell", `{"email":"ada@example.com","template":"visit","name":"Ada","count":1}`)
	awaitTasks(t, db)
	got := subjects(mails)
	if strings.Count(got, "ada@") != 5 || strings.Count(got, "bo@") != 1 {
		t.Errorf("got\n%s", got)
	}
	var failures string
	if err := db.Superuser(t).QueryRow(t.Context(), `select string_agg(distinct failure, ' ') || ' ' || count(*) from platform.task where failed_at is not null`).Scan(&failures); err != nil {
		t.Fatal(err)
	}
	if want := "the address has got 5 mails within a day (mail.perAddress) 20"; failures != want {
		t.Errorf("got %q, want %q", failures, want)
	}
}
