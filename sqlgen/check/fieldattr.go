package check

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sternpost/sternpost/sql/pattern"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// The bounds of @maxSize, and the size without it, in bytes.
const (
	maxFileSize     = 5_000_000_000
	defaultFileSize = 100_000_000
)

// maxLimit bounds limits of lengths: the greatest count of Postgres.
const maxLimit = 2_147_483_647

// checkFieldAttrs reads the attributes of fields; @unique and @relation were read
// with the field.
func (c *checker) checkFieldAttrs() {
	for _, m := range c.models {
		r := renames{}
		for _, tree := range syntax.FieldsOf(m.tree.Members) {
			r.existing = append(r.existing, tree.Name.Name)
		}
		for _, f := range m.fieldDecls {
			if f.Type.Kind == expr.File {
				f.MaxSize = defaultFileSize
			}
			for _, a := range f.attrs {
				c.checkFieldAttr(f, a, &r)
			}
			c.checkLimits(f)
		}
	}
}

func (c *checker) checkFieldAttr(f *fieldDecl, a *syntax.Attribute, r *renames) {
	switch a.Name.Name {
	case "unique":
		c.checkUnique(f, a)
	case "index":
		c.checkIndex(f, a)
	case "default":
		c.checkDefault(f, a)
	case "sequence":
		c.checkSequence(f, a)
	case "onDelete":
		c.checkOnDelete(f, a)
	case "renamed":
		f.RenamedFrom, f.RenamedAt = c.renamed(a, r)
	case "accepts":
		c.checkAccepts(f, a)
	case "maxSize":
		c.checkMaxSize(f, a)
	case "minLength":
		f.MinLength = c.limit(a, isText(f), limitNeedsText(a.Name.Name, f.Field))
	case "maxLength":
		f.MaxLength = c.limit(a, isText(f), limitNeedsText(a.Name.Name, f.Field))
	case "notBlank":
		f.NotBlank = c.isSuited(a, isText(f), limitNeedsText(a.Name.Name, f.Field)) && c.noArgument(a)
	case "pattern":
		c.checkPattern(f, a)
	case "format":
		c.checkFormat(f, a)
	case "hidden":
		c.checkHidden(f, a)
	case "allow":
		if !f.isComputed() {
			c.report(MisplacedAttribute, a.Name.Span(), misplacedAttribute("allow", onUntyped))
			return
		}
		c.checkAllow(&f.allowances, fieldWarnings(), a)
	case "minItems":
		f.MinItems = c.limit(a, f.Type.Array, limitNeedsArray(a.Name.Name, f.Field))
	case "maxItems":
		f.MaxItems = c.limit(a, f.Type.Array && !f.IsRelation(), limitNeedsArray(a.Name.Name, f.Field))
	}
}

// takesIndex tells whether a field's values can be unique or indexed.
func takesIndex(f *model.Field) bool {
	if f.Column == "" || f.Type.Array {
		return false
	}
	return !f.Type.Kind.IsOpaque()
}

func (c *checker) checkUnique(f *fieldDecl, a *syntax.Attribute) {
	if f.doubtful && !f.IsToMany() {
		return
	}
	if !takesIndex(f.Field) {
		c.report(UniqueNotAllowed, a.Name.Span(), uniqueNotAllowed(f.Field))
	}
	f.Unique = true
}

func (c *checker) checkIndex(f *fieldDecl, a *syntax.Attribute) {
	if f.doubtful && !f.IsToMany() || !c.noArgument(a) {
		return
	}
	if !takesIndex(f.Field) {
		c.report(IndexNotAllowed, a.Name.Span(), indexNotAllowed(f.Field))
		return
	}
	f.Index = true
	f.Model.Indexes = append(f.Model.Indexes, &model.Index{Fields: []*model.Field{f.Field}, Span: a.Span()})
}

func (c *checker) checkDefault(f *fieldDecl, a *syntax.Attribute) {
	switch kind := f.Type.Kind; {
	case kind == expr.Model || kind.IsOpaque() && !f.Type.Array:
		c.report(DefaultNotAllowed, a.Name.Span(), defaultNotAllowed(f.Field))
		return
	case kind == expr.Enum && len(a.Args) == 0 && !f.Type.Array:
		c.report(DefaultNeedsValue, a.Name.Span(), defaultNeedsValue(f.Name, f.Enum))
		return
	}
	if len(a.Args) == 0 {
		f.Default = &model.Default{Bare: true}
		return
	}
	value := c.oneArgument(a)
	if value == nil {
		return
	}
	target := expr.Target{Type: f.Type, Optional: f.Optional, Name: f.Name}
	s := &scope{c: c, place: expr.Default}
	if node := s.checkValue(value, target); node != nil {
		f.Default = &model.Default{Value: node}
	}
}

func (c *checker) checkOnDelete(f *fieldDecl, a *syntax.Attribute) {
	value := c.oneArgument(a)
	if value == nil {
		return
	}
	how := bareName(value)
	if how == nil || how.Name != string(model.Cascade) && how.Name != string(model.Restrict) && how.Name != string(model.SetNull) {
		c.badArguments(a, value.Span())
		return
	}
	switch {
	case f.doubtful && !f.IsToMany(), f.isComputed():
	case f.Column == "":
		c.report(OnDeleteMisplaced, a.Name.Span(), onDeleteMisplaced(f.Field), inverseNotes(f.Field)...)
	case how.Name == string(model.SetNull) && !f.Optional:
		c.report(OnDeleteNeedsOptional, how.Span(), onDeleteNeedsOptional(f.Name))
	default:
		f.OnDelete = model.OnDelete(how.Name)
	}
}

// inverseNotes points to the side of a relation that has the key.
func inverseNotes(f *model.Field) []syntax.Note {
	if f.Inverse == nil || f.Inverse.Span.File == nil {
		return nil
	}
	return []syntax.Note{note(f.Inverse.Span, keyIsHere(f.Inverse.Model.Name, f.Inverse.Name))}
}

func (c *checker) checkAccepts(f *fieldDecl, a *syntax.Attribute) {
	value := c.oneArgument(a)
	if value == nil {
		return
	}
	list, ok := value.(*syntax.List)
	if !ok || len(list.Elements) == 0 {
		c.badArguments(a, value.Span())
		return
	}
	for _, e := range list.Elements {
		s, ok := e.(*syntax.String)
		switch {
		case !ok:
			c.badArguments(a, e.Span())
		case !isContentPattern(s.Value):
			c.report(BadPattern, s.Span(), badPattern(s.Value))
		case !slices.Contains(f.Accepts, strings.ToLower(s.Value)):
			f.Accepts = append(f.Accepts, strings.ToLower(s.Value))
		}
	}
}

// isContentPattern tells whether a text is type/subtype or type/*, made of the
// tokens of RFC 9110.
func isContentPattern(pattern string) bool {
	kind, subtype, found := strings.Cut(pattern, "/")
	return found && isToken(kind) && (subtype == "*" || isToken(subtype))
}

// isToken tells whether a text is a token of RFC 9110 without an asterisk.
func isToken(s string) bool {
	for i := range len(s) {
		b := s[i]
		isAlphanumeric := 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
		if !isAlphanumeric && strings.IndexByte("!#$%&'+-.^_`|~", b) < 0 {
			return false
		}
	}
	return s != ""
}

func (c *checker) checkMaxSize(f *fieldDecl, a *syntax.Attribute) {
	value := c.oneArgument(a)
	if value == nil {
		return
	}
	s, ok := value.(*syntax.String)
	if !ok {
		c.badArguments(a, value.Span())
		return
	}
	size, problem := parseSize(s.Value)
	if problem != "" {
		c.report(BadSize, s.Span(), problem)
		return
	}
	f.MaxSize = size
}

func isText(f *fieldDecl) bool { return f.Type.Kind.Class() == expr.ClassText }

// isSuited reports a limit on a field of a type that it cannot bound; unsuited says why.
func (c *checker) isSuited(a *syntax.Attribute, isSuited bool, unsuited string) bool {
	if !isSuited {
		c.report(BadLimit, a.Name.Span(), unsuited)
	}
	return isSuited
}

// checkPattern reads a @pattern.
func (c *checker) checkPattern(f *fieldDecl, a *syntax.Attribute) {
	if !c.isSuited(a, isText(f), limitNeedsText(a.Name.Name, f.Field)) {
		return
	}
	if len(a.Args) == 0 || len(a.Args) > 2 {
		c.badArguments(a, a.Name.Span())
		return
	}
	p := &model.Pattern{}
	for i, arg := range a.Args {
		text, isText := arg.Value.(*syntax.String)
		if !isText || arg.Target != nil || (i == 0) != (arg.Label == nil) || arg.Label != nil && arg.Label.Name != "message" {
			c.badArgument(a, arg)
			return
		}
		if i == 1 {
			p.Message = text.Value
			continue
		}
		var problem string
		if p.Written, problem = pattern.Read(text.Value); problem != "" {
			c.report(BadTextPattern, text.Span(), badTextPattern(problem))
			return
		}
		p.Source = text.Value
	}
	f.Pattern = p
}

// checkFormat reads a @format.
func (c *checker) checkFormat(f *fieldDecl, a *syntax.Attribute) {
	if !c.isSuited(a, f.Type.Kind == expr.Text, formatNeedsText(f.Field)) {
		return
	}
	value := c.oneArgument(a)
	if value == nil {
		return
	}
	name, formats := bareName(value), model.Formats()
	i := slices.IndexFunc(formats, func(format *model.Format) bool { return name != nil && format.Name == name.Name })
	if i < 0 {
		c.badArguments(a, value.Span())
		return
	}
	f.Format = formats[i]
}

// limit reads a limit such as @maxLength; unsuited says why it cannot bound a field of
// another type. It returns 0 on an error.
func (c *checker) limit(a *syntax.Attribute, isSuited bool, unsuited string) int64 {
	if !c.isSuited(a, isSuited, unsuited) {
		return 0
	}
	value := c.oneArgument(a)
	if value == nil {
		return 0
	}
	number, ok := value.(*syntax.Number)
	if !ok {
		c.badArguments(a, value.Span())
		return 0
	}
	n, err := strconv.ParseInt(number.Text, 10, 64)
	if !number.IsInteger || err != nil || n < 1 || n > maxLimit {
		c.report(BadLimit, number.Span(), badLimit(number.Text))
		return 0
	}
	return n
}

// checkLimits reports limits that no value satisfies, and a @default beyond them.
func (c *checker) checkLimits(f *fieldDecl) {
	if f.MaxLength > 0 && f.MinLength > f.MaxLength || f.MaxItems > 0 && f.MinItems > f.MaxItems {
		c.report(BadLimit, f.Span, limitsExclude(f.Name))
	}
	if f.Default == nil {
		return
	}
	value, span := f.Default.Value, f.Span
	switch {
	case !f.Default.Bare:
		span = value.Span()
	case f.Type.Array:
		value = &expr.List{}
	case isText(f):
		value = &expr.Literal{Value: ""}
	}
	if problem := beyondLimits(f.Field, value); problem != "" {
		c.report(BadLimit, span, problem)
	}
}

// beyondLimits says which limit of a field a constant exceeds, "" if it exceeds none.
func beyondLimits(f *model.Field, value expr.Node) string {
	elements := []expr.Node{value}
	if list, ok := value.(*expr.List); ok {
		elements = list.Elements
		if n := int64(len(elements)); f.MaxItems > 0 && n > f.MaxItems || n < f.MinItems {
			return wrongItems(f, n)
		}
	}
	for _, e := range elements {
		l, ok := e.(*expr.Literal)
		if !ok {
			continue
		}
		text, ok := l.Value.(string)
		if !ok {
			continue
		}
		switch length := int64(utf8.RuneCountInString(text)); {
		case f.MaxLength > 0 && length > f.MaxLength, length < f.MinLength:
			return wrongLength(f, length)
		case f.NotBlank && matches(pattern.Blank, text):
			return blankText(f)
		case f.Pattern != nil && !matches(f.Pattern.Written, text):
			return unmatchedText(f, text, `@pattern("`+f.Pattern.Source+`")`)
		case f.Format != nil && !matches(f.Format.Pattern, text):
			return unmatchedText(f, text, "@format("+f.Format.Name+")")
		}
	}
	return ""
}

// matches tells whether a text matches a pattern that was read.
func matches(written, text string) bool {
	m, err := pattern.Compile(written)
	if err != nil {
		panic("check: " + err.Error())
	}
	return m.Match([]byte(text))
}

// parseSize reads a size such as "2.5 MiB", rounded down to bytes. The problem is
// a message, or "".
func parseSize(s string) (bytes int64, problem string) {
	rest := strings.TrimLeft(s, "0123456789.")
	number := s[:len(s)-len(rest)]
	unit := strings.TrimLeft(rest, " \t\n\v\f\r")
	factor := int64(0)
	switch strings.ToUpper(unit) {
	case "B":
		factor = 1
	case "KB":
		factor = 1e3
	case "MB":
		factor = 1e6
	case "GB":
		factor = 1e9
	case "KIB":
		factor = 1 << 10
	case "MIB":
		factor = 1 << 20
	case "GIB":
		factor = 1 << 30
	default:
		return 0, badSizeUnit(s)
	}
	whole, fraction, hasPoint := strings.Cut(number, ".")
	if whole == "" || strings.Contains(fraction, ".") || hasPoint && fraction == "" || len(number) > 40 {
		return 0, badSizeNumber(s)
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, badSizeNumber(s)
	}
	r.Mul(r, new(big.Rat).SetInt64(factor))
	floor := new(big.Int).Quo(r.Num(), r.Denom())
	if floor.Sign() <= 0 || floor.Cmp(big.NewInt(maxFileSize)) > 0 {
		return 0, sizeOutOfRange(s)
	}
	return floor.Int64(), ""
}
