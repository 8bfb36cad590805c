package call

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
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
	SizeArgument    = pg.Argument{Name: "first", Type: "bigint"}
	formArgument    = pg.Argument{Name: "form", Type: "text"}
)

// Argument is an argument that takes a part of a request, or tells whether a request gives it.
type Argument struct {
	pg.Argument
	Path  string       // of the part in the body of the request, dotted
	Input *model.Input // nil for the page of a list
	Given bool
}

// takesArguments tells whether the function of an action takes its inputs one by one.
func takesArguments(a *model.Action) bool {
	switch a.Kind {
	case model.Get, model.Delete:
	case model.Create, model.Update:
		if len(value.Levels(a).Children) > 0 {
			return false
		}
	default:
		return false
	}
	if a.Custom || a.Many || a.Invitation != nil || rule.IsPrepared(a) || slices.ContainsFunc(a.Reads, func(in *model.Input) bool { return in.Optional }) {
		return false
	}
	return MayTake(a, a.Function, argumentsOf(a))
}

// MayTake tells whether a function can take arguments of these names and types.
func MayTake(a *model.Action, function string, arguments []Argument) bool {
	names := []string{callerArgument.Name, tokenArgument.Name, contextArgument.Name}
	if a.Kind == model.List {
		names = append(names, formArgument.Name)
	}
	for _, argument := range arguments {
		in := argument.Input
		if in != nil && (in.Message != nil || in.Type.Array) || argument.Type == "" || slices.Contains(names, argument.Name) {
			return false
		}
		names = append(names, argument.Name)
	}
	if len(names)-1 > value.MaxInputs || slices.ContainsFunc(names, func(name string) bool { return isMeantOtherwise(name, a) }) {
		return false
	}
	return !slices.ContainsFunc(value.ModelsRead(a), func(m *model.Model) bool {
		return rule.IsAliasOf(m.Table, function) // arguments could be qualified by it, as columns are
	})
}

// argumentsOf returns the arguments that take the inputs of an action.
func argumentsOf(a *model.Action) []Argument {
	var arguments []Argument
	for _, in := range append(a.Reads[:len(a.Reads):len(a.Reads)], a.Writes...) {
		name, path := model.SnakeForm(in.Name), strings.Join(value.RequestPath(a, in), ".")
		arguments = append(arguments, Argument{pg.Argument{Name: name, Type: ArgumentType(in)}, path, in, false})
		if asksWhetherGiven(a, in) {
			arguments = append(arguments, Argument{pg.Argument{Name: name + "_given", Type: "boolean"}, path, in, true})
		}
	}
	return arguments
}

// asksWhetherGiven tells whether an action treats an absent input differently from null.
func asksWhetherGiven(a *model.Action, in *model.Input) bool {
	isNullable, matters := in.Nullable, false
	for _, w := range value.Levels(a).Writes {
		switch {
		case w.Input == in:
			isNullable = isNullable || mayBeNull(w)
		case w.Set == nil || !slices.Contains(value.OptionalInputsOf(w.Set.Value), in):
			continue
		}
		matters = matters || a.Kind == model.Update || value.ColumnDefault(w.Field) != nil
	}
	return in.Optional && isNullable && matters
}

// isMeantOtherwise tells whether the statements of an action's function would take an argument's name for something
// else, or the other way round.
func isMeantOtherwise(name string, a *model.Action) bool {
	switch name {
	case "found", "record", "record_", "identity", "validity", "page":
		return true
	}
	return strings.HasPrefix(name, "v_") || len(name) > pg.MaxIdent ||
		slices.ContainsFunc(value.ModelsRead(a), func(m *model.Model) bool { return rule.IsAliasOf(m.Table, name) })
}

// ArgumentType is the type of the argument that takes an input, as Postgres prints it; it is empty without an argument.
func ArgumentType(in *model.Input) string { return ArgumentTypeOf(in.Type.Kind) }

// ArgumentTypeOf is the type of an argument that takes a value of a kind, empty if none can.
func ArgumentTypeOf(kind expr.Kind) string {
	switch kind {
	case expr.ID, expr.Text, expr.Markdown, expr.Enum, expr.Number, expr.Decimal, expr.Boolean, expr.Date, expr.Duration:
		return value.CastType(kind)
	case expr.Timestamp:
		return "timestamp with time zone"
	}
	return ""
}

// takeArguments returns the arguments of a function that takes its inputs one by one, and uses them as the inputs'
// values. One that is named like a column is qualified by the function's name.
func (b *Builder) takeArguments(function string, taken []Argument) []pg.Argument {
	b.Given = map[*model.Input]pg.Expr{}
	var arguments []pg.Argument
	for _, argument := range taken {
		name := pg.ParamIdent(b.names.Take(argument.Name))
		if hasColumnLike(b.Action, func(column string) bool { return column == argument.Name }) {
			name = pg.Ident(function) + "." + name
		}
		value := pg.Var(name)
		switch {
		case argument.Input == nil:
		case argument.Given:
			b.Given[argument.Input] = value
		default:
			b.Values[argument.Input] = value
			b.Given[argument.Input] = pg.IsNotNull(value)
		}
		arguments = append(arguments, argument.Argument)
	}
	return append(arguments, lastArguments(b.Action)...)
}

// lastArguments are the arguments that hold the rest of the request.
func lastArguments(a *model.Action) []pg.Argument {
	read := mentionsOf(a)
	if a.IsLogged || len(read.Headers)+len(read.Env)+len(read.Secrets) > 0 {
		return []pg.Argument{contextArgument}
	}
	return []pg.Argument{callerArgument, tokenArgument}
}

// PublishedArguments says how the function of an action is called, if it takes its inputs
// one by one.
func PublishedArguments(a *model.Action) []release.Argument {
	if !takesArguments(a) {
		return nil
	}
	return Published(a, argumentsOf(a))
}

// Published says how a function is called that takes these arguments.
func Published(a *model.Action, taken []Argument) []release.Argument {
	var arguments []release.Argument
	for _, argument := range taken {
		arguments = append(arguments, release.Argument{Name: argument.Name, Type: argument.Type, Input: argument.Path, Given: argument.Given})
	}
	for _, last := range lastArguments(a) {
		arguments = append(arguments, release.Argument{Name: last.Name, Type: last.Type})
	}
	return arguments
}
