package install_test

import "strings"

// billed is a schema of invoices, with more fields of each model.
func billed(invoice, line, product string) string {
	return "model Invoice { fields { name Text paid Decimal @default lines Line[] " + invoice + " } }\n" +
		"model Line { fields { invoice Invoice product Product quantity Number " + line + " } }\n" +
		"model Product { fields { title Text price Decimal lines Line[] " + product + " } }\n"
}

// ruledBills is such a schema with rules of invoices.
func ruledBills(rules, invoice, line, product string) string {
	return strings.Replace(billed(invoice, line, product), "} }\nmodel Line", "} "+rules+" }\nmodel Line", 1)
}

// bills are rows of it.
const bills = `
	insert into app.invoice (id, name) values ('i1', 'a'), ('i2', 'b');
	insert into app.product (id, title, price) values ('p1', 'x', 2), ('p2', 'y', 3.5);
	insert into app.line (id, invoice_id, product_id, quantity) values ('l1', 'i1', 'p1', 3), ('l2', 'i1', 'p2', 1), ('l3', 'i2', 'p1', 1);
`

// lodged is a schema of flats in houses, with more fields of each model.
func lodged(owner, flat, house string) string {
	return "model Owner { fields { city Text houses House[] " + owner + " } }\nmodel Guide { fields { name Text } }\n" +
		"model House { fields { owner Owner? @relation(houses) guide Guide " + house + " } }\n" +
		"model Flat { fields { house House " + flat + " } }\n"
}

// lodgings are rows of it.
const lodgings = `
	insert into app.owner (id, city) values ('o1', 'Rome'), ('o2', 'Oslo');
	insert into app.guide (id, name) values ('g1', 'x'), ('g2', 'y');
	insert into app.house (id, owner_id, guide_id) values ('h1', 'o1', 'g1'), ('h2', null, 'g2');
	insert into app.flat (id, house_id) values ('f1', 'h1'), ('f2', 'h2');
`

// priced is a line's total; the line's row has a part for it.
const priced = "total Decimal @computed(line.quantity * line.product.price)"

var computedChanges = []change{
	{
		name:    "computed fields added",
		old:     billed("", "", ""),
		new:     billed("net Decimal @computed(SUM(invoice.lines.total)) open Boolean @computed(invoice.net > invoice.paid)", priced, ""),
		rows:    bills,
		asks:    "select string_agg(name || ' ' || trim_scale(net) || ' ' || open, ', ' order by id) from app.invoice",
		answers: "a 9.5 true, b 2 true",
	},
	{
		name:    "expression of a generated column changed",
		old:     billed("half Decimal @computed(invoice.paid / 2)", "", ""),
		new:     billed("half Decimal @unique @computed(invoice.paid / 2 + 1)", "", ""),
		rows:    "insert into app.invoice (name, paid) values ('a', 3)",
		asks:    "select trim_scale(half)::text from app.invoice",
		answers: "2.5",
	},
	{
		name:    "expression of kept columns changed",
		old:     billed("net Decimal @index @computed(SUM(invoice.lines.total)) dearest Decimal @computed(MAX(invoice.lines.total))", priced, ""),
		new:     billed("net Decimal @index @computed(SUM(invoice.lines.quantity)) dearest Decimal @computed(MIN(invoice.lines.total))", priced, ""),
		rows:    bills,
		asks:    "select string_agg(trim_scale(net) || ' ' || trim_scale(dearest), ', ' order by id) from app.invoice",
		answers: "4 3.5, 1 2",
	},
	{
		name:    "one keeper for all events that becomes one for each",
		old:     billed("pieces Number @computed(SUM(invoice.lines.quantity))", "", ""),
		new:     billed("pieces Number @computed(SUM(invoice.lines.quantity)) most Number? @computed(MAX(invoice.lines.quantity))", "", ""),
		rows:    bills,
		asks:    "select string_agg(pieces || ' ' || most, ', ' order by id) from app.invoice",
		answers: "4 3, 1 1",
	},
	{
		name:    "keepers for each event that become one for all",
		old:     billed("pieces Number @computed(SUM(invoice.lines.quantity)) most Number? @computed(MAX(invoice.lines.quantity))", "", ""),
		new:     billed("pieces Number @computed(SUM(invoice.lines.quantity))", "", ""),
		rows:    bills,
		asks:    "select string_agg(pieces::text, ', ' order by id) from app.invoice",
		answers: "4, 1",
	},
	{
		name:    "what is read is renamed",
		old:     billed("net Decimal @computed(SUM(invoice.lines.total))", priced, "double Decimal @computed(product.price * 2)"),
		new:     "model Bill { fields { name Text paid Decimal @default lines Row[] sum Decimal @computed(SUM(bill.lines.worth)) @renamed(from: net) } @renamed(from: Invoice) }\nmodel Row { fields { bill Bill @renamed(from: invoice) product Product count Number @renamed(from: quantity) worth Decimal @computed(row.count * row.product.cost) @renamed(from: total) } @renamed(from: Line) }\nmodel Product { fields { title Text cost Decimal @renamed(from: price) lines Row[] double Decimal @computed(product.cost * 2) } }\n",
		rows:    bills,
		asks:    "with changed as (update app.row set count = 10 where id = 'l1' returning id) select string_agg(trim_scale(sum)::text, ', ' order by id) from app.bill",
		answers: "9.5, 2",
	},
	{
		name:    "what is read changes its type",
		old:     billed("net Decimal @computed(SUM(invoice.lines.total)) half Decimal @computed(invoice.paid / 2)", priced, ""),
		new:     "model Invoice { fields { name Text paid Number @default lines Line[] net Decimal @computed(SUM(invoice.lines.total)) half Decimal @computed(invoice.paid / 2) } }\nmodel Line { fields { invoice Invoice product Product quantity Decimal " + priced + " } }\nmodel Product { fields { title Text price Decimal lines Line[] } }\n",
		rows:    bills,
		asks:    "select string_agg(trim_scale(net) || ' ' || half, ', ' order by id) from app.invoice",
		answers: "9.5 0.000000000000000000, 2 0.000000000000000000",
	},
	{
		name:    "stored field that becomes computed",
		old:     billed("net Decimal @default(7)", "", ""),
		new:     billed("net Decimal @computed(SUM(invoice.lines.quantity))", "", ""),
		rows:    bills,
		refused: "column app.invoice.net would be dropped with its values",
	},
	{
		name:    "stored field that becomes computed, which is allowed",
		old:     billed("net Decimal @default(7)", "", ""),
		new:     billed("net Decimal @computed(SUM(invoice.lines.quantity))", "", ""),
		rows:    bills,
		allow:   []string{"drop:invoice.net"},
		asks:    "select string_agg(trim_scale(net)::text, ', ' order by id) from app.invoice",
		answers: "4, 1",
	},
	{
		name:    "computed fields dropped",
		old:     billed("net Decimal @computed(SUM(invoice.lines.total)) open Boolean @computed(invoice.net > invoice.paid)", priced, ""),
		new:     billed("", "", ""),
		rows:    bills,
		asks:    "select count(*)::text from app.line",
		answers: "3",
	},
	{
		name:    "computed field that becomes a stored one keeps its values",
		old:     billed("net Decimal @computed(SUM(invoice.lines.quantity))", "", ""),
		new:     billed("net Decimal @default(7)", "", ""),
		rows:    bills,
		asks:    "with gone as (insert into app.invoice (id, name) values ('i3', 'c') returning net), kept as (update app.line set quantity = 100 returning id) select string_agg(trim_scale(net)::text, ', ' order by id) || ' new ' || (select trim_scale(net) from gone) from app.invoice",
		answers: "4, 1 new 7",
	},
	{
		name:    "generated fields that become stored ones keep their values, with what they were made of gone",
		old:     billed("half Decimal @computed(invoice.paid / 2) large Boolean @computed(invoice.paid > 1)", priced, ""),
		new:     strings.ReplaceAll(billed("half Decimal large Boolean?", "total Decimal", ""), "paid Decimal @default ", ""),
		rows:    bills + "update app.invoice set paid = 3 where id = 'i1'",
		allow:   []string{"drop:invoice.paid"},
		asks:    "select (select string_agg(trim_scale(half) || ' ' || large, ', ' order by id) from app.invoice) || '; ' || (select string_agg(trim_scale(total)::text, ', ' order by id) from app.line)",
		answers: "1.5 true, 0 false; 6, 3.5, 2",
	},
	{
		name:    "computed fields that become stored ones of another name and type",
		old:     billed("count Number @computed(COUNT(invoice.lines)) half Decimal @computed(invoice.paid / 2)", "", ""),
		new:     billed("lineCount Decimal @renamed(from: count) share Text @renamed(from: half)", "", ""),
		rows:    bills,
		asks:    "select string_agg(trim_scale(line_count) || ' ' || share, ', ' order by id) from app.invoice",
		answers: "2 0, 1 0",
	},
	{
		name:    "computed to-one and what follows it become stored",
		old:     lodged("", "owner Owner? @computed(flat.house.owner) city Text? @computed(flat.owner.city)", ""),
		new:     lodged("", "owner Owner? city Text?", ""),
		rows:    lodgings,
		asks:    "with moved as (update app.house set owner_id = null returning id) select string_agg(concat_ws(' ', id, owner_id, city), ', ' order by id) from app.flat",
		answers: "f1 o1 Rome, f2",
	},
	{
		name: "computed to-ones added, of which others are made, and a required one that is unique",
		old:  lodged("", "", ""),
		new: lodged("", "owner Owner? @computed(flat.house.owner) @unique city Text? @computed(flat.owner.city) guide Guide @computed(flat.house.guide) @unique",
			"mine Owner? @computed(house.owner) homes Number? @computed(COUNT(house.mine.houses))"),
		rows:    lodgings,
		asks:    "select string_agg(concat_ws(' ', flat.id, flat.owner_id, city, flat.guide_id, mine_id, homes), ', ' order by flat.id) from app.flat join app.house on house.id = house_id",
		answers: "f1 o1 Rome g1 o1 1, f2 g2 0",
	},
	{
		name:    "path of a computed to-one changed",
		old:     lodged("", "owner Owner? @computed(flat.house.owner) city Text? @computed(flat.owner.city)", "other Owner?"),
		new:     lodged("", "owner Owner? @computed(flat.house.other) city Text? @computed(flat.owner.city)", "other Owner?"),
		rows:    lodgings + "update app.house set other_id = 'o2' where id = 'h2'",
		asks:    "select string_agg(concat_ws(' ', id, owner_id, city), ', ' order by id) from app.flat",
		answers: "f1, f2 o2 Oslo",
	},
	{
		name:    "to-one that becomes computed",
		old:     lodged("", "owner Owner?", ""),
		new:     lodged("", "owner Owner? @computed(flat.house.owner)", ""),
		rows:    lodgings + "update app.flat set owner_id = 'o2' where id = 'f1'",
		refused: "column app.flat.owner_id would be dropped with its values (1 value), for example \"o2\"\n    because of model Flat, field owner, schema.stern:4:35: it is computed now",
	},
	{
		name:    "to-one that becomes computed, which is allowed: it is held to no row",
		old:     lodged("", "owner Owner? @onDelete(restrict)", ""),
		new:     lodged("", "owner Owner? @computed(flat.house.owner)", ""),
		rows:    lodgings + "update app.flat set owner_id = 'o2'",
		allow:   []string{"drop:flat.owner_id"},
		asks:    "with gone as (delete from app.owner where id = 'o2') select string_agg(concat_ws(' ', id, owner_id), ', ' order by id) from app.flat",
		answers: "f1 o1, f2",
	},
	{
		name:    "computed to-one dropped",
		old:     lodged("", "owner Owner? @computed(flat.house.owner) city Text? @computed(flat.owner.city)", ""),
		new:     lodged("", "", ""),
		rows:    lodgings,
		asks:    "select string_agg(id, ', ' order by id) from app.flat",
		answers: "f1, f2",
	},
	{
		name:    "one of two keys that computed fields lead along, with its field",
		old:     lodged("", "attic House? atticCity Text? @computed(flat.attic.owner.city) city Text? @computed(flat.house.owner.city)", ""),
		new:     lodged("", "city Text? @computed(flat.house.owner.city)", ""),
		rows:    lodgings + "update app.flat set attic_id = 'h1' where id = 'f2'",
		allow:   []string{"drop:flat.attic_id"},
		asks:    "with moved as (update app.flat set house_id = 'h1' where id = 'f2') select string_agg(concat_ws(' ', id, city), ', ' order by id) from app.flat",
		answers: "f1 Rome, f2",
	},
	{
		name:    "what a computed to-one leads through, and it, renamed",
		old:     lodged("", "owner Owner? @computed(flat.house.owner) city Text? @computed(flat.owner.city)", ""),
		new:     strings.ReplaceAll(lodged("", "lord Owner? @computed(flat.house.landlord) @renamed(from: owner) city Text? @computed(flat.lord.city)", ""), "owner Owner?", "landlord Owner? @renamed(from: owner)"),
		rows:    lodgings,
		asks:    "select string_agg(concat_ws(' ', id, lord_id, city), ', ' order by id) from app.flat",
		answers: "f1 o1 Rome, f2",
	},
	{
		name:    "columns beside generated ones change their type and go",
		old:     "model Tag { fields { count Number half Number @computed(tag.count / 2) text Text gone Text? } }",
		new:     "model Tag { fields { count Number half Number @computed(tag.count / 2) text Markdown more Decimal? } }",
		rows:    "insert into app.tag (count, text) values (4, 'x')",
		asks:    "with changed as (update app.tag set text = 'y' returning updated_at) select half::text from app.tag",
		answers: "2",
	},
	{
		name:    "a column that nothing computed reads changes its type, with what is kept as it is",
		old:     ruledBills("@validate(invoice.paid <= invoice.net)", "net Decimal @computed(SUM(invoice.lines.total)) count Number @default(1)", priced, ""),
		new:     ruledBills("@validate(invoice.paid <= invoice.net)", "net Decimal @computed(SUM(invoice.lines.total)) count Decimal @default(1)", priced, ""),
		rows:    bills,
		asks:    "with changed as (update app.line set quantity = 10 where id = 'l1') select string_agg(trim_scale(net) || ' ' || count, ', ' order by id) from app.invoice",
		answers: "9.5 1, 2 1",
	},
	{
		name:    "a column of a late rule changes its type",
		old:     ruledBills("@validate(invoice.limit >= invoice.net)", "net Decimal @computed(SUM(invoice.lines.total)) limit Number @default(100)", priced, ""),
		new:     ruledBills("@validate(invoice.limit >= invoice.net)", "net Decimal @computed(SUM(invoice.lines.total)) limit Decimal @default(100)", priced, ""),
		rows:    bills,
		asks:    "select string_agg(trim_scale(net) || ' ' || \"limit\", ', ' order by id) from app.invoice",
		answers: "9.5 100, 2 100",
	},
	{
		name:    "model dropped whose rows were counted",
		old:     billed("net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		new:     "model Invoice { fields { name Text paid Decimal @default } }\n",
		rows:    bills,
		allow:   []string{"drop:line", "drop:product"},
		asks:    "select string_agg(name, ', ' order by id) from app.invoice",
		answers: "a, b",
	},
	{
		name:    "rules over what is computed, added, changed, and one taken away",
		old:     ruledBills("@validate(invoice.paid <= invoice.net) @validate(invoice.net < 1000)", "net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		new:     ruledBills("@validate(invoice.net < 100) @validate(invoice.net >= invoice.paid)", "net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		rows:    bills,
		asks:    "select string_agg(name, ', ' order by id) from app.invoice",
		answers: "a, b",
	},
	{
		name:    "rule over what is computed that rows break",
		old:     billed("net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		new:     ruledBills("@validate(invoice.net < 5)", "net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		rows:    bills,
		refused: "constraint invoice_validate_01 on table app.invoice would be broken by rows (1 row)",
	},
	{
		name:   "rule over what is computed, with the field, that rows break",
		old:    billed("", priced, ""),
		new:    ruledBills("@validate(invoice.net < 5, message: \"too much\")", "net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		rows:   bills,
		misfit: "too much",
	},
	{
		name:   "rule over what is computed that rows break when it is computed in another way",
		old:    ruledBills("@validate(invoice.net < 10)", "net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		new:    ruledBills("@validate(invoice.net < 10)", "net Decimal @computed(SUM(invoice.lines.total))", "total Decimal @computed(line.quantity * line.product.price * 2)", ""),
		rows:   bills,
		misfit: "invoice.net < 10",
	},
	{
		name:    "rows that break a rule over what is computed until all is filled",
		old:     ruledBills("@validate(invoice.net >= 2)", "net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		new:     ruledBills("@validate(invoice.net >= 2) @validate(invoice.paid < invoice.net)", "net Decimal @computed(SUM(invoice.lines.worth))", "worth Decimal @computed(line.quantity * line.product.price + 0)", ""),
		rows:    bills,
		asks:    "select string_agg(trim_scale(net)::text, ', ' order by id) from app.invoice",
		answers: "9.5, 2",
	},
	{
		name:    "rule over own fields that comes to be over what is computed from rows, with what is renamed",
		old:     ruledBills("@validate(invoice.net >= 2)", "net Decimal @default(20)", priced, ""),
		new:     "model Bill { fields { name Text paid Decimal @default lines Line[] net Decimal @computed(SUM(bill.lines.total)) } @validate(bill.net >= 2) @renamed(from: Invoice) }\nmodel Line { fields { bill Bill @renamed(from: invoice) product Product quantity Number total Decimal @computed(line.quantity * line.product.price) } }\nmodel Product { fields { title Text price Decimal lines Line[] } }\n",
		rows:    bills,
		allow:   []string{"drop:invoice.net"},
		asks:    "select string_agg(trim_scale(net)::text, ', ' order by id) from app.bill",
		answers: "9.5, 2",
	},
	{
		name:    "rules over to-ones of other rows",
		old:     strings.Replace(visits, visitRules, "", 1),
		new:     visits,
		rows:    visitRows,
		asks:    "select string_agg(patient__practice_id || coalesce(room__practice_id, '-'), ', ' order by id) from app.visit",
		answers: "aa, b-",
	},
	{
		name:   "rules over to-ones of other rows, which rows break",
		old:    strings.Replace(visits, visitRules, "", 1),
		new:    visits,
		rows:   visitRows + "; update app.visit set practice_id = 'b' where id = 'va'",
		misfit: "of another practice",
	},
	{
		name:    "rules over to-ones of other rows, taken away",
		old:     visits,
		new:     strings.Replace(visits, visitRules, "", 1),
		rows:    visitRows,
		asks:    "select string_agg(practice_id, ', ' order by id) from app.visit",
		answers: "a, b",
	},
	{
		name: "nothing, with rules over what is computed",
		old:  ruledBills("@validate(invoice.net < 100)", "net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		new:  ruledBills("@validate(invoice.net < 100)", "net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		rows: bills, same: true,
	},
	{
		name: "nothing",
		old:  billed("net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		new:  billed("net Decimal @computed(SUM(invoice.lines.total))", priced, ""),
		rows: bills, same: true,
	},
}
