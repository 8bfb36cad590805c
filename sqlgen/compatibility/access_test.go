package compatibility_test

import (
	"encoding/json"
	"testing"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/compatibility"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// bare is a manifest without requests and answers.
func bare(s *model.Schema) *release.Manifest {
	m := &release.Manifest{Schemas: release.Schemas{{Name: "Anything", JSON: json.RawMessage("{}")}}}
	for _, a := range s.Actions {
		m.Actions = append(m.Actions, &release.Action{Name: a.Name, Kind: release.Kind(a.Kind), Input: "Anything", Result: "Anything"})
	}
	return m
}

// ruledSchema is the schema that the cases about rules and rows edit.
const ruledSchema = `
model Order {
  fields {
    number Text
    owner Identity?
    rush Boolean
    scan File? @accepts(["image/*", "text/plain"]) @maxSize("1 MB")
    items Item[]
  }
  actions {
    get getOrder(id)
    list listOrders() {
      @where(order.rush)
    }
    create createOrder() with (number, rush, items.what) {
      @validate(number != "", message: "a number is needed")
    }
    read count() returns (Any)
  }
  @permission(expression: order.owner == ctx.identity, actions: [get, list])
  @permission(roles: [Workshop], actions: [get])
  @permission(expression: ctx.isAuthenticated, actions: [create, read])
  @validate(order.number != "0", message: "no zero")
}

model Item {
  fields {
    order Order
    what Text
  }
}

model Note {
  fields {
    text Text
    at Timestamp
  }
  @permission(roles: [Workshop], actions: [get, list])
}

union Event {
  fields {
    at Timestamp
  }
  arms {
    order Order {
      @where(order.rush)
      @set(event.at = order.createdAt)
    }
  }
  actions {
    list listEvents()
  }
  @permission(expression: ctx.isAuthenticated, actions: [list])
}

role Workshop {
  domains { "workshop.example" }
}
`

// TestAccess edits rules, conditions and refusals.
func TestAccess(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		old  []string
		new  []string
		want string
	}{
		{name: "nothing", want: ""},
		{name: "opened for all", new: []string{"@permission(expression: order.owner == ctx.identity, actions: [get, list])", "@permission(expression: true, actions: [get, list])"}, want: `
			widening | getOrder, listOrders: anonymous | always, was never
			widening | getOrder: authenticated | always, was depends
			widening | listOrders: authenticated, Workshop | always, was depends`},
		{name: "closed for all", new: []string{"expression: ctx.isAuthenticated, actions: [create, read]", "expression: ctx.isAuthenticated, actions: [create]"}, want: `
			breaking | count: authenticated, Workshop | never, was always`},
		{name: "closed for some", new: []string{"expression: ctx.isAuthenticated, actions: [create, read]", "expression: ctx.identity.emailVerified, actions: [create, read]"}, want: `
			breaking | createOrder, count: authenticated | depends, was always: if ctx.identity.emailVerified`},
		{name: "a second factor is not needed any more", old: []string{"expression: ctx.isAuthenticated, actions: [create, read]", "expression: ctx.isAuthenticated && ctx.secondFactor, actions: [create, read]",
			"order.owner == ctx.identity, actions: [get, list]", "order.owner == ctx.identity && ctx.signedInWithin(\"5 minutes\"), actions: [get, list]"}, want: `
			widening | getOrder: authenticated | with the rule: order.owner == ctx.identity
			breaking | getOrder: authenticated | without the rule: order.owner == ctx.identity && ctx.signedInWithin("5 minutes")
			widening | listOrders: authenticated, Workshop | with the rule: order.owner == ctx.identity
			breaking | listOrders: authenticated, Workshop | without the rule: order.owner == ctx.identity && ctx.signedInWithin("5 minutes")
			widening | createOrder, count: authenticated, Workshop | always, was depends`},
		{name: "a second factor is needed", new: []string{"expression: ctx.isAuthenticated, actions: [create, read]", "expression: ctx.isAuthenticated && ctx.secondFactor, actions: [create, read]"}, want: `
			breaking | createOrder, count: authenticated, Workshop | depends, was always: if ctx.isAuthenticated && ctx.secondFactor`},
		{name: "a rule more", new: []string{"@permission(roles: [Workshop], actions: [get])", "@permission(roles: [Workshop], actions: [get]) @permission(expression: order.rush && ctx.isAuthenticated, actions: [get])"}, want: `
			widening | getOrder: authenticated | with the rule: order.rush && ctx.isAuthenticated`},
		{name: "a rule less", old: []string{"@permission(roles: [Workshop], actions: [get])", "@permission(roles: [Workshop], actions: [get]) @permission(expression: order.rush && ctx.isAuthenticated, actions: [get])"}, want: `
			breaking | getOrder: authenticated | without the rule: order.rush && ctx.isAuthenticated`},
		{name: "another rule", new: []string{"order.owner == ctx.identity, actions: [get, list]", "order.owner == ctx.identity && order.rush, actions: [get, list]"}, want: `
			widening | getOrder: authenticated | with the rule: order.owner == ctx.identity && order.rush
			breaking | getOrder: authenticated | without the rule: order.owner == ctx.identity
			widening | listOrders: authenticated, Workshop | with the rule: order.owner == ctx.identity && order.rush
			breaking | listOrders: authenticated, Workshop | without the rule: order.owner == ctx.identity`},
		{name: "a job that gains a rule",
			old: []string{"model Order {\n", "job Close { @permission(roles: [Workshop]) }\nmodel Order {\n  @on([create], watch)\n  @permission(expression: order.rush, actions: [update], jobs: [Close])\n"},
			new: []string{"model Order {\n", "job Close { @permission(roles: [Workshop]) }\nmodel Order {\n  @on([create], watch)\n  @permission(expression: order.rush, actions: [update], jobs: [Close, watch])\n  @permission(expression: order.owner == ctx.identity, jobs: [Close])\n"}, want: `
			widening | Close.getOrder, Close.createOrder, Close.deleteOrder: authenticated, Workshop | depends, was never: if order.owner == ctx.identity
			widening | Close.updateOrder: authenticated, Workshop | with the rule: order.owner == ctx.identity
			widening | watch.updateOrder: anonymous, authenticated, Workshop | depends, was never: if order.rush`},
		{name: "a job that loses a rule",
			old: []string{"model Order {\n", "model Order {\n  @on([create], watch)\n  @permission(expression: true, actions: [read], jobs: [watch])\n  @permission(expression: true, jobs: [watch])\n"},
			new: []string{"model Order {\n", "model Order {\n  @on([create], watch)\n  @permission(expression: true, actions: [read])\n"}, want: ""},
		{name: "a rule that moves", new: []string{"read count() returns (Any)", "read count() returns (Any) { @permission(expression: ctx.isAuthenticated) }", "actions: [create, read]", "actions: [create]"}, want: ""},
		{name: "another role", new: []string{"roles: [Workshop], actions: [get])", "roles: [Workshop, Office], actions: [get])", "role Workshop", "role Office { emails { \"ada@office.example\" } }\nrole Workshop"}, want: `
			widening | getOrder: Office | always, was depends`},
		{name: "a role that goes", new: []string{"@permission(roles: [Workshop], actions: [get])", "", "@permission(roles: [Workshop], actions: [get, list])", "", "role Workshop {\n  domains { \"workshop.example\" }\n}", ""}, want: `
			breaking | getOrder: Workshop | depends, was always: if order.owner == ctx.identity`},
		{name: "members of a role", new: []string{`"workshop.example"`, `"garage.example"`}, want: `
			widening | role Workshop | gains garage.example
			breaking | role Workshop | loses workshop.example`},

		{name: "an expression of a role", new: []string{`{ "workshop.example" }`, `{ "workshop.example" } expression { ctx.identity.name == "Ada" }`}, want: `
			widening | role Workshop | gains { ctx.identity.name == "Ada" }`},
		{name: "a condition goes", new: []string{"list listOrders() {\n      @where(order.rush)\n    }", "list listOrders()"}, want: `
			widening | listOrders | without the condition order.rush`},
		{name: "a condition comes", new: []string{"get getOrder(id)", "get getOrder(id) @where(order.rush)"}, want: `
			breaking | getOrder | with the condition order.rush`},
		{name: "refused rows hidden", new: []string{"role Workshop", "// hide\nrole Workshop"}, want: `
			breaking | hideRefusedRows | set`},
		{name: "refused rows told", old: []string{"role Workshop", "// hide\nrole Workshop"}, want: `
			widening | hideRefusedRows | not set any more`},

		{name: "an arm more", new: []string{"arms {", "arms {\n note Note"}, want: `
			compatible | listEvents: arm note | added
			widening | listEvents: authenticated | listEvents shows rows of Note, regardless of the rules of Note`},
		{name: "an arm less", old: []string{"arms {", "arms {\n note Note"}, want: `
			breaking | listEvents: arm note | removed`},
		{name: "an arm of another model", old: []string{"arms {", "arms {\n note Note"}, new: []string{"arms {", "arms {\n note Item { @set(event.at = item.createdAt) }"}, want: `
			breaking | listEvents: arm note | is of Item, was of Note`},
		{name: "a condition of an arm goes", new: []string{"order Order {\n      @where(order.rush)", "order Order {"}, want: `
			widening | listEvents: arm order | without the condition order.rush`},

		{name: "validations of an action", new: []string{`@validate(number != "", message: "a number is needed")`, `@validate(number != "", message: "number it") @validate(number != "1")`}, want: `
			compatible | createOrder | message of @validate number != "" is "number it", was "a number is needed"
			breaking | createOrder | @validate number != "1" added`},
		{name: "validations of a model", new: []string{`@validate(order.number != "0", message: "no zero")`, `@validate(order.number != "00", message: "no zero")`}, want: `
			compatible | createOrder: Order | @validate order.number != "0" removed
			breaking | createOrder: Order | @validate order.number != "00" added`},
		{name: "validations of a nested model", new: []string{"what Text\n  }", "what Text\n  }\n @validate(item.what != \"\")"}, want: `
			breaking | createOrder: Item | @validate item.what != "" added`},

		{name: "a unique field renamed", old: []string{"number Text", "number Text @unique"}, new: []string{"number Text", "no Text @unique @renamed(from: number)", "(number, rush", "(no, rush", "@validate(number != \"\"", "@validate(no != \"\"", "@validate(order.number != \"0\"", "@validate(order.no != \"0\""}, want: ""},
		{name: "what rules read renamed", new: []string{"rush Boolean\n", "hurry Boolean @renamed(from: rush)\n", "@where(order.rush)", "@where(order.hurry)", "(number, rush", "(number, hurry",
			"owner Identity?", "keeper Identity? @renamed(from: owner)", "order.owner == ctx.identity", "order.keeper == ctx.identity", "@where(order.rush)", "@where(order.hurry)"}, want: ""},
		{name: "a model renamed, and its variable", new: []string{"model Order {", "model Job {\n@renamed(from: Order)", "order.owner ==", "job.owner ==", "order.rush)", "job.rush)", "(order.number", "(job.number", "order Order", "job Job @renamed(from: order)", "order Order {", "order Job {", "(order.rush)", "(job.rush)", "order.createdAt", "job.createdAt"}, want: ""},
		{name: "a rule over another field, as if it were renamed", old: []string{"rush Boolean\n", "rush Boolean\n late Boolean\n", "(number, rush", "(number, rush, late"}, new: []string{"rush Boolean\n", "rush Boolean\n late Boolean\n", "(number, rush", "(number, rush, late", "@where(order.rush)", "@where(order.late)", "what Text", "late Text @renamed(from: what)", "items.what", "items.late"}, want: `
			widening | listOrders | without the condition order.rush
			breaking | listOrders | with the condition order.late`},
		{name: "a field renamed in another model", old: []string{"number Text", "number Text @unique", "what Text", "number Text", "items.what", "items.number"},
			new: []string{"number Text", "number Text @unique", "what Text", "code Text @renamed(from: number)", "items.what", "items.code"}, want: ""},

		{name: "a larger file of any type", new: []string{`@accepts(["image/*", "text/plain"]) @maxSize("1 MB")`, `@maxSize("2 MB")`}, want: `
			compatible | createOrder: Order.scan | takes 2000000 bytes, took 1000000
			compatible | createOrder: Order.scan | takes any type, took image/*, text/plain`},
		{name: "a smaller file of fewer types", new: []string{`@accepts(["image/*", "text/plain"]) @maxSize("1 MB")`, `@accepts(["image/png"]) @maxSize("1 KB")`}, want: `
			breaking | createOrder: Order.scan | takes 1000 bytes, took 1000000
			breaking | createOrder: Order.scan | takes image/png, took image/*, text/plain`},
		{name: "further types", old: []string{`["image/*", "text/plain"]`, `["image/png", "text/plain"]`}, want: `
			compatible | createOrder: Order.scan | takes image/*, text/plain, took image/png, text/plain`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			old, new := releaseOf(t, fix(ruledSchema, test.old...), false), releaseOf(t, fix(ruledSchema, test.new...), false)
			compareLines(t, compatibility.Compare(old, new), test.want)
		})
	}
}
