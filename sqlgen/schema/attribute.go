package schema

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
	onUnionGet     bearer = "a get of a union"
	onUnionList    bearer = "a list of a union"
)

// attributeRule says where an attribute is allowed and how it is written.
type attributeRule struct {
	name       string
	on         []bearer
	repeatable bool // more than once on one bearer; never on a field
	usage      string
}

func anyField() []bearer { return []bearer{onScalar, onFile, onToOne, onToMany, onUntyped} }

func modelActions() []bearer {
	return []bearer{onGet, onList, onCreate, onUpdate, onDelete, onRead, onWrite}
}

func anyAction() []bearer { return append(modelActions(), onUnionGet, onUnionList) }

// attributeRules lists the attributes. Codes of their own are for @relation and
// @onDelete on an unsuited relation, @maxLength and @maxItems on an unsuited type,
// @where and @set with custom code.
func attributeRules() []attributeRule {
	return []attributeRule{
		{"unique", append(anyField(), onModel), true, "@unique on a field, @unique([a, b]) on a model"},
		{"index", append(anyField(), onModel), true, "@index on a field, @index(a, b) on a model"},
		{"default", anyField(), false, "@default or @default(value)"},
		{"computed", anyField(), false, "@computed(expression)"},
		{"sequence", anyField(), false, `@sequence("INV-") or @sequence("INV-", 1000)`},
		{"relation", []bearer{onToOne, onToMany, onUntyped}, false, "@relation(field)"},
		{"onDelete", []bearer{onToOne, onToMany, onUntyped}, false, "@onDelete(cascade), @onDelete(restrict) or @onDelete(setNull)"},
		{"renamed", append(anyField(), onModel, onUnion, onEnumValue), false, "@renamed(from: oldName)"},
		{"accepts", []bearer{onFile, onUntyped}, false, `@accepts(["image/*", "application/pdf"])`},
		{"maxSize", []bearer{onFile, onUntyped}, false, `@maxSize("10 MB")`},
		{"maxLength", anyField(), false, "@maxLength(200)"},
		{"maxItems", anyField(), false, "@maxItems(20)"},
		{"hidden", []bearer{onScalar, onFile, onToOne, onUntyped}, false, "@hidden"},
		{"permission", append(anyAction(), onModel, onUnion), true, "@permission(expression: condition, roles: [Role], actions: [kind])"},
		{"validate", append(anyAction(), onModel), true, `@validate(condition, message: "text")`},
		{"where", []bearer{onGet, onList, onUpdate, onDelete, onRead, onWrite, onUnionGet, onUnionList, onArm}, true, "@where(condition)"},
		{"set", []bearer{onCreate, onUpdate, onRead, onWrite, onArm}, true, "@set(target = value)"},
		{"orderBy", []bearer{onList, onUnionList}, false, "@orderBy(field: asc, other: desc)"},
		{"sortable", []bearer{onList, onUnionList}, false, "@sortable(field, other)"},
		{"facet", []bearer{onList, onUnionList}, false, "@facet(field, other)"},
		{"embed", []bearer{onGet, onList}, true, "@embed(relation, relation.deeper)"},
		{"select", []bearer{onGet, onList, onCreate, onUpdate}, false, "@select(field, relation.field)"},
		{"function", modelActions(), false, "@function"},
		{"allow", anyAction(), false, "@allow(FilterWidens)"},
	}
}

// Attribute is an attribute of the language.
type Attribute struct {
	Name  string
	Usage string // its forms, in a sentence: @unique on a field, @unique([a, b]) on a model
}

// Attributes returns the attributes of the language.
func Attributes() []Attribute {
	var list []Attribute
	for _, r := range attributeRules() {
		list = append(list, Attribute{r.name, r.usage})
	}
	return list
}

// IsRepeatable tells whether an action, a model or an arm may have an attribute more
// than once. A field may not.
func IsRepeatable(name string) bool {
	return slices.ContainsFunc(attributeRules(), func(r attributeRule) bool { return r.name == name && r.repeatable })
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
		if r.name == name {
			return r, true
		}
	}
	return attributeRule{}, false
}

func (c *checker) attributeNames() []string {
	var names []string
	for _, r := range c.attributes {
		names = append(names, r.name)
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
	c.report(AttributeArguments, span, attributeArguments(a.Name.Name, rule.usage))
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
	case "expression", "roles", "actions", "message", "from":
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
