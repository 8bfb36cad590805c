package explain_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/explain"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/manifest"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestGolden explains the calls of the cases in testdata. A case is a project, its
// rows, and sections that are named for a call: want, the action, and what the
// command takes as flags.
func TestGolden(t *testing.T) {
	t.Parallel()
	casetest.Run(t, "testdata/*.txtar", func(t *testing.T, c *casetest.Case) {
		checked, _ := check(t, c.Archive)
		conn := tables(t, c.Archive, c.Content("rows.sql"))
		for i, section := range c.Files {
			call, ok := strings.CutPrefix(section.Name, "want ")
			if !ok {
				continue
			}
			got := explained(t, conn, checked, call)
			c.Want(t, i, got)
			if strings.Contains(got, "hash") || strings.Contains(got, "s3cret") && !strings.Contains(call, "s3cret") {
				t.Errorf("%s shows a secret:\n%s", call, got)
			}
		}
	})
}

// check checks the project of an archive.
func check(t *testing.T, archive *txtar.Archive) (*model.Schema, *sqlgen.Project) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "want ") || f.Name == "rows.sql" {
			continue
		}
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	checked, errs := sqlgen.Check(project)
	if checked == nil {
		var b strings.Builder
		if err := syntax.Render(&b, errs, syntax.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("the project has errors:\n%s", b.String())
	}
	return checked, project
}

// tables makes a database with the tables of a schema and rows in them. Its actions
// are left out: nothing here calls them.
func tables(t *testing.T, archive *txtar.Archive, rows string) *pgx.Conn {
	t.Helper()
	s, _ := check(t, archive)
	bare := &model.Schema{Config: s.Config, Enums: s.Enums, Models: s.Models}
	for _, m := range s.Models {
		m.Rules, m.Actions, m.Validations = nil, nil, nil
	}
	db := pgtest.New(t, pgtest.Options{})
	lowered, m := lower.Schema(bare, "schema.stern")
	emit.Render(lowered)
	manifest.Complete(m, bare)
	if _, err := install.Install(t.Context(), db.Owner(t), &emit.Release{Database: lowered, Manifest: m.Text()}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Superuser(t).Exec(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	return db.Owner(t)
}

// explained explains a call that is written as the action and key=value pairs.
func explained(t *testing.T, conn *pgx.Conn, s *model.Schema, call string) string {
	t.Helper()
	words := strings.Fields(call)
	r := explain.Request{Headers: map[string]string{}, Secrets: map[string]string{"SHOP_KEY": "s3cret"}}
	for _, a := range s.Actions {
		if a.Name == words[0] {
			r.Action = a
		}
	}
	for _, a := range s.CodeActions() {
		if a.Name == words[0] {
			r.Action = a.Action
		}
	}
	format := explain.Text
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "as":
			r.Caller = value
		case "input":
			r.Input = json.RawMessage(value)
		case "conditions":
			r.Conditions = true
		case "row":
			r.Row = value
		case "shown":
			r.Token = auth.TokenText(time.Now(), "", auth.Shown{At: time.Now().Unix(), Methods: strings.Fields(value)})
		case "header":
			name, value, _ := strings.Cut(value, "=")
			r.Headers[name] = value
		case "format":
			format = func(e *explain.Explanation) string { return string(explain.JSON(e)) }
		default:
			t.Fatalf("%s: there is no %s", call, key)
		}
	}
	e, err := run(t, conn, s, r)
	if err != nil {
		t.Fatalf("explain %s: %v", call, err)
	}
	return format(e)
}

// run explains a request in a transaction that can only read.
func run(t *testing.T, conn *pgx.Conn, s *model.Schema, r explain.Request) (*explain.Explanation, error) {
	t.Helper()
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	return explain.Explain(t.Context(), tx, s, r)
}

// TestCallers names missing or ambiguous callers.
func TestCallers(t *testing.T) {
	t.Parallel()
	archive := &txtar.Archive{Files: []txtar.File{{Name: "schema.stern", Data: []byte(
		"model Note { fields { text Text } actions { get getNote(id) } @permission(expression: ctx.isAuthenticated, actions: [get]) }")}}}
	checked, _ := check(t, archive)
	conn := tables(t, archive, "insert into app.identity (id, email, issuer) values ('a', 'x@a.example', 'one'), ('b', 'x@a.example', 'two')")
	for caller, want := range map[string]string{
		"nobody":      "there is no Identity with the id or e-mail nobody",
		"x@a.example": "several Identities have the e-mail x@a.example",
	} {
		_, err := run(t, conn, checked, explain.Request{Action: checked.Actions[0], Caller: caller, Input: json.RawMessage(`{"id":"x"}`)})
		var wrong *explain.CallerError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("as %s: got %v, want %s", caller, err, want)
		}
	}
}
