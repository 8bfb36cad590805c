package check

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkComputed reads the @computed of fields. They may read computed fields too, so all types
// have to be known.
func (c *checker) checkComputed() {
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			for _, a := range f.attrs {
				if a.Name.Name == "computed" {
					c.computed(m, f, a)
				}
			}
		}
	}
	c.checkCycles()
}

// computed reads the @computed of a field.
func (c *checker) computed(m *modelDecl, f *fieldDecl, a *syntax.Attribute) {
	value := c.oneArgument(a, "expression")
	switch {
	case value == nil:
		return
	case f.Type.Array || !isComputable(f.Type.Kind):
		c.report(expr.ComputedType, a.Name.Span(), computedType(f.Field))
		return
	case f.bears("default"):
		c.report(expr.ComputedType, a.Name.Span(), computedDefault(f.Name))
		return
	case f.bears("sequence"):
		c.report(expr.ComputedType, a.Name.Span(), computedSequence(f.Name))
		return
	}
	for _, name := range []string{"onDelete", "relation"} {
		if f.bears(name) {
			c.report(expr.ComputedType, a.Name.Span(), computedBeside(f.Name, name))
			return
		}
	}
	s := &scope{c: c, place: expr.Computed, variable: m.Variable, model: m.Name, nameable: true}
	target := expr.Target{Type: f.Type, Optional: f.Optional, Name: m.Variable + "." + f.Name}
	node := s.collect(value, func(errs *syntax.Errors) expr.Node { return expr.CheckComputed(value, target, s, errs) })
	if node != nil {
		f.Computed = &model.Computed{Expression: node, Text: syntax.FormatExpr(value), Span: a.Span()}
		if f.FK != nil {
			f.FK.Computed = f.Computed
		}
	}
}

// isComputed tells whether the field bears @computed, even in error.
func (f *fieldDecl) isComputed() bool { return f.bears("computed") }

// isComputable tells whether a field of a kind can be computed.
func isComputable(k expr.Kind) bool {
	return k == expr.Enum || k == expr.Model || k.IsScalar() && !k.IsOpaque() && k != expr.ID
}

// checkCycles reports computed fields whose values depend on themselves, each cycle once.
func (c *checker) checkCycles() {
	done := map[*model.Field]bool{}
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			c.followComputed(f.Field, nil, done)
		}
	}
}

func (c *checker) followComputed(f *model.Field, way []*model.Field, done map[*model.Field]bool) {
	if f.Computed == nil || done[f] {
		return
	}
	if at := slices.Index(way, f); at >= 0 {
		cycle := append(slices.Clone(way[at:]), f)
		c.report(ComputedCycle, cycle[0].Computed.Span, computedCycle(cycle))
		for _, part := range cycle {
			done[part] = true
		}
		return
	}
	for _, read := range f.Computed.Reads() {
		c.followComputed(read, append(way[:len(way):len(way)], f), done)
	}
	done[f] = true
}

// cycleNames names the fields of a cycle.
func cycleNames(cycle []*model.Field) string {
	names := make([]string, len(cycle))
	for i, f := range cycle {
		names[i] = f.Model.Name + "." + f.Name
	}
	return strings.Join(names, ", which reads ")
}
