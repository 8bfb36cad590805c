package main_test

import (
	"encoding/xml"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

const testedSchema = `model Note {
  fields {
    text Text
    author Identity
  }
  actions {
    create writeNote() with (text) {
      @set(note.author = ctx.identity)
    }
    get getNote(id)
    list listNotes() {
      @orderBy(text: asc)
    }
  }
  @permission(expression: note.author == ctx.identity, actions: [create, get, list])
}
`

const testedSeeds = `identities:
  - {id: ada, email: ada@example.com, password: canary-word}
  - {id: bob, email: bob@example.com, password: canary-word}
rows:
  Note: [{id: one, text: first, authorId: ada}]
calls:
  - {action: writeNote, as: ada, input: {text: second}}
`

// TestTest makes the calls of tests: each file finds the seeds as they are, and what another one has written is gone.
func TestTest(t *testing.T) {
	t.Parallel()
	const writes = `{"identities": [{"id": "eve", "email": "eve@example.com", "password": "canary-word"}],
  "rows": {"Note": [{"id": "own", "text": "of the test", "authorId": "eve"}]},
  "calls": [
    {"action": "listNotes", "as": "eve", "answer": {"results": [{"id": "own"}]}},
    {"action": "writeNote", "as": "ada@example.com", "name": "new", "input": {"text": "$third"}, "answer": {"text": "$third", "authorId": "ada"}},
    {"action": "getNote", "as": "ada", "input": {"id": "$new.id"}, "answer": {"id": "$new.id"}},
    {"action": "listNotes", "as": "ada", "answer": {"results": [{}, {}, {}], "pageInfo": {"count": 3.0}}}
  ]}`
	dir := files(t, map[string]string{
		"schema.stern": testedSchema, "seed/1.yaml": testedSeeds, "tests/1.json": writes, "tests/2.json": writes,
		"tests/3.yaml": "calls:\n  - {action: getNote, as: bob, input: {id: one}, status: 403}\n  - {action: getNote, input: {id: one}, status: 403, answer: {code: ERR_PERMISSION_DENIED}}\n",
	})
	db := pgtest.New(t, pgtest.Options{Empty: true})
	test := func(args ...string) command {
		return command{args: append([]string{"test", "--scratch-url", db.SuperuserURL(), dir}, args...)}
	}
	if out := test().expect(t, 0, ""); out != "10 as they must be\n" {
		t.Errorf("test prints %q", out)
	}

	// What differs is told with its line, as a difference.
	replaceFile(t, filepath.Join(dir, "tests", "3.yaml"), `calls:
  - action: getNote
    as: bob
    input: {id: one}
    status: 404
  - action: listNotes
    as: ada
    answer:
      results:
        - {text: first}
        - {text: third,
           author: bob}
  - action: listNotes
    as: bob
    answer:
      results:
        - {text: first}
  - {action: getNote, as: ada, input: {id: one}, answer: null}
  - {action: getNote, as: ada, input: {id: one}, answer: {text: first}}
`)
	const want = `tests/3.yaml:5: status of getNote
  - 404
  + 403 not authorized to access (ERR_PERMISSION_DENIED)
tests/3.yaml:12: answer.results[1].author of listNotes
  - "bob"
  + nothing; there is authorId, createdAt, id, text, updatedAt
tests/3.yaml:11: answer.results[1].text of listNotes
  - "third"
  + "second"
tests/3.yaml:17: answer.results of listNotes
  - [{"text":"first"}]
  + []
tests/3.yaml:18: answer of getNote
  - null
  + {"authorId":"ada","createdAt":"…","id":"one","text":"first","updatedAt":"…"}
4 of 13 differ
`
	report := filepath.Join(dir, "junit.xml")
	got := test("--junit", report).expect(t, exitInput, "")
	if got = regexp.MustCompile(`At":"[^"]*"`).ReplaceAllString(got, `At":"…"`); got != want {
		t.Errorf("test prints\n%s\nwant\n%s", got, want)
	}
	var junit struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Cases    []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(readFile(t, report)), &junit); err != nil || len(junit.Suites) != 3 {
		t.Fatalf("%v: %+v", err, junit)
	}
	last := junit.Suites[2]
	if last.Name != "tests/3.yaml" || last.Tests != 5 || last.Failures != 4 || last.Cases[0].Name != "line 2: getNote as bob" ||
		last.Cases[0].Failure == nil || !strings.HasPrefix(*last.Cases[0].Failure, "tests/3.yaml:5: status") || last.Cases[4].Failure != nil {
		t.Errorf("the report is %+v", junit)
	}
}

// TestTestMatrix keeps who reaches which rows, and tells a rule that admits more.
func TestTestMatrix(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": testedSchema, "seed/1.yaml": testedSeeds})
	db := pgtest.New(t, pgtest.Options{Empty: true})
	test := func(flag string) command {
		return command{args: []string{"test", flag, "--scratch-url", db.SuperuserURL(), dir}}
	}
	test("--matrix").expect(t, exitInput, "matrix.txt does not exist: write it with sternpost test --update")
	test("--update").expect(t, 0, "")
	matrix := filepath.Join(dir, "tests", "matrix.txt")
	const want = `
create writeNote
  anonymous: nothing (403)
  ada@example.com: 2 of 2  one +1
  bob@example.com: 0 of 2

get getNote
  anonymous: nothing (403)
  ada@example.com: 2 of 2  one +1
  bob@example.com: 0 of 2

list listNotes
  anonymous: nothing (403)
  ada@example.com: 2 of 2  one +1
  bob@example.com: 0 of 2
`
	if kept := readFile(t, matrix); !strings.HasSuffix(kept, want) {
		t.Errorf("the matrix is\n%s", kept)
	}
	test("--matrix").expect(t, 0, "")
	replaceFile(t, filepath.Join(dir, "schema.stern"), strings.Replace(testedSchema, "get getNote(id)", "get getNote(id) { @permission(expression: ctx.isAuthenticated) }", 1))
	const differs = `tests/matrix.txt:9: get getNote
  - ada@example.com: 2 of 2  one +1
  - bob@example.com: 0 of 2
  + ada@example.com, bob@example.com: 2 of 2  one +1
1 of 1 differ
`
	if out := test("--matrix").expect(t, exitInput, ""); out != differs {
		t.Errorf("test --matrix prints\n%s\nwant\n%s", out, differs)
	}
}

// TestTestRefused names what is wrong in the files.
func TestTestRefused(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Empty: true})
	for name, test := range map[string]struct {
		seed, test, want string
		code             int
	}{
		"nothing to test": {"", "", "there is nothing to test: write ", exitInput},
		"seed":            {`{"calls":[{"action":"listNotes","status":200}]}`, "calls: []", "seed/1.json:calls[0]: name, status and answer are for tests", exitInput},
		"YAML":            {"{}", "calls:\n  - {action: [}\n", "tests/1.yaml:2:", exitInput},
		"member":          {"{}", "call: []\n", `tests/1.yaml: unknown field "call"`, exitInput},
		"action":          {"{}", "calls: [{action: getNode}]", `tests/1.yaml:calls[0].action: the schema has no action "getNode"`, exitInput},
		"caller":          {"{}", "calls: [{action: getNote, as: bob}]", "tests/1.yaml:calls[0].as: identity bob does not exist", exitInput},
	} {
		content := map[string]string{"schema.stern": testedSchema}
		if test.seed != "" {
			content["seed/1.json"] = test.seed
		}
		if test.test != "" {
			content["tests/1.yaml"] = test.test
		}
		t.Run(name, func(t *testing.T) {
			command{args: []string{"test", "--scratch-url", db.SuperuserURL(), files(t, content)}}.expect(t, test.code, test.want)
		})
	}
	command{args: []string{"test", "--update", "--scratch-url", "postgres://127.0.0.1:1/none", files(t, map[string]string{"schema.stern": testedSchema})}}.expect(t, exitEnvironment, "connect to the scratch Postgres")
}
