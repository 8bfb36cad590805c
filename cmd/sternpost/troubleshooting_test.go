package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/server/refusal"
	sqlpostgres "github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
)

// memoSchema has the faults of a first schema: callers who are not the owner of a memo see an empty list, and no index
// finds the memos of a topic.
const memoSchema = `model Memo {
  fields {
    text Text
    topic Text
    owner Identity
  }
  actions {
    get getMemo(id)
    list listMemos(topic?)
    create createMemo() with (text, topic) {
      @set(memo.owner = ctx.identity)
    }
    update editMemo(id) with (text)
    delete dropMemo(id) {
      @permission(roles: [Editor])
    }
    list browseMemos(topic?) {
      @permission(roles: [Editor])
    }
  }
  @permission(expression: memo.owner == ctx.identity, actions: [get, list, update])
  @permission(expression: ctx.isAuthenticated, actions: [create])
}

role Editor {
  emails { "olga@example.com" }
}
`

// TestTroubleshootingPage causes the symptoms on the page about them. The first column of its tables
// quotes messages. The program must print each of them for one of the symptoms, and the page must
// quote each symptom. In a message, … means any text in one line.
func TestTroubleshootingPage(t *testing.T) {
	t.Parallel()
	said := symptoms(t)
	quoted := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllStringSubmatch(readFile(t, howTo+"troubleshooting.md"), -1) {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			pattern := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(m[1]), "…", `[^\n]*?`))
			found := false
			for symptom, text := range said {
				if pattern.MatchString(text) {
					quoted[symptom], found = true, true
				}
			}
			if !found {
				t.Errorf("no symptom says %q", m[1])
			}
		}
	}
	for symptom, text := range said {
		if !quoted[symptom] {
			t.Errorf("the page does not quote what the program says to %q:\n%s", symptom, text)
		}
	}
}

// symptoms returns the output of the program for each symptom.
func symptoms(t *testing.T) map[string]string {
	said := map[string]string{"no Postgres": (&sqlpostgres.NotFoundError{}).Error()}
	for _, r := range []refusal.Refusal{refusal.Overloaded, refusal.ReadOnly, refusal.OutcomeUnknown} {
		said[r.Message] = fmt.Sprintf("%d %s %s", r.Status, r.Code, r.Message)
	}
	says := func(symptom string, c command, code int) {
		t.Helper()
		stdout, stderr, got := c.run(t)
		if got != code {
			t.Errorf("%s: exit %d, want %d\n%s%s", symptom, got, code, stdout, stderr)
		}
		said[symptom] += stdout + stderr
	}

	const config = `auth:
  redirectUris: ["https://app.example.com/signed-in"]
  providers:
    - {type: google, name: google, clientId: shop}
`
	project := files(t, map[string]string{"schema.stern": memoSchema, sqlgen.ConfigName: config})
	db := pgtest.New(t, pgtest.Options{Empty: true})
	command{args: []string{"migrate", "new", "initial", project}}.run(t)
	owner := []string{"--database-url", db.OwnerURL()}
	up := append([]string{"migrate", "up", project}, owner...)
	command{args: up}.expect(t, 0, "")
	conn := db.Owner(t)
	mustRun(t, db.Superuser(t), fmt.Sprintf("grant connect on database %s to sternpost_server", db.Name()))
	mustRun(t, conn, `
		insert into app.identity (id, email) values ('ada', 'ada@example.com'), ('bea', 'bea@example.com');
		insert into app.memo (id, text, topic, owner_id) values ('m1', 'buy glue', 'bench', 'ada');`)

	shellOf(project, db, "OWNER_URL="+db.OwnerURL()).Follow(t, howTo+"troubleshooting.md")

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	says("a taken port", command{args: []string{"dev", "--port", port, project}}, exitEnvironment)
	says("a database of others", command{args: append([]string{"dev", "--port", program.FreePort(t), project}, owner...)}, exitEnvironment)
	says("no settings", command{args: []string{"serve"}, dir: t.TempDir(), env: []string{"DATABASE_URL=" + db.ServerURL()}}, exitInput)
	says("the login of the owner", command{args: []string{"serve"}, env: production(t, db.OwnerURL(), program.FreePort(t))}, exitEnvironment)

	at := program.FreePort(t)
	env := append(production(t, db.ServerURL(), at), "STERNPOST_DATABASE_LOCK_TIMEOUT=0.2", "AUTH_PROVIDER_SECRET_GOOGLE=s")
	p := command{args: []string{"serve"}, dir: project, env: env}.start(t)
	awaitAnswer(t, "GET", "http://127.0.0.1:"+at+"/readyz", "", `{"status":"ok"}`)
	call := func(symptom, token, method, path, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:"+at+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		said[symptom] += fmt.Sprintf("%d %s\n", response.StatusCode, text)
	}
	keyOf := func(who string) string {
		key, _, _ := command{args: append([]string{"keys", "create", "--identity", who, "--expires", "1d"}, owner...)}.run(t)
		return strings.TrimSpace(key)
	}
	bea := keyOf("bea")
	call("an expired token", "eyJhbGciOiJub25lIn0.e30.", "POST", "/api/json/listMemos", "{}")
	call("a refusal", bea, "POST", "/api/json/getMemo", `{"id":"m1"}`)
	call("an early refusal", bea, "POST", "/api/json/dropMemo", `{"id":"m1"}`)
	call("no such row", bea, "POST", "/api/json/getMemo", `{"id":"m2"}`)
	call("no row to change", bea, "POST", "/api/json/editMemo", `{"where":{"id":"m2"},"values":{"text":"x"}}`)
	call("an empty list", bea, "POST", "/api/json/listMemos", `{}`)
	call("no such action", bea, "POST", "/api/json/listNotes", `{}`)
	call("another address", "", "GET", "/auth/authorize/google?redirect_uri="+url.QueryEscape("https://app.example.com/")+"&state=a", "")
	call("no cookies", "", "GET", "/auth/callback/google?code=a&state=b", "")
	call("an unknown provider", "", "GET", "/auth/authorize/gogle?state=a", "")

	mustRun(t, conn, "begin; update app.memo set text = 'x' where id = 'm1'")
	call("a lock", keyOf("ada"), "POST", "/api/json/editMemo", `{"where":{"id":"m1"},"values":{"text":"x"}}`)
	replaceFile(t, filepath.Join(project, "schema.stern"), strings.Replace(memoSchema, "text Text", "text Text\n    place Text? @hidden", 1))
	command{args: []string{"migrate", "new", "place", project}}.run(t)
	says("a migration behind a transaction", command{args: append(slices.Clip(up), "--lock-timeout", "100ms", "--patience", "100ms")}, exitInput)
	mustRun(t, conn, "rollback; alter table app.memo add column extra text")
	says("a change by hand", command{args: up}, exitInput)
	mustRun(t, conn, "update public.schema_version set version = 99")
	says("a newer database", command{args: up}, exitInput)
	replaceFile(t, filepath.Join(project, "schema.stern"), memoSchema)
	says("a loss", command{args: []string{"migrate", "new", "less", project}}, exitInput)
	if err := p.End(t, syscall.SIGTERM); err != nil {
		t.Error(err)
	}

	// Servers that wait for a database, and for a release.
	empty := pgtest.New(t, pgtest.Options{})
	for symptom, address := range map[string]string{"no release": empty.ServerURL(), "no database": "postgres://nobody@127.0.0.1:" + program.FreePort(t) + "/none"} {
		at := program.FreePort(t)
		p := command{args: []string{"serve"}, dir: t.TempDir(), env: production(t, address, at)}.start(t)
		awaitAnswer(t, "GET", "http://127.0.0.1:"+at+"/readyz", "", `"status":"unavailable","reason":`)
		status, body := request(t, "POST", "http://127.0.0.1:"+at+"/api/json/listMemos", "{}")
		_, readiness := request(t, "GET", "http://127.0.0.1:"+at+"/readyz", "")
		said["while there is "+symptom] = fmt.Sprintf("%d %s", status, body)
		said[symptom] = readiness
		if symptom == "no release" {
			p.Await(t, 0, "no release is installed")
			said[symptom] = p.Out.String()
		}
	}
	said["log"] = p.Out.String()
	return said
}
