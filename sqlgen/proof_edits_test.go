package sqlgen_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// renamedNames holds the renames of one step's edits: new name → old name.
type renamedNames struct {
	models map[string]string
	fields map[[2]string]string         // by the new names of model and field
	values map[string]map[string]string // by enum, the other way round: old value → new value
}

func newRenamedNames() renamedNames {
	return renamedNames{map[string]string{}, map[[2]string]string{}, map[string]map[string]string{}}
}

// block is the place of a model or union among the lines of a schema.
type block struct {
	kind, name   string
	begin, end   int   // its first line, and the one of the closing brace
	fields       []int // lines of its fields
	fieldsBegin  int   // the line "fields {"
	actionsBegin int   // the line "actions {", or 0
}

var (
	blockLine   = regexp.MustCompile(`^(model|union) (\w+) \{$`)
	fieldLine   = regexp.MustCompile(`^    (\w+) (\w+)(\[\])?(\?)?(.*)$`)
	enumLine    = regexp.MustCompile(`^enum (\w+) \{(.*)\}$`)
	enumValue   = regexp.MustCompile(`(\w+)( @renamed\(from: \w+\))?`)
	renamedMark = regexp.MustCompile(` ?@renamed\(from: \w+\)`)
	defaultMark = regexp.MustCompile(` @default(\([^)]*\))?`)
	deleteMark  = regexp.MustCompile(` @onDelete\(\w+\)`)
	numberMark  = regexp.MustCompile(` @sequence\([^)]*\)`)
	limitMark   = regexp.MustCompile(` @max(Length|Items)\(\d+\)`)
)

// blocks finds the models and unions.
func (s *schemaText) blocks() []block {
	var list []block
	var current *block
	section := ""
	for i, l := range s.lines {
		if match := blockLine.FindStringSubmatch(l.text); match != nil {
			list = append(list, block{kind: match[1], name: match[2], begin: i})
			current, section = &list[len(list)-1], ""
			continue
		}
		switch {
		case current == nil:
		case l.text == "}":
			current.end = i
			current = nil
		case l.text == "  fields {":
			section, current.fieldsBegin = "fields", i
		case l.text == "  actions {":
			section, current.actionsBegin = "actions", i
		case strings.HasPrefix(l.text, "  ") && !strings.HasPrefix(l.text, "   "):
			section = ""
		case section == "fields" && fieldLine.MatchString(l.text):
			current.fields = append(current.fields, i)
		}
	}
	return list
}

// modelBlocks finds the models.
func (s *schemaText) modelBlocks() []block {
	return slices.DeleteFunc(s.blocks(), func(b block) bool { return b.kind != "model" })
}

// readModels makes the models of the lines as they are, for new expressions and actions.
func (s *schemaText) readModels() {
	s.models = nil
	byName := map[string]*modelText{"Identity": identityText()}
	blocks := s.modelBlocks()
	for _, b := range blocks {
		m := &modelText{name: b.name}
		byName[b.name] = m
		s.models = append(s.models, m)
	}
	for i, b := range blocks {
		for _, at := range b.fields {
			match := fieldLine.FindStringSubmatch(s.lines[at].text)
			f := &fieldText{
				name: match[1], typ: match[2], array: match[3] != "", optional: match[4] != "", to: byName[match[2]],
				unique: strings.Contains(match[5], "@unique"), default_: strings.Contains(match[5], "@default"),
				sequence: strings.Contains(match[5], "@sequence"),
			}
			f.virtual = f.to != nil && f.array
			s.models[i].fields = append(s.models[i].fields, f)
		}
	}
}

func (s *schemaText) insert(at int, lines ...schemaLine) {
	s.lines = slices.Insert(s.lines, at, lines...)
}

// remove removes a line, with the description above it.
func (s *schemaText) remove(at int) {
	begin := at
	if begin > 0 && strings.HasPrefix(strings.TrimSpace(s.lines[begin-1].text), "///") {
		begin--
	}
	s.lines = slices.Delete(s.lines, begin, at+1)
}

// aField picks a suitable field of a model, or returns -1.
func (s *schemaText) aField(suits func(match []string) bool) (block, int) {
	var list [][2]int
	blocks := s.modelBlocks()
	for i, b := range blocks {
		for _, at := range b.fields {
			if suits(fieldLine.FindStringSubmatch(s.lines[at].text)) {
				list = append(list, [2]int{i, at})
			}
		}
	}
	if len(list) == 0 {
		return block{}, -1
	}
	picked := choice(s, list)
	return blocks[picked[0]], picked[1]
}

// newName returns a name that the schema has not used, which may mean something elsewhere.
func (s *schemaText) newName(list []string, also string) string {
	text := s.text()
	for range 20 {
		if name := choice(s, list); name != also && !regexp.MustCompile(`(?i)\b`+name+`\b`).MatchString(text) && !s.spent[name] {
			s.spent[name] = true
			return name
		}
	}
	s.number++
	return fmt.Sprintf("%s%dx", also, s.number)
}

func (s *schemaText) text() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// isStored tells whether a field surely has a column of values of its own.
func (s *schemaText) isStored(match []string) bool {
	return slices.Contains(scalarNames(), match[2]) || slices.Contains(s.enums, match[2])
}

// edit is a change that a person may make to a schema. It returns false if the schema has
// nothing that it fits.
type edit struct {
	name  string
	apply func(s *schemaText, r renamedNames) bool
}

func edits() []edit {
	return []edit{
		{"field added", (*schemaText).addField},
		{"field added", (*schemaText).addField},
		{"field removed", (*schemaText).removeField},
		{"field renamed", (*schemaText).renameField},
		{"field renamed", (*schemaText).renameField},
		{"field retyped", (*schemaText).retypeField},
		{"field retyped", (*schemaText).retypeField},
		{"field made optional or required", (*schemaText).toggleOptional},
		{"field made optional or required", (*schemaText).toggleOptional},
		{"field made an array or one value", (*schemaText).toggleArray},
		{"default added, changed or removed", (*schemaText).toggleDefault},
		{"unique added or removed", (*schemaText).toggleUnique},
		{"sequence added, changed or removed", (*schemaText).toggleSequence},
		{"sequence added, changed or removed", (*schemaText).toggleSequence},
		{"index added or removed", (*schemaText).toggleIndex},
		{"limit added or removed", (*schemaText).toggleLimit},
		{"enum value added", (*schemaText).addValue},
		{"enum value removed", (*schemaText).removeValue},
		{"enum value renamed", (*schemaText).renameValue},
		{"rule of a model added", (*schemaText).addRule},
		{"rule of a model removed", (*schemaText).removeRule},
		{"relation added", (*schemaText).addRelation},
		{"relation changed", (*schemaText).changeRelation},
		{"onDelete changed", (*schemaText).changeDelete},
		{"model added", (*schemaText).addModel},
		{"model removed", (*schemaText).removeModel},
		{"model renamed", (*schemaText).renameModel},
		{"model renamed", (*schemaText).renameModel},
		{"union renamed", (*schemaText).renameUnion},
		{"action added", (*schemaText).addAction},
		{"action removed", (*schemaText).removeAction},
		{"permission added", (*schemaText).addPermission},
		{"permission removed", (*schemaText).removePermission},
		{"custom code changed", (*schemaText).changeCode},
		{"description changed", (*schemaText).changeDoc},
		{"fields in another order", (*schemaText).swapFields},
	}
}

// aNewField is the declaration of a random field of values.
func (s *schemaText) aNewField() string {
	s.readModels()
	typ := choice(s, scalarNames())
	f := &fieldText{name: s.newName(oddFieldNames(), "field"), typ: typ, optional: s.chance(45)}
	if typ == "Enum" {
		f.typ = choice(s, s.enums)
	}
	isOdd := slices.Contains([]string{"File", "Vector", "Password", "Secret"}, typ)
	f.array = s.chance(20) && (!isOdd || typ == "File")
	f.unique = s.chance(15) && !f.array && !isOdd
	f.default_ = s.chance(40) && !isOdd && typ != "Enum" && !f.unique
	f.sequence = f.takesSequence() && s.chance(30)
	text := f.declaration()
	if typ == "Enum" && !f.array && s.chance(50) {
		text += " @default(" + s.aValue(f.typ) + ")"
	}
	return text
}

func (s *schemaText) addField(renamedNames) bool {
	b := choice(s, s.modelBlocks())
	at := b.fieldsBegin + 1
	if len(b.fields) > 0 && s.chance(70) {
		at = choice(s, b.fields) + 1
	}
	s.insert(at, schemaLine{text: "    " + s.aNewField(), isFree: true})
	return true
}

func (s *schemaText) removeField(renamedNames) bool {
	_, at := s.aField(func(match []string) bool { return match[1] != "always" })
	if at < 0 {
		return false
	}
	s.remove(at)
	return true
}

func (s *schemaText) renameField(r renamedNames) bool {
	b, at := s.aField(func(match []string) bool { return match[1] != "always" && match[3] == "" })
	if at < 0 {
		return false
	}
	match := fieldLine.FindStringSubmatch(s.lines[at].text)
	old, name := match[1], s.newName(oddFieldNames(), match[1])
	from := old
	if was, ok := r.fields[[2]string{b.name, old}]; ok {
		delete(r.fields, [2]string{b.name, old})
		from = was
	}
	r.fields[[2]string{b.name, name}] = from
	// Lines that name the field, or its path from elsewhere, follow. Other lines are dropped if they do
	// not fit any longer.
	inside := regexp.MustCompile(`(^|[^@\w"])` + old + `\b`)
	outside := regexp.MustCompile(`\b(` + variableOf(b.name) + `)\.` + old + `\b|(@relation)\(` + old + `\)`)
	for i := range s.lines {
		switch {
		case i == at:
			s.lines[i].text = "    " + name + strings.TrimPrefix(renamedMark.ReplaceAllString(s.lines[i].text, ""), "    "+old) + " @renamed(from: " + from + ")"
		case strings.Contains(s.lines[i].text, "///"), slices.Contains(b.fields, i):
		case i > b.begin && i < b.end:
			s.lines[i].text = inside.ReplaceAllString(s.lines[i].text, "${1}"+name)
		default:
			s.lines[i].text = outside.ReplaceAllStringFunc(s.lines[i].text, func(text string) string { return strings.Replace(text, old, name, 1) })
		}
	}
	return true
}

func (s *schemaText) retypeField(renamedNames) bool {
	_, at := s.aField(func(match []string) bool { return match[1] != "always" && s.isStored(match) })
	if at < 0 {
		return false
	}
	match := fieldLine.FindStringSubmatch(s.lines[at].text)
	typ := choice(s, []string{"Text", "Text", "Markdown", "Number", "Number", "Decimal", "Boolean", "Timestamp", "Date", "Duration", "ID", "State", "Secret"})
	if typ == match[2] {
		return false
	}
	rest := numberMark.ReplaceAllString(limitMark.ReplaceAllString(defaultMark.ReplaceAllString(match[5], ""), ""), "")
	if s.chance(30) && typ != "State" && typ != "Secret" {
		rest += " @default"
	}
	s.lines[at].text = "    " + match[1] + " " + typ + match[3] + match[4] + rest
	return true
}

func (s *schemaText) toggleOptional(renamedNames) bool {
	_, at := s.aField(func(match []string) bool { return match[1] != "always" && (match[3] == "" || s.isStored(match)) })
	if at < 0 {
		return false
	}
	match := fieldLine.FindStringSubmatch(s.lines[at].text)
	mark := map[bool]string{true: "", false: "?"}[match[4] != ""]
	s.lines[at].text = "    " + match[1] + " " + match[2] + match[3] + mark + match[5]
	return true
}

func (s *schemaText) toggleArray(renamedNames) bool {
	_, at := s.aField(func(match []string) bool {
		return match[1] != "always" && s.isStored(match) && !slices.Contains([]string{"Vector", "Password", "Secret"}, match[2])
	})
	if at < 0 {
		return false
	}
	match := fieldLine.FindStringSubmatch(s.lines[at].text)
	mark := map[bool]string{true: "", false: "[]"}[match[3] != ""]
	rest := strings.ReplaceAll(limitMark.ReplaceAllString(defaultMark.ReplaceAllString(match[5], ""), ""), " @unique", "")
	s.lines[at].text = "    " + match[1] + " " + match[2] + mark + match[4] + strings.ReplaceAll(rest, " @index", "")
	return true
}

func (s *schemaText) toggleDefault(renamedNames) bool {
	_, at := s.aField(s.isStored)
	if at < 0 {
		return false
	}
	text := s.lines[at].text
	match := fieldLine.FindStringSubmatch(text)
	bare := defaultMark.ReplaceAllString(text, "")
	switch {
	case bare != text && s.chance(50):
	case slices.Contains(s.enums, match[2]) && match[3] == "":
		bare += " @default(" + s.aValue(match[2]) + ")"
	case match[3] == "" && s.chance(60):
		bare += " @default(" + s.literal(match[2]) + ")"
	default:
		bare += " @default"
	}
	s.lines[at].text = bare
	return true
}

// toggle adds an attribute to a field, or removes it.
func (s *schemaText) toggle(attribute string, suits func(match []string) bool) bool {
	_, at := s.aField(suits)
	if at < 0 {
		return false
	}
	if text := s.lines[at].text; strings.Contains(text, attribute) {
		s.lines[at].text = strings.Replace(text, " "+attribute, "", 1)
	} else {
		s.lines[at].text = text + " " + attribute
	}
	return true
}

func (s *schemaText) toggleUnique(renamedNames) bool {
	return s.toggle("@unique", func(match []string) bool { return match[3] == "" })
}

func (s *schemaText) toggleIndex(renamedNames) bool {
	return s.toggle("@index", func(match []string) bool { return match[3] == "" })
}

func (s *schemaText) toggleSequence(renamedNames) bool {
	b, at := s.aField(func(match []string) bool { return match[1] != "always" && match[2] == "Text" && match[3] == "" })
	if at < 0 {
		return false
	}
	per := ""
	for _, other := range b.fields {
		to := fieldLine.FindStringSubmatch(s.lines[other].text)
		isModel := slices.ContainsFunc(s.modelBlocks(), func(b block) bool { return b.name == to[2] })
		if isModel && to[3]+to[4] == "" && s.chance(50) {
			per = ", per: " + to[1]
		}
	}
	match := fieldLine.FindStringSubmatch(s.lines[at].text)
	bare := "    " + match[1] + " Text" + renamedMark.FindString(match[5])
	if !numberMark.MatchString(match[5]) || s.chance(60) {
		bare += choice(s, []string{` @sequence("N-")`, ` @sequence("N-", 3)`, ` @sequence("it's")`, ` @sequence("", 20)`, ` @sequence("", 0)`})
		bare = strings.TrimSuffix(bare, ")") + per + ")"
	}
	s.lines[at].text = bare
	return true
}

func (s *schemaText) toggleLimit(renamedNames) bool {
	_, at := s.aField(func(match []string) bool { return match[3] != "" && s.isStored(match) || match[2] == "Text" })
	if at < 0 {
		return false
	}
	text := s.lines[at].text
	if bare := limitMark.ReplaceAllString(text, ""); bare != text {
		s.lines[at].text = bare
	} else if fieldLine.FindStringSubmatch(text)[3] != "" {
		s.lines[at].text += fmt.Sprintf(" @maxItems(%d)", 1+s.IntN(9))
	} else {
		s.lines[at].text += fmt.Sprintf(" @maxLength(%d)", 4+s.IntN(40))
	}
	return true
}

// anEnum returns the line of an enum, its name and its values.
func (s *schemaText) anEnum(named string) (at int, name string, values [][]string) {
	if named == "" {
		named = choice(s, s.enums)
	}
	for i, l := range s.lines {
		if match := enumLine.FindStringSubmatch(l.text); match != nil && match[1] == named {
			return i, named, enumValue.FindAllStringSubmatch(match[2], -1)
		}
	}
	panic("there is no enum " + named)
}

func (s *schemaText) setEnum(at int, name string, values [][]string) {
	text := "enum " + name + " {"
	for _, v := range values {
		text += " " + v[1] + v[2]
	}
	s.lines[at].text = text + " }"
}

func (s *schemaText) aValue(enum string) string {
	_, name, values := s.anEnum(enum)
	return name + "." + choice(s, values)[1]
}

func (s *schemaText) addValue(renamedNames) bool {
	at, name, values := s.anEnum("")
	s.number++
	value := []string{"", fmt.Sprintf("%s%d", choice(s, []string{"Value", "true", "x", "Open"}), s.number), ""}
	s.setEnum(at, name, slices.Insert(values, s.IntN(len(values)+1), value))
	return true
}

func (s *schemaText) removeValue(r renamedNames) bool {
	at, name, values := s.anEnum("")
	i := s.IntN(len(values))
	if len(values) < 2 {
		return false
	}
	for old, new := range r.values[name] {
		if new == values[i][1] {
			delete(r.values[name], old)
		}
	}
	s.setEnum(at, name, slices.Delete(values, i, i+1))
	return true
}

func (s *schemaText) renameValue(r renamedNames) bool {
	at, name, values := s.anEnum("")
	i := s.IntN(len(values))
	old := values[i][1]
	s.number++
	value := fmt.Sprintf("%s%d", choice(s, []string{"Other", "Renamed", "null"}), s.number)
	if r.values[name] == nil {
		r.values[name] = map[string]string{}
	}
	if len(r.values[name]) > 0 {
		return false // one of an enum and step is enough
	}
	r.values[name][old] = value
	values[i] = []string{"", value, " @renamed(from: " + old + ")"}
	s.setEnum(at, name, values)
	mention := regexp.MustCompile(`\b` + name + `\.` + old + `\b`)
	for i := range s.lines {
		s.lines[i].text = mention.ReplaceAllString(s.lines[i].text, name+"."+value)
	}
	return true
}

func (s *schemaText) addRule(renamedNames) bool {
	s.readModels()
	m := choice(s, s.models)
	a, b := choice(s, m.fields), choice(s, m.fields)
	text := choice(s, []string{
		fmt.Sprintf("  @unique([%s, %s])", a.name, b.name), fmt.Sprintf("  @index(%s, %s)", a.name, b.name),
		"  @validate(" + s.expression(m, nil, 1, true) + ")", "  @validate(" + s.expression(m, nil, 2, true) + ")",
	})
	for _, b := range s.modelBlocks() {
		if b.name == m.name {
			s.insert(b.end, schemaLine{text: text, isFree: true})
		}
	}
	return true
}

// removeLine removes a random line that begins like this.
func (s *schemaText) removeLine(beginnings ...string) bool {
	var list []int
	for i, l := range s.lines {
		if slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(l.text, b) }) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return false
	}
	s.remove(choice(s, list))
	return true
}

func (s *schemaText) removeRule(renamedNames) bool {
	return s.removeLine("  @validate", "  @unique", "  @index")
}

func (s *schemaText) addPermission(renamedNames) bool {
	s.readModels()
	m := choice(s, s.models)
	kinds := []string{"create", "get", "list", "update", "delete", "read", "write"}
	s.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for _, b := range s.modelBlocks() {
		if b.name == m.name {
			s.insert(b.end, schemaLine{text: fmt.Sprintf("  @permission(%s, actions: [%s])", s.rule(m, nil), strings.Join(kinds[:1+s.IntN(len(kinds))], ", ")), isFree: true})
		}
	}
	return true
}

func (s *schemaText) removePermission(renamedNames) bool {
	return s.removeLine("  @permission", "      @permission")
}

func (s *schemaText) addRelation(renamedNames) bool {
	blocks := s.modelBlocks()
	from, to := choice(s, blocks), choice(s, blocks)
	text := "    " + s.newName(oddFieldNames(), "link") + " " + choice(s, []string{to.name, to.name, "Identity"}) + map[bool]string{true: "?"}[s.chance(80)]
	if s.chance(20) {
		text += " @unique"
	}
	s.insert(from.fieldsBegin+1, schemaLine{text: text, isFree: true})
	return true
}

func (s *schemaText) changeRelation(renamedNames) bool {
	blocks := s.modelBlocks()
	_, at := s.aField(func(match []string) bool {
		return match[3] == "" && slices.ContainsFunc(blocks, func(b block) bool { return b.name == match[2] })
	})
	if at < 0 {
		return false
	}
	match := fieldLine.FindStringSubmatch(s.lines[at].text)
	s.lines[at].text = "    " + match[1] + " " + choice(s, blocks).name + match[4] + regexp.MustCompile(` @relation\(\w+\)`).ReplaceAllString(match[5], "")
	return true
}

func (s *schemaText) changeDelete(renamedNames) bool {
	_, at := s.aField(func(match []string) bool { return match[3] == "" && !s.isStored(match) })
	if at < 0 {
		return false
	}
	s.lines[at].text = deleteMark.ReplaceAllString(s.lines[at].text, "") + " @onDelete(" + choice(s, []string{"cascade", "restrict", "setNull"}) + ")"
	return true
}

func (s *schemaText) addModel(renamedNames) bool {
	s.readModels()
	m := &modelText{name: s.newName(oddModelNames(), "Model")}
	for range 1 + s.IntN(4) {
		declaration := fieldLine.FindStringSubmatch("    " + s.aNewField())
		m.fields = append(m.fields, &fieldText{name: declaration[1], typ: declaration[2], array: declaration[3] != "", optional: declaration[4] != ""})
	}
	s.model(m, 2)
	return true
}

func (s *schemaText) removeModel(renamedNames) bool {
	blocks := s.modelBlocks()
	if len(blocks) < 2 {
		return false
	}
	b := choice(s, blocks)
	s.lines = slices.Delete(s.lines, b.begin, b.end+1)
	return true
}

func (s *schemaText) renameModel(r renamedNames) bool {
	b := choice(s, s.modelBlocks())
	name := s.newName(oddModelNames(), b.name)
	from := b.name
	if was, ok := r.models[b.name]; ok {
		delete(r.models, b.name)
		from = was
	}
	r.models[name] = from
	for key, was := range r.fields {
		if key[0] == b.name {
			delete(r.fields, key)
			r.fields[[2]string{name, key[1]}] = was
		}
	}
	s.renameBlock(b, name, from)
	return true
}

func (s *schemaText) renameUnion(renamedNames) bool {
	var unions []block
	for _, b := range s.blocks() {
		if b.kind == "union" {
			unions = append(unions, b)
		}
	}
	if len(unions) == 0 {
		return false
	}
	b := choice(s, unions)
	s.number++
	s.renameBlock(b, fmt.Sprintf("%sY%d", b.name, s.number), b.name)
	return true
}

// renameBlock renames a model or union wherever it is spoken of.
func (s *schemaText) renameBlock(b block, name, from string) {
	for i := b.end; i > b.begin; i-- {
		if renamedMark.MatchString(s.lines[i].text) && strings.HasPrefix(s.lines[i].text, "  @") {
			s.lines = slices.Delete(s.lines, i, i+1)
			b.end--
		}
	}
	variable := regexp.MustCompile(`(^|[^.\w])` + variableOf(b.name) + `\.`)
	mention := regexp.MustCompile(`\b` + b.name + `\b`)
	for i := range s.lines {
		l := &s.lines[i].text
		if strings.Contains(*l, "///") || strings.Contains(*l, "@renamed") && strings.HasPrefix(*l, "  @") {
			continue
		}
		*l = variable.ReplaceAllString(*l, "${1}"+variableOf(name)+".")
		*l = mention.ReplaceAllString(*l, name)
	}
	s.insert(b.end, schemaLine{text: "  @renamed(from: " + from + ")", isFree: true})
}

func (s *schemaText) addAction(renamedNames) bool {
	s.readModels()
	m := choice(s, s.models)
	begin := len(s.lines)
	s.action(m)
	added := slices.Clone(s.lines[begin:])
	s.lines = s.lines[:begin]
	for _, b := range s.modelBlocks() {
		if b.name == m.name && b.actionsBegin > 0 {
			s.insert(b.actionsBegin+1, added...)
		}
	}
	return true
}

func (s *schemaText) removeAction(renamedNames) bool {
	var heads []int
	for _, l := range s.lines {
		if l.group > 0 && l.isHead && strings.HasPrefix(l.text, "    ") && strings.HasSuffix(l.text, "(") {
			heads = append(heads, l.group)
		}
	}
	if len(heads) == 0 {
		return false
	}
	group := choice(s, heads)
	s.lines = slices.DeleteFunc(s.lines, func(l schemaLine) bool { return l.group == group })
	return true
}

func (s *schemaText) changeCode(renamedNames) bool {
	s.number++
	s.code = s.number
	return true
}

func (s *schemaText) changeDoc(renamedNames) bool {
	s.number++
	_, at := s.aField(func([]string) bool { return true })
	if at < 0 {
		return false
	}
	if strings.Contains(s.lines[at-1].text, "///") {
		s.lines[at-1].text += fmt.Sprint(" ", s.number)
	} else {
		s.insert(at, schemaLine{text: fmt.Sprintf("    /// It's no. %d $$ {{ . }}", s.number)})
	}
	return true
}

func (s *schemaText) swapFields(renamedNames) bool {
	b := choice(s, s.modelBlocks())
	if len(b.fields) < 2 {
		return false
	}
	i, j := choice(s, b.fields), choice(s, b.fields)
	s.lines[i], s.lines[j] = s.lines[j], s.lines[i]
	return true
}
