package call

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/role"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/table"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// A function enters its call before it does anything else: it sets, for its transaction, the settings of the call that
// its statements and the policies read. It always sets all of them, to nothing if need be, so that no setting of an
// earlier call in the same transaction counts. It sets nothing more, since each setting is work for every call.

// enter starts a function of an action, which takes forms as arguments if it is for forms of a list.
func (l *Lowering) enter(a *model.Action, name, title string, volatility pg.Volatility, forms []Argument) *Builder {
	b := &Builder{
		Action: a, Model: a.Model, Table: value.TableOf(a),
		HidesRefused: l.Schema.Config.HideRefusedRows,
		names:        pg.NewNames(), Values: map[*model.Input]pg.Expr{},
	}
	for _, name := range ownVariables {
		b.names.Take(name)
	}
	var taken []Argument
	arguments := []pg.Argument{{Name: "input", Type: "jsonb"}, {Name: "context", Type: "jsonb"}}
	switch {
	case forms != nil:
		taken = forms
		arguments = append(b.takeArguments(name, taken), formArgument)
		for _, in := range a.Reads {
			if b.Values[in] == nil { // no request for these forms gives it
				b.Values[in], b.Given[in] = pg.As(pg.Null(), value.VariableType(in.Type)), pg.False()
			}
		}
	case name == rule.FunctionName(a) && takesArguments(a):
		taken = argumentsOf(a)
		arguments = b.takeArguments(name, taken)
	}
	// Postgres reports a bare name that is also a column's as ambiguous.
	isBare := func(name string) bool {
		isInput := func(g Argument) bool { return g.Input != nil && g.Name == name }
		return strings.HasPrefix(name, "v_") ||
			slices.ContainsFunc(arguments, func(g pg.Argument) bool { return g.Name == name }) && !slices.ContainsFunc(taken, isInput)
	}
	b.Fn = &pg.Function{
		Schema:      value.APISchema,
		Name:        name,
		Title:       title,
		Origin:      pg.Origin{Of: "action " + a.Name + " of " + rule.OwnerOf(a), Place: table.PlaceOf(a.Span)},
		Comment:     a.Doc,
		Arguments:   arguments,
		Returns:     answers(a),
		Volatility:  volatility,
		UseVariable: hasColumnLike(a, isBare),
	}
	if b.Fn.Comment == "" {
		b.Fn.Comment = fmt.Sprintf("action %s of %s", a.Name, rule.OwnerOf(a))
	}
	if owner := l.Owners[a.Name]; owner != role.Caller {
		b.Fn.Owner = owner
	}
	b.isNamed = rule.ProvesCaller(a)
	if a.Custom {
		// Code may read any setting of the call, and the compiler cannot know which.
		b.Step("", &pg.Perform{Value: pg.Fn("platform.enter", pg.Str(rule.CustomCode), value.Context)})
		if a.IsLogged {
			b.Step("", &pg.Perform{Value: setting("origin", pg.Str(a.Name))})
		}
		return b
	}
	b.lookForCaller()
	return b
}

// lookForCaller ends the call of a caller who does not exist any more, unless the rules prove that a caller who
// finds a row exists.
func (b *Builder) lookForCaller() {
	if b.isNamed {
		return
	}
	caller := b.callerID()
	isThere := &pg.Exists{Query: &pg.Select{From: &pg.CallRef{Call: pg.Fn("platform.caller", caller, b.token())}}}
	refuse := &pg.Query{Select: &pg.Select{
		Columns: []pg.Output{{Value: pg.Fn("platform.refuse_caller", caller)}},
		Where:   pg.Negate(isThere),
	}}
	// In one condition with the other, Postgres would plan the look for anonymous callers too.
	b.Step("", pg.IfThen(pg.IsNotNull(caller), refuse))
}

// callerID is the caller's id as the function got it, null for an anonymous caller.
func (b Builder) callerID() pg.Expr {
	if slices.Contains(b.Fn.Arguments, callerArgument) {
		return pg.Var(callerArgument.Name)
	}
	return value.MemberText(value.Context, "identityId")
}

// token is the caller's access token as the function got it; null for a machine's key.
func (b Builder) token() pg.Expr {
	if slices.Contains(b.Fn.Arguments, tokenArgument) {
		return pg.Var(tokenArgument.Name)
	}
	return value.MemberText(value.Context, "token")
}

// callerAtHand is callerID for expressions; nil for custom code, which enters in full.
func (b Builder) callerAtHand() pg.Expr {
	if b.Action.Custom {
		return nil
	}
	return b.callerID()
}

// End ends the call by a function of the platform, or lets that function decide. All of them look for the caller before
// they answer anything else.
func (b *Builder) End(function string, arguments ...pg.Expr) *pg.Perform {
	b.tellsCaller = true
	return &pg.Perform{Value: pg.Fn(function, arguments...)}
}

// entered declares the variable by which the function enters its call.
func (b *Builder) entered() []*pg.Variable {
	if b.Action.Custom {
		return nil
	}
	var settings []pg.Expr
	set := func(name string, value pg.Expr) { settings = append(settings, setting(name, value)) }
	if !b.NoPolicies { // only policies ask for the action
		set("action", pg.Str(b.Action.Name))
	}
	read := mentionsOf(b.Action)
	if b.tellsCaller || b.Action.IsLogged || read.Identity || read.IsAuthenticated || namesRoles(b.Action.Rules) {
		set("identity_id", b.callerID())
	}
	if b.tellsCaller || namesRoles(b.Action.Rules) || read.Session() {
		set("token", b.token())
	}
	if b.Action.IsLogged && !b.NoPolicies { // for the record of what it writes
		set("origin", pg.Str(b.Action.Name))
		set("request_id", value.MemberText(value.Context, "requestId"))
	}
	if b.ReadsZone {
		set("time_zone", value.MemberText(value.Context, "timeZone"))
	}
	for _, part := range []struct {
		name  string
		names []string
	}{{"headers", read.Headers}, {"env", read.Env}, {"secrets", read.Secrets}} {
		for _, name := range part.names {
			value := value.MemberText(value.Context, part.name, name)
			if part.name == "headers" {
				value = marked(value)
			}
			set(part.name+"."+name, value)
		}
	}
	for _, in := range b.bound {
		set("inputs."+model.SnakeForm(in.Name), marked(pg.As(b.Value(in), "text")))
	}
	if settings == nil {
		return nil
	}
	return []*pg.Variable{{Name: "v_entered", Type: "text", Initial: Concatenated(settings...)}}
}

// setting sets a setting of the call for its transaction.
func setting(name string, value pg.Expr) pg.Expr {
	return pg.Fn("set_config", pg.Str("sternpost."+name), value, pg.True())
}

// marked puts a mark before a text, which tells an empty one from null.
func marked(text pg.Expr) pg.Expr { return pg.Op(pg.Str("="), "||", text) }

// mentionsOf is what the functions of an action read of the call, where its expressions name it.
func mentionsOf(a *model.Action) expr.Mentioned {
	return expr.Mentions(append(value.ExpressionsRead(a), value.ArmExpressions(a)...)...)
}

// namesRoles tells whether rules ask for the caller's roles.
func namesRoles(rules []*model.Rule) bool {
	return slices.ContainsFunc(rules, func(r *model.Rule) bool { return len(r.Roles) > 0 })
}

// FiltersByPeriod tells whether the filter of a list may name a period, which begins with the caller's day.
func FiltersByPeriod(a *model.Action) bool {
	return slices.ContainsFunc(a.Reads, func(in *model.Input) bool {
		return !in.Explicit && slices.ContainsFunc(value.InputOperators(in), func(o expr.Filter) bool { return o.Operand == expr.RelativePeriod })
	})
}
