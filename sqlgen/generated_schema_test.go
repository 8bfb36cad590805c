package sqlgen_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// schemaText is a random schema in the making.
type schemaText struct {
	*rand.Rand
	models []*modelText
	enums  []string
	lines  []schemaLine
	taken  map[string]bool // snake forms of actions
	number int
	config string
	code   int             // the version of the custom code
	spent  map[string]bool // names that edits have given
	small  bool            // whether a few models with a few actions will do
}

// schemaLine is a line of the schema. What is about a whole model may be dropped if
// the checker objects to it.
type schemaLine struct {
	text   string
	isFree bool // whether the schema compiles without it
	group  int  // of the action that it is part of; 0 means none
	isHead bool // whether the action falls with it
}

type modelText struct {
	name   string
	fields []*fieldText
}

type fieldText struct {
	name, typ        string
	array, optional  bool
	unique, default_ bool
	sequence         bool
	to               *modelText // of a relation
	virtual          bool
}

func oddModelNames() []string {
	return []string{
		"Input", "Context", "Found", "Record", "Keys", "Page", "Operator", "Value", "Requested", "Known", "Element", "Related", "Place",
		"Excluded", "Row", "Result", "V", "VId", "Call", "Period", "Order", "User", "Group", "Select", "Path", "Arm", "Position", "Action",
		"Position2", "ABCDEFGHIJKLMNOPQRSTUVW", "AaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaB", "Item", "InsertedItems", "Items",
		"Statement", "Unnest", "Lower", "Now", "Coalesce", "Json", "Text2", "Item2", "Session", "Table", "Column", "Type", "Name", "Api", "App",
		"Platform", "Public", "Caller", "Local", "Stored", "Parent", "Child", "Sql", "Body", "Values", "Setof", "Between", "Timestamps", "Information", "PgClass", "Old", "New", "Sort", "Count", "Given", "One", "Source", "All", "Files",
	}
}

func oddFieldNames() []string {
	return []string{
		"input", "context", "found", "vId", "record", "keys", "page", "value", "place", "result", "vResult", "vValues", "values", "where",
		"first", "after", "orderBy", "limit", "totalCount", "equals", "any", "all", "oneOf", "select", "user", "order", "group", "table",
		"name", "items", "item", "rows", "row", "path", "operand", "arms", "vArms", "count", "data", "oid", "old", "excluded", "parentId",
		"upId", "key", "requested", "operator", "element", "ctx", "now", "identity", "identityId", "text", "number", "constructor", "length",
		"position", "size", "offset", "total", "ids", "records", "sql", "isAllowed", "beyond", "hasPrevious", "newName", "given", "arm", "armNumber", "number2", "tableoid", "localStartsAt", "setof", "between", "out", "timestamp", "char", "json", "givenPage",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1", "line2", "sourceModel", "sourceArm", "case", "end", "is",
	}
}

func choice[T any](s *schemaText, list []T) T { return list[s.IntN(len(list))] }

func (s *schemaText) chance(percent int) bool { return s.IntN(100) < percent }

func (s *schemaText) line(isFree bool, format string, args ...any) {
	s.lines = append(s.lines, schemaLine{text: fmt.Sprintf(format, args...), isFree: isFree})
}

// project makes a random schema of lines that the checker accepts, and counts those
// that were written.
func (s *schemaText) project(t *testing.T) (*sqlgen.Project, int) {
	s.declare()
	written := len(s.lines)
	s.config = "environment:\n  - name: REGION\nsecrets:\n  - name: KEY\n"
	if s.chance(30) {
		s.config += "hideRefusedRows: true\n"
	}
	p, err := s.settle()
	if err != nil {
		t.Fatal(err)
	}
	return p, written
}

// settle drops lines until the checker accepts the rest.
func (s *schemaText) settle() (*sqlgen.Project, error) {
	for range 60 {
		var text strings.Builder
		for _, l := range s.lines {
			text.WriteString(l.text + "\n")
		}
		p := &sqlgen.Project{
			Files:  []*syntax.Source{{Name: "schema.stern", Text: []byte(text.String())}},
			Config: &syntax.Source{Name: "sternpost.yaml", Text: []byte(s.config)},
		}
		full := *p
		full.Functions = sqlgen.Scaffold(p)
		_, errs := sqlgen.Compile(&full)
		bad := map[int]bool{}
		var stuck []string
		for _, d := range errs {
			if d.Warning || d.Code == check.FunctionFileMissing {
				continue
			}
			if i := d.Span.Start.Line - 1; s.lines[i].isFree {
				bad[i] = true
			} else {
				stuck = append(stuck, fmt.Sprintf("%d: %s: %s", i+1, s.lines[i].text, d.Message))
			}
		}
		if len(bad) == 0 {
			if len(stuck) > 0 {
				return nil, fmt.Errorf("%s\n%s", strings.Join(stuck, "\n"), text.String())
			}
			return p, nil
		}
		gone := map[int]bool{}
		for i, l := range s.lines {
			gone[l.group] = gone[l.group] || bad[i] && l.isHead
		}
		gone[0] = false
		var kept []schemaLine
		for i, l := range s.lines {
			if !bad[i] && !gone[l.group] {
				kept = append(kept, l)
			}
		}
		s.lines = kept
	}
	return nil, errors.New("the schema does not settle")
}

func scalarNames() []string {
	return []string{"ID", "Text", "Markdown", "Number", "Decimal", "Boolean", "Timestamp", "Date", "Duration", "Enum", "File", "Vector", "Password", "Secret"}
}

func (s *schemaText) declare() {
	s.enums = []string{"State", "Kind"}
	s.line(false, "enum State { Open Closed null }")
	s.line(false, "enum Kind { A B order }")
	s.line(false, `role Chief { domains { "x.example" } emails { "A@b.example" } }`)
	names := oddModelNames()
	s.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	models, actions, unions := 3, 10, 3
	if s.small {
		models, actions, unions = 2, 3, 2
	}
	for i := range models + s.IntN(4) {
		s.models = append(s.models, &modelText{name: names[i]})
	}
	for _, m := range s.models {
		words := oddFieldNames()
		s.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		for i, other := range s.models { // fields that are called like tables
			if name := variableOf(other.name); s.chance(50) && name != "case" && !slices.Contains(words, name) {
				words = slices.Insert(words, i, name)
			}
		}
		for i := range 3 + s.IntN(8) {
			typ := choice(s, scalarNames())
			if i == 0 {
				typ = "Text"
			}
			f := &fieldText{name: words[i], typ: typ, optional: s.chance(35)}
			if typ == "Enum" {
				f.typ = choice(s, s.enums)
			}
			isOdd := slices.Contains([]string{"File", "Vector", "Password", "Secret"}, typ)
			f.array = s.chance(20) && (!isOdd || typ == "File")
			f.unique = s.chance(20) && !f.array && !isOdd
			f.default_ = s.chance(30) && !isOdd && typ != "Enum"
			f.sequence = i > 0 && f.takesSequence() && s.chance(30)
			m.fields = append(m.fields, f)
		}
	}
	for i := range 2 + s.IntN(7) {
		a, b := choice(s, s.models), choice(s, s.models)
		from, to := fmt.Sprintf("to%c", 'A'+i), fmt.Sprintf("from%c", 'A'+i)
		if words := oddFieldNames(); s.chance(30) {
			from = choice(s, words)
		} else if s.chance(20) {
			to = choice(s, words)
		}
		if slices.ContainsFunc(a.fields, func(f *fieldText) bool { return f.name == from }) || slices.ContainsFunc(b.fields, func(f *fieldText) bool { return f.name == to || a == b && from == to }) {
			continue
		}
		optional := a == b || s.chance(50)
		f := &fieldText{name: from, typ: b.name, optional: optional, to: b}
		back := &fieldText{name: to, typ: a.name, to: a, virtual: true}
		switch s.IntN(5) {
		case 0:
			back = nil
		case 1, 2:
			f.unique, back.optional = true, true
		default:
			back.array = true
		}
		a.fields = append(a.fields, f)
		if back != nil {
			f.typ += map[bool]string{true: "?"}[optional] + " @relation(" + to + ")"
			b.fields = append(b.fields, back)
		} else {
			f.typ += map[bool]string{true: "?"}[optional]
		}
	}
	for _, m := range s.models {
		if s.chance(40) {
			m.fields = append(m.fields, &fieldText{name: "owner", typ: "Identity?", optional: true, to: identityText()})
		}
		if s.chance(40) {
			m.fields = append(m.fields, &fieldText{name: "person", typ: "Identity", to: identityText(), unique: true})
		}
	}
	for _, m := range s.models {
		s.model(m, actions)
	}
	for i := range s.IntN(unions) {
		s.union(i)
	}
	if s.chance(30) {
		s.line(true, "api Mobile { models { %s } }", s.models[0].name)
	}
}

func identityText() *modelText {
	return &modelText{name: "Identity", fields: []*fieldText{{name: "email", typ: "Text", optional: true}, {name: "emailVerified", typ: "Boolean"}}}
}

// takesSequence tells whether a field may have a sequence.
func (f *fieldText) takesSequence() bool {
	return f.typ == "Text" && !f.array && !f.optional && !f.unique && !f.default_
}

func (f *fieldText) declaration() string {
	text := f.name + " " + f.typ
	if f.to != nil && !f.virtual {
		if f.unique {
			text += " @unique"
		}
		return text
	}
	if f.array {
		text += "[]"
	}
	if f.optional {
		text += "?"
	}
	if f.unique {
		text += " @unique"
	}
	if f.default_ {
		text += " @default"
	}
	if f.sequence {
		text += ` @sequence("N-")`
	}
	return text
}

func variableOf(name string) string {
	upper := 0
	for upper < len(name) && name[upper] >= 'A' && name[upper] <= 'Z' {
		upper++
	}
	if upper > 1 && upper < len(name) && name[upper] >= 'a' && name[upper] <= 'z' {
		upper--
	}
	return strings.ToLower(name[:upper]) + name[upper:]
}

// doc is a description of what follows, which means something to what prints it.
func (s *schemaText) doc() {
	if s.chance(20) {
		s.line(false, "/// it's $$ $_$ {{ . }} */ -- \\ \"\" ---- create above / drop below ----")
	}
}

func (s *schemaText) model(m *modelText, actions int) {
	s.doc()
	s.line(false, "model %s {", m.name)
	s.line(false, "  fields {")
	for _, f := range m.fields {
		text := f.declaration()
		if f.to != nil && !f.virtual && s.chance(30) {
			text += " @onDelete(" + choice(s, []string{"cascade", "restrict", "setNull"}) + ")"
		}
		if s.chance(15) {
			text += " @index"
		}
		if !f.sequence && len(f.name)%7 == 3 {
			text += " @hidden"
		}
		s.doc()
		s.line(true, "    %s", text)
	}
	s.line(false, "    always Text?")
	s.line(false, "  }")
	s.line(false, "  actions {")
	for range actions {
		s.action(m)
	}
	s.line(false, "  }")
	for range s.IntN(3) {
		s.line(true, "  @validate(%s)", s.expression(m, nil, 1, true))
	}
	if f, g := choice(s, m.fields), choice(s, m.fields); f.to != nil && g.to != nil && len(f.to.fields) > 0 {
		s.line(true, "  @validate(%s.%s.%s != %s.%s)", variableOf(m.name), f.name, choice(s, f.to.fields).name, variableOf(m.name), g.name)
	}
	for range s.IntN(3) {
		a, b := choice(s, m.fields), choice(s, m.fields)
		s.line(true, "  @%s", choice(s, []string{
			fmt.Sprintf("unique([%s, %s])", a.name, b.name), fmt.Sprintf("index(%s, %s)", a.name, b.name),
		}))
	}
	for range 1 + s.IntN(3) {
		kinds := []string{"create", "get", "list", "update", "delete", "read", "write"}
		s.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		s.line(true, "  @permission(%s, actions: [%s])", s.rule(m, nil), strings.Join(kinds[:1+s.IntN(len(kinds))], ", "))
	}
	s.line(false, "}")
}

func (s *schemaText) rule(m *modelText, inputs []inputText) string {
	switch s.IntN(6) {
	case 0:
		return "roles: [Chief]"
	case 1:
		return "roles: [Chief], expression: " + s.expression(m, inputs, 2, false)
	case 2:
		return "expression: " + choice(s, []string{"true", "ctx.isAuthenticated"})
	}
	return "expression: " + s.expression(m, inputs, 2, false)
}
