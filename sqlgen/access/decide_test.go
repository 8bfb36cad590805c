package access_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/sqlgen/access"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// rules are expressions of rules with the verdicts for anonymous callers,
// authenticated ones and members of the role Staff. In a rule for write there are
// inputs, in others the row.
var rules = []struct {
	expression string
	isWrite    bool
	want       string
}{
	{"true", false, "always always always"},
	{"false", false, "never never never"},
	{"ctx.isAuthenticated", false, "never always always"},
	{"ctx.isAuthenticated == false", false, "always never never"},
	{"!ctx.isAuthenticated", false, "always never never"},
	{"ctx.identity != null", false, "never always always"},
	{"ctx.identity == null", false, "always never never"},
	{"ctx.identity.name != null", false, "never depends depends"},
	{"ctx.identity.name == null", false, "always depends depends"},
	{"ctx.identity.email != null", false, "never depends always"},
	{"ctx.identity.email == \"ada@staff.example\"", false, "never depends depends"},
	{"ctx.identity.emailVerified", false, "never depends always"},
	{"ctx.identity.emailVerified == false", false, "never depends never"},
	{"ctx.identity.emailVerified != null", false, "never always always"},
	{"!ctx.identity.emailVerified", false, "always depends never"},
	{"ctx.identity.id == \"i1\"", false, "never depends depends"},
	{"ctx.identity.customer == null", false, "always depends depends"},
	{"ctx.identity.customer.orders == null", false, "always depends depends"},
	{"ctx.identity.customer.orders.number == null", false, "never depends depends"},
	{"ctx.identity.customer.orders.number != \"x\"", false, "never depends depends"},
	{"!(ctx.identity.customer.orders.number != \"x\")", false, "always depends depends"},
	{"order.owner == ctx.identity", false, "never depends depends"},
	{"order.owner != ctx.identity", false, "never depends depends"},
	{"!(order.owner == ctx.identity)", false, "always depends depends"},
	{"order.number == \"x\"", false, "depends depends depends"},
	{"order.number == \"x\" && ctx.isAuthenticated", false, "never depends depends"},
	{"order.number == \"x\" || ctx.isAuthenticated", false, "depends always always"},
	{"order.id == null", false, "depends depends depends"},
	{"order.number in [\"a\", ctx.identity.name]", false, "depends depends depends"},
	{"order.number in [ctx.identity.name, ctx.identity.email]", false, "depends depends depends"},
	{"order.number in []", false, "depends depends depends"},
	{"ctx.headers.key in []", false, "never never never"},
	{"ctx.headers.key in [ctx.identity.name]", false, "never depends depends"},
	{"\"a\" in [ctx.identity.name, \"a\"]", false, "always depends depends"},
	{"\"a\" in [\"a\", \"b\"]", false, "always always always"},
	{"order.tags == [ctx.identity.name]", false, "never depends depends"},
	{"1 == 2", false, "never never never"},
	{"ctx.headers.key == \"k\"", false, "depends depends depends"},
	{"ctx.headers.key == ctx.secrets.KEY", false, "depends depends depends"},
	{"ctx.headers.key == null", false, "depends depends depends"},
	{"ctx.headers.key == ctx.identity.name", false, "never depends depends"},
	{"ctx.headers.key in [\"a\", ctx.identity.name]", false, "depends depends depends"},
	{"ctx.secondFactor", false, "never depends depends"},
	{"!ctx.secondFactor", false, "always depends depends"},
	{"ctx.signedInWithin(\"5 minutes\") && order.number == \"x\"", false, "never depends depends"},
	{"ctx.signedInWithin(\"5 minutes\") || ctx.isAuthenticated", false, "never always always"},
	{"ctx.now > \"2020-01-01T00:00:00Z\"", false, "depends depends depends"},
	{"given == \"x\"", true, "depends depends depends"},
	{"given == null", true, "never never never"},
	{"given != null", true, "always always always"},
	{"maybe == null", true, "depends depends depends"},
	{"given == ctx.identity.name", true, "never depends depends"},
	{"maybe != \"x\" && ctx.isAuthenticated", true, "never depends depends"},
}

// TestDecide compares the verdicts for classes with those expected, and with the
// early decision for many a caller of each class.
func TestDecide(t *testing.T) {
	t.Parallel()
	for _, test := range rules {
		t.Run(test.expression, func(t *testing.T) {
			t.Parallel()
			action := ruleOf(t, test.expression, test.isWrite)
			var got []string
			var decisions []access.Decision
			classes := access.Classes(action.schema)
			for _, c := range classes {
				d := access.Decide(action.Rules, c)
				decisions = append(decisions, d)
				got = append(got, string(d.Verdict))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%s: got %v, want %s", test.expression, got, test.want)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for range 300 {
				i := random.IntN(len(classes))
				call := randomCall(random, classes[i])
				early := expr.Early(call, action.Rules[0].Expression)
				v := decisions[i].Verdict
				if v == access.Always && early != expr.True || v == access.Never && early != expr.False {
					t.Fatalf("%s for %s: got %s, but the call %+v is decided %s", test.expression, classes[i].Name, v, call, early)
				}
			}
		})
	}
}

type checkedAction struct {
	*model.Action
	schema *model.Schema
}

// ruleOf checks a schema in which an action has the rule.
func ruleOf(t *testing.T, expression string, isWrite bool) checkedAction {
	t.Helper()
	action := "get subject(id)"
	if isWrite {
		action = "write subject(given: Text, maybe: Text?) returns (Any)"
	}
	text := fmt.Sprintf(`
model Order { fields { number Text  owner Identity?  customer Customer?  tags Text[] } actions { %s { @permission(expression: %s) } } }
model Customer { fields { identity Identity @unique  orders Order[] } }
role Staff { domains { "staff.example" } }
`, action, expression)
	checked, _ := check(t, &txtar.Archive{Files: []txtar.File{
		{Name: "schema.stern", Data: []byte(text)},
		{Name: "sternpost.yaml", Data: []byte("secrets:\n  - name: KEY\n")},
		{Name: "functions/subject.sql"},
	}})
	return checkedAction{checked.Actions[0], checked}
}

// record is a row in memory.
type record struct {
	id      string
	values  map[string]any
	related map[string][]expr.Row
}

func (r *record) ID() string { return r.id }
func (r *record) Value(field string) any {
	if field == "id" {
		return r.id
	}
	return r.values[field]
}
func (r *record) Related(field string) []expr.Row { return r.related[field] }

// randomCall makes a call by a caller of a class.
func randomCall(random *rand.Rand, c *access.Class) expr.Call {
	pick := func(values ...any) any { return values[random.IntN(len(values))] }
	call := expr.Call{
		Now:     pick("2019-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z").(string),
		Inputs:  map[string]any{"given": pick("x", "k", "")},
		Headers: map[string]string{"key": pick("", "k", "a").(string)},
		Secrets: map[string]string{"KEY": pick("k", "s").(string)},
	}
	if v := pick(nil, "x", "y"); v != nil {
		call.Inputs["maybe"] = v
	}
	if !c.IsAuthenticated {
		return call
	}
	identity := &record{id: pick("i1", "i2").(string), related: map[string][]expr.Row{}, values: map[string]any{
		"name": pick(nil, "a", "k", "x"), "email": pick(nil, "ada@staff.example", "bea@other.example"), "emailVerified": false,
	}}
	if c.Role != nil {
		identity.values["email"], identity.values["emailVerified"] = pick("ada@staff.example", "cy@staff.example"), true
	} else if identity.values["email"] != "ada@staff.example" {
		identity.values["emailVerified"] = pick(true, false)
	}
	if pick(true, false).(bool) {
		var orders []expr.Row
		for i := range random.IntN(3) {
			orders = append(orders, &record{id: fmt.Sprint("o", i), values: map[string]any{"number": pick("x", "y")}})
		}
		identity.related["customer"] = []expr.Row{&record{id: "c1", related: map[string][]expr.Row{"orders": orders}}}
	}
	call.Identity = identity
	return call
}

// TestClasses tests which roles the members of a role have.
func TestClasses(t *testing.T) {
	t.Parallel()
	checked, _ := check(t, &txtar.Archive{Files: []txtar.File{{Name: "schema.stern", Data: []byte(`
role House { domains { "house.example" "barn.example" } }
role Barn { domains { "barn.example" } }
role Ada { emails { "ada@house.example" } }
role Two { emails { "ada@house.example" "bea@other.example" } }
role Nobody { }
`)}}})
	want := map[string]string{
		"anonymous": "", "authenticated": "", "House": "House", "Barn": "House Barn", "Ada": "House Ada Two", "Two": "Two", "Nobody": "Nobody",
	}
	var names []string
	for _, c := range access.Classes(checked) {
		var got []string
		for _, r := range c.Roles {
			got = append(got, r.Name)
		}
		if strings.Join(got, " ") != want[c.Name] {
			t.Errorf("roles of %s: got %v, want %s", c.Name, got, want[c.Name])
		}
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"anonymous", "authenticated", "House", "Barn", "Ada", "Two", "Nobody"}) {
		t.Errorf("classes: got %v", names)
	}
}
