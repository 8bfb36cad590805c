package lower

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// A function whose inputs are all there in each request takes each as an argument of its
// type, and behind them who calls, or the whole context if more of that is read. Other
// functions take the input as JSON, which tells what is absent from what is null.

var (
	callerArgument  = pg.Argument{Name: "caller", Type: "text"}
	contextArgument = pg.Argument{Name: "context", Type: release.ContextType}
)

// takesArguments tells whether the function of an action takes its inputs one by one.
func takesArguments(a *schema.Action) bool {
	switch {
	case a.Kind != schema.Get && a.Kind != schema.Delete, a.Custom, isPrepared(a):
		return false
	}
	return !slices.ContainsFunc(a.Reads, func(in *schema.Input) bool {
		return in.Optional || in.Message != nil || in.Type.Array || argumentType(in) == "" || isMeantOtherwise(argumentName(in), a)
	}) && !isMeantOtherwise(callerArgument.Name, a) && !slices.ContainsFunc(modelsRead(a), func(m *schema.Model) bool {
		return isAliasOf(m.Table, a.Function) // by which arguments could be qualified, as columns are
	})
}

// argumentName is the name of the argument that takes an input.
func argumentName(in *schema.Input) string { return schema.SnakeForm(in.Name) }

// isMeantOtherwise tells whether an argument of a name would be taken for something else in
// the statements of an action's function, or the other way round.
func isMeantOtherwise(name string, a *schema.Action) bool {
	switch name {
	case "found", "record", "record_", "identity", "page":
		return true
	case callerArgument.Name, contextArgument.Name:
		if slices.ContainsFunc(a.Reads, func(in *schema.Input) bool { return argumentName(in) == name }) {
			return true
		}
	}
	return strings.HasPrefix(name, "v_") || len(name) > pg.MaxIdent ||
		slices.ContainsFunc(modelsRead(a), func(m *schema.Model) bool { return isAliasOf(m.Table, name) })
}

// argumentType is the type of the argument that takes an input, as Postgres prints it;
// empty if none does.
func argumentType(in *schema.Input) string {
	switch in.Type.Kind {
	case expr.ID, expr.Text, expr.Markdown, expr.Enum, expr.Number, expr.Decimal, expr.Boolean, expr.Date, expr.Duration:
		return castType(in.Type.Kind)
	case expr.Timestamp:
		return "timestamp with time zone"
	}
	return ""
}

// takeArguments returns the arguments of a function that takes its inputs one by one, and
// makes them the values of these.
func (b *builder) takeArguments() []pg.Argument {
	var arguments []pg.Argument
	for _, in := range b.action.Reads {
		name := b.names.Take(argumentName(in))
		arguments = append(arguments, pg.Argument{Name: name, Type: argumentType(in)})
		b.values[in] = pg.Var(pg.ParamIdent(name))
	}
	return append(arguments, lastArgument(b.action))
}

// lastArgument is what a function is told of the request beside its inputs.
func lastArgument(a *schema.Action) pg.Argument {
	read := mentionsOf(a)
	if len(read.Headers)+len(read.Env)+len(read.Secrets) > 0 {
		return contextArgument
	}
	return callerArgument
}

// publishedArguments says how the function of an action is called, if it takes its inputs
// one by one.
func publishedArguments(a *schema.Action) []release.Argument {
	if !takesArguments(a) {
		return nil
	}
	var arguments []release.Argument
	for _, in := range a.Reads {
		arguments = append(arguments, release.Argument{Name: argumentName(in), Type: argumentType(in), Input: in.Name})
	}
	last := lastArgument(a)
	return append(arguments, release.Argument{Name: last.Name, Type: last.Type})
}
