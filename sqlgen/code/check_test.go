package code_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/code"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// found returns the errors in a file, one a line.
func found(text string) []string {
	var errs syntax.Errors
	file := &syntax.Source{Name: "functions/a.sql", Text: []byte(text)}
	code.Check([]*syntax.Source{file}, &errs)
	var lines []string
	for _, d := range errs.Sorted() {
		marked := text[d.Span.Start.Offset:d.Span.End.Offset]
		lines = append(lines, fmt.Sprintf("%s %s %q %s", d.Span.Start, d.Code, marked, d.Message))
	}
	return lines
}

// head begins a function. Its body follows.
const head = "create function functions.a() returns int\nlanguage "

// TestCodeThatIsTaken tests that functions are accepted in every spelling.
func TestCodeThatIsTaken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"",
		"-- nothing yet",
		head + "sql as $$ select 1 $$",
		head + "plpgsql as $a$x := 'no $$ matter \\! here'; $a$;",
		";;CREATE OR REPLACE FUNCTION \"functions\".\"B\"(é text default 'é') returns int begin atomic select 1; select 2; end; ;",
		head + "sql as $$ select 1 $$;\ncomment on function functions.a() is E'it\\'s; \\\\! ls'; comment on function functions.a is null;",
		"-- \\! in a comment /* and '\n/* \\! /* ' */ $$ */ " + head + "sql return (array[1, 2])[1 : 2]",
		head + "sql as 'select'\n  ' 1'",
	} {
		if got := found(text); got != nil {
			t.Errorf("%s\n%s", text, strings.Join(got, "\n"))
		}
	}
}

// TestCodeThatIsRefused is the table of attacks on the border between files of custom
// code and the owner who installs them, with what merely is not taken.
func TestCodeThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, text, want string }{
		{"row security taken off", "alter table app.order disable row level security;", `1:1 FunctionStatement "alter"`},
		{"behind a function", "/* é */ " + head + "sql as 'select 1'; -- é\n  drop table app.order", `3:3 FunctionStatement "drop"`},
		{"rights", "grant all on app.order to public", `1:1 FunctionStatement "grant"`},
		{"rights on a function", "revoke all on function functions.a() from public", `1:1 FunctionStatement "revoke"`},
		{"a block", "do $$ begin null; end $$", `1:1 FunctionStatement "do"`},
		{"copy to a program", "copy app.order to program 'sh'", `1:1 FunctionStatement "copy"`},
		{"rows", "with a as (delete from app.order) select 1", `1:1 FunctionStatement "with"`},
		{"a setting", "set row_security = off", `1:1 FunctionStatement "set"`},
		{"the end of the transaction", "commit", `1:1 FunctionStatement "commit"`},
		{"a call", "call functions.a()", `1:1 FunctionStatement "call"`},
		{"a function altered", "alter function functions.a() owner to postgres", `1:1 FunctionStatement "alter"`},
		{"a function of the platform", "create or replace function platform.identity_id() returns text language sql as 'select null'", `1:1 FunctionStatement "create" custom code makes functions in schema functions only: call it functions.identity_id`},
		{"no schema", "create function a() returns int language sql as 'select 1'", `call it functions.a`},
		{"another database", "create function functions.functions.a() returns int language sql as 'select 1'", `FunctionStatement`},
		{"a procedure", "create procedure functions.a() language sql as 'select 1'", `1:1 FunctionStatement "create" schema functions can contain only functions, and this is a procedure`},
		{"a type", "create type functions.a as (b int)", `can contain only functions, and this is a type`},
		{"a domain", "create domain functions.a as int", `can contain only functions, and this is a type`},
		{"a table", "create table functions.a (b int)", `1:1 FunctionStatement "create"`},
		{"an aggregate", "create aggregate functions.a(int) (sfunc = int4pl, stype = int)", `1:1 FunctionStatement "create"`},
		{"a trigger", "create trigger a before insert on app.order for each row execute function functions.a()", `tables, with their rules`},
		{"a comment on a table", "comment on table app.order is 'x'", `1:1 FunctionStatement "comment"`},
		{"a comment on another function", "comment on function platform.action() is 'x'", `1:1 FunctionStatement "comment"`},
		{"machine code", "create function functions.a() returns int language c as 'lib', 'f'", `c is not one`},

		{"a command of psql", "\\! ls", `1:1 Syntax "\\" the file is SQL, which has no commands of psql`},
		{"a command behind a statement", head + "sql as 'select 1' \\; \\! ls", `2:28 Syntax "\\"`},
		{"a command behind a carriage return", "-- a comment\r\\! ls\n", `1:14 Syntax "\\"`},
		{"a command within a$x$", head + "sql return 1 as a$x$;\n\\! ls\n-- $x$", `3:1 Syntax "\\"`},
		{"a command behind a$x$", "create function functions.a(a$x$ int) returns int language sql return 1;\n\\! ls\n-- $x$\n", `2:1 Syntax "\\"`},
		{"a command behind an escape", head + "sql as E'\\\\';\n\\! ls '", `3:1 Syntax "\\"`},
		{"a command behind a quote of no escape", head + "sql as '\\';\n\\! ls '", `3:1 Syntax "\\"`},
		{"a command behind a nested comment", "/* /* */ */ \\! ls */", `1:13 Syntax "\\"`},
		{"a variable of psql", head + "sql return (array[1])[1:HOST]", `2:33 Syntax ":HOST" psql reads :HOST as a variable`},
		{"a variable of psql in quotes", head + "sql return (array[1])[1:\"LAST_ERROR_MESSAGE\"]", `Syntax ":\"LAST_ERROR_MESSAGE\""`},

		{"no end", head + "sql as $a$ select 1", `2:17 Syntax "$" unterminated dollar-quoted string`},
		{"a comment without end", "select 1; /* /* */", `1:11 Syntax "/" unterminated /* comment`},
		{"behind a body without quotes", head + "begin atomic select case when true then 1 end; select 2; end; drop table app.order", `2:72 FunctionStatement "drop"`},
		{"machine code, escaped", "create function functions.a() returns int language E'\\x63' as 'lib', 'f'", `FunctionStatement`},
		{"no UTF-8", "-- caf\xe9", `1:7 BadEncoding`},
		{"U+0000", "-- a\n\x00; drop table app.order", `2:1 BadEncoding`},
	} {
		got := found(c.text)
		if len(got) == 0 || !strings.Contains(got[0], c.want) || len(got) > 1 {
			t.Errorf("%s\n%s\ngot  %s\nwant %s", c.what, c.text, strings.Join(got, "\n     "), c.want)
		}
	}
}

// TestSettings tests that code that sets the platform's settings is found in every
// spelling, and that nothing else is.
func TestSettings(t *testing.T) {
	t.Parallel()
	body := func(language, text string) string { return head + language + " as $f$\n" + text + "\n$f$;" }
	for _, c := range []struct {
		text string
		want []string // what is marked
	}{
		{body("sql", "select set_config('sternpost.action', 'x', true)"), []string{"set_config('sternpost.action'"}},
		{body("sql", "select pg_catalog . \"set_config\" /* a */ ( ' Sternpost.Action'::text, 'x', true)"), []string{"\"set_config\" /* a */ ( ' Sternpost.Action'"}},
		{body("sql", "select set_config(is_local => true, setting_name => 'work_mem', new_value => '1')"), []string{"set_config"}},
		{body("sql", "select set_config(setting_name => 'sternpost.x', new_value => '1', is_local => true)"), []string{"set_config(setting_name => 'sternpost.x'"}},
		{body("sql", "select set_config('stern' || 'post.action', 'x', true)"), []string{"set_config"}},
		{body("plpgsql", "begin perform set_config(v_name, 'x', true); end"), []string{"set_config"}},
		{body("plpgsql", "begin set local sternpost.action = 'x'; SET SESSION \"sternpost.action\" to 'x'; reset Sternpost.Action; set\nsternpost . action = 1; end"),
			[]string{"set local sternpost.action", "SET SESSION \"sternpost.action\"", "reset Sternpost.Action", "set\nsternpost . action"}},
		{body("plpgsql", "begin reset all; end"), []string{"reset all"}},
		{body("plpgsql", "begin execute 'set local sternpost.action = ''x'''; end"), []string{"set local sternpost.action"}},
		{body("plpgsql", "begin execute $$select set_config('sternpost.action', 'x', true)$$; end"), []string{"set_config('sternpost.action'"}},
		{body("plpgsql", "begin execute 'select set_config(''sternpost.action'', ''x'', true)'; end"), []string{"set_config(''sternpost.action''"}},
		{body("plpgsql", "begin execute format('select set_config(%L, %L, true)', 'sternpost.' || 'action', 'x'); end"), []string{"set_config", "'sternpost.'"}},
		{body("plpgsql", "begin do 'begin set local sternpost.action = 1; end'; end"), []string{"set local sternpost.action"}},
		{body("plpgsql", "begin update only pg_catalog.pg_settings set setting = 'on'; end"), []string{"update only pg_catalog.pg_settings"}},
		{body("plpgsql", "begin perform platform.enter('x', '{}'); perform platform . \"enter_caller\"('{}'); end"), []string{"platform.enter", "platform . \"enter_caller\""}},
		{head + "sql set sternpost.action = 'x' as 'select 1';", []string{"set sternpost.action"}},
		{head + "sql begin atomic select set_config('sternpost.action', 'x', true); end;", []string{"set_config('sternpost.action'"}},
		{body("plpgsql", "begin alter function functions.a() set sternpost.action = 'x'; end"), []string{"set sternpost.action"}},

		{body("sql", "select current_setting('sternpost.request_id', true), set_config('work_mem', '1MB', true) -- set sternpost.action"), nil},
		{body("plpgsql", "begin set local work_mem = '1MB'; reset work_mem; update app.order set sternposts = 1; raise 'reset all first'; end"), nil},
		{head + "sql set search_path = pg_catalog, pg_temp set work_mem = '1MB' as 'select 1';", nil},
		{body("sql", "select platform.identity_id(), 'sternpost. a text' -- platform.enter('x')"), nil},
	} {
		var got []string
		for _, line := range found(c.text) {
			var marked string
			parts := strings.SplitN(line, " ", 3)
			if _, err := fmt.Sscanf(parts[2], "%q", &marked); err != nil {
				t.Fatal(err)
			}
			if parts[1] != "FunctionSetting" {
				marked = line
			}
			got = append(got, marked)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s\ngot  %q\nwant %q", c.text, got, c.want)
		}
	}
}

// TestUnguardedCode tests the warnings for code that names objects that row security does
// not bind, and for code that enters another call.
func TestUnguardedCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		want []string
	}{
		{"select * from app.order", nil},
		{"-- not from related.order, nor api.a()\nselect 1", nil},
		{"/* not from related.order */ select 'unrelated. Platform.entered', a.related.b, api.a from api", nil},
		{"select * from related.order join related . customer on true", []string{"2:34 FunctionUnguarded related.", "2:53 FunctionUnguarded related ."}},
		{"select '--', * from RELATED.order; -- related.order", []string{"2:40 FunctionUnguarded RELATED."}},
		{`select 'select * from "related"."order"'`, []string{`2:42 FunctionUnguarded "related".`}},
		{"select platform.enter('getOrder', '{}')", []string{"2:27 FunctionSetting platform.enter"}},
		{"select platform.enter_request('{}')", []string{"2:27 FunctionSetting platform.enter_request"}},
		{"select platform.enter_caller('{}'), api.get_order('o', null)",
			[]string{"2:27 FunctionSetting platform.enter_caller", "2:56 FunctionSetting api.get_order"}},
	} {
		text := head + "sql as $b$" + c.body + "$b$"
		var errs syntax.Errors
		code.Check([]*syntax.Source{{Name: "functions/a.sql", Text: []byte(text)}}, &errs)
		var got []string
		for _, d := range errs {
			if d.Warning != (d.Code == "FunctionUnguarded") {
				t.Errorf("%s: warning %v", d.Code, d.Warning)
			}
			got = append(got, fmt.Sprintf("%s %s %s", d.Span.Start, d.Code, text[d.Span.Start.Offset:d.Span.End.Offset]))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s\ngot  %q\nwant %q", c.body, got, c.want)
		}
	}
}

// TestPlaces tests that errors in quotes within quotes are reported at their places.
func TestPlaces(t *testing.T) {
	t.Parallel()
	text := head + "plpgsql as '\nbegin\n  execute ''select ''''é'''', set_config(''''sternpost.action'''', ''''x'''', true)''; end';"
	got := found(text)
	if len(got) != 1 || !strings.HasPrefix(got[0], "4:31 FunctionSetting") {
		t.Errorf("got %q", got)
	}
}

func TestStatements(t *testing.T) {
	t.Parallel()
	text := "-- é\n;; create function functions.a() returns int begin atomic select 1; select 2; end;\n" +
		"/* ; */ comment on function functions.a is 'a;b' ; Create Or Replace\n Function functions.\"B c\"() returns int language sql as 'select ;'"
	var got []string
	for _, s := range code.Statements([]byte(text)) {
		got = append(got, fmt.Sprintf("%s|%s|%s", strings.Fields(text[s.Start:])[0], s.Function, text[s.Head:s.HeadEnd]))
	}
	want := []string{"create|a|function functions.a", "comment||", "Create|B c|Function functions.\"B c\""}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
