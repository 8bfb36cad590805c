package compatibility

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// errors compares the refusals of values: by the @validate of actions and models, by
// unique fields, by rows that are still referenced, by the limits of files.
func (c *comparison) errors() {
	for _, p := range c.pairs() {
		switch isBuiltIn := p.new.Kind != model.Read && p.new.Kind != model.Write; {
		case isBuiltIn && p.new.Custom && !p.old.Custom:
			c.found.add(Change{Breaking, OfError, "@function", []string{p.name}, "added", "custom code may refuse calls that were accepted, with 404 and 409 too"})
		case isBuiltIn && p.old.Custom && !p.new.Custom:
			c.found.add(Change{Compatible, OfError, "@function", []string{p.name}, "removed", "custom code refuses no call of it any more"})
		}
		c.validations("", []string{p.name}, p.old.Validations, p.new.Validations, "400")
	}
	for _, m := range c.new.Schema.Models {
		before := modelNamed(c.old.Schema, m)
		if before == nil {
			continue
		}
		if actions := c.writing(m.Name); len(actions) > 0 {
			c.uniques(actions, before, m)
			c.files(actions, before, m)
		}
		c.rules(before, m)
		c.restrictions(before, m)
	}
}

// rules compares the @validates of a model: those over its own fields for the actions that
// write its rows, and one over fields computed from other rows also for those that write or
// delete these.
func (c *comparison) rules(before, m *model.Model) {
	for _, ofOwn := range []bool{true, false} {
		only := func(list []*model.Validation) []*model.Validation {
			return slices.DeleteFunc(slices.Clone(list), func(v *model.Validation) bool { return (len(sourcesOf(v)) == 0) != ofOwn })
		}
		old, new := only(before.Validations), only(m.Validations)
		actions := c.writing(m.Name)
		for _, v := range slices.Concat(old, new) {
			for _, source := range sourcesOf(v) {
				for _, name := range append(c.writing(source.Name), c.deleting(source.Name)...) {
					if !slices.Contains(actions, name) {
						actions = append(actions, name)
					}
				}
			}
		}
		if len(actions) > 0 {
			c.validations(m.Name, actions, old, new, "409")
		}
	}
}

// sourcesOf returns the models of other rows that a rule of a model is about.
func sourcesOf(v *model.Validation) []*model.Model {
	var models []*model.Model
	for _, p := range expr.Paths(v.Expression) {
		models = append(models, p.Steps[0].(*model.Field).Sources()...)
	}
	return models
}

// deleting returns the actions that delete rows of a model.
func (c *comparison) deleting(modelName string) []string {
	var names []string
	for _, p := range c.pairs() {
		if p.new.Kind == model.Delete && p.new.Model != nil && p.new.Model.Name == modelName {
			names = append(names, p.name)
		}
	}
	return names
}

// modelNamed returns the old version of a model, nil if there was none.
func modelNamed(s *model.Schema, m *model.Model) *model.Model {
	for _, name := range []string{m.Name, m.RenamedFrom} {
		for _, other := range s.Models {
			if other.Name == name {
				return other
			}
		}
	}
	return nil
}

// writing returns the actions that insert or update rows of a model.
func (c *comparison) writing(modelName string) []string {
	var names []string
	for _, p := range c.pairs() {
		if p.new.Kind != model.Create && p.new.Kind != model.Update || p.new.Model == nil {
			continue
		}
		writes := p.new.Model.Name == modelName
		for _, in := range p.new.Writes {
			for i, f := range in.Path {
				// An input of only the id links a row and writes none.
				writes = writes || f.IsRelation() && f.Target.Name == modelName && in.Path[i+1].Name != "id"
			}
		}
		if writes {
			names = append(names, p.name)
		}
	}
	return names
}

// validations compares @validates; status is the status of their errors.
func (c *comparison) validations(subject string, actions []string, old, new []*model.Validation, status string) {
	isSame := func(before, v *model.Validation) bool { return before.Text == c.asBefore(v.Text, v.Expression) }
	find := func(list []*model.Validation, is func(*model.Validation) bool) *model.Validation {
		if at := slices.IndexFunc(list, is); at >= 0 {
			return list[at]
		}
		return nil
	}
	for _, v := range old {
		if find(new, func(after *model.Validation) bool { return isSame(v, after) }) == nil {
			c.found.add(Change{Compatible, OfError, subject, actions, "@validate " + v.Text + " removed", "everything that was accepted is still accepted"})
		}
	}
	for _, v := range new {
		switch before := find(old, func(before *model.Validation) bool { return isSame(before, v) }); {
		case before == nil:
			c.found.add(Change{Breaking, OfError, subject, actions, "@validate " + v.Text + " added", "values that break it are refused with " + status})
		case before.Message != v.Message && (before.Message != before.Text || v.Message != v.Text): // else both are the expression
			c.found.add(Change{Compatible, OfError, subject, actions, fmt.Sprintf("message of @validate %s is %q, was %q", v.Text, v.Message, before.Message),
				"programs should not depend on messages"})
		}
	}
}

// uniques compares which values of a model must be unique.
func (c *comparison) uniques(actions []string, before, m *model.Model) {
	old, new := uniquesOf(before, m), uniquesOf(m, m)
	for _, key := range missing(old, new) {
		c.found.add(Change{Compatible, OfError, m.Name, actions, key + " need not be unique any more", "everything that was accepted is still accepted"})
	}
	for _, key := range missing(new, old) {
		c.found.add(Change{Breaking, OfError, m.Name, actions, key + " must be unique", "values that another row has are refused with 400"})
	}
}

// uniquesOf returns the keys of a model, with the names of its fields in its new
// version.
func uniquesOf(m, becomes *model.Model) []string {
	name := func(f *model.Field) string {
		for _, after := range becomes.Fields {
			if after.RenamedFrom == f.Name {
				return after.Name
			}
		}
		return f.Name
	}
	var keys []string
	for _, f := range m.Fields {
		if f.Unique && f.FKOf == nil && f.Name != "id" {
			keys = append(keys, name(f))
		}
	}
	for _, u := range m.Uniques {
		var names []string
		for _, f := range u.Fields {
			if f.FKOf != nil {
				f = f.FKOf
			}
			names = append(names, name(f))
		}
		keys = append(keys, strings.Join(names, " with "))
	}
	return keys
}

// restrictions compares whether a row that is still referenced can be deleted.
func (c *comparison) restrictions(before, m *model.Model) {
	for _, f := range m.Fields {
		old := fieldBefore(before, f)
		if old == nil || f.OnDelete == "" || old.FK == nil || (old.OnDelete == model.Restrict) == (f.OnDelete == model.Restrict) {
			continue
		}
		var actions []string
		for _, p := range c.pairs() {
			if p.new.Kind == model.Delete && p.new.Model == f.Target && !p.new.Custom {
				actions = append(actions, p.name)
			}
		}
		if len(actions) == 0 {
			continue
		}
		subject := m.Name + "." + f.Name
		if f.OnDelete == model.Restrict {
			c.found.add(Change{Breaking, OfError, subject, actions, "@onDelete(restrict)", "the delete of a row that it points to is refused with 400"})
		} else {
			c.found.add(Change{Compatible, OfError, subject, actions, fmt.Sprintf("@onDelete(%s), was restrict", f.OnDelete), "everything that was accepted is still accepted"})
		}
	}
}

// fieldBefore returns the old version of a field, nil if there was none.
func fieldBefore(before *model.Model, f *model.Field) *model.Field {
	if old := before.Field(f.Name); old != nil {
		return old
	}
	return before.Field(f.RenamedFrom)
}

// files compares which files a model accepts.
func (c *comparison) files(actions []string, before, m *model.Model) {
	for _, f := range m.Fields {
		old := fieldBefore(before, f)
		if old == nil || f.Type.Kind != expr.File || old.Type.Kind != expr.File {
			continue
		}
		subject := m.Name + "." + f.Name
		switch {
		case f.MaxSize < old.MaxSize:
			c.found.add(Change{Breaking, OfError, subject, actions, fmt.Sprintf("takes %d bytes, took %d", f.MaxSize, old.MaxSize), "larger files are refused"})
		case f.MaxSize > old.MaxSize:
			c.found.add(Change{Compatible, OfError, subject, actions, fmt.Sprintf("takes %d bytes, took %d", f.MaxSize, old.MaxSize), "everything that was accepted is still accepted"})
		}
		if slices.Equal(f.Accepts, old.Accepts) {
			continue
		}
		text := "takes " + patterns(f) + ", took " + patterns(old)
		if acceptsAll(f, old) {
			c.found.add(Change{Compatible, OfError, subject, actions, text, "everything that was accepted is still accepted"})
		} else {
			c.found.add(Change{Breaking, OfError, subject, actions, text, "files of other types are refused"})
		}
	}
}

func patterns(f *model.Field) string {
	if len(f.Accepts) == 0 {
		return "any type"
	}
	return strings.Join(f.Accepts, ", ")
}

// acceptsAll tells whether a field accepts every type that it accepted before.
func acceptsAll(f, old *model.Field) bool {
	if len(f.Accepts) == 0 {
		return true
	}
	return len(old.Accepts) > 0 && !slices.ContainsFunc(old.Accepts, func(pattern string) bool {
		family, _, _ := strings.Cut(pattern, "/")
		return !slices.Contains(f.Accepts, pattern) && !slices.Contains(f.Accepts, family+"/*")
	})
}
