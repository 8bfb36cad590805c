package check

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// The wording of every error and warning of this package, and of their notes.

// didYouMean ends a message with a name that is near, if there is one.
func didYouMean(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near)
}

// listed joins names as a sentence does.
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// article returns a noun with its article.
func article(kind model.Kind) string {
	if kind == model.Update {
		return "an update"
	}
	return "a " + string(kind)
}

// Notes.

func declaredHere(name string) string { return name + " is declared here" }
func otherHere(name string) string    { return "the other one that gives " + name + " is here" }
func firstHere(name string) string    { return name + " is here first" }
func returnedHere() string            { return "it is part of this result" }
func requiredHere(name string) string {
	return name + " is declared here, required and without default"
}
func ruleHere() string       { return "the rule is here" }
func ruleOfIdentity() string { return "of Identity, callers see their own row" }
func indexHere() string      { return "the other index is here" }
func orderIndexHere(action string) string {
	return "the order of " + action + " has an index of its own"
}
func actionOf(name, owner string) string { return name + " is an action of " + owner }
func keyIsHere(model, field string) string {
	return fmt.Sprintf("the foreign key is at %s.%s", model, field)
}
func candidateHere(model, field string) string {
	return fmt.Sprintf("%s.%s could lead back", model, field)
}

func moreCandidates(n int) string { return fmt.Sprintf("and %d more", n) }

func contestedHere(model, field, name string) string {
	return fmt.Sprintf("%s.%s claims the name %s on Identity, as another model does: give one of them another name with @relation(name)", model, field, name)
}

// Configuration and names.

func noSchema() string {
	return "there is no schema file: none named *.stern or *.keel in the project folder or its folder schemas"
}

func configNotUTF8() string               { return "the configuration is not UTF-8" }
func configNotYAML(problem string) string { return "the configuration is not YAML: " + problem }
func configOneDocument() string {
	return "the configuration must be one YAML document: remove the second"
}

func configAlias() string { return "the configuration has no anchor of this name" }

func configShape(key, shape string) string { return fmt.Sprintf("%s should be %s", key, shape) }

func configName(name string) string {
	return fmt.Sprintf("%q is not a valid name: use capitals, digits and _; begin with a capital, but not with STERNPOST_", name)
}

func configNameTwice(name string) string { return fmt.Sprintf("%s is already in the list", name) }

func configClaimName(name string) string {
	return fmt.Sprintf("%q cannot be the name of a field of Identity", name)
}

func configClaimTaken(name string) string {
	return fmt.Sprintf("Identity already has a field %s, or one with the same column", name)
}

func reservedType(name string) string {
	return fmt.Sprintf("%s is a name that Sternpost uses itself", name)
}

func reservedVariable(name, variable string) string {
	return fmt.Sprintf("%s cannot be a model's or union's name: expressions would call its row %q, which means something else there", name, variable)
}

func reservedField(owner, name string) string {
	return fmt.Sprintf("%s already has %q: the name is reserved", owner, name)
}

func reservedFK(name, toOne string) string {
	return fmt.Sprintf("%s is the name of the foreign key of %s, which can be used without being declared", name, toOne)
}

func reservedAction(name string) string {
	return fmt.Sprintf("%s is the name of a built-in action", name)
}

func reservedAPI(name string) string {
	return fmt.Sprintf("%s cannot be an api's name: the server uses the path /%s itself", name, strings.ToLower(name))
}

func reservedLabel(name string) string {
	return fmt.Sprintf("an input cannot be called %q: in expressions that means something else", name)
}

func nameTooLong(name, snake string, limit int) string {
	return fmt.Sprintf("%s is too long: in the database it is called %s, which takes %d of at most %d bytes", name, snake, len(snake), limit)
}

func fkTooLong(name, column string, limit int) string {
	return fmt.Sprintf("%s is too long: its foreign key is called %s in the database, which takes %d of at most %d bytes", name, column, len(column), limit)
}

func nameClash(name, other, snake string) string {
	return fmt.Sprintf("%s and %s are both called %s in the database", name, other, snake)
}

func apiClash(name, other, path string) string {
	return fmt.Sprintf("apis %s and %s would have the same path /%s", name, other, path)
}

func parameterClash(name, other, parameter string) string {
	return fmt.Sprintf("inputs %s and %s would both be the parameter %s of the function", name, other, parameter)
}

func duplicateType(name string) string   { return fmt.Sprintf("%s is declared twice", name) }
func duplicateRole(name string) string   { return fmt.Sprintf("role %s is declared twice", name) }
func duplicateAction(name string) string { return fmt.Sprintf("action %s is declared twice", name) }

func duplicateField(owner, name string) string {
	return fmt.Sprintf("%s declares field %s twice", owner, name)
}

func duplicateArm(owner, name string) string {
	return fmt.Sprintf("%s declares arm %s twice", owner, name)
}

func duplicateEnumValue(owner, name string) string {
	return fmt.Sprintf("%s declares value %s twice", owner, name)
}

// Types.

func unknownType(name, near string) string {
	if near == "" {
		return fmt.Sprintf("there is no type %q: declare it as a model or an enum, or use one of %s", name, listed(scalarNames()))
	}
	return fmt.Sprintf("there is no type %q%s", name, didYouMean(near))
}

func structuredType(name, instead string) string {
	return fmt.Sprintf("there is no type %q: declare %s with a field for each of its parts", name, instead)
}

func anyAsField() string { return "only messages can have fields of type Any" }

func messageAsField(name string) string {
	return fmt.Sprintf("%s is a message: only inputs and results of read and write can be messages", name)
}

func unionAsType(name string) string {
	return fmt.Sprintf("%s is a union: nothing can have a union as its type", name)
}

func writeOnlyResult(field, message string) string {
	return fmt.Sprintf("%s.%s can never be read, so message %s cannot be a result", message, field, message)
}

func arrayNotAllowed(name string) string { return fmt.Sprintf("there are no arrays of %s", name) }
func emptyEnum(name string) string       { return fmt.Sprintf("enum %s has no values", name) }

func messageCycleMessage(name string, fields []string) string {
	return fmt.Sprintf("message %s contains itself through %s, so its value would never end: make a field on the way optional or an array",
		name, strings.Join(fields, "."))
}

// Roles.

func badEmail(member string) string {
	return fmt.Sprintf("%q is not an e-mail address: it needs text before and after an @", member)
}

func badDomain(member string) string {
	return fmt.Sprintf("%q is not a domain: write the part after the @ of an e-mail address", member)
}

// Relations.

func optionalToMany(name string) string {
	return fmt.Sprintf("%s can be empty anyway, so it cannot be optional: remove its ?", name)
}

func requiredSelfReference(model, name string) string {
	return fmt.Sprintf("%s leads from %s to %s and must be optional: the first row could never be made", name, model, model)
}

func relationOnToMany(name string) string {
	return fmt.Sprintf("%s leads to many rows: @relation belongs to the to-one on the other side", name)
}

func relationNotName(model string) string {
	return fmt.Sprintf("@relation takes the bare name of a field of %s", model)
}

func relationOnIdentity(name string) string {
	return fmt.Sprintf("%s is not @unique, so nothing on Identity leads back and @relation has nothing to name", name)
}

func badBacklinkName(name string) string {
	return fmt.Sprintf("%q cannot be the name of a field of Identity", name)
}

func relationNamesNoField(target, name, model, near string) string {
	return fmt.Sprintf("%s has no field %q that leads to %s%s", target, name, model, didYouMean(near))
}

func relationNamesUnique(name string) string {
	return fmt.Sprintf("%s is @unique and has the foreign key itself, so it cannot be the other side", name)
}

func uniqueNamesToMany(name, target string) string {
	return fmt.Sprintf("%s is @unique, so %s cannot hold many rows: one of the two has to change", name, target)
}

func toOneNamesToOne(name, target string) string {
	return fmt.Sprintf("%s and %s are both to-one: for a one-to-one relation %s must be @unique", name, target, name)
}

func identityToMany(name string) string {
	return fmt.Sprintf("%s needs a field of Identity that leads back, and fields cannot be added to Identity", name)
}

func missingToOne(model, name, target string) string {
	return fmt.Sprintf("%s.%s needs a field of type %s in %s that leads back", model, name, model, target)
}

func ambiguousRelation(model, name, target string) string {
	return fmt.Sprintf("several fields of %s could lead back from %s.%s: say which with @relation", target, model, name)
}

func ambiguousBacklink(model, name string) string {
	return fmt.Sprintf("Identity would lead back to %s by the name %s twice: give one of the two another name with @relation(name)", model, name)
}

func requiredVirtualSide(model, name string) string {
	return fmt.Sprintf("%s.%s is read as optional: the other side has the foreign key, so there may be no row", model, name)
}

func independentToOnes(model, field, target, other string, unique bool) string {
	state := "neither is"
	if unique {
		state = "both are"
	}
	return fmt.Sprintf("%s.%s and %s.%s are two separate relations, since %s @unique: for a one-to-one relation, make one of them @unique",
		model, field, target, other, state)
}

// Attributes.

func unknownAttribute(name string, known []string) string {
	if meant := meantBy(attributesMeant, name); meant != "" {
		return fmt.Sprintf("there is no attribute @%s: %s", name, meant)
	}
	near := syntax.Suggest(name, known)
	if near != "" {
		near = "@" + near
	}
	return fmt.Sprintf("there is no attribute @%s%s", name, didYouMean(near))
}

func misplacedAttribute(name string, on bearer) string {
	return fmt.Sprintf("@%s cannot be on %s", name, on)
}

func repeatedAttribute(name string, on bearer) string {
	return fmt.Sprintf("@%s can be on %s only once", name, on)
}

func attributeArguments(name, usage string) string {
	return fmt.Sprintf("@%s is written %s", name, usage)
}

func assignmentNotTaken(name string) string {
	return fmt.Sprintf(`@%s does not assign with "=" (equality is written "==")`, name)
}

func notOwnField(owner string) string {
	return fmt.Sprintf("this list takes only names of fields of %s", owner)
}
func fieldTwice(name string) string { return fmt.Sprintf("%s is already in the list", name) }

// withoutIndex says why a field has no index.
func withoutIndex(f *model.Field) string {
	switch {
	case f.IsToMany():
		return fmt.Sprintf("%s leads to many rows and has no column", f.Name)
	case f.IsToOne():
		return fmt.Sprintf("%s has no column: the foreign key is on the other side", f.Name)
	case f.Type.Array:
		return fmt.Sprintf("%s is an array", f.Name)
	}
	return fmt.Sprintf("%s is a %s", f.Name, f.Type)
}

func uniqueNotAllowed(f *model.Field) string { return withoutIndex(f) + ", so it cannot be @unique" }
func indexNotAllowed(f *model.Field) string  { return withoutIndex(f) + ", so it cannot be indexed" }

func defaultNeedsValue(name string, e *model.Enum) string {
	example := "Value"
	if len(e.Values) > 0 {
		example = e.Values[0].Name
	}
	return fmt.Sprintf("the @default of %s needs a value, such as %s.%s", name, e.Name, example)
}

func enumValueMeant(enum, name string) string {
	return fmt.Sprintf("nothing here is called %q (did you mean \"%s.%s\"?)", name, enum, name)
}

func computedType(f *model.Field) string {
	return fmt.Sprintf("a field of type %s cannot be computed", f.Type)
}

func computedBeside(name, attribute string) string {
	if attribute == "relation" {
		return fmt.Sprintf("%s is computed, so it cannot have an inverse: remove @relation", name)
	}
	return fmt.Sprintf("%s is computed: its value always follows its expression, so remove @onDelete", name)
}

func relationNamesComputed(name string) string {
	return fmt.Sprintf("%s is computed, so it cannot be an inverse", name)
}

func computedDefault(name string) string {
	return fmt.Sprintf("%s is computed, so a default would never apply", name)
}

func computedSequence(name string) string {
	return fmt.Sprintf("%s is computed, so it cannot have a sequence: remove one of the two", name)
}

func givenInput(f *model.Field) string {
	if numbered := f.NumberedPer(); numbered != nil {
		return fmt.Sprintf("%s is numbered per %s, so an update cannot change %s: its number counts there", numbered.Name, numbered.Sequence.Per.Name, numbered.Sequence.Per.Name)
	}
	if f.Sequence != nil {
		return fmt.Sprintf("%s gets its value from its sequence: nothing else can set it", f.Name)
	}
	return fmt.Sprintf("%s is computed: nothing else can set it", f.Name)
}

func sequenceNeedsText(f *model.Field) string {
	is := f.Type.String()
	if f.Optional {
		is += "?"
	}
	return fmt.Sprintf("a @sequence gives its values to a required Text, but %s is %s", f.Name, is)
}

func sequenceNotAlone(f *model.Field, other string) string {
	if other == "unique" {
		return fmt.Sprintf("%s is unique by its @sequence: remove @unique", f.Name)
	}
	return fmt.Sprintf("%s has a @sequence, which excludes @%s: remove one of the two", f.Name, other)
}

func sequencePer(f *model.Field) string {
	return fmt.Sprintf("numbers count per row of a required to-one, and %s is not one that the model stores", f.Name)
}

func sequencePrefix() string {
	return "the prefix of a sequence cannot contain white space"
}

func sequenceStart() string {
	return fmt.Sprintf("a sequence must begin with a whole number from 0 to %d", maxSequenceStart)
}

func computedCycle(cycle []*model.Field) string {
	return "a computed field cannot depend on itself: " + cycleNames(cycle)
}

func conditionCycle(cycle []*conditionDecl) string {
	names := make([]string, len(cycle))
	for i, d := range cycle {
		names[i] = d.owner.Name + "." + d.Name
	}
	return "a condition cannot name itself: " + strings.Join(names, ", which names ")
}

func defaultNotAllowed(f *model.Field) string {
	if f.IsRelation() {
		return fmt.Sprintf("%s is a relation and cannot have a default", f.Name)
	}
	return fmt.Sprintf("%s is a %s and cannot have a default", f.Name, f.Type)
}

func onDeleteMisplaced(f *model.Field) string {
	return fmt.Sprintf("%s does not have the foreign key: @onDelete belongs to the other side", f.Name)
}

func onDeleteNeedsOptional(name string) string {
	return fmt.Sprintf("%s is required and cannot be set to null", name)
}

func renamedStillThere(old string) string {
	return fmt.Sprintf("%s still exists, so nothing can have been renamed from it", old)
}

func renamedTwice(old string) string {
	return fmt.Sprintf("two declarations claim to be renamed from %s", old)
}

func badPattern(pattern string) string {
	return fmt.Sprintf("%q is not a content type: write one such as \"application/pdf\", or \"image/*\" for all of a kind; to accept any type, leave @accepts out", pattern)
}

func badSizeUnit(size string) string {
	return fmt.Sprintf("%q is not a size: write a number and one of B, KB, MB, GB, KiB, MiB and GiB", size)
}

func badSizeNumber(size string) string {
	return fmt.Sprintf("%q is not a size: it needs a number such as 10 or 2.5", size)
}

func sizeOutOfRange(size string) string {
	return fmt.Sprintf("%q is out of range: a size is from 1 byte to 5 GB", size)
}

func limitNeedsText(attribute string, f *model.Field) string {
	return fmt.Sprintf("@%s bounds the characters of Text and Markdown, but %s is %s", attribute, f.Name, f.Type)
}

func formatNeedsText(f *model.Field) string {
	return fmt.Sprintf("@format is for Text, but %s is %s", f.Name, f.Type)
}

func limitNeedsArray(attribute string, f *model.Field) string {
	if f.IsToMany() {
		return fmt.Sprintf("@%s bounds the elements of an array, but %s is a to-many of %s", attribute, f.Name, f.Target.Name)
	}
	return fmt.Sprintf("@%s bounds the elements of an array, but %s is one %s", attribute, f.Name, f.Type)
}

func badTextPattern(problem string) string { return "this pattern cannot be used: " + problem }

func limitsExclude(field string) string {
	return fmt.Sprintf("the least that %s may have is more than the most", field)
}

func badLimit(number string) string {
	return fmt.Sprintf("%s cannot be a limit: write a whole number from 1 to %d", number, maxLimit)
}

func wrongLength(f *model.Field, length int64) string {
	return fmt.Sprintf("%s holds %s, this text has %d", f.Name, between(f.MinLength, f.MaxLength, "character"), length)
}

func wrongItems(f *model.Field, items int64) string {
	return fmt.Sprintf("%s holds %s, this list has %d", f.Name, between(f.MinItems, f.MaxItems, "element"), items)
}

func blankText(f *model.Field) string {
	return fmt.Sprintf("%s is @notBlank, but this text is blank", f.Name)
}

func unmatchedText(f *model.Field, text, limit string) string {
	return fmt.Sprintf("%s has %s, which %q does not match", f.Name, limit, text)
}

func tooFewRows(f *model.Field) string {
	return fmt.Sprintf("%s takes at least %s: add inputs below %s", f.Model.Name, counted(f.MinItems, "row")+" of "+f.Name, f.Name)
}

// between words two limits, of which 0 is none.
func between(least, most int64, thing string) string {
	switch {
	case least == 0:
		return "at most " + counted(most, thing)
	case most == 0:
		return "at least " + counted(least, thing)
	}
	return fmt.Sprintf("%d to %s", least, counted(most, thing))
}

// counted words a number of things.
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Rules.

func notInRole(name string) string {
	return fmt.Sprintf("the expression of a role can use only ctx and literals, not %s", name)
}

func emptyRule() string { return "a rule needs an expression or roles" }
func ruleWithoutActions() string {
	return "a rule here must say which kinds of actions it is for, such as actions: [get, list]"
}
func ruleActionsOnAction() string {
	return "the rule of an action applies to that action only: remove actions"
}

func ruleActionNoKind(near string) string {
	return fmt.Sprintf("actions lists kinds of actions: get, list, create, update, delete, read, write%s", didYouMean(near))
}

func rolesNoList() string { return "roles is a list of at least one role, such as roles: [Staff]" }

func unknownRole(name, near string) string {
	return fmt.Sprintf("there is no role %q%s", name, didYouMean(near))
}

// Unions and apis.

func unionFieldType(name string) string {
	return fmt.Sprintf("a union cannot have a field of type %s, only scalars and enums that can be read", name)
}

func unionActionKind(union string, kind model.Kind) string {
	return fmt.Sprintf("union %s can only be read, by get and list, not by %s", union, article(kind))
}

func noArms(union string) string { return fmt.Sprintf("union %s needs an arm", union) }

func armFieldMissing(field, model string) string {
	return fmt.Sprintf("%s has no field %s: give it a value with @set, or make it optional", model, field)
}

func armFieldType(f *model.UnionField, source *model.Field) string {
	return fmt.Sprintf("%s is %s here, but %s in %s: give it a value with @set", f.Name, f.Type, source.Type, source.Model.Name)
}

func armFieldOptional(field, model string) string {
	return fmt.Sprintf("%s is required here, but optional in %s", field, model)
}

func unknownModel(name, near string) string {
	return fmt.Sprintf("there is no model %q%s", name, didYouMean(near))
}

func unknownModelOrUnion(name, near string) string {
	return fmt.Sprintf("there is no model or union %q%s", name, didYouMean(near))
}

func unknownAction(owner, name, near string) string {
	return fmt.Sprintf("%s has no action %q%s", owner, name, didYouMean(near))
}

func duplicateAPIModel(api, name string) string {
	return fmt.Sprintf("api %s lists %s twice", api, name)
}

// Actions.

func unknownActionKind(name, near string) string {
	return fmt.Sprintf("%q is not a kind of action: the kinds are get, list, create, update, delete, read, write and history%s", name, didYouMean(near))
}

func returnsMissing(kind model.Kind) string {
	return fmt.Sprintf("%s must declare its result: add returns (SomeMessage) or returns (Any)", article(kind))
}

func returnsNotAllowed(kind model.Kind) string {
	return fmt.Sprintf("%s returns rows of its model: remove returns", article(kind))
}

func returnsNotOne() string { return "returns takes exactly one message, or Any" }

func withNotAllowed(kind model.Kind) string {
	return fmt.Sprintf("%s writes no values: with belongs to create and update", article(kind))
}

func readInputOnCreate() string { return "a create takes its inputs after with" }

func unknownField(owner, name, near string) string {
	return fmt.Sprintf("%s has no field %q%s", owner, name, didYouMean(near))
}

func noSuchInput(action, name, near string) string {
	return fmt.Sprintf("%s has no input %q%s", action, name, didYouMean(near))
}

func pastScalar(name, before string) string {
	return fmt.Sprintf("%s is not a relation, so it has no field %q", before, name)
}

func inputIsRelation(path []*model.Field) string {
	last := path[len(path)-1]
	if last.FK != nil {
		return fmt.Sprintf("%s is a relation: name a field of %s, such as %s.id", model.PathName(path), last.Target.Name, model.PathName(path))
	}
	return fmt.Sprintf("%s is a relation: name a field of %s", model.PathName(path), last.Target.Name)
}

func labelOnPath(label string) string {
	return fmt.Sprintf("%s is a label: only an input with a type of its own has one; write the field alone", label)
}

func arrayOnPath(name string) string {
	return fmt.Sprintf("%s has the type of its field: leave [] out", name)
}

func unlabelledType(name string) string {
	return fmt.Sprintf("an input of type %s needs a label, such as value: %s", name, name)
}

func inputNoScalar(name string) string {
	return fmt.Sprintf("an input with a label must be a scalar or enum, and %s is neither", name)
}

func inputNotReadable(name string, kind model.Kind) string {
	return fmt.Sprintf("%s cannot look up rows by a %s", article(kind), name)
}

func notFilterable(f *model.Field) string {
	return fmt.Sprintf("%s is a %s: rows cannot be found by it", f.Name, f.Type)
}

func notFilterableUnion(f *model.UnionField) string {
	return fmt.Sprintf("%s is a %s: rows cannot be found by it", f.Name, f.Type)
}

func messageOnBuiltIn(name string, kind model.Kind) string {
	return fmt.Sprintf("only a read or write takes %s as its input, not %s", name, article(kind))
}

func messageNotAlone(name string) string {
	return fmt.Sprintf("%s is the whole input, so it must be the only one", name)
}

func messageWhole(name string) string {
	return fmt.Sprintf("%s is the whole input: it can be neither an array nor optional", name)
}

func unusedInput(name string, kind model.Kind) string {
	return fmt.Sprintf("this %s does not use input %s: use it in an expression, or remove it", kind, name)
}

func duplicateInput(name string) string {
	return fmt.Sprintf("there are two inputs called %s here", name)
}

func oneMember(a, b *model.Input) string {
	if b.Explicit {
		a, b = b, a
	}
	return fmt.Sprintf("in a request %s and %s would be the same member", a.Name, b.Written())
}

func builtInTimestamp(name string) string {
	return fmt.Sprintf("%s is set by the database and cannot be written", name)
}

func notPinned(a *actionDecl) string {
	what := "the id of " + a.owner()
	if a.model != nil {
		what = "the id or something @unique of " + a.owner()
	}
	return fmt.Sprintf("%s finds one row: its inputs or a @where must give %s", article(a.Kind), what)
}

func uncoveredField(model string, fields []*model.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return fmt.Sprintf("a new %s gets no value in %s: add it after with, give it with @set, or declare a @default", model, listed(names))
}

func coveredByOptional(model string, f *model.Field, in *model.Input) string {
	remedy := "give the field a @default"
	if f.IsRelation() {
		remedy = "make the field optional"
	}
	return fmt.Sprintf("a new %s needs a value in %s, but input %s can be left out: drop its ?, or %s", model, f.Name, in.Written(), remedy)
}

func linkBelowToMany(path []*model.Field) string {
	return fmt.Sprintf("the rows of %s are new: existing ones cannot be linked here", model.PathName(path))
}

func linkWithoutColumn(f *model.Field) string {
	return fmt.Sprintf("no row can be linked by %s, since the foreign key is on the other side", f.Name)
}

func identityNotCreatable(path []*model.Field) string {
	return fmt.Sprintf("%s would be a new Identity, which only signing in makes: name its id alone to link one", model.PathName(path))
}

func givenTwice(f *model.Field) string {
	return fmt.Sprintf("%s is given here and by inputs that make a new row of it", f.Name)
}

func updateBelowRelation(path []*model.Field) string {
	return fmt.Sprintf("%s is not a value of the row itself: an update writes fields of the row and the id of a to-one that it has", model.PathName(path))
}

func nothingToWrite(name string) string {
	return fmt.Sprintf("%s writes nothing: add values after with, or a @set", name)
}

func setTargetNoField(variable string) string {
	return fmt.Sprintf("the target of @set is a field, written %s.field", variable)
}

func setTargetBuiltIn(name string) string {
	return fmt.Sprintf("%s comes from the source row and cannot be set", name)
}

func setTargetNotStored(f *model.Field) string {
	if f.IsToMany() {
		return fmt.Sprintf("%s leads to many rows and cannot be set", f.Name)
	}
	return fmt.Sprintf("%s cannot be set, since the foreign key is on the other side", f.Name)
}

func setTargetNotInserted(path []*model.Field, kind model.Kind) string {
	if kind == model.Create {
		return fmt.Sprintf("the inputs make no new row at %s, so nothing can be set there", model.PathName(path))
	}
	return fmt.Sprintf("%s makes no new row at %s, so nothing can be set there", article(kind), model.PathName(path))
}

func setReadsAround(model string) string {
	return fmt.Sprintf("a nested row cannot be given a value by a link of the %s around it yet; by its own link it can", model)
}

func setReadsNewRow(variable string) string {
	return fmt.Sprintf("%s does not exist yet: the value can read a row that an input links, but not the new row", variable)
}

func setTwice(f *model.Field) string   { return fmt.Sprintf("%s is set twice", f.Name) }
func setUnionTwice(name string) string { return fmt.Sprintf("%s is set twice", name) }
func setAndInput(f *model.Field) string {
	return fmt.Sprintf("%s is set here and given by an input", f.Name)
}

func orderNotAllowed(name string, t expr.Type) string {
	switch {
	case t.Kind == expr.Model:
		return fmt.Sprintf("%s is a relation: a list cannot be ordered by it", name)
	case t.Array:
		return fmt.Sprintf("%s is an array: a list cannot be ordered by it", name)
	}
	return fmt.Sprintf("%s is a %s: a list cannot be ordered by it", name, t)
}

func facetNotAllowed(name string, f listField) string {
	t := f.typ()
	switch {
	case f.field != nil && f.field.FK != nil:
		return fmt.Sprintf("%s is a relation and cannot have a facet: write %s", name, f.field.FK.Name)
	case t.Kind == expr.Model:
		return fmt.Sprintf("%s is a relation and cannot have a facet", name)
	case t.Array:
		return fmt.Sprintf("%s is an array and cannot have a facet", name)
	}
	return fmt.Sprintf("%s is a %s and cannot have a facet", name, t)
}

func embedNoRelation(name string) string {
	return fmt.Sprintf("%s is not a relation: a record shows it without @embed", name)
}

func embedTwice(path string) string { return fmt.Sprintf("%s is embedded twice", path) }

func selectBeside(other string) string {
	if other == "function" {
		return "@select has no effect on an action with custom code: its record is that of its model"
	}
	return "@select names everything that the record shows: name the relations there instead of in @embed"
}

func selectTwice(path string) string { return fmt.Sprintf("%s is selected twice", path) }

func selectWriteOnly(f *model.Field) string {
	return fmt.Sprintf("%s is a %s: records do not show it", f.Name, f.Type)
}

func selectOfIdentity(name string) string {
	return fmt.Sprintf("records do not show %s of an Identity: they show only %s", name, listed(model.ShownOfIdentity()))
}

func selectWhole(relation, field string) string {
	return fmt.Sprintf("%s is selected twice: %s alone means all fields of its row", field, relation)
}

func hiddenInput(name string) string {
	return fmt.Sprintf("%s is hidden: lists do not take it and records do not show it", name)
}

func hiddenHere(name string) string { return name + " has @hidden here" }

func functionAttribute(name string) string {
	return fmt.Sprintf("@%s has no effect on an action with custom code: do it in the code", name)
}

func functionFileMissing(action, function string) string {
	return fmt.Sprintf("the code of %s is missing: functions/%s.sql should create function functions.%s (sternpost dev writes a first version of it)", action, action, function)
}

func rowRuleWithoutRow(action string) string {
	return fmt.Sprintf("a rule of %s mentions the row, but its inputs do not say which row that is", action)
}

// Warnings.

func redundantIndex(columns []string) string {
	return fmt.Sprintf("another index already begins with %s", strings.Join(columns, ", "))
}

func missingIndex(action, model, filter, wanted string) string {
	return fmt.Sprintf("every request of %s filters by %s, and no index holds these rows in the order of the list: add @index(%s) to %s", action, filter, wanted, model)
}

func missingIndexOfChoice(action, model, field, wanted string) string {
	return fmt.Sprintf("a request of %s that filters by %s alone reads all rows of %s, since no index begins with it: add @index(%s) to %s",
		action, field, model, wanted, model)
}

func slowRule(action string, fields []string) string {
	copies := "a copy, which costs each insert some 12 µs, leads"
	if len(fields) > 1 {
		copies = "copies, which cost each insert some 12 µs, lead"
	}
	return fmt.Sprintf("the rules of %s follow relations from each row: %s from the caller to the rows by an index: add %s", action, copies, strings.Join(fields, ", "))
}

func slowHere(m *model.Model, path []*model.Field) string {
	return fmt.Sprintf("it follows %s.%s", m.Variable, model.PathName(path))
}

func noRule(action, owner string, kind model.Kind) string {
	return fmt.Sprintf("no rule covers %s, so every call is refused: add a @permission to it, or one for %s to %s", action, kind, owner)
}

func embedWidens(action, path, model string) string {
	return fmt.Sprintf("everyone who may call %s sees %s, regardless of the rules of %s", action, path, model)
}

func filterWidens(action, path, model string) string {
	return fmt.Sprintf("callers of %s can find out %s by trial, regardless of the rules of %s", action, path, model)
}

func computedWidens(action string, fields []string, model string, isShown bool) string {
	listed := strings.Join(fields, ", ")
	if isShown {
		return fmt.Sprintf("everyone who may call %s sees %s, copied from %s, regardless of the rules of %[3]s", action, listed, model)
	}
	return fmt.Sprintf("callers of %s can find out %s, copied from %s, by trial, regardless of the rules of %[3]s", action, listed, model)
}

func setWidens(action, field, path, model string) string {
	return fmt.Sprintf("%s stores %s in %s, regardless of the rules of %s", action, path, field, model)
}

func armWidens(union, field, path, model string) string {
	return fmt.Sprintf("everyone who may read %s sees %s as %s, regardless of the rules of %s", union, path, field, model)
}

func computedBothWays(f, back *model.Field) string {
	return fmt.Sprintf("%s.%s is computed from rows of %s, and %[3]s.%[4]s from rows of %[1]s: calls that write both can deadlock, and are repeated then",
		f.Model.Name, f.Name, back.Model.Name, back.Name)
}

func cascadeDeletes(action, modelName string) string {
	return fmt.Sprintf("%s also deletes the rows of %s that lead here: write @onDelete(cascade) if that is meant, or @onDelete(restrict)", action, modelName)
}

func deletedHere(name string) string { return name + " is declared here" }

func computedHere(name string) string { return name + " is computed here" }

func copiesHere(field string, source *model.Field) string {
	return fmt.Sprintf("%s is a copy of %s of %s", field, source.Name, source.Model.Name)
}

func notAllowable(name string, possible []syntax.Code) string {
	var names []string
	for _, code := range possible {
		names = append(names, string(code))
	}
	suggestion := didYouMean(syntax.Suggest(name, names))
	if len(names) == 1 {
		return fmt.Sprintf("@allow takes the warning that a field can have, %s, not %q%s", names[0], name, suggestion)
	}
	return fmt.Sprintf("@allow takes warnings that an action can have, such as @allow(FilterWidens), not %q%s: the warnings are %s",
		name, suggestion, listed(names))
}

func nothingToAllow(action string, code syntax.Code) string {
	return fmt.Sprintf("%s has no warning %s: remove it from @allow", action, code)
}

func allowedTwice(code syntax.Code) string {
	return fmt.Sprintf("@allow names %s twice", code)
}

func nestedWidens(action, model string) string {
	return fmt.Sprintf("everyone who may call %s creates a %s, regardless of the rules of %s", action, model, model)
}

func linkWidens(action, model string) string {
	return fmt.Sprintf("everyone who may call %s can point to any %s, regardless of the rules of %s", action, model, model)
}

func unionWidens(union, model string) string {
	return fmt.Sprintf("everyone who may read %s sees rows of %s, regardless of the rules of %s", union, model, model)
}

func hiddenCompared(action, path string) string {
	return fmt.Sprintf("callers of %s can find out %s by trial, although it is hidden: do not compare it with their input", action, path)
}

func cursorWidens(action string, fields []string) string {
	return fmt.Sprintf("the cursors of %s hold %s, which its @select leaves out", action, strings.Join(fields, ", "))
}

func uncheckedInline(action, input, field string, attributes []string) string {
	return fmt.Sprintf("a data URL for %s of %s is not bound by %s of %s: set uploads.inline to checked in sternpost.yaml",
		input, action, listed(attributes), field)
}

func providerProvesAny(role string) string {
	return fmt.Sprintf("an e-mail address gives the role %s, and one of several auth.providers can prove any address: give each its emailDomains", role)
}

func nothingExposed(isEmpty bool) string {
	if isEmpty {
		return "the schema has no actions, so clients cannot call anything"
	}
	return "no api exposes any action, so clients cannot call anything"
}

func eventWithoutKinds() string {
	return "@on says of which writes, each once: [create], [update], [delete] or several of them"
}

func eventField() string {
	return "fields is a list of own fields of the model that have a column, each once, without Password, Secret and Vector fields"
}

func eventFieldsWithoutUpdate() string {
	return "fields is about updates: name update among the kinds, or remove fields"
}

func notInEvent(name string) string {
	return fmt.Sprintf("the condition of an event reads the row itself, not %s", name)
}

func unknownSubscriber(name string) string {
	return fmt.Sprintf("%s cannot be a subscriber: its name is in lower camel case, as that of an action", name)
}

func twoSubscribers(name string) string {
	return fmt.Sprintf("%s is code, in functions/%[1]s.sql, and a webhook here: remove one of them", name)
}

func subscriberClash(name string) string {
	return fmt.Sprintf("%s is an action: the code of both would be functions/%s.sql", name, name)
}

func jobsNoList() string {
	return "jobs is a list of at least one job, or subscriber of an @on"
}

func unknownJob(name, near string) string {
	return fmt.Sprintf("there is no job %s, and no @on names it", name) + didYouMean(near)
}

func jobClash(job, action string) string {
	return fmt.Sprintf("the job %s is started as %s, which is an action already", job, action)
}

func jobNeverRuns(job string) string {
	return fmt.Sprintf("nothing starts the job %s: say when, with @schedule, or who may, with @permission", job)
}

func badSchedule(text string, err error) string {
	return fmt.Sprintf("%q cannot be a schedule: %v", text, err)
}

func scheduledTwice() string { return "the job has this schedule already" }

func jobInputType(input string) string {
	return fmt.Sprintf("the input %s is kept with the run: it cannot be a Password, Secret or File", input)
}

func jobInputRequired(input string) string {
	return fmt.Sprintf("a schedule gives no inputs: make %s optional, with ?", input)
}

func ruleJobsOnUnion() string {
	return "code reads and writes the rows of models: remove jobs, and name the code in the rules of the models of the arms"
}

func ruleJobsOnAction() string {
	return "the rule of an action is for its callers: remove jobs, or put the rule on the model"
}

func historyOfUnion(union string) string {
	return fmt.Sprintf("%s is a union, whose rows are those of its models: put @history on them", union)
}

func historyNotKept(model string) string {
	return fmt.Sprintf("no history of %s is kept: add @history to the model, or remove the action", model)
}

func notLive(on bearer) string {
	return fmt.Sprintf("%s has no answer to follow: @live is for get, list and read", on)
}

func liveWithoutOf(action string) string {
	return fmt.Sprintf("nobody knows what the code of %s reads: name the models, as in @live(of: [Order])", action)
}

func liveOf() string {
	return "of names models: @live(of: [Order, Item])"
}

func manyOfOtherKind(on bearer) string {
	return fmt.Sprintf("%s writes no rows of its own: @many is for create, update and delete", on)
}

func manyOfCode() string {
	return "custom code writes one row: remove @many or @function"
}

func manyInvitations() string {
	return "an invitation goes to one address: remove @many or @invitation"
}

func manyPrepared() string {
	return "a File, Password or Secret is prepared for one row: give it by an action without @many"
}

func manyRuleInputs() string {
	return "a rule that reads an input judges one row: compare a field of the row, or remove @many"
}

func historyInputs(action string) string {
	return fmt.Sprintf("the history of a row is found by its id alone, also when the row is gone: write history %s(id)", action)
}

func invitationAddress(action string) string {
	return fmt.Sprintf("an invitation goes to one e-mail address: give %s one input that is a Text field with @format(email)", action)
}

func invitationAccount(model string) string {
	return fmt.Sprintf("whoever accepts an invitation becomes the account of the new row: leave one optional to-one of %s to Identity empty", model)
}
