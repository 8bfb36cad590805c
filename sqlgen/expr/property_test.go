package expr

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// generator makes random expressions, rows and calls over the test schema.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 1))} }

func (g generator) oneOf(choices ...string) string { return choices[g.IntN(len(choices))] }

// condition returns the text of a Boolean expression.
func (g generator) condition(depth int) string {
	if depth > 0 {
		switch g.IntN(5) {
		case 0, 1:
			return fmt.Sprintf("(%s && %s)", g.condition(depth-1), g.condition(depth-1))
		case 2:
			return fmt.Sprintf("(%s || %s)", g.condition(depth-1), g.condition(depth-1))
		case 3:
			return fmt.Sprintf("!(%s)", g.condition(depth-1))
		}
	}
	equality := g.oneOf("==", "!=")
	comparison := g.oneOf("==", "!=", "<", "<=", ">", ">=")
	switch g.IntN(9) {
	case 0:
		return g.boolean()
	case 1:
		return fmt.Sprintf("%s %s null", g.oneOf(g.number(), g.text(), g.customer(), g.identity(), g.toMany()), equality)
	case 2:
		return fmt.Sprintf("%s %s %s", g.customer(), equality, g.customer())
	case 3:
		return fmt.Sprintf("%s %s %s", g.identity(), equality, g.identity())
	case 4:
		return fmt.Sprintf("%s in [%s, %s]", g.text(), g.oneOf(`"a"`, "maybeText", "ctx.identity.email"), g.oneOf(`"b"`, "maybeText"))
	case 5:
		return fmt.Sprintf("%s in %s", g.number(), g.oneOf("order.nums", "order.items.price", "order.items.parts.weight", "[1]", "[maybeNumber]"))
	case 6:
		return fmt.Sprintf("%s %s %s", g.text(), comparison, g.text())
	case 7:
		return fmt.Sprintf("%s %s %s", g.boolean(), equality, g.boolean())
	}
	return fmt.Sprintf("%s %s %s", g.number(), comparison, g.number())
}

func (g generator) boolean() string {
	return g.oneOf("order.rush", "order.hidden", "order.items.done", "ctx.isAuthenticated", "ctx.identity.emailVerified", "true", "false",
		"ctx.identity.customer.orders.rush")
}

func (g generator) number() string {
	return g.oneOf("order.count", "order.maybe", "order.price", "order.items.price", "order.items.parts.weight", "maybeNumber", "1", "2",
		"ctx.identity.customer.orders.count")
}

func (g generator) text() string {
	return g.oneOf("order.number", "order.note", "order.items.what", "order.other.nick", "maybeText", `"a"`, "ctx.identity.email",
		"ctx.identity.customer.nick")
}

func (g generator) customer() string {
	return g.oneOf("order.other", "order.items.owner", "ctx.identity.customer")
}

func (g generator) identity() string {
	return g.oneOf("ctx.identity", "order.other.identity", "order.items.owner.identity")
}

func (g generator) toMany() string {
	return g.oneOf("order.items", "order.items.parts", "ctx.identity.customer.orders", "order.other.orders")
}

// digit and letter return small values that often meet, maybe returns null half
// of the time.
func (g generator) digit() any  { return g.oneOf("1", "2") }
func (g generator) letter() any { return g.oneOf("a", "b") }
func (g generator) maybe(v any) any {
	if g.IntN(2) == 0 {
		return nil
	}
	return v
}

// call returns a random call with every input given, if only as null, or with
// some absent.
func (g generator) call(withAbsent bool) Call {
	var identities, customers []Row
	for i := range 2 {
		id := row(fmt.Sprint("i", i), "email", g.maybe(g.letter()), "emailVerified", g.IntN(2) == 0)
		c := row(fmt.Sprint("c", i), "nick", g.maybe(g.letter()), "identity", []Row{id}, "orders", []Row{})
		if g.IntN(4) > 0 {
			id.related["customer"] = []Row{c}
		}
		for range g.IntN(3) {
			c.related["orders"] = append(c.related["orders"], row("o", "count", g.digit(), "rush", g.IntN(2) == 0))
		}
		identities, customers = append(identities, id), append(customers, c)
	}
	call := Call{Row: g.order(customers), Inputs: map[string]any{}}
	if g.IntN(4) > 0 {
		call.Identity = identities[g.IntN(2)]
	}
	for name, v := range map[string]any{"maybeNumber": g.maybe(g.digit()), "maybeText": g.maybe(g.letter())} {
		call.Inputs[name] = v
	}
	if withAbsent && g.IntN(2) == 0 {
		delete(call.Inputs, g.oneOf("maybeNumber", "maybeText"))
	}
	return call
}

// order returns a random order that is related to the customers.
func (g generator) order(customers []Row) Row {
	anyone := func() []Row {
		if i := g.IntN(3); i < 2 {
			return []Row{customers[i]}
		}
		return []Row{}
	}
	items := []Row{}
	for range g.IntN(3) {
		parts := []Row{}
		for range g.IntN(3) {
			parts = append(parts, row("p", "weight", g.maybe(g.digit())))
		}
		items = append(items, row("t", "what", g.letter(), "price", g.digit(), "done", g.maybe(g.IntN(2) == 0), "owner", anyone(), "parts", parts))
	}
	return row("o", "number", g.letter(), "note", g.maybe(g.letter()), "rush", g.IntN(2) == 0, "hidden", g.maybe(g.IntN(2) == 0),
		"count", g.digit(), "maybe", g.maybe(g.digit()), "price", g.digit(), "nums", []any{g.digit()}, "other", anyone(), "items", items)
}

// randomExpressions calls test with many random expressions.
func randomExpressions(t *testing.T, test func(g generator, schema *testSchema, text string)) {
	t.Helper()
	schema := newTestSchema()
	for seed := range uint64(3000) {
		g := newGenerator(seed)
		test(g, schema, g.condition(3))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestNotIsPlainNegation(t *testing.T) {
	t.Parallel()
	held := map[bool]int{}
	randomExpressions(t, func(g generator, schema *testSchema, text string) {
		e, not := check(t, schema.at(ActionRule), text), check(t, schema.at(ActionRule), "!("+text+")")
		for range 5 {
			call := g.call(false)
			holds := Holds(call, e)
			held[holds]++
			if holds == Holds(call, not) {
				t.Errorf("%s and its negation are both %t as a @where", text, holds)
			}
			if admits := Admits(call, e); admits == Admits(call, not) {
				t.Errorf("%s and its negation are both %t as a rule", text, admits)
			}
		}
	})
	if held[true] < 1000 || held[false] < 1000 {
		t.Errorf("expressions hold %d times and do not %d times: this shows little", held[true], held[false])
	}
}

// Choices distribute over ||, so an expression holds if an operand does. Under !
// each operand chooses for itself, so && becomes plain.
func TestChoicesDistribute(t *testing.T) {
	t.Parallel()
	shared := 0
	randomExpressions(t, func(g generator, schema *testSchema, text string) {
		other := g.condition(2)
		left, right := check(t, schema.at(Where), text), check(t, schema.at(Where), other)
		or := check(t, schema.at(Where), text+" || "+other)
		and := check(t, schema.at(Where), text+" && "+other)
		plain := check(t, schema.at(Where), "!(!("+text+") || !("+other+"))")
		for range 5 {
			call := g.call(false)
			l, r := Holds(call, left), Holds(call, right)
			if got := Holds(call, or); got != (l || r) {
				t.Errorf("%s || %s: got %t, but the operands are %t and %t", text, other, got, l, r)
			}
			if got := Holds(call, plain); got != (l && r) {
				t.Errorf("!(!(%s) || !(%s)): got %t, but the operands are %t and %t", text, other, got, l, r)
			}
			joined := Holds(call, and)
			if joined && !(l && r) {
				t.Errorf("%s && %s holds, but the operands are %t and %t", text, other, l, r)
			}
			if joined != Holds(call, left, right) {
				t.Errorf("%s && %s is not the same as two @wheres", text, other)
			}
			if l && r && !joined {
				shared++
			}
		}
	})
	if shared == 0 {
		t.Error("no two operands ever needed different children: this shows little")
	}
}

func TestEarlyDecisionIsSound(t *testing.T) {
	t.Parallel()
	decided := map[Truth]int{}
	randomExpressions(t, func(g generator, schema *testSchema, text string) {
		n := check(t, schema.at(ActionRule), text)
		call := g.call(true)
		early := Early(call, n)
		upload := earlyWithoutInputs(call, n)
		decided[early]++
		if upload != Unknown && upload != early {
			t.Errorf("%s: %s without inputs, but %s with them", text, upload, early)
		}
		for range 8 {
			other := g.call(true)
			call.Row = other.Row
			if got := truthOf(Admits(call, n)); early != Unknown && got != early {
				t.Errorf("%s: decided early as %s, but a row makes it %s", text, early, got)
			}
			call := Call{Row: other.Row, Identity: call.Identity, Inputs: other.Inputs}
			if got := truthOf(Admits(call, n)); upload != Unknown && got != upload {
				t.Errorf("%s: decided without inputs as %s, but a call makes it %s", text, upload, got)
			}
		}
	})
	for _, truth := range []Truth{False, Unknown, True} {
		if decided[truth] < 100 {
			t.Errorf("decided as %s only %d times: this shows little", truth, decided[truth])
		}
	}
}
