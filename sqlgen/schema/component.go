package schema

import "slices"

// checkComponents reports types whose name the description of an action's input
// or result needs for itself.
func (c *checker) checkComponents() {
	needed := map[string]*actionDecl{}
	for _, a := range c.actions {
		for _, name := range a.components() {
			if needed[name] == nil {
				needed[name] = a
			}
		}
	}
	for _, f := range c.files {
		for _, d := range f.Decls {
			name := declaredType(d)
			if name == nil || c.types[name.Name] == nil || c.types[name.Name].span != name.Span() {
				continue
			}
			if a := needed[name.Name]; a != nil {
				c.report(ReservedName, name.Span(), reservedComponent(name.Name, a.Name), note(a.Span, declaredHere(a.Name)))
			}
		}
	}
}

// components returns the names under which an action's input and result are
// described to clients: those of whole bodies, and of each object nested in them.
func (a *actionDecl) components() []string {
	prefix := capitalize(a.Name)
	isWhole := slices.ContainsFunc(a.Reads, isWholeBody)
	var names []string
	if !isWhole {
		names = append(names, prefix+"Input")
	}
	switch {
	case a.Kind == List:
		names = append(names, prefix+"Where", prefix+"Result")
	case a.Kind == Update:
		names = append(names, prefix+"Where", prefix+"Values")
	case len(a.Embeds) > 0:
		names = append(names, prefix+"Result")
	}
	nested := a.Writes
	if a.Kind == List {
		nested = a.Reads
	}
	for _, in := range nested {
		for i := range in.Path[:max(len(in.Path)-1, 0)] {
			name := prefix
			for _, f := range in.Path[:i+1] {
				name += capitalize(f.Name)
			}
			if name += "Input"; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// isWholeBody tells whether an input is the whole body of a request: a message,
// described under its own name, or any JSON.
func isWholeBody(in *Input) bool {
	return !in.Explicit && in.Path == nil && in.Union == nil
}
