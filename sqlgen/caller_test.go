package sqlgen_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/sternpost/sternpost/integration/calls"
)

const letters = `
model Writer { fields { identity Identity @unique  letters Letter[] } }
model Letter {
  fields { writer Writer  reader Identity  text Text  isOpen Boolean }
  actions {
    get getLetter(id)
    get openLetter(id) { @permission(expression: true) }
    get anyLetter(id) { @permission(expression: ctx.isAuthenticated) }
    get roleLetter(id) { @permission(roles: [Clerk]) }
    get noLetter(id) { @permission(expression: false) }
    get blankLetter(id) { @permission(expression: ctx.identity.email == null && letter.isOpen) }
    get namedLetter(id) { @permission(expression: letter.text == ctx.identity.id) }
    get eitherLetter(id) { @permission(expression: letter.isOpen || letter.reader == ctx.identity) }
    list listLetters(text?)
    list readLetters(text?) { @orderBy(text: asc) @permission(expression: letter.reader == ctx.identity) }
    list openLetters(text?) { @permission(expression: letter.isOpen || letter.reader == ctx.identity) }
    create addLetter() with (writer.id, reader.id, text, isOpen)
    update changeLetter(id) with (text) { @validate(text != "bad", message: "bad") }
    update openUpLetter(id) with (isOpen) { @permission(expression: true) }
    delete dropLetter(id)
    get codedLetter(id) { @function }
    list codedLetters() { @function }
    create addCoded() with (writer.id, reader.id, text, isOpen) { @function }
    update changeCoded(id) with (text) { @function }
    delete dropCoded(id) { @function }
    read countLetters() returns (Any) { @permission(expression: ctx.isAuthenticated) }
    write stampLetters() returns (Any) { @permission(expression: ctx.isAuthenticated) }
  }
  @permission(expression: letter.writer.identity == ctx.identity, actions: [get, list, create, update, delete])
}
role Clerk { emails { "clerk@x" } }
union Post {
  fields { text Text  isOpen Boolean }
  arms { letter Letter }
  actions { get getPost(id)  list listPosts() }
  @permission(expression: post.isOpen || ctx.isAuthenticated && post.text == "gone", actions: [get, list])
}
-- functions/codedLetter.sql --
create function functions.coded_letter(id text) returns app.letter language sql stable as $$
  select letter.* from app.letter where letter.id = coded_letter.id;
$$;
-- functions/codedLetters.sql --
create function functions.coded_letters() returns setof app.letter language sql stable as 'select letter.* from app.letter';
-- functions/addCoded.sql --
create function functions.add_coded(writer_id text, reader_id text, text text, is_open boolean) returns app.letter language sql volatile as $$
  insert into app.letter (writer_id, reader_id, text, is_open) values (writer_id, reader_id, text, is_open) returning letter.*;
$$;
-- functions/changeCoded.sql --
create function functions.change_coded(id text, text text) returns app.letter language sql volatile as $$
  update app.letter set text = change_coded.text where letter.id = change_coded.id returning letter.*;
$$;
-- functions/dropCoded.sql --
create function functions.drop_coded(id text) returns text language sql volatile as $$
  delete from app.letter where letter.id = drop_coded.id returning letter.id;
$$;
-- functions/countLetters.sql --
create function functions.count_letters() returns jsonb language sql stable as 'select to_jsonb(count(*)) from app.letter';
-- functions/stampLetters.sql --
create function functions.stamp_letters() returns jsonb language sql volatile as 'select to_jsonb(count(*)) from app.letter';
`

// TestCallers calls every kind of action as a caller whose identity was deleted while its
// token is valid, anonymously, as a stranger and as the writer of the letters. The first
// gets 401, regardless of rows, refusals or errors. Leftovers of an earlier call of the same
// transaction have no effect.
func TestCallers(t *testing.T) {
	t.Parallel()
	a := installApp(t, "letters", compileProject(t, projectFrom(letters)))
	a.exec(t, `
		insert into app.identity (id) values ('w');
		insert into app.writer (id, identity_id) values ('w', 'w');
		insert into app.letter (id, writer_id, reader_id, text, is_open) values ('closed', 'w', 'w', 'gone', false), ('open', 'w', 'w', 'gone', true);`)
	for _, c := range []struct {
		action, body             string
		nobody, stranger, writer string
	}{
		{"getLetter", `{"id":"closed"}`, "SP403", "SP403", "a record"},
		{"getLetter", `{"id":"missing"}`, "SP403", "null", "null"},
		{"openLetter", `{"id":"closed"}`, "a record", "a record", "a record"},
		{"openLetter", `{"id":"missing"}`, "null", "null", "null"},
		{"anyLetter", `{"id":"closed"}`, "SP403", "a record", "a record"},
		{"anyLetter", `{"id":"missing"}`, "SP403", "null", "null"},
		{"roleLetter", `{"id":"closed"}`, "SP403", "SP403", "SP403"},
		{"noLetter", `{"id":"closed"}`, "SP403", "SP403", "SP403"},
		{"blankLetter", `{"id":"open"}`, "a record", "a record", "a record"},
		{"namedLetter", `{"id":"open"}`, "SP403", "SP403", "SP403"},
		{"eitherLetter", `{"id":"open"}`, "a record", "a record", "a record"},
		{"eitherLetter", `{"id":"closed"}`, "SP403", "SP403", "a record"},
		{"eitherLetter", `{"id":"missing"}`, "null", "null", "null"},
		{"listLetters", `{}`, "SP403", "0 records", "2 records"},
		{"listLetters", `{"where":{"text":{"equals":"gone"}}}`, "SP403", "0 records", "2 records"},
		{"listLetters", `{"where":{"text":{"contains":"gone"}},"totalCount":true}`, "SP403", "0 records", "2 records"},
		{"listLetters", `{"after":"WzEsICJsaXN0TGV0dGVycytpZCIsICJhIl0"}`, "SP403", "0 records", "2 records"}, // behind the letter a,
		{"listLetters", `{"limit":3,"offset":1}`, "SP403", "0 records", "1 records"},
		{"readLetters", `{}`, "SP403", "0 records", "2 records"},
		{"readLetters", `{"last":2}`, "SP403", "0 records", "2 records"},
		{"openLetters", `{}`, "1 records", "1 records", "2 records"},
		{"openLetters", `{"where":{"text":{"oneOf":["gone"]}}}`, "1 records", "1 records", "2 records"},
		{"addLetter", `{"writer":{"id":"w"},"reader":{"id":"w"},"text":"new","isOpen":true}`, "SP403", "42501", "a record"},
		{"addLetter", `{"writer":{"id":"missing"},"reader":{"id":"w"},"text":"new","isOpen":true}`, "SP403", "42501", "42501"},
		{"addLetter", `{"writer":{"id":"w"},"reader":{"id":"missing"},"text":"new","isOpen":true}`, "SP403", "42501", "23503 letter_reader_id_fkey"},
		{"changeLetter", `{"where":{"id":"open"},"values":{"text":"new"}}`, "SP403", "SP403", "a record"},
		{"changeLetter", `{"where":{"id":"open"},"values":{"text":"bad"}}`, "SP403", "SP400", "SP400"},
		{"changeLetter", `{"where":{"id":"missing"},"values":{"text":"new"}}`, "SP403", "SP404", "SP404"},
		{"openUpLetter", `{"where":{"id":"open"},"values":{"isOpen":true}}`, "a record", "a record", "a record"},
		{"openUpLetter", `{"where":{"id":"missing"},"values":{"isOpen":true}}`, "SP404", "SP404", "SP404"},
		{"dropLetter", `{"id":"missing"}`, "SP403", "SP404", "SP404"},
		{"dropLetter", `{"id":"open"}`, "SP403", "SP403", "an id"},
		{"codedLetter", `{"id":"open"}`, "SP403", "null", "a record"},
		{"codedLetter", `{"id":"missing"}`, "SP403", "null", "null"},
		{"codedLetters", `{}`, "SP403", "0 records", "2 records"},
		{"addCoded", `{"writer":{"id":"w"},"reader":{"id":"w"},"text":"new","isOpen":true}`, "SP403", "42501", "a record"},
		{"changeCoded", `{"where":{"id":"open"},"values":{"text":"new"}}`, "SP403", "SP403", "a record"},
		{"changeCoded", `{"where":{"id":"missing"},"values":{"text":"new"}}`, "SP403", "SP404", "SP404"},
		{"dropCoded", `{"id":"open"}`, "SP403", "SP403", "an id"},
		{"dropCoded", `{"id":"missing"}`, "SP403", "SP404", "SP404"},
		{"countLetters", `{}`, "SP403", "0", "2"},
		{"stampLetters", `{}`, "SP403", "0", "2"},
		{"getPost", `{"id":"open"}`, "a record", "a record", "a record"},
		{"getPost", `{"id":"closed"}`, "SP403", "a record", "a record"},
		{"getPost", `{"id":"missing"}`, "null", "null", "null"},
		{"listPosts", `{}`, "1 records", "2 records", "2 records"},
	} {
		functions := []string{a.action(t, c.action).Function}
		if in, err := a.readers[c.action].Read([]byte(c.body)); err != nil {
			t.Fatalf("%s %s: %v", c.action, c.body, err)
		} else if form, ok := calls.Form(a.action(t, c.action), in.OperatorSet(), in.PlainPage(), in.Page().HasCursor); ok {
			functions = append(functions, form)
		}
		for _, function := range functions {
			for caller, want := range map[string]string{"gone": "SP401", "": c.nobody, "me": c.stranger, "w": c.writer} {
				for _, earlier := range []string{"", "w", "me", "gone"} {
					if got := a.outcomeAfter(t, earlier, function, c.body, caller); got != want {
						t.Errorf("api.%s %s by %q after a call by %q answers %s, want %s", function, c.body, caller, earlier, got, want)
					}
				}
			}
		}
	}
}

// outcomeAfter calls a function in a transaction with the leftovers of an earlier call. It
// returns the kind of the answer, and rolls the writes back.
func (a *app) outcomeAfter(t *testing.T, earlier, function, body, caller string) string {
	t.Helper()
	tx, err := a.server.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(), `select set_config('sternpost.action', 'openLetter', true), set_config('sternpost.identity_id', $1, true)`, earlier); err != nil {
		t.Fatal(err)
	}
	answer := a.callFunction(t, function, body, caller)
	var value any
	if json.Unmarshal([]byte(answer), &value) != nil {
		return answer // a SQLSTATE
	}
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		return "an id"
	case map[string]any:
		if results, isList := value["results"].([]any); isList {
			return fmt.Sprintf("%d records", len(results))
		}
		return "a record"
	}
	return answer
}
