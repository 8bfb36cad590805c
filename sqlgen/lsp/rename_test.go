package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/migrate"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// apps are the example applications.
var apps = []string{"workshop", "ledger", "clinic"}

func appDir(app string) string {
	dir, err := filepath.Abs(filepath.Join("..", "..", "integration", "apps", app))
	if err != nil {
		panic(err)
	}
	return dir
}

// Each name in a schema that compiles has a meaning, so that references miss none.
func TestEveryNameOfSoundSchemas(t *testing.T) {
	t.Parallel()
	var projects []*sqlgen.Project
	for _, app := range apps {
		p, err := sqlgen.ReadProject(appDir(app))
		if err != nil {
			t.Fatal(err)
		}
		projects = append(projects, p)
	}
	goldens, err := filepath.Glob("../testdata/*.txtar")
	if err != nil || len(goldens) < 50 {
		t.Fatalf("found %d goldens: %v", len(goldens), err)
	}
	for _, golden := range goldens {
		archive, err := txtar.ParseFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		projects = append(projects, projectOf(filepath.Base(golden), archive))
	}
	// The names in an expression that are not declared.
	skipped := []string{"true", "false", "null", "in"}
	for _, p := range projects {
		if _, errs := sqlgen.Check(p); errs.HasErrors() {
			continue
		}
		x := newIndex(p)
		for _, f := range x.files {
			for _, s := range cursorsOf(f) {
				former := s.attribute == "renamed" && s.label == "from"
				header := len(s.path) == 2 && s.path[0] == "ctx" && s.path[1] == "headers"
				if former || header || slices.Contains(skipped, s.word) || x.resolve(s) != nil {
					continue
				}
				t.Errorf("%s:%s: %s stands for nothing", f.Source.Name, f.Source.Place(s.start), s.word)
			}
		}
	}
}

// projectOf returns the project in an archive, its files with the archive's name before theirs.
func projectOf(name string, archive *txtar.Archive) *sqlgen.Project {
	p := &sqlgen.Project{}
	for _, f := range archive.Files {
		source := &syntax.Source{Name: f.Name, Text: f.Data}
		switch {
		case strings.HasSuffix(f.Name, ".stern"), strings.HasSuffix(f.Name, ".keel"):
			source.Name = name + "/" + f.Name
			p.Files = append(p.Files, source)
		case f.Name == sqlgen.ConfigName:
			p.Config = source
		case strings.HasPrefix(f.Name, "functions/"):
			p.Functions = append(p.Functions, source)
		}
	}
	return p
}

// renamesFiles are the capabilities of an editor that renames files.
var renamesFiles = map[string]any{"workspace": map[string]any{"workspaceEdit": map[string]any{
	"documentChanges": true, "resourceOperations": []string{"create", "rename"}}}}

// open opens a file of a folder.
func (c *client) openFile(dir, name string) (uri, text string) {
	c.t.Helper()
	read, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	uri = uriOf(filepath.Join(dir, name))
	c.open(uri, string(read))
	return uri, string(read)
}

// changed returns a project as an edit leaves it.
func changed(t *testing.T, dir string, text json.RawMessage) *sqlgen.Project {
	t.Helper()
	p, err := sqlgen.ReadProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	var edit struct {
		DocumentChanges []struct {
			Kind           string
			OldURI, NewURI string
			TextDocument   struct{ URI string }
			Edits          []textEdit
		}
	}
	if err := json.Unmarshal(text, &edit); err != nil {
		t.Fatal(err)
	}
	find := func(uri string) *syntax.Source {
		for _, f := range slices.Concat(p.Files, p.Functions) {
			if uriOf(filepath.Join(dir, f.Name)) == uri {
				return f
			}
		}
		t.Fatalf("an edit of %s, which is not there", uri)
		return nil
	}
	for _, c := range edit.DocumentChanges {
		switch c.Kind {
		case "rename":
			f := find(c.OldURI)
			f.Name = strings.TrimPrefix(c.NewURI, uriOf(dir)+"/")
		default:
			f := find(c.TextDocument.URI)
			slices.Reverse(c.Edits) // they are about the text as it was
			f.Text = []byte(apply(string(f.Text), c.Edits))
		}
	}
	return p
}

// compiledText is the whole result for a project, without white space and in any order:
// longer names change line breaks and the order of names.
func compiledText(t *testing.T, p *sqlgen.Project) []string {
	t.Helper()
	compiled, errs := sqlgen.Compile(p)
	if compiled == nil {
		for _, e := range errs {
			t.Errorf("%s %s: %s", e.Span.File.Name, e.Span.Start, e.Message)
		}
		t.FailNow()
	}
	var texts []string
	add := func(parts ...string) {
		for _, part := range parts {
			texts = append(texts, withoutSuffix(part))
		}
	}
	db := compiled.Database
	for _, table := range db.Tables {
		for _, c := range table.Columns {
			add(fmt.Sprintln(table.Name, c.Name, c.Type, c.NotNull, c.Default, c.Generated, c.Comment, c.Values))
		}
		for _, c := range table.Constraints {
			add(fmt.Sprintln(c.Name, c.Columns, c.Condition, c.Where))
		}
		for _, r := range table.References {
			add(fmt.Sprintln(*r))
		}
		for _, i := range table.Indexes {
			add(fmt.Sprintln(i.Name, i.Keys))
		}
		for _, p := range table.Policies {
			add(p.Text)
		}
	}
	for _, v := range db.Views {
		add(fmt.Sprintln(v.Name, v.Table, v.Columns, v.Text))
	}
	for _, f := range db.Functions {
		add(f.Text)
	}
	for _, f := range db.Code {
		add(f.Name, f.Text)
	}
	var manifest any
	if err := json.Unmarshal(compiled.Manifest.Text(), &manifest); err != nil {
		t.Fatal(err)
	}
	leaves(manifest, "", add)
	slices.Sort(texts)
	return texts
}

var (
	suffix = regexp.MustCompile(`(?i)_?qzx`) // new names end so
	digest = regexp.MustCompile(`_[0-9a-f]{8}\b`)
	alias  = regexp.MustCompile(`\.(\w+)\s+as\s+(\w+)`)
)

// withoutSuffix returns a result text without the ends of new names: without the digests
// that tell apart long names, without white space, and without the alias that a column
// needs for its other name.
func withoutSuffix(text string) string {
	text = digest.ReplaceAllString(suffix.ReplaceAllString(text, ""), "")
	text = alias.ReplaceAllStringFunc(text, func(found string) string {
		if parts := alias.FindStringSubmatch(found); parts[1] == parts[2] {
			return "." + parts[1]
		}
		return found
	})
	return strings.ReplaceAll(strings.Join(strings.Fields(text), ""), "'||'", "") // a long text is broken elsewhere then
}

// leaves passes on the values of a JSON document, each with its path.
func leaves(v any, way string, add func(...string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			leaves(v[key], way+"/"+key, add)
		}
	case []any:
		for _, e := range v {
			leaves(e, way+"/#", add)
		}
	default:
		add(fmt.Sprintln(way, "=", v))
	}
}

// After a rename of any name of the example apps the project is the same but for the name.
func TestRenameEveryName(t *testing.T) {
	t.Parallel()
	for _, app := range apps {
		t.Run(app, func(t *testing.T) {
			t.Parallel()
			dir := appDir(app)
			p, err := sqlgen.ReadProject(dir)
			if err != nil {
				t.Fatal(err)
			}
			want := compiledText(t, p)
			c := connect(t)
			c.initialize(renamesFiles)
			count := 0
			for _, f := range newIndex(p).files {
				uri, text := c.openFile(dir, f.Source.Name)
				x := newIndex(p)
				lines := newLines([]byte(text), utf16Units)
				for _, m := range x.references() {
					if m.span.File.Name != f.Source.Name || !m.declares() {
						continue
					}
					count++
					name := syntax.SourceOf(m.span)
					answer := c.request("textDocument/rename", map[string]any{"textDocument": documentID{uri},
						"position": lines.position(m.span.Start.Offset), "newName": name + "Qzx"})
					if answer.Error != nil {
						t.Errorf("%s: %s: %s", m.span.Start, name, answer.Error.Message)
						continue
					}
					got := compiledText(t, changed(t, dir, answer.Result))
					if d := firstDifference(got, want); d != "" {
						t.Errorf("%s: after renaming %s: %s", m.span.Start, name, d)
					}
				}
			}
			if count < 80 {
				t.Errorf("renamed %d names only", count)
			}
		})
	}
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i == len(got):
			return "lacks " + want[i]
		case i == len(want):
			return "has too much: " + got[i]
		case got[i] != want[i]:
			at := 0
			for at < len(got[i]) && at < len(want[i]) && got[i][at] == want[i][at] {
				at++
			}
			near := func(text string) string { return text[max(0, at-200):min(len(text), at+200)] }
			return fmt.Sprintf("got %s\nwant %s", near(got[i]), near(want[i]))
		}
	}
	return ""
}

// renameIn renames the name at the mark in schema.stern, and returns the project's files
// afterwards, or the reason of a refusal.
func renameIn(t *testing.T, files map[string]string, to string) (map[string]string, string) {
	t.Helper()
	marked := files["schema.stern"]
	text, p := unmark(t, marked)
	files = maps.Clone(files)
	files["schema.stern"] = text
	dir := folder(t, files)
	c := connect(t)
	c.initialize(renamesFiles)
	uri, text := c.openFile(dir, "schema.stern")
	p.Line -= strings.Count(files["schema.stern"], "\n") - strings.Count(text, "\n") // folder trims them
	answer := c.request("textDocument/rename", map[string]any{"textDocument": documentID{uri}, "position": p, "newName": to})
	if answer.Error != nil {
		return nil, answer.Error.Message
	}
	after := map[string]string{}
	project := changed(t, dir, answer.Result)
	for _, f := range slices.Concat(project.Files, project.Functions) {
		after[f.Name] = string(f.Text)
	}
	if _, errs := sqlgen.Check(project); errs.HasErrors() {
		t.Errorf("after renaming to %s: %s", to, errs[0].Message)
	}
	if m := c.request("textDocument/documentSymbol", documentParams{documentID{uri}}); m.Error != nil {
		t.Fatal(m.Error)
	}
	for _, m := range c.waiting {
		if m.Method == "window/showMessage" {
			after["message"] = string(m.Params)
		}
	}
	return after, ""
}

const books = `
model Book {
  fields {
    title Text
    author Person
    state State
    pages Number?
  }
  actions {
    get getBook(id)
    list booksOf(author.name, state?) { @orderBy(title: asc) }
    update retitle(id, title: Text) with (title) { @where(book.title == title) @validate(title != "") }
    update close(id, because: Text) with (pages) @function
    read count(from: Date) returns (Any)
  }
  @permission(expression: book.author.identity == ctx.identity && book.state == State.Out, actions: [get, list, update])
  @permission(expression: ctx.identity.person != null, actions: [read])
  @unique([author, title])
}
model Person { fields { name Text  identity Identity @unique } }
enum State { Out In }
union Shelf {
  fields { title Text  authorId ID? }
  arms { book Book  person Person { @set(shelf.title = person.name) } }
  actions { list shelf(sourceModel?) { @where(shelf.sourceModel in ["Book", "Person"] || "book" == shelf.sourceArm) @permission(expression: true) } }
}
role Staff { domains { "books.example" } }
api Public { models { Book { actions { getBook } } } }
`

const countSQL = "create function functions.count(\"from\" date) returns jsonb language sql stable as $$\n  select to_jsonb(count(*)) from app.book where created_at > count.\"from\";\n$$;\n"

const closeSQL = "-- see functions.count\ncreate function functions.close(id text, because text, pages bigint) returns app.book language sql as $$\n" +
	"  update app.book set title = close.because where book.id = close.id returning *;\n$$;\n"

func bookFiles(marked string) map[string]string {
	if marked == "" || strings.Count(books, strings.Replace(marked, "¦", "", 1)) == 0 {
		panic("not in the text: " + marked)
	}
	return map[string]string{
		"schema.stern":        strings.TrimLeft(strings.Replace(books, strings.Replace(marked, "¦", "", 1), marked, 1), "\n"),
		"functions/count.sql": countSQL,
		"functions/close.sql": closeSQL,
		"seed/some.json":      `{"rows": {"Book": [{"title": "T", "pages": 3}]}}`,
	}
}

// A rename changes all names made of the name, and no more.
func TestRename(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, at, to string
		want         []string // lines, or parts of them
		beside       []string // files that are named in a message
	}{
		{"field", "¦pages Number?", "length", []string{"    length Number?"}, []string{"seed/some.json"}},
		{"field that an arm takes by its name", "¦title Text\n", "name", []string{
			"    name Text", "@orderBy(name: asc)", "@where(book.name == title) @validate(name != \"\")", "with (name)", "@unique([author, name])",
			"arms { book Book @set(shelf.title = book.name)  person"}, []string{"functions/close.sql", "seed/some.json"}},
		{"to-one", "¦author Person", "writer", []string{"list booksOf(writer.name, state?)", "book.writer.identity == ctx.identity",
			"@unique([writer, title])", "arms { book Book @set(shelf.authorId = book.writerId)  person"}, nil},
		{"model", "model ¦Book", "Work", []string{"model Work {", "@where(work.title == title)", "work.author.identity", "arms { book Work ",
			"[\"Work\", \"Person\"] || \"book\" == shelf.sourceArm", "models { Work {"}, []string{"functions/count.sql", "functions/close.sql", "seed/some.json"}},
		{"model by a reference", "sourceModel in [\"Bo¦ok\"", "Work", []string{"model Work {"}, []string{"functions/count.sql"}},
		{"model that Identity leads back to", "model ¦Person", "Human", []string{"author Human", "ctx.identity.human != null", "person Human { @set(shelf.title = human.name) }"}, nil},
		{"field in another's path", "¦name Text", "called", []string{"booksOf(author.called, state?)", "person.called)"}, nil},
		{"enum", "enum ¦State", "Place", []string{"state Place", "== Place.Out"}, nil},
		{"enum value", "{ ¦Out In }", "Gone", []string{"State.Gone", "enum State { Gone In }"}, nil},
		{"arm", "arms { ¦book Book", "volume", []string{"|| \"volume\" == shelf.sourceArm", "arms { volume Book "}, []string{}},
		{"field of a union", "fields { ¦title Text  authorId", "name", []string{"book Book @set(shelf.name = book.title)  person Person { @set(shelf.name = person.name) }"}, nil},
		{"read input with the name of a value", "retitle(id, ¦title: Text)", "old", []string{"retitle(id, old: Text) with (title) { @where(book.title == old) @validate(title != \"\")"}, nil},
		{"parameter of custom code", "close(id, ¦because: Text)", "reason", []string{"close(id, reason: Text)"}, []string{"functions/close.sql"}},
		{"action", "update ¦close(", "shutDown", []string{"update shutDown(id", "functions/shutDown.sql: create function functions.shut_down(id text",
			"functions/shutDown.sql: update app.book set title = shut_down.because where book.id = shut_down.id returning"}, nil},
		{"action that other code references", "read ¦count(", "tally", []string{"read tally(", "functions/close.sql: -- see functions.tally\n", "functions/tally.sql: create function functions.tally("}, nil},
		{"action of an api", "get ¦getBook", "oneBook", []string{"actions { oneBook }"}, nil},
		{"role", "role ¦Staff", "Crew", []string{"role Crew {"}, nil},
		{"api", "api ¦Public", "Open", []string{"api Open {"}, nil},
		{"union", "union ¦Shelf", "Rack", []string{"rack.sourceModel in", "rack.title = person.name"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			after, refusal := renameIn(t, bookFiles(test.at), test.to)
			if refusal != "" {
				t.Fatal(refusal)
			}
			for _, want := range test.want {
				file, part, found := strings.Cut(want, ".sql: ")
				if !found {
					file, part = "schema", want
				} else {
					file += ".sql"
				}
				if file == "schema" {
					file = "schema.stern"
				}
				if !strings.Contains(after[file], part) {
					t.Errorf("%s: got\n%s\nwant in it %s", file, after[file], part)
				}
			}
			for _, want := range test.beside {
				if !strings.Contains(after["message"], want) {
					t.Errorf("message: got %s, want %s in it", after["message"], want)
				}
			}
			if test.beside != nil && len(test.beside) == 0 && after["message"] != "" {
				t.Errorf("message: got %s, want none", after["message"])
			}
		})
	}
}

func TestRenameRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, at, to, want string }{
		{"a name that is taken", "¦pages Number?", "title", "declares field title twice"},
		{"a name of another form", "¦pages Number?", "Pages", "cannot be the name of a field"},
		{"no name", "¦pages Number?", "the pages", "is not a name"},
		{"nothing", "¦pages Number?", "", "is not a name"},
		{"a reserved name", "¦pages Number?", "createdAt", "reserved"},
		{"a name that is taken in the database", "¦pages Number?", "authorID", "author"},
		{"a model like a message of the server", "model ¦Person", "PageInfo", "that would not compile"},
		{"a model whose variable means something else", "model ¦Person", "Ctx", "expressions would call its row"},
		{"a variable", "@where(¦book.title", "volume", "book is called so after Book: rename that"},
		{"a built-in field", "getBook(¦id)", "key", "id is built in"},
		{"a scalar", "pages ¦Number?", "Int", "Number is built in"},
		{"a keyword", "¦model Book", "thing", "model is built in"},
		{"Identity", "identity ¦Identity", "User", "Identity is built in"},
		{"white space", "model Book {¦", "x", "there is no name here"},
		{"a path that would be read as the row", "retitle(id, ¦title: Text)", "book", "an input cannot be called"},
		{"an input in which the row would hide", "count(¦from: Date)", "book", "an input cannot be called"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, refusal := renameIn(t, bookFiles(test.at), test.to)
			if !strings.Contains(refusal, test.want) {
				t.Errorf("got %q, want %q in it", refusal, test.want)
			}
		})
	}
	t.Run("a project with errors", func(t *testing.T) {
		t.Parallel()
		files := bookFiles("¦pages Number?")
		files["other.stern"] = "model Other { fields { a Txet } }"
		_, refusal := renameIn(t, files, "length")
		if !strings.Contains(refusal, `other.stern:1:26: there is no type "Txet"`) {
			t.Errorf("got %q", refusal)
		}
	})
	t.Run("another name would mean something else", func(t *testing.T) {
		t.Parallel()
		_, refusal := renameIn(t, map[string]string{"schema.stern": `
model Book {
  fields { code ID ¦tag ID }
  actions { list books(tag: ID) { @where(book.code == tag) } get one(tag) { @where(tag == "x") } }
  @unique([tag])
  @permission(expression: true, actions: [get, list])
}`}, "book")
		if refusal == "" {
			t.Error("tag would be hidden by the row, and is renamed")
		}
	})
}

// An editor that does not rename files does not get half a rename.
func TestRenameWithoutFiles(t *testing.T) {
	t.Parallel()
	files := bookFiles("read ¦count(")
	text, p := unmark(t, files["schema.stern"])
	files["schema.stern"] = text
	dir := folder(t, files)
	c := start(t)
	uri, _ := c.openFile(dir, "schema.stern")
	params := map[string]any{"textDocument": documentID{uri}, "position": p, "newName": "tally"}
	if m := c.request("textDocument/rename", params); m.Error == nil || !strings.Contains(m.Error.Message, "renames no files") {
		t.Errorf("got %s, %v", m.Result, m.Error)
	}
	params["position"] = newLines([]byte(text), utf16Units).position(strings.Index(text, "pages"))
	var edit workspaceEdit
	c.call("textDocument/rename", params, &edit)
	if got := apply(text, edit.Changes[uri]); got != strings.ReplaceAll(text, "pages", "tally") || len(edit.Changes) != 1 {
		t.Errorf("got %v", edit)
	}
}

// If a database has the table, column or value, the rename marks it for the migration.
func TestRenameMarks(t *testing.T) {
	t.Parallel()
	const schema = `model Book {
  fields {
    title Text @unique
    author Person
    state State { @index }
    old Text @renamed(from: older)
    new Text @renamed(from: newer)
    page Page?
  }
}
model Person { fields { name Text } }
model Page { @renamed(from: Sheet) fields { number Number  book Book @unique } }
enum State { Out In }
`
	tests := []struct{ name, at, to, want string }{
		{"field", "¦title Text", "name", "name Text @renamed(from: title) @unique"},
		{"to-one", "¦author Person", "writer", "writer Person @renamed(from: author)"},
		{"field in braces", "¦state State", "place", "place State { @renamed(from: state) @index }"},
		{"field without column", "¦page Page?", "sheet", "    sheet Page?\n"},
		{"field whose renaming is migrated", "¦old Text", "oldest", "oldest Text @renamed(from: old)"},
		{"field whose renaming is not", "¦new Text", "newest", "newest Text @renamed(from: newer)"},
		{"back to where it was", "¦new Text", "newer", "    newer Text\n"},
		{"model", "model ¦Book", "Work", "model Work {\n  @renamed(from: Book)\n  fields"},
		{"model on one line", "model ¦Person", "Human", "model Human { @renamed(from: Person) fields { name Text } }"},
		{"model whose renaming is not migrated", "model ¦Page", "Leaf", "model Leaf { @renamed(from: Sheet) fields"},
		{"field of such a model", "{ ¦number Number", "count", "count Number @renamed(from: number)"},
		{"enum value", "{ ¦Out In }", "Gone", "enum State { Gone @renamed(from: Out) In }"},
		{"enum", "enum ¦State", "Place", "enum Place { Out In }"},
	}
	installed := strings.NewReplacer("new Text @renamed(from: newer)", "newer Text", "Page { @renamed(from: Sheet)", "Sheet {", "Page?", "Sheet?").Replace(schema)
	for _, served := range []bool{false, true} {
		for _, test := range tests {
			if served && (strings.Contains(test.name, " not") || strings.Contains(test.name, "back")) {
				continue // a database of development has what was renamed at once, so no renaming is open
			}
			t.Run(fmt.Sprintf("%s, served %v", test.name, served), func(t *testing.T) {
				t.Parallel()
				files := map[string]string{"schema.stern": strings.Replace(schema, strings.Replace(test.at, "¦", "", 1), test.at, 1)}
				if served {
					files[".sternpost/postgres/PG_VERSION"] = "15"
				} else {
					files["migrations/snapshot.json"] = snapshotOf(t, installed)
				}
				after, refusal := renameIn(t, files, test.to)
				if refusal != "" {
					t.Fatal(refusal)
				}
				if !strings.Contains(after["schema.stern"], test.want) {
					t.Errorf("got\n%s\nwant in it %s", after["schema.stern"], test.want)
				}
			})
		}
	}
	t.Run("not installed", func(t *testing.T) {
		t.Parallel()
		after, _ := renameIn(t, map[string]string{"schema.stern": strings.Replace(schema, "title Text", "¦title Text", 1)}, "name")
		if !strings.Contains(after["schema.stern"], "    name Text @unique\n") {
			t.Errorf("got\n%s", after["schema.stern"])
		}
	})
}

// snapshotOf returns the snapshot of migrations that install a schema.
func snapshotOf(t *testing.T, schema string) string {
	t.Helper()
	dir := folder(t, map[string]string{"schema.stern": schema})
	compiled, errs := sqlgen.Compile(&sqlgen.Project{Files: []*syntax.Source{{Name: "schema.stern", Text: []byte(schema)}}})
	if compiled == nil {
		t.Fatal(errs[0].Message)
	}
	migrations, err := migrate.ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrate.New(migrations, "first", compiled.Release(), migrate.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, migrate.DirName, migrate.SnapshotName))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReferences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		at   string
		want int // with the declaration
	}{
		{"model ¦Book", 7}, {"¦author Person", 4}, {"enum ¦State", 3}, {"{ ¦Out In }", 2}, {"role ¦Staff", 1}, {"get ¦getBook", 2},
		{"retitle(id, ¦title: Text)", 2}, {"book.¦title == title", 6}, {"ctx.identity.¦person != null", 6}, {"sourceArm¦)", 0},
	}
	for _, test := range tests {
		files := bookFiles(test.at)
		text, p := unmark(t, files["schema.stern"])
		c := start(t)
		c.open("untitled:books", text)
		for _, withDeclaration := range []bool{true, false} {
			var got []location
			c.call("textDocument/references", map[string]any{"textDocument": documentID{"untitled:books"}, "position": p,
				"context": map[string]any{"includeDeclaration": withDeclaration}}, &got)
			want := test.want
			if !withDeclaration {
				want = max(0, want-1)
			}
			if len(got) != want {
				t.Errorf("%s, with declaration %v: got %d: %v, want %d", test.at, withDeclaration, len(got), got, want)
			}
		}
		var lit []highlight
		c.call("textDocument/documentHighlight", at("untitled:books", p), &lit)
		if len(lit) != test.want {
			t.Errorf("%s: %d places are lit, want %d", test.at, len(lit), test.want)
		}
	}
}

// References are found in all files of a project, open or not.
func TestReferencesInOtherFiles(t *testing.T) {
	t.Parallel()
	c, uri, p := openAt(t, post("@permission(roles: [Edi¦tor], actions: [get])"))
	var got []location
	c.call("textDocument/references", map[string]any{"textDocument": documentID{uri}, "position": p,
		"context": map[string]any{"includeDeclaration": true}}, &got)
	if len(got) != 2 || filepath.Base(got[0].URI) != "library.stern" || got[1].URI != uri {
		t.Errorf("got %v", got)
	}
}

func TestWorkspaceSymbols(t *testing.T) {
	t.Parallel()
	c, _, _ := openAt(t, "¦"+post("actions { get getPost(id) }"))
	tests := []struct{ query, want string }{
		{"post", "Post getPost posts posts"},
		{"gtp", "getPost"},
		{"EDITOR", "Editor"},
		{"published", "Published"},
		{"nothing at all", ""},
	}
	for _, test := range tests {
		var got []symbolInformation
		c.call("workspace/symbol", map[string]any{"query": test.query}, &got)
		var names []string
		for _, y := range got {
			names = append(names, y.Name)
		}
		slices.Sort(names)
		if text := strings.Join(names, " "); text != test.want {
			t.Errorf("%s: got %q, want %q", test.query, text, test.want)
		}
	}
}
