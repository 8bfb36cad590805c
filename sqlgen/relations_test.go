package sqlgen_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const market = `
model Order {
  fields {
    number Number
    note Text?
    rush Boolean
    tags Text[]
    customer Customer?
    items Item[]
  }
  actions {
    list findOrders(
      number?, note?, rush?, tags?,
      customer.id?, customer.name?, customer.city?, customer.labels?, customer.orders.number?, customer.orders.rush?,
      items.what?, items.price?, items.remark?, items.marks?, items.product.sku?, items.product.weight?,
      items.product.colours?, items.parts.size?
    ) { @orderBy(number: desc) }
    list findWith(
      items.what?, items.remark?, items.marks?, items.product.sku?, items.parts.size?, number?,
      least: Decimal?, skus: Text[]?, word: Text?
    ) {
      @where(order.number > 1)
      @where(order.items.price >= least)
      @where(order.rush || order.items.what == word)
      @where(order.items.product.sku in skus)
    }
    list findBy(number?, least: Decimal?, word: Text?, city: Text?) {
      @where(order.items.price >= least && order.items.what == word)
      @where(order.items.remark != word || order.customer.city == city)
      @where(order.customer.city != city)
    }
    list findSince(number, word: Text, customer.name?) {
      @where(order.items.what == word)
    }
  }
  @permission(expression: true, actions: [list])
}
model Customer { fields { name Text  city Text?  labels Text[]?  orders Order[] } }
model Item {
  fields { order Order  what Text  price Decimal  remark Text?  marks Number[]  product Product?  parts Part[] }
}
model Product { fields { sku Text  weight Number?  colours Text[] } }
model Part { fields { item Item  size Number } }
`

// node is a row with its related rows.
type node struct {
	id      string
	values  thing
	related map[string][]*node
}

// ask is the condition of a request on a row: on its fields, and on its relations.
type ask struct {
	conditions []condition
	relations  map[string]*ask
}

// nowhere is the missing row behind a to-one without value.
var nowhere = &node{values: thing{}, related: map[string][]*node{}}

// holds tells whether one row satisfies the whole condition, with the given children for the relations
// in chosen.
func (a *ask) holds(n *node, chosen map[string]*node) bool {
	if a == nil {
		return true
	}
	for _, c := range a.conditions {
		if !c.holds(n.values) {
			return false
		}
	}
	for name, below := range a.relations {
		if child, ok := chosen[name]; ok {
			if child == nil || !below.holds(child, nil) {
				return false
			}
			continue
		}
		children := n.related[name]
		if len(children) == 0 && isToOne[name] {
			children = []*node{nowhere}
		}
		if !slices.ContainsFunc(children, func(child *node) bool { return below.holds(child, nil) }) {
			return false
		}
	}
	return true
}

var isToOne = map[string]bool{"customer": true, "product": true}

// json is the filter as JSON of a request.
func (a *ask) json() string { return "{" + strings.Join(a.members(), ",") + "}" }

func (a *ask) members() []string {
	operators := map[string][]string{}
	var names []string
	for _, c := range a.conditions {
		if operators[c.field] == nil {
			names = append(names, c.field)
		}
		operators[c.field] = append(operators[c.field], fmt.Sprintf("%q:%s", c.operator, c.operand))
	}
	var members []string
	for _, name := range names {
		members = append(members, fmt.Sprintf("%q:{%s}", name, strings.Join(operators[name], ",")))
	}
	for name, below := range a.relations {
		members = append(members, fmt.Sprintf("%q:%s", name, below.json()))
	}
	return members
}

// add adds a condition at a path.
func (a *ask) add(path []string, c condition) {
	at := a
	for _, step := range path {
		if at.relations == nil {
			at.relations = map[string]*ask{}
		}
		if at.relations[step] == nil {
			at.relations[step] = &ask{}
		}
		at = at.relations[step]
	}
	if !slices.ContainsFunc(at.conditions, func(o condition) bool { return o.field == c.field && o.operator == c.operator }) {
		at.conditions = append(at.conditions, c)
	}
}

// askable is a filter of the actions above.
type askable struct {
	path  []string
	field filterField
}

func askables() []askable {
	few := func(name, kindName string, values []value) kind {
		k := kindNamed(kindName)
		k.values = values
		return k
	}
	letters := []value{text("a"), text("b"), text("ab"), text("")}
	numbers := []value{num("1", 1), num("2", 2), num("3", 3)}
	decimals := []value{num("1", 1), num("2.50", 2.5), num("3", 3)}
	field := func(path, name, kindName string, values []value, array, optional bool) askable {
		a := askable{field: filterField{name: name, kind: few(name, kindName, values), array: array, optional: optional}}
		if path != "" {
			a.path = strings.Split(path, ".")
		}
		return a
	}
	return []askable{
		field("", "number", "Number", numbers, false, false),
		field("", "note", "Text", letters, false, true),
		field("", "rush", "Boolean", []value{truth(true), truth(false)}, false, false),
		field("", "tags", "Text", letters, true, false),
		field("customer", "id", "ID", []value{text("c0"), text("c1"), text("c9")}, false, true),
		field("customer", "name", "Text", letters, false, true),
		field("customer", "city", "Text", letters, false, true),
		field("customer", "labels", "Text", letters, true, true),
		field("customer.orders", "number", "Number", numbers, false, true),
		field("customer.orders", "rush", "Boolean", []value{truth(true), truth(false)}, false, true),
		field("items", "what", "Text", letters, false, false),
		field("items", "price", "Decimal", decimals, false, false),
		field("items", "remark", "Text", letters, false, true),
		field("items", "marks", "Number", numbers, true, false),
		field("items.product", "sku", "Text", letters, false, true),
		field("items.product", "weight", "Number", numbers, false, true),
		field("items.product", "colours", "Text", letters, true, true),
		field("items.parts", "size", "Number", numbers, false, false),
	}
}

func kindNamed(name string) kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	panic("no kind " + name)
}

// fillMarket makes rows, in the database and as nodes, and returns the orders.
func fillMarket(t *testing.T, a *app, random *rand.Rand) []*node {
	t.Helper()
	fields := map[string][]filterField{} // of a row by the path to it
	for _, f := range askables() {
		path := strings.Join(f.path, ".")
		fields[path] = append(fields[path], f.field)
	}
	make := func(table, path, id, references string, ids ...any) *node {
		n := &node{id: id, values: thing{"id": {text(id)}}, related: map[string][]*node{}}
		row := map[string]json.RawMessage{"id": json.RawMessage(fmt.Sprintf("%q", id))}
		for i, column := range strings.Fields(references) {
			encoded, _ := json.Marshal(ids[i])
			row[column] = encoded
		}
		for _, f := range fields[path] {
			isOptional := map[string]bool{"note": true, "city": true, "labels": true, "remark": true, "weight": true}[f.name]
			var member string
			switch {
			case f.name == "id":
				continue
			case isOptional && random.IntN(4) == 0:
				continue
			case f.array:
				n.values[f.name], member = someOf(random, f.kind.values)
			default:
				v := f.kind.values[random.IntN(len(f.kind.values))]
				n.values[f.name], member = []value{v}, v.json
			}
			row[f.name] = json.RawMessage(member)
		}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		var columns []string
		for name := range row {
			columns = append(columns, name)
		}
		list := strings.Join(columns, ", ")
		a.exec(t, fmt.Sprintf(`insert into app."%s" (%s) select %s from jsonb_populate_record(null::app."%s", $1)`, table, list, list, table), string(text))
		return n
	}

	var customers, products, orders []*node
	for i := range 3 {
		customers = append(customers, make("customer", "customer", fmt.Sprint("c", i), ""))
		products = append(products, make("product", "items.product", fmt.Sprint("p", i), ""))
	}
	for i := range 16 {
		var customerID any
		var customer *node
		if random.IntN(4) > 0 {
			customer = customers[random.IntN(2)]
			customerID = customer.id
		}
		order := make("order", "", fmt.Sprintf("o%02d", i), "customer_id", customerID)
		if customer != nil {
			order.related["customer"] = []*node{customer}
			customer.related["orders"] = append(customer.related["orders"], order)
		}
		for j := range random.IntN(4) {
			var productID any
			var product *node
			if random.IntN(4) > 0 {
				product = products[random.IntN(3)]
				productID = product.id
			}
			id := fmt.Sprintf("i%d-%d", i, j)
			item := make("item", "items", id, "order_id product_id", order.id, productID)
			if product != nil {
				item.related["product"] = []*node{product}
			}
			for k := range random.IntN(3) {
				item.related["parts"] = append(item.related["parts"], make("part", "items.parts", fmt.Sprint(id, "-", k), "item_id", id))
			}
			order.related["items"] = append(order.related["items"], item)
		}
		orders = append(orders, order)
	}
	return orders
}

// TestRelationFilters compares lists filtered through relations, alone and together with @wheres over
// the same related row, with a model of their meaning.
func TestRelationFilters(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 5))
	a := newApp(t, "market", market)
	orders := fillMarket(t, a, random)

	all := askables()
	conditions := make([][]condition, len(all))
	for i, f := range all {
		conditions[i] = conditionsOf(f.field, random)
	}
	telling := 0 // lists with some rows, but not all
	compare := func(action, where string, holds func(*node) bool) {
		t.Helper()
		body := `{"where":` + where + `,"first":1000}`
		var want []string
		for _, o := range orders {
			if holds(o) {
				want = append(want, o.id)
			}
		}
		if len(want) > 0 && len(want) < len(orders) {
			telling++
		}
		got := readPage(t, a.list(t, action, body)).ids
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s %s\ngot  %q\nwant %q", action, body, got, want)
		}
	}
	// choosing tells whether a condition holds for some chosen item, or without one.
	choosing := func(o *node, holds func(item *node) bool) bool {
		return holds(nil) || slices.ContainsFunc(o.related["items"], holds)
	}

	for i, f := range all {
		for _, c := range conditions[i] {
			var q ask
			q.add(f.path, c)
			compare("findOrders", q.json(), func(o *node) bool { return q.holds(o, nil) })
		}
	}
	for range 500 {
		var q ask
		for range 2 + random.IntN(3) {
			i := random.IntN(len(all))
			q.add(all[i].path, conditions[i][random.IntN(len(conditions[i]))])
		}
		compare("findOrders", q.json(), func(o *node) bool { return q.holds(o, nil) })
	}

	letters := []string{"a", "b", "ab", ""}
	least := func(item *node, n int) bool {
		return item != nil && item.values["price"][0].key.(float64) >= float64(n)
	}
	is := func(n *node, field, word string) bool { return n != nil && single(n.values[field]).key == word }
	first := func(n *node, relation string) *node {
		if n == nil || len(n.related[relation]) == 0 {
			return nil
		}
		return n.related[relation][0]
	}

	withFilters := []string{"items.what", "items.remark", "items.marks", "items.product.sku", "items.parts.size", "number"}
	for range 600 {
		var q ask
		for range random.IntN(3) {
			i := random.IntN(len(all))
			if slices.Contains(withFilters, strings.Join(append(slices.Clone(all[i].path), all[i].field.name), ".")) {
				q.add(all[i].path, conditions[i][random.IntN(len(conditions[i]))])
			}
		}
		members := q.members()
		n, word, skus := random.IntN(4), letters[random.IntN(4)], letters[:random.IntN(4)]
		hasLeast, hasWord, hasSKUs := random.IntN(2) > 0, random.IntN(2) > 0, random.IntN(2) > 0
		if hasLeast {
			members = append(members, fmt.Sprintf(`"least":%d`, n))
		}
		if hasWord {
			members = append(members, fmt.Sprintf(`"word":%q`, word))
		}
		if hasSKUs {
			list, _ := json.Marshal(append([]string{}, skus...))
			members = append(members, `"skus":`+string(list))
		}
		compare("findWith", "{"+strings.Join(members, ",")+"}", func(o *node) bool {
			rush := o.values["rush"][0].key.(bool)
			return o.values["number"][0].key.(float64) > 1 && choosing(o, func(item *node) bool {
				product := first(item, "product")
				return q.holds(o, map[string]*node{"items": item}) &&
					(!hasLeast || least(item, n)) &&
					(!hasWord || rush || is(item, "what", word)) &&
					(!hasSKUs || product != nil && slices.Contains(skus, product.values["sku"][0].key.(string)))
			})
		})
	}

	for range 200 {
		var members []string
		n, word, city := random.IntN(4), letters[random.IntN(4)], letters[random.IntN(4)]
		hasLeast, hasWord, hasCity := random.IntN(3) > 0, random.IntN(3) > 0, random.IntN(3) > 0
		if hasLeast {
			members = append(members, fmt.Sprintf(`"least":%d`, n))
		}
		if hasWord {
			members = append(members, fmt.Sprintf(`"word":%q`, word))
		}
		if hasCity {
			members = append(members, fmt.Sprintf(`"city":%q`, city))
		}
		compare("findBy", "{"+strings.Join(members, ",")+"}", func(o *node) bool {
			isThere := is(first(o, "customer"), "city", city)
			return (!hasCity || !isThere) && choosing(o, func(item *node) bool {
				return (!hasLeast || !hasWord || least(item, n) && is(item, "what", word)) &&
					(!hasWord || !hasCity || item != nil && !is(item, "remark", word) || isThere)
			})
		})
	}

	for _, word := range letters {
		for _, number := range []int{1, 2, 3} {
			compare("findSince", fmt.Sprintf(`{"word":%q,"number":{"equals":%d}}`, word, number), func(o *node) bool {
				return o.values["number"][0].key == float64(number) &&
					slices.ContainsFunc(o.related["items"], func(item *node) bool { return is(item, "what", word) })
			})
			compare("findSince", fmt.Sprintf(`{"word":%q,"number":{"lessThan":%d},"customer":{"name":{"equals":"a"}}}`, word, number), func(o *node) bool {
				return o.values["number"][0].key.(float64) < float64(number) && is(first(o, "customer"), "name", "a") &&
					slices.ContainsFunc(o.related["items"], func(item *node) bool { return is(item, "what", word) })
			})
		}
	}
	if telling < 600 {
		t.Errorf("only %d lists showed some rows and not all", telling)
	}
}
