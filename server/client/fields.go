package client

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
)

// fields writes how problems name the inputs of each action.
func (w *writer) fields(p *printer) error {
	p.line(0, "")
	p.comment(0, "The inputs of each action by their dotted paths, as error.data.errors names them.")
	p.line(0, "export interface %s {", inputFieldsType)
	for _, a := range w.actions {
		root, err := w.schemas.Read(a.Input)
		if err != nil {
			return err
		}
		f := fieldPaths{types: &w.types, isList: a.Kind == release.List, hasRows: a.Row != ""}
		if err := f.add(root, ""); err != nil {
			return err
		}
		if len(f.paths) > 0 {
			start := member(a.Name) + ":"
			p.definition(1, start, alternatives("|", f.paths, 1, len(start)+1))
		}
	}
	p.line(0, "}")
	p.line(0, "")
	p.comment(0, "What a problem is about: an input of an action, or a field with a constraint.")
	all := []string{inputFieldsType + "[keyof " + inputFieldsType + "]"}
	var constrained []string
	for _, c := range w.manifest.Constraints {
		if !slices.ContainsFunc(w.actions, func(a *release.Action) bool {
			return slices.ContainsFunc(a.Inputs, func(in release.Input) bool { return in.Table == c.Table })
		}) {
			continue
		}
		for _, name := range c.Fields {
			constrained = append(constrained, quote(name))
		}
	}
	slices.Sort(constrained)
	p.definition(0, "export type "+inputFieldType+" =", alternatives("|", append(all, slices.Compact(constrained)...), 0, len(inputFieldType)))
	return nil
}

// fieldPaths are the types of the paths of an action's inputs.
type fieldPaths struct {
	*types
	isList  bool
	hasRows bool // its rows are named in brackets
	paths   []string
	within  []string // components that are being read
}

// add adds the path to a schema, and those of what is in it. A filter of a list, and a component within itself, have any
// paths below theirs.
func (f *fieldPaths) add(s *release.JSONSchema, path string) error {
	s, component, err := f.schemas.Resolve(s)
	if err != nil {
		return err
	}
	if path != "" {
		f.path(path)
	}
	if f.isList && path == "where" || component != "" && slices.Contains(f.within, component) {
		f.path(path + ".${string}")
		return nil
	}
	f.within = append(f.within, component)
	defer func() { f.within = f.within[:len(f.within)-1] }()
	below := map[string]*release.JSONSchema{}
	var names []string
	for _, property := range s.Properties {
		if !property.Schema.IsNever {
			names = append(names, property.Name)
			below[property.Name] = property.Schema
		}
	}
	if s.Items != nil {
		names = append(names, "${number}")
		below["${number}"] = s.Items
	}
	for _, name := range names {
		to := strings.TrimPrefix(path+"."+name, ".")
		if f.hasRows && path == "rows" {
			to = "rows[${number}]"
		}
		if err := f.add(below[name], to); err != nil {
			return err
		}
	}
	for _, other := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		if err := f.add(other, path); err != nil {
			return err
		}
	}
	return nil
}

// path adds the type of a path, once.
func (f *fieldPaths) path(path string) {
	text := quote(path)
	if strings.Contains(path, "${") {
		text = "`" + path + "`"
	}
	if !slices.Contains(f.paths, text) {
		f.paths = append(f.paths, text)
	}
}
