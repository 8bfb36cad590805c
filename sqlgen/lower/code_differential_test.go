package lower

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// TestCodeDifferential enters as code of jobs and of a subscriber, under random rules that name them for random kinds,
// and compares the rows that it may read, update and delete with those that the interpreter admits.
func TestCodeDifferential(t *testing.T) {
	t.Parallel()
	outcomes := map[string]int{}
	forDifferentialTime(t, func(t *testing.T, seed uint64) { runRuled(t, seed, outcomes) }, 1, 2, 3)
	t.Logf("rows: %v", outcomes)
	for _, does := range []string{"select", "update", "delete"} {
		for _, outcome := range []string{"admitted", "refused"} {
			if n := outcomes[does+" "+outcome]; n < 40 && !t.Failed() {
				t.Errorf("%s was %s only %d times: this shows little", does, outcome, n)
			}
		}
	}
}

// codes are the jobs and the subscriber of the test, and the code of each.
var codes = []struct{ name, declaration, function string }{
	{"Close", "job Close { @permission(expression: true) }\n", "close() returns void"},
	{"Sweep", "job Sweep { @schedule(\"every day at 9am\") }\n", "sweep() returns void"},
	{"watch", "", "watch(event jsonb) returns void"},
}

// codeKinds are what each statement needs.
var codeKinds = map[string][]model.Kind{
	"select": {model.Get, model.List}, "update": {model.Update}, "delete": {model.Delete},
}

// runRuled makes a schema whose rules name code, and enters as the code in several worlds.
func runRuled(t *testing.T, seed uint64, outcomes map[string]int) {
	r := newRandom(seed)
	lab := newLaboratory(t, randomModels(r))
	rules := slices.DeleteFunc(lab.check(t, lab.randomRules(r)), func(s *subject) bool { return len(expr.Mentions(s.nodes...).Inputs) > 0 })
	text := lab.codeText(r, rules)
	checked := mustCheck(t, text)
	conn := installedCode(t, checked, text)
	for range 20 {
		w := randomWorld(r, lab.schema, lab.inputs, true)
		w.shown, w.isSecond = nil, false // code has no session
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lab.set(t, tx, w)
		if _, err := tx.Exec(t.Context(), "set local role sternpost_code"); err != nil {
			t.Fatal(err)
		}
		for _, code := range codes {
			caller := *w
			if code.name == "watch" || r.chance(30) || w.call(nil).Identity == nil {
				caller.identity = ""
			}
			for _, m := range checked.Models {
				if !m.IsIdentity {
					compareCode(t, tx, &caller, code.name, m, outcomes, fmt.Sprintf("seed %d by %q\n%s\n%s", seed, caller.identity, text, w.sql()))
				}
			}
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// compareCode compares what code may do to the rows of a model.
func compareCode(t *testing.T, tx pgx.Tx, w *world, code string, m *model.Model, outcomes map[string]int, circumstances string) {
	t.Helper()
	admits := func(row *testRow, does string) bool {
		return slices.ContainsFunc(m.Rules, func(r *model.Rule) bool {
			isFor := slices.Contains(r.Jobs, code) && slices.ContainsFunc(codeKinds[does], func(k model.Kind) bool { return slices.Contains(r.JobKinds, k) })
			return isFor && expr.Admits(w.call(row), r.Expression)
		})
	}
	table := pg.Qualified("app", m.Table)
	statements := map[string]string{"select": "select id from " + table, "delete": "delete from " + table + " returning id"}
	for _, f := range m.Stored() {
		if !f.BuiltIn && !f.IsGiven() {
			statements["update"] = fmt.Sprintf("update %s set %s = %[2]s returning id", table, pg.Ident(f.Column))
		}
	}
	for _, does := range []string{"select", "update", "delete"} {
		if statements[does] == "" {
			continue
		}
		got, want := doAsCode(t, tx, w, code, statements[does], circumstances), []string{}
		for _, row := range w.rows[m.Name] {
			outcome := "refused"
			if admits(row, "select") && admits(row, does) {
				want, outcome = append(want, row.ID()), "admitted"
			}
			outcomes[does+" "+outcome]++
		}
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Fatalf("%s may %s the rows %v of %s, want %v\n%s", code, does, got, m.Name, want, circumstances)
		}
	}
}

// doAsCode runs a statement as code, and returns the ids that it returns. What the code has no right to do touches none.
func doAsCode(t *testing.T, tx pgx.Tx, w *world, code, statement, circumstances string) []string {
	t.Helper()
	inner, err := tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Rollback(t.Context())
	entered := map[string]string{}
	if w.identity != "" {
		entered["identityId"] = w.identity
	}
	text, err := json.Marshal(entered)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inner.Exec(t.Context(), "select platform.enter_job($1, $2)", code, string(text)); err != nil {
		t.Fatalf("enter %s: %v\n%s", code, err, circumstances)
	}
	rows, err := inner.Query(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == "42501" && strings.HasPrefix(refused.Message, "permission denied") {
		return []string{}
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", statement, err, circumstances)
	}
	slices.Sort(ids)
	return ids
}

// codeText is the schema with rules that name random code, for random kinds or all.
func (lab *laboratory) codeText(r random, rules []*subject) string {
	var b strings.Builder
	b.WriteString(testEnums)
	for _, c := range codes {
		b.WriteString(c.declaration)
	}
	for i, m := range lab.models {
		members := ""
		if i == 0 {
			members = "  @on([create], watch)\n"
		}
		own := slices.DeleteFunc(slices.Clone(rules), func(s *subject) bool { return s.model != m.name })
		for _, s := range own[:min(5, len(own))] { // of more, one admits every row
			names, kinds := []string{pick(r, codes).name}, ""
			if other := pick(r, codes).name; other != names[0] {
				names = append(names, other)
			}
			if r.chance(70) {
				list := []string{"get", "list", "create", "update", "delete"}
				kinds = ", actions: [" + strings.Join(list[r.IntN(3):3+r.IntN(3)], ", ") + "]"
			}
			members += fmt.Sprintf("  @permission(expression: %s, jobs: [%s]%s)\n", s.terms[0], strings.Join(names, ", "), kinds)
		}
		b.WriteString(m.text(members))
	}
	return b.String()
}

// installedCode installs a schema with the code of its jobs and subscriber.
func installedCode(t *testing.T, s *model.Schema, text string) *pgx.Conn {
	t.Helper()
	lowered, manifest := Schema(s, "test.stern")
	for _, c := range codes {
		lowered.Code = append(lowered.Code, &pg.CodeFile{
			Name: "functions/" + c.function[:5] + ".sql", Text: "create function functions." + c.function + " language sql volatile as 'select';\n",
		})
	}
	emit.Render(lowered)
	Complete(manifest, s)
	db := pgtest.New(t, pgtest.Options{})
	if _, err := install.Install(t.Context(), db.Owner(t), &emit.Release{Database: lowered, Manifest: manifest.Text()}); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	conn := db.Superuser(t)
	if _, err := conn.Exec(t.Context(), "set session_replication_role = replica; set jit = off"); err != nil {
		t.Fatal(err)
	}
	return conn
}
