package check

import (
	"strings"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// declare enters every declaration under its name. Of two with one name, the
// first is kept; the other is reported and not looked into.
func (c *checker) declare() {
	var tables, roles, paths clashes
	tables.add(model.SnakeForm(identityName), identityName, syntax.Span{})
	for _, f := range c.files {
		if f.Incomplete() {
			c.loseDecls(f.Tokens)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *syntax.Model:
				c.declareModel(d, &tables)
			case *syntax.Union:
				c.declareUnion(d, &tables)
			case *syntax.Enum:
				c.declareEnum(d)
			case *syntax.Message:
				c.declareMessage(d)
			case *syntax.Role:
				c.declareRole(d, &roles)
			case *syntax.API:
				c.declareAPI(d, &paths)
			case *syntax.Later:
				if d.Name != nil && d.Keyword.Name == "task" { // a task declares a type
					c.lost[d.Name.Name] = true
				}
			}
		}
	}
}

// loseDecls notes every name that a keyword introduces in a file with syntax
// errors: the declaration may be missing from its tree.
func (c *checker) loseDecls(tokens []syntax.Token) {
	for i, t := range tokens[:max(len(tokens)-1, 0)] {
		if next := tokens[i+1]; t.Kind == syntax.TokenName && next.Kind == syntax.TokenName {
			switch t.Text {
			case "model", "union", "enum", "message", "role", "api":
				c.lost[next.Text] = true
			case "job":
				c.brokenJobs = true
			}
		}
	}
}

// mayMissFields tells whether a field may be missing from the tree of a model or
// union: a block of fields did not parse throughout, or text outside of all members
// did not, which may have been such a block.
func mayMissFields(d syntax.Decl, members []syntax.Member) bool {
	isElsewhere := false
	for _, m := range members {
		if _, ok := m.(*syntax.FieldsBlock); ok && m.Incomplete() {
			return true
		}
		isElsewhere = isElsewhere || m.Incomplete()
	}
	return d.Incomplete() && !isElsewhere
}

// declareType enters a type and tells whether its name was free and allowed. A
// name in error is entered too, unless it is a duplicate, so that its uses are not
// reported as well.
func (c *checker) declareType(name *syntax.Ident, t *typeDecl, isIncomplete bool) bool {
	if isReservedType(name.Name) {
		c.report(ReservedName, name.Span(), reservedType(name.Name))
		return false
	}
	if earlier := c.types[name.Name]; earlier != nil {
		c.report(DuplicateType, name.Span(), duplicateType(name.Name), note(earlier.span, declaredHere(name.Name)))
		return false
	}
	t.span = name.Span()
	c.types[name.Name] = t
	c.incomplete[name.Name] = isIncomplete
	return true
}

// checkTable checks the name of a model or union as the name of a table.
func (c *checker) checkTable(name *syntax.Ident, tables *clashes) {
	if !isTypeName(name.Name) {
		return
	}
	if isReservedVariable(name.Name) {
		c.report(ReservedName, name.Span(), reservedVariable(name.Name, model.Variable(name.Name)))
	}
	c.checkSnakeForm(name, model.MaxTableName, tables)
}

// checkSnakeForm checks the snake form of a name, which the database uses: it has at most some bytes, and no other of its
// kind has it.
func (c *checker) checkSnakeForm(name *syntax.Ident, most int, taken *clashes) {
	snake := model.SnakeForm(name.Name)
	if len(snake) > most {
		c.report(NameTooLong, name.Span(), nameTooLong(name.Name, snake, most))
	}
	if earlier, found := taken.add(snake, name.Name, name.Span()); found {
		c.report(NameClash, name.Span(), nameClash(name.Name, earlier.name, snake), clashNotes(earlier)...)
	}
}

// clashNotes points to the earlier name, unless it is built in.
func clashNotes(earlier namedPlace) []syntax.Note {
	if earlier.span.File == nil {
		return nil
	}
	return []syntax.Note{note(earlier.span, declaredHere(earlier.name))}
}

func (c *checker) declareModel(d *syntax.Model, tables *clashes) {
	m := &model.Model{Doc: text(d.Doc)}
	if !c.declareType(d.Name, &typeDecl{model: m}, d.Incomplete()) {
		return
	}
	c.checkTable(d.Name, tables)
	m.Name, m.Variable, m.Table, m.Span = d.Name.Name, model.Variable(d.Name.Name), model.SnakeForm(d.Name.Name), d.Name.Span()
	if mayMissFields(d, d.Members) {
		c.breakField(m.Name, "")
	}
	c.models = append(c.models, &modelDecl{Model: m, tree: d, ruleCount: map[model.Kind]bool{}})
}

func (c *checker) declareUnion(d *syntax.Union, tables *clashes) {
	u := &model.Union{Doc: text(d.Doc)}
	if !c.declareType(d.Name, &typeDecl{union: u}, d.Incomplete()) {
		return
	}
	c.checkTable(d.Name, tables)
	u.Name, u.Variable, u.Table, u.Span = d.Name.Name, model.Variable(d.Name.Name), model.SnakeForm(d.Name.Name), d.Name.Span()
	if mayMissFields(d, d.Members) {
		c.breakField(u.Name, "")
	}
	c.unions = append(c.unions, &unionDecl{Union: u, tree: d, ruleCount: map[model.Kind]bool{}})
	c.schema.Unions = append(c.schema.Unions, u)
}

func (c *checker) declareEnum(d *syntax.Enum) {
	e := &model.Enum{Doc: text(d.Doc)}
	if !c.declareType(d.Name, &typeDecl{enum: e}, d.Incomplete()) {
		return
	}
	e.Name, e.Span = d.Name.Name, d.Name.Span()
	c.enums = append(c.enums, &enumDecl{e, d})
	c.schema.Enums = append(c.schema.Enums, e)
}

func (c *checker) declareMessage(d *syntax.Message) {
	m := &model.Message{Doc: text(d.Doc)}
	if !c.declareType(d.Name, &typeDecl{message: m}, d.Incomplete()) {
		return
	}
	m.Name, m.Span = d.Name.Name, d.Name.Span()
	c.messages = append(c.messages, &messageDecl{m, d})
	c.schema.Messages = append(c.schema.Messages, m)
}

// declareRole enters a role and its members. Generated SQL has a column for each role.
func (c *checker) declareRole(d *syntax.Role, roles *clashes) {
	if earlier := c.roles[d.Name.Name]; earlier != nil {
		c.report(DuplicateRole, d.Name.Span(), duplicateRole(d.Name.Name), note(earlier.Span, declaredHere(d.Name.Name)))
		return
	}
	c.checkSnakeForm(d.Name, model.MaxTableName, roles)
	r := &model.Role{Name: d.Name.Name, Doc: text(d.Doc), Span: d.Name.Span()}
	for _, b := range d.Blocks {
		for _, member := range b.Members {
			value := strings.ToLower(member.Value)
			at := strings.LastIndexByte(value, '@')
			switch {
			case b.Keyword.Name == "domains" && at >= 0:
				c.report(BadRoleMember, member.Span(), badDomain(member.Value))
			case b.Keyword.Name == "domains":
				r.Domains = append(r.Domains, value)
			case b.Keyword.Name == "emails" && (at <= 0 || at == len(value)-1):
				c.report(BadRoleMember, member.Span(), badEmail(member.Value))
			case b.Keyword.Name == "emails":
				r.Emails = append(r.Emails, value)
			}
		}
	}
	c.roles[r.Name] = r
	c.roleTrees = append(c.roleTrees, d)
	c.schema.Roles = append(c.schema.Roles, r)
}

func (c *checker) declareAPI(d *syntax.API, paths *clashes) {
	name := d.Name.Name
	if isReservedAPI(name) {
		c.report(ReservedName, d.Name.Span(), reservedAPI(name))
	}
	path := strings.ToLower(name)
	if earlier, found := paths.add(path, name, d.Name.Span()); found {
		c.report(NameClash, d.Name.Span(), apiClash(name, earlier.name, path), clashNotes(earlier)...)
		return
	}
	c.apis = append(c.apis, &apiDecl{&model.API{Name: name, Path: path, Doc: text(d.Doc)}, d})
}

// checkEnums checks the values of enums.
func (c *checker) checkEnums() {
	for _, e := range c.enums {
		seen := map[string]*model.EnumValue{}
		for _, v := range e.tree.Values {
			if earlier := seen[v.Name.Name]; earlier != nil {
				c.report(DuplicateEnumValue, v.Name.Span(), duplicateEnumValue(e.Name, v.Name.Name),
					note(earlier.Span, declaredHere(v.Name.Name)))
				continue
			}
			value := &model.EnumValue{Name: v.Name.Name, Doc: text(v.Doc), Span: v.Name.Span()}
			seen[value.Name] = value
			e.Values = append(e.Values, value)
		}
		if len(e.tree.Values) == 0 && !e.tree.Incomplete() {
			c.report(EmptyEnum, e.Span, emptyEnum(e.Name))
		}
		c.checkEnumRenames(e)
	}
}

// checkEnumRenames reads @renamed on the values of an enum.
func (c *checker) checkEnumRenames(e *enumDecl) {
	var r renames
	for _, v := range e.Values {
		r.existing = append(r.existing, v.Name)
	}
	i := 0
	for _, tree := range e.tree.Values {
		if i == len(e.Values) || e.Values[i].Span != tree.Name.Span() {
			continue // a duplicate
		}
		for _, a := range c.allowedAttributes(onEnumValue, tree.Attrs) {
			if a.Name.Name == "renamed" {
				e.Values[i].RenamedFrom, e.Values[i].RenamedAt = c.renamed(a, &r)
			}
		}
		i++
	}
}
