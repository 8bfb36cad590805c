package pages

import (
	"context"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// shape is a model as the pages show and edit its rows.
type shape struct {
	Name      string     `json:"name"`
	Doc       string     `json:"doc,omitempty"`
	Label     string     `json:"label"` // the field by which a row is known to people: id if there is none
	Fields    []field    `json:"fields"`
	Relations []relation `json:"relations"`
	Actions   []action   `json:"actions"`
}

// field is a column.
type field struct {
	Name     string   `json:"name"`
	Doc      string   `json:"doc,omitempty"`
	Type     string   `json:"type"` // as the schema writes it
	IsArray  bool     `json:"isArray,omitempty"`
	Required bool     `json:"required,omitempty"`
	Default  bool     `json:"default,omitempty"` // whether a new row gets a value by itself
	Values   []string `json:"values,omitempty"`  // of an enum
	Model    string   `json:"model,omitempty"`   // to whose rows it leads
	Filters  []string `json:"filters,omitempty"` // the operators of a value, or of an element of an array
	Sorts    bool     `json:"sorts,omitempty"`
	Editable bool     `json:"editable,omitempty"`
	Shown    bool     `json:"shown"`            // false of what is write-only
	Hidden   bool     `json:"hidden,omitempty"` // no record shows it, but these pages do
}

// relation leads from a row to rows of another model that name it.
type relation struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	Field string `json:"field"` // of that model, which holds the id
}

// action is an action of the model.
type action struct {
	Name   string            `json:"name"`
	Kind   string            `json:"kind"`
	IDPath string            `json:"idPath,omitempty"` // of the input that names a row by its id
	IDs    map[string]string `json:"ids,omitempty"`    // the models to whose rows inputs lead, by their paths
}

// models describes the models.
func models(_ context.Context, a *asked) (any, error) {
	list := []shape{}
	for _, m := range a.Schema.Models {
		list = append(list, shapeOf(m))
	}
	return list, nil
}

func shapeOf(m *model.Model) shape {
	s := shape{Name: m.Name, Doc: m.Doc, Label: label(m), Fields: []field{}, Relations: []relation{}, Actions: []action{}}
	for _, f := range m.Fields {
		switch {
		case f.HasColumn():
			s.Fields = append(s.Fields, fieldOf(f))
		case f.FK == nil && f.Inverse != nil:
			s.Relations = append(s.Relations, relation{f.Name, f.Target.Name, f.Inverse.FK.Name})
		}
	}
	for _, a := range m.Actions {
		s.Actions = append(s.Actions, action{a.Name, string(a.Kind), idPath(a), ids(a)})
	}
	return s
}

func fieldOf(f *model.Field) field {
	kind := f.Type.Kind
	shown := field{
		Name: f.Name, Doc: f.Doc, Type: f.Type.String(), IsArray: f.Type.Array,
		Required: !f.Optional, Default: f.Default != nil || f.BuiltIn,
		Sorts:    !f.Type.Array && kind.Class() != expr.ClassOpaque,
		Editable: !f.BuiltIn && f.Computed == nil && f.Sequence == nil && !kind.IsPrepared(),
		Shown:    !kind.IsWriteOnly(),
		Hidden:   f.Hidden,
	}
	for _, filter := range kind.Filters() {
		if filter.Operand == expr.OneValue && shown.Shown {
			shown.Filters = append(shown.Filters, filter.Name)
		}
	}
	if f.FKOf != nil {
		shown.Model = f.FKOf.Target.Name
		if shown.Doc == "" {
			shown.Doc = f.FKOf.Doc
		}
	}
	if f.Enum != nil {
		for _, v := range f.Enum.Values {
			shown.Values = append(shown.Values, v.Name)
		}
	}
	return shown
}

// label chooses the field by which people know a row: one that is called so, or else the
// first text that is unique, or else the first text. The label is shown wherever a row is
// named, so it is not hidden.
func label(m *model.Model) string {
	isText := func(f *model.Field) bool {
		return f.IsShown() && f.Type.Kind == expr.Text && !f.Type.Array
	}
	for _, name := range []string{"name", "title", "email"} {
		if f := m.Field(name); f != nil && isText(f) {
			return name
		}
	}
	for _, fits := range []func(*model.Field) bool{func(f *model.Field) bool { return f.Unique }, func(*model.Field) bool { return true }} {
		if i := slices.IndexFunc(m.Fields, func(f *model.Field) bool { return isText(f) && fits(f) }); i >= 0 {
			return m.Fields[i].Name
		}
	}
	return "id"
}

// idPath is the place of a row's id in the input of an action.
func idPath(a *model.Action) string {
	for _, in := range a.Reads {
		if in.Explicit || len(in.Path) != 1 || in.Path[0].Name != "id" {
			continue
		}
		switch a.Kind {
		case model.Update:
			return "where.id"
		case model.Get, model.Delete, model.Read, model.Write, model.ReadHistory:
			return "id"
		}
	}
	return ""
}

// ids returns the models to whose rows the implicit inputs of an action lead.
func ids(a *model.Action) map[string]string {
	found := map[string]string{}
	add := func(inputs []*model.Input, prefix string) {
		for _, in := range inputs {
			if in.Explicit || len(in.Path) == 0 {
				continue
			}
			last := in.Path[len(in.Path)-1]
			target := ""
			switch {
			case last.FKOf != nil:
				target = last.FKOf.Target.Name
			case last.Name == "id":
				target = last.Model.Name
			default:
				continue
			}
			path := prefix
			for i, f := range in.Path {
				if i > 0 {
					path += "."
				}
				path += f.Name
			}
			found[path] = target
		}
	}
	reads, writes := "", ""
	switch a.Kind {
	case model.Update:
		reads, writes = "where.", "values."
	case model.List:
		reads = "where."
	}
	add(a.Reads, reads)
	add(a.Writes, writes)
	return found
}
