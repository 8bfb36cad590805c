package expr

import (
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// FuzzCheck checks every expression that parses, at every place and against every type
// of target, and evaluates accepted ones.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		`order.number == "x" && !(order.items.price > 5) || order.rush`,
		`order.customer.identity == ctx.identity`,
		`order.count in [1, -2.5e3, inNumber, null] && "a" in order.items.tags`,
		`order.at < "2027-03-01T09:00:00Z" && order.lasts == "P1DT2H30M" && order.due != "2027-03-01"`,
		`(a == b) == c < d`, `[[], [null]] == []`, `State.Open in [State.Closed]`, `event.sourceArm in ["note"]`,
		`ctx.headers.X == ctx.env.REGION`, `ctx`, `order`, `null in null`, `!!true`, `order.token == null`,
	} {
		f.Add(text)
	}
	schema := newTestSchema()
	f.Fuzz(func(t *testing.T, text string) {
		var syntaxErrs syntax.Errors
		e := parseOrNil("model Order { @validate("+text+") }", &syntaxErrs)
		if e == nil {
			return
		}
		isParsed := len(syntaxErrs) == 0
		scopes := []*testScope{schema.union()}
		for place := Where; place <= Default; place++ {
			scopes = append(scopes, schema.at(place))
		}
		for _, scope := range scopes {
			var errs syntax.Errors
			n := Check(e, scope, &errs)
			if isParsed && (n == nil) != (len(errs) > 0) {
				t.Errorf("%s at place %d: node is %v, but reported is %q", text, scope.place, n, reported(errs))
			}
			if n != nil && choices(n) < 10 {
				evaluate(n)
			}
			for _, target := range []string{"Text", "ID?", "Number", "Decimal", "Boolean", "Date", "Timestamp?", "Duration", "State", "Customer",
				"File", "Vector", "Password", "Secret", "Text[]", "Decimal[]?", "State[]"} {
				typ, optional := testType(target)
				var errs syntax.Errors
				n := CheckValue(e, Target{Type: typ, Optional: optional, Name: "order.target"}, scope, &errs)
				if isParsed && (n == nil) != (len(errs) > 0) {
					t.Errorf("%s into %s at place %d: node is %v, but reported is %q", text, target, scope.place, n, reported(errs))
				}
			}
		}
	})
}

// choices returns how many to-many steps an expression has, at any depth: each
// doubles the work of the interpreter.
func choices(n Node) int {
	count := 0
	for _, p := range Paths(n) {
		for _, s := range p.Steps {
			if isToMany(s) {
				count++
			}
		}
	}
	return count
}

// evaluate evaluates an expression in every way, with nothing known and with
// rows without fields.
func evaluate(n Node) {
	empty := row("r")
	child := row("t")
	parent := row("o", "items", []Row{child, child}, "customer", []Row{empty})
	for _, call := range []Call{{Row: empty}, {Row: parent, Identity: empty}} {
		call.Now = "2027-03-01T00:00:00.000Z"
		Holds(call, n)
		Admits(call, n)
		Validate(call, n)
		Early(call, n)
		earlyWithoutInputs(call, n)
	}
}
