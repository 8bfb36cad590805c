package expr

import (
	"reflect"
	"slices"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

func TestMentions(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	n := check(t, schema.at(Where), `!(order.count > inNumber) && inText in [ctx.env.REGION, inID, inText, ctx.headers.Lang]
		|| ctx.secrets.KEY == ctx.headers.Lang && order.at < ctx.now`)
	m := Mentions(n)
	var inputs []string
	for _, i := range m.Inputs {
		inputs = append(inputs, i.InputName())
	}
	if want := []string{"inNumber", "inText", "inID"}; !slices.Equal(inputs, want) {
		t.Errorf("inputs: got %q, want %q", inputs, want)
	}
	m.Inputs = nil
	want := Mentioned{Row: true, Now: true, Headers: []string{"snake_Lang"}, Env: []string{"REGION"}, Secrets: []string{"KEY"}}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v, want %+v", m, want)
	}
	m = Mentions(check(t, schema.at(Where), `ctx.identity.emailVerified`), check(t, schema.at(Where), `ctx.isAuthenticated`))
	if want := (Mentioned{Identity: true, IsAuthenticated: true}); !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v, want %+v", m, want)
	}
}

func TestPrefixes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string // the names of the steps, joined
	}{
		{`order.count > 1`, nil},
		{`order.items.price > 1 && order.items.what == "x"`, []string{"items"}},
		{`order.items.parts.weight > 1 && order.items.what == "x"`, []string{"items", "items.parts"}},
		{`order.items == null`, nil},
		{`order.items.parts == null`, []string{"items"}},
		{`"x" in order.items`, []string{"items"}},
		{`!(order.items.price > 1)`, nil},
		{`order.items.price > 1 || !(order.items.parts.weight > 1)`, []string{"items"}},
		{`1 in ctx.identity.customer.orders.items.price`, []string{"customer.orders", "customer.orders.items"}},
		{`order.number in ["x", ctx.identity.customer.orders.number]`, []string{"customer.orders"}},
		{`order.items.done`, []string{"items"}},
		{`[ctx.identity.customer.orders.number] != null`, []string{"customer.orders"}},
	}
	schema := newTestSchema()
	for _, test := range tests {
		var got []string
		for _, p := range Prefixes(check(t, schema.at(Where), test.text)) {
			name := ""
			for i, s := range p.Steps {
				if i > 0 {
					name += "."
				}
				name += s.StepName()
			}
			got = append(got, name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.text, got, test.want)
		}
	}
}

func TestInspectStopsWhereToldTo(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	n := check(t, schema.at(Where), `order.rush && !(order.count in [inNumber]) || order.hidden`)
	var all, outside int
	Inspect(n, func(Node) bool { all++; return true })
	Inspect(n, func(n Node) bool {
		outside++
		_, isNot := n.(*Not)
		return !isNot
	})
	if all != 9 || outside != 5 {
		t.Errorf("visited %d nodes, %d outside of !; want 9 and 5", all, outside)
	}
}

func TestRowPath(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	scope := schema.at(ArmValue)
	other, _ := scope.Field("Order", "other")
	name, _ := scope.Field("Customer", "name")
	items, _ := scope.Field("Order", "items")
	tests := []struct {
		steps     []Step
		typ       Type
		mayBeNull bool
		toMany    bool
	}{
		{nil, Type{Kind: Model, Name: "Order"}, false, false},
		{[]Step{other}, Type{Kind: Model, Name: "Customer"}, true, false},
		{[]Step{other, name}, Type{Kind: Text}, true, false},
		{[]Step{items}, Type{Kind: Model, Name: "Item", Array: true}, false, true},
	}
	for _, test := range tests {
		p := RowPath("Order", test.steps, syntax.Span{})
		if p.Type() != test.typ || p.MayBeNull() != test.mayBeNull || p.ThroughToMany() != test.toMany {
			t.Errorf("%v: got %s, may be null %t, through a to-many %t", test, p.Type(), p.MayBeNull(), p.ThroughToMany())
		}
	}
	for text, want := range map[string]bool{
		`ctx.isAuthenticated == true`:         false,
		`ctx.identity.emailVerified == true`:  true,
		`maybeNumber == 1`:                    true,
		`inNumber == 1`:                       false,
		`ctx.headers.X == "x"`:                true,
		`order.customer.identity.email == ""`: true,
	} {
		p := check(t, schema.at(Where), text).(*Compare).Left.(*Path)
		if got := p.MayBeNull(); got != want {
			t.Errorf("%s: left side may be null: got %t, want %t", text, got, want)
		}
	}
}
