package expr

import (
	"testing"
)

// testRow is a row in memory.
type testRow struct {
	id      string
	values  map[string]any
	related map[string][]Row
}

func (r *testRow) ID() string { return r.id }

func (r *testRow) Value(field string) any {
	if field == "id" {
		return r.id
	}
	return r.values[field]
}

func (r *testRow) Related(field string) []Row { return r.related[field] }

// row makes a row. Values are given as name, value pairs; a []Row holds the rows of
// a relation.
func row(id string, pairs ...any) *testRow {
	r := &testRow{id: id, values: map[string]any{}, related: map[string][]Row{}}
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		if rows, ok := pairs[i+1].([]Row); ok {
			r.related[name] = rows
			continue
		}
		r.values[name] = pairs[i+1]
	}
	return r
}

// anOrder makes an order.
func anOrder(pairs ...any) *testRow { return row("o1", pairs...) }

func item(what, price string, pairs ...any) *testRow {
	return row(what+price, append([]any{"what", what, "price", price}, pairs...)...)
}

func TestToManyChoices(t *testing.T) {
	t.Parallel()
	none := anOrder("rush", false)
	lamp9 := anOrder("items", []Row{item("lamp", "9")}, "rush", false)
	lamp3Chair9 := anOrder("items", []Row{item("lamp", "3"), item("chair", "9")}, "rush", false)
	chair9 := anOrder("items", []Row{item("chair", "9")}, "rush", false)
	fives := anOrder("items", []Row{item("chair", "5"), item("lamp", "5.0")}, "rush", true)
	fiveAndNine := anOrder("items", []Row{item("chair", "5"), item("lamp", "9")}, "rush", true)
	rows := []*testRow{none, lamp9, lamp3Chair9, chair9, fives, fiveAndNine}
	tests := []struct {
		text string
		want []bool // none, lamp9, lamp3Chair9, chair9, fives, fiveAndNine
	}{
		{`order.items.price > 5`, []bool{false, true, true, true, false, true}},
		{`order.items.price > 5 && order.items.what == "lamp"`, []bool{false, true, false, false, false, true}},
		{`order.items.price > 5 && !(order.items.what == "lamp")`, []bool{false, false, false, true, false, false}},
		{`order.items.price != 5`, []bool{false, true, true, true, false, true}},
		{`!(order.items.price == 5)`, []bool{true, true, true, true, false, false}},
		{`!(order.items.price != 5)`, []bool{true, false, false, false, true, false}},
		{`order.items == null || order.rush`, []bool{true, false, false, false, true, true}},
		{`order.items == null`, []bool{true, false, false, false, false, false}},
		{`order.items != null`, []bool{false, true, true, true, true, true}},
		{`null != order.items`, []bool{false, true, true, true, true, true}},
		{`!(order.items == null)`, []bool{false, true, true, true, true, true}},
		{`order.items.price == null`, []bool{false, false, false, false, false, false}},
		{`order.items.price != null`, []bool{false, true, true, true, true, true}},
		{`order.items.price > 5 || order.rush`, []bool{false, true, true, true, true, true}},
		{`order.items.price > 5 || !order.rush`, []bool{true, true, true, true, false, true}},
		{`"lamp" in order.items.what`, []bool{false, true, true, false, true, true}},
		{`"lamp" in order.items.what && order.items.price > 5`, []bool{false, true, false, false, false, true}},
		{`order.items.what in ["lamp", "stool"] && order.items.price in [3, 5]`, []bool{false, false, true, false, true, false}},
		{`"lamp9" in order.items && order.items.price == 9`, []bool{false, true, false, false, false, true}},
		{`"lamp9" in order.items && order.items.price == 5`, []bool{false, false, false, false, false, false}},
		{`!!(order.items.price > 5)`, []bool{false, true, true, true, false, true}},
		{`!(!(order.items.price > 5) && order.rush)`, []bool{true, true, true, true, false, true}},
	}
	schema := newTestSchema()
	for _, test := range tests {
		n := check(t, schema.at(Where), test.text)
		for i, r := range rows {
			if got := Holds(Call{Row: r}, n); got != test.want[i] {
				t.Errorf("%s: row %d: got %t, want %t", test.text, i, got, test.want[i])
			}
		}
	}
}

// Several @wheres are conjuncts of one expression, so they are about the same child.
func TestWheresShareTheirChoices(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	price := check(t, schema.at(Where), `order.items.price > 5`)
	lamp := check(t, schema.at(Where), `order.items.what == "lamp"`)
	input := check(t, schema.at(Where), `order.items.what == maybeText`)
	call := Call{Row: anOrder("items", []Row{item("lamp", "3"), item("chair", "9")})}
	if !Holds(call, price) || !Holds(call, lamp) || Holds(call, price, lamp) {
		t.Error("each @where by itself holds of some item, but both hold of none")
	}
	if !Holds(call, price, input) {
		t.Error("a @where that mentions an absent input is not skipped")
	}
	call.Inputs = map[string]any{"maybeText": "lamp"}
	if Holds(call, price, input) {
		t.Error("a @where that mentions an input is skipped though the input is given")
	}
	if !Holds(call) {
		t.Error("no @where does not hold")
	}
}

// A longer prefix chooses among the children of the row that the shorter one chose.
func TestNestedChoices(t *testing.T) {
	t.Parallel()
	bolt, screw := row("p1", "name", "bolt", "weight", "2"), row("p2", "name", "screw", "weight", "7")
	tests := []struct {
		text string
		want bool
	}{
		{`order.items.parts.name == "bolt" && order.items.what == "lamp"`, true},
		{`order.items.parts.name == "screw" && order.items.what == "lamp"`, false},
		{`order.items.what == "lamp" && order.items.parts.name == "screw"`, false},
		{`order.items.parts.name == "bolt" && order.items.parts.weight == 2`, true},
		{`order.items.parts.name == "bolt" && order.items.parts.weight == 7`, false},
		{`order.items.parts == null && order.items.what == "stool"`, true},
		{`order.items.parts == null && order.items.what == "lamp"`, false},
		{`order.items.parts != null && order.items.what == "chair"`, true},
		{`order.items.parts.weight > 100 || order.items.what == "stool"`, true},
		{`!(order.items.parts.weight > 100)`, true},
		{`order.items.what == "lamp" && !(order.items.parts.name == "screw")`, false},
	}
	schema := newTestSchema()
	call := Call{Row: anOrder("items", []Row{
		item("lamp", "1", "parts", []Row{bolt}),
		item("chair", "2", "parts", []Row{screw}),
		item("stool", "3"),
	})}
	for _, test := range tests {
		if got := Holds(call, check(t, schema.at(Where), test.text)); got != test.want {
			t.Errorf("%s: got %t, want %t", test.text, got, test.want)
		}
	}
}

func TestTruthAndNull(t *testing.T) {
	t.Parallel()
	ann := row("c1", "name", "Ann", "nick", nil)
	call := Call{
		Now: "2027-03-01T12:00:00.000Z",
		Row: row("o1",
			"number", "7", "note", nil, "state", "Open", "rush", true, "hidden", nil,
			"count", "3", "maybe", nil, "price", "1.50", "due", "2027-03-01", "at", "2027-03-01T00:00:00.000Z",
			"lasts", "PT1H", "tags", []any{"a", "b"}, "nums", []any{"1", "2"}, "costs", nil, "flags", []any{},
			"customer", []Row{ann}, "customerId", "c1", "otherId", nil),
		Inputs:  map[string]any{"inNumber": "3", "inText": "7", "maybeNumber": nil, "inTexts": []any{"a", "b"}},
		Headers: map[string]string{"snake_Lang": "en"},
		Env:     map[string]string{"REGION": "eu"},
		Secrets: map[string]string{"KEY": "k"},
	}
	tests := []struct {
		text string
		want bool
	}{
		{`order.count + 1 == 4`, true},
		{`order.count - 1 - 1 == 1`, true},
		{`order.count + 2 * 3 == 9 && (order.count + 2) * 3 == 15 && -order.count + 4 == 1`, true},
		{`10 / order.count == 3.333333333333333333`, true},
		{`-20 / order.count == -6.666666666666666667`, true},
		{`order.count / (order.count - 3) == null`, true},
		{`order.maybe + 1 == null`, true},
		{`order.maybe + 1 != 3`, true},
		{`order.maybe + 1 < 3`, false},
		{`9007199254740991 * 9007199254740991 > 9007199254740991 * 9007199254740990`, true},
		{`0.1 + 0.2 == 0.3`, true},
		{`order.number + "-" + inText == "7-7"`, true},
		{`order.note + "x" == null`, true},
		{`order.lasts + "PT30M" == "PT90M" && order.lasts - "PT2H" == -order.lasts`, true},
		{`order.due + "P1M" == "2027-04-01T00:00:00Z" && order.due - "PT1S" == "2027-02-28T23:59:59Z"`, true},
		{`order.due - "P1D" - "P1M" + "P1M" == "2027-02-28T00:00:00Z" && order.due - "P1D" + "P3D" + "P1M" == "2027-04-03T00:00:00Z"`, true},
		{`ctx.now - order.at == "PT12H" && ctx.now - order.due == "PT12H" && order.at - ctx.now == "PT-12H"`, true},
		{`order.maybe == null`, true},
		{`order.maybe != null`, false},
		{`order.maybe != 3`, true},
		{`order.maybe == 3`, false},
		{`order.maybe == order.parent.count`, true},
		{`order.maybe != order.parent.count`, false},
		{`order.note == order.note`, true},
		{`order.maybe < 3`, false},
		{`order.maybe >= 3`, false},
		{`!(order.maybe < 3)`, true},
		{`order.maybe in [3]`, false},
		{`!(order.maybe in [3])`, true},
		{`null in ["a"]`, false},
		{`null in order.tags`, false},
		{`order.count in []`, false},
		{`order.count in order.costs`, false},
		{`order.hidden`, false},
		{`!order.hidden`, true},
		{`order.hidden == null`, true},
		{`order.hidden != true`, true},
		{`order.rush`, true},
		{`true && !false`, true},
		{`order.other.name == null`, true},
		{`order.other.name == "Ann"`, false},
		{`order.other.name != "Ann"`, true},
		{`order.other == null`, true},
		{`order.other.orders == null`, true},
		{`order.other.orders.number == null`, false},
		{`order.other.orders.number != "x"`, false},
		{`order.customer.nick == null`, true},
		{`order.customer == "c1"`, true},
		{`order.customer == order.customerId`, true},
		{`order.customer in ["c1"]`, true},
		{`order == "o1"`, true},
		{`order.otherId == null`, true},
		{`order.count == 3.0`, true},
		{`order.price == 1.5`, true},
		{`order.count > order.price`, true},
		{`order.count <= 3 && order.count >= 3 && !(order.count < 3) && !(order.count > 3)`, true},
		{`order.due == order.at`, true},
		{`order.due < ctx.now`, true},
		{`order.at == "2027-03-01T01:00:00+01:00"`, true},
		{`order.lasts == "PT60M"`, true},
		{`order.lasts < "P1D"`, true},
		{`"P1M" == order.lasts`, false},
		{`order.tags == ["a", "b"]`, true},
		{`order.tags == ["b", "a"]`, false},
		{`order.tags != ["a"]`, true},
		{`order.tags == inTexts`, true},
		{`order.nums == [1.0, 2]`, true},
		{`order.costs == null`, true},
		{`order.costs == []`, false},
		{`order.costs != []`, true},
		{`order.flags == []`, true},
		{`"a" in order.tags`, true},
		{`2 in order.nums`, true},
		{`order.number == inText`, true},
		{`order.number in [inText, "8"]`, true},
		{`order.state == State.Open`, true},
		{`order.state in [State.Closed]`, false},
		{`order.maybe == maybeNumber`, true},
		{`order.count < maybeNumber`, false},
		{`ctx.headers.Lang == "en"`, true},
		{`ctx.headers.Other == ""`, false},
		{`ctx.headers.Other == null`, true},
		{`ctx.headers.Lang == null`, false},
		{`ctx.headers.Other != "en"`, true},
		{`ctx.env.REGION == "eu" && ctx.secrets.KEY == "k"`, true},
		{`order.number < "8" && order.number >= "10"`, true},
		{`order.number == "7" || order.rush && false`, true},
	}
	schema := newTestSchema()
	for _, test := range tests {
		if got := Holds(call, check(t, schema.at(Where), test.text)); got != test.want {
			t.Errorf("%s: got %t, want %t", test.text, got, test.want)
		}
	}
}

// Without a caller, or with a null path from the caller, a comparison is false,
// unless it is with the literal null.
func TestNoCallerNoMatch(t *testing.T) {
	t.Parallel()
	ann := row("i1", "email", "ann@example.com", "emailVerified", true,
		"customer", []Row{row("c1", "name", "Ann", "nick", nil, "orders", []Row{row("o1", "number", "7")})})
	bare := row("i2", "email", nil, "emailVerified", false)
	owned := row("o1", "note", nil, "number", "7", "other", []Row{row("c1", "name", "Ann", "nick", nil, "identity", []Row{ann})})
	ownerless := row("o2", "note", nil, "number", "8")
	tests := []struct {
		text string
		want [4]bool // ann on owned, ann on ownerless, anonymous on ownerless, bare on ownerless
	}{
		{`order.other.identity == ctx.identity`, [4]bool{true, false, false, false}},
		{`order.other.identity != ctx.identity`, [4]bool{false, true, false, true}},
		{`!(order.other.identity == ctx.identity)`, [4]bool{false, true, true, true}},
		{`ctx.identity != null`, [4]bool{true, true, false, true}},
		{`ctx.identity == null`, [4]bool{false, false, true, false}},
		{`ctx.isAuthenticated`, [4]bool{true, true, false, true}},
		{`ctx.isAuthenticated == false`, [4]bool{false, false, true, false}},
		{`ctx.identity == ctx.identity`, [4]bool{true, true, false, true}},
		{`ctx.identity.email == order.note`, [4]bool{false, false, false, false}},
		{`ctx.identity.email != order.note`, [4]bool{true, true, false, false}},
		{`ctx.identity.email == null`, [4]bool{false, false, true, true}},
		{`ctx.identity.emailVerified`, [4]bool{true, true, false, false}},
		{`!ctx.identity.emailVerified`, [4]bool{false, false, true, true}},
		{`ctx.identity.customer.nick == order.note`, [4]bool{false, false, false, false}},
		{`ctx.identity.customer == order.other`, [4]bool{true, false, false, false}},
		{`ctx.identity.customer.orders.number == order.number`, [4]bool{true, false, false, false}},
		{`ctx.identity.customer.orders.number != order.number`, [4]bool{false, true, false, false}},
		{`ctx.identity.customer.orders == null`, [4]bool{false, false, true, true}},
		{`[ctx.identity.customer.orders.number] != null`, [4]bool{true, true, false, false}},
		{`[ctx.identity.customer.orders.number] == null`, [4]bool{false, false, false, false}},
		{`order in ctx.identity.customer.orders`, [4]bool{true, false, false, false}},
		{`order.number in [ctx.identity.customer.orders.number]`, [4]bool{true, false, false, false}},
		{`ctx.identity in [ctx.identity, "x"]`, [4]bool{true, true, false, true}},
		{`order.number in [ctx.identity.email, "8"]`, [4]bool{false, true, true, true}},
		{`ctx.identity.password == null`, [4]bool{true, true, true, true}},
	}
	schema := newTestSchema()
	calls := [4]Call{{Row: owned, Identity: ann}, {Row: ownerless, Identity: ann}, {Row: ownerless}, {Row: ownerless, Identity: bare}}
	for _, test := range tests {
		n := check(t, schema.at(ActionRule), test.text)
		for i, call := range calls {
			if got := Holds(call, n); got != test.want[i] {
				t.Errorf("%s: as a @where, call %d: got %t, want %t", test.text, i, got, test.want[i])
			}
			if got := Admits(call, n); got != test.want[i] {
				t.Errorf("%s: as a rule, call %d: got %t, want %t", test.text, i, got, test.want[i])
			}
		}
	}
}

// In a rule, a comparison with an absent or null input is false as well.
func TestInputsInRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text                      string
		absent, null, three, rule bool // rule: the @where with a null input differs from the rule
	}{
		{`order.maybe == maybeNumber`, false, false, false, true},
		{`order.maybe != maybeNumber`, false, false, true, false},
		{`!(order.maybe == maybeNumber)`, true, true, true, true},
		{`maybeNumber == null`, true, true, false, false},
		{`maybeNumber != null`, false, false, true, false},
		{`order.count in [maybeNumber]`, false, false, true, false},
		{`order.count in [maybeNumber, 3]`, true, true, true, false},
		{`order.nums != [maybeNumber]`, false, false, true, true},
		{`order.count != maybeNumber || order.count == 3`, true, true, true, false},
	}
	schema := newTestSchema()
	r := row("o1", "maybe", nil, "count", "3", "nums", []any{"1"})
	for _, test := range tests {
		n := check(t, schema.at(ActionRule), test.text)
		calls := []struct {
			name   string
			inputs map[string]any
			want   bool
		}{
			{"absent", nil, test.absent},
			{"null", map[string]any{"maybeNumber": nil}, test.null},
			{"3", map[string]any{"maybeNumber": "3"}, test.three},
		}
		for _, c := range calls {
			if got := Admits(Call{Row: r, Inputs: c.inputs}, n); got != c.want {
				t.Errorf("%s: input %s: got %t, want %t", test.text, c.name, got, c.want)
			}
		}
		asWhere := Holds(Call{Row: r, Inputs: map[string]any{"maybeNumber": nil}}, n)
		if differs := asWhere != test.null; differs != test.rule {
			t.Errorf("%s: null input: @where is %t, rule is %t", test.text, asWhere, test.null)
		}
	}
}

// In @validate a comparison with a null or absent value is unknown.
func TestValidate(t *testing.T) {
	t.Parallel()
	inputs := map[string]any{"maybeNumber": nil, "inNumber": "3", "inTexts": nil, "inNumbers": []any{"3"}}
	tests := []struct {
		text string
		want Truth
	}{
		{`inNumber > 2`, True},
		{`inNumber < 2`, False},
		{`maybeNumber > 2`, Unknown},
		{`maybeNumber == 2`, Unknown},
		{`maybeNumber != 2`, Unknown},
		{`!(maybeNumber == 2)`, Unknown},
		{`maybeText == "x"`, Unknown},
		{`maybeNumber == null`, True},
		{`maybeText != null`, False},
		{`maybeNumber == maybeNumber`, Unknown},
		{`maybeNumber > 2 && inNumber < 2`, False},
		{`maybeNumber > 2 && inNumber > 2`, Unknown},
		{`maybeNumber > 2 || inNumber > 2`, True},
		{`maybeNumber > 2 || inNumber < 2`, Unknown},
		{`inBoolean`, Unknown},
		{`!inBoolean`, Unknown},
		{`inNumber in [3, maybeNumber]`, True},
		{`inNumber in [4, maybeNumber]`, Unknown},
		{`maybeNumber in [3]`, Unknown},
		{`maybeNumber in []`, False},
		{`inNumber in inNumbers`, True},
		{`"x" in inTexts`, Unknown},
		{`inNumbers == [maybeNumber]`, Unknown},
		{`inNumbers == [3]`, True},
		{`null in [3]`, Unknown},
		{`ctx.identity.email == "x"`, Unknown},
		{`ctx.isAuthenticated`, False},
		{`ctx.identity.customer.orders.number == "x"`, False},
	}
	schema := newTestSchema()
	for _, test := range tests {
		if got := Validate(Call{Inputs: inputs}, check(t, schema.at(ActionValidate), test.text)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
	}
	r := row("o1", "count", "3", "maybe", nil, "customer", []Row{row("c1")})
	for text, want := range map[string]Truth{
		`order.maybe > order.count`:   Unknown,
		`order.count > 5`:             False,
		`order.customer != null`:      True,
		`order.maybe == null && true`: True,
	} {
		if got := Validate(Call{Row: r}, check(t, schema.at(ModelValidate), text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
