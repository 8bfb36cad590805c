package lsp

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/expr"
)

// word is a word of the language, with its explanation.
type word struct {
	name    string
	text    string // a sentence or two
	example string // in the language; "" means none
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
	{name: "job", text: "Code that runs when somebody starts it.", example: "job Code {\n  inputs {\n    day Date?\n  }\n  @permission(expression: true)\n}"},
	{name: "flow", text: "Not supported yet."},
	{name: "task", text: "Not supported yet."},
	{name: "routes", text: "Not supported yet."},
}

var blockWords = words{
	{name: "fields", text: "The fields of a row."},
	{name: "conditions", text: "Named conditions, which expressions read like a field, through any path."},
	{name: "inputs", text: "The inputs of a job."},
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
	{name: "history", text: "Reads every version of a row of a model with `@history`, the newest first.", example: "history postHistory(id)"},
}

var clauseWords = words{
	{name: "with", text: "The values that a `create` or `update` writes."},
	{name: "returns", text: "The message that a `read` or `write` returns."},
}

// attributeWords are the attributes, as the compiler's table has them.
var attributeWords = func() (list words) {
	for _, a := range check.Attributes() {
		list = append(list, word{name: a.Name, text: a.Text, example: a.Example})
	}
	return list
}()

// attributeNamed returns the attribute of a name in that table.
func attributeNamed(name string) (check.Attribute, bool) {
	for _, a := range check.Attributes() {
		if a.Name == name {
			return a, true
		}
	}
	return check.Attribute{}, false
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
	{name: "SlowRule", text: "A rule of the list follows a relation from each row, and a copy of the path's end would lead to the rows by an index."},
	{name: "CursorWidens", text: "The cursors of the list hold fields that its `@select` leaves out."},
	{name: "UncheckedInline", text: "The action stores a file in a field with `@accepts` or `@maxSize`, which are not checked for data URLs."},
}

// argumentWords are the labels and bare words in the arguments of attributes.
var argumentWords = words{
	{name: "expression", text: "The condition."},
	{name: "roles", text: "The caller must have one of these roles."},
	{name: "actions", text: "The kinds of actions that the rule covers."},
	{name: "timeZone", text: "The zone whose clock counts, such as Europe/Berlin."},
	{name: "jobs", text: "The jobs and subscribers whose code may do the same."},
	{name: "fields", text: "An update counts if one of these fields has changed."},
	{name: "where", text: "The condition on the row after the write."},
	{name: "message", text: "The message for the client."},
	{name: "of", text: "The models that the custom code reads."},
	{name: "keep", text: "For how long: an amount and hours, days, weeks, months or years."},
	{name: "field", text: "The field or input that the refusal names."},
	{name: "per", text: "The to-one whose rows each have numbers of their own, without gaps."},
	{name: "from", text: "The former name."},
	{name: "asc", text: "Ascending; null comes last."},
	{name: "desc", text: "Descending; null comes first."},
	{name: "cascade", text: "Deletes this row too."},
	{name: "restrict", text: "Refuses to delete the row pointed to."},
	{name: "setNull", text: "Sets the field to null."},
	{name: "email", text: "An e-mail address."},
	{name: "url", text: "An address that begins with http or https."},
}

// functionWords are the functions of expressions.
var functionWords = func() (list words) {
	for _, b := range expr.Builtins() {
		list = append(list, word{name: b.Name, text: b.Doc})
	}
	return list
}()

var contextWords = words{
	{name: "ctx", text: "The call: its caller, time and headers."},
	{name: "identity", text: "The caller's Identity; null if the caller is anonymous."},
	{name: "isAuthenticated", text: "Whether the caller is known."},
	{name: "secondFactor", text: "Whether the caller's session has shown a second factor. In rules and roles only."},
	{name: "signedInWithin", text: "Whether the caller has shown a credential within that time: `ctx.signedInWithin(\"5 minutes\")`. In rules and roles only."},
	{name: "now", text: "The start of the call."},
	{name: "headers", text: "The headers of the request, by name: `ctx.headers.userAgent`."},
	{name: "env", text: "The environment values that `sternpost.yaml` declares."},
	{name: "secrets", text: "The secrets that `sternpost.yaml` declares."},
}

var literalWords = words{{name: "true"}, {name: "false"}, {name: "null"}}
