package sqlgen_test

import (
	"fmt"
	"slices"
	"strings"
)

// inputText is an input as expressions name it.
type inputText struct {
	name, typ string
	array     bool
}

// path is a random path of a model, with the field that it ends in.
func (s *schemaText) path(m *modelText, depth int) (string, *fieldText) {
	if s.chance(10) {
		return "id", &fieldText{name: "id", typ: "ID"}
	}
	f := choice(s, m.fields)
	if f.to == nil || depth == 0 && s.chance(50) {
		return f.name, f
	}
	if depth == 0 {
		return f.name + ".id", &fieldText{name: "id", typ: "ID"}
	}
	rest, last := s.path(f.to, depth-1)
	return f.name + "." + rest, last
}

func flatName(path string) string {
	steps := strings.Split(path, ".")
	for i := range steps[1:] {
		steps[i+1] = strings.ToUpper(steps[i+1][:1]) + steps[i+1][1:]
	}
	return strings.Join(steps, "")
}

func (s *schemaText) literal(typ string) string {
	switch typ {
	case "ID", "Text", "Markdown":
		return choice(s, []string{`""`, `"a"`, `"it's"`, `"$$ {{ . }} \\ %"`, `"sample"`})
	case "Number":
		return choice(s, []string{"0", "7", "-1", "9007199254740991"})
	case "Decimal":
		return choice(s, []string{"0", "-1.5", "7.25", "1e3"})
	case "Boolean":
		return choice(s, []string{"true", "false"})
	case "Timestamp":
		return choice(s, []string{`"2027-03-01T09:00:00Z"`, `"0001-01-01T00:00:00Z"`, `"2027-03-01"`})
	case "Date":
		return choice(s, []string{`"2027-03-01"`, `"9999-12-31"`})
	case "Duration":
		return choice(s, []string{`"PT1H"`, `"P1M"`, `"P-1D"`})
	case "State":
		return "State.Open"
	case "Kind":
		return "Kind.order"
	}
	return "null"
}

// constant is a literal for a field.
func (s *schemaText) constant(f *fieldText) string {
	if !f.array {
		return s.literal(f.kind())
	}
	var elements []string
	for range s.IntN(3) {
		elements = append(elements, s.literal(f.typ))
	}
	return "[" + strings.Join(elements, ", ") + "]"
}

type sideText struct {
	text, typ string
	array     bool
}

// side is something to compare.
func (s *schemaText) side(m *modelText, inputs []inputText) sideText {
	switch n := s.IntN(10); {
	case n < 5 && m != nil:
		path, f := s.path(m, 2)
		return sideText{variableOf(m.name) + "." + path, f.kind(), f.array}
	case n < 7 && len(inputs) > 0:
		in := choice(s, inputs)
		return sideText{in.name, in.typ, in.array}
	case n == 7:
		return choice(s, []sideText{
			{"ctx.identity", "Identity", false}, {"ctx.identity.email", "Text", false}, {"ctx.now", "Timestamp", false},
			{"ctx.headers.xKey", "Text", false}, {"ctx.env.REGION", "Text", false}, {"ctx.secrets.KEY", "Text", false},
			{"ctx.isAuthenticated", "Boolean", false}, {"ctx.identity.emailVerified", "Boolean", false}, {"ctx.identity.id", "ID", false},
		})
	case n == 8 && m != nil && len(s.models) > 0:
		other := choice(s, s.models)
		path, f := s.path(other, 1)
		return sideText{"ctx.identity." + variableOf(other.name) + "." + path, f.kind(), f.array}
	}
	if m == nil {
		return sideText{"ctx.now", "Timestamp", false}
	}
	path, f := s.path(m, 1)
	return sideText{variableOf(m.name) + "." + path, f.kind(), f.array}
}

func (f *fieldText) kind() string {
	if f.to != nil {
		return f.to.name
	}
	return f.typ
}

// expression is a random condition, often of fitting types.
func (s *schemaText) expression(m *modelText, inputs []inputText, depth int, own bool) string {
	if depth > 0 && s.chance(50) {
		a, b := s.expression(m, inputs, depth-1, own), s.expression(m, inputs, depth-1, own)
		switch s.IntN(3) {
		case 0:
			return "!(" + a + ")"
		case 1:
			return "(" + a + " && " + b + ")"
		}
		return "(" + a + " || " + b + ")"
	}
	var left sideText
	if own {
		f := choice(s, m.fields)
		left = sideText{variableOf(m.name) + "." + f.name, f.kind(), f.array}
	} else {
		left = s.side(m, inputs)
	}
	if s.chance(15) {
		return left.text + choice(s, []string{" == null", " != null"})
	}
	left.text = s.called(left)
	right := sideText{s.literal(left.typ), left.typ, false}
	if !own && s.chance(60) {
		for range 40 {
			if other := s.side(m, inputs); other.typ == left.typ && other.text != left.text {
				right = other
				break
			}
		}
	}
	switch {
	case left.array && !right.array && right.typ == left.typ:
		if right.text == "null" {
			return left.text + " != null"
		}
		return right.text + " in " + left.text
	case left.array:
		return left.text + " == " + right.text
	case right.array:
		return left.text + " in " + right.text
	case left.typ == "Boolean" && s.chance(30):
		return left.text
	case s.chance(15) && right.text != "null":
		return left.text + " in [" + s.literal(left.typ) + ", " + s.literal(left.typ) + "]"
	}
	operators := []string{"==", "!="}
	if slices.Contains([]string{"Text", "Markdown", "Number", "Decimal", "Date", "Timestamp", "Duration"}, left.typ) && right.text != "null" {
		operators = []string{"==", "!=", "<", "<=", ">", ">="}
	}
	return left.text + " " + choice(s, operators) + " " + right.text
}

// called is a side, or the value that a function makes of it.
func (s *schemaText) called(side sideText) string {
	functions := map[string][]string{"Number": {"ROUND", "FLOOR", "CEIL", "ABS"}, "Decimal": {"ABS", "LEAST"}, "Text": {"LOWER", "UPPER", "TRIM"}}[side.typ]
	literal := s.literal(side.typ)
	switch {
	case side.array || literal == "null" || !s.chance(20):
		return side.text
	case functions == nil || s.chance(40):
		return "COALESCE(" + side.text + ", " + literal + ")"
	}
	if f := choice(s, functions); f != "LEAST" {
		return f + "(" + side.text + ")"
	}
	return "LEAST(" + side.text + ", " + literal + ")"
}

// inputs is a random list of inputs.
func (s *schemaText) inputs(m *modelText, count, depth int, explicit bool) (string, []inputText) {
	var texts []string
	var named []inputText
	for range count {
		if explicit && s.chance(25) {
			typ := choice(s, append(slices.Clone(scalarNames()[:9]), s.enums...))
			name := choice(s, oddFieldNames())
			array := s.chance(30)
			text := name + ": " + typ
			if array {
				text += "[]"
			}
			if s.chance(50) {
				text += "?"
			}
			texts, named = append(texts, text), append(named, inputText{name, typ, array})
			continue
		}
		path, f := s.path(m, depth)
		if f.to != nil && f.name != "id" {
			path, f = path+".id", &fieldText{name: "id", typ: "ID"}
		}
		text := path
		if s.chance(50) {
			text += "?"
		}
		texts, named = append(texts, text), append(named, inputText{flatName(path), f.kind(), f.array})
	}
	return strings.Join(texts, ", "), named
}

// covering are the inputs of a create: all required ones of a level, and some optional
// ones.
func (s *schemaText) covering(m *modelText, prefix string, depth int, except *fieldText, loose bool) []string {
	var list []string
	if s.chance(20) {
		list = append(list, prefix+"id"+map[bool]string{true: "?"}[s.chance(50)])
	}
	for _, f := range m.fields {
		needed := !f.optional && !f.default_ && !f.virtual
		switch {
		case f == except, f.sequence:
			continue
		case f.to == nil:
			if needed || s.chance(40) {
				list = append(list, prefix+f.name+map[bool]string{true: "?"}[!needed && s.chance(60) || loose && s.chance(30)])
			}
		case !needed && s.chance(60):
		case f.to.name == "Identity" || !f.virtual && (depth == 0 || s.chance(40)):
			list = append(list, prefix+f.name+map[bool]string{true: ".id", false: "Id"}[s.chance(60)]+map[bool]string{true: "?"}[!needed && s.chance(60)])
		case depth > 0:
			list = append(list, s.covering(f.to, prefix+f.name+".", depth-1, f.inverse(), loose || f.array || f.optional || f.virtual)...)
		}
	}
	return list
}

// inverse is the field at the other end of a relation, if both are declared.
func (f *fieldText) inverse() *fieldText {
	if f.to == nil {
		return nil
	}
	for _, other := range f.to.fields {
		if f.virtual && strings.Contains(other.typ, "@relation("+f.name+")") && strings.HasPrefix(other.typ, "") && other.to != nil {
			return other
		}
		if !f.virtual && other.virtual && strings.Contains(f.typ, "@relation("+other.name+")") {
			return other
		}
	}
	return nil
}

// action writes a random action on one line.
func (s *schemaText) action(m *modelText) {
	s.number++
	name := fmt.Sprintf("%s%d", choice(s, []string{"act", "input", "found", "platform", "x"}), s.number)
	if odd := append(oddFieldNames(), variableOf(choice(s, s.models).name)); s.chance(25) {
		if n := choice(s, odd); !s.taken[n] {
			name, s.taken[n] = n, true
		}
	}
	v := variableOf(m.name)
	kind := choice(s, []string{"get", "list", "list", "create", "create", "update", "delete", "write", "read"})
	isCustom := s.chance(15) || kind == "write" || kind == "read"
	var reads, writes, extra string
	var named, writesNamed []inputText
	var attributes []string
	pin := func() {
		path, f := s.path(m, 2)
		switch {
		case s.chance(40):
			reads, named = "id", []inputText{{"id", "ID", false}}
		case s.chance(50):
			reads, named = path, []inputText{{flatName(path), f.kind(), f.array}}
		default:
			attributes = append(attributes, fmt.Sprintf("@where(%s.%s == %s)", v, path, choice(s, []string{`"sample"`, "7", "ctx.identity", "ctx.identity.email", "ctx.identity.id"})))
		}
		more, moreNamed := s.inputs(m, s.IntN(3), 2, true)
		if more != "" {
			reads, named = strings.TrimPrefix(reads+", "+more, ", "), append(named, moreNamed...)
		}
	}
	switch kind {
	case "get", "delete":
		pin()
	case "list":
		reads, named = s.inputs(m, s.IntN(5), 3, true)
	case "create":
		list := s.covering(m, "", 3, nil, false)
		for range s.IntN(3) {
			path, _ := s.path(m, 2)
			list = append(list, path+"?")
		}
		if s.chance(30) {
			list = append(list, "extra: "+choice(s, scalarNames())+map[bool]string{true: "[]"}[s.chance(20)]+map[bool]string{true: "?"}[s.chance(50)])
			writesNamed = append(writesNamed, inputText{"extra", "Text", false})
		}
		slices.Sort(list)
		writes = strings.Join(slices.Compact(list), ", ")
	case "update":
		pin()
		writes, writesNamed = s.inputs(m, 1+s.IntN(4), 0, true)
	case "read", "write":
		reads, named = s.inputs(m, s.IntN(4), 2, true)
		extra = " returns (Any)"
	}
	all := append(slices.Clone(named), writesNamed...)
	if isCustom && kind != "read" && kind != "write" {
		attributes = append(attributes, "@function")
	}
	if !isCustom || kind == "update" {
		for range s.IntN(3) {
			if kind != "create" && !isCustom {
				attributes = append(attributes, "@where("+s.expression(m, all, 2, false)+")")
			}
		}
	}
	if kind == "update" || kind == "create" {
		for range s.IntN(3) {
			f := choice(s, m.fields)
			target := v + "." + f.name
			value := s.constant(f)
			for range 30 {
				if side := s.side(m, all); side.typ == f.kind() && side.array == f.array && s.chance(70) {
					value = s.called(side)
					break
				}
			}
			attributes = append(attributes, fmt.Sprintf("@set(%s = %s)", target, value))
		}
	}
	row := m
	if kind == "read" || kind == "write" {
		row = nil
	}
	for range s.IntN(3) {
		attributes = append(attributes, "@permission("+s.rule(row, all)+")")
	}
	if s.chance(25) && len(all) > 0 {
		attributes = append(attributes, "@validate("+s.expression(nil, all, 1, false)+")")
	}
	if kind == "list" {
		a, b := choice(s, m.fields), choice(s, append(m.fields, &fieldText{name: "createdAt"}, &fieldText{name: "id"}))
		if s.chance(40) {
			attributes = append(attributes, fmt.Sprintf("@orderBy(%s: %s)", a.name, choice(s, []string{"asc", "desc"})))
		}
		if s.chance(40) {
			attributes = append(attributes, fmt.Sprintf("@sortable(%s)", b.name))
		}
		if hasFacet(a) && len(a.name)%3 == 0 {
			attributes = append(attributes, fmt.Sprintf("@facet(createdAt, %s)", a.name))
		}
	}
	if (kind == "list" || kind == "get") && s.chance(50) {
		f := choice(s, m.fields)
		path := f.name
		if f.to != nil && f.to.name != "Identity" && s.chance(50) {
			path += "." + choice(s, f.to.fields).name
		}
		attributes = append(attributes, "@embed("+path+")")
	} else if !isCustom && kind != "delete" && len(m.name+name)%2 == 0 {
		attributes = append(attributes, "@select("+selection(m)+")")
	}
	// Each explicit input must be mentioned.
	if !isCustom {
		for _, list := range []string{reads, writes} {
			for _, in := range strings.Split(list, ", ") {
				if name, _, isExplicit := strings.Cut(in, ":"); isExplicit {
					if s.chance(50) {
						attributes = append(attributes, fmt.Sprintf("@validate(%s != null)", name))
					} else {
						attributes = append(attributes, fmt.Sprintf("@permission(expression: %s == null)", name))
					}
				}
			}
		}
	}
	if len(attributes) == 0 && s.chance(70) {
		attributes = append(attributes, "@permission(expression: true)")
	}
	add := func(isFree, isHead bool, text string) {
		s.lines = append(s.lines, schemaLine{text: text, isFree: isFree, isHead: isHead, group: s.number})
	}
	s.doc()
	add(true, true, fmt.Sprintf("    %s %s(", kind, name))
	addInputs := func(list string) {
		for _, in := range strings.Split(list, ", ") {
			if in != "" {
				add(true, false, "      "+in+",")
			}
		}
	}
	addInputs(reads)
	if writes != "" {
		add(true, true, "    ) with (")
		addInputs(writes)
	}
	add(true, true, "    )"+extra)
	for _, a := range attributes {
		add(true, false, "      "+a)
	}
}

// selection names some fields of a model, and of one that a relation of it leads to.
func selection(m *modelText) string {
	paths := []string{m.fields[0].name}
	for _, f := range m.fields[1:] {
		if f.to != nil && f.to.name != "Identity" {
			return strings.Join(append(paths, f.name+"."+f.to.fields[0].name, f.name+".id"), ", ")
		}
	}
	return strings.Join(append(paths, "createdAt"), ", ")
}

// union writes a random union.
func (s *schemaText) union(number int) {
	words := oddFieldNames()
	s.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	name := choice(s, []string{"Event", "Thing", "Source2", "Unions", "Place2"}) + fmt.Sprint("X", number)
	s.line(false, "union %s {", name)
	s.line(false, "  fields {")
	u := &modelText{name: name}
	for i := range 1 + s.IntN(5) {
		f := &fieldText{name: words[i], typ: choice(s, append(slices.Clone(scalarNames()[:9]), s.enums...)), optional: true, array: s.chance(15)}
		if s.chance(50) {
			from := choice(s, choice(s, s.models).fields)
			if from.to == nil {
				f.name, f.typ, f.array = from.name, from.typ, from.array
			}
		}
		if slices.ContainsFunc(u.fields, func(o *fieldText) bool { return o.name == f.name }) {
			continue
		}
		u.fields = append(u.fields, f)
		s.line(true, "    %s", f.declaration())
	}
	s.line(false, "    always Text?")
	s.line(false, "  }")
	s.line(false, "  arms {")
	for i := range 1 + s.IntN(4) {
		m := choice(s, s.models)
		s.number++
		armAt := len(s.lines)
		s.line(true, "    arm%d %s", i, m.name)
		for range s.IntN(3) {
			s.line(true, "      @where(%s)", s.expression(m, nil, 1, false))
		}
		for _, f := range u.fields {
			if path, from := s.path(m, 2); from.kind() == f.typ && from.array == f.array {
				s.line(true, "      @set(%s.%s = %s.%s)", variableOf(u.name), f.name, variableOf(m.name), path)
			} else if s.chance(30) {
				s.line(true, "      @set(%s.%s = %s)", variableOf(u.name), f.name, s.constant(f))
			}
		}
		for at := armAt; at < len(s.lines); at++ {
			s.lines[at].group, s.lines[at].isHead = s.number, at == armAt
		}
	}
	s.line(false, "    last %s", choice(s, s.models).name)
	for _, f := range u.fields {
		s.line(true, "      @set(%s.%s = null)", variableOf(u.name), f.name)
	}
	s.line(false, "  }")
	s.line(false, "  actions {")
	for i := range 4 {
		u.fields = append(u.fields, &fieldText{name: "sourceModel", typ: "Source"}, &fieldText{name: "sourceArm", typ: "Source"})
		inputs, named := s.inputs(u, s.IntN(4), 0, true)
		u.fields = u.fields[:len(u.fields)-2]
		attributes := ""
		if len(u.fields) > 0 {
			if s.chance(40) {
				attributes += fmt.Sprintf(" @where(%s)", s.expression(u, named, 1, false))
			}
			if s.chance(40) {
				attributes += fmt.Sprintf(" @permission(%s)", s.rule(u, named))
			}
		}
		for _, in := range strings.Split(inputs, ", ") {
			if name, _, isExplicit := strings.Cut(in, ":"); isExplicit {
				attributes += fmt.Sprintf(" @validate(%s != null)", name)
			}
		}
		kind := "list"
		if i == 0 {
			kind, inputs = "get", strings.TrimSuffix("id, "+inputs, ", ")
		} else if len(u.fields) > 0 {
			if s.chance(40) {
				attributes += fmt.Sprintf(" @orderBy(%s: desc)", choice(s, u.fields).name)
			}
			if s.chance(40) {
				attributes += fmt.Sprintf(" @sortable(%s)", choice(s, u.fields).name)
			}
			if f := u.fields[0]; hasFacet(f) {
				attributes += fmt.Sprintf(" @facet(sourceArm, %s)", f.name)
			}
		}
		if attributes != "" {
			attributes = " {" + attributes + " }"
		}
		action := fmt.Sprintf("%s%d%d", variableOf(name), number, i)
		if n := variableOf(name); s.chance(25) && !s.taken[n] {
			action, s.taken[n] = n, true
		}
		s.line(true, "    %s %s(%s)%s", kind, action, inputs, attributes)
	}
	s.line(false, "  }")
	s.line(true, "  @permission(%s, actions: [get, list])", s.rule(u, nil))
	s.line(false, "}")
}

// hasFacet tells whether a list can tell of a field's values.
func hasFacet(f *fieldText) bool {
	return !f.array && f.to == nil && !slices.Contains([]string{"Markdown", "File", "Vector", "Password", "Secret"}, f.typ)
}
