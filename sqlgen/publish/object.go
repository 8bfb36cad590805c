package publish

import (
	"bytes"
	"encoding/json"

	"github.com/sternpost/sternpost/sqlgen/expr"
)

// componentRef begins a reference to a published schema.
const componentRef = "#/components/schemas/"

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

func resultObject(members []property) *object {
	o := objectOf(members)
	o.members = o.members[:len(o.members)-1] // additionalProperties: further members may come
	return o
}
