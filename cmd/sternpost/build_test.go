package main_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
)

// workshop is the example app.
func workshop(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../integration/apps/workshop")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// hostile is a project full of names and texts that mean something in SQL.
func hostile(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("../../integration/testdata/names.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == "schema.stern" {
			return files(t, map[string]string{f.Name: string(f.Data)})
		}
	}
	t.Fatal("the case has no schema.stern")
	return ""
}

// TestBuild builds projects twice and runs the script against an empty database.
func TestBuild(t *testing.T) {
	t.Parallel()
	fresh := filepath.Join(t.TempDir(), "fresh")
	command{args: []string{"init", fresh}}.expect(t, 0, "")
	for _, test := range []struct{ name, dir string }{
		{"workshop", workshop(t)},
		{"a new project", fresh},
		{"names and texts that mean something in SQL", hostile(t)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			script := command{args: []string{"build", test.dir}}.expect(t, 0, "")
			// The folder and its name do not matter.
			if again := (command{args: []string{"build"}, dir: test.dir}).expect(t, 0, ""); again != script {
				t.Error("built twice, the scripts differ")
			}
			db := pgtest.New(t, pgtest.Options{Empty: true})
			runScript(t, db, script)

			var number, functions int
			err := db.Owner(t).QueryRow(t.Context(), `select (select max(number) from platform.release),
				(select count(*) from pg_proc where pronamespace = 'api'::regnamespace)`).Scan(&number, &functions)
			if err != nil || number != 1 || functions < 5 {
				t.Errorf("after the script: release %d, %d functions (%v)", number, functions, err)
			}
		})
	}
}

// runScript runs a script in one transaction as the owner of a database: with psql, as
// users are told to, or without it as psql -1 would.
func runScript(t *testing.T, db *pgtest.DB, script string) {
	t.Helper()
	if psql := program.FindPostgres("psql"); psql != "" {
		cmd := exec.Command(psql, "-1", "-X", "-q", "-v", "ON_ERROR_STOP=1", db.OwnerURL())
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("psql: %v\n%s", err, out)
		}
		return
	}
	_, err := db.Owner(t).PgConn().Exec(t.Context(), "begin;\n"+script+"\ncommit;").ReadAll()
	if err != nil {
		t.Fatalf("run the script: %v", err)
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": strings.Replace(noteSchema, "text Text", "text Txet", 1)})
	if out := (command{args: []string{"build", dir}}).expect(t, exitInput, "schema.stern:3:10"); out != "" {
		t.Errorf("build of a broken schema printed %q", out)
	}
	empty := t.TempDir()
	command{args: []string{"build", empty}}.expect(t, exitInput, "NoSchema")
	command{args: []string{"build", filepath.Join(empty, "none")}}.expect(t, exitEnvironment, "none")
}

// TestScriptIsForOnce runs a script again against the same database. It must not take the
// existing platform for its own.
func TestScriptIsForOnce(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": noteSchema})
	script := command{args: []string{"build", dir}}.expect(t, 0, "")
	db := pgtest.New(t, pgtest.Options{Empty: true})
	runScript(t, db, script)
	conn, err := pgx.Connect(t.Context(), db.OwnerURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.PgConn().Exec(t.Context(), "begin;\n"+script+"\ncommit;").ReadAll(); err == nil {
		t.Error("a second run is accepted")
	}
}
