package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// A function that takes no rows below its own takes each input as an argument of its type. Behind them it takes the
// caller and its access token, or the whole context if it reads more of that. An input that may be absent is then null. Where null is a
// value too, a further argument tells the two apart. Other functions take the input as JSON, which tells them apart.
//
// The function for the forms of a list takes the values that its forms compare with, the position of the page and its
// size in the same way, and the form behind the caller.

var (
	callerArgument  = pg.Argument{Name: "caller", Type: "text"}
	tokenArgument   = pg.Argument{Name: "access_token", Type: "text"}
	contextArgument = pg.Argument{Name: "context", Type: release.ContextType}
	sizeArgument    = pg.Argument{Name: "first", Type: "bigint"}
	formArgument    = pg.Argument{Name: "form", Type: "text"}
)

// argument is an argument that takes a part of a request, or tells whether a request gives it.
type argument struct {
	pg.Argument
	path  string       // of the part in the body of the request, dotted
	input *model.Input // nil for the page of a list
	given bool
}

// takesArguments tells whether the function of an action takes its inputs one by one.
func takesArguments(a *model.Action) bool {
	switch a.Kind {
	case model.Get, model.Delete:
	case model.Create, model.Update:
		if len(levels(a).children) > 0 {
			return false
		}
	default:
		return false
	}
	if a.Custom || isPrepared(a) || slices.ContainsFunc(a.Reads, func(in *model.Input) bool { return in.Optional }) {
		return false
	}
	return mayTake(a, a.Function, argumentsOf(a))
}

// takesFormArguments tells whether the function for the forms of a list can take its arguments.
func takesFormArguments(a *model.Action, function string, sets []operatorSet) bool {
	return !a.Custom && mayTake(a, function, formArguments(a, sets))
}

// mayTake tells whether a function can take arguments of these names and types.
func mayTake(a *model.Action, function string, arguments []argument) bool {
	names := []string{callerArgument.Name, tokenArgument.Name, contextArgument.Name}
	if a.Kind == model.List {
		names = append(names, formArgument.Name)
	}
	for _, argument := range arguments {
		in := argument.input
		if in != nil && (in.Message != nil || in.Type.Array) || argument.Type == "" || slices.Contains(names, argument.Name) {
			return false
		}
		names = append(names, argument.Name)
	}
	if len(names)-1 > maxInputs || slices.ContainsFunc(names, func(name string) bool { return isMeantOtherwise(name, a) }) {
		return false
	}
	return !slices.ContainsFunc(modelsRead(a), func(m *model.Model) bool {
		return isAliasOf(m.Table, function) // arguments could be qualified by it, as columns are
	})
}

// argumentsOf returns the arguments that take the inputs of an action.
func argumentsOf(a *model.Action) []argument {
	var arguments []argument
	for _, in := range append(a.Reads[:len(a.Reads):len(a.Reads)], a.Writes...) {
		name, path := model.SnakeForm(in.Name), strings.Join(requestPath(a, in), ".")
		arguments = append(arguments, argument{pg.Argument{Name: name, Type: argumentType(in)}, path, in, false})
		if asksWhetherGiven(a, in) {
			arguments = append(arguments, argument{pg.Argument{Name: name + "_given", Type: "boolean"}, path, in, true})
		}
	}
	return arguments
}

// formArguments returns the arguments of a function for forms of a list: the inputs that any of them takes, then the page.
func formArguments(a *model.Action, sets []operatorSet) []argument {
	var arguments []argument
	add := func(in *model.Input, path string) {
		taken := argument{pg.Argument{Name: model.SnakeForm(in.Name), Type: argumentType(in)}, path, in, false}
		if !slices.Contains(arguments, taken) {
			arguments = append(arguments, taken)
		}
	}
	for _, set := range sets {
		for _, f := range set.equals {
			add(f.input, "where."+f.at("equals"))
		}
		for _, in := range set.given {
			add(in, dotted(requestPath(a, in)))
		}
	}
	keys := keysOfArms(a)
	if canSeek(keys) {
		for i, k := range keys {
			after := pg.Argument{Name: afterKey(k), Type: argumentTypeOf(k.field.Type.Kind)}
			arguments = append(arguments, argument{after, fmt.Sprintf("position.%d", i), nil, false})
		}
	}
	return append(arguments, argument{sizeArgument, sizeArgument.Name, nil, false})
}

// asksWhetherGiven tells whether an action treats an absent input differently from null.
func asksWhetherGiven(a *model.Action, in *model.Input) bool {
	mayBeNull, matters := in.Nullable, false
	for _, w := range levels(a).writes {
		switch {
		case w.input == in:
			mayBeNull = mayBeNull || w.mayBeNull()
		case w.set == nil || !slices.Contains(optionalInputsOf(w.set.Value), in):
			continue
		}
		matters = matters || a.Kind == model.Update || columnDefault(w.field) != nil
	}
	return in.Optional && mayBeNull && matters
}

// isMeantOtherwise tells whether the statements of an action's function would take an argument's name for something
// else, or the other way round.
func isMeantOtherwise(name string, a *model.Action) bool {
	switch name {
	case "found", "record", "record_", "identity", "validity", "page":
		return true
	}
	return strings.HasPrefix(name, "v_") || len(name) > pg.MaxIdent ||
		slices.ContainsFunc(modelsRead(a), func(m *model.Model) bool { return isAliasOf(m.Table, name) })
}

// argumentType is the type of the argument that takes an input, as Postgres prints it; it is empty without an argument.
func argumentType(in *model.Input) string { return argumentTypeOf(in.Type.Kind) }

func argumentTypeOf(kind expr.Kind) string {
	switch kind {
	case expr.ID, expr.Text, expr.Markdown, expr.Enum, expr.Number, expr.Decimal, expr.Boolean, expr.Date, expr.Duration:
		return castType(kind)
	case expr.Timestamp:
		return "timestamp with time zone"
	}
	return ""
}

// takeArguments returns the arguments of a function that takes its inputs one by one, and uses them as the inputs'
// values.
func (b *builder) takeArguments(taken []argument) []pg.Argument {
	b.given = map[*model.Input]pg.Expr{}
	var arguments []pg.Argument
	for _, argument := range taken {
		value := pg.Var(pg.ParamIdent(b.names.Take(argument.Name)))
		switch {
		case argument.input == nil:
		case argument.given:
			b.given[argument.input] = value
		default:
			b.values[argument.input] = value
			b.given[argument.input] = pg.IsNotNull(value)
		}
		arguments = append(arguments, argument.Argument)
	}
	return append(arguments, lastArguments(b.action)...)
}

// lastArguments are the arguments that hold the rest of the request.
func lastArguments(a *model.Action) []pg.Argument {
	read := mentionsOf(a)
	if len(read.Headers)+len(read.Env)+len(read.Secrets) > 0 {
		return []pg.Argument{contextArgument}
	}
	return []pg.Argument{callerArgument, tokenArgument}
}

// publishedArguments says how the function of an action is called, if it takes its inputs
// one by one.
func publishedArguments(a *model.Action) []release.Argument {
	if !takesArguments(a) {
		return nil
	}
	return published(a, argumentsOf(a))
}

// published says how a function is called that takes these arguments.
func published(a *model.Action, taken []argument) []release.Argument {
	var arguments []release.Argument
	for _, argument := range taken {
		arguments = append(arguments, release.Argument{Name: argument.Name, Type: argument.Type, Input: argument.path, Given: argument.given})
	}
	for _, last := range lastArguments(a) {
		arguments = append(arguments, release.Argument{Name: last.Name, Type: last.Type})
	}
	return arguments
}
