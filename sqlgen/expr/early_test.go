package expr

import "testing"

func TestEarly(t *testing.T) {
	t.Parallel()
	ann := row("i1", "email", "ann@example.com", "emailVerified", true,
		"customer", []Row{row("c1", "orders", []Row{row("o1", "number", "7"), row("o2", "number", "8")})})
	given := map[string]any{"maybeNumber": "3", "inText": "ann@example.com"}
	tests := []struct {
		text      string
		ann       Truth // inputs given
		anonymous Truth // inputs given
		without   Truth // ann, inputs absent
		upload    Truth // ann, inputs unknown
	}{
		{`true`, True, True, True, True},
		{`order.rush`, Unknown, Unknown, Unknown, Unknown},
		{`!order.rush`, Unknown, Unknown, Unknown, Unknown},
		{`order.rush || !order.rush`, Unknown, Unknown, Unknown, Unknown},
		{`order.rush && false`, False, False, False, False},
		{`order.rush || true`, True, True, True, True},
		{`ctx.isAuthenticated && order.rush`, Unknown, False, Unknown, Unknown},
		{`!ctx.isAuthenticated || order.rush`, Unknown, True, Unknown, Unknown},
		{`order.customer.identity == ctx.identity`, Unknown, False, Unknown, Unknown},
		{`order.customer.identity != ctx.identity`, Unknown, False, Unknown, Unknown},
		{`!(order.customer.identity == ctx.identity)`, Unknown, True, Unknown, Unknown},
		{`order.number == ctx.identity.email`, Unknown, False, Unknown, Unknown},
		{`order.count in []`, Unknown, Unknown, Unknown, Unknown},
		{`order.items == null`, Unknown, Unknown, Unknown, Unknown},
		{`order == null`, Unknown, Unknown, Unknown, Unknown},
		{`order.items.price > 2 && false`, False, False, False, False},
		{`order.maybe == maybeNumber`, Unknown, Unknown, False, Unknown},
		{`!(order.maybe == maybeNumber)`, Unknown, Unknown, True, Unknown},
		{`order.maybe in [maybeNumber]`, Unknown, Unknown, Unknown, Unknown},
		{`maybeNumber == null`, False, False, True, Unknown},
		{`maybeNumber > 2`, True, True, False, Unknown},
		{`maybeNumber > 2 && ctx.isAuthenticated`, True, False, False, Unknown},
		{`inText == ctx.identity.email`, True, False, False, Unknown},
		{`ctx.identity.emailVerified`, True, False, True, True},
		{`ctx.identity.customer.orders.number == "7"`, True, False, True, True},
		{`ctx.identity.customer.orders == null`, False, True, False, False},
		{`ctx.identity.customer.orders.number == "7" && ctx.identity.customer.orders.number == "8"`, False, False, False, False},
		{`ctx.identity.customer.orders.number == "7" && order.items.price > 2`, Unknown, False, Unknown, Unknown},
		{`ctx.identity.customer.orders.number == order.number`, Unknown, False, Unknown, Unknown},
	}
	schema := newTestSchema()
	for _, test := range tests {
		n := check(t, schema.at(ActionRule), test.text)
		if got := Early(Call{Identity: ann, Inputs: given}, n); got != test.ann {
			t.Errorf("%s: caller with inputs: got %s, want %s", test.text, got, test.ann)
		}
		if got := Early(Call{Inputs: given}, n); got != test.anonymous {
			t.Errorf("%s: anonymous with inputs: got %s, want %s", test.text, got, test.anonymous)
		}
		if got := Early(Call{Identity: ann}, n); got != test.without {
			t.Errorf("%s: caller without inputs: got %s, want %s", test.text, got, test.without)
		}
		if got := earlyWithoutInputs(Call{Identity: ann}, n); got != test.upload {
			t.Errorf("%s: caller, inputs unknown: got %s, want %s", test.text, got, test.upload)
		}
		if got := earlyWithoutInputs(Call{}, n); got != Unknown && got != Early(Call{Inputs: given}, n) {
			t.Errorf("%s: anonymous, inputs unknown: got %s, which inputs contradict", test.text, got)
		}
	}
	n := check(t, schema.at(ActionRule), `inText == ctx.identity.email`)
	if got := earlyWithoutInputs(Call{}, n); got != False {
		t.Errorf("no caller matches an unknown input: got %s, want false", got)
	}
}

// earlyWithoutInputs is Early for a caller whose inputs are not known yet, as when a file is uploaded before the call.
func earlyWithoutInputs(call Call, rule Node) Truth {
	return Foresee(call, rule, allBut(RootRow, RootInput), nil)
}
