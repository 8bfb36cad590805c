package schema

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// component is a name under which clients see a part of an action: a whole body or
// an object nested in it, or what filters a list by fields of one type, which all
// lists share.
type component struct {
	name   string
	action *actionDecl
	part   string // the path of a nested object, or the type of a filter; may be empty
	shared bool   // whether it is a filter
	span   syntax.Span
}

// is tells whether two components are one.
func (c *component) is(other *component) bool {
	return c.shared == other.shared && c.part == other.part && (c.shared || c.action == other.action)
}

// checkComponents reports names under which clients would see two things: those of
// types that the description of an action needs for itself, and those that are
// derived twice.
func (c *checker) checkComponents() {
	needed := map[string]*component{}
	for _, a := range c.actions {
		clashed := false
		for _, part := range a.components() {
			earlier := needed[part.name]
			if earlier == nil {
				needed[part.name] = &part
				continue
			}
			if clashed || earlier.is(&part) {
				continue
			}
			clashed = true // others follow, most likely
			c.report(ReservedName, part.span, componentClash(&part, earlier), note(earlier.span, componentHere(earlier)))
		}
	}
	for _, f := range c.files {
		for _, d := range f.Decls {
			name := declaredType(d)
			if name == nil || c.types[name.Name] == nil || c.types[name.Name].span != name.Span() {
				continue
			}
			if part := needed[name.Name]; part != nil {
				a := part.action
				c.report(ReservedName, name.Span(), reservedComponent(name.Name, a.Name), note(a.Span, declaredHere(a.Name)))
			}
		}
	}
}

// components returns the names under which an action's input and result are
// described to clients: those of whole bodies, of each object nested in them, and of
// filters.
func (a *actionDecl) components() []component {
	prefix := capitalize(a.Name)
	var parts []component
	whole := func(suffix string) {
		parts = append(parts, component{name: prefix + suffix, action: a, span: a.Span})
	}
	if !slices.ContainsFunc(a.Reads, isWholeBody) {
		whole("Input")
	}
	switch {
	case a.Kind == List:
		whole("Where")
		whole("Result")
	case a.Kind == Update:
		whole("Where")
		whole("Values")
	case len(a.Embeds) > 0:
		whole("Result")
	}
	nested := a.Writes
	if a.Kind == List {
		nested = a.Reads
	}
	for _, in := range nested {
		for i := range in.Path[:max(len(in.Path)-1, 0)] {
			steps := in.Path[:i+1]
			name := prefix
			for _, f := range steps {
				name += capitalize(f.Name)
			}
			parts = append(parts, component{name: name + "Input", action: a, part: pathName(steps), span: in.Span})
		}
	}
	if a.Kind == List {
		for _, in := range a.Reads {
			if !in.Explicit {
				parts = append(parts, filterComponents(a, in)...)
			}
		}
	}
	return parts
}

// filterComponents returns the names of the objects of operators that an input of a
// list takes.
func filterComponents(a *actionDecl, in *Input) []component {
	name := in.Type.Kind.String()
	if in.Enum != nil {
		name = in.Enum.Name
	}
	optional := in.Union != nil && in.Union.Optional
	for _, f := range in.Path {
		optional = optional || f.Optional
	}
	prefix := ""
	if optional {
		prefix = "Nullable"
	}
	filter := func(filtered, part string) component {
		return component{name: filtered + "QueryInput", action: a, part: part, shared: true, span: in.Span}
	}
	if !in.Type.Array {
		return []component{filter(prefix+name, prefix+" "+name)}
	}
	return []component{
		filter(prefix+name+"Array", prefix+" "+name+" array"),
		filter(name+"Element", name+" element"),
	}
}

// isWholeBody tells whether an input is the whole body of a request: a message,
// described under its own name, or any JSON.
func isWholeBody(in *Input) bool {
	return !in.Explicit && in.Path == nil && in.Union == nil
}
