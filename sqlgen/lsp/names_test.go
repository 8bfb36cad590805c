package lsp

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// library is the project around the texts of the tests below: it declares the names
// that they do not declare.
const library = `
/// Who writes.
model Person {
  fields {
    name Text
    posts Post[]
    profile Profile?
    identity Identity @unique
  }
}
model Profile { fields { person Person @unique  bio Markdown } }
enum State {
  /// Nobody sees it yet.
  Draft
  Published
}
role Editor { domains { "news.example" } }
message Totals { posts Number }
`

const libraryConfig = `
environment:
  - name: REGION
auth:
  claims:
    - key: https://example.com/team
      field: team
`

// post puts text into the model that the tests are about, in place of "here".
func post(text string) string {
	return strings.Replace(`
/// Something to read.
model Post {
  fields {
    /// Shown on top.
    title Text
    state State @default(State.Draft)
    author Person
    cover File?
  }
  here
}
`, "here", text, 1)
}

func actions(text string) string { return post("actions {\n    " + text + "\n  }") }

func union(text string) string {
	return "union Event {\n  fields { name Text }\n  " + text + "\n}\n" + post("")
}

// openAt opens a text with a mark in a project with the library.
func openAt(t *testing.T, text string) (c *client, uri string, p position) {
	t.Helper()
	dir := folder(t, map[string]string{"library.stern": library, "sternpost.yaml": libraryConfig})
	text, p = unmark(t, text)
	c, uri = start(t), uriOf(filepath.Join(dir, "schema.stern"))
	c.open(uri, text)
	return c, uri, p
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	const (
		postFields = "id title state author authorId cover createdAt updatedAt"
		ruleKinds  = "get list create update delete read write"
		kindNames  = ruleKinds + " history"
		functions  = "ROUND FLOOR CEIL ABS LEAST GREATEST COALESCE LOWER UPPER TRIM LENGTH"
		values     = functions + " State true false null"
	)
	tests := []struct {
		name, text string
		want       string // all labels; after "…" some of them
	}{
		{"empty file", "¦", "model union enum message role api job"},
		{"begun declaration", "mo¦\n" + post(""), "model union enum message role api job"},
		{"between declarations", post("") + "\n¦\n" + post(""), "model union enum message role api job"},
		{"name of a declaration", "model ¦", ""},
		{"member of a model", post("¦"), "fields conditions actions @unique @index @renamed @on @history @permission @validate"},
		{"begun member", post("act¦"), "fields conditions actions @unique @index @renamed @on @history @permission @validate"},
		{"member of a union", union("¦"), "fields actions arms @renamed @permission"},
		{"attribute of a model", post("@¦"), "unique index renamed on history permission validate"},
		{"name of a field", "model A { fields {\n  ti¦\n} }", ""},
		{"type of a field", "model A { fields {\n  title ¦\n} }", "… Text Boolean State Person Identity"},
		{"begun type, next field behind", "model A { fields {\n  title T¦\n  body Text\n} }", "… Text Person"},
		{"type without brackets behind", "model A { fields { title ¦", "… Text Person"},
		{"type in a message", "message M { total ¦ }", "… Text Totals Person Any"},
		{"type in a union", "union U { fields { total ¦ } }", "… Text State"},
		{"behind a type", "model A { fields {\n  title Text ¦\n} }", "@unique @index @default @computed @sequence @renamed @minLength @maxLength @notBlank @pattern @format @hidden"},
		{"next line behind a type", "model A { fields {\n  title Text\n  ¦\n} }", ""},
		{"attribute of a scalar", "model A { fields {\n  title Text @¦\n} }", "unique index default computed sequence renamed minLength maxLength notBlank pattern format hidden"},
		{"begun attribute", "model A { fields {\n  title Text @un¦\n  b Text\n} }", "unique index default computed sequence renamed minLength maxLength notBlank pattern format hidden"},
		{"second attribute", "model A { fields {\n  title Text @unique @d¦\n} }", "index default computed renamed minLength maxLength notBlank pattern format hidden"},
		{"attribute in braces", "model A { fields {\n  title Text { ¦ }\n} }", "@unique @index @default @computed @sequence @renamed @minLength @maxLength @notBlank @pattern @format @hidden"},
		{"attribute of a number", "model A { fields {\n  size Number @¦\n} }", "unique index default computed renamed hidden"},
		{"attribute of an array", "model A { fields { sizes Number[] @¦ } }", "default renamed minItems maxItems hidden"},
		{"attribute of an array of texts", "model A { fields { tags Markdown[]? @¦ } }", "default renamed minLength maxLength minItems maxItems notBlank pattern hidden"},
		{"attribute of a File", "model A { fields { f File? @¦ } }", "renamed accepts maxSize hidden"},
		{"attribute of a to-one", "model A { fields { p Person @¦ } }", "unique index computed relation onDelete renamed hidden"},
		{"attribute of a to-many", "model A { fields { p Friend[] @¦ } } model Friend { fields { a A } }", "renamed minItems"},
		{"attribute of an enum value", "enum E { A @¦ }", "renamed"},
		{"attribute of a message's field", "message M { a Text @¦ }", ""},
		{"kind", actions("¦"), kindNames},
		{"kind on the next line", actions("get getPost(id)\n    ¦"), kindNames},
		{"kind in a union", union("actions { ¦ }"), "get list"},
		{"name of a condition", post("conditions { ¦ }"), ""},
		{"condition", post("conditions { own = ¦ }"), "post ctx " + values},
		{"path in a condition", post("conditions { own = post.author.¦ }"), "id name posts profile identity identityId createdAt updatedAt"},
		{"condition in a rule", post("conditions { own = post.title == \"\" } @permission(expression: post.¦"), postFields + " own"},
		{"condition in an input", post("conditions { own = post.title == \"\" } actions { get getPost(¦) }"), "id title state author authorId createdAt updatedAt"},
		{"name of an action", actions("get ¦"), ""},
		{"input", actions("get getPost(¦)"), "id title state author authorId createdAt updatedAt"},
		{"second input", actions("get getPost(id, ti¦"), "title state author authorId createdAt updatedAt"},
		{"path in an input", actions("list listPosts(author.¦)"), "id name posts profile identity identityId createdAt updatedAt"},
		{"longer path", actions("list listPosts(author.profile.¦"), "id person personId bio createdAt updatedAt"},
		{"path of a backlink", actions("list listPosts(author.identity.person.n¦)"), "id name posts profile identity identityId createdAt updatedAt"},
		{"path behind a scalar", actions("list listPosts(title.¦)"), ""},
		{"path of nothing", actions("list listPosts(titel.¦)"), ""},
		{"label", actions("list listPosts(ids: ¦)"), "… ID Text State"},
		{"input behind a labelled one", actions("list listPosts(ids: ID[], ¦)"), "id title state author authorId createdAt updatedAt"},
		{"behind a create", actions("create addPost() ¦"), "… with @permission @set"},
		{"begun with", actions("update setPost(id) w¦"), "… with"},
		{"behind a read", actions("read count() ¦"), "… returns @permission"},
		{"write input", actions("create addPost() with (¦"), "id title state author authorId cover"},
		{"message", actions("read count() returns (¦)"), "… Totals Any"},
		{"attribute of a list", actions("list listPosts() { @¦ }"), "permission validate where orderBy sortable facet live embed select function allow"},
		{"attribute without braces", actions("create addPost() with (title) @¦"), "permission validate set select function many allow"},
		{"second attribute of an action", actions("get getPost(id) {\n @where(post.title == \"\")\n @¦ }"), "permission validate where live embed select allow"},
		{"attribute of a list of a union", union("actions { list listEvents() { @¦ } }"), "permission validate where orderBy sortable facet live allow"},
		{"expression", actions("list listPosts(top: Boolean) { @where(¦) }"), "post top ctx " + values + " expression"},
		{"expression behind an operator", actions("get getPost(id) { @where(post.title == ¦) }"), "post id ctx LEAST GREATEST COALESCE LOWER UPPER TRIM null"},
		{"expression in brackets", actions("get getPost(id) { @where(!(post.title in [¦])) }"), "post id ctx"},
		{"half-written expression", actions("get getPost(id) { @where(post.¦\n    list listPosts()"), postFields},
		{"half-written operand", actions("get getPost(id) { @where(post.title == ¦"), "post id ctx LEAST GREATEST COALESCE LOWER UPPER TRIM null"},
		{"half-written argument", actions("get getPost(id) { @where(¦"), "post id ctx " + values + " expression"},
		{"half-written argument without braces", actions("get getPost(id) @where(¦"), "post id ctx " + values + " expression"},
		{"action behind a half-written one", actions("get getPost(id) { @where(post.\n    list listPosts(author.¦)"), "… name posts"},
		{"flat name", actions("update setPost(id) with (author.id?) { @validate(¦) }"), "authorId id ctx " + values + " expression message field"},
		{"ctx", actions("get getPost(id) { @where(ctx.¦) }"), "identity isAuthenticated now headers env"},
		{"ctx.identity", post("@permission(expression: ctx.identity.¦"), "… id email team emailVerified person createdAt"},
		{"ctx.env", post("@permission(expression: ctx.env.¦, actions: [get])"), "REGION"},
		{"enum value", actions("get getPost(id) { @where(post.state == State.¦) }"), "Draft Published"},
		{"row through a to-many", post("@permission(expression: post.author.posts.¦)"), postFields},
		{"validation of a model", post("@validate(¦)"), "post " + values + " expression message field"},
		{"target", actions("update setPost(id) { @set(¦) }"), "post"},
		{"field of a target", actions("update setPost(id) { @set(post.¦) }"), "id title state author authorId cover"},
		{"value", actions("update setPost(id) { @set(post.state = ¦) }"), "post ctx LEAST GREATEST COALESCE State"},
		{"labels of a rule", post("@permission(¦)"), "expression roles actions jobs"},
		{"roles", post("@permission(roles: [¦], actions: [get])"), "Editor"},
		{"kinds of a rule", post("@permission(roles: [Editor], actions: [get, ¦])"), ruleKinds},
		{"composite", post("@unique([title, ¦])"), "id state author authorId createdAt updatedAt"},
		{"order", actions("list listPosts() { @orderBy(title: asc, ¦) }"), "id state authorId createdAt updatedAt"},
		{"direction", actions("list listPosts() { @orderBy(title: ¦) }"), "asc desc"},
		{"embed", actions("get getPost(id) { @embed(¦) }"), "author"},
		{"live", actions("read getPosts() returns (Any) { @live(of: [¦]) }"), "Person Profile Post Identity"},
		{"longer embed", actions("get getPost(id) { @embed(author.¦) }"), "posts profile identity"},
		{"select", actions("create createPost() with (title) { @select(title, ¦) }"), "id state author authorId cover createdAt updatedAt"},
		{"longer select", actions("get getPost(id) { @select(author.profile.¦) }"), "id person personId bio createdAt updatedAt"},
		{"select of an Identity", actions("get getPost(id) { @select(author.identity.n¦) }"), "id email name givenName familyName middleName nickName picture emailVerified person"},
		{"select without what is hidden", "model A { fields { a Text @hidden b Text c Person @hidden d Secret? }\n actions { list listA() { @select(¦) } } }", "id b createdAt updatedAt"},
		{"order without what is hidden", "model A { fields { a Text @hidden b Text c Person @hidden }\n actions { list listA() { @orderBy(¦) } } }", "id b createdAt updatedAt"},
		{"default of an enum", "model A { fields { s State @default(¦) } }", "State"},
		{"default of a time", "model A { fields { s Timestamp @default(ctx.¦) } }", "now"},
		{"relation", "model Post { fields { author Person @relation(¦) } }", "posts"},
		{"what is allowed", actions("list listPosts() { @allow(¦) }"), "NoRule"},
		{"what else is allowed", actions("list listPosts() { @allow(NoRule, Em¦) }"), ""},
		{"format", "model A { fields { p Text @format(¦) } }", "email url"},
		{"deletion", "model A { fields { p Person @onDelete(¦) } }", "cascade restrict"},
		{"former name", "model A { fields { p Text @renamed(¦) } }", "from"},
		{"model of an arm", union("arms { written ¦ }"), "… Post Person"},
		{"attribute of an arm", union("arms { written Post @¦ }"), "where set"},
		{"expression of an arm", union("arms { written Post { @where(¦) } }"), "post " + values + " expression"},
		{"target in an arm", union("arms { written Post { @set(event.¦) } }"), "name"},
		{"value in an arm", union("arms { written Post { @set(event.name = post.¦) } }"), "title author"},
		{"what is allowed while the project has errors", actions("get bad(nothing) list listPosts() { @allow(¦) }"),
			"MissingIndex NoRule EmbedWidens FilterWidens ComputedWidens LinkWidens NestedWidens UnionWidens HiddenCompared SlowRule CursorWidens UncheckedInline"},
		{"deletion of an optional one", "model A { fields { p Person? @onDelete(¦) } }", "cascade restrict setNull"},
		{"attribute that excludes another", "model A { fields { x Number @computed(1) @¦ } }", "unique index renamed hidden allow"},
		{"field behind its @sequence", "model A { fields { x Text @sequence(\"A\") @¦ } }", "renamed"},
		{"computed from itself", "model A { fields { x Number y Number @computed(a.z) z Number @computed(a.¦) } }", "id x createdAt updatedAt"},
		{"path of a sum", "model A { fields { bs B[] n Number @computed(SUM(a.bs.¦)) } } model B { fields { x Number t Text a A } }", "x a"},
		{"computed field as a value", "model A { fields { x Number y Number @computed(a.x) } actions { create c() with (¦) } }", "id x"},
		{"value that is given already", actions("create addPost() with (title, author.id, ¦)"), "id state author cover"},
		{"target that is given already", actions("create addPost() with (title) { @set(post.state = State.Draft) @set(post.¦) }"), "id author authorId cover"},
		{"filter that no record shows", "model A { fields { x Text @hidden y Text } actions { list l(¦) } }", "id y createdAt updatedAt"},
		{"attribute beside @select", actions("get getPost(id) { @select(title) @¦ }"), "permission validate where live allow"},
		{"row that a create reads", actions("create c() with (title, author.id) { @set(post.state = post.¦) }"), "author"},
		{"what is compared with a text", actions("get a(id, on: Date) { @where(post.title == ¦) }"), "post id ctx LEAST GREATEST COALESCE LOWER UPPER TRIM null"},
		{"what is compared with a time", actions("list a(on: Date, flag: Boolean) { @where(post.createdAt < ¦) }"), "post on ctx LEAST GREATEST COALESCE"},
		{"field that is compared with a time", actions("list a(on: Date) { @where(post.¦ < on) }"), "author createdAt updatedAt"},
		{"field that is compared with an enum", actions("list a(s: State) { @where(s == post.¦) }"), "state author"},
		{"value of a required field", actions("update setPost(id, name: Text) { @set(post.title = ¦) }"), "post id name ctx LEAST GREATEST COALESCE LOWER UPPER TRIM"},
		{"deeper field that is selected already", actions("get getPost(id) { @select(author.name, author.¦) }"), "… id posts"},
		{"what an update writes", actions("update setPost(id) with (¦)"), "id title state author authorId cover"},
		{"path of what an update writes", actions("update setPost(id) with (author.¦)"), "id"},
		{"path of what is made for Identity", "model A { fields { owner Identity } actions { create c() with (owner.¦) } } model Post { fields { author Person } }", "id"},
		{"result", actions("read count() returns (¦)"), "Totals Any"},
		{"message beside another input", actions("read count(id, ¦)"), "title state author authorId cover createdAt updatedAt"},
		{"filter of a list in an expression", actions("list posts(title, ids: ID[]) { @where(¦) }"), "post ids ctx " + values + " expression"},
		{"row in the rule of a read", actions("read count() returns (Any) { @permission(expression: ¦) }"), "ctx " + values},
		{"row in a rule for a read", post("@permission(expression: ¦, actions: [get, read])"), "ctx " + values},
		{"relation in the validation of a model", post("@validate(post.author.¦)"), "id name profile identity identityId createdAt updatedAt"},
		{"attribute of code", actions("read count() returns (Any) { @¦ }"), "permission validate function allow"},
		{"attribute beside @function", actions("get getPost(id) { @function @¦ }"), "permission validate embed allow"},
		{"secret in a result", "message M { a ¦ } model A { actions { read a() returns (M) } }", "… Text Vector Any"},
		{"type of a read input", actions("get getPost(a: ¦)"), "… Text State"},
		{"member of an api twice", "api A { models { Person ¦ } }", "Profile Identity"},
		{"before an array", "model A { fields { x Text ¦[] } }", ""},
		{"before a dot", actions("list posts(¦author.name)"), "author"},
		{"block of a role", "role R { ¦ }", "emails domains expression"},
		{"member of a role", "role R { emails { ¦ } }", ""},
		{"block of an api", "api A { ¦ }", "models"},
		{"model of an api", "api A { models { ¦ } }\n" + union(""), "Person Profile Event Post Identity"},
		{"block of an api's model", "api A { models { Post { ¦ } } }", "actions"},
		{"action of an api", "api A { models { Post { actions { ¦ } } } }\n" + actions("get getPost(id)"), "getPost"},
		{"action of Identity in an api", "api A { models { Identity { actions { changeEmail ¦ } } } }",
			"requestPasswordReset resetPassword requestEmailVerification verifyEmail changePassword changeEmail signOutEverywhere listSessions endSession endOtherSessions startAuthenticator confirmAuthenticator removeAuthenticator startPasskey confirmPasskey removePasskey renewRecoveryCodes listFactors startProviderLink confirmProviderLink removeProviderLink listProviderLinks acceptInvitation"},
		{"read input of a create", actions("create addPost(¦) with (title, author.id)"), ""},
		{"second read input of a create", actions("create addPost(title, ¦) with (title)"), ""},
		{"path of a read input of a create", actions("create addPost(author.¦) with (title)"), ""},
		{"type of a read input of a create", actions("create addPost(a: ¦) with (title)"), ""},
		{"values of a list", actions("list listPosts() with (¦)"), ""},
		{"in a line comment", post("// @¦"), ""},
		{"behind the spaces of a comment", post("// a  ¦"), ""},
		{"in a block comment", post("/* ¦ */"), ""},
		{"in a text", actions("get getPost(id) { @where(post.title == \"post.¦\") }"), ""},
		{"behind a number", actions("get getPost(id) { @where(post.title == 12¦) }"), ""},
		{"in a later declaration", "flow Nightly { ¦ }", ""},
		{"member of a job", "job Nightly { ¦ }", "inputs @schedule @retries @permission"},
		{"rule of a job", "job Nightly { inputs { day Date? } @permission(expression: da¦) }", "day ctx " + values},
		{"jobs of a rule", post("@permission(expression: true, jobs: [¦])") + "job Nightly { @permission(expression: true) }", "Nightly"},
		{"after characters outside the BMP", actions("get getPost(id) { @where(post.title == \"😀😀\" && post.¦) }"), postFields},
		{"behind an open brace", "model A { fields { x Text\n" + actions("get getPost(¦"), "id title state author authorId createdAt updatedAt"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, uri, p := openAt(t, test.text)
			var items []completionItem
			c.call("textDocument/completion", at(uri, p), &items)
			got := strings.Fields(labels(items))
			if some, found := strings.CutPrefix(test.want, "… "); found {
				for _, want := range strings.Fields(some) {
					if !slices.Contains(got, want) {
						t.Errorf("%s:\ngot  %v\nwant %s among them", test.text, got, want)
					}
				}
				return
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%s:\ngot  %s\nwant %s", test.text, strings.Join(got, " "), test.want)
			}
		})
	}
}

// A completion replaces the word up to the cursor, no more.
func TestCompletionEdits(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, label, want string }{
		{"mo¦ Post {}", "model", "model Post {}"},
		{"model A { fields { x Te¦ } }", "Text", "model A { fields { x Text } }"},
		{"model A { fields { x Text @un¦ } }", "unique", "model A { fields { x Text @unique } }"},
		{"model A { fields { x Text ¦ } }", "@unique", "model A { fields { x Text @unique } }"},
		{"model A { @permission(ex¦) }", "expression", "model A { @permission(expression: ) }"},
		{"model A { fields { x Person? @onDelete(¦) } }", "setNull", "model A { fields { x Person? @onDelete(setNull) } }"},
	}
	for _, test := range tests {
		c, uri, p := openAt(t, test.text)
		var items []completionItem
		c.call("textDocument/completion", at(uri, p), &items)
		i := slices.IndexFunc(items, func(item completionItem) bool { return item.Label == test.label })
		if i < 0 {
			t.Errorf("%s: got %s, want %s among them", test.text, labels(items), test.label)
			continue
		}
		text, _ := unmark(t, test.text)
		if got := apply(text, []textEdit{items[i].TextEdit}); got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
	}
}

func TestHover(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string // parts of the text; none means no hover
	}{
		{"model", "model Po¦st { fields { a Text } }", []string{"model Post", "Table `app.post`"}},
		{"description", strings.Replace(post(""), "model Post", "model Po¦st", 1), []string{"Something to read."}},
		{"keyword", "mod¦el A { fields { a Text } }", []string{"A kind of row"}},
		{"block", "model A { fie¦lds { a Text } }", []string{"The fields of a row."}},
		{"field", strings.Replace(post(""), "title", "tit¦le", 1), []string{"title Text", "Shown on top.", "Column `title` of table `app.post`"}},
		{"to-one", strings.Replace(post(""), "author", "au¦thor", 1), []string{"author Person", "Column `author_id`"}},
		{"optional field", strings.Replace(post(""), "cover", "co¦ver", 1), []string{"cover File?"}},
		{"first letter", strings.Replace(post(""), "cover", "¦cover", 1), []string{"cover File?"}},
		{"behind the last letter", strings.Replace(post(""), "cover", "cover¦", 1), []string{"cover File?"}},
		{"scalar", "model A { fields { a Deci¦mal } }", []string{"exact decimal", "price Decimal"}},
		{"enum", "model A { fields { a Sta¦te } }", []string{"enum State { Draft Published }"}},
		{"model as type", "model A { fields { a Per¦son } }", []string{"model Person", "Who writes."}},
		{"Identity", "model A { fields { a Iden¦tity } }", []string{"app.identity"}},
		{"attribute", "model A { fields { a Text @uni¦que } }", []string{"@unique", "No two rows"}},
		{"argument", "model A { fields { a Person @onDelete(cas¦cade) } }", []string{"Deletes this row too"}},
		{"warning", actions("list listPosts() { @allow(FilterWid¦ens) }"), []string{"find out their values by trial"}},
		{"kind", actions("li¦st listPosts()"), []string{"Reads a page of rows"}},
		{"attribute out of place", "enum E { A @emb¦ed }", []string{"related records"}},
		{"field on the next line", "model A { fields {\n  broken\n  ti¦tle Text\n} }", []string{"title Text"}},
		{"kind on the same line", actions("get a(id) li¦st b()"), []string{"Reads a page of rows"}},
		{"clause", actions("create a() wi¦th (title)"), []string{"The values that"}},
		{"action", actions("create add¦Post() with (title, author.id)"), []string{"create addPost() with (title, author.id)", "Function `api.add_post`"}},
		{"input", actions("create addPost() with (ti¦tle)"), []string{"title Text", "Shown on top."}},
		{"path", actions("list a(author.na¦me)"), []string{"name Text", "Column `name` of table `app.person`"}},
		{"foreign key", actions("list a(author¦Id)"), []string{"authorId ID", "The id of `author`", "Column `author_id`"}},
		{"to-many", actions("list a(author.po¦sts.id)"), []string{"posts Post[]", "No column: the key is in table `app.post`"}},
		{"side without the key", actions("list a(author.pro¦file.id)"), []string{"No column: the key is in table `app.profile`"}},
		{"built-in field", actions("list a(created¦At)"), []string{"createdAt Timestamp", "Set by the database."}},
		{"label", actions("list a(i¦ds: ID[]) { @where(post.id in ids) }"), []string{"ids: ID[]", "An input of `a`"}},
		{"input in an expression", actions("get a(author.id) { @where(author¦Id != null) }"), []string{"author.id // ID"}},
		{"variable", actions("get a(id) { @where(po¦st.title == \"\") }"), []string{"post Post", "The row of `Post`"}},
		{"ctx", actions("get a(id) { @where(ct¦x.isAuthenticated) }"), []string{"The call"}},
		{"member of ctx", actions("get a(id) { @where(ctx.isAuth¦enticated) }"), []string{"isAuthenticated Boolean"}},
		{"claim", actions("get a(id) { @where(ctx.identity.te¦am == \"x\") }"), []string{"team Text?"}},
		{"backlink", actions("get a(id) { @where(ctx.identity.per¦son == post.author) }"), []string{"person Person?", "Leads back from `Person.identity`"}},
		{"enum value", actions("get a(id) { @where(post.state == State.Dra¦ft) }"), []string{"State.Draft", "Nobody sees it yet."}},
		{"role", post("@permission(roles: [Edi¦tor], actions: [get])"), []string{"role Editor"}},
		{"union", union("") + "api A { models { Ev¦ent } }", []string{"union Event"}},
		{"arm", union("arms { wri¦tten Post }"), []string{"written Post"}},
		{"field of a union", union("actions { list a(source¦Model?) }"), []string{"sourceModel Text", "Every union has it."}},
		{"message", actions("read a() returns (Tot¦als)"), []string{"message Totals"}},
		{"api", "api Mo¦bile { models { } }", []string{"api Mobile"}},
		{"unknown name", actions("get a(tit¦el)"), nil},
		{"comment", "// model A¦", nil},
		{"text", actions("get a(id) { @where(post.title == \"tit¦le\") }"), nil},
		{"white space", "  ¦  \n", nil},
		{"number", actions("get a(id) { @where(post.title == 1¦2) }"), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, uri, p := openAt(t, test.text)
			var h *hover
			c.call("textDocument/hover", at(uri, p), &h)
			if h == nil {
				if test.want != nil {
					t.Errorf("%s: got no hover, want %q", test.text, test.want)
				}
				return
			}
			if test.want == nil {
				t.Errorf("%s: got %q, want no hover", test.text, h.Contents.Value)
			}
			for _, want := range test.want {
				if !strings.Contains(h.Contents.Value, want) {
					t.Errorf("%s: got %q, want %q in it", test.text, h.Contents.Value, want)
				}
			}
		})
	}
}

func TestDefinition(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       string // file, and the line from the declared name on; "" means none
	}{
		{"type in another file", strings.Replace(post(""), "author Person", "author Per¦son", 1), "library.stern: Person {"},
		{"enum", strings.Replace(post(""), "state State", "state Sta¦te", 1), "library.stern: State {"},
		{"own name", strings.Replace(post(""), "author", "auth¦or", 1), "schema.stern: author Person"},
		{"input", actions("create a() with (ti¦tle)"), "schema.stern: title Text"},
		{"path", actions("list a(author.na¦me)"), "library.stern: name Text"},
		{"foreign key", actions("list a(author¦Id)"), "schema.stern: author Person"},
		{"built-in field", actions("list a(i¦d)"), "schema.stern: Post {"},
		{"enum value", actions("get a(id) { @where(post.state == State.Pub¦lished) }"), "library.stern: Published"},
		{"default", strings.Replace(post(""), "State.Draft", "State.Dra¦ft", 1), "library.stern: Draft"},
		{"variable", actions("get a(id) { @where(po¦st.state == null) }"), "schema.stern: Post {"},
		{"input in an expression", actions("list a(ids: ID[]) { @where(post.id in i¦ds) }"), "schema.stern: ids: ID[]) { @where(post.id in ids) }"},
		{"backlink", actions("get a(id) { @where(ctx.identity.per¦son == null) }"), "library.stern: identity Identity @unique"},
		{"role", post("@permission(roles: [Edi¦tor], actions: [get])"), "library.stern: Editor { domains { \"news.example\" } }"},
		{"relation", strings.Replace(post(""), "author Person", "author Person @relation(po¦sts)", 1), "library.stern: posts Post[]"},
		{"embed", actions("get a(id) { @embed(author.pro¦file) }"), "library.stern: profile Profile?"},
		{"composite", post("@unique([title, sta¦te])"), "schema.stern: state State @default(State.Draft)"},
		{"message", actions("read a() returns (Tot¦als)"), "library.stern: Totals { posts Number }"},
		{"model of an arm", union("arms { written Po¦st }"), "schema.stern: Post {"},
		{"target of an arm", union("arms { written Post { @set(event.na¦me = post.title) } }"), "schema.stern: name Text }"},
		{"model of an api", "api A { models { Per¦son } }", "library.stern: Person {"},
		{"action of an api", "api A { models { Post { actions { add¦Post } } } }\n" + actions("create addPost() with (title)"),
			"schema.stern: addPost() with (title)"},
		{"in a file that does not parse", "model A {\n  fields {\n    x Text @default(\n  }\n}\n" + actions("list a(author.na¦me)") + "model B { fields {", "library.stern: name Text"},
		{"scalar", "model A { fields { a Te¦xt } }", ""},
		{"keyword", "mod¦el A { fields { a Text } }", ""},
		{"Identity", "model A { fields { a Iden¦tity } }", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, uri, p := openAt(t, test.text)
			var l *location
			c.call("textDocument/definition", at(uri, p), &l)
			got := ""
			if l != nil {
				text, _ := unmark(t, test.text)
				name := filepath.Base(l.URI)
				if name == "library.stern" {
					text = strings.TrimLeft(library, "\n")
				}
				at := newLines([]byte(text), utf16Units)
				line, _, _ := strings.Cut(text[at.offset(l.Range.Start):], "\n")
				got = name + ": " + line
			}
			if got != test.want {
				t.Errorf("%s: got %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// sample has a bit of everything.
const sample = `
/// 😀 Something brought in to be mended.
model Order {
  fields {
    number Text @unique /* 😀 */ note Text?
    state Phase @default(Phase.Received) @renamed(from: phase)
    customer Person { @onDelete(restrict) @index }
    tags Text[]
    items Item[]
    photo File? @accepts(["image/*"]) @maxSize("5 MB")
  }
  actions {
    create createOrder() with (number, items.what, customer.id) { @set(order.state = Phase.Received) }
    get getOrder(id) { @embed(items, customer.profile) }
    list listOrders(state?, from: Timestamp, customer.profile.bio?) {
      @where(order.createdAt >= from && !(order.items.what == "😀" || order.tags == null))
      @orderBy(createdAt: desc, number: asc)
      @sortable(number)
    }
    update returnOrder(id) with (note) { @validate(note != "", message: "😀") @permission(roles: [Editor]) }
    delete deleteOrder(number) @permission(expression: ctx.identity.person == order.customer)
    read report(Totals) returns (Totals)
    write mend(ids: ID[]) returns (Any) { @validate(ctx.env.REGION == "x") }
  }
  @unique([customer, number])
  @validate(expression: order.number != "")
  @permission(expression: order.customer.identity == ctx.identity && ctx.now > order.updatedAt, actions: [create, get, list])
}
model Item { fields { order Order @relation(items)  what Text } }
enum Phase { /// As it came.
  Received
  Mended @renamed(from: Repaired) }
union Event {
  fields { title Text  at Timestamp? }
  arms { received Order { @where(order.state == Phase.Received) @set(event.title = order.number) } }
  actions { get getEvent(id)  list listEvents(sourceArm?) { @sortable(at) } }
  @permission(expression: true, actions: [get, list])
}
role Boss { emails { "a@b.example" } domains { "c.example" } }
api Mobile { models { Event Order { actions { getOrder listOrders } } } }
`

// sampleFile returns the sample as a file of a project with the library.
func sampleFile(text string) (*index, *syntax.File) {
	x := newIndex(&sqlgen.Project{
		Files:  []*syntax.Source{{Name: "library.stern", Text: []byte(library)}, {Name: "sample.stern", Text: []byte(text)}},
		Config: &syntax.Source{Name: sqlgen.ConfigName, Text: []byte(libraryConfig)},
	})
	return x, x.file("sample.stern")
}

// Each name in a sound schema has a meaning, and is offered where it is unless it is a
// new one.
func TestEveryName(t *testing.T) {
	t.Parallel()
	x, file := sampleFile(sample)
	if file.Incomplete() {
		t.Fatal("the sample does not parse")
	}
	for _, token := range file.Tokens {
		if token.Kind != syntax.TokenName || token.Text == "phase" || token.Text == "Repaired" {
			continue // former names stand for nothing
		}
		for _, offset := range []int{token.Span.Start.Offset, token.Span.End.Offset} {
			s := cursorAt(file, offset)
			y := x.resolve(s)
			if s.word != token.Text || y == nil || y.name != token.Text {
				t.Errorf("%s: %s: got %q, %+v", token.Span.Start, token.Text, s.word, y)
				continue
			}
			if s.slot != slotNew && named(x.candidates(s), token.Text) == nil {
				t.Errorf("%s: %s is not offered", token.Span.Start, token.Text)
			}
		}
	}
}

// In every unfinished text and at every cursor, the word there is found, nothing is
// offered twice, and the explanation is of that word.
func TestHalfWritten(t *testing.T) {
	t.Parallel()
	for end := 0; end <= len(sample); end += 3 {
		x, file := sampleFile(sample[:end])
		for offset := max(0, end-20); offset <= end; offset++ {
			s := cursorAt(file, offset)
			if s.start > offset || s.end < offset || sample[s.start:s.end] != s.word {
				t.Errorf("written up to %d, at %d: got the word %q from %d to %d", end, offset, s.word, s.start, s.end)
			}
			offered := map[string]bool{}
			for _, y := range x.candidates(s) {
				if y.name == "" || offered[y.name] {
					t.Errorf("written up to %d, at %d: %q is offered twice, or has no name", end, offset, y.name)
				}
				offered[y.name] = true
			}
			if y := x.resolve(s); y != nil && y.name != s.word {
				t.Errorf("written up to %d, at %d: %s is explained as %s", end, offset, s.word, y.name)
			}
		}
	}
}

// Each word that is offered in the whole file is also offered where it is written next,
// unless it is declared only after that place.
func TestHalfWrittenWords(t *testing.T) {
	t.Parallel()
	declaredBehind := strings.Fields("Phase Received Item what items getOrder listOrders")
	whole, file := sampleFile(sample)
	missed := map[string]bool{}
	for _, token := range file.Tokens {
		start := token.Span.Start.Offset
		if named(whole.candidates(cursorAt(file, start)), token.Text) == nil {
			continue // a name that is declared here, or no word
		}
		x, half := sampleFile(sample[:start])
		if named(x.candidates(cursorAt(half, start)), token.Text) != nil {
			continue
		}
		missed[token.Text] = true
		if !slices.Contains(declaredBehind, token.Text) {
			t.Errorf("%s: %s is not offered where it is the next word", token.Span.Start, token.Text)
		}
	}
	if len(missed) < len(declaredBehind) {
		t.Errorf("only %v could not be known yet; want %v", slices.Sorted(maps.Keys(missed)), declaredBehind)
	}
}

// The next word after each whole line so far can be completed.
func TestHalfWrittenPaths(t *testing.T) {
	t.Parallel()
	_, file := sampleFile(sample)
	for i, token := range file.Tokens {
		if token.Text != "." {
			continue
		}
		// Written up to the dot, with the lines behind it there already.
		end := token.Span.End.Offset
		rest := sample[end:]
		x, half := sampleFile(sample[:end] + "\n" + rest[strings.Index(rest, "\n")+1:])
		if name := file.Tokens[i+1].Text; named(x.candidates(cursorAt(half, end)), name) == nil {
			t.Errorf("%s: %s is not offered behind the dot", token.Span.Start, name)
		}
	}
}

func FuzzSpot(f *testing.F) {
	f.Add(sample, 100)
	f.Add("model A { fields { x Text @", 27)
	f.Add("model A { fields { x Text @default(", 35)
	f.Fuzz(func(t *testing.T, text string, offset int) {
		x, file := sampleFile(text)
		if offset < 0 || offset > len(text) {
			offset = len(text)
		}
		s := cursorAt(file, offset)
		x.candidates(s)
		x.resolve(s)
		if s.start > offset || s.end < offset || text[s.start:s.end] != s.word {
			t.Errorf("at %d: got the word %q from %d to %d", offset, s.word, s.start, s.end)
		}
	})
}

func TestDocumentSymbols(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.open("untitled:a", sample)
	var symbols []documentSymbol
	c.call("textDocument/documentSymbol", documentParams{documentID{"untitled:a"}}, &symbols)
	const want = "Order(number note state customer tags items photo createOrder getOrder listOrders returnOrder deleteOrder report mend)" +
		" Item(order what) Phase(Received Mended) Event(title at received getEvent listEvents) Boss Mobile"
	if got := outline(symbols); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	lines := newLines([]byte(sample), utf16Units)
	var check func(list []documentSymbol, within textRange)
	check = func(list []documentSymbol, within textRange) {
		for _, s := range list {
			start, end := lines.offset(s.Range.Start), lines.offset(s.Range.End)
			nameStart, nameEnd := lines.offset(s.SelectionRange.Start), lines.offset(s.SelectionRange.End)
			if sample[nameStart:nameEnd] != s.Name || nameStart < start || nameEnd > end ||
				start < lines.offset(within.Start) || end > lines.offset(within.End) {
				t.Errorf("%s: name at %v, whole at %v, within %v", s.Name, s.SelectionRange, s.Range, within)
			}
			check(s.Children, s.Range)
		}
	}
	check(symbols, textRange{position{0, 0}, position{999, 0}})
}

// The examples shown on hover compile.
func TestExamples(t *testing.T) {
	t.Parallel()
	const before = "enum State { Draft Published }\nmodel Person { fields { name Text  approved Post[]  written Post[] } }\n"
	model := func(fields, rest string) string {
		return "model Post {\n  fields {\n    title Text\n    state State @default(State.Draft)\n    author Person @relation(written)\n    " +
			fields + "\n  }\n  " + rest + "\n}\n"
	}
	check := func(name, text string) {
		t.Helper()
		p := &sqlgen.Project{Files: []*syntax.Source{{Name: "example.stern", Text: []byte(text)}}}
		for _, name := range []string{"countPosts", "archivePosts", "renamePost", "code"} {
			p.Functions = append(p.Functions, &syntax.Source{Name: "functions/" + name + ".sql"})
		}
		_, errs := sqlgen.Check(p)
		for _, e := range errs {
			// The rest of an example's declarations is not missing.
			if !e.Warning && e.Code != check.UncoveredField && e.Code != check.MissingToOne && e.Code != check.UnusedInput {
				t.Errorf("example of %s: %s\n%s", name, e.Message, text)
			}
		}
	}
	for _, w := range declarationWords {
		switch {
		case w.example == "":
		case w.name == "model", w.name == "enum":
			check(w.name, w.example)
		default:
			check(w.name, strings.Replace(before, "State {", "Phase {", 1)+"enum State { Draft }\n"+model("", "")+w.example)
		}
	}
	for _, w := range scalarWords {
		check(w.name, before+model(w.example, ""))
	}
	for _, w := range kindWords {
		check(w.name, before+model("", "actions {\n"+w.example+"\n} @history"))
	}
	for _, w := range attributeWords {
		switch {
		case strings.HasPrefix(w.example, "job "):
			check(w.name, before+model("", "")+w.example)
		case strings.HasPrefix(w.example, "@"):
			check(w.name, before+model("", w.example))
		case kindWords.has(strings.Fields(w.example)[0]):
			check(w.name, before+model("contact Text? @format(email)  reviewer Identity?", "actions {\n"+w.example+"\n}"))
		default:
			check(w.name, before+model(w.example, ""))
		}
		if !strings.Contains(w.example, "@"+w.name) {
			t.Errorf("example of %s: %s does not show it", w.name, w.example)
		}
	}
}

// The warnings that are offered to an @allow are those that the compiler accepts.
func TestAllowedWarningsAgreeWithTheCompiler(t *testing.T) {
	t.Parallel()
	message := func(name string) string {
		text := "model M { actions { get a(id) { @allow(" + name + ") } } }"
		_, errs := sqlgen.Check(&sqlgen.Project{Files: []*syntax.Source{{Name: "a.stern", Text: []byte(text)}}})
		for _, e := range errs {
			if e.Code == check.AttributeArguments {
				return e.Message
			}
		}
		return ""
	}
	_, list, _ := strings.Cut(message("Nothing"), "the warnings are ")
	taken := strings.FieldsFunc(strings.ReplaceAll(list, " and ", ", "), func(r rune) bool { return r == ',' || r == ' ' })
	var offered []string
	for _, w := range warningWords {
		offered = append(offered, w.name)
		if refused := message(w.name); refused != "" {
			t.Errorf("@allow(%s) is offered, and refused: %s", w.name, refused)
		}
	}
	slices.Sort(taken)
	slices.Sort(offered)
	if !slices.Equal(taken, offered) {
		t.Errorf("offered %q, taken %q", offered, taken)
	}
}

// Each attribute is offered where the language has it, and nowhere else.
func TestAttributesAreOffered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ template, want string }{
		{"model M { fields { x Number @# } }",
			"unique index default computed renamed hidden"},
		{"model M { fields { x ID @# } }",
			"unique index default renamed hidden"},
		{"model M { fields { x Markdown @# } }",
			"unique index default computed renamed minLength maxLength notBlank pattern hidden"},
		{"model M { fields { x Text @# } }",
			"unique index default computed sequence renamed minLength maxLength notBlank pattern format hidden"},
		{"model M { fields { x Number[] @# } }",
			"default renamed minItems maxItems hidden"},
		{"model M { fields { x File @# } }",
			"renamed accepts maxSize hidden"},
		{"model N { fields { a Text } } model M { fields { x N @# } }",
			"unique index computed relation onDelete renamed hidden"},
		{"model N { fields { m M } } model M { fields { x N[] @# } }",
			"renamed minItems"},
		{"model M { @# }",
			"unique index renamed on history permission validate"},
		{"union U { @# }",
			"renamed permission"},
		{"enum E { A @# }",
			"renamed"},
		{"model M { fields { a Text } } union U { arms { m M @# } }",
			"where set"},
		{"model M { actions { get a() @# } }",
			"permission validate where live embed select function allow"},
		{"model M { actions { list a() @# } }",
			"permission validate where orderBy sortable facet live embed select function allow"},
		{"model M { actions { create a() @# } }",
			"permission validate set select function many allow"},
		{"model M { actions { update a() @# } }",
			"permission validate where set select function many allow"},
		{"model M { actions { delete a() @# } }",
			"permission validate where function many allow"},
		{"model M { actions { read a() returns (Any) @# } }",
			"permission validate function allow"},
		{"model M { actions { write a() returns (Any) @# } }",
			"permission validate function allow"},
		{"union U { actions { get a() @# } }",
			"permission validate where live allow"},
		{"union U { actions { list a() @# } }",
			"permission validate where orderBy sortable facet live allow"},
		{"message M { x Text @# }",
			""},
		{"union U { fields { x Text @# } }",
			""},
		// What excludes each other is not offered beside each other.
		{"model M { fields { x Text @unique @# } }", "index default computed renamed minLength maxLength notBlank pattern format hidden"},
		{"model M { fields { x Text @default @# } }", "unique index renamed minLength maxLength notBlank pattern format hidden"},
	} {
		before, after, _ := strings.Cut(c.template, "#")
		x, file := sampleFile(before + after)
		var got []string
		for _, y := range x.offers(cursorAt(file, len(before))) {
			if y.class == classAttribute {
				got = append(got, y.name)
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.template, got, c.want)
		}
	}
}
