package sqlgen_test

import (
	"regexp"
	"strings"
	"testing"
)

const threads = `
model Thread {
  fields {
    title Text
    author Author
    editor Author?
    parent Thread?
    replies Thread[]
    remarks Remark[]
    summary Summary?
  }
  actions {
    get getThread(id) { @embed(author.identity, editor, parent.author, replies, remarks.author, summary) }
    list listThreads() { @embed(remarks) }
  }
  @permission(expression: true, actions: [get, list])
}

model Author { fields { name Text  identity Identity? } }
model Remark { fields { thread Thread  author Author?  text Text } }
model Summary { fields { thread Thread @unique  text Text  key Secret? } }
`

var timesOf = regexp.MustCompile(`"createdAt":"[^"]*","updatedAt":"[^"]*"`)

// TestEmbeds compares whole answers: an embedded relation replaces its foreign key, to-manys
// come by id, deeper ones nest, an Identity shows only who the person is, and no write-only
// value is ever shown.
func TestEmbeds(t *testing.T) {
	t.Parallel()
	a := newApp(t, "threads", threads)
	a.exec(t, `insert into app.identity (id, email, email_verified, name, external_id, password) values ('i', 'ada@x.example', true, 'Ada', 'sub', 'hash')`)
	a.exec(t, `insert into app.author (id, name, identity_id) values ('ada', 'Ada', 'i'), ('bob', 'Bob', null)`)
	a.exec(t, `insert into app.thread (id, title, author_id, editor_id, parent_id) values
		('t1', 'one', 'ada', null, null), ('t2', 'two', 'bob', 'ada', 't1'), ('t3', 'three', 'ada', null, 't1')`)
	a.exec(t, `insert into app.remark (id, thread_id, author_id, text) values ('r2', 't1', null, 'b'), ('r1', 't1', 'bob', 'a "quoted" text')`)
	a.exec(t, `insert into app.summary (id, thread_id, text, key) values ('s', 't1', 'short', 'sealed')`)

	for _, test := range []struct{ action, body, want string }{
		{"getThread", `{"id":"t1"}`, `{"id":"t1","title":"one",` +
			`"author":{"id":"ada","name":"Ada","identity":{"id":"i","email":"ada@x.example","name":"Ada","givenName":null,"familyName":null,` +
			`"middleName":null,"nickName":null,"picture":null,"emailVerified":true},AT},` +
			`"editor":null,"parent":null,` +
			`"replies":[{"id":"t2","title":"two","authorId":"bob","editorId":"ada","parentId":"t1",AT},` +
			`{"id":"t3","title":"three","authorId":"ada","editorId":null,"parentId":"t1",AT}],` +
			`"remarks":[{"id":"r1","threadId":"t1","author":{"id":"bob","name":"Bob","identityId":null,AT},"text":"a \"quoted\" text",AT},` +
			`{"id":"r2","threadId":"t1","author":null,"text":"b",AT}],` +
			`"summary":{"id":"s","threadId":"t1","text":"short",AT},AT}`},
		{"getThread", `{"id":"t2"}`, `{"id":"t2","title":"two",` +
			`"author":{"id":"bob","name":"Bob","identity":null,AT},"editor":{"id":"ada","name":"Ada","identityId":"i",AT},` +
			`"parent":{"id":"t1","title":"one","author":{"id":"ada","name":"Ada","identityId":"i",AT},"editorId":null,"parentId":null,AT},` +
			`"replies":[],"remarks":[],"summary":null,AT}`},
		{"getThread", `{"id":"none"}`, `null`},
		{"listThreads", `{"first":2}`, `{"results":[{"id":"t1","title":"one","authorId":"ada","editorId":null,"parentId":null,` +
			`"remarks":[{"id":"r1","threadId":"t1","authorId":"bob","text":"a \"quoted\" text",AT},{"id":"r2","threadId":"t1","authorId":null,"text":"b",AT}],AT},` +
			`{"id":"t2","title":"two","authorId":"bob","editorId":"ada","parentId":"t1","remarks":[],AT}],PAGE`},
	} {
		var got string
		if test.action == "listThreads" {
			got = a.list(t, test.action, test.body)
			got = got[:strings.Index(got, `"pageInfo"`)] + "PAGE"
		} else {
			got = a.call(t, test.action, test.body, "")
		}
		if got = timesOf.ReplaceAllString(got, "AT"); got != test.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", test.action, test.body, got, test.want)
		}
	}
}

// TestEmbedsWithNamesOfParameters embeds rows whose columns have the names of a
// function's parameters, in functions called like their tables: the columns are
// meant, never the call's context.
func TestEmbedsWithNamesOfParameters(t *testing.T) {
	t.Parallel()
	a := newApp(t, "parameters", `
model Start {
  fields { note Note  second Note? }
  actions {
    get note(id) { @embed(note, second) }
    get note2(id) { @embed(note.next) }
  }
  @permission(expression: true, actions: [get])
}
model Note { fields { input Text  context Text  found Boolean  vId Text  next Note? } }
`)
	a.exec(t, `insert into app.note (id, input, context, found, v_id, next_id) values ('n2', 'i2', 'c2', false, 'v2', null), ('n1', 'i1', 'c1', true, 'v1', 'n2')`)
	a.exec(t, `insert into app.start (id, note_id, second_id) values ('s', 'n1', 'n2')`)
	n1 := `{"id":"n1","input":"i1","context":"c1","found":true,"vId":"v1","nextId":"n2",AT}`
	n2 := `{"id":"n2","input":"i2","context":"c2","found":false,"vId":"v2","nextId":null,AT}`
	for action, want := range map[string]string{
		"note":  `{"id":"s","note":` + n1 + `,"second":` + n2 + `,AT}`,
		"note2": `{"id":"s","note":{"id":"n1","input":"i1","context":"c1","found":true,"vId":"v1","next":` + n2 + `,AT},"secondId":"n2",AT}`,
	} {
		if got := timesOf.ReplaceAllString(a.call(t, action, `{"id":"s"}`, "me"), "AT"); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", action, got, want)
		}
	}
}

// TestFieldsNamedLikeAliases gives fields the names of whole rows in the functions, in the
// action's own model, an embedded one and the one around it.
func TestFieldsNamedLikeAliases(t *testing.T) {
	t.Parallel()
	a := newApp(t, "aliases", `
model Person {
  fields { record Text  keys Text  page Text  element Text  pets Pet[] }
  actions {
    get person(id) { @embed(pets) }
    list persons() { @embed(pets)  @sortable(keys, record) }
    list plain() { @orderBy(keys: asc) }
  }
  @permission(expression: true, actions: [get, list])
}
model Pet {
  fields { owner Person  name Text }
  actions { get pet(id) { @embed(owner) } }
  @permission(expression: true, actions: [get])
}
`)
	a.exec(t, `insert into app.person (id, record, keys, page, element) values ('p', 'r', 'k', 'g', 'e')`)
	a.exec(t, `insert into app.pet (id, owner_id, name) values ('t', 'p', 'Rex')`)
	const person = `{"id":"p","record":"r","keys":"k","page":"g","element":"e"`
	const pet = `{"id":"t","ownerId":"p","name":"Rex",AT}`
	for _, test := range []struct{ action, body, want string }{
		{"person", `{"id":"p"}`, person + `,"pets":[` + pet + `],AT}`},
		{"pet", `{"id":"t"}`, `{"id":"t","owner":` + person + `,AT},"name":"Rex",AT}`},
		{"persons", `{"orderBy":[{"keys":"asc"},{"record":"desc"}]}`, `{"results":[` + person + `,"pets":[` + pet + `],AT}],PAGE`},
		{"persons", `{}`, `{"results":[` + person + `,"pets":[` + pet + `],AT}],PAGE`},
		{"plain", `{"first":1}`, `{"results":[` + person + `,AT}],PAGE`},
	} {
		got := timesOf.ReplaceAllString(a.call(t, test.action, test.body, ""), "AT")
		if at := strings.Index(got, `"pageInfo"`); at >= 0 {
			got = got[:at] + "PAGE"
		}
		if got != test.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", test.action, test.body, got, test.want)
		}
	}
}
