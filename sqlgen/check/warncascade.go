package check

import "github.com/sternpost/sternpost/sqlgen/model"

// warnCascades warns of each to-one by which a delete removes rows of another model, without that anybody wrote so: by the
// first action that does, be it through other rows. @onDelete(cascade) says that it is meant.
func (c *checker) warnCascades() {
	if c.errs.HasErrors() {
		return
	}
	warned := map[*model.Field]bool{}
	for _, a := range c.actions {
		if a.Kind == model.Delete && !a.Custom {
			c.followCascades(a, a.Model, map[*model.Model]bool{}, warned)
		}
	}
}

func (c *checker) followCascades(a *actionDecl, deleted *model.Model, seen map[*model.Model]bool, warned map[*model.Field]bool) {
	if seen[deleted] {
		return
	}
	seen[deleted] = true
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			if f.Target != deleted || f.OnDelete != model.Cascade {
				continue
			}
			if !f.bears("onDelete") && !warned[f.Field] {
				warned[f.Field] = true
				c.warn(CascadeDeletes, f.Span, cascadeDeletes(a.Name, m.Name), note(a.Span, deletedHere(a.Name)))
			}
			c.followCascades(a, m.Model, seen, warned)
		}
	}
}
