package expr

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// The messages of this package, one function each, in the order of the codes.

func unknownName(name string, candidates []string) string {
	return fmt.Sprintf("nothing here is called %q%s", name, didYouMean(name, candidates))
}

func missingVariable(name, variable string) string {
	return fmt.Sprintf("nothing here is called %q (did you mean \"%s.%s\"?)", name, variable, name)
}

func meantRow(name, variable string) string {
	return fmt.Sprintf("nothing here is called %q: the row is called %q", name, variable)
}

func meantCaller(name string) string {
	return fmt.Sprintf("nothing here is called %q: the caller is ctx.identity", name)
}

func rowNotNameable(variable string) string {
	return fmt.Sprintf("%s cannot be used here: there is no row, only inputs and ctx", variable)
}

func ctxNotNameable() string {
	return "ctx cannot be used here: the result must not depend on the caller or the time"
}

func bareCtx() string {
	return "ctx is not a value by itself; it has " + joined(ctxParts())
}

func bareCtxPart(part string) string {
	return fmt.Sprintf("ctx.%s is not a value by itself; name an entry, as in ctx.%s.NAME", part, part)
}

func unknownCtx(name string) string {
	return fmt.Sprintf("ctx has no %q%s; it has %s", name, didYouMean(name, ctxParts()), joined(ctxParts()))
}

func undeclared(part, name string, declared []string) string {
	return fmt.Sprintf("the configuration declares no %q under %s%s", name,
		map[string]string{"env": "environment", "secrets": "secrets"}[part], didYouMean(name, declared))
}

func unknownField(model, name string, fields []string) string {
	return fmt.Sprintf("%s has no field %q%s", model, name, didYouMean(name, fields))
}

func pastScalar(name, before string, typ Type) string {
	return fmt.Sprintf("%s is of type %s and has no field %q", before, typ, name)
}

func bareEnum(enum string, values []string) string {
	if len(values) == 0 {
		return fmt.Sprintf("%s is an enum; name one of its values", enum)
	}
	return fmt.Sprintf("%s is an enum; name one of its values, as in %s.%s", enum, enum, values[0])
}

func unknownEnumValue(enum, name string, values []string) string {
	return fmt.Sprintf("enum %s has no value %q%s", enum, name, didYouMean(name, values))
}

func unknownArm(source Node, text string, names []string) string {
	what := map[string]string{"sourceModel": "source model", "sourceArm": "arm"}[lastStep(source)]
	return fmt.Sprintf("the union has no %s %q%s", what, text, didYouMean(text, names))
}

func notBoolean(n Node) string {
	return fmt.Sprintf("this must be a condition, but it is %s", described(n))
}

func operandTypes(op syntax.Operator, left, right Node) string {
	l, r := operandOf(left), operandOf(right)
	message := fmt.Sprintf("%s cannot be compared with %s by %s", described(left), described(right), op)
	switch {
	case op == syntax.In && isSingle(r.class):
		message = fmt.Sprintf("the right side of in must be a list, an array or a to-many, but it is %s", described(right))
	case op == syntax.In:
		message = fmt.Sprintf("%s cannot be in %s", described(left), described(right))
	case operators(op) == Ordering && l.class == ClassEnum && r.class == ClassEnum:
		message = "an enum has no order; compare it by == or !="
	case operators(op) == Equality && (l.class == ClassToMany || r.class == ClassToMany):
		message += "; use in to find a row in a to-many"
	case operators(op) == Equality && (l.class == ClassArray) != (r.class == ClassArray) && (isSingle(l.class) || isSingle(r.class)):
		message += "; use in to find an element in an array"
	case l.class == ClassEnum && r.class == ClassTextLiteral:
		message += fmt.Sprintf("; a value of the enum is written %s.%s", l.name, right.(*Literal).Value)
	case l.class == ClassTextLiteral && r.class == ClassEnum:
		message += fmt.Sprintf("; a value of the enum is written %s.%s", r.name, left.(*Literal).Value)
	}
	return message
}

func sourceOperandTypes(source Node) string {
	return fmt.Sprintf("%s can only be compared with text literals, by ==, != or in", lastStep(source))
}

func nestedComparison(op syntax.Operator) string {
	return fmt.Sprintf("the result of an operator cannot be compared by %s; join conditions by && and ||", op)
}

func conditionAsValue(name string) string {
	return fmt.Sprintf("%s is a condition, not a value: join it with others by && and ||", name)
}

func conditionReadsContext(name string) string {
	return fmt.Sprintf("the condition %s reads ctx, which cannot be named here", name)
}

func listElementForm() string {
	return "an element of a list must be a literal other than null, an input, or a path from ctx"
}

func listElementType(n Node, other Type) string {
	return fmt.Sprintf("an element that is %s cannot be compared with %s", described(n), other)
}

func nullElement() string {
	return "an element of an array is never null: remove null"
}

func elementNotLiteral() string {
	return "an element of a list that is assigned must be a literal"
}

func writeOnlyField(typ Type) string {
	return fmt.Sprintf("a %s cannot be read; it can only be compared with null by == or !=", typ)
}

func writeOnlyValue(typ Type, target Target) string {
	return fmt.Sprintf("a %s cannot be assigned to %s, which is of type %s", typ, target.Name, target.Type)
}

func writeOnlyPath(typ Type) string {
	return fmt.Sprintf("a stored %s cannot be assigned; only an input of that type, or a Text, can", typ)
}

func listInput(name string) string {
	return fmt.Sprintf("input %q of a list is a filter, not one value: an expression can use only an input with a label, such as \"my: Text\"", name)
}

func manyInput(name string) string {
	return fmt.Sprintf("input %q has a value for each created row, so an expression cannot use it", name)
}

func rowInRule(variable string) string {
	return fmt.Sprintf("%s cannot be used in a rule for read or write: these rules have no row", variable)
}

func notOwnField(p *Path, variable string) string {
	switch {
	case len(p.Steps) == 0:
		return fmt.Sprintf("@validate of a model tests fields; name one, as in %s.id", variable)
	case p.isWriteOnly():
		return fmt.Sprintf("@validate of a model cannot read %s, which is in another row", pathText(variable, p))
	}
	return fmt.Sprintf("@validate of a model tests values of its row and of rows to which to-ones lead; %s has many", pathText(variable, p))
}

func toOneInEvent() string {
	return "in the condition of @on, a relation can only be compared with null by == or !="
}

func typeMismatch(n Node, target Target) string {
	return fmt.Sprintf("%s is of type %s and does not take %s", target.Name, target.Type, described(n))
}

func nullIntoRequired(target Target) string {
	return fmt.Sprintf("%s is required and does not take null", target.Name)
}

func badLiteral(kind Kind) string { return "this " + kinds[kind].wrong }

func defaultNotConstant() string {
	return "a default must be a literal, a list of literals, or ctx.now"
}

func manyValues() string {
	return "this path passes a to-many, so it has many values"
}

func operatorInSet() string {
	return "the value of @set is a literal, an input, a path, or arithmetic over these"
}

func operatorInArm() string {
	return "an arm gives a field a literal, a path of its row, or arithmetic over these"
}

func noArithmetic(op syntax.Operator, left, right Node) string {
	return fmt.Sprintf("there is no operator %s between %s and %s", op, described(left), described(right))
}

func noOpposite(n Node) string {
	return fmt.Sprintf("only a number or a Duration can be negated, but this is %s", described(n))
}

func arithmeticOfCondition() string {
	return "a condition cannot be an operand of arithmetic or of a function"
}

// functionsMeant has the functions of other languages, in small letters, with what to write instead.
var functionsMeant = map[string]string{
	"autoincrement": countUp, "nextval": countUp, "serial": countUp,
	"uuid": "each model has an id", "cuid": "each model has an id", "nanoid": "each model has an id", "gen_random_uuid": "each model has an id",
	"now": "each model has createdAt and updatedAt", "current_timestamp": "each model has createdAt and updatedAt",
	"len": write("LENGTH"), "char_length": write("LENGTH"), "size": write("LENGTH"), "ifnull": write("COALESCE"), "nvl": write("COALESCE"),
	"ceiling": write("CEIL"), "tolower": write("LOWER"), "toupper": write("UPPER"), "strip": write("TRIM"), "btrim": write("TRIM"), "mean": write("AVG"),
}

const countUp = `a number that counts up is a Text field with @sequence("INV-")`

func write(name string) string { return "write " + name }

// unknownFunction says what to write instead of the call of a function.
func unknownFunction(name string) string {
	if _, isKnown := BuiltinNamed(strings.ToUpper(name)); isKnown {
		return fmt.Sprintf("expressions have no function %q (did you mean %q?)", name, strings.ToUpper(name))
	}
	if meant, ok := functionsMeant[strings.ToLower(name)]; ok {
		return fmt.Sprintf("expressions have no function %q: %s", name, meant)
	}
	var names []string
	for _, b := range builtins {
		names = append(names, b.Name)
	}
	if hint := didYouMean(strings.ToUpper(name), names); hint != "" {
		return fmt.Sprintf("expressions have no function %q%s", name, hint)
	}
	return fmt.Sprintf("expressions have no function %q: write custom code instead, an action with @function and its file in functions/", name)
}

func functionOperands(b Builtin) string {
	switch {
	case b.most == 0:
		return b.Name + " takes two or more values"
	case b.hasDigits:
		return b.Name + " takes one " + b.Parameters[0] + ", and a number of digits if you like"
	}
	return b.Name + " takes one " + b.Parameters[0]
}

func functionDigits(b Builtin) string {
	return fmt.Sprintf("the digits of %s are written out, from 0 to %d", b.Name, maxDecimalScale)
}

func functionType(b Builtin, n Node) string {
	return fmt.Sprintf("%s does not take %s", b.Name, described(n))
}

func functionTypes(b Builtin) string {
	return fmt.Sprintf("the values of %s must have one type", b.Name)
}

func toManyOutside() string {
	return "this path passes a to-many, so it has many values; make one value of them with SUM, COUNT, AVG, MEDIAN, MIN or MAX"
}

func computedNull(target Target) string {
	return fmt.Sprintf("%s is required, but this may have no value: make the field optional with ?", target.Name)
}

func conditionFor(target Target) string {
	return fmt.Sprintf("%s is of type %s and does not take a condition or a list", target.Name, target.Type)
}

func computedRowNeedsPath(target Target) string {
	return fmt.Sprintf("%s leads to a row of %s: give it a path that ends at such a row", target.Name, target.Type.Name)
}

func nestedAggregate() string {
	return "an aggregate cannot be in the condition of another; give the model a computed field and name it here"
}

func aggregateOperands(name string, isConditional bool) string {
	if isConditional {
		return fmt.Sprintf("%s takes a path and a condition, as in %s(order.items, order.items.done)", name, name)
	}
	return fmt.Sprintf("%s takes one path; %sIF takes a condition too", name, name)
}

func aggregateNeedsPath(name string) string {
	return fmt.Sprintf("%s takes a path; give the model at its end a computed field for anything else", name)
}

func aggregateNeedsToMany(name string) string {
	return fmt.Sprintf("%s takes a path that passes a to-many of the row", name)
}

func aggregateType(name string, p *Path) string {
	return fmt.Sprintf("%s does not take %s", name, described(p))
}

func otherToMany() string {
	return "the condition mentions a to-many that the path of the aggregate does not pass"
}

func aggregateMisplaced(name string) string {
	return fmt.Sprintf("%s is allowed in @computed only: give the model a computed field and name it here", name)
}

func optionalInArm(target Target) string {
	return fmt.Sprintf("this can be null, but %s is required", target.Name)
}

// didYouMean returns the hint that closes a message about an unknown name.
func didYouMean(name string, candidates []string) string {
	if s := syntax.Suggest(name, candidates); s != "" {
		return fmt.Sprintf(" (did you mean %q?)", s)
	}
	return ""
}

// described names a node, with an article.
func described(n Node) string {
	o := operandOf(n)
	switch o.class {
	case ClassTextLiteral:
		return "a text literal"
	case ClassList:
		return "a list"
	case ClassNull:
		return "null"
	case ClassToMany:
		return "a to-many of " + o.name
	case ClassModel:
		return "a row of " + o.name
	case ClassEnum:
		return "a value of enum " + o.name
	case ClassArray:
		return "an array " + n.Type().String()
	}
	name := n.Type().String()
	if strings.ContainsRune("AEIOU", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// isSingle tells whether an operand of the class has one value.
func isSingle(c Class) bool {
	return c != ClassToMany && c != ClassArray && c != ClassList
}

// lastStep returns the name of a path's last field.
func lastStep(n Node) string {
	p := n.(*Path)
	return p.Steps[len(p.Steps)-1].StepName()
}

// pathText returns a path of the row as written.
func pathText(variable string, p *Path) string {
	text := variable
	for _, s := range p.Steps {
		text += "." + s.StepName()
	}
	return text
}

// ctxParts returns the parts of ctx.
func ctxParts() []string {
	return []string{"identity", "isAuthenticated", "secondFactor", "signedInWithin", "now", "headers", "env", "secrets"}
}

// joined joins names for a sentence.
func joined(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// secondFactorPlace says where what the caller has shown can be named.
func secondFactorPlace(name string) string {
	return name + " can be named only in @permission and in the expression of a role"
}

func signedInWithinForm() string {
	return `ctx.signedInWithin takes how long ago the caller has shown a credential at most: ctx.signedInWithin("5 minutes"), in seconds, minutes, hours or days`
}
