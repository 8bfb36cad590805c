package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

const manyProducts = `
model Product {
  fields {
    batch Text
    sku Text
    price Decimal
    stock Number @default(0)
    note Text? @maxLength(5)
    shop Shop
    labels Label[]
    count Number @computed(COUNT(product.labels))
  }
  @unique([batch, sku])
  @validate(product.price >= 0, message: "a price is not negative")
  @history
  @on([create], countProduct)
  actions {
    create addProduct() with (batch, sku, price, stock?, note?, shop.id) { @validate(stock < 100, message: "too many", field: stock) }
    create addProducts() with (batch, sku, price, stock?, note?, shop.id) { @many @validate(stock < 100, message: "too many", field: stock) }
    create addLabelled() with (id, batch, sku, price, shop.id, labels.text) { @many @set(product.stock = 1) }
    create addJudged() with (batch, sku, price, shop.id, labels.text) { @many @permission(expression: "bad" in product.labels.text) }
    update reprice(batch, sku) with (price, note?) { @where(product.stock > 0) }
    update repriceAll(batch, sku) with (price, note?) { @many @where(product.stock > 0) }
    update noteAll(id) with (note) { @many @select(sku, note) }
    delete drop(id)
    delete dropAll(id) { @many }
    get getProduct(id)
    list listProducts()
    history productHistory(id)
  }
  @permission(expression: product.shop.owner == ctx.identity, actions: [create, update, delete])
  @permission(expression: true, actions: [get, list])
}
model Shop {
  fields { owner Identity  counted Number @default(0) }
  @permission(expression: true, jobs: [countProduct])
}
model Label { fields { product Product @onDelete(cascade)  text Text } }
`

type manyProblem struct {
	Field, Code, Error string
	Params             map[string]any
}

type manyAnswer struct {
	status  int
	text    string
	Code    string
	Results []json.RawMessage
	Data    struct{ Errors []manyProblem }
}

// TestMany writes many rows by a call: all or none, in their order, with every refusal at its row.
func TestMany(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{
		"schema.stern": manyProducts,
		"functions/countProduct.sql": `create function functions.count_product(event jsonb) returns void language sql volatile as $$
			update app.shop set counted = counted + 1 where id = event#>>'{target,data,shopId}' $$;`,
	})
	db := installApp(t, dir)
	a := serve(t, db, dir, db.ServerURL())
	ada, bob := a.as(t, "ada"), a.as(t, "bob")
	conn := db.Superuser(t)
	if _, err := conn.Exec(t.Context(), `insert into app.shop (id, owner_id) values ('a', 'ada'), ('b', 'bob')`); err != nil {
		t.Fatal(err)
	}
	call := func(caller http.Header, action, body string) manyAnswer {
		t.Helper()
		response, text := a.send(t, "POST", "/api/json/"+action, caller, body)
		answer := manyAnswer{status: response.StatusCode, text: text}
		if err := json.Unmarshal([]byte(text), &answer); err != nil && text != "null" && !strings.HasPrefix(text, `"`) {
			t.Fatalf("%s %s: got %s", action, body, text)
		}
		return answer
	}
	count := func(query string) (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	row := func(sku, price, shop string) string {
		return fmt.Sprintf(`{"batch":"x","sku":%q,"price":%s,"shop":{"id":%q}}`, sku, price, shop)
	}
	rows := func(rows ...string) string { return `{"rows":[` + strings.Join(rows, ",") + `]}` }

	refused := []struct {
		name, action, body string
		status             int
		want               []string // field code
	}{
		{"no rows", "addProducts", `{"rows":[]}`, 400, []string{"rows minItems"}},
		{"too many", "addProducts", rows(strings.Split(strings.Repeat("{},", 1000)+"{}", ",")...), 400, []string{"rows maxItems"}},
		{"a type", "addProducts", rows(row("1", "1", "a"), row("2", `"x"`, "a")), 400, []string{"rows[1].price type"}},
		{"a validation", "addProducts", rows(row("1", "1", "a"), `{"batch":"x","sku":"2","price":1,"stock":100,"shop":{"id":"a"}}`), 400, []string{"rows[1].stock validate"}},
		{"a rule of the model", "addProducts", rows(row("1", "1", "a"), row("2", "-1", "a"), row("3", "-1", "a")), 409, []string{"rows[1] validate", "rows[2] validate"}},
		{"one value twice", "addProducts", rows(row("1", "1", "a"), row("2", "1", "a"), row("1", "1", "a")), 400, []string{"rows[2].sku unique"}},
		{"of another owner, and a value twice", "addProducts", rows(row("1", "1", "b"), row("2", "1", "a"), row("2", "1", "a")), 403, []string{"rows[0] refused", "rows[2].sku unique"}},
		{"a row that is not there", "addProducts", rows(row("1", "1", "a"), row("2", "1", "none")), 403, []string{"rows[1] refused"}},
		{"judged when all is written", "addJudged", rows(`{"batch":"x","sku":"1","price":1,"shop":{"id":"a"},"labels":[{"text":"bad"}]}`,
			`{"batch":"x","sku":"2","price":1,"shop":{"id":"a"},"labels":[{"text":"good"}]}`), 403, []string{"rows[1] refused"}},
	}
	check := func(name string, got manyAnswer, status int, want []string) {
		t.Helper()
		var problems []string
		for _, p := range got.Data.Errors {
			problems = append(problems, p.Field+" "+p.Code)
		}
		if got.status != status || !reflect.DeepEqual(problems, want) {
			t.Errorf("%s: got %d %s\nwant %d %v", name, got.status, got.text, status, want)
		}
	}
	for _, r := range refused {
		check(r.name, call(ada, r.action, r.body), r.status, r.want)
	}
	check("nobody", call(nil, "addProducts", rows(row("1", "1", "a"))), 403, []string{"rows[0] refused"})
	if n := count(`select count(*) from app.product`); n != 0 {
		t.Fatalf("refused calls have written %d rows", n)
	}

	// A write is not made by GET, whatever the query is.
	query := url.Values{"rows": {"[" + row("1", "1", "a") + "]"}}.Encode()
	for _, q := range []string{"", "?" + query, "?rows=" + url.QueryEscape(row("1", "1", "a"))} {
		if response, text := a.send(t, "GET", "/api/json/addProducts"+q, ada, ""); response.StatusCode != 405 {
			t.Errorf("GET addProducts%s: got %d %s, want 405", q, response.StatusCode, text)
		}
	}

	made := call(ada, "addProducts", rows(row("1", "1", "a"), row("2", "2.5", "a"), row("3", "3", "a")))
	var ids []string
	for i, r := range made.Results {
		var record struct {
			ID, SKU string
			Count   int
		}
		if err := json.Unmarshal(r, &record); err != nil || record.SKU != fmt.Sprint(i+1) {
			t.Errorf("result %d is %s", i, r)
		}
		ids = append(ids, record.ID)
	}
	if len(ids) != 3 {
		t.Fatalf("addProducts: got %d %s", made.status, made.text)
	}
	labelled := call(ada, "addLabelled", rows(`{"id":"l1","batch":"l","sku":"1","price":1,"shop":{"id":"a"},"labels":[{"text":"x"},{"text":"y"}]}`,
		`{"id":"l2","batch":"l","sku":"2","price":1,"shop":{"id":"a"},"labels":[]}`))
	if !regexp.MustCompile(`^\{"results":\[\{"id":"l1".*"stock":1.*"count":2.*\},\{"id":"l2".*"count":0.*\}\]\}$`).MatchString(labelled.text) {
		t.Errorf("addLabelled: got %d %s", labelled.status, labelled.text)
	}
	check("an id twice", call(ada, "addLabelled", rows(`{"id":"l3","batch":"l","sku":"3","price":1,"shop":{"id":"a"},"labels":[]}`,
		`{"id":"l1","batch":"l","sku":"4","price":1,"shop":{"id":"a"},"labels":[]}`)), 400, []string{"rows[1].id unique"})

	note := func(id, text string) string { return fmt.Sprintf(`{"where":{"id":%q},"values":{"note":%q}}`, id, text) }
	if got := call(ada, "noteAll", rows(note(ids[2], "c"), note(ids[0], "a"))); got.text != fmt.Sprintf(
		`{"results":[{"id":%q,"sku":"3","note":"c"},{"id":%q,"sku":"1","note":"a"}]}`, ids[2], ids[0]) {
		t.Errorf("noteAll: got %d %s", got.status, got.text)
	}
	check("twice", call(ada, "noteAll", rows(note(ids[0], "x"), note(ids[1], "x"), note(ids[0], "y"))), 400, []string{"rows[2] twice"})
	check("missing", call(ada, "noteAll", rows(note(ids[0], "x"), note("none", "x"))), 404, []string{"rows[1] refused"})
	check("not hers", call(bob, "noteAll", rows(note(ids[0], "x"), note("none", "x"))), 403, []string{"rows[0] refused", "rows[1] refused"})
	check("too long", call(ada, "noteAll", rows(note(ids[0], "x"), note(ids[1], "123456"))), 400, []string{"rows[1].values.note maxLength"})
	if n := count(`select count(*) from app.product where note in ('x', 'y')`); n != 0 {
		t.Errorf("refused updates have written %d rows", n)
	}

	// One key, one write; events and history as for single writes.
	header := a.as(t, "ada", "Idempotency-Key", "k")
	body := rows(row("k1", "1", "a"), row("k2", "1", "a"))
	first, again := call(header, "addProducts", body), call(header, "addProducts", body)
	if first.text != again.text || first.status != 200 {
		t.Errorf("under a key: got %d %s, then %d %s", first.status, first.text, again.status, again.text)
	}
	for range 600 {
		if count(`select counted from app.shop where id = 'a'`) == 7 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if n := count(`select counted from app.shop where id = 'a'`); n != 7 {
		t.Errorf("a subscriber was told of %d creates, want 7", n)
	}
	if got := call(ada, "productHistory", fmt.Sprintf(`{"id":%q}`, ids[0])); len(got.Results) != 2 {
		t.Errorf("history: got %s", got.text)
	}

	drop := func(ids ...string) string {
		for i, id := range ids {
			ids[i] = fmt.Sprintf(`{"id":%q}`, id)
		}
		return rows(ids...)
	}
	check("dropped twice", call(ada, "dropAll", drop("l1", "l2", "l1")), 400, []string{"rows[2] twice"})
	check("not his", call(bob, "dropAll", drop("l1", "l2")), 403, []string{"rows[0] refused", "rows[1] refused"})
	if got := call(ada, "dropAll", drop("l2", "l1")); got.text != `{"results":["l2","l1"]}` {
		t.Errorf("dropAll: got %d %s", got.status, got.text)
	}
	if n := count(`select count(*) from app.label`); n != 0 {
		t.Errorf("%d labels are left", n)
	}
	t.Run("like single calls", func(t *testing.T) { compareMany(t, call, ada, bob) })
}

// compareMany makes random calls of many rows, and the same calls one by one in another batch: either all are answered
// and equal, or the same rows are refused for the same reasons.
func compareMany(t *testing.T, call func(http.Header, string, string) manyAnswer, callers ...http.Header) {
	random := rand.New(rand.NewPCG(7, 11))
	of := regexp.MustCompile(`"(id|batch|createdAt|updatedAt)":"[^"]*"`)
	kinds := map[int]int{}
	for round := range 120 {
		caller := callers[random.IntN(len(callers))]
		single, many, isUpdate := "addProduct", "addProducts", random.IntN(2) == 0
		if isUpdate {
			single, many = "reprice", "repriceAll"
		}
		batch := func(name string) string { return fmt.Sprintf("%s%d", name, round) }
		if isUpdate {
			for _, name := range []string{batch("one"), batch("all")} {
				for sku := range 6 {
					for i, shop := range []string{"a", "b"} {
						if sku%2 == i || sku > 4 {
							call(callers[i], "addProduct", fmt.Sprintf(`{"batch":%q,"sku":"%d","price":1,"stock":%d,"shop":{"id":%q}}`, name, sku, min(sku, 1), shop))
						}
					}
				}
			}
		}
		var rows []string
		for range 1 + random.IntN(5) {
			sku, price := random.IntN(7), random.IntN(12)-1
			more := []string{"", `,"note":"n"`, `,"note":null`}[random.IntN(3)]
			if isUpdate {
				rows = append(rows, fmt.Sprintf(`{"where":{"batch":"BATCH","sku":"%d"},"values":{"price":%d%s}}`, sku, price, more))
				continue
			}
			if random.IntN(3) == 0 {
				more += fmt.Sprintf(`,"stock":%d`, random.IntN(3)*50)
			}
			rows = append(rows, fmt.Sprintf(`{"batch":"BATCH","sku":"%d","price":%d,"shop":{"id":%q}%s}`, sku, price, []string{"a", "a", "a", "b"}[random.IntN(4)], more))
		}
		in := func(body, name string) string { return strings.ReplaceAll(body, "BATCH", batch(name)) }
		got := call(caller, many, in(`{"rows":[`+strings.Join(rows, ",")+`]}`, "all"))
		var results, problems []string
		seen := map[string]bool{}
		for i, row := range rows {
			key := regexp.MustCompile(`"sku":"\d"`).FindString(row)
			if isUpdate && seen[key] && got.status == 400 {
				problems = append(problems, fmt.Sprintf("rows[%d] twice", i))
				continue
			}
			seen[key] = true
			one := call(caller, single, in(row, "one"))
			if one.status == 200 {
				results = append(results, of.ReplaceAllString(one.text, ""))
				continue
			}
			if len(one.Data.Errors) == 0 {
				problems = append(problems, fmt.Sprintf("rows[%d] refused %s", i, one.Code))
			}
			for _, p := range one.Data.Errors {
				path := fmt.Sprintf("rows[%d]", i)
				if p.Field != "" {
					path += "." + p.Field
				}
				problems = append(problems, path+" "+p.Code)
			}
		}
		var gotResults, gotProblems []string
		for _, r := range got.Results {
			gotResults = append(gotResults, of.ReplaceAllString(string(r), ""))
		}
		for _, p := range got.Data.Errors {
			text := p.Field + " " + p.Code
			if p.Code == "refused" {
				text += " " + p.Params["code"].(string)
			}
			gotProblems = append(gotProblems, text)
		}
		kinds[got.status]++
		isTwice := len(gotProblems) == 1 && strings.HasSuffix(gotProblems[0], " twice")
		switch {
		case isTwice && isUpdate: // it is found before anything is judged
		case got.status != 200 && !reflect.DeepEqual(gotProblems, problems), got.status == 200 && (len(problems) > 0 || !reflect.DeepEqual(gotResults, results)):
			t.Errorf("round %d: %s %s\ngot %d %s\nwant %q %q", round, many, strings.Join(rows, "\n"), got.status, got.text, results, problems)
		}
	}
	for _, status := range []int{200, 400, 403, 404, 409} {
		if kinds[status] == 0 {
			t.Errorf("no call was answered by %d: %v", status, kinds)
		}
	}
}
