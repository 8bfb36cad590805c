package sqlgen_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/install"
)

var madeIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

const shaped = `
model Order {
  fields {
    number Text @unique
    token Text @hidden @unique
    cost Decimal @hidden @default(7)
    labels Text[] @hidden @default(["in the cellar"])
    price Decimal @computed(order.cost * 2)
    spent Decimal @computed(SUM(order.items.cost))
    placed Timestamp
    span Duration?
    on Date?
    seller Person @hidden @relation(sold)
    buyer Person?
    items Item[]
    invoice Invoice?
    pin Password?
  }
  actions {
    get byToken(token)
    get whole(id) { @embed(buyer.identity.clerk, items.order, invoice) }
    get one(id) { @select(items.what, number, buyer.name, buyer.identity.email, invoice, span, on, invoice.order.buyerId) }
    get ids(id) { @select(id, buyer.id, items.id) }
    list orders(number?) { @orderBy(placed: desc) @sortable(spent) }
    list brief(number?) { @orderBy(placed: desc) @sortable(spent) @select(buyer, number) }
    create place() with (number, token, placed, seller.id, items.what, items.cost)
    create placeBrief() with (number, token, placed, seller.id, buyer.name?, items.what, items.cost) { @select(items.what, spent, buyer.name, items.order.spent) }
    update reprice(token) with (cost)
    update repriceBrief(number) with (cost, buyer.id?) { @select(price, buyer.name, items) }
  }
  @permission(expression: order.cost > 1, actions: [get, list, create, update])
}
model Item {
  fields { order Order  what Text  cost Decimal @hidden }
}
model Person {
  fields { name Text  secret Text @hidden @default("whispered")  identity Identity?  sold Order[]  orders Order[] }
}
model Invoice { fields { order Order @unique  sum Number  remark Text @hidden @default("late") } }
model Clerk { fields { identity Identity @unique  desk Text } }
`

// TestShapes compares whole answers of actions of the four kinds that answer records. None shows a
// hidden field. An answer with a selection shows exactly the selected fields.
func TestShapes(t *testing.T) {
	t.Parallel()
	a := newApp(t, "shaped", shaped)
	a.exec(t, `update app.identity set email = 'ada@x.example' where id = 'me'`)
	a.exec(t, `insert into app.clerk (id, identity_id, desk) values ('c', 'me', 'north')`)
	a.exec(t, `insert into app.person (id, name, identity_id) values ('ada', 'Ada', 'me'), ('bob', 'Bob', null)`)
	a.exec(t, `insert into app.order (id, number, token, placed, seller_id, buyer_id, span, "on") values
		('o1', 'N1', 'T1', '2026-01-02T03:04:05.678Z', 'bob', 'ada', '90 minutes', '2026-05-06'), ('o2', 'N2', 'T2', '2026-01-01T00:00:00Z', 'ada', null, null, null)`)
	a.exec(t, `insert into app.item (id, order_id, what, cost) values ('i2', 'o1', 'pin', 2.50), ('i1', 'o1', 'nut', 1)`)
	a.exec(t, `insert into app.invoice (id, order_id, sum) values ('v', 'o1', 5)`)

	const (
		o1    = `{"id":"o1","number":"N1","price":14,"spent":3.5,"placed":"2026-01-02T03:04:05.678Z","span":"PT1H30M","on":"2026-05-06","buyerId":"ada",AT}`
		o2    = `{"id":"o2","number":"N2","price":14,"spent":0,"placed":"2026-01-01T00:00:00.000Z","span":null,"on":null,"buyerId":null,AT}`
		ada   = `{"id":"ada","name":"Ada","identityId":"me",AT}`
		items = `[{"id":"i1","what":"nut"},{"id":"i2","what":"pin"}]`
	)
	for _, test := range []struct{ action, body, want string }{
		{"byToken", `{"token":"T1"}`, o1},
		{"byToken", `{"token":"none"}`, `null`},
		{"whole", `{"id":"o1"}`, `{"id":"o1","number":"N1","price":14,"spent":3.5,"placed":"2026-01-02T03:04:05.678Z","span":"PT1H30M","on":"2026-05-06",` +
			`"buyer":{"id":"ada","name":"Ada","identity":{"id":"me","email":"ada@x.example","name":null,"givenName":null,"familyName":null,` +
			`"middleName":null,"nickName":null,"picture":null,"emailVerified":false,"clerk":{"id":"c","identityId":"me","desk":"north",AT}},AT},` +
			`"items":[{"id":"i1","order":` + o1 + `,"what":"nut",AT},{"id":"i2","order":` + o1 + `,"what":"pin",AT}],` +
			`"invoice":{"id":"v","orderId":"o1","sum":5,AT},AT}`},
		{"whole", `{"id":"o2"}`, strings.Replace(o2, `"buyerId":null`, `"buyer":null,"items":[],"invoice":null`, 1)},
		{"one", `{"id":"o1"}`, `{"id":"o1","items":` + items + `,"number":"N1","buyer":{"id":"ada","name":"Ada","identity":{"id":"me","email":"ada@x.example"}},` +
			`"invoice":{"id":"v","order":{"id":"o1","buyerId":"ada"},"sum":5,AT},"span":"PT1H30M","on":"2026-05-06"}`},
		{"one", `{"id":"o2"}`, `{"id":"o2","items":[],"number":"N2","buyer":null,"invoice":null,"span":null,"on":null}`},
		{"one", `{"id":"none"}`, `null`},
		{"ids", `{"id":"o1"}`, `{"id":"o1","buyer":{"id":"ada"},"items":[{"id":"i1"},{"id":"i2"}]}`},
		{"orders", `{}`, `{"results":[` + o1 + `,` + o2 + `],PAGE`},
		{"orders", `{"orderBy":[{"spent":"asc"}],"totalCount":true}`, `{"results":[` + o2 + `,` + o1 + `],PAGE`},
		{"orders", `{"where":{"number":{"equals":"N2"}}}`, `{"results":[` + o2 + `],PAGE`},
		{"brief", `{}`, `{"results":[{"id":"o1","buyer":` + ada + `,"number":"N1"},{"id":"o2","buyer":null,"number":"N2"}],PAGE`},
		{"brief", `{"orderBy":[{"spent":"asc"}]}`, `{"results":[{"id":"o2","buyer":null,"number":"N2"},{"id":"o1","buyer":` + ada + `,"number":"N1"}],PAGE`},
		{"brief", `{"where":{"number":{"contains":"1"}}}`, `{"results":[{"id":"o1","buyer":` + ada + `,"number":"N1"}],PAGE`},
		{"reprice", `{"where":{"token":"T1"},"values":{"cost":8}}`, strings.Replace(o1, `"price":14`, `"price":16`, 1)},
		{"repriceBrief", `{"where":{"number":"N2"},"values":{"cost":2.5,"buyer":{"id":"bob"}}}`, `{"id":"o2","price":5,"buyer":{"id":"bob","name":"Bob"},"items":[]}`},
		{"place", `{"number":"N3","token":"T3","placed":"2026-01-01T00:00:00Z","seller":{"id":"ada"},"items":[{"what":"cog","cost":4},{"what":"cog","cost":4}]}`,
			`{"id":"ID","number":"N3","price":14,"spent":8,"placed":"2026-01-01T00:00:00.000Z","span":null,"on":null,"buyerId":null,AT}`},
		{"placeBrief", `{"number":"N4","token":"T4","placed":"2026-01-01T00:00:00Z","seller":{"id":"ada"},"buyer":{"name":"Cay"},"items":[{"what":"cog","cost":4}]}`,
			`{"id":"ID","items":[{"id":"ID","what":"cog","order":{"id":"ID","spent":4}}],"spent":4,"buyer":{"id":"ID","name":"Cay"}}`},
		{"placeBrief", `{"number":"N5","token":"T5","placed":"2026-01-01T00:00:00Z","seller":{"id":"ada"},"items":[]}`,
			`{"id":"ID","items":[],"spent":0,"buyer":null}`},
	} {
		var got string
		if strings.HasPrefix(test.want, `{"results"`) {
			got = a.list(t, test.action, test.body)
			got = got[:strings.Index(got, `"pageInfo"`)] + "PAGE"
		} else {
			got = a.call(t, test.action, test.body, "")
		}
		if got = madeIDs.ReplaceAllString(timesOf.ReplaceAllString(got, "AT"), "ID"); got != test.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", test.action, test.body, got, test.want)
		}
	}
}

// TestNotReadWhatIsNotShown revokes the right to read columns that records do not show from the roles
// that run actions: the actions answer as before. If a record shows the column, the action fails
// without the right.
func TestNotReadWhatIsNotShown(t *testing.T) {
	t.Parallel()
	a := newApp(t, "unread", `
model Note {
  fields { text Text  secret Text @hidden @default("hush")  long Text @default("long")  at Timestamp @default  author Author? }
  actions {
    get brief(id) { @select(text, author.name) }
    get other(id) { @select(long) }
    list briefs(text?, long?) { @orderBy(at: asc) @sortable(text) @select(text) }
    create write() with (text, secret?, long?) { @select(text) }
    update rewrite(id) with (text) { @select(text, author.name) }
  }
  @permission(expression: true, actions: [get, list, create, update])
}
model Author { fields { name Text  phone Text @hidden @default("1") } }
`)
	a.exec(t, `insert into app.author (id, name) values ('a', 'Ada')`)
	a.exec(t, `insert into app.note (id, text, author_id) values ('n', 'one', 'a')`)
	a.exec(t, `do $$
		declare v_role text;
		begin
			for v_role in select distinct grantee from information_schema.role_table_grants
				where table_schema = 'app' and table_name = 'note' and privilege_type = 'SELECT' and grantee like 'sternpost%' and grantee <> current_user
			loop
				execute format('revoke select on app.note from %I', v_role);
				execute format('grant select (id, text, at, author_id) on app.note to %I', v_role);
			end loop;
		end $$`)
	for _, test := range []struct{ action, body, want string }{
		{"brief", `{"id":"n"}`, `{"id":"n","text":"one","author":{"id":"a","name":"Ada"}}`},
		{"briefs", `{}`, `{"results":[{"id":"n","text":"one"}],`},
		{"briefs", `{"where":{"text":{"startsWith":"o"}},"orderBy":[{"text":"desc"}],"totalCount":true}`, `{"results":[{"id":"n","text":"one"}],`},
		{"briefs", `{"where":{"text":{"notEquals":"x"}}}`, `{"results":[{"id":"n","text":"one"}],`},
		{"briefs", `{"where":{"long":{"notEquals":"x"}}}`, `{"results":[{"id":"n","text":"one"}],`},
		{"rewrite", `{"where":{"id":"n"},"values":{"text":"two"}}`, `{"id":"n","text":"two","author":{"id":"a","name":"Ada"}}`},
		{"write", `{"text":"three","secret":"s","long":"l"}`, `{"id":"ID","text":"three"}`},
		{"other", `{"id":"n"}`, "42501"},
	} {
		got := ""
		if strings.HasPrefix(test.want, `{"results"`) {
			got = a.list(t, test.action, test.body)
			got = got[:strings.Index(got, `"pageInfo"`)]
		} else {
			got = madeIDs.ReplaceAllString(a.call(t, test.action, test.body, ""), "ID")
		}
		if got != test.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", test.action, test.body, got, test.want)
		}
	}
}

// TestHidingChangesNoTable compiles a schema with and without hidden and selected fields. Tables,
// indexes, triggers, views and policies are the same, so a migration changes only functions.
func TestHidingChangesNoTable(t *testing.T) {
	t.Parallel()
	bare := regexp.MustCompile(` @hidden| \{ @select\([^)]*\) \}`).ReplaceAllString(shaped, "")
	bare = regexp.MustCompile(` @select\([^)]*\)`).ReplaceAllString(bare, "")
	if strings.Contains(bare, "@hidden") || strings.Contains(bare, "@select") {
		t.Fatalf("the schema still shapes its records:\n%s", bare)
	}
	sections := func(schema string) string {
		return part(install.Script(compile(t, schema)), true, "Tables", "References", "Indexes", "Triggers", "Related views", "Policies")
	}
	if got, want := sections(shaped), sections(bare); got != want || !strings.Contains(got, "create table app.") || !strings.Contains(got, "create policy") {
		t.Errorf("hiding fields changes more than functions:\n%s\nwithout\n%s", got, want)
	}
}
