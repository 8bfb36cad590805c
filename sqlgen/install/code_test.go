package install_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// project reads a project: its schema, then its files of custom code as txtar has them.
func project(text string) *sqlgen.Project {
	p := &sqlgen.Project{}
	for _, f := range txtar.Parse([]byte("-- schema.stern --\n" + text)).Files {
		source := &syntax.Source{Name: f.Name, Text: f.Data}
		if f.Name == "schema.stern" {
			p.Files = append(p.Files, source)
		} else {
			p.Functions = append(p.Functions, source)
		}
	}
	return p
}

func compileProject(t testing.TB, text string) *emit.Release {
	return compiletest.Project(t, project(text)).Release()
}

// coded is a schema with one action that has the given code.
func coded(code string) string {
	return `model Order {
  fields { number Text }
  actions { read code(day: Date, tags: Text[]?) returns (Any) }
  @permission(expression: true, actions: [get, list, read])
}
-- functions/code.sql --
` + code
}

const goodCode = `create function functions.code(day date, tags text[]) returns jsonb
language sql
stable
as $$
  select '1'::jsonb;
$$;
`

// TestCodeIsInstalled follows custom code through releases: a change of a file alone is a release, and after every
// other change, functions are as the files say.
func TestCodeIsInstalled(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	steps := []struct {
		what, text string
		changed    bool
		functions  string // in schema functions, and the result of code()
	}{
		{"no code", "model Order { fields { number Text } }\n", true, ""},
		{"code", coded(goodCode), true, "code(date, text[]) = 1"},
		{"the same", coded(goodCode), false, "code(date, text[]) = 1"},
		{"another body", coded(strings.Replace(goodCode, "'1'", "'2'", 1)), true, "code(date, text[]) = 2"},
		{"helpers", coded(strings.Replace(goodCode, "'1'::jsonb", "to_jsonb(functions.one())", 1)) +
			"-- functions/a_helper.sql --\ncreate function functions.one() returns int language sql immutable as 'select 1'\n", true,
			"code(date, text[]), one() = 1"},
		{"a function over rows", coded(goodCode) +
			"-- functions/rows.sql --\ncreate function functions.rows(o app.order) returns text stable begin atomic select o.number; end;\n", true,
			"code(date, text[]), rows(app.\"order\") = 1"},
		{"a column that a function reads goes", strings.Replace(coded(goodCode), "number Text", "name Text", 1), true, "code(date, text[]) = 1"},
		{"the table of a function's argument goes", coded(goodCode) +
			"-- functions/rows.sql --\ncreate function functions.rows(o app.order) returns text stable begin atomic select o.id; end;\n", true,
			"code(date, text[]), rows(app.\"order\") = 1"},
		{"no code again", "model Other { fields { number Text } }\n", true, ""},
	}
	for _, s := range steps {
		outcome, err := install.Install(t.Context(), conn, compileProject(t, s.text))
		if err != nil {
			t.Fatalf("%s: %v", s.what, err)
		}
		if outcome.Changed != s.changed {
			t.Errorf("%s: changed %v, want %v", s.what, outcome.Changed, s.changed)
		}
		var got string
		if err := conn.QueryRow(t.Context(), `
			select coalesce(string_agg(proname || '(' || oidvectortypes(proargtypes) || ')', ', ' order by proname), '')
			from pg_proc where pronamespace = 'functions'::regnamespace and has_function_privilege('sternpost_code', oid, 'execute')
				and not has_function_privilege('sternpost_caller', oid, 'execute')`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != "" {
			var answer string
			if err := conn.QueryRow(t.Context(), "select functions.code(now()::date, null)").Scan(&answer); err != nil {
				t.Fatal(err)
			}
			got += " = " + answer
		}
		if got != s.functions {
			t.Errorf("%s:\ngot  %s\nwant %s", s.what, got, s.functions)
		}
		checkFresh(t, conn, s.text)
	}
}

// ofCode is an action that is built in, or runs custom code.
func ofCode(isCode bool) string {
	text := `model Order {
  fields { number Text }
  actions { get orderOf(id)  get other(id) }
  @permission(expression: true, actions: [get])
}
`
	if !isCode {
		return text
	}
	return strings.Replace(text, "orderOf(id)", "orderOf(id) { @function }", 1) + `-- functions/orderOf.sql --
create function functions.order_of(id text) returns app.order
language sql
stable
as $$
  select o.* from app.order as o where o.id = order_of.id;
$$;
`
}

// TestOwnersFollow checks that the functions of actions belong to the role that their policies are for, regardless of
// what the action was before. This also holds if all of them belonged to the same role, as in releases installed before
// there was another.
func TestOwnersFollow(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	follow := func(what string, isCode bool) {
		t.Helper()
		outcome, err := install.Install(t.Context(), conn, compileProject(t, ofCode(isCode)))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !outcome.Changed {
			t.Errorf("%s: nothing was changed", what)
		}
		rows, err := conn.Query(t.Context(), `select proname || ' ' || proowner::regrole from pg_proc where pronamespace = 'api'::regnamespace order by 1`)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"order_of sternpost_open", "other sternpost_open"}
		if isCode {
			want[0] = "order_of sternpost_code"
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
		checkFresh(t, conn, ofCode(isCode))
	}
	follow("built in", false)
	follow("custom code", true)
	follow("built in again", false)
	follow("custom code again", true)
	mustExec(t, conn, `
		grant create on schema api to sternpost_caller;
		alter function api.order_of owner to sternpost_caller;
		alter function api.other owner to sternpost_caller;
		revoke create on schema api from sternpost_caller;
		grant usage on schema functions to sternpost_caller;
		revoke usage on schema functions from sternpost_code;
		grant execute on all functions in schema functions to sternpost_caller;
		revoke execute on all functions in schema functions from sternpost_code;
		alter policy order_select_open on app.order rename to order_select;
		alter policy order_select on app.order to sternpost_caller;
		revoke all on app.order from sternpost_open;
		grant select on app.order to sternpost_caller;
		update platform.release set description = replace(replace(replace(
			regexp_replace(description::text, '"owner":"sternpost_(code|open)",', '', 'g'), description->'code'->0->>'digest', 'another'),
			'order_select_open', 'order_select'), 'sternpost_open', 'sternpost_caller')::json
		where number = (select max(newest.number) from platform.release as newest)`)
	follow("a release of before", true)
}

// walkingSchema is a model with an action for each rule: open, or over one of the model's relations.
func walkingSchema(rules ...string) string {
	var models, fields, actions strings.Builder
	for n, relation := range []string{"ones", "twos", "threes", "fours", "fives"} {
		fmt.Fprintf(&models, "model M%d { fields { order Order  person Identity } }\n", n)
		fmt.Fprintf(&fields, "    %s M%d[]\n", relation, n)
	}
	for n, rule := range rules {
		expression := "order.number == \"x\""
		if rule != "" {
			expression = "ctx.identity in order." + rule + ".person"
		}
		fmt.Fprintf(&actions, "    update update%c(id) with (number) { @permission(expression: %s) }\n", 'A'+n, expression)
	}
	return models.String() + "model Order {\n  fields {\n    number Text\n" + fields.String() + "  }\n  actions {\n" + actions.String() + "  }\n}\n"
}

// TestActionsMoveBetweenOwners follows actions from one role to another, as rules start and stop walking relations:
// policies, grants and functions equal those of an installation into an empty database.
func TestActionsMoveBetweenOwners(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	const open, caller, second = "sternpost_open", "sternpost_caller", "sternpost_caller_2"
	for _, s := range []struct {
		what  string
		rules []string
		want  []string
	}{
		{"no relation", []string{"", ""}, []string{open, open}},
		{"one walks", []string{"ones", ""}, []string{caller, open}},
		{"the other walks", []string{"", "ones"}, []string{open, caller}},
		{"three relations", []string{"ones", "twos", "threes", "ones", "threes"}, []string{caller, caller, caller, caller, caller}},
		{"five", []string{"ones", "twos", "threes", "fours", "fives"}, []string{caller, caller, caller, second, second}},
		{"others first", []string{"fours", "fives", "ones", "twos", "fours"}, []string{caller, caller, caller, second, caller}},
		{"fewer", []string{"twos", ""}, []string{caller, open}},
		{"none", nil, nil},
	} {
		text := walkingSchema(s.rules...)
		if _, err := install.Install(t.Context(), conn, compileProject(t, text)); err != nil {
			t.Fatalf("%s: %v", s.what, err)
		}
		rows, err := conn.Query(t.Context(), "select proowner::regrole::text from pg_proc where pronamespace = 'api'::regnamespace order by proname")
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, s.want) {
			t.Errorf("%s: got %v, want %v", s.what, got, s.want)
		}
		checkFresh(t, conn, text)
	}
}

// checkFresh compares the catalog with that of an empty database in which a project
// was installed at once.
func checkFresh(t *testing.T, conn *pgx.Conn, text string) {
	t.Helper()
	fresh := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	if _, err := install.Install(t.Context(), fresh, compileProject(t, text)); err != nil {
		t.Fatal(err)
	}
	checkCatalog(t, catalog(t, conn), catalog(t, fresh))
}

// TestCodeThatIsRefused checks that each error in custom code is reported with its place, and nothing is changed then.
func TestCodeThatIsRefused(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	if _, err := install.Install(t.Context(), conn, compileProject(t, coded(goodCode))); err != nil {
		t.Fatal(err)
	}
	before := catalog(t, conn)
	for _, c := range []struct{ what, code, want string }{
		{"a syntax error", "create function functions.code() returns jsonb\nlanguage sql as $$\n  selec 1;\n$$;",
			"functions/code.sql:3:3: syntax error at or near \"selec\" [42601]\n    selec 1;\n    ^^^^^"},
		{"a syntax error of PL/pgSQL", "-- é\ncreate function functions.code() returns jsonb\nlanguage plpgsql as $$\nbegin\n  retur 1;\nend;\n$$;",
			"functions/code.sql:5:3: syntax error at or near \"retur\" [42601]"},
		{"an unknown table", "create function functions.code() returns jsonb\nlanguage sql as $$\n  select to_jsonb(count(*)) from app.orders;\n$$;",
			"functions/code.sql:3:34: relation \"app.orders\" does not exist [42P01]"},
		{"an unknown type", "create function functions.b() returns void language sql as ';';\n\n/* a /* nested; */ comment; */ create function functions.code() returns app.orders language sql as 'select 1; select 2';\n",
			"functions/code.sql:3:32: type \"app.orders\" does not exist [42704]"},
		{"twice the same", goodCode + "comment on function functions.code is E'\\'; ';\ncreate function functions.b(\";\" text) returns int language sql as 'select 1';\n" + goodCode,
			"functions/code.sql:9:1: function \"code\" already exists with same argument types [42723]"},
		{"behind a body without quotes", "create function functions.a() returns int begin atomic select case when true then 1 end; select 2; end;\ncomment on function functions.b() is '';",
			"functions/code.sql:2:1: function functions.b() does not exist [42883]"},
		{"an error with a hint", "create function functions.code() returns jsonb\nlanguage sql as $$\n  select lowr('X')::jsonb;\n$$;",
			"note: No function matches the given name and argument types."},
		{"missing", "create function functions.other() returns int language sql as 'select 1';",
			"functions/code.sql:1:1: the function of the action code is missing [FunctionSignature]\n" +
				"    create function functions.other() returns int language sql as 'select 1';\n    ^\n" +
				"note: expected: create function functions.code(day date, tags text[]) returns jsonb"},
		{"another type", "-- code\n" + strings.Replace(goodCode, "day date", "day text", 1),
			"functions/code.sql:2:8: functions.code is not the function that the action code calls [FunctionSignature]"},
		{"shows what was found", strings.Replace(goodCode, "tags text[]", "labels text[] default '{}', tag text default 'x'", 1),
			"note: found:    create function functions.code(day date, labels text[] default …, tag text default …) returns jsonb"},
		{"another result", strings.Replace(goodCode, "returns jsonb", "returns setof jsonb", 1), "returns setof jsonb"},
		{"a procedure", "create procedure functions.code(day date, tags text[]) language sql as 'select 1';", "and this is a procedure"},
		{"further parameter without default", strings.Replace(goodCode, "tags text[]", "tags text[], more text", 1), "[FunctionSignature]"},
		{"two that fit", goodCode + strings.Replace(goodCode, "tags text[]", "tags text[], more text default ''", 1),
			"several functions functions.code fit the action code [FunctionSignature]"},
		{"no pinned path", strings.Replace(goodCode, "stable\n", "stable\nsecurity definer\n", 1),
			"functions/code.sql:1:8: functions.code is security definer and does not pin its search_path"},
		{"no pinned path of a helper", goodCode + "create or replace function\n  functions.helper() returns int language sql security definer as 'select 1';",
			"functions/code.sql:7:19: functions.helper is security definer"},
		{"a table", goodCode + "create table functions.t (a int);", "functions/code.sql:7:1: custom code makes functions in schema functions, and nothing else"},
		{"a trigger", goodCode + "create function functions.tg() returns trigger language plpgsql as 'begin return new; end';\n" +
			"create trigger t before insert on app.order for each row execute function functions.tg();",
			"functions/code.sql:8:1: custom code makes functions in schema functions, and nothing else: tables, with their rules and indexes, come from the schema [FunctionStatement]\n" +
				"    create trigger t"},
		{"a table of the application goes", goodCode + "drop table app.order cascade;", "[FunctionStatement]"},
		{"rows go", "-- all\ndelete from app.order;\n" + goodCode, "functions/code.sql:2:1: custom code"},
		{"a function of the platform", goodCode + "create or replace function platform.identity_id() returns text language sql as 'select null';", "[FunctionStatement]"},
		{"a block", goodCode + "do $$ begin drop table app.order; end $$;", "[FunctionStatement]"},
		{"another schema", goodCode + "create function app.f() returns int language sql as 'select 1';", "[FunctionStatement]"},
		{"another function gets open", goodCode + "grant execute on function platform.enter(text, jsonb) to public;", "[FunctionStatement]"},
		{"a syntax error behind quotes in quotes", "create function functions.code() returns jsonb\nlanguage sql as 'select ''é'',\n  fro x fro'",
			"functions/code.sql:3:9: syntax error at or near \"fro\" [42601]"},
		{"behind what looks like a body", "create function functions.code() returns int begin atomic select 1 case; end; drop table app.order; select 2; end",
			"cannot insert multiple commands into a prepared statement [42601]"},
		{"in a body without quotes", "create function functions.code() returns int begin atomic drop table app.order; end", "[0A000]"},
		{"ends the transaction", goodCode + "rollback;", "[FunctionStatement]"},
	} {
		if got := refusalOf(t, conn, coded(c.code)); !strings.Contains(got, c.want) {
			t.Errorf("%s\n%s\ngot\n%s\nwant\n%s", c.what, c.code, got, c.want)
		}
		checkCatalog(t, catalog(t, conn), before)
	}
}

// refusalOf compiles a project and installs it, and returns the message if either refuses.
func refusalOf(t *testing.T, conn *pgx.Conn, text string) string {
	t.Helper()
	compiled, errs := sqlgen.Compile(project(text))
	if compiled == nil {
		return compiletest.Rendered(t, errs)
	}
	if _, err := install.Install(t.Context(), conn, compiled.Release()); err != nil {
		return err.Error()
	}
	return ""
}

// TestCodeThatFits checks that functions may have more than their action needs.
func TestCodeThatFits(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	for _, code := range []string{
		"create function functions.code(tags text[], day date) returns jsonb language sql as 'select null::jsonb';",
		"create function functions.code(day date, tags text[] default '{}', more int default 7) returns jsonb language sql as 'select null::jsonb';",
		"create function functions.code(day date, tags text[], out result jsonb) language sql as 'select null::jsonb';",
		"create function functions.code(day date, variadic tags text[]) returns jsonb language sql as 'select null::jsonb';",
		"create function functions.\"code\"(\"day\" date, tags text[]) returns jsonb language sql security definer set search_path = '' as 'select null::jsonb';",
		"create function functions.code(x int) returns int language sql as 'select x';\n" + goodCode,
		";; CREATE OR REPLACE FUNCTION \"functions\".one() returns int begin atomic; select 1; end;\n" + goodCode +
			"comment on function functions.one is 'one; two'",
	} {
		if _, err := install.Install(t.Context(), conn, compileProject(t, coded(code))); err != nil {
			t.Errorf("%s\n%v", code, err)
		}
	}
}

// TestExamplesOfCodes installs the examples of the codes for refusals and warnings about custom code.
func TestExamplesOfCodes(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	file, err := parser.ParseFile(token.NewFileSet(), "../check/codes.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.Contains(spec.Doc.Text(), "-- functions/code.sql --") {
			return true
		}
		examples++
		code := syntax.Code(spec.Names[0].Name)
		_, example, _ := strings.Cut(spec.Doc.Text(), "\n\n")
		text := strings.ReplaceAll(strings.TrimPrefix(example, "\t"), "\n\t", "\n")
		compiled, errs := sqlgen.Compile(project(text))
		if compiled != nil {
			var refused *install.CodeError
			if _, err := install.Install(t.Context(), conn, compiled.Release()); errors.As(err, &refused) {
				errs = append(errs, refused.Errors...)
			} else if err != nil {
				t.Fatalf("the example of %s: %v", code, err)
			}
		}
		if len(errs) != 1 || errs[0].Code != code {
			t.Errorf("the example of %s\n%s\nis reported as %v", code, text, errs)
		}
		return true
	})
	if examples != 5 {
		t.Errorf("found %d examples, want 5", examples)
	}
}

// TestCodeChangesUnderCalls checks that a session that has called an action takes up new code, and a changed table,
// though the action's function is the same.
func TestCodeChangesUnderCalls(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	owner := db.Owner(t)
	text := func(fields, answer string) string {
		return `model Order {
  fields { number Text ` + fields + ` }
  actions {
    read code() returns (Any)
    get order(id) { @function }
    list orders() { @function }
  }
  @permission(expression: true, actions: [get, list, read])
}
-- functions/code.sql --
create function functions.code() returns jsonb language sql stable as 'select to_jsonb(''` + answer + `''::text)';
-- functions/order.sql --
create function functions.order(id text) returns app.order language sql stable as 'select o from app.order as o where o.id = "order".id';
-- functions/orders.sql --
create function functions.orders() returns setof app.order language sql stable as 'select o.* from app.order as o';
`
	}
	var server *pgx.Conn
	for i, step := range []struct{ fields, answer string }{
		{"", "one"}, {"", "two"}, {"key Secret?", "three"}, {"key Secret? other Password?", "four"}, {"other Password?", "five"}, {"", "six"},
	} {
		if _, err := install.Install(t.Context(), owner, compileProject(t, text(step.fields, step.answer))); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			mustExec(t, owner, "insert into app.order (id, number) values ('o', 'n')")
			server = db.Server(t)
		}
		for range 2 {
			var read, get, list string
			if err := server.QueryRow(t.Context(), `
				select api.code('{}', '{}'), (api.order__action('{"id":"o"}', '{}')).number, (select number from api.orders('{}', '{}'))`,
			).Scan(&read, &get, &list); err != nil {
				t.Fatalf("with %q: %v", step.answer, err)
			}
			if got, want := read+" "+get+" "+list, `"`+step.answer+`" n n`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}
