package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// term is a random expression as text, with enough structure to be made smaller.
type term struct {
	op   string // && || ! or empty for a leaf
	args []*term
	leaf string
}

func (t *term) String() string {
	switch t.op {
	case "":
		return t.leaf
	case "!":
		return "!(" + t.args[0].String() + ")"
	}
	return "(" + t.args[0].String() + " " + t.op + " " + t.args[1].String() + ")"
}

// smaller returns the terms that are t with one operator replaced by an operand.
func (t *term) smaller() []*term {
	all := append([]*term{}, t.args...)
	for i, arg := range t.args {
		for _, s := range arg.smaller() {
			args := append([]*term{}, t.args...)
			args[i] = s
			all = append(all, &term{op: t.op, args: args})
		}
	}
	return all
}

// candidate is a path that expressions can name.
type candidate struct {
	text    string
	typ     expr.Type
	class   expr.Class
	element expr.Class // the class of an array's elements, or of values behind a to-many
	many    []string   // its to-many prefixes
	depth   int
	isList  bool // whether it may be in a list
}

// generator makes random expressions for one place of a schema.
type generator struct {
	random
	paths []candidate
	focus []string // prefixes that the current expression prefers
}

// newGenerator returns a generator of expressions over the rows of a model, nil for none, that can name the inputs.
// Without context and to-ones it serves the @validate of a model.
func newGenerator(r random, s *model.Schema, row *model.Model, inputs []*model.Input, isValidation bool) *generator {
	g := &generator{random: r}
	if row != nil {
		depth := 3
		if isValidation {
			depth = 0
		}
		g.walk(row.Variable, row, nil, nil, depth, false)
	}
	for _, in := range inputs {
		g.add(candidate{text: in.Name, typ: in.Type, isList: true})
	}
	if row != nil && isValidation {
		return g
	}
	g.walk("ctx.identity", modelNamed(s, "Identity"), nil, nil, 3, true)
	g.add(candidate{text: "ctx.isAuthenticated", typ: expr.Type{Kind: expr.Boolean}, isList: true})
	g.add(candidate{text: "ctx.now", typ: expr.Type{Kind: expr.Timestamp}, isList: true})
	for _, text := range []string{"ctx.headers.XTeam", "ctx.env.REGION", "ctx.secrets.KEY"} {
		g.add(candidate{text: text, typ: expr.Type{Kind: expr.Text}, isList: true})
	}
	return g
}

// walk adds a path that has reached a row, and all paths that lead on from it.
func (g *generator) walk(text string, m *model.Model, many []string, steps []expr.Step, depth int, isContext bool) {
	if len(many) == 0 || len(steps) == 0 || !steps[len(steps)-1].StepType().Array {
		g.add(candidate{text: text, typ: expr.Type{Kind: expr.Model, Name: m.Name}, many: many, depth: len(steps), isList: isContext})
	}
	for _, f := range m.Fields {
		name := text + "." + f.Name
		through := append(steps[:len(steps):len(steps)], f)
		if !f.IsRelation() {
			if m.IsIdentity && f.Name != "email" && f.Name != "team" && f.Name != "id" && f.Name != "emailVerified" {
				continue // one Text is like the others
			}
			g.add(candidate{text: name, typ: f.Type, many: many, depth: len(through), isList: isContext})
			continue
		}
		if f.IsToMany() {
			g.add(candidate{text: name, typ: f.Type, many: many, depth: len(through), isList: isContext})
		}
		if depth == 0 {
			if f.FK != nil {
				g.add(candidate{text: name, typ: f.Type, depth: len(through)})
			}
			continue
		}
		choices := many
		if f.IsToMany() {
			choices = append(many[:len(many):len(many)], name)
		}
		g.walk(name, f.Target, choices, through, depth-1, isContext)
	}
}

func (g *generator) add(c candidate) {
	element := c.typ
	element.Array = false
	c.class, c.element = classOf(c.typ), classOf(element)
	g.paths = append(g.paths, c)
}

// expression returns a random expression.
func (g *generator) expression() *term {
	g.focus = nil
	var many []string
	for _, c := range g.paths {
		many = append(many, c.many...)
	}
	if len(many) > 0 {
		for range g.IntN(3) {
			g.focus = append(g.focus, pick(g.random, many))
		}
	}
	if !g.chance(20) {
		return g.term(g.IntN(4))
	}
	// A chain of conjuncts, which may share children in many ways.
	chain := g.term(g.IntN(2))
	for range 2 + g.IntN(2) {
		chain = &term{op: "&&", args: []*term{chain, g.term(g.IntN(2))}}
	}
	return chain
}

func (g *generator) term(depth int) *term {
	if depth == 0 {
		return &term{leaf: g.leaf()}
	}
	switch op := pick(g.random, []string{"&&", "&&", "||", "!"}); op {
	case "!":
		return &term{op: op, args: []*term{g.term(depth - 1)}}
	default:
		return &term{op: op, args: []*term{g.term(depth - 1), g.term(g.IntN(depth))}}
	}
}

// leaf returns a comparison or a Boolean operand.
func (g *generator) leaf() string {
	for {
		var text string
		ok := false
		switch n := g.IntN(100); {
		case n < 8:
			text, ok = g.operand(expr.ClassBoolean, expr.Type{Kind: expr.Boolean})
		case n < 28:
			text, ok = g.membership()
		default:
			text, ok = g.comparison()
		}
		if ok {
			return text
		}
	}
}

// comparison returns a comparison of two classes that the operator table has.
func (g *generator) comparison() (string, bool) {
	pairs := expr.Pairs()
	p := pick(g.random, pairs)
	if p.Left == expr.ClassNull && g.chance(60) {
		return "", false // there are many of these
	}
	ops := []string{"==", "!="}
	if p.Operators&expr.Ordering != 0 {
		ops = append(ops, "<", "<=", ">", ">=")
	}
	typ := g.typeOf(p)
	left, ok := g.operand(p.Left, typ)
	right, ok2 := g.operand(p.Right, typ)
	if !ok || !ok2 {
		return "", false
	}
	if g.chance(50) {
		left, right = right, left
	}
	return left + " " + pick(g.random, ops) + " " + right, true
}

// typeOf returns a type for both sides of a pair.
func (g *generator) typeOf(p expr.Pair) expr.Type {
	for _, class := range []expr.Class{p.Left, p.Right} {
		switch class {
		case expr.ClassTemporal, expr.ClassDuration, expr.ClassEnum, expr.ClassModel, expr.ClassArray, expr.ClassID:
			if c, ok := g.path(func(c candidate) bool { return c.class == class }); ok {
				return c.typ
			}
		}
	}
	return expr.Type{Kind: expr.Text}
}

// membership returns a comparison by in.
func (g *generator) membership() (string, bool) {
	if g.chance(50) {
		typ := expr.Type{Kind: pick(g.random, []expr.Kind{expr.ID, expr.Text, expr.Number, expr.Decimal, expr.Boolean, expr.Timestamp, expr.Date, expr.Duration})}
		if g.chance(15) {
			typ = expr.Type{Kind: expr.Enum, Name: "State"}
		}
		x, ok := g.searched(classOf(typ), typ)
		list, ok2 := g.list(typ)
		return x + " in " + list, ok && ok2
	}
	right, ok := g.path(func(c candidate) bool { return (c.typ.Array || len(c.many) > 0) && c.element != expr.ClassOpaque })
	if !ok {
		return "", false
	}
	typ := right.typ
	typ.Array = false
	x, ok := g.searched(right.element, typ)
	return x + " in " + right.text, ok
}

// searched returns the left side of in, which may be null.
func (g *generator) searched(class expr.Class, typ expr.Type) (string, bool) {
	if g.chance(5) {
		return "null", true
	}
	return g.operand(class, typ)
}

// classOf returns the class of a path of a type.
func classOf(t expr.Type) expr.Class {
	switch {
	case t.Array && t.Kind == expr.Model:
		return expr.ClassToMany
	case t.Array:
		return expr.ClassArray
	}
	return t.Kind.Class()
}

// operand returns an operand of a class. typ is its type or the type of the other side: the names of enums and models
// have to be the same, and literals have to be of it.
func (g *generator) operand(class expr.Class, typ expr.Type) (string, bool) {
	switch class {
	case expr.ClassNull:
		return "null", true
	case expr.ClassTextLiteral:
		if typ.Kind == expr.Model {
			typ = expr.Type{Kind: expr.ID}
		}
		return g.literal(expr.Type{Kind: typ.Kind, Name: typ.Name})
	case expr.ClassList:
		return g.list(typ)
	}
	if g.chance(20) {
		if text, ok := g.calculated(class, typ); ok {
			return text, true
		}
	}
	if g.chance(12) {
		if text, ok := g.function(class, typ); ok {
			return text, true
		}
	}
	isLiteral := class == expr.ClassNumeric || class == expr.ClassBoolean || class == expr.ClassEnum
	if isLiteral && g.chance(25) {
		kind := typ
		if class == expr.ClassNumeric {
			kind = expr.Type{Kind: pick(g.random, []expr.Kind{expr.Number, expr.Decimal})}
		}
		if class == expr.ClassBoolean {
			kind = expr.Type{Kind: expr.Boolean}
		}
		return g.literal(kind)
	}
	c, ok := g.path(func(c candidate) bool {
		if c.class != class {
			return false
		}
		switch class {
		case expr.ClassEnum, expr.ClassModel:
			return c.typ.Name == typ.Name
		case expr.ClassArray:
			return !typ.Array || c.element == classOf(expr.Type{Kind: typ.Kind, Name: typ.Name}) && c.typ.Name == typ.Name
		}
		return true
	})
	return c.text, ok
}

// calculated returns arithmetic whose value is of a class.
func (g *generator) calculated(class expr.Class, typ expr.Type) (string, bool) {
	sum := func(left expr.Class, ops string, right expr.Class) (string, bool) {
		leftType, rightType := typ, typ
		if left != class {
			leftType = expr.Type{Kind: expr.Timestamp}
		}
		if right != class {
			rightType = expr.Type{Kind: expr.Duration}
		}
		l, ok := g.operand(left, leftType)
		if left == expr.ClassText && g.chance(30) {
			l, ok = g.literal(expr.Type{Kind: expr.Text})
		}
		r, ok2 := g.operand(right, rightType)
		if (right == expr.ClassDuration || right == expr.ClassText) && g.chance(30) {
			r, ok2 = g.literal(expr.Type{Kind: map[expr.Class]expr.Kind{expr.ClassDuration: expr.Duration, expr.ClassText: expr.Text}[right]})
		}
		op := ops[g.IntN(len(ops))]
		return fmt.Sprintf("(%s %c %s)", l, op, r), ok && ok2
	}
	switch class {
	case expr.ClassNumeric:
		if g.chance(15) {
			text, ok := g.operand(class, typ)
			return "-(" + text + ")", ok
		}
		return sum(class, "+-*/", class)
	case expr.ClassText:
		return sum(class, "+", class)
	case expr.ClassTemporal:
		return sum(class, "+-", expr.ClassDuration)
	case expr.ClassDuration:
		switch g.IntN(3) {
		case 0:
			return sum(expr.ClassTemporal, "-", expr.ClassTemporal)
		case 1:
			text, ok := g.operand(class, typ)
			return "-" + text, ok
		}
		return sum(class, "+-", class)
	}
	return "", false
}

// function returns a function whose value is of a class.
func (g *generator) function(class expr.Class, typ expr.Type) (string, bool) {
	several := []string{"COALESCE"}
	switch class {
	case expr.ClassNumeric, expr.ClassText, expr.ClassTemporal, expr.ClassDuration:
		several = []string{"LEAST", "GREATEST", "COALESCE"}
	case expr.ClassArray, expr.ClassToMany:
		return "", false
	}
	name, of := pick(g.random, several), class
	switch {
	case class == expr.ClassNumeric && g.chance(20):
		name, of = "LENGTH", expr.ClassText
	case class == expr.ClassNumeric && g.chance(60):
		name = pick(g.random, []string{"ROUND", "FLOOR", "CEIL", "ABS"})
	case class == expr.ClassText && g.chance(50):
		name = pick(g.random, []string{"LOWER", "UPPER", "TRIM"})
	}
	text, ok := g.operand(of, typ)
	if slices.Contains(several, name) {
		for range 1 + g.IntN(2) {
			other, ok2 := g.operand(of, typ)
			text, ok = text+", "+other, ok && ok2
		}
	}
	if name == "ROUND" && g.chance(60) {
		text += ", " + strconv.Itoa(g.IntN(4))
	}
	return name + "(" + text + ")", ok
}

// path returns a path that fits, preferably one that shares a to-many prefix with
// others of the expression, and not too often one of the many long ones.
func (g *generator) path(fits func(candidate) bool) (candidate, bool) {
	byDepth := map[int][]candidate{}
	depths := []int{}
	focused := len(g.focus) > 0 && g.chance(60)
	for _, c := range g.paths {
		if !fits(c) || focused && !g.isFocused(c) {
			continue
		}
		if byDepth[c.depth] == nil {
			depths = append(depths, c.depth)
		}
		byDepth[c.depth] = append(byDepth[c.depth], c)
	}
	switch {
	case len(depths) > 0:
		return pick(g.random, byDepth[pick(g.random, depths)]), true
	case focused:
		focus := g.focus
		defer func() { g.focus = focus }()
		g.focus = nil
		return g.path(fits)
	}
	return candidate{}, false
}

func (g *generator) isFocused(c candidate) bool {
	for _, p := range g.focus {
		if strings.HasPrefix(c.text+".", p+".") {
			return true
		}
	}
	return false
}

// list returns a list of elements that can be compared with a type.
func (g *generator) list(typ expr.Type) (string, bool) {
	typ.Array = false
	var elements []string
	for range g.IntN(4) {
		text, ok := g.element(typ)
		if !ok {
			return "", false
		}
		elements = append(elements, text)
	}
	return "[" + strings.Join(elements, ", ") + "]", true
}

func (g *generator) element(typ expr.Type) (string, bool) {
	class := classOf(typ)
	if g.chance(50) {
		c, ok := g.path(func(c candidate) bool { return c.isList && c.class == class && c.typ.Name == typ.Name })
		if ok {
			return c.text, true
		}
	}
	if typ.Kind == expr.Number && g.chance(30) {
		typ.Kind = expr.Decimal
	}
	if typ.Kind == expr.Model {
		typ = expr.Type{Kind: expr.ID}
	}
	return g.literal(typ)
}

// literal returns a literal of a type.
func (g *generator) literal(t expr.Type) (string, bool) {
	switch t.Kind {
	case expr.File, expr.Vector, expr.Password, expr.Secret, expr.Model:
		return "", false
	}
	v := pick(g.random, domain(t))
	switch t.Kind {
	case expr.Number, expr.Decimal, expr.Boolean:
		return v, true
	case expr.Enum:
		return t.Name + "." + v, true
	}
	return strconv.Quote(v), true
}

// inputs declares inputs of all types: explicit ones, which may be absent, and the
// optional fields of the model, whose inputs may be null as well. explicit are the
// names of the explicit ones.
func (m *testModel) inputs() (explicit []string, reads, writes string) {
	var declared, implicit []string
	for _, scalar := range fieldNames() {
		kind, name := scalar[0], scalar[1]
		title := strings.ToUpper(name[:1]) + name[1:]
		explicit = append(explicit, "in"+title, "opt"+title, "list"+title)
		declared = append(declared,
			fmt.Sprintf("in%s: %s", title, kind), fmt.Sprintf("opt%s: %s?", title, kind), fmt.Sprintf("list%s: %s[]?", title, kind))
		if m.hasField(name + "Maybe") {
			implicit = append(implicit, name+"Maybe?")
		}
		if m.hasField(name + "ListMaybe") {
			implicit = append(implicit, name+"ListMaybe?")
		}
	}
	return explicit, strings.Join(declared, ", "), strings.Join(implicit, ", ")
}

// hasInput tells whether the actions of the model have an input.
func (m *testModel) hasInput(name string) bool {
	return !strings.HasSuffix(name, "Maybe") || m.hasField(name)
}

func (m *testModel) hasField(name string) bool {
	return slices.ContainsFunc(m.fields, func(f string) bool { return strings.HasPrefix(f, name+" ") })
}
