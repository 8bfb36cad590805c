package lower

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// Bounds of what a request may hold. They are part of the published schemas.
const (
	maxPageSize  = 1000
	maxOffset    = 1_000_000
	maxOneOf     = 1000
	componentRef = "#/components/schemas/"
)

// object is a JSON object that keeps the order of its members, which is the
// order in which problems are reported.
type object struct {
	members []objectMember
}

type objectMember struct {
	name  string
	value any
}

// with adds a member and returns the object.
func (o *object) with(name string, value any) *object {
	o.members = append(o.members, objectMember{name, value})
	return o
}

// MarshalJSON writes the members in the order in which they were added.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o.members {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func typed(name string) *object { return (&object{}).with("type", name) }

func ref(component string) *object { return (&object{}).with("$ref", componentRef+component) }

// publisher gathers the JSON Schemas of a release, one per component, in the
// order in which they are first needed.
type publisher struct {
	list     release.Schemas
	known    map[string]bool
	derived  derivedNames
	received map[*schema.Message]bool // that a request may hold
	split    map[*schema.Message]bool // those that are another schema where they are sent than where they are answered
}

func newPublisher(s *schema.Schema) *publisher {
	return &publisher{
		known:    map[string]bool{},
		derived:  newDerivedNames(s),
		received: receivedMessages(s),
		split:    splitMessages(s),
	}
}

func (p *publisher) schemas() release.Schemas { return p.list }

// component adds a component unless it is there and returns its name. make may
// add others on its way.
func (p *publisher) component(name string, make func() *object) string {
	if p.known[name] {
		return name
	}
	p.known[name] = true
	at := len(p.list)
	p.list = append(p.list, release.Schema{Name: name})
	text, err := json.Marshal(make())
	if err != nil {
		panic(fmt.Sprintf("lower: write the schema of %s: %v", name, err))
	}
	p.list[at].JSON = text
	return name
}

// scalar is the schema of one value of a type.
func scalar(t expr.Type, enum *schema.Enum, nullable bool) *object {
	name := func(s string) any {
		if nullable {
			return []string{s, "null"}
		}
		return s
	}
	if t.Kind == expr.Enum {
		if nullable {
			return (&object{}).with("anyOf", []*object{ref(enum.Name), typed("null")})
		}
		return ref(enum.Name)
	}
	form := t.Kind.JSON()
	if form.Type == "" {
		panic("lower: no schema for kind " + t.Kind.String())
	}
	return (&object{}).with("type", name(form.Type)).withKeywords(form.Keywords)
}

// withKeywords adds what the form of a type says and returns the object.
func (o *object) withKeywords(keywords []expr.Keyword) *object {
	for _, k := range keywords {
		if form, isForm := k.Value.(expr.JSON); isForm {
			o.with(k.Name, typed(form.Type).withKeywords(form.Keywords))
			continue
		}
		o.with(k.Name, k.Value)
	}
	return o
}

// enum publishes an enum. Every enum is, since schemas refer to them by name.
func (p *publisher) enum(e *schema.Enum) {
	p.component(e.Name, func() *object {
		doc := e.Doc
		values := make([]string, len(e.Values))
		for i, v := range e.Values {
			values[i] = v.Name
			if v.Doc != "" {
				doc += "\n- " + v.Name + ": " + strings.ReplaceAll(v.Doc, "\n", " ")
			}
		}
		return typed("string").with("enum", values).described(strings.TrimPrefix(doc, "\n"))
	})
}

// described adds a description, unless it is empty, and returns the object.
func (o *object) described(doc string) *object {
	if doc == "" {
		return o
	}
	for i, m := range o.members {
		if m.name == "description" { // which says more of the form
			o.members[i].value = doc + "\n\n" + m.value.(string)
			return o
		}
	}
	return o.with("description", doc)
}

// inputDoc is what is known of an input: the description of its field.
func inputDoc(in *schema.Input) string {
	switch {
	case in.Union != nil:
		return in.Union.Doc
	case len(in.Path) > 0:
		return in.Path[len(in.Path)-1].Doc
	}
	return ""
}

// fieldDoc is the description of a field; of an FK field that of its to-one.
func fieldDoc(f *schema.Field) string {
	if f.FKOf != nil {
		return f.FKOf.Doc
	}
	return f.Doc
}

// value is the schema of an input's plain value, with the limits of what the action
// stores it in.
func (p *publisher) value(a *schema.Action, in *schema.Input) *object {
	maxLength, maxItems := valueLimits(a, in)
	in = p.asPublished(in)
	one := func(nullable bool) *object {
		if in.Type.Kind == expr.File {
			return fileSchema(in, nullable)
		}
		return scalar(in.Type, in.Enum, nullable).bounded("maxLength", maxLength)
	}
	if !in.Type.Array {
		return one(in.Nullable)
	}
	var kind any = "array"
	if in.Nullable {
		kind = []string{"array", "null"}
	}
	list := (&object{}).with("type", kind).with("items", one(false))
	if in.Type.Kind == expr.File {
		list.with("maxItems", maxFiles)
	}
	return list.bounded("maxItems", maxItems)
}

// bounded adds an upper bound, or lowers it; 0 is none. It returns the object.
func (o *object) bounded(keyword string, limit int64) *object {
	if limit == 0 {
		return o
	}
	for i, m := range o.members {
		if m.name == keyword {
			o.members[i].value = min(int64(m.value.(int)), limit)
			return o
		}
	}
	return o.with(keyword, limit)
}

// valueLimits returns the least @maxLength and @maxItems of the fields in which an
// action stores an input; 0 is none.
func valueLimits(a *schema.Action, in *schema.Input) (maxLength, maxItems int64) {
	least := func(limit, other int64) int64 {
		if limit == 0 || other == 0 {
			return limit + other
		}
		return min(limit, other)
	}
	for _, f := range a.StoredIn(in) {
		maxLength, maxItems = least(maxLength, f.MaxLength), least(maxItems, f.MaxItems)
	}
	return maxLength, maxItems
}

// input publishes the schema of an action's request body.
func (p *publisher) input(a *schema.Action) string {
	if len(a.Reads) == 1 && a.Reads[0].Message != nil {
		return p.message(a.Reads[0].Message, true)
	}
	name := upperFirst(a.Name)
	return p.component(p.derived.part(a, "Input"), func() *object {
		switch a.Kind {
		case schema.List:
			return p.listInput(a)
		case schema.Create:
			return p.values(name, a)
		case schema.Update:
			return p.updateInput(a)
		case schema.Read, schema.Write:
			if len(a.Reads) == 1 && a.Reads[0].Type.Kind == expr.Any {
				return &object{}
			}
		}
		return p.lookUpInput(a)
	})
}

// lookUpInput is the schema of look-up inputs: one member each, by flat name. If only
// optional ones pin a row, it says of which sets one must be given.
func (p *publisher) lookUpInput(a *schema.Action) *object {
	var members []property
	for _, in := range a.Reads {
		members = append(members, property{in.Name, p.value(a, in).described(inputDoc(in)), !in.Optional})
	}
	return objectOf(members).withPins(a, false)
}

// withPins says of the object of read or write inputs which sets of optional ones pin
// a row: one of them must be given.
func (o *object) withPins(a *schema.Action, isWrite bool) *object {
	var sets []*object
	for _, set := range pinningInputs(a) {
		var names []string
		for _, in := range set {
			if in.IsWrite == isWrite {
				names = append(names, in.Name)
			}
		}
		if len(names) > 0 {
			sets = append(sets, (&object{}).with("required", names))
		}
	}
	if len(sets) > 0 {
		o.with("anyOf", sets)
	}
	return o
}

// pinsBy tells whether read or write inputs are among those that pin a row.
func pinsBy(a *schema.Action, isWrite bool) bool {
	for _, set := range pinningInputs(a) {
		if slices.ContainsFunc(set, func(in *schema.Input) bool { return in.IsWrite == isWrite }) {
			return true
		}
	}
	return false
}

// property is one member of an object that a request holds.
type property struct {
	name     string
	schema   *object
	required bool
}

// objectOf is the schema of an object with these members and no others.
func objectOf(members []property) *object {
	properties := &object{members: []objectMember{}}
	var required []string
	for _, m := range members {
		properties.with(m.name, m.schema)
		if m.required {
			required = append(required, m.name)
		}
	}
	o := typed("object").with("properties", properties)
	if len(required) > 0 {
		o.with("required", required)
	}
	return o.with("additionalProperties", false)
}

// nested returns the members for inputs that share their first depth steps. An
// object is required unless all inputs below it are optional.
func (p *publisher) nested(prefix string, a *schema.Action, inputs []*schema.Input, depth int, leaf func(*schema.Input) *object) []property {
	var members []property
	seen := map[*schema.Field]bool{}
	for _, in := range inputs {
		if in.Explicit {
			members = append(members, property{in.Name, p.value(a, in), !in.Optional})
			continue
		}
		if in.Union != nil {
			members = append(members, property{in.Union.Name, leaf(in).described(inputDoc(in)), !in.Optional})
			continue
		}
		step := in.Path[depth]
		if seen[step] {
			continue
		}
		seen[step] = true
		if len(in.Path) == depth+1 {
			members = append(members, property{step.Name, leaf(in).described(inputDoc(in)), !in.Optional})
			continue
		}
		var below []*schema.Input
		for _, other := range inputs {
			if !other.Explicit && other.Path[depth] == step {
				below = append(below, other)
			}
		}
		name := prefix + upperFirst(step.Name)
		component := p.derived.nested(name, a, in.Path[:depth+1])
		inner := objectOf(p.nested(name, a, below, depth+1, leaf))
		p.component(component, func() *object { return inner })
		members = append(members, property{step.Name, ref(component), hasRequired(below)})
	}
	return members
}

// updateInput is the schema of an update's body.
func (p *publisher) updateInput(a *schema.Action) *object {
	where, values := p.derived.part(a, "Where"), p.derived.part(a, "Values")
	p.component(where, func() *object { return p.lookUpInput(a) })
	p.component(values, func() *object { return p.values(upperFirst(a.Name), a).withPins(a, true) })
	return objectOf([]property{
		{"where", ref(where), hasRequired(a.Reads) || pinsBy(a, false)},
		{"values", ref(values), hasRequired(a.Writes) || pinsBy(a, true)},
	})
}

func hasRequired(inputs []*schema.Input) bool {
	for _, in := range inputs {
		if !in.Optional {
			return true
		}
	}
	return false
}

// listInput is the schema of a list's body.
func (p *publisher) listInput(a *schema.Action) *object {
	where := p.derived.part(a, "Where")
	p.component(where, func() *object {
		return objectOf(p.nested(upperFirst(a.Name), a, a.Reads, 0, func(in *schema.Input) *object { return ref(p.query(in)) }))
	})
	count := func(least, most int) *object {
		return typed("integer").with("minimum", least).with("maximum", most)
	}
	properties := []property{
		{"where", ref(where), hasRequired(a.Reads)},
		{"first", count(1, maxPageSize), false},
		{"after", typed("string"), false},
		{"last", count(1, maxPageSize), false},
		{"before", typed("string"), false},
		{"limit", count(1, maxPageSize), false},
		{"offset", count(0, maxOffset), false},
		{"totalCount", typed("boolean"), false},
	}
	if len(sortableNames(a)) > 0 {
		properties = append(properties, property{"orderBy", orderInput(a), false})
	}
	return objectOf(properties).with("dependentSchemas", pagingRules())
}

// orderInput is the schema of the order that a request names: objects with one key
// each, the direction. More of them than there are fields say nothing new.
func orderInput(a *schema.Action) *object {
	keys := &object{}
	names := sortableNames(a)
	for _, name := range names {
		keys.with(name, typed("string").with("enum", []string{"asc", "desc"}))
	}
	return typed("array").with("items", typed("object").
		with("properties", keys).with("minProperties", 1).with("maxProperties", 1).with("additionalProperties", false)).
		with("maxItems", len(names))
}

// pagingRules says which paging inputs exclude each other.
func pagingRules() *object {
	without := func(names ...string) *object {
		properties := &object{}
		for _, n := range names {
			properties.with(n, false)
		}
		return (&object{}).with("properties", properties)
	}
	return (&object{}).
		with("first", without("limit", "offset", "last", "before")).
		with("last", without("limit", "offset", "after")).
		with("after", without("limit", "offset", "before")).
		with("before", without("limit", "offset")).
		with("offset", (&object{}).with("required", []string{"limit"}))
}

// query publishes the query object of a filter input and returns its name. Its
// operands are nullable if the field is optional or behind an optional to-one.
func (p *publisher) query(in *schema.Input) string {
	in = p.asPublished(in)
	nullable := passesOptional(in)
	base := typeName(in)
	prefix := ""
	if nullable {
		prefix = "Nullable"
	}
	if in.Type.Array {
		return p.arrayQuery(p.derived.filter(prefix, base, "Array"), base, in, nullable)
	}
	return p.component(p.derived.filter(prefix, base, ""), func() *object {
		return queryObject(in.Type.Kind.Filters(), in, nullable)
	})
}

// arrayQuery publishes the query object of an array field.
func (p *publisher) arrayQuery(name, base string, in *schema.Input, nullable bool) string {
	return p.component(name, func() *object {
		element := p.component(p.derived.filter("", base, "Element"), func() *object {
			return queryObject(in.Type.Kind.ElementFilters(), in, false)
		})
		var kind any = "array"
		if nullable {
			kind = []string{"array", "null"}
		}
		whole := func() *object {
			return (&object{}).with("type", kind).with("items", scalar(in.Type, in.Enum, false))
		}
		properties := (&object{}).
			with("equals", whole()).
			with("notEquals", whole()).
			with("any", ref(element)).
			with("all", ref(element))
		return queryShape(properties)
	})
}

func queryObject(filters []expr.Filter, in *schema.Input, nullable bool) *object {
	properties := &object{}
	one := expr.Type{Kind: in.Type.Kind, Name: in.Type.Name}
	for _, f := range filters {
		switch f.Operand {
		case expr.ManyValues:
			properties.with(f.Name, typed("array").with("items", scalar(one, in.Enum, false)).with("maxItems", maxOneOf))
		case expr.RelativePeriod:
			properties.with(f.Name, typed("string").with("format", "relative-period"))
		default:
			properties.with(f.Name, scalar(one, in.Enum, nullable && f.Nullable))
		}
	}
	return queryShape(properties)
}

func queryShape(properties *object) *object {
	return typed("object").with("properties", properties).with("minProperties", 1).with("additionalProperties", false)
}

// typeName is the name of a scalar type or enum in component names.
func typeName(in *schema.Input) string {
	if in.Enum != nil {
		return in.Enum.Name
	}
	return in.Type.Kind.String()
}

// result publishes the schema of an action's answer; a delete answers a string. A
// record with embeds is the action's own.
func (p *publisher) result(a *schema.Action) string {
	switch {
	case a.Kind == schema.Delete:
		return ""
	case a.Returns != nil && a.Returns.Message == nil:
		return "" // any JSON
	case a.Returns != nil:
		return p.message(a.Returns.Message, false)
	case a.Kind == schema.List:
		return p.component(p.derived.part(a, "Result"), func() *object {
			var item *object
			if a.Union != nil {
				item = ref(p.unionRecord(a.Union))
			} else {
				item = p.embeddedRecord(a.Model, a.Embeds, recordFields(a.Model))
			}
			return resultObject([]property{
				{"results", typed("array").with("items", item), true},
				{"pageInfo", ref(p.pageInfo()), true},
			})
		})
	case a.Union != nil:
		return p.unionRecord(a.Union)
	case len(a.Embeds) > 0:
		return p.component(p.derived.part(a, "Result"), func() *object { return p.embeddedRecord(a.Model, a.Embeds, recordFields(a.Model)) })
	}
	return p.record(a.Model)
}

// recordFields returns the fields that a record shows, in its order.
func recordFields(m *schema.Model) []*schema.Field {
	var fields []*schema.Field
	for _, f := range storedFields(m) {
		if !f.StepWriteOnly() {
			fields = append(fields, f)
		}
	}
	return fields
}

// record publishes the schema of a model's record. Members may be added in later
// releases, so additional ones stay open.
func (p *publisher) record(m *schema.Model) string {
	return p.component(m.Name, func() *object { return p.recordOf(m, nil, recordFields(m)).described(m.Doc) })
}

// embeddedRecord is the schema of a record with embeds: the model's own without any.
func (p *publisher) embeddedRecord(m *schema.Model, embeds []*schema.Embed, shown []*schema.Field) *object {
	if len(embeds) == 0 && !m.IsIdentity {
		return ref(p.record(m))
	}
	return p.recordOf(m, embeds, shown)
}

// recordOf is the schema of a record that shows these fields, in the order of
// recordMembers.
func (p *publisher) recordOf(m *schema.Model, embeds []*schema.Embed, shown []*schema.Field) *object {
	var members []property
	for _, f := range m.Fields {
		switch e := embedOf(f, embeds); {
		case e != nil:
			members = append(members, property{f.Name, p.embedMember(e).described(f.Doc), true})
		case f.FKOf != nil && embedOf(f.FKOf, embeds) != nil:
		case slices.Contains(shown, f):
			members = append(members, property{f.Name, p.recordMember(f).described(fieldDoc(f)), true})
		}
	}
	return resultObject(members)
}

func (p *publisher) embedMember(e *schema.Embed) *object {
	target := e.Field.Target
	shown := recordFields(target)
	if target.IsIdentity {
		shown = slices.DeleteFunc(shown, func(f *schema.Field) bool { return !slices.Contains(shownOfIdentity, f.Name) })
	}
	item := p.embeddedRecord(target, e.Embeds, shown)
	switch {
	case e.Field.IsToMany():
		return typed("array").with("items", item)
	case e.Field.Optional || e.Field.FK == nil:
		return (&object{}).with("oneOf", []*object{item, typed("null")})
	}
	return item
}

func (p *publisher) recordMember(f *schema.Field) *object {
	one := func(nullable bool) *object {
		if f.Type.Kind != expr.File {
			return scalar(expr.Type{Kind: f.Type.Kind, Name: f.Type.Name}, f.Enum, nullable)
		}
		file := ref(p.file())
		if nullable {
			return (&object{}).with("anyOf", []*object{file, typed("null")})
		}
		return file
	}
	if !f.Type.Array {
		return one(f.Optional)
	}
	var kind any = "array"
	if f.Optional {
		kind = []string{"array", "null"}
	}
	return (&object{}).with("type", kind).with("items", one(false))
}

func (p *publisher) pageInfo() string {
	return p.component("PageInfo", func() *object {
		return resultObject([]property{
			{"startCursor", typed("string"), true},
			{"endCursor", typed("string"), true},
			{"hasNextPage", typed("boolean"), true},
			{"hasPreviousPage", typed("boolean"), true},
			{"count", typed("integer"), true},
			{"totalCount", typed("integer"), false},
			{"pageNumber", typed("integer"), false},
		})
	})
}

func (p *publisher) file() string {
	return p.component("File", func() *object {
		return resultObject([]property{
			{"key", typed("string"), true},
			{"filename", typed("string"), true},
			{"contentType", typed("string"), true},
			{"size", typed("integer"), true},
			{"url", typed("string"), true},
		})
	})
}

func resultObject(members []property) *object {
	o := objectOf(members)
	o.members = o.members[:len(o.members)-1] // additionalProperties: further members may come
	return o
}

func upperFirst(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
