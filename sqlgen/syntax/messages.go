package syntax

import (
	"fmt"
	"strconv"
	"strings"
)

// All messages of this package, so that their wording can be read as a whole.

func fileIsNotUTF8() string { return "the file is not UTF-8" }

func fileHoldsNull() string { return "the file holds the character U+0000" }

func commentNotClosed() string { return `this comment has no end: expected "*/"` }

func textNotClosed() string { return "this text has no closing quote on its line" }

func textInOtherQuotes(quote rune) string {
	return fmt.Sprintf("text is written in double quotes, not between %c", quote)
}

func unknownEscape(written string) string {
	return fmt.Sprintf(`unknown escape %s (the escapes are \" \' \\ \a \b \f \n \r \t \v \uXXXX \UXXXXXXXX)`, written)
}

func escapeIsNoCharacter(written string) string {
	return fmt.Sprintf("the escape %s is not a character that a text can hold", written)
}

func malformedNumber(written string) string {
	return fmt.Sprintf("%s is not a number (numbers are written 12, 1.5 or 1.5e-3)", shorten(written))
}

func numberIsHexadecimal(written string) string {
	return fmt.Sprintf("%s: numbers are written in decimal", shorten(written))
}

func numberHasLeadingZero(written string) string {
	return fmt.Sprintf("%s: a number does not begin with 0", shorten(written))
}

func strangeCharacters(written string) string {
	switch written {
	case "&":
		return `unexpected "&" (did you mean "&&"?)`
	case "|":
		return `unexpected "|" (did you mean "||"?)`
	case "#":
		return `unexpected "#" (comments begin with "//")`
	case ";":
		return `unexpected ";" (white space is enough to separate things)`
	}
	return fmt.Sprintf("unexpected %s", strconv.Quote(shorten(written)))
}

func expectedDeclaration(found *Token) string {
	return fmt.Sprintf("expected a model, union, enum, message, role, api or job, found %s", describe(found))
}

func outsideDeclaration(found *Token) string {
	return fmt.Sprintf(`%s is outside of any declaration (is there one "}" too many before it?)`, describe(found))
}

func misspelled(written, meant string) string {
	return fmt.Sprintf("unexpected %q (did you mean %q?)", written, meant)
}

func closesNothing() string { return `this "}" closes nothing` }

func expectedDeclarationName(keyword string, found *Token) string {
	return fmt.Sprintf("expected the name of the %s, found %s", keyword, describe(found))
}

func expectedOpeningBrace(owner string, found *Token) string {
	return fmt.Sprintf(`expected "{" and the content of the %s, found %s`, owner, describe(found))
}

func blockNotClosed(owner string) string {
	return fmt.Sprintf(`the "{" of the %s is not closed`, owner)
}

func noticedHere(found *Token) string {
	return fmt.Sprintf(`expected "}" before %s`, describe(found))
}

func argumentsNotClosed() string { return `this "(" is not closed` }

func needlessSeparator(owner string) string {
	return fmt.Sprintf("the parts of the %s are not separated by commas", owner)
}

func expectedMember(owner string, hasArms bool, found *Token) string {
	arms := ""
	if hasArms {
		arms = "an arms block, "
	}
	return fmt.Sprintf(`expected a fields block, %san actions block, an attribute or "}" in %s, found %s`,
		arms, owner, describe(found))
}

func conditionsInUnion() string { return "only a model has conditions" }

func expectedCondition(found *Token) string {
	return fmt.Sprintf(`expected a condition such as name = expression, or "}", found %s`, describe(found))
}

func expectedJobMember(found *Token) string {
	return `expected an inputs block, an attribute or "}" in a job, found ` + describe(found)
}

func armsInModel() string { return "only a union has arms" }

func fieldOutsideBlock(name string) string {
	return fmt.Sprintf("field %q belongs in a fields block", name)
}

func actionOutsideBlock(name string) string {
	return fmt.Sprintf("action %q belongs in an actions block", name)
}

func armOutsideBlock(name, model string) string {
	return fmt.Sprintf("arm %q belongs in an arms block: arms { %s %s }", name, name, model)
}

func expectedField(found *Token) string {
	return fmt.Sprintf(`expected a field, an attribute or "}", found %s`, describe(found))
}

func fieldWithoutType(name string) string {
	return fmt.Sprintf("field %q has no type", name)
}

func colonAfterFieldName(name string) string {
	return fmt.Sprintf(`the type follows the name of field %q without ":"`, name)
}

func arrayOf(name string) string {
	return fmt.Sprintf("the type of several values is written %s[]", name)
}

func arrayAfterOptional() string { return `"[]" comes before "?"` }

func attributeWithoutBearer(bearer string) string {
	return fmt.Sprintf("an attribute must follow %s", withArticle(bearer))
}

func expectedArm(found *Token) string {
	return fmt.Sprintf(`expected an arm, an attribute or "}", found %s`, describe(found))
}

func armWithoutModel(name string) string {
	return fmt.Sprintf("arm %q has no model", name)
}

func expectedAction(found *Token) string {
	return fmt.Sprintf(`expected an action such as get name(inputs), or "}", found %s`, describe(found))
}

func actionWithoutName(kind string, found *Token) string {
	return fmt.Sprintf("expected the name of the action after %q, found %s", kind, describe(found))
}

func actionWithoutInputs(name string, found *Token) string {
	if found.isName("with") {
		return fmt.Sprintf(`expected "()" before "with": write "%s() with"`, shorten(name))
	}
	return fmt.Sprintf(`expected "(" after the name of action %q, found %s`, name, describe(found))
}

func expectedInputsAfter(keyword string, found *Token) string {
	return fmt.Sprintf(`expected "(" after %s, found %s`, keyword, describe(found))
}

func withAfterReturns() string { return "with comes before returns" }

func clauseRepeated(keyword string) string {
	return fmt.Sprintf("the action already has a %s", keyword)
}

func expectedInput(found *Token) string {
	return fmt.Sprintf("expected an input, found %s", describe(found))
}

func inputWithoutColon(name, typ string) string {
	return fmt.Sprintf(`expected ":" between an input of its own and its type: write "%s: %s"`, shorten(name), shorten(typ))
}

func nestedInput(name, member string) string {
	return fmt.Sprintf(`expected an input, found "{": an input below a relation is a path, such as %s.%s`, shorten(name), shorten(member))
}

func returnsNothing() string { return "expected the message that the action returns" }

func expectedListEnd(closing string, found *Token) string {
	if instead, ok := operatorMeant(found); ok {
		return instead
	}
	return fmt.Sprintf(`expected "," or %q, found %s`, closing, describe(found))
}

// operatorWords has the words that are operators in other languages, in small letters, with
// what to write instead.
var operatorWords = map[string]string{
	"and":     `did you mean "&&"?`,
	"or":      `did you mean "||"?`,
	"not":     `negation is written "!(a in b)"`,
	"is":      `a test for null is written "== null" or "!= null"`,
	"between": `a range is written "a >= 1 && a <= 2"`,
	"like":    likeInstead, "ilike": likeInstead, "contains": likeInstead, "matches": likeInstead,
}

const likeInstead = "a list's own filter searches in texts; an expression compares them as a whole"

// operatorMeant says what to write instead of an operator of another language. ok is false
// if the token is not one.
func operatorMeant(found *Token) (instead string, ok bool) {
	if found.Text == "=" {
		return `unexpected "=" (equality is written "==")`, true
	}
	instead, ok = operatorWords[strings.ToLower(found.Text)]
	if !ok || found.Kind != TokenName {
		return "", false
	}
	return fmt.Sprintf("unexpected %q (%s)", found.Text, instead), true
}

// foreignOperator names the operator to write instead of one of another language.
func foreignOperator(written, meant string) string {
	return fmt.Sprintf("expressions have no operator %q (did you mean %q?)", written, meant)
}

func negationByWord(word string) string {
	return fmt.Sprintf(`unexpected %q (negation is written "!(a == b)")`, word)
}

func expectedClosingParen(found *Token) string {
	if instead, ok := operatorMeant(found); ok {
		return instead
	}
	return fmt.Sprintf(`expected ")", found %s`, describe(found))
}

func opensHere(opening string) string {
	return fmt.Sprintf("the %q is here", opening)
}

func trailingComma() string { return "nothing follows this comma: remove it" }

func expectedAttribute(found *Token) string {
	return fmt.Sprintf(`expected an attribute or "}", found %s`, describe(found))
}

func expectedAttributeName(found *Token) string {
	return fmt.Sprintf(`expected the name of an attribute after "@", found %s`, describe(found))
}

func noAttributes() string {
	return "there is nothing between the braces: leave them out, or write an attribute between them"
}

func expectedEnumValue(found *Token) string {
	return fmt.Sprintf(`expected a value or "}" in the enum, found %s`, describe(found))
}

func expectedRoleBlock(found *Token) string {
	message := fmt.Sprintf(`expected an emails, domains or expression block or "}" in the role, found %s`, describe(found))
	switch found.Text {
	case "where", "if", "when", "condition", "rule":
		return message + ` (did you mean "expression"?)`
	case "email", "members", "users":
		return message + ` (did you mean "emails"?)`
	case "domain":
		return message + ` (did you mean "domains"?)`
	}
	return message
}

func expectedRoleMember(keyword string, found *Token) string {
	what := "an e-mail address"
	if keyword == "domains" {
		what = "a domain"
	}
	return fmt.Sprintf(`expected %s in double quotes or "}", found %s`, what, describe(found))
}

func expectedModelsBlock(found *Token) string {
	return fmt.Sprintf(`expected a models block or "}" in the api, found %s`, describe(found))
}

func expectedAPIModel(found *Token) string {
	return fmt.Sprintf(`expected the name of a model or union, or "}", found %s`, describe(found))
}

func expectedActionsBlock(found *Token) string {
	return fmt.Sprintf(`expected an actions block or "}", found %s`, describe(found))
}

func expectedActionName(found *Token) string {
	return fmt.Sprintf(`expected the name of an action or "}", found %s`, describe(found))
}

func expectedValue(found *Token) string {
	return fmt.Sprintf("expected a value, found %s", describe(found))
}

func expectedNameAfterDot(found *Token) string {
	return fmt.Sprintf(`expected a name after ".", found %s`, describe(found))
}

func assignmentToNoPath() string {
	return `the field that gets the value is left of "=" (equality is written "==")`
}

func nestedTooDeeply() string {
	return fmt.Sprintf("the expression is nested more than %d levels deep", maxNesting)
}

func expressionTooLong() string {
	return fmt.Sprintf("the expression has more than %d operators", maxOperators)
}

func indexing() string { return "an element of a list cannot be picked by its index" }

// callOf says that something cannot be called.
func callOf(e Expr) string {
	if path, ok := e.(*Path); ok && len(path.Steps) == 1 {
		return negationByWord(path.Steps[0].Name)
	}
	return "only a function can be called: its name is before the parentheses, as in LENGTH(post.title)"
}

func conditional() string { return `expressions have no conditional "?:"` }

func remainder() string { return `expressions have no operator "%"` }

func laterDeclaration(keyword string) string {
	return fmt.Sprintf("%s is not supported yet", keyword)
}

func laterAttribute(name string) string {
	return fmt.Sprintf("attribute @%s is not supported yet", name)
}

func expectedEndOfRoleExpression(found *Token) string {
	return fmt.Sprintf(`expected "}" after the expression of the role, found %s`, describe(found))
}

func badName(kind, name, meant string) string {
	form := "a small letter a-z and goes on with letters A-Z, a-z and digits"
	switch kind {
	case "enum value":
		form = "a letter A-Z, a-z or _ and goes on with these and digits"
	case "model", "union", "enum", "message", "role", "api":
		form = "a capital letter A-Z and goes on with letters A-Z, a-z and digits"
	}
	hint := ""
	if meant != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", meant)
	}
	return fmt.Sprintf("%q cannot be the name of %s: it begins with %s%s", shorten(name), withArticle(kind), form, hint)
}

// withArticle puts the indefinite article before a noun of the language.
func withArticle(noun string) string {
	if strings.IndexByte("aeiou", noun[0]) >= 0 && noun != "union" {
		return "an " + noun
	}
	return "a " + noun
}

// describe says what is in the schema, in the words of its author.
func describe(t *Token) string {
	switch t.Kind {
	case TokenEOF:
		return "the end of the file"
	case TokenString:
		return "the text " + shorten(t.Text)
	}
	return strconv.Quote(shorten(t.Text))
}

// shorten cuts text that is too long to repeat in a message.
func shorten(text string) string {
	const most = 40
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:most]) + "…"
}
