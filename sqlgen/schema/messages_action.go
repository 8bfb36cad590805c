package schema

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
)

// The wording of errors of actions, and of warnings.

func unknownActionKind(name, near string) string {
	return fmt.Sprintf("%q is no kind of action: there are get, list, create, update, delete, read and write%s", name, didYouMean(near))
}

func returnsMissing(kind Kind) string {
	return fmt.Sprintf("%s says what it returns: add returns (SomeMessage) or returns (Any)", article(kind))
}

func returnsNotAllowed(kind Kind) string {
	return fmt.Sprintf("%s returns rows of its model: leave returns out", article(kind))
}

func returnsNotOne() string { return "returns takes exactly one message, or Any" }

func withNotAllowed(kind Kind) string {
	return fmt.Sprintf("%s writes no values: with belongs to create and update", article(kind))
}

func readInputOnCreate() string { return "a create looks for nothing: its inputs stand after with" }

func unknownField(owner, name, near string) string {
	return fmt.Sprintf("%s has no field %q%s", owner, name, didYouMean(near))
}

func pastScalar(name, before string) string {
	return fmt.Sprintf("%s is no relation, so it has no field %q", before, name)
}

func inputIsRelation(path []*Field) string {
	last := path[len(path)-1]
	if last.FK != nil {
		return fmt.Sprintf("%s is a relation: name a field of %s, such as %s.id", pathName(path), last.Target.Name, pathName(path))
	}
	return fmt.Sprintf("%s is a relation: name a field of %s", pathName(path), last.Target.Name)
}

func labelOnPath(label string) string {
	return fmt.Sprintf("%s is a label, which only an input with a type of its own has; a field is named alone", label)
}

func arrayOnPath(name string) string {
	return fmt.Sprintf("%s has the type of its field: leave [] out", name)
}

func unlabelledType(name string) string {
	return fmt.Sprintf("an input of type %s needs a label, such as value: %s", name, name)
}

func inputNoScalar(name string) string {
	return fmt.Sprintf("an input with a label is a scalar or enum, which %s is not", name)
}

func inputNotReadable(name string, kind Kind) string {
	return fmt.Sprintf("%s cannot look for anything by a %s", article(kind), name)
}

func notFilterable(f *Field) string {
	return fmt.Sprintf("%s is a %s, by which no rows can be found", f.Name, typeName(f.Type))
}

func notFilterableUnion(f *UnionField) string {
	return fmt.Sprintf("%s is a %s, by which no rows can be found", f.Name, typeName(f.Type))
}

func messageOnBuiltIn(name string, kind Kind) string {
	return fmt.Sprintf("only a read or write takes %s as its input, not %s", name, article(kind))
}

func messageNotAlone(name string) string {
	return fmt.Sprintf("%s is the whole input, so it stands alone", name)
}

func messageWhole(name string) string {
	return fmt.Sprintf("%s is the whole input: it can be neither an array nor optional", name)
}

func unusedInput(name string, kind Kind) string {
	return fmt.Sprintf("nothing in this %s mentions input %s", kind, name)
}

func duplicateInput(name string) string {
	return fmt.Sprintf("there are two inputs called %s here", name)
}

func builtInTimestamp(name string) string {
	return fmt.Sprintf("%s is kept by the database and cannot be written", name)
}

func notPinned(a *actionDecl) string {
	what := "the id of " + a.owner()
	if a.model != nil {
		what = "the id or something @unique of " + a.owner()
	}
	return fmt.Sprintf("%s finds one row: its inputs, or a @where, must fix %s", article(a.Kind), what)
}

func uncoveredField(model string, fields []*Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return fmt.Sprintf("a new %s gets no value in %s: add it after with, give it with @set, or declare a @default", model, listed(names))
}

func linkBelowToMany(path []*Field) string {
	return fmt.Sprintf("the rows of %s are new: existing ones cannot be linked here", pathName(path))
}

func linkWithoutColumn(f *Field) string {
	return fmt.Sprintf("no row can be linked by %s, since the foreign key is on the other side", f.Name)
}

func identityNotCreatable(path []*Field) string {
	return fmt.Sprintf("%s would be a new Identity, which only signing in makes: name its id alone to link one", pathName(path))
}

func givenTwice(f *Field) string {
	return fmt.Sprintf("%s is given here and by inputs that make a new row of it", f.Name)
}

func updateBelowRelation(path []*Field) string {
	return fmt.Sprintf("%s is not a value of the row itself: an update writes fields of the row and the id of a to-one that it has", pathName(path))
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

func setTargetNotStored(f *Field) string {
	if f.IsToMany() {
		return fmt.Sprintf("%s leads to many rows and cannot be set", f.Name)
	}
	return fmt.Sprintf("%s cannot be set, since the foreign key is on the other side", f.Name)
}

func setTargetNotInserted(path []*Field, kind Kind) string {
	if kind == Create {
		return fmt.Sprintf("the inputs make no new row at %s, so nothing can be set there", pathName(path))
	}
	return fmt.Sprintf("%s makes no new row at %s, so nothing can be set there", article(kind), pathName(path))
}

func setReadsNewRow(variable string) string {
	return fmt.Sprintf("%s is only being made: the value can read a row that an input links, not the new row itself", variable)
}

func setTwice(f *Field) string         { return fmt.Sprintf("%s is set twice", f.Name) }
func setUnionTwice(name string) string { return fmt.Sprintf("%s is set twice", name) }
func setAndInput(f *Field) string      { return fmt.Sprintf("%s is set here and given by an input", f.Name) }

func orderNotAllowed(name string, t expr.Type) string {
	switch {
	case t.Kind == expr.Model:
		return fmt.Sprintf("%s is a relation, by which no list can be ordered", name)
	case t.Array:
		return fmt.Sprintf("%s is an array, by which no list can be ordered", name)
	}
	return fmt.Sprintf("%s is a %s, by which no list can be ordered", name, typeName(t))
}

func embedNoRelation(name string) string {
	return fmt.Sprintf("%s is no relation: a record shows it without @embed", name)
}

func embedTwice(path string) string { return fmt.Sprintf("%s is embedded twice", path) }

func functionAttribute(name string) string {
	return fmt.Sprintf("@%s has no effect on an action with code of its own: do it in the code", name)
}

func functionFileMissing(action, function string) string {
	return fmt.Sprintf("the code of %s is missing: functions/%s.sql should create function functions.%s", action, action, function)
}

func rowRuleWithoutRow(action string) string {
	return fmt.Sprintf("a rule of %s mentions the row, but its inputs do not say which row that is", action)
}

// Warnings.

func redundantIndex(columns []string) string {
	return fmt.Sprintf("another index begins with %s already", strings.Join(columns, ", "))
}

func noRule(action, owner string, kind Kind) string {
	return fmt.Sprintf("no rule covers %s, so every call is refused: add a @permission to it, or one for %s to %s", action, kind, owner)
}

func embedWidens(action, path, model string) string {
	return fmt.Sprintf("whoever may call %s sees %s, whatever the rules of %s say", action, path, model)
}

func nestedWidens(action, model string) string {
	return fmt.Sprintf("whoever may call %s creates a %s, whatever the rules of %s say", action, model, model)
}

func linkWidens(action, model string) string {
	return fmt.Sprintf("whoever may call %s can point to any %s, whatever the rules of %s say", action, model, model)
}

func unionWidens(union, model string) string {
	return fmt.Sprintf("whoever may read %s sees rows of %s, whatever the rules of %s say", union, model, model)
}

func nothingExposed(isEmpty bool) string {
	if isEmpty {
		return "there are no actions, so there is nothing to call"
	}
	return "no api exposes any action, so there is nothing to call"
}
