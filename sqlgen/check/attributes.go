package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// bearer is what an attribute is on.
type bearer string

// The bearers of attributes. Their values are what messages call them.
const (
	onScalar       bearer = "a field of that type"
	onFile         bearer = "a File field"
	onToOne        bearer = "a to-one field"
	onBack         bearer = "a to-one field whose key the other model has"
	onToMany       bearer = "a to-many field"
	onUntyped      bearer = "a field" // its type is in error: it takes the attributes of any field
	onModel        bearer = "a model"
	onUnion        bearer = "a union"
	onUnionField   bearer = "a field of a union"
	onMessageField bearer = "a field of a message"
	onEnumValue    bearer = "an enum value"
	onArm          bearer = "an arm"
	onGet          bearer = "a get"
	onList         bearer = "a list"
	onCreate       bearer = "a create"
	onUpdate       bearer = "an update"
	onDelete       bearer = "a delete"
	onRead         bearer = "a read"
	onWrite        bearer = "a write"
	onHistory      bearer = "a history"
	onUnionGet     bearer = "a get of a union"
	onUnionList    bearer = "a list of a union"
	onJob          bearer = "a job"
	onJobInput     bearer = "an input of a job"
)

// attributeRule says where an attribute is allowed and how it is written.
type attributeRule struct {
	Attribute
	on         []bearer
	repeatable bool // more than once on one bearer; never on a field
}

// Attribute is an attribute of the language.
type Attribute struct {
	Name    string
	Usage   string // its forms, in a sentence: @unique on a field, @unique([a, b]) on a model
	Text    string // what it does, in a sentence or two
	Example string // on a field or an action of model Post, or as a member of it
	Sample  string // arguments that show whether it is in its place; "" if it needs none
}

func anyField() []bearer { return []bearer{onScalar, onFile, onToOne, onToMany, onUntyped} }

func modelActions() []bearer {
	return []bearer{onGet, onList, onCreate, onUpdate, onDelete, onRead, onWrite}
}

func anyAction() []bearer { return append(modelActions(), onHistory, onUnionGet, onUnionList) }

// attributeRules is the table of attributes. Codes of their own are for @relation and
// @onDelete on an unsuited relation, limits such as @maxLength on an unsuited type,
// @where and @set with custom code, @history on a union.
func attributeRules() []attributeRule {
	return []attributeRule{
		{Attribute{"unique", "@unique on a field, @unique([a, b]) on a model",
			"No two rows have the same value here; on a model, the same combination of values. Nulls do not collide.",
			"@unique([title, state])", ""},
			append(anyField(), onModel), true},
		{Attribute{"index", "@index on a field, @index(a, b) on a model",
			"Makes an index for finding and ordering rows. A foreign key always has one.",
			"@index(state, title)", ""},
			append(anyField(), onModel), true},
		{Attribute{"default", "@default or @default(value)",
			"The value when nothing is assigned. Without argument, the type's own: empty, zero, now, a new id.",
			"summary Text @default(\"none\")", ""},
			anyField(), false},
		{Attribute{"computed", "@computed(expression)",
			"The value is computed from fields of this row and of related rows, and follows them. Paths through a to-many need an aggregate.",
			"length Number @computed(COUNT(post.author.written))", "(null)"},
			anyField(), false},
		{Attribute{"sequence", `@sequence("INV-"), @sequence("INV-", 1000) or @sequence("INV-", per: practice)`,
			"The database sets the value: the prefix and the next number, with at least four digits. It is unique, and cannot be an input. With `per`, each row behind the to-one has numbers of its own, without gaps.",
			"number Text @sequence(\"INV-\", 1000)", `("A")`},
			anyField(), false},
		{Attribute{"relation", "@relation(field)",
			"Names the field of the other model that leads back, if several could.",
			"approver Person? @relation(approved)", "(nothing)"},
			[]bearer{onToOne, onToMany, onUntyped}, false},
		{Attribute{"onDelete", "@onDelete(cascade), @onDelete(restrict) or @onDelete(setNull)",
			"The effect of deleting the referenced row: `cascade` deletes this row, `restrict` refuses, `setNull` unlinks.",
			"reviewer Person? @onDelete(restrict)", "(cascade)"},
			[]bearer{onToOne, onToMany, onUntyped}, false},
		{Attribute{"renamed", "@renamed(from: oldName)",
			"The former name, so that the migration renames instead of dropping and adding. It may stay.",
			"heading Text @renamed(from: caption)", ""},
			append(anyField(), onModel, onUnion, onEnumValue), false},
		{Attribute{"accepts", `@accepts(["image/*", "application/pdf"])`,
			"The content types that an upload may have; by default any.",
			"scan File? @accepts([\"image/*\", \"application/pdf\"])", ""},
			[]bearer{onFile, onUntyped}, false},
		{Attribute{"maxSize", `@maxSize("10 MB")`,
			"The largest size of an upload; by default 100 MB.",
			"scan File? @maxSize(\"2.5 MiB\")", ""},
			[]bearer{onFile, onUntyped}, false},
		{Attribute{"minLength", "@minLength(3)",
			"The fewest characters of a text, or of each text of an array.",
			"subtitle Text? @minLength(3)", "(3)"},
			anyField(), false},
		{Attribute{"maxLength", "@maxLength(200)",
			"The most characters of a text, or of each text of an array; by default only the size of a request limits them.",
			"subtitle Text? @maxLength(200)", "(3)"},
			anyField(), false},
		{Attribute{"minItems", "@minItems(1)",
			"The fewest elements of an array. On a to-many, the fewest rows below it that each create makes.",
			"labels Text[]? @minItems(1)", "(3)"},
			anyField(), false},
		{Attribute{"maxItems", "@maxItems(20)",
			"The most elements of an array; by default only the size of a request limits them.",
			"labels Text[] @maxItems(20) @default", "(3)"},
			anyField(), false},
		{Attribute{"notBlank", "@notBlank",
			"Each text has at least one character that is not white space.",
			"subtitle Text? @notBlank", ""},
			anyField(), false},
		{Attribute{"pattern", `@pattern("[A-Z]{2}\\d{4}", message: "text")`,
			"The regular expression that each whole text matches, and what a refusal says.",
			`code Text? @pattern("[A-Z]+")`, `("a")`},
			anyField(), false},
		{Attribute{"format", "@format(email) or @format(url)",
			"The form of each text: an e-mail address, or an address that begins with http or https.",
			"contact Text? @format(email)", "(email)"},
			anyField(), false},
		{Attribute{"hidden", "@hidden",
			"Records do not show the field, and lists cannot be filtered or ordered by it. Rules, conditions and custom code can read it.",
			"token Text? @hidden", ""},
			[]bearer{onScalar, onFile, onToOne, onUntyped}, false},
		{Attribute{"on", "@on([kind], subscriber, fields: [field], where: condition)",
			"Tells a subscriber of each create, update or delete: code in `functions/`. With `fields`, of updates that change one of them; with `where`, of rows for which it holds.",
			"@on([update], code, fields: [state], where: post.state == State.Published)", "([create], code)"},
			[]bearer{onModel}, true},
		{Attribute{"history", `@history or @history(keep: "7 years")`,
			"Keeps every version of the rows, with who wrote it and when: for ever, or for so many hours, days, weeks, months or years. An action of kind `history` reads it.",
			"@history(keep: \"7 years\")", ""},
			[]bearer{onModel, onUnion}, false},
		{Attribute{"schedule", `@schedule("every day at 9am", timeZone: "Europe/Berlin")`,
			"When the job runs by itself: five fields of cron, or a form such as `every 10 minutes` or `every weekday at 9am`, on the clock of a time zone, by default UTC.",
			"job Code { @schedule(\"0 6 1 * *\", timeZone: \"Europe/Berlin\") }", `("x")`},
			[]bearer{onJob}, true},
		{Attribute{"retries", "@retries(3), with a number from 0 to 20",
			"How often a run of the job that failed is tried again; by default three times.",
			"job Code { @retries(5) @permission(expression: true) }", ""},
			[]bearer{onJob}, false},
		{Attribute{"permission", "@permission(expression: condition, roles: [Role], actions: [kind], jobs: [Job, subscriber])",
			"A rule that allows calls. With `expression` and `roles`, both must hold. The rules of an action replace those of its model. On a model, `jobs` names jobs and subscribers whose code may do the same. On a job, it says who may start it.",
			"@permission(expression: ctx.isAuthenticated, actions: [get, list])", ""},
			append(anyAction(), onModel, onUnion, onJob), true},
		{Attribute{"validate", `@validate(condition, message: "text", field: name)`,
			"Refuses values for which the expression is false. On a model it applies to every write; on an action, to its inputs. The refusal names the field or input, if one is given.",
			"@validate(post.title != \"\", message: \"a post needs a title\")", ""},
			append(anyAction(), onModel), true},
		{Attribute{"where", "@where(condition)",
			"Only rows for which the expression holds. It is skipped if it uses an absent optional input.",
			"list listOpen() { @where(post.state == State.Draft) }", ""},
			[]bearer{onGet, onList, onUpdate, onDelete, onRead, onWrite, onUnionGet, onUnionList, onArm}, true},
		{Attribute{"set", "@set(target = value)",
			"Assigns a value that the client does not give.",
			"update publishPost(id) { @set(post.state = State.Published) }", ""},
			[]bearer{onCreate, onUpdate, onRead, onWrite, onArm}, true},
		{Attribute{"orderBy", "@orderBy(field: asc, other: desc)",
			"The order of the rows, after the order of the request.",
			"list listNewest() { @orderBy(createdAt: desc) }", ""},
			[]bearer{onList, onUnionList}, false},
		{Attribute{"sortable", "@sortable(field, other)",
			"The fields by which a request may order.",
			"list listSorted() { @sortable(title, createdAt) }", ""},
			[]bearer{onList, onUnionList}, false},
		{Attribute{"facet", "@facet(field, other)",
			"Adds to each page the values of these fields in all rows of the list: each with its count; of numbers the range and the mean; of times the range.",
			"list listFaceted() { @facet(state, createdAt) }", ""},
			[]bearer{onList, onUnionList}, false},
		{Attribute{"live", "@live or @live(of: [Model, Other])",
			"Clients can be told when the answer changes. Custom code names the models that it reads.",
			"get getLive(id) { @live }", ""},
			anyAction(), false},
		{Attribute{"embed", "@embed(relation, relation.deeper)",
			"Shows related records in full instead of their ids.",
			"get getWithAuthor(id) { @embed(author) }", ""},
			[]bearer{onGet, onList}, true},
		{Attribute{"select", "@select(field, relation.field)",
			"The record has the id and these fields, in this order. Fields of related rows are in nested records.",
			"list listTitles() { @select(title, author.name) }", ""},
			[]bearer{onGet, onList, onCreate, onUpdate}, false},
		{Attribute{"invitation", "@invitation",
			"Sends a mail to the e-mail address that the create takes. Whoever accepts it by `acceptInvitation` becomes the row's to-one to Identity.",
			"create inviteReviewer() with (contact) { @invitation }", ""},
			[]bearer{onCreate}, false},
		{Attribute{"function", "@function",
			"The body is custom code: a SQL function in `functions/`.",
			"update renamePost(id, name: Text) @function", ""},
			modelActions(), false},
		{Attribute{"many", "@many",
			"A call takes up to 1,000 inputs as rows, writes all or none, and answers their records in the same order.",
			"create createPosts() with (title) { @many }", ""},
			anyAction(), false},
		{Attribute{"allow", "@allow(FilterWidens)",
			"Suppresses a warning about the action, or the computed field. `sternpost permissions` still lists it if it is about access.",
			"list listAll() { @allow(NoRule) }", "(NoRule)"},
			append(anyAction(), onScalar, onToOne, onUntyped), false},
	}
}

// Attributes returns the attributes of the language.
func Attributes() []Attribute {
	var list []Attribute
	for _, r := range attributeRules() {
		list = append(list, r.Attribute)
	}
	return list
}

// plainBearer drops the type of a field.
func plainBearer(on bearer) bearer {
	if slices.Contains(anyField(), on) {
		return onUntyped
	}
	return on
}

// unsuited returns the name, for messages, of a bearer that cannot have the attribute.
// The type of a field matters only if the attribute can be on other fields.
func (r attributeRule) unsuited(on bearer) bearer {
	if slices.Contains(r.on, onUntyped) {
		return on
	}
	return plainBearer(on)
}

// attributeRule returns the rule of an attribute, false for an unknown attribute.
func (c *checker) attributeRule(name string) (attributeRule, bool) {
	for _, r := range c.attributes {
		if r.Name == name {
			return r, true
		}
	}
	return attributeRule{}, false
}

func (c *checker) attributeNames() []string {
	var names []string
	for _, r := range c.attributes {
		names = append(names, r.Name)
	}
	return names
}

// allowedAttributes returns the attributes that are allowed on their bearer and
// reports the others. The parser reported attributes of later stages, and those
// that did not parse.
func (c *checker) allowedAttributes(on bearer, attrs []*syntax.Attribute) []*syntax.Attribute {
	var allowed []*syntax.Attribute
	first := map[string]*syntax.Attribute{}
	for _, a := range attrs {
		if a.Later {
			continue
		}
		rule, found := c.attributeRule(a.Name.Name)
		if !found {
			c.report(UnknownAttribute, a.Name.Span(), unknownAttribute(a.Name.Name, c.attributeNames()))
			continue
		}
		if !slices.Contains(rule.on, on) {
			c.report(MisplacedAttribute, a.Name.Span(), misplacedAttribute(a.Name.Name, rule.unsuited(on)))
			continue
		}
		earlier := first[a.Name.Name]
		if earlier != nil && (!rule.repeatable || slices.Contains(anyField(), on)) {
			c.report(RepeatedAttribute, a.Name.Span(), repeatedAttribute(a.Name.Name, plainBearer(on)),
				note(earlier.Name.Span(), firstHere("@"+a.Name.Name)))
			continue
		}
		if earlier == nil {
			first[a.Name.Name] = a
		}
		if !a.Incomplete() {
			allowed = append(allowed, a)
		}
	}
	return allowed
}

// badArguments reports that an attribute is not written as it should be.
func (c *checker) badArguments(a *syntax.Attribute, span syntax.Span) {
	rule, _ := c.attributeRule(a.Name.Name)
	c.report(AttributeArguments, span, attributeArguments(a.Name.Name, rule.Usage))
}

// badArgument is badArguments for one misplaced argument. A wrong assignment was
// mostly meant as a comparison, unless it is a label with the wrong sign behind it.
func (c *checker) badArgument(a *syntax.Attribute, arg *syntax.Arg) {
	if arg.Target != nil && !isMeantAsLabel(arg) {
		c.report(AttributeArguments, arg.Span(), assignmentNotTaken(a.Name.Name))
		return
	}
	c.badArguments(a, arg.Span())
}

// isMeantAsLabel tells whether an assignment was meant as a labelled argument.
func isMeantAsLabel(arg *syntax.Arg) bool {
	if arg.Label != nil || len(arg.Target.Steps) > 1 {
		return false
	}
	switch arg.Target.Steps[0].Name {
	case "expression", "roles", "actions", "jobs", "message", "field", "from", "fields", "where", "keep", "per", "of":
		return true
	}
	return false
}

// noArgument checks that an attribute has no arguments.
func (c *checker) noArgument(a *syntax.Attribute) bool {
	if len(a.Args) > 0 {
		c.badArguments(a, a.Args[0].Span())
		return false
	}
	return true
}

// oneArgument returns the only argument of an attribute, which may have one of the
// given labels. It reports other arguments and returns nil.
func (c *checker) oneArgument(a *syntax.Attribute, labels ...string) syntax.Expr {
	switch {
	case len(a.Args) == 0:
		c.badArguments(a, a.Name.Span())
		return nil
	case len(a.Args) > 1:
		c.badArguments(a, a.Args[1].Span())
		return nil
	}
	return c.plainArgument(a, a.Args[0], labels...)
}

// plainArgument returns the value of an argument that is not an assignment and has
// none but the given labels. It reports other arguments and returns nil.
func (c *checker) plainArgument(a *syntax.Attribute, arg *syntax.Arg, labels ...string) syntax.Expr {
	if arg.Target != nil || arg.Label != nil && !slices.Contains(labels, arg.Label.Name) {
		c.badArgument(a, arg)
		return nil
	}
	return arg.Value
}

// bareName returns the name that an expression consists of, or nil if it is
// anything else.
func bareName(e syntax.Expr) *syntax.Ident {
	if p, ok := e.(*syntax.Path); ok && len(p.Steps) == 1 {
		return p.Steps[0]
	}
	return nil
}

// renames checks the @renamed of one set of names: the fields of a model, the
// values of an enum, or all models and unions.
type renames struct {
	existing []string
	markers  clashes
}

// renamed returns the former name that a @renamed gives, and its place. The name
// is "" if it is in error.
func (c *checker) renamed(a *syntax.Attribute, r *renames) (string, syntax.Span) {
	if len(a.Args) != 1 || a.Args[0].Label == nil || a.Args[0].Label.Name != "from" {
		c.badArguments(a, a.Name.Span())
		return "", syntax.Span{}
	}
	value := c.plainArgument(a, a.Args[0], "from")
	if value == nil {
		return "", syntax.Span{}
	}
	old := bareName(value)
	if old == nil {
		c.badArguments(a, a.Args[0].Span())
		return "", syntax.Span{}
	}
	if slices.Contains(r.existing, old.Name) {
		c.report(BadRename, old.Span(), renamedStillThere(old.Name))
		return "", syntax.Span{}
	}
	if earlier, found := r.markers.add(old.Name, old.Name, old.Span()); found {
		c.report(BadRename, old.Span(), renamedTwice(old.Name), note(earlier.span, firstHere("@renamed")))
		return "", syntax.Span{}
	}
	return old.Name, a.Span()
}
