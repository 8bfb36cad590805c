package lsp

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
)

// word is a word of the language, with its explanation.
type word struct {
	name    string
	text    string // a sentence or two
	example string // in the language; "" means none
	on      string // of an attribute: its bearers, as bearersOf names them
}

type words []word

func (w words) find(name string) (word, bool) {
	i := slices.IndexFunc(w, func(x word) bool { return x.name == name })
	if i < 0 {
		return word{}, false
	}
	return w[i], true
}

func (w words) has(name string) bool {
	_, found := w.find(name)
	return found
}

// only returns the words of those names, in their own order.
func (w words) only(names ...string) words {
	var kept words
	for _, x := range w {
		if slices.Contains(names, x.name) {
			kept = append(kept, x)
		}
	}
	return kept
}

// isOn tells whether an attribute can be on any of several bearers.
func (w word) isOn(bearers ...string) bool {
	return slices.ContainsFunc(strings.Fields(w.on), func(on string) bool { return slices.Contains(bearers, on) })
}

// The words of the language. The examples are compiled by a test: those of
// declarations as they are, those of attributes as a part of model Post.

var declarationWords = words{
	{name: "model", text: "A kind of row: its fields become the columns of a table, its actions functions.",
		example: "model Post {\n  fields {\n    title Text\n  }\n}"},
	{name: "union", text: "A read-only view over rows of several models.",
		example: "union Event {\n  fields {\n    title Text\n  }\n  arms {\n    post Post\n  }\n}"},
	{name: "enum", text: "A type with a fixed set of values.", example: "enum State {\n  Draft\n  Published\n}"},
	{name: "message", text: "The input or result of a `read` or `write`.", example: "message Totals {\n  posts Number\n}"},
	{name: "role", text: "A group of callers: by their verified e-mail address, or by an expression over `ctx`.",
		example: "role Editor {\n  domains {\n    \"news.example\"\n  }\n}"},
	{name: "api", text: "A set of models and actions under a path of its own.",
		example: "api Mobile {\n  models {\n    Post\n  }\n}"},
	{name: "job", text: "Not supported yet."},
	{name: "flow", text: "Not supported yet."},
	{name: "task", text: "Not supported yet."},
	{name: "routes", text: "Not supported yet."},
}

var blockWords = words{
	{name: "fields", text: "The fields of a row."},
	{name: "actions", text: "The requests that clients can make."},
	{name: "arms", text: "The models whose rows a union shows, with their conditions."},
	{name: "emails", text: "Addresses of members."},
	{name: "domains", text: "Domains. All their addresses are members."},
	{name: "expression", text: "A condition: callers for whom it holds also have the role. It can use only `ctx` and literals."},
	{name: "models", text: "The models and unions that the api exposes."},
}

// scalarWords are the types that every schema has.
var scalarWords = func() (list words) {
	for _, kind := range expr.Scalars() {
		list = append(list, word{name: kind.String(), text: kind.Doc(), example: kind.Example()})
	}
	return list
}()

var anyWord = words{{name: "Any", text: "Any JSON value, in messages and as input or result of a `read` or `write`."}}

var kindWords = words{
	{name: "get", text: "Reads one row, which its inputs and `@where` must identify; null if there is none.", example: "get getPost(id)"},
	{name: "list", text: "Reads a page of rows. Its inputs are filters.", example: "list listPosts(title?)"},
	{name: "create", text: "Makes a row, and rows below it.", example: "create createPost() with (title)"},
	{name: "update", text: "Changes the row that its inputs and `@where` identify.", example: "update updatePost(id) with (title?)"},
	{name: "delete", text: "Deletes the row that its inputs and `@where` identify.", example: "delete deletePost(id)"},
	{name: "read", text: "Reads with custom code: a function in `functions/`.", example: "read countPosts(since: Date) returns (Any)"},
	{name: "write", text: "Writes with custom code: a function in `functions/`.", example: "write archivePosts(before: Date) returns (Any)"},
}

var clauseWords = words{
	{name: "with", text: "The values that a `create` or `update` writes."},
	{name: "returns", text: "The message that a `read` or `write` returns."},
}

const anyAction = " get list create update delete read write unionGet unionList"

var attributeWords = words{
	{name: "unique", on: "key toOne model", example: "@unique([title, state])",
		text: "No two rows have the same value here; on a model, the same combination of values. Nulls do not collide."},
	{name: "index", on: "key toOne model", example: "@index(state, title)",
		text: "Makes an index for finding and ordering rows. A foreign key always has one."},
	{name: "default", on: "defaulted", example: "summary Text @default(\"none\")",
		text: "The value when nothing is assigned. Without argument, the type's own: empty, zero, now, a new id."},
	{name: "computed", on: "computable", example: "length Number @computed(COUNT(post.author.written))",
		text: "The value is computed from fields of this row and of related rows, and follows them. Paths through a to-many need an aggregate."},
	{name: "sequence", on: "requiredText", example: "number Text @sequence(\"INV-\", 1000)",
		text: "The database sets the value: the prefix and the next number, with at least four digits. It is unique, and cannot be an input."},
	{name: "relation", on: "toOne", example: "approver Person? @relation(approved)",
		text: "Names the field of the other model that leads back, if several could."},
	{name: "onDelete", on: "toOne", example: "reviewer Person? @onDelete(restrict)",
		text: "The effect of deleting the referenced row: `cascade` deletes this row, `restrict` refuses, `setNull` unlinks."},
	{name: "renamed", on: "scalar file toOne toMany model union enumValue", example: "heading Text @renamed(from: caption)",
		text: "The former name, so that the migration renames instead of dropping and adding. It may stay."},
	{name: "accepts", on: "file", example: "scan File? @accepts([\"image/*\", \"application/pdf\"])",
		text: "The content types that an upload may have; by default any."},
	{name: "maxSize", on: "file", example: "scan File? @maxSize(\"2.5 MiB\")",
		text: "The largest size of an upload; by default 100 MB."},
	{name: "maxLength", on: "text", example: "subtitle Text? @maxLength(200)",
		text: "The most characters of a text, or of each text of an array; by default only the size of a request limits them."},
	{name: "maxItems", on: "array", example: "labels Text[] @maxItems(20) @default",
		text: "The most elements of an array; by default only the size of a request limits them."},
	{name: "hidden", on: "scalar file toOne", example: "token Text? @hidden",
		text: "Records do not show the field, and lists cannot be filtered or ordered by it. Rules, conditions and custom code can read it."},
	{name: "permission", on: "model union" + anyAction, example: "@permission(expression: ctx.isAuthenticated, actions: [get, list])",
		text: "A rule that allows calls. With `expression` and `roles`, both must hold. The rules of an action replace those of its model."},
	{name: "validate", on: "model" + anyAction, example: "@validate(post.title != \"\", message: \"a post needs a title\")",
		text: "Refuses values for which the expression is false. On a model it applies to every write; on an action, to its inputs."},
	{name: "where", on: "get list update delete unionGet unionList arm", example: "list listOpen() { @where(post.state == State.Draft) }",
		text: "Only rows for which the expression holds. It is skipped if it uses an absent optional input."},
	{name: "set", on: "create update arm", example: "update publishPost(id) { @set(post.state = State.Published) }",
		text: "Assigns a value that the client does not give."},
	{name: "orderBy", on: "list unionList", example: "list listNewest() { @orderBy(createdAt: desc) }",
		text: "The order of the rows, after the order of the request."},
	{name: "sortable", on: "list unionList", example: "list listSorted() { @sortable(title, createdAt) }",
		text: "The fields by which a request may order."},
	{name: "facet", on: "list unionList", example: "list listFaceted() { @facet(state, createdAt) }",
		text: "Adds to each page the values of these fields in all rows of the list: each with its count; of numbers the range and the mean; of times the range."},
	{name: "embed", on: "get list", example: "get getWithAuthor(id) { @embed(author) }",
		text: "Shows related records in full instead of their ids."},
	{name: "select", on: "get list create update", example: "list listTitles() { @select(title, author.name) }",
		text: "The record has the id and these fields, in this order. Fields of related rows are in nested records."},
	{name: "function", on: "get list create update delete read write", example: "update renamePost(id, name: Text) @function",
		text: "The body is custom code: a SQL function in `functions/`."},
	{name: "allow", on: strings.TrimSpace(anyAction), example: "list listAll() { @allow(NoRule) }",
		text: "Suppresses a warning about the action. `sternpost permissions` still lists it if it is about access."},
}

// warningWords are the warnings that an action can allow.
var warningWords = words{
	{name: "MissingIndex", text: "Requests filter the list by fields, and no index has its order after them."},
	{name: "NoRule", text: "No rule covers the action, so every call is refused."},
	{name: "EmbedWidens", text: "The action shows rows of a model without checking the rules of that model."},
	{name: "FilterWidens", text: "Callers can filter by rows of a model without its rules being checked, and so find out their values by trial."},
	{name: "ComputedWidens", text: "A computed field shows a value of a row of another model without checking the rules of that model."},
	{name: "LinkWidens", text: "The action points to rows of a model without checking the rules of that model."},
	{name: "NestedWidens", text: "The action inserts rows of a model without checking the rules of that model."},
	{name: "UnionWidens", text: "The union shows rows of a model without checking the rules of that model."},
	{name: "HiddenCompared", text: "The action compares a hidden field with an input, so callers can find out its value by trial."},
	{name: "CursorWidens", text: "The cursors of the list hold fields that its `@select` leaves out."},
	{name: "UncheckedInline", text: "The action stores a file in a field with `@accepts` or `@maxSize`, which are not checked for data URLs."},
}

// argumentWords are the labels and bare words in the arguments of attributes.
var argumentWords = words{
	{name: "expression", text: "The condition."},
	{name: "roles", text: "The caller must have one of these roles."},
	{name: "actions", text: "The kinds of actions that the rule covers."},
	{name: "message", text: "The message for the client."},
	{name: "from", text: "The former name."},
	{name: "asc", text: "Ascending; null comes last."},
	{name: "desc", text: "Descending; null comes first."},
	{name: "cascade", text: "Deletes this row too."},
	{name: "restrict", text: "Refuses to delete the row pointed to."},
	{name: "setNull", text: "Sets the field to null."},
}

// aggregateWords are the functions of @computed; each has a form with a condition.
var aggregateWords = words{
	{name: "SUM", text: "The sum of the values that a path reaches."},
	{name: "AVG", text: "The mean of the values that a path reaches."},
	{name: "MEDIAN", text: "The median of the values that a path reaches."},
	{name: "MIN", text: "The least of the values that a path reaches."},
	{name: "MAX", text: "The greatest of the values that a path reaches."},
	{name: "COUNT", text: "The number of values that a path reaches."},
	{name: "SUMIF", text: "The sum of the values for which the condition holds."},
	{name: "AVGIF", text: "The mean of the values for which the condition holds."},
	{name: "MEDIANIF", text: "The median of the values for which the condition holds."},
	{name: "MINIF", text: "The least of the values for which the condition holds."},
	{name: "MAXIF", text: "The greatest of the values for which the condition holds."},
	{name: "COUNTIF", text: "The number of values for which the condition holds."},
}

var contextWords = words{
	{name: "ctx", text: "The call: its caller, time and headers."},
	{name: "identity", text: "The caller's Identity; null if the caller is anonymous."},
	{name: "isAuthenticated", text: "Whether the caller is known."},
	{name: "now", text: "The start of the call."},
	{name: "headers", text: "The headers of the request, by name: `ctx.headers.userAgent`."},
	{name: "env", text: "The environment values that `sternpost.yaml` declares."},
	{name: "secrets", text: "The secrets that `sternpost.yaml` declares."},
}

var literalWords = words{{name: "true"}, {name: "false"}, {name: "null"}}
