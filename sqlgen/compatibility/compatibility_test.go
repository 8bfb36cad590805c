package compatibility_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/compatibility"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/manifest"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// baseSchema is the schema that the cases edit.
const baseSchema = `
model Order {
  fields {
    title Text
    note Text?
    state State
    size Number
    customer Customer
    reviewer Customer?
    tags Text[]
    price Decimal?
    placed Date
  }
  actions {
    create createOrder() with (title, note?, state, size, customer.id, reviewer.id?)
    get getOrder(id) {
      @embed(customer)
    }
    list listOrders(title?, state?, size?, note?) {
      @sortable(title, size)
    }
    update updateOrder(id) with (title?, size?)
    delete deleteOrder(id)
  }
  @permission(expression: ctx.isAuthenticated, actions: [create, get, list, update, delete])
}

model Customer {
  fields {
    name Text
  }
  actions {
    get getCustomer(id)
    delete deleteCustomer(id)
  }
  @permission(expression: ctx.isAuthenticated, actions: [get, delete])
}

enum State { Received Mended Returned }
`

// entryUnion is a union with overlapping arms, which some cases put before the enum.
const entryUnion = `
union Entry {
  fields { text Text  owner Text }
  arms {
    big Order {
      @where(order.size > 10)
      @set(entry.text = order.title)
      @set(entry.owner = order.customer.name)
    }
    any Order {
      @set(entry.text = order.title)
      @set(entry.owner = order.customer.name)
    }
  }
  actions { list listEntries(text?) }
  @permission(expression: entry.owner == ctx.identity.name, actions: [list])
}
enum State`

// TestSchemas edits a schema and compares it with the original. A case lists all lines
// of the result, written class | where | what.
func TestSchemas(t *testing.T) {
	t.Parallel()
	base := fix(baseSchema, "placed Date", "placed Date @default", "tags Text[]", "tags Text[] @default")
	tests := []struct {
		name string
		old  []string // edits of the base, from and to; nil means none
		new  []string
		want string
	}{
		{name: "nothing", want: ""},
		{name: "what clients do not see", new: []string{"placed Date @default", "placed Date @default @index"}, want: ""},

		{name: "what is computed under a rule",
			old: []string{"  fields {\n    name Text\n  }", "  fields {\n    name Text\n    orders Order[]\n    reviews Order[]\n  }",
				"customer Customer\n", "customer Customer @relation(orders)\n", "reviewer Customer?\n", "reviewer Customer? @relation(reviews)\n"},
			new: []string{"  fields {\n    name Text\n  }", "  fields {\n    name Text\n    orders Order[]\n    reviews Order[]\n    total Number @computed(SUM(customer.orders.size))\n  }",
				"customer Customer\n", "customer Customer @relation(orders)\n", "reviewer Customer?\n", "reviewer Customer? @relation(reviews)\n",
				"actions: [get, delete])", "actions: [get, delete])\n  @validate(customer.total < 100)\n  @validate(customer.name != \"\")"}, want: `
			compatible | getOrder, getCustomer: result Customer.total | added
			breaking | createOrder, updateOrder, deleteOrder: Customer | @validate customer.total < 100 added`},
		{name: "what a condition stands for",
			old: []string{"model Customer {\n", "model Customer {\n  conditions { ada = customer.name == \"Ada\" }\n", "getCustomer(id)", "getCustomer(id) { @permission(expression: customer.ada) }"},
			new: []string{"model Customer {\n", "model Customer {\n  conditions { ada = customer.name == \"Bea\" }\n", "getCustomer(id)", "getCustomer(id) { @permission(expression: customer.ada) }"}, want: `
			widening | getCustomer: anonymous, authenticated | with the rule: customer.ada, where Customer.ada = customer.name == "Bea"
			breaking | getCustomer: anonymous, authenticated | without the rule: customer.ada, where Customer.ada = customer.name == "Ada"`},
		{name: "what a condition stands for that another one is",
			old: []string{"model Customer {\n", "model Customer {\n  conditions {\n    ours = customer.ada\n    ada = customer.name == \"Ada\"\n  }\n", "getCustomer(id)", "getCustomer(id) { @permission(expression: customer.ours) }"},
			new: []string{"model Customer {\n", "model Customer {\n  conditions {\n    ours = customer.ada\n    ada = customer.name == \"Bea\"\n  }\n", "getCustomer(id)", "getCustomer(id) { @permission(expression: customer.ours) }"}, want: `
			widening | getCustomer: anonymous, authenticated | with the rule: customer.ours, where Customer.ours = customer.ada and Customer.ada = customer.name == "Bea"
			breaking | getCustomer: anonymous, authenticated | without the rule: customer.ours, where Customer.ours = customer.ada and Customer.ada = customer.name == "Ada"`},
		{name: "a condition named", old: []string{"getCustomer(id)", "getCustomer(id) { @permission(expression: customer.name == \"Ada\") }"},
			new: []string{"model Customer {\n", "model Customer {\n  conditions { ada = customer.name == \"Ada\" }\n", "getCustomer(id)", "getCustomer(id) { @permission(expression: customer.ada) }"}, want: `
			widening | getCustomer: anonymous, authenticated | with the rule: customer.ada, where Customer.ada = customer.name == "Ada"
			breaking | getCustomer: anonymous, authenticated | without the rule: customer.name == "Ada"`},
		{name: "an action added", new: []string{"delete deleteOrder(id)", "delete deleteOrder(id)\n  delete dropOrder(id)"}, want: `
			compatible | dropOrder | added
			widening | dropOrder: authenticated | always, was never`},
		{name: "a closed action added", new: []string{"delete deleteOrder(id)", "delete deleteOrder(id)\n  delete dropOrder(id) { @permission(expression: false) }"}, want: `
			compatible | dropOrder | added`},
		{name: "an action removed", new: []string{"delete deleteOrder(id)", ""}, want: `
			breaking | deleteOrder | removed`},
		{name: "an action of another kind", new: []string{"get getCustomer(id)", "list getCustomer(id)", "actions: [get, delete]", "actions: [list, delete]"}, want: `
			breaking | getCustomer | was a get, is a list`},
		{name: "an action of another model", old: []string{"get getCustomer(id)", "get getOne(id)"}, new: []string{"get getOrder(id)", "get getOne(id) @embed(reviewer)\nget getOrder(id)", "get getCustomer(id)", ""}, want: `
			breaking | getOne: result name | removed
			compatible | getOne: result title | added
			compatible | getOne: result note | added
			compatible | getOne: result state | added
			compatible | getOne: result size | added
			compatible | getOne: result customerId | added
			compatible | getOne: result reviewer | added
			compatible | getOne: result tags | added
			compatible | getOne: result price | added
			compatible | getOne: result placed | added`},

		{name: "an api added", new: []string{"enum State", "api Mobile { models { Customer } }\nenum State"}, want: `
			compatible | api Mobile | added`},
		{name: "an api removed", old: []string{"enum State", "api Mobile { models { Customer } }\nenum State"}, want: `
			breaking | api Mobile | removed`},
		{name: "an action moved out of an api",
			old: []string{"enum State", "api Mobile { models { Customer } }\nenum State"},
			new: []string{"enum State", "api Mobile { models { Customer { actions { getCustomer } } } }\nenum State"}, want: `
			breaking | deleteCustomer: api Mobile | moved out of it`},
		{name: "an action in no api",
			new: []string{"enum State", "api Api { models { Order  Customer { actions { getCustomer } } } }\nenum State"}, want: `
			breaking | deleteCustomer | removed from all apis`},
		{name: "an action exposed",
			old: []string{"enum State", "api Api { models { Order  Customer { actions { getCustomer } } } }\nenum State"}, want: `
			compatible | deleteCustomer | exposed
			widening | deleteCustomer: authenticated | always, was never`},

		{name: "an input added", new: []string{"(title, note?,", "(title, note?, price?,"}, want: `
			compatible | createOrder: input price | added`},
		{name: "a limit added", new: []string{"title Text", "title Text @maxLength(20)", "tags Text[]", "tags Text[] @maxItems(3)", "(title, note?,", "(title, tags, note?,"}, old: []string{"(title, note?,", "(title, tags, note?,"}, want: `
			breaking | createOrder: input title | has maxLength 20
			breaking | createOrder: input tags | has maxItems 3
			breaking | updateOrder: input values.title | has maxLength 20`},
		{name: "a limit narrowed", old: []string{"title Text", "title Text @maxLength(20)"}, new: []string{"title Text", "title Text @maxLength(10)"}, want: `
			breaking | createOrder: input title | maxLength was 20, is 10
			breaking | updateOrder: input values.title | maxLength was 20, is 10`},
		{name: "a limit widened", old: []string{"title Text", "title Text @maxLength(20)"}, new: []string{"title Text", "title Text @maxLength(30)"}, want: `
			compatible | createOrder: input title | maxLength was 20, is 30
			compatible | updateOrder: input values.title | maxLength was 20, is 30`},
		{name: "a limit dropped", old: []string{"title Text", "title Text @maxLength(20)"}, want: `
			compatible | createOrder: input title | has no maxLength any more
			compatible | updateOrder: input values.title | has no maxLength any more`},
		{name: "a required input added", new: []string{"(title, note?,", "(title, note?, price,"}, want: `
			breaking | createOrder: input price | added, and required`},
		{name: "an input removed", new: []string{"(title, note?,", "(title,"}, want: `
			breaking | createOrder: input note | removed`},
		{name: "an input required", new: []string{"(title, note?,", "(title, note,"}, want: `
			breaking | createOrder: input note | required, was optional`},
		{name: "an input optional", old: []string{"(title, note?,", "(title, note,"}, want: `
			compatible | createOrder: input note | optional, was required`},
		{name: "inputs of several actions", new: []string{"title Text", "title ID"}, want: `
			breaking | createOrder: input title | was Text, is ID
			breaking | listOrders: input where.title | was filtered as Text, is as ID
			breaking | updateOrder: input values.title | was Text, is ID
			compatible | createOrder, listOrders, updateOrder: result Order.title | was Text, is ID
			compatible | getOrder: result title | was Text, is ID`},
		{name: "a nested object optional", new: []string{"customer.id, reviewer.id?", "customer.id, reviewer.id"}, want: `
			breaking | createOrder: input reviewer | required, was optional
			breaking | createOrder: input reviewer.id | required, was optional`},
		{name: "another way to find a row", old: []string{"get getCustomer(id)", "get getCustomer(id?, name?)", "name Text", "name Text @unique"}, new: []string{"get getCustomer(id)", "get getCustomer(id?)", "name Text", "name Text @unique"}, want: `
			breaking | getCustomer: input name | removed
			breaking | getCustomer: input as a whole | name is not enough any more`},
		{name: "one way to find a row", old: []string{"get getCustomer(id)", "get getCustomer(id?, name?)", "name Text", "name Text @unique"}, new: []string{"name Text", "name Text @unique"}, want: `
			breaking | getCustomer: input name | removed
			breaking | getCustomer: input id | required, was optional`},
		{name: "a condition added", new: []string{"note?) {", "note?, price?) {"}, want: `
			compatible | listOrders: input where.price | added`},
		{name: "a sort key lost", new: []string{"@sortable(title, size)", "@sortable(title)"}, want: `
			breaking | listOrders: input orderBy[].size | removed
			breaking | listOrders: input orderBy | maxItems was 2, is 1`},
		{name: "sorting added", old: []string{"{\n      @sortable(title, size)\n    }", ""}, want: `
			compatible | listOrders: input orderBy | added`},
		{name: "another order", new: []string{"@sortable(title, size)", "@sortable(title, size) @orderBy(size: desc, title: asc)"}, want: `
			breaking | listOrders: order | was id, is size desc, title, id`},

		{name: "a field added", new: []string{"note Text?", "note Text?\n  colour Text @default"}, want: `
			compatible | createOrder, listOrders, updateOrder: result Order.colour | added
			compatible | getOrder: result colour | added`},
		{name: "a field removed", new: []string{"placed Date @default", ""}, want: `
			breaking | createOrder, listOrders, updateOrder: result Order.placed | removed
			breaking | getOrder: result placed | removed`},
		{name: "a field nullable", new: []string{"placed Date @default", "placed Date?"}, want: `
			breaking | createOrder, listOrders, updateOrder: result Order.placed | takes null
			breaking | getOrder: result placed | takes null`},
		{name: "a field required", new: []string{"price Decimal?", "price Decimal @default"}, want: `
			compatible | createOrder, listOrders, updateOrder: result Order.price | does not take null any more
			compatible | getOrder: result price | does not take null any more`},
		{name: "a field of another type", new: []string{"placed Date @default", "placed Number @default"}, want: `
			breaking | createOrder, listOrders, updateOrder: result Order.placed | was Date, is Number
			breaking | getOrder: result placed | was Date, is Number`},
		{name: "a field of another format", new: []string{"placed Date @default", "placed Timestamp @default"}, want: `
			breaking | createOrder, listOrders, updateOrder: result Order.placed | was Date, is Timestamp
			breaking | getOrder: result placed | was Date, is Timestamp`},
		{name: "a wider number", new: []string{"size Number", "size Decimal"}, want: `
			compatible | createOrder: input size | was Number, is Decimal
			compatible | listOrders: input where.size | was filtered as Number, is as Decimal
			compatible | updateOrder: input values.size | was Number, is Decimal
			breaking | createOrder, listOrders, updateOrder: result Order.size | was Number, is Decimal
			breaking | getOrder: result size | was Number, is Decimal`},
		{name: "an array", new: []string{"tags Text[] @default", "tags Text @default"}, want: `
			breaking | createOrder, listOrders, updateOrder: result Order.tags | was Text[], is Text
			breaking | getOrder: result tags | was Text[], is Text`},
		{name: "an element of another type", new: []string{"tags Text[] @default", "tags Number[] @default"}, want: `
			breaking | createOrder, listOrders, updateOrder: result Order.tags[] | was Text, is Number
			breaking | getOrder: result tags[] | was Text, is Number`},
		{name: "a nullable condition", new: []string{"title Text", "title Text?"}, want: `
			compatible | createOrder: input title | takes null
			compatible | listOrders: input where.title | was filtered as Text, is as Text?
			compatible | updateOrder: input values.title | takes null
			breaking | createOrder, listOrders, updateOrder: result Order.title | takes null
			breaking | getOrder: result title | takes null`},
		{name: "an embed removed", new: []string{"{\n      @embed(customer)\n    }", ""}, want: `
			breaking | getOrder: result customer | removed
			compatible | getOrder: result customerId | added`},
		{name: "a field hidden", new: []string{"note Text?", "note Text? @hidden", "note?) {", ") {", "customer Customer\n", "customer Customer @hidden\n", "{\n      @embed(customer)\n    }", ""}, old: []string{"{\n      @embed(customer)\n    }", ""}, want: `
			breaking | listOrders: input where.note | removed
			breaking | createOrder, getOrder, listOrders, updateOrder: result Order.note | removed
			breaking | createOrder, getOrder, listOrders, updateOrder: result Order.customerId | removed`},
		{name: "a field shown", old: []string{"note Text?", "note Text? @hidden", "note?) {", ") {", "reviewer Customer?\n", "reviewer Customer? @hidden\n", "name Text\n", "name Text @hidden\n"}, new: []string{"note?) {", ") {"}, want: `
			widening | createOrder, getOrder, listOrders, updateOrder: result note | shown, was not
			widening | createOrder, getOrder, listOrders, updateOrder: result reviewerId | shown, was not
			widening | getOrder: result customer.name | shown, was not
			widening | getCustomer: result name | shown, was not`},
		{name: "a hidden field renamed and shown", old: []string{"note Text?", "note Text? @hidden", "note?) {", ") {"}, new: []string{"note Text?", "remark Text? @renamed(from: note)", "(title, note?", "(title, remark?", "note?) {", ") {"}, want: `
			breaking | createOrder: input note | renamed to remark
			widening | createOrder, getOrder, listOrders, updateOrder: result remark | shown, was not`},
		{name: "selected", new: []string{"@embed(customer)", "@select(title, customer.name, reviewerId)"}, want: `
			breaking | getOrder: result note | removed
			breaking | getOrder: result state | removed
			breaking | getOrder: result size | removed
			breaking | getOrder: result tags | removed
			breaking | getOrder: result price | removed
			breaking | getOrder: result placed | removed
			breaking | getOrder: result createdAt | removed
			breaking | getOrder: result updatedAt | removed
			breaking | getOrder: result customer.createdAt | removed
			breaking | getOrder: result customer.updatedAt | removed`},
		{name: "more selected", old: []string{"@embed(customer)", "@select(title, customer.id)"}, new: []string{"@embed(customer)", "@select(title, customer.name, size, reviewer.name)"}, want: `
			widening | getOrder: result customer.name | shown, was not
			widening | getOrder: result size | shown, was not
			widening | getOrder: result reviewer | shown, was not`},
		{name: "selected no more", old: []string{"@embed(customer)", "@select(customer, reviewerId, title, note, state, size, tags, price)"}, want: `
			widening | getOrder: result placed | shown, was not
			widening | getOrder: result createdAt | shown, was not
			widening | getOrder: result updatedAt | shown, was not`},
		{name: "another embed", new: []string{"@embed(customer)", "@embed(customer, reviewer)"}, want: `
			breaking | getOrder: result reviewerId | removed
			compatible | getOrder: result reviewer | added`},
		{name: "a filter that widens", new: []string{"note?) {", "note?, customer.name?) {", "ctx.isAuthenticated, actions: [get, delete]", "ctx.identity.emailVerified, actions: [get, delete]"},
			old: []string{"ctx.isAuthenticated, actions: [get, delete]", "ctx.identity.emailVerified, actions: [get, delete]"}, want: `
			compatible | listOrders: input where.customer | added
			widening | listOrders: authenticated | callers of listOrders can find out customer.name by trial, regardless of the rules of Customer`},
		{name: "a filter that is allowed to widen", new: []string{"note?) {", "note?, customer.name?) {\n @allow(FilterWidens)", "ctx.isAuthenticated, actions: [get, delete]", "ctx.identity.emailVerified, actions: [get, delete]"},
			old: []string{"ctx.isAuthenticated, actions: [get, delete]", "ctx.identity.emailVerified, actions: [get, delete]"}, want: `
			compatible | listOrders: input where.customer | added
			widening | listOrders: authenticated | callers of listOrders can find out customer.name by trial, regardless of the rules of Customer`},
		{name: "a filter that has widened before",
			old: []string{"note?) {", "note?, customer.name?) {\n", "ctx.isAuthenticated, actions: [get, delete]", "ctx.identity.emailVerified, actions: [get, delete]"},
			new: []string{"note?) {", "note?, customer.name?) {\n @allow(FilterWidens)", "ctx.isAuthenticated, actions: [get, delete]", "ctx.identity.emailVerified, actions: [get, delete]"}, want: ""},
		{name: "an embed that widens", new: []string{"@embed(customer)", "@embed(customer, reviewer)", "ctx.isAuthenticated, actions: [get, delete]", "ctx.identity.emailVerified, actions: [get, delete]"},
			old: []string{"ctx.isAuthenticated, actions: [get, delete]", "ctx.identity.emailVerified, actions: [get, delete]"}, want: `
			breaking | getOrder: result reviewerId | removed
			compatible | getOrder: result reviewer | added
			widening | getOrder: authenticated | everyone who may call getOrder sees reviewer, regardless of the rules of Customer`},

		{name: "an enum gains", new: []string{"Returned }", "Returned Lost }"}, want: `
			compatible | createOrder: input state | gains Lost
			compatible | listOrders: input where.state.equals | gains Lost
			compatible | listOrders: input where.state.notEquals | gains Lost
			compatible | listOrders: input where.state.oneOf[] | gains Lost
			compatible | createOrder, getOrder, listOrders, updateOrder: result State | gains Lost`},
		{name: "an enum loses", new: []string{"(title?, state?, size?", "(title?, size?", "Mended Returned", "Mended"}, old: []string{"(title?, state?, size?", "(title?, size?"}, want: `
			breaking | createOrder: input state | loses Returned
			compatible | createOrder, getOrder, listOrders, updateOrder: result State | loses Returned`},
		{name: "an enum becomes text", old: []string{"(title?, state?, size?", "(title?, size?"}, new: []string{"(title?, state?, size?", "(title?, size?", "state State", "state Text"}, want: `
			compatible | createOrder: input state | was one of Received, Mended, Returned, is Text
			breaking | createOrder, listOrders, updateOrder: result Order.state | was one of Received, Mended, Returned, is Text
			breaking | getOrder: result state | was one of Received, Mended, Returned, is Text`},
		{name: "text becomes an enum", new: []string{"(title?, state?, size?", "(title?, size?"}, old: []string{"(title?, state?, size?", "(title?, size?", "state State", "state Text"}, want: `
			breaking | createOrder: input state | was Text, is one of Received, Mended, Returned
			compatible | createOrder, listOrders, updateOrder: result Order.state | was Text, is one of Received, Mended, Returned
			compatible | getOrder: result state | was Text, is one of Received, Mended, Returned`},

		{name: "a field renamed", new: []string{"placed Date @default", "ordered Date @default @renamed(from: placed)"}, want: `
			breaking | createOrder, listOrders, updateOrder: result Order.placed | renamed to ordered
			breaking | getOrder: result placed | renamed to ordered`},
		{name: "a field renamed and retyped", new: []string{"placed Date @default", "ordered Number @default @renamed(from: placed)"}, want: `
			breaking | createOrder, listOrders, updateOrder: result Order.placed | renamed to ordered
			breaking | createOrder, listOrders, updateOrder: result Order.ordered | was Date, is Number
			breaking | getOrder: result placed | renamed to ordered
			breaking | getOrder: result ordered | was Date, is Number`},
		{name: "a relation renamed", new: []string{"reviewer Customer?", "judge Customer? @renamed(from: reviewer)", "reviewer.id?", "judge.id?"}, want: `
			breaking | createOrder: input reviewer | renamed to judge
			breaking | createOrder, listOrders, updateOrder: result Order.reviewerId | renamed to judgeId
			breaking | getOrder: result reviewerId | renamed to judgeId`},
		{name: "an enum value renamed", old: []string{"(title?, state?, size?", "(title?, size?"}, new: []string{"(title?, state?, size?", "(title?, size?", "Mended Returned", "Repaired @renamed(from: Mended)\nReturned"}, want: `
			breaking | createOrder: input state | value Mended renamed to Repaired
			breaking | createOrder, getOrder, listOrders, updateOrder: result State | value Mended renamed to Repaired`},

		{name: "a unique field", new: []string{"size Number", "size Number @unique"}, want: `
			breaking | createOrder, updateOrder: Order | size must be unique`},
		{name: "a key goes", old: []string{"@permission(expression: ctx.isAuthenticated, actions: [create, get, list, update, delete])", "@permission(expression: ctx.isAuthenticated, actions: [create, get, list, update, delete]) @unique([size, customer])"}, want: `
			compatible | createOrder, updateOrder: Order | size with customer need not be unique any more`},
		{name: "a restriction", new: []string{"customer Customer\n", "customer Customer @onDelete(restrict)\n"}, want: `
			breaking | deleteCustomer: Order.customer | @onDelete(restrict)`},
		{name: "a restriction goes", old: []string{"customer Customer\n", "customer Customer @onDelete(restrict)\n"}, want: `
			compatible | deleteCustomer: Order.customer | @onDelete(cascade), was restrict`},

		{name: "a message becomes any JSON",
			old: []string{"delete deleteOrder(id)", "read count() returns (Count)", "enum State", "message Count { n Number }\nenum State", "delete]", "read]"},
			new: []string{"delete deleteOrder(id)", "read count() returns (Any)", "enum State", "message Count { n Number }\nenum State", "delete]", "read]"}, want: `
			breaking | count: result as a whole | was an object, is any JSON`},
		{name: "any JSON becomes a message",
			old: []string{"delete deleteOrder(id)", "read count() returns (Any)", "enum State", "message Count { n Number }\nenum State", "delete]", "read]"},
			new: []string{"delete deleteOrder(id)", "read count() returns (Count)", "enum State", "message Count { n Number }\nenum State", "delete]", "read]"}, want: `
			compatible | count: result as a whole | was any JSON, is an object`},
		{name: "custom code", old: []string{"get getOrder(id) {", "get count(id) {"}, new: []string{"get getOrder(id) {", "get count(id) {\n      @function"}, want: `
			breaking | count: @function | added`},
		{name: "no custom code", old: []string{"get getOrder(id) {", "get count(id) {\n      @function"}, new: []string{"get getOrder(id) {", "get count(id) {"}, want: `
			compatible | count: @function | removed`},

		{name: "files of anybody",
			old: []string{"create createOrder() with (title, note?, state, size, customer.id, reviewer.id?)", "create createOrder() with (title, state, size, customer.id) { @permission(expression: true) }", "note Text?", "note File?", "size?, note?", "size?"},
			new: []string{"create createOrder() with (title, note?, state, size, customer.id, reviewer.id?)", "create createOrder() with (title, state, size, customer.id, note?) { @permission(expression: true) }", "note Text?", "note File?", "size?, note?", "size?"}, want: `
			compatible | createOrder: input note | added
			widening | createOrder: anonymous | may upload files for note`},
		{name: "files of whoever is signed in",
			old: []string{"create createOrder() with (title, note?, state, size, customer.id, reviewer.id?)", "create createOrder() with (title, state, size, customer.id)", "note Text?", "note File?", "size?, note?", "size?"},
			new: []string{"create createOrder() with (title, note?, state, size, customer.id, reviewer.id?)", "create createOrder() with (title, state, size, customer.id, note?)", "note Text?", "note File?", "size?, note?", "size?"}, want: `
			compatible | createOrder: input note | added`},
		{name: "another value in an arm",
			old: []string{"enum State", entryUnion},
			new: []string{"enum State", fix(entryUnion, "= order.title", "= order.customer.name")}, want: `
			breaking | listEntries: arm big | text is customer.name, was title`},
		{name: "another value in an arm that a rule looks at",
			old: []string{"enum State", entryUnion},
			new: []string{"enum State", fix(entryUnion, "= order.customer.name", "= order.title")}, want: `
			breaking | listEntries: arm big | owner is title, was customer.name
			widening | listEntries: arm big | owner is title, was customer.name`},
		{name: "a field of an arm renamed",
			old: []string{"enum State", fix(entryUnion, "= order.title", "= order.note"), "note Text?", "note Text @default"},
			new: []string{"enum State", fix(entryUnion, "= order.title", "= order.remark"), "note Text?", "remark Text @default @renamed(from: note)", "title, note?", "title, remark?", "size?, note?", "size?, remark?"}, want: `
			breaking | createOrder: input note | renamed to remark
			breaking | listOrders: input where.note | renamed to remark
			breaking | createOrder, listOrders, updateOrder: result Order.note | renamed to remark
			breaking | getOrder: result note | renamed to remark`},
		{name: "arms in another order",
			old: []string{"enum State", entryUnion},
			new: []string{"enum State", inverted(entryUnion)}, want: `
			breaking | listEntries: arm any | comes before big`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			old, new := releaseOf(t, fix(base, test.old...), true), releaseOf(t, fix(base, test.new...), true)
			compareLines(t, compatibility.Compare(old, new), test.want)
		})
	}
}

// inverted puts the second arm of entryUnion before the first.
func inverted(union string) string {
	before, rest, _ := strings.Cut(union, "    big Order {")
	big, rest, _ := strings.Cut(rest, "    any Order {")
	last, after, _ := strings.Cut(rest, "    }\n")
	return before + "    any Order {" + last + "    }\n    big Order {" + big + after
}

// fix replaces parts of a text, which must all exist.
func fix(text string, edits ...string) string {
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			panic("the schema does not hold " + edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return text
}

// compareLines compares changes with the wanted lines. A line may leave out the text
// behind a colon.
func compareLines(t *testing.T, changes []compatibility.Change, want string) {
	t.Helper()
	var got, wanted []string
	for _, c := range changes {
		got = append(got, string(c.Class)+" | "+c.Where()+" | "+c.Text)
		if c.Reason == "" {
			t.Errorf("%s has no reason", got[len(got)-1])
		}
	}
	for line := range strings.Lines(strings.TrimSpace(want)) {
		wanted = append(wanted, strings.TrimSpace(line))
	}
	matches := len(got) == len(wanted)
	for i := 0; matches && i < len(got); i++ {
		matches = got[i] == wanted[i] || strings.HasPrefix(got[i], wanted[i]+":")
	}
	if !matches {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(wanted, "\n\t"))
	}
}

// releaseOf compiles a schema. Without published it leaves out the published part, so
// that the schema may hold parts that cannot be compiled.
func releaseOf(t *testing.T, text string, published bool) *compatibility.Release {
	t.Helper()
	dir := t.TempDir()
	content := map[string]string{"schema.stern": text, "functions/count.sql": "", "functions/watch.sql": "", "functions/close.sql": ""}
	if strings.Contains(text, "// hide") {
		content[sqlgen.ConfigName] = "hideRefusedRows: true\n"
	}
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	checked, errs := sqlgen.Check(project)
	if checked == nil {
		var b strings.Builder
		if err := syntax.Render(&b, errs, syntax.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("the schema has errors:\n%s\n%s", b.String(), text)
	}
	m := bare(checked)
	if published {
		_, m = lower.Schema(checked, "schema.stern")
		manifest.Complete(m, checked)
	}
	return compatibility.NewRelease(checked, errs, m)
}
