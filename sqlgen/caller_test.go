package sqlgen_test

import "testing"

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
  }
  @permission(expression: letter.writer.identity == ctx.identity, actions: [get, list, create, update, delete])
}
role Clerk { emails { "clerk@x" } }
`

// TestCallerIsGone calls every kind of action by a caller whose identity was deleted while
// a token of it lives: each answers 401, whatever it finds, refuses or complains of. By
// one who is there, none does.
func TestCallerIsGone(t *testing.T) {
	t.Parallel()
	a := newApp(t, "letters", letters)
	a.exec(t, `
		insert into app.identity (id) values ('w');
		insert into app.writer (id, identity_id) values ('w', 'w');
		insert into app.letter (id, writer_id, reader_id, text, is_open) values ('closed', 'w', 'w', 'gone', false), ('open', 'w', 'w', 'gone', true);`)
	for _, c := range []struct{ action, body string }{
		{"getLetter", `{"id":"closed"}`},
		{"getLetter", `{"id":"missing"}`},
		{"openLetter", `{"id":"closed"}`},
		{"openLetter", `{"id":"missing"}`},
		{"anyLetter", `{"id":"closed"}`},
		{"roleLetter", `{"id":"closed"}`},
		{"noLetter", `{"id":"closed"}`},
		{"blankLetter", `{"id":"open"}`},
		{"namedLetter", `{"id":"open"}`},
		{"eitherLetter", `{"id":"open"}`},
		{"listLetters", `{}`},
		{"listLetters", `{"where":{"text":{"equals":"gone"}}}`},
		{"listLetters", `{"where":{"text":{"contains":"gone"}},"totalCount":true}`},
		{"listLetters", `{"after":"WzEsICJsaXN0TGV0dGVycytpZCIsICJhIl0"}`}, // behind the letter a
		{"listLetters", `{"limit":3,"offset":1}`},
		{"readLetters", `{}`},
		{"readLetters", `{"last":2}`},
		{"openLetters", `{}`},
		{"openLetters", `{"where":{"text":{"oneOf":["gone"]}}}`},
		{"addLetter", `{"writer":{"id":"w"},"reader":{"id":"w"},"text":"new","isOpen":true}`},
		{"addLetter", `{"writer":{"id":"missing"},"reader":{"id":"w"},"text":"new","isOpen":true}`},
		{"changeLetter", `{"where":{"id":"open"},"values":{"text":"new"}}`},
		{"changeLetter", `{"where":{"id":"open"},"values":{"text":"bad"}}`},
		{"changeLetter", `{"where":{"id":"missing"},"values":{"text":"new"}}`},
		{"openUpLetter", `{"where":{"id":"open"},"values":{"isOpen":true}}`},
		{"openUpLetter", `{"where":{"id":"missing"},"values":{"isOpen":true}}`},
		{"dropLetter", `{"id":"missing"}`},
		{"dropLetter", `{"id":"open"}`},
	} {
		functions := []string{a.action(t, c.action).Function}
		if in, err := a.readers[c.action].Read([]byte(c.body)); err != nil {
			t.Fatalf("%s %s: %v", c.action, c.body, err)
		} else if form, ok := a.action(t, c.action).Forms[in.OperatorSet()]; ok && in.PlainPage() {
			functions = append(functions, form)
		}
		for _, function := range functions {
			if got := a.callFunction(t, function, c.body, "gone"); got != "SP401" {
				t.Errorf("api.%s %s by a caller who is gone answers %s", function, c.body, got)
			}
			for _, caller := range []string{"me", "w", ""} {
				if got := a.callFunction(t, function, c.body, caller); got == "SP401" {
					t.Errorf("api.%s %s by %q answers %s", function, c.body, caller, got)
				}
			}
		}
	}
}
