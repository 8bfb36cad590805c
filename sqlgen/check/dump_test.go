package check

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// Dump writes a checked schema with the decisions of the checker: the side with the key, the rules
// that apply, the inputs that pin, and the kind of each input.
func Dump(s *model.Schema) string {
	d := &dumper{}
	for _, m := range s.Models {
		d.model(m)
	}
	for _, u := range s.Unions {
		d.union(u)
	}
	for _, e := range s.Enums {
		d.line(0, "enum %s%s", e.Name, doc(e.Doc))
		for _, v := range e.Values {
			d.line(1, "%s%s%s", v.Name, renamed(v.RenamedFrom), doc(v.Doc))
		}
	}
	for _, m := range s.Messages {
		d.line(0, "message %s%s", m.Name, doc(m.Doc))
		for _, f := range m.Fields {
			d.line(1, "%s %s%s%s", f.Name, dumpType(f.Type), when(f.Optional, "?"), doc(f.Doc))
		}
	}
	for _, r := range s.Roles {
		d.line(0, "role %s emails %v domains %v%s", r.Name, r.Emails, r.Domains, doc(r.Doc))
	}
	for _, a := range s.APIs {
		d.line(0, "api %s at /%s%s", a.Name, a.Path, doc(a.Doc))
		for _, action := range a.Actions {
			d.line(1, "%s", action.Name)
		}
		for _, name := range a.IdentityActions {
			d.line(1, "Identity %s", name)
		}
	}
	return d.b.String()
}

type dumper struct {
	b strings.Builder
}

func (d *dumper) line(depth int, format string, args ...any) {
	d.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&d.b, format, args...)
	d.b.WriteByte('\n')
}

func (d *dumper) model(m *model.Model) {
	if m.IsIdentity {
		// The fields of every Identity are not repeated in every dump.
		d.line(0, "model Identity")
		for _, f := range m.Fields {
			if f.IsRelation() || !isIdentityField(model.SnakeForm(f.Name)) {
				d.field(f)
			}
		}
		for _, u := range m.Uniques {
			d.line(1, "@unique %s", pathNames(u.Fields))
		}
		return
	}
	d.line(0, "model %s table %s variable %s%s%s", m.Name, m.Table, m.Variable, renamed(m.RenamedFrom), doc(m.Doc))
	for _, f := range m.Fields {
		if !f.BuiltIn {
			d.field(f)
		}
	}
	for _, u := range m.Uniques {
		d.line(1, "@unique %s", pathNames(u.Fields))
	}
	for _, i := range m.Indexes {
		d.line(1, "@index %s", pathNames(i.Fields))
	}
	for _, v := range m.Validations {
		d.line(1, "@validate %s message %q", dumpNode(v.Expression), v.Message)
	}
	for _, r := range m.Rules {
		d.line(1, "rule %s", dumpRule(r))
	}
	for _, a := range m.Actions {
		d.action(a)
	}
}

func (d *dumper) field(f *model.Field) {
	s := f.Name + " " + dumpType(f.Type) + when(f.Optional, "?")
	if f.Column != "" {
		s += " column " + f.Column
	}
	s += when(f.Unique, " unique") + when(f.Index, " index")
	if f.FKOf != nil {
		s += " key of " + f.FKOf.Name
	}
	if f.Inverse != nil {
		s += " inverse " + f.Inverse.Model.Name + "." + f.Inverse.Name
	}
	s += when(f.OnDelete != "", " on delete "+string(f.OnDelete))
	if f.Default != nil {
		s += " default"
		if !f.Default.Bare {
			s += " " + dumpNode(f.Default.Value)
		}
	}
	if f.Type.Kind == expr.File {
		s += fmt.Sprintf(" max %d accepts %v", f.MaxSize, f.Accepts)
	}
	if f.MaxLength > 0 {
		s += fmt.Sprintf(" max length %d", f.MaxLength)
	}
	s += when(f.Hidden, " hidden")
	if f.MaxItems > 0 {
		s += fmt.Sprintf(" max items %d", f.MaxItems)
	}
	d.line(1, "%s%s%s", s, renamed(f.RenamedFrom), doc(f.Doc))
}

func (d *dumper) union(u *model.Union) {
	d.line(0, "union %s table %s variable %s%s%s", u.Name, u.Table, u.Variable, renamed(u.RenamedFrom), doc(u.Doc))
	for _, f := range u.Fields {
		if !f.BuiltIn {
			d.line(1, "%s %s%s column %s%s", f.Name, dumpType(f.Type), when(f.Optional, "?"), f.Column, doc(f.Doc))
		}
	}
	for _, a := range u.Arms {
		d.line(1, "arm %s of %s%s", a.Name, a.Model.Name, doc(a.Doc))
		for _, w := range a.Wheres {
			d.line(2, "where %s", dumpNode(w.Expression))
		}
		for _, v := range a.Values {
			d.line(2, "%s = %s", v.Field.Name, dumpNode(v.Value))
		}
	}
	for _, r := range u.Rules {
		d.line(1, "rule %s", dumpRule(r))
	}
	for _, a := range u.Actions {
		d.action(a)
	}
}

func (d *dumper) action(a *model.Action) {
	d.line(1, "%s %s function %s%s%s", a.Kind, a.Name, a.Function, when(a.Custom, " custom"), doc(a.Doc))
	for _, in := range a.Reads {
		d.line(2, "read %s", dumpInput(in))
	}
	for _, in := range a.Writes {
		d.line(2, "write %s", dumpInput(in))
	}
	if a.Returns != nil {
		if a.Returns.Message == nil {
			d.line(2, "returns Any")
		} else {
			d.line(2, "returns %s", a.Returns.Message.Name)
		}
	}
	if a.Custom {
		for _, p := range a.Parameters() {
			d.line(2, "parameter %s of %d%s", p.Name, len(p.Inputs), when(p.JSON, " json"))
		}
	}
	for _, w := range a.Wheres {
		d.line(2, "where %s", dumpNode(w.Expression))
	}
	for _, s := range a.Sets {
		d.line(2, "set %s = %s", model.PathName(s.Target), dumpNode(s.Value))
	}
	for _, v := range a.Validations {
		d.line(2, "validate %s message %q", dumpNode(v.Expression), v.Message)
	}
	for _, k := range a.OrderBy {
		name := ""
		if k.Field != nil {
			name = k.Field.Name
		} else {
			name = k.UnionField.Name
		}
		d.line(2, "order by %s%s", name, when(k.Descending, " desc"))
	}
	for _, f := range a.Sortable {
		d.line(2, "sortable %s", f.Name)
	}
	for _, f := range a.UnionSortable {
		d.line(2, "sortable %s", f.Name)
	}
	for _, f := range a.Facets {
		d.line(2, "facet %s", f.Name())
	}
	d.embeds(2, a.Embeds)
	d.selected(2, a.Selected)
	for _, pins := range a.Pins {
		var names []string
		for _, e := range pins {
			if e.Input != nil {
				names = append(names, e.Input.Name)
			} else {
				names = append(names, "("+dumpNode(e.Where)+")")
			}
		}
		d.line(2, "pinned by %s", strings.Join(names, ", "))
	}
	for _, r := range a.Rules {
		d.line(2, "%srule %s", when(a.OwnRules, "own "), dumpRule(r))
	}
}

func (d *dumper) selected(depth int, shape model.Shape) {
	for _, m := range shape {
		d.line(depth, "select %s", m.Field.Name)
		d.selected(depth+1, m.Shape)
	}
}

func (d *dumper) embeds(depth int, embeds []*model.Embed) {
	for _, e := range embeds {
		d.line(depth, "embed %s", e.Field.Name)
		d.embeds(depth+1, e.Embeds)
	}
}

func dumpInput(in *model.Input) string {
	s := in.Name
	switch {
	case in.Explicit:
		s += ": " + dumpType(in.Type)
	case in.Path != nil:
		s += " = " + model.PathName(in.Path) + " " + dumpType(in.Type)
	case in.Union != nil:
		s += " = " + in.Union.Name + " " + dumpType(in.Type)
	default:
		s += " is " + dumpType(in.Type)
	}
	return s + when(in.Optional, " optional") + when(in.Nullable, " nullable")
}

func dumpRule(r *model.Rule) string {
	var parts []string
	if r.Expression != nil {
		parts = append(parts, dumpNode(r.Expression))
	}
	if len(r.Roles) > 0 {
		var names []string
		for _, role := range r.Roles {
			names = append(names, role.Name)
		}
		parts = append(parts, fmt.Sprint("roles ", names))
	}
	s := strings.Join(parts, " and ")
	if r.Kinds != nil {
		s += fmt.Sprint(" for ", r.Kinds)
	}
	return s
}

func dumpNode(n expr.Node) string {
	switch n := n.(type) {
	case nil:
		return "null"
	case *expr.Literal:
		if n.Value == nil {
			return "null"
		}
		return fmt.Sprintf("%s(%v)", dumpType(n.Type()), n.Value)
	case *expr.List:
		var parts []string
		for _, e := range n.Elements {
			parts = append(parts, dumpNode(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *expr.Path:
		root := map[expr.Root]string{expr.RootRow: "row", expr.RootIdentity: "identity", expr.RootIsAuthenticated: "authenticated",
			expr.RootNow: "now", expr.RootHeader: "header ", expr.RootEnv: "env ", expr.RootSecret: "secret "}[n.Root]
		if n.Root == expr.RootInput {
			root = "input " + n.Input.InputName()
		}
		root += n.Name
		for _, s := range n.Steps {
			root += "." + s.StepName()
		}
		return root
	case *expr.Compare:
		return dumpNode(n.Left) + " " + string(n.Op) + " " + dumpNode(n.Right)
	case *expr.Logic:
		return "(" + dumpNode(n.Left) + " " + string(n.Op) + " " + dumpNode(n.Right) + ")"
	case *expr.Not:
		return "!(" + dumpNode(n.Operand) + ")"
	}
	panic(fmt.Sprintf("%T is not a node", n))
}

func dumpType(t expr.Type) string {
	switch t.Kind {
	case expr.Any:
		return "Any"
	case expr.NullKind:
		return "Null"
	}
	return t.String()
}

func pathNames(fields []*model.Field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// when returns a text if a condition holds.
func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

func renamed(from string) string { return when(from != "", " renamed from "+from) }

func doc(text string) string { return when(text != "", fmt.Sprintf(" doc %q", text)) }
