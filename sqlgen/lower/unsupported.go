package lower

import (
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Unsupported refuses, each at its place, what the language allows and this
// stage cannot lower yet. After it Schema has nothing left to refuse.
func Unsupported(s *schema.Schema, errs *syntax.Errors) {
	u := refusal{errs}
	for _, un := range s.Unions {
		u.refuse(un.Span, "unions")
	}
	for _, e := range s.Enums {
		for _, v := range e.Values {
			if v.RenamedFrom != "" {
				u.refuse(v.Span, "@renamed")
			}
		}
	}
	for _, m := range s.Models {
		u.model(m)
	}
	for _, a := range s.Actions {
		if a.Model != nil { // a union has been refused as a whole
			u.action(a)
		}
	}
}

type refusal struct {
	errs *syntax.Errors
}

func (u refusal) refuse(span syntax.Span, what string) {
	u.errs.Add(syntax.NotSupportedYet, span, what+" cannot be compiled yet")
}

func (u refusal) model(m *schema.Model) {
	for _, v := range m.Validations {
		u.refuse(v.Span, "@validate")
	}
	if m.RenamedFrom != "" {
		u.refuse(m.Span, "@renamed")
	}
	for _, f := range m.Fields {
		if f.RenamedFrom != "" {
			u.refuse(f.Span, "@renamed")
		}
	}
}

func (u refusal) action(a *schema.Action) {
	if a.Custom {
		u.refuse(a.Span, "an action with custom code")
		return
	}
	for _, w := range a.Wheres {
		u.refuse(w.Span, "@where")
	}
	for _, s := range a.Sets {
		u.refuse(s.Span, "@set")
	}
	for _, v := range a.Validations {
		u.refuse(v.Span, "@validate")
	}
	for _, in := range append(append([]*schema.Input{}, a.Reads...), a.Writes...) {
		u.input(in)
	}
	for _, r := range a.Rules {
		u.rule(r)
	}
	u.pins(a)
}

func (u refusal) input(in *schema.Input) {
	switch {
	case in.Explicit:
		u.refuse(in.Span, fmt.Sprintf("the input %s: an input with a type of its own", in.Name))
		return
	case len(in.Path) > 2, len(in.Path) == 2 && !(in.Path[0].FK != nil && in.Path[1].Name == "id"):
		u.refuse(in.Span, fmt.Sprintf("the input %s: a path through a relation, but for the id of a to-one with a column,", in.Name))
		return
	}
	switch in.Type.Kind {
	case expr.File, expr.Password, expr.Secret:
		u.refuse(in.Span, fmt.Sprintf("the input %s: an input of a File, Password or Secret field", in.Name))
	}
}

func (u refusal) rule(r *schema.Rule) {
	if len(r.Roles) > 0 {
		u.refuse(r.Span, "roles in @permission")
	}
	if r.Expression == nil {
		return
	}
	for _, p := range expr.Paths(r.Expression) {
		if p.Root != expr.RootIsAuthenticated {
			u.refuse(p.Span(), "a rule over anything but literals and ctx.isAuthenticated")
		}
	}
}

// pins refuses look-ups whose pinning set depends on the request.
func (u refusal) pins(a *schema.Action) {
	if len(a.Pins) == 0 {
		return
	}
	for _, set := range a.Pins {
		certain := true
		for _, e := range set {
			certain = certain && e.Input != nil && !e.Input.Optional
		}
		if certain {
			return
		}
	}
	u.refuse(a.Span, "a look-up that no required inputs pin")
}
