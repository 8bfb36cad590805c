package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
	sqlpostgres "github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sql/role"
)

// countedPhotos is an application whose functions have two owners.
var countedPhotos = map[string]string{
	"schema.stern": strings.Replace(photoSchema, "    delete deletePhoto(title)\n",
		"    delete deletePhoto(title)\n    read countPhotos() returns (Any) { @permission(expression: true) }\n", 1),
	"functions/countPhotos.sql": "create function functions.count_photos() returns jsonb\nlanguage sql\nstable\nas $$\n  select to_jsonb(count(*)) from app.photo;\n$$;\n",
}

// cluster is an empty Postgres of its own, with an owner and the login of a server, as an
// administrator makes them.
type cluster struct {
	super    *pgx.Conn
	url      string // of the superuser
	owner    string
	login    string
	database string
}

func newCluster(t *testing.T, owner string) *cluster {
	t.Helper()
	server, err := sqlpostgres.Start(t.Context(), sqlpostgres.Options{Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := &cluster{url: server.URL(), owner: owner, login: "shop_server", database: "shop"}
	if c.super, err = pgx.Connect(t.Context(), c.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.super.Close(t.Context()) })
	c.exec(t, "create role "+c.owner+" login createrole password 'o'")
	c.exec(t, "create role "+c.login+" login password 'l'")
	c.exec(t, "create database "+c.database+" owner "+c.owner)
	return c
}

func (c *cluster) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := c.super.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// as returns the URL of the database for a role.
func (c *cluster) as(role, password string) string {
	u, err := neturl.Parse(c.url)
	if err != nil {
		panic(err)
	}
	u.User, u.Path = neturl.UserPassword(role, password), "/"+c.database
	return u.String()
}

func (c *cluster) ownerURL() string  { return c.as(c.owner, "o") }
func (c *cluster) serverURL() string { return c.as(c.login, "l") }

// toolless is the consequence of missing client programs of Postgres.
const toolless = "no database is backed up and restored"

func runTool(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), program.Postgres(t, name, toolless), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// signIn logs in by password and returns the access token.
func signIn(t *testing.T, url string) string {
	t.Helper()
	response, err := http.PostForm(url+"/auth/token", neturl.Values{"grant_type": {"password"}, "username": {"ada@example.com"}, "password": {"canary-horse"}})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var tokens struct {
		AccessToken string `json:"access_token"`
		IsNew       bool   `json:"identity_created"`
	}
	if err := json.NewDecoder(response.Body).Decode(&tokens); err != nil || tokens.AccessToken == "" {
		t.Fatalf("sign in: got %d, %v", response.StatusCode, err)
	}
	return fmt.Sprint(tokens.IsNew)
}

// TestRestore follows the page on backups: it dumps an application as its owner, restores
// it in another cluster as a user who is not a superuser either, and serves it there.
func TestRestore(t *testing.T) {
	t.Parallel()
	p := newPhotosOf(t, countedPhotos)
	pgDump := pgtest.Dump(t, p.db.SuperuserURL(), toolless)
	s := p.start(t)
	if created := signIn(t, p.url); created != "true" {
		t.Fatal("the identity is not new")
	}
	if status, body := request(t, "POST", p.url+"/api/json/createPhoto", `{"title":"a","image":"`+p.upload(t)+`"}`); status != 200 {
		t.Fatalf("create: got %d %s", status, body)
	}
	s.End(t, syscall.SIGTERM)

	dump := filepath.Join(openDir(t), "shop.dump")
	runTool(t, pgDump, "--format=custom", "--file="+dump, p.db.OwnerURL())

	owner, err := neturl.Parse(p.db.OwnerURL())
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, owner.User.Username())
	roles := command{args: []string{"roles", "--login", c.login}, env: []string{"DATABASE_URL=" + c.ownerURL()}}
	if out := roles.expect(t, 0, ""); !strings.Contains(out, "no application is installed") {
		t.Errorf("roles before the restore: got %q", out)
	}
	runTool(t, filepath.Join(filepath.Dir(pgDump), "pg_restore"), "--no-owner", "--exit-on-error", "--single-transaction", "--dbname="+c.ownerURL(), dump)

	// Without the second call the functions would run as the owner, who bypasses row
	// security.
	env := append(production(t, c.serverURL(), program.FreePort(t)), p.env[5:]...)
	refused := command{args: []string{"serve"}, dir: t.TempDir(), env: env}.start(t)
	refused.Await(t, 0, "belongs to")
	refused.End(t, syscall.SIGTERM)

	for range 2 {
		out := roles.expect(t, 0, "")
		want := "roles: " + strings.Join(role.All(), ", ") + "\nshop_server may serve database shop\n" +
			"the functions of release 1 belong to the roles that they run as\n"
		if out != want {
			t.Errorf("roles after the restore\n got %q\nwant %q", out, want)
		}
	}
	p.env = env
	p.url = "http://127.0.0.1:" + strings.TrimPrefix(env[3], "PORT=")
	restored := p.start(t)
	if created := signIn(t, p.url); created != "false" {
		t.Error("the identity was not restored")
	}
	for _, call := range []struct{ action, body, want string }{
		{"getPhoto", `{"title":"a"}`, `"image":{"key"`},
		{"createPhoto", `{"title":"b","image":"` + p.upload(t) + `"}`, `"title":"b"`},
		{"countPhotos", `{}`, "2"},
	} {
		if status, body := request(t, "POST", p.url+"/api/json/"+call.action, call.body); status != 200 || !strings.Contains(body, call.want) {
			t.Errorf("%s: got %d %s, want %s", call.action, status, body, call.want)
		}
	}
	restored.End(t, syscall.SIGTERM)
	if out := (command{args: []string{"files", "verify"}, env: env}).expect(t, 0, ""); out != "storage and database agree\n" {
		t.Errorf("files verify: got %q", out)
	}
}

// TestRestoreIsMigrated restores the example apps in another cluster, as the page on backups says, and goes on migrating
// there: nothing was changed by hand.
func TestRestoreIsMigrated(t *testing.T) {
	t.Parallel()
	from, to := newCluster(t, "shop_owner"), newCluster(t, "shop_owner")
	pgDump := pgtest.Dump(t, from.url, toolless)
	to.exec(t, "alter system set timezone = 'Asia/Tokyo'")
	to.exec(t, "select pg_reload_conf()")
	for _, app := range []string{"ledger", "workshop"} {
		from.database, to.database = app, app
		for _, c := range []*cluster{from, to} {
			c.exec(t, "create database "+app+" owner "+c.owner)
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("../../integration/apps/"+app)); err != nil {
			t.Fatal(err)
		}
		command{args: []string{"migrate", "new", "first", dir}}.expect(t, 0, "")
		command{args: []string{"migrate", "up", dir, "--database-url", from.ownerURL()}}.expect(t, 0, "")

		dump := filepath.Join(openDir(t), "app.dump")
		runTool(t, pgDump, "--format=custom", "--file="+dump, from.ownerURL())
		roles := command{args: []string{"roles", "--login", to.login, "--database-url", to.ownerURL()}}
		roles.expect(t, 0, "")
		runTool(t, filepath.Join(filepath.Dir(pgDump), "pg_restore"), "--no-owner", "--exit-on-error", "--single-transaction", "--dbname="+to.ownerURL(), dump)
		roles.expect(t, 0, "")

		status := command{args: []string{"migrate", "status", dir, "--database-url", to.ownerURL()}}.expect(t, 0, "")
		if strings.Contains(status, "by hand") {
			t.Errorf("%s after a restore:\n%s", app, status)
		}
		writeFile(t, filepath.Join(dir, "more.stern"), taskSchema("title Text"))
		command{args: []string{"migrate", "new", "second", dir}}.expect(t, 0, "")
		command{args: []string{"migrate", "up", dir, "--database-url", to.ownerURL()}}.expect(t, 0, "")
		command{args: []string{"doctor", "--database-url", to.ownerURL()}}.expect(t, 0, "")
	}
}

// TestRolesAreThoseOfTheMigrations lets an owner without the right to create roles install
// an application: the command has made them all. In a second cluster the migrations do so.
func TestRolesAreThoseOfTheMigrations(t *testing.T) {
	t.Parallel()
	program.Postgres(t, "psql", toolless)
	dir := files(t, map[string]string{"schema.stern": noteSchema})
	script := filepath.Join(openDir(t), "build.sql")
	replaceFile(t, script, command{args: []string{"build", dir}}.expect(t, 0, ""))
	var made [2]string
	for i := range made {
		c := newCluster(t, "shop_owner")
		if i == 0 {
			command{args: []string{"roles", "--database-url", c.as("postgres", "")}}.expect(t, 0, "")
			c.exec(t, "alter role "+c.owner+" nocreaterole")
		}
		runTool(t, "psql", "-1", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", script, c.ownerURL())
		err := c.super.QueryRow(t.Context(), `
			select string_agg(concat_ws(' ', rolname, rolcanlogin, rolinherit, rolcreaterole, pg_has_role($1, oid, 'member'), shobj_description(oid, 'pg_authid')), E'\n' order by rolname)
			from pg_roles where rolname like 'sternpost\_%'`, c.owner).Scan(&made[i])
		if err != nil {
			t.Fatal(err)
		}
	}
	if made[0] != made[1] {
		t.Errorf("sternpost roles made\n%s\nand the migrations make\n%s", made[0], made[1])
	}
}

// TestDoctor examines a database as its owner and as a guest.
func TestDoctor(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "shop_owner")
	c.exec(t, "create role guest login password 'g'")
	out := command{args: []string{"doctor", "--database-url", c.ownerURL()}}.expect(t, 0, "")
	if !strings.Contains(out, "works       row security, with rules that walk relations\n") || !strings.HasSuffix(out, "Sternpost runs on this database\n") {
		t.Errorf("doctor of an empty database: got\n%s", out)
	}
	out, _, code := command{args: []string{"doctor", "--database-url", c.as("guest", "g")}}.run(t)
	if want := "missing     schemas, tables and constraints\n            an application is made of them: connect as the owner of the database (permission denied for database shop, SQLSTATE 42501)\n"; code != exitInput || !strings.Contains(out, want) {
		t.Errorf("doctor of a guest: exit %d\n%s", code, out)
	}
	command{args: []string{"doctor", "--database-url", "postgres://127.0.0.1:1/shop"}}.expect(t, exitEnvironment, "connect to the database")
}

func TestRolesAreRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "shop_owner")
	c.exec(t, "create role guest login password 'g'")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"roles"}, exitUsage, "Give --database-url"},
		{[]string{"roles", "--database-url", c.as("guest", "g")}, exitInput, "connect as a superuser, or as an owner of the database who may create roles"},
		{[]string{"roles", "--database-url", c.ownerURL(), "--login", "nobody"}, exitInput, "the cluster does not have this role: nobody"},
		{[]string{"roles", "--database-url", "postgres://127.0.0.1:1/shop"}, exitEnvironment, "connect to the database"},
	} {
		command{args: test.args}.expect(t, test.code, test.want)
	}
	var count int
	if err := c.super.QueryRow(t.Context(), `select count(*) from pg_roles where rolname like 'sternpost\_%'`).Scan(&count); err != nil || count != 0 {
		t.Errorf("what was refused left %d roles (%v)", count, err)
	}
}
