package lsp

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// offers returns the candidates at a place that the compiler would not refuse there. Hover
// and definition know the others too.
func (x *index) offers(s *spot) []*symbol {
	symbols := x.candidates(s)
	keep := func(fits func(y *symbol) bool) {
		symbols = slices.DeleteFunc(symbols, func(y *symbol) bool { return !fits(y) })
	}
	if len(s.rest) > 0 {
		keep(func(y *symbol) bool { return y.next != nil })
	}
	around := x.around(s)
	switch s.slot {
	case slotAttribute, slotMember, slotClause:
		keep(func(y *symbol) bool { return y.class != classAttribute || x.takesAttribute(s, around, y.name) })
	case slotInput:
		others := x.otherInputs(s, around)
		keep(func(y *symbol) bool { return x.takesInput(s, others, y) })
	case slotType:
		keep(func(y *symbol) bool { return x.takesType(s, y) })
	case slotModel, slotAPIAction:
		named := namedInAPI(s)
		keep(func(y *symbol) bool { return !slices.Contains(named, y.name) })
	case slotArgument:
		keep(func(y *symbol) bool { return x.takesArgument(s, around, y) })
	}
	return symbols
}

// item is the part of a declaration around a place.
type item struct {
	field  *syntax.Field
	action *syntax.Action
	attrs  []*syntax.Attribute // of the item, or of the declaration where the place is in no part
}

// around returns the item at a place, as far as it parses.
func (x *index) around(s *spot) item {
	if s.owner == nil {
		return item{}
	}
	for _, d := range s.file.Decls {
		name := declaredName(d)
		if name == nil || name.Span().Start != s.owner.Span.Start {
			continue
		}
		if s.block == s.keyword {
			return item{attrs: syntax.AttributesOf(members(d))}
		}
		at := func(n int, id *syntax.Ident) bool { return n < len(s.item) && s.item[n].Span.Start == id.Span().Start }
		fields := syntax.FieldsOf(members(d))
		switch d := d.(type) {
		case *syntax.Message:
			fields = d.Fields
		case *syntax.Enum:
			for _, v := range d.Values {
				if at(0, v.Name) {
					return item{attrs: v.Attrs}
				}
			}
		}
		for _, f := range fields {
			if at(0, f.Name) {
				return item{field: f, attrs: f.Attrs}
			}
		}
		for _, a := range syntax.ArmsOf(members(d)) {
			if at(0, a.Name) {
				return item{attrs: a.Attrs}
			}
		}
		for _, a := range syntax.ActionsOf(members(d)) {
			if at(1, a.Name) {
				return item{action: a, attrs: a.Attrs}
			}
		}
	}
	return item{}
}

// other returns the attribute of that name that is not the one at the place, or nil.
func (i item) other(s *spot, name string) *syntax.Attribute {
	for _, a := range i.attrs {
		span := a.Name.Span()
		if a.Name.Name == name && (span.Start.Offset > s.end || span.End.Offset < s.start) {
			return a
		}
	}
	return nil
}

// at returns the attribute in whose arguments the place is, or nil.
func (i item) at(s *spot) *syntax.Attribute {
	for _, a := range i.attrs {
		if span := a.Span(); span.Start.Offset < s.start && s.end <= span.End.Offset && a.Name.Name == s.attribute {
			return a
		}
	}
	return nil
}

// isCustom tells whether the item is an action with custom code.
func (i item) isCustom(s *spot) bool {
	return i.action != nil && (i.action.Kind.Name == "read" || i.action.Kind.Name == "write" || i.other(s, "function") != nil)
}

// excluding are the attributes of a field beside which another cannot be.
var excluding = map[string][]string{
	"default":  {"computed", "sequence"},
	"computed": {"default", "sequence", "relation", "onDelete"},
	"sequence": {"default", "computed", "unique", "index", "maxLength"},
	"unique":   {"sequence"}, "index": {"sequence"}, "maxLength": {"sequence"},
	"set": {"function"}, "where": {"function"}, "function": {"set", "where", "select"},
	"relation": {"computed"}, "onDelete": {"computed"},
	"select": {"embed", "function"}, "embed": {"select"},
}

// takesAttribute tells whether an attribute can be added to an item.
func (x *index) takesAttribute(s *spot, around item, name string) bool {
	again := schema.IsRepeatable(name) && around.field == nil
	if !again && around.other(s, name) != nil {
		return false
	}
	return !slices.ContainsFunc(excluding[name], func(beside string) bool { return around.other(s, beside) != nil }) &&
		!((name == "set" || name == "where") && around.isCustom(s))
}

// inputName is the name of an input in requests: the key of a to-one and the id of its row
// are one.
func (x *index) inputName(owner string, steps []string) string {
	if n := len(steps); n > 1 && steps[n-1] == "id" {
		if path := x.fieldPath(owner, steps); path != nil && !path[n-2].array {
			return schema.FlatName(steps[:n-1]) + "Id"
		}
	}
	return schema.FlatName(steps)
}

// otherInputs returns the names of the other inputs in the parentheses at a place, and
// their paths.
func (x *index) otherInputs(s *spot, around item) []string {
	if around.action == nil {
		return nil
	}
	list := map[string]*syntax.Inputs{"reads": around.action.Reads, "with": around.action.With, "returns": around.action.Returns}[s.clause]
	if list == nil {
		return nil
	}
	var names []string
	for _, in := range list.List {
		span := in.Span()
		switch {
		case span.Start.Offset <= s.start && s.end <= span.End.Offset:
		case in.Label != nil:
			names = append(names, in.Label.Name)
		default:
			var steps []string
			for _, step := range in.Path.Steps {
				steps = append(steps, step.Name)
			}
			names = append(names, x.inputName(ownerName(s), steps), strings.Join(steps, "."))
		}
	}
	return names
}

// takesInput tells whether an input can continue with a symbol.
func (x *index) takesInput(s *spot, others []string, y *symbol) bool {
	kind := s.name(0)
	if y.field == nil { // a message, or Any
		return len(others) == 0 && len(s.path) == 0 && s.clause != "with"
	}
	if s.clause == "returns" {
		return false
	}
	// The rest behind a dot stays.
	whole := slices.Concat(s.path, []string{y.name}, s.rest)
	if slices.Contains(others, x.inputName(ownerName(s), whole)) {
		return false
	}
	last := x.walkPath(ownerName(s), whole)
	if last == nil {
		return true
	}
	scalar, isScalar := expr.ScalarNamed(last.typeName)
	if s.clause == "reads" && kind == "list" && last.tree != nil && attribute(last.tree.Attrs, "hidden") != nil {
		return false
	}
	if s.clause == "reads" {
		isRead := kind == "read" || kind == "write"
		return isRead || !isScalar || !scalar.IsOpaque()
	}
	if of, isKey := strings.CutSuffix(last.name, "Id"); isKey && last.tree == nil {
		// Not beside an input that makes a new row there.
		level := strings.Join(append(slices.Clone(whole[:len(whole)-1]), of), ".") + "."
		if slices.ContainsFunc(others, func(other string) bool { return strings.HasPrefix(other, level) }) {
			return false
		}
	}
	return x.takesValue(s, whole[:len(whole)-1], last)
}

// takesValue tells whether a create or update can write the field at the end of a path.
func (x *index) takesValue(s *spot, path []string, f *field) bool {
	below := x.fieldPath(ownerName(s), path)
	isRelation := x.isModel(f.typeName)
	switch {
	case f.name == "createdAt", f.name == "updatedAt", f.isGiven():
		return false
	case s.name(0) == "update" && len(below) == 0:
		return f.name != "id" && (!isRelation || x.hasColumn(f))
	case s.name(0) == "update":
		return len(below) == 1 && x.hasColumn(below[0]) && f.name == "id"
	case len(below) == 0:
		return true
	}
	last := below[len(below)-1]
	if last.typeName == "Identity" {
		return f.name == "id"
	}
	return f.name != "id" || x.hasColumn(last) && !last.array
}

// hasColumn tells whether a to-one has the key of its relation.
func (x *index) hasColumn(f *field) bool {
	return x.walkPath(f.owner, []string{f.name + "Id"}) != nil && !f.array
}

// isGiven tells whether the field's value is computed or numbered.
func (f *field) isGiven() bool {
	return f.tree != nil && (attribute(f.tree.Attrs, "computed") != nil || attribute(f.tree.Attrs, "sequence") != nil)
}

// takesType tells whether a field or labelled input can have a type.
func (x *index) takesType(s *spot, y *symbol) bool {
	kind, isScalar := expr.ScalarNamed(y.name)
	switch {
	case s.block == "actions":
		isRead := s.name(0) == "read" || s.name(0) == "write" || s.clause == "with"
		return isRead || !isScalar || !kind.IsWriteOnly() && kind != expr.File
	case s.keyword == "message" && kind.IsWriteOnly() && isScalar:
		return !slices.Contains(x.results(), ownerName(s))
	case s.keyword == "union":
		return !isScalar || !kind.IsWriteOnly() && kind != expr.Vector
	}
	return true
}

// results returns the messages that are results of actions, or parts of such.
func (x *index) results() []string {
	var names []string
	var add func(name string)
	add = func(name string) {
		m, ok := x.declaration(name).(*syntax.Message)
		if !ok || slices.Contains(names, name) {
			return
		}
		names = append(names, name)
		for _, f := range m.Fields {
			add(f.Type.Name)
		}
	}
	for _, d := range x.types {
		for _, a := range syntax.ActionsOf(members(d)) {
			if a.Returns != nil && len(a.Returns.List) == 1 {
				add(a.Returns.List[0].Path.Steps[0].Name)
			}
		}
	}
	return names
}

// namedInAPI returns the models of an api, or the actions of one of its models, that are named
// elsewhere in it.
func namedInAPI(s *spot) []string {
	var names []string
	add := func(list ...*syntax.Ident) {
		for _, name := range list {
			if name.Span().Start.Offset != s.start {
				names = append(names, name.Name)
			}
		}
	}
	for _, d := range s.file.Decls {
		api, ok := d.(*syntax.API)
		if !ok || api.Span().Start.Offset > s.start || api.Span().End.Offset < s.start {
			continue
		}
		for _, m := range api.Models {
			switch {
			case s.slot == slotModel:
				add(m.Name)
			case m.Span().Start.Offset <= s.start && s.start <= m.Span().End.Offset:
				add(m.Actions...)
			}
		}
	}
	return names
}

// takesArgument tells whether a symbol can be named in the arguments of an attribute.
func (x *index) takesArgument(s *spot, around item, y *symbol) bool {
	switch s.attribute {
	case "select", "embed":
		return !isNamedElsewhere(s, around, slices.Concat(s.path, []string{y.name}, s.rest)) || y.next != nil && len(s.rest) == 0
	case "orderBy", "sortable", "facet", "unique", "index":
		return s.label != "" || x.takesField(s, around, y)
	case "onDelete":
		return y.name != "setNull" || around.field == nil || around.field.Optional != nil
	case "default":
		return takesDefault(x, s, around, y)
	case "allow":
		return x.allows(s, around, y.name)
	case "set":
		if !s.assigned {
			return x.takesTarget(s, around, y)
		}
		if s.block == "actions" && s.name(0) == "create" && len(s.path) == 1 && s.path[0] == schema.Variable(ownerName(s)) {
			return isLinked(around, y.name) // the row itself is only being made
		}
		if s.block == "actions" && s.name(0) == "create" && y.row && len(s.rest) > 0 {
			return isLinked(around, s.rest[0])
		}
	}
	if s.block == "model" && s.attribute == "validate" && len(s.path) > 1 {
		return false // a model's own fields only
	}
	if s.call != "" && s.argument == 0 && y.field != nil && !x.aggregateTakes(s.call, y.field) {
		return false
	}
	return x.takesName(s, around, y) && x.agrees(s, y)
}

// takesField tells whether a list of own fields can name one.
func (x *index) takesField(s *spot, around item, y *symbol) bool {
	if y.field == nil {
		return true
	}
	if at := around.at(s); at != nil {
		for _, other := range namesIn(at) {
			if other.Name == y.name && other.Span().Start.Offset != s.start {
				return false
			}
		}
	}
	kind, isScalar := expr.ScalarNamed(y.field.typeName)
	isRelation := x.isModel(y.field.typeName)
	switch s.attribute {
	case "unique", "index":
		return !y.field.array && !(isScalar && kind.IsOpaque()) && (!isRelation || x.hasColumn(y.field))
	case "facet":
		return !y.field.array && !isRelation && !(isScalar && (kind.IsOpaque() || kind == expr.Markdown))
	}
	return !y.field.array && !isRelation && !(isScalar && kind.IsOpaque())
}

// isNamedElsewhere tells whether another argument of the attribute at a place is a path.
func isNamedElsewhere(s *spot, around item, path []string) bool {
	for _, a := range around.attrs {
		if a.Name.Name != s.attribute {
			continue
		}
		for _, arg := range a.Args {
			other := arg.Span()
			isHere := other.Start.Offset <= s.start && s.end <= other.End.Offset
			if !isHere && syntax.SourceOf(other) == strings.Join(path, ".") {
				return true
			}
		}
	}
	return false
}

// namesIn returns the bare names and labels in the arguments of an attribute.
func namesIn(a *syntax.Attribute) []*syntax.Ident {
	var names []*syntax.Ident
	for _, arg := range a.Args {
		if arg.Label != nil {
			names = append(names, arg.Label)
			continue
		}
		list := []syntax.Expr{arg.Value}
		if l, isList := arg.Value.(*syntax.List); isList {
			list = l.Elements
		}
		for _, e := range list {
			if path, isPath := e.(*syntax.Path); isPath && len(path.Steps) == 1 {
				names = append(names, path.Steps[0])
			}
		}
	}
	return names
}

// takesDefault tells whether the @default of a field can be a symbol.
func takesDefault(x *index, s *spot, around item, y *symbol) bool {
	if around.field == nil {
		return true
	}
	kind, _ := expr.ScalarNamed(around.field.Type.Name)
	switch y.name {
	case "true", "false":
		return kind == expr.Boolean
	case "null":
		return around.field.Optional != nil
	case "ctx":
		return kind == expr.Timestamp || kind == expr.Date
	}
	return true
}

// allows tells whether a warning is given for an action without its @allow, so that the
// @allow is useful. For a project in error that is not known.
func (x *index) allows(s *spot, around item, name string) bool {
	at := around.at(s)
	if at == nil {
		return true
	}
	for _, other := range namesIn(at) {
		if other.Name == name && other.Span().Start.Offset != s.start {
			return false
		}
	}
	place := at.Span().Start.Offset
	if x.allowed[place] == nil {
		x.allowed[place] = x.warningsWithout(s.file.Source, at.Span(), around.action)
	}
	return x.allowed[place]["?"] || x.allowed[place][name]
}

// warningsWithout returns the warnings about an action in a project without one of its
// attributes; the warning ? says that they are not known.
func (x *index) warningsWithout(file *syntax.Source, span syntax.Span, a *syntax.Action) map[string]bool {
	start, end := span.Start.Offset, span.End.Offset
	if len(a.Attrs) == 1 { // with the braces around it
		start, end = actionHead(a).End.Offset, a.Span().End.Offset
	}
	p := &sqlgen.Project{Config: x.project.Config}
	for _, f := range x.project.Files {
		if f == file {
			text := slices.Clone(f.Text)
			for i := range text[start:end] {
				text[start+i] = ' '
			}
			f = &syntax.Source{Name: f.Name, Text: text}
		}
		p.Files = append(p.Files, f)
	}
	for _, f := range x.project.Functions {
		p.Functions = append(p.Functions, &syntax.Source{Name: f.Name}) // what is in them matters to nothing here
	}
	_, errs := sqlgen.Check(p)
	given := map[string]bool{"?": errs.HasErrors()} // errors hide warnings
	for _, e := range errs {
		if e.Span.File != nil && e.Span.File.Name == file.Name && a.Span().Start.Offset <= e.Span.Start.Offset && e.Span.End.Offset <= a.Span().End.Offset {
			given[string(e.Code)] = true
		}
	}
	return given
}

// takesTarget tells whether a @set can assign to a symbol.
func (x *index) takesTarget(s *spot, around item, y *symbol) bool {
	if y.field == nil {
		return true
	}
	if s.block == "arms" {
		return y.field.tree != nil && !isTarget(s, around, append(slices.Clone(s.path), y.name))
	}
	steps := append(slices.Clone(s.path[1:]), y.name) // without the variable
	below := x.fieldPath(ownerName(s), steps[:len(steps)-1])
	f := y.field
	isRelation := x.isModel(f.typeName)
	switch {
	case f.name == "createdAt", f.name == "updatedAt", f.isGiven():
		return false
	case s.name(0) == "update" && len(below) > 0:
		return len(below) == 1 && f.name == "id" && x.hasColumn(below[0])
	case s.name(0) == "update" && f.name == "id":
		return false
	case s.name(0) == "update" && isRelation && !x.hasColumn(f):
		return false
	case isTarget(s, around, append(slices.Clone(s.path), y.name)):
		return false
	case isRelation && x.hasColumn(f):
		return true
	}
	var written []string
	if around.action != nil && around.action.With != nil {
		for _, in := range around.action.With.List {
			if in.Label == nil {
				var path []string
				for _, step := range in.Path.Steps {
					path = append(path, step.Name)
				}
				written = append(written, strings.Join(path, "."))
				if x.inputName(ownerName(s), path) == x.inputName(ownerName(s), steps) {
					return false // the client gives it
				}
			}
		}
	}
	level := steps[:len(steps)-1]
	if isRelation {
		level = steps
	}
	prefix := strings.Join(level, ".") + "."
	return len(level) == 0 || slices.ContainsFunc(written, func(path string) bool {
		return strings.HasPrefix(path, prefix) && path != prefix+"id" // its rows are inserted
	})
}

// isLinked tells whether the inputs of a create link a row at a to-one, and make none.
func isLinked(around item, name string) bool {
	if around.action == nil || around.action.With == nil {
		return false
	}
	linked := false
	for _, in := range around.action.With.List {
		if in.Label != nil {
			continue
		}
		switch path := syntax.SourceOf(in.Path.Span()); {
		case path == name+".id", path == name+"Id":
			linked = true
		case strings.HasPrefix(path, name+"."):
			return false
		}
	}
	return linked
}

// isTarget tells whether another @set assigns to a path.
func isTarget(s *spot, around item, path []string) bool {
	return slices.ContainsFunc(around.attrs, func(a *syntax.Attribute) bool {
		if a.Name.Name != "set" || len(a.Args) != 1 || a.Args[0].Target == nil || a.Span().Start.Offset <= s.start && s.end <= a.Span().End.Offset {
			return false
		}
		var steps []string
		for _, step := range a.Args[0].Target.Steps {
			steps = append(steps, step.Name)
		}
		return slices.Equal(steps, path)
	})
}

// aggregateTakes tells whether the path of an aggregate can go on with a field.
func (x *index) aggregateTakes(name string, f *field) bool {
	if x.isModel(f.typeName) {
		return true
	}
	kind, _ := expr.ScalarNamed(f.typeName)
	switch strings.TrimSuffix(name, "IF") {
	case "COUNT":
		return true
	case "MIN", "MAX":
		if kind == expr.Date || kind == expr.Timestamp || kind == expr.Duration {
			return true
		}
	}
	return !f.array && (kind == expr.Number || kind == expr.Decimal)
}

// takesName tells whether an expression can name a symbol.
func (x *index) takesName(s *spot, around item, y *symbol) bool {
	switch {
	case y.input != nil:
		return x.isNameable(s, y)
	case y.row && s.attribute == "permission":
		return !coversCode(s, around)
	case s.attribute == "computed" && y.field != nil:
		return around.field == nil || !x.readsField(y.field, around.field, nil)
	case y.name == "env" && len(s.path) == 1 && s.path[0] == "ctx":
		return len(x.config.Environment) > 0
	case y.name == "secrets" && len(s.path) == 1 && s.path[0] == "ctx":
		return len(x.config.Secrets) > 0
	case s.attribute == "embed":
		return y.field != nil
	}
	return true
}

// coversCode tells whether a rule is for read or write, which have no row.
func coversCode(s *spot, around item) bool {
	if s.block == "actions" {
		return s.name(0) == "read" || s.name(0) == "write"
	}
	at := around.at(s)
	if at == nil {
		return false
	}
	for _, arg := range at.Args {
		kinds, isList := arg.Value.(*syntax.List)
		if !isList || arg.Label == nil || arg.Label.Name != "actions" {
			continue
		}
		for _, e := range kinds.Elements {
			if kind := syntax.SourceOf(e.Span()); kind == "read" || kind == "write" {
				return true
			}
		}
	}
	return false
}

// readsField tells whether a field is another one, or computed from it.
func (x *index) readsField(f *field, other *syntax.Field, passed []*syntax.Field) bool {
	switch {
	case f.tree == nil, slices.Contains(passed, f.tree):
		return false
	case f.tree == other:
		return true
	}
	computed := attribute(f.tree.Attrs, "computed")
	if computed == nil {
		return false
	}
	for _, arg := range computed.Args {
		for _, path := range pathsIn(arg.Value) {
			var steps []string
			for _, step := range path.Steps[1:] { // behind the variable
				steps = append(steps, step.Name)
			}
			for _, read := range x.fieldPath(f.owner, steps) {
				if x.readsField(read, other, append(passed, f.tree)) {
					return true
				}
			}
		}
	}
	return false
}

// pathsIn returns the paths of an expression.
func pathsIn(e syntax.Expr) []*syntax.Path {
	switch e := e.(type) {
	case *syntax.Path:
		return []*syntax.Path{e}
	case *syntax.Binary:
		return append(pathsIn(e.Left), pathsIn(e.Right)...)
	case *syntax.Not:
		return pathsIn(e.Operand)
	case *syntax.Negative:
		return pathsIn(e.Operand)
	case *syntax.Paren:
		return pathsIn(e.Inner)
	case *syntax.Call:
		return pathsInAll(e.Args)
	case *syntax.List:
		return pathsInAll(e.Elements)
	}
	return nil
}

func pathsInAll(list []syntax.Expr) []*syntax.Path {
	var paths []*syntax.Path
	for _, e := range list {
		paths = append(paths, pathsIn(e)...)
	}
	return paths
}

// isNameable tells whether an input has one value that expressions can name.
func (x *index) isNameable(s *spot, y *symbol) bool {
	if y.input.Label != nil {
		return true
	}
	if s.name(0) == "list" || y.name == schema.Variable(ownerName(s)) || contextWords.has(y.name) && y.name == "ctx" || literalWords.has(y.name) {
		return false
	}
	if s.name(0) != "create" {
		return true
	}
	var steps []string
	for _, step := range y.input.Path.Steps {
		steps = append(steps, step.Name)
	}
	return !slices.ContainsFunc(x.fieldPath(ownerName(s), steps), func(f *field) bool { return f.array && x.isModel(f.typeName) })
}
