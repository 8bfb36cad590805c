package install_test

import "github.com/sternpost/sternpost/sqlgen/diff"

// numbered is a schema of invoices with more fields.
func numbered(fields string) string {
	return "model Invoice { fields { name Text " + fields + " } actions { create bill() with (name) get find(id) }" +
		" @permission(expression: true, actions: [create, get]) }\n"
}

// written is such a schema without a create, so clients cannot know a number.
func written(fields string) string {
	return "model Invoice { fields { name Text " + fields + " } actions { get find(id) } @permission(expression: true, actions: [get]) }\n"
}

// oldInvoices are rows of it whose physical order is not the order in which they were made.
const oldInvoices = `
	insert into app.invoice (id, name, created_at) values ('i3', 'c', '2026-03-01'), ('i1', 'a', '2026-01-01'), ('i2', 'b', '2026-03-01');
`

// oldNumbers are rows with numbers written by hand.
const oldNumbers = `
	insert into app.invoice (id, name, number, created_at) values
		('i1', 'a', 'INV-0007', '2026-01-01'), ('i2', 'b', 'INV-12345', '2026-01-02'), ('i3', 'c', 'INV-0100', '2026-01-03');
`

// asksNumbers bills another invoice, and reads the numbers of all.
const asksNumbers = `
	with billed as (insert into app.invoice (id, name) values ('z', 'z') returning number)
	select string_agg(number, ' ' order by id) || ' ' || (select number from billed) from app.invoice
`

var sequenceChanges = []change{
	{
		name:    "sequence added to rows, which are numbered as they were made",
		old:     numbered(""),
		new:     numbered(`number Text @sequence("INV-")`),
		rows:    oldInvoices,
		asks:    asksNumbers,
		answers: "INV-0001 INV-0002 INV-0003 INV-0004",
	},
	{
		name:    "sequence that begins elsewhere added to rows",
		old:     numbered(""),
		new:     numbered(`number Text @sequence("it's", 9999)`),
		rows:    oldInvoices,
		asks:    asksNumbers,
		answers: "it's9999 it's10000 it's10001 it's10002",
	},
	{
		name:      "sequence added with values for the rows",
		old:       numbered(""),
		new:       numbered(`number Text @sequence("INV-")`),
		rows:      oldInvoices,
		backfills: []diff.Backfill{{Table: "invoice", Column: "number", Value: "case id when 'i1' then 'INV-0500' when 'i2' then 'old' end"}},
		asks:      asksNumbers,
		answers:   "INV-0500 old INV-0501 INV-0502",
	},
	{
		name: "sequence added to an empty table",
		old:  numbered(""),
		new:  numbered(`number Text @sequence("")`),
		asks: asksNumbers + " having count(*) > 0 union all select 'none' limit 1", answers: "none",
	},
	{
		name:    "model with a sequence added",
		old:     "model Post { fields { title Text } }\n",
		new:     "model Post { fields { title Text } }\n" + numbered(`number Text @sequence("INV-", 0)`),
		asks:    "with billed as (insert into app.invoice (name) values ('a'), ('b') returning number) select string_agg(number, ' ') from billed",
		answers: "INV-0000 INV-0001",
	},
	{
		name:    "prefix changed, and what is there stays",
		old:     numbered(`number Text @sequence("INV-")`),
		new:     numbered(`number Text @sequence("R")`),
		rows:    oldInvoices,
		asks:    asksNumbers,
		answers: "INV-0002 INV-0003 INV-0001 R0004",
	},
	{
		name:    "prefix changed to what it began with, beyond the numbers that it would give again",
		old:     numbered(`number Text @sequence("A1")`),
		new:     numbered(`number Text @sequence("A")`),
		rows:    oldInvoices,
		asks:    asksNumbers,
		answers: "A10002 A10003 A10001 A10004",
	},
	{
		name:    "begin moved on",
		old:     numbered(`number Text @sequence("INV-")`),
		new:     numbered(`number Text @sequence("INV-", 500)`),
		rows:    oldInvoices,
		asks:    asksNumbers,
		answers: "INV-0002 INV-0003 INV-0001 INV-0500",
	},
	{
		name:    "begin moved to where the sequence has been",
		old:     numbered(`number Text @sequence("INV-", 10)`),
		new:     numbered(`number Text @sequence("INV-", 11)`),
		rows:    oldInvoices + "delete from app.invoice",
		asks:    "insert into app.invoice (name) values ('a') returning number",
		answers: "INV-0013",
	},
	{
		name:    "begin moved back",
		old:     numbered(`number Text @sequence("INV-", 10)`),
		new:     numbered(`number Text @sequence("INV-", 0)`),
		rows:    oldInvoices,
		asks:    asksNumbers,
		answers: "INV-0011 INV-0012 INV-0010 INV-0013",
	},
	{
		name:    "model and field renamed",
		old:     numbered(`number Text @sequence("INV-")`),
		new:     "model Bill { fields { name Text code Text @sequence(\"INV-\") @renamed(from: number) } @renamed(from: Invoice) }\n",
		rows:    oldInvoices,
		asks:    "with billed as (insert into app.bill (name) values ('z') returning code) select code || ' ' || pg_get_serial_sequence('app.bill', 'code') from billed",
		answers: "INV-0004 app.bill_code_seq",
	},
	{
		name:    "sequence that becomes a text, whose values stay",
		old:     numbered(`number Text @sequence("INV-")`),
		new:     numbered(`number Text? @unique`),
		rows:    oldInvoices,
		asks:    "select string_agg(number, ' ' order by id) || ' ' || (select count(*) from pg_class where relkind = 'S' and relnamespace = 'app'::regnamespace) from app.invoice",
		answers: "INV-0002 INV-0003 INV-0001 0",
	},
	{
		name:    "sequence that becomes computed",
		old:     numbered(`number Text @sequence("INV-")`),
		new:     numbered(`number Text @computed(invoice.name + "!")`),
		rows:    oldInvoices,
		refused: "column app.invoice.number would be dropped with its values",
	},
	{
		name:    "sequence that becomes computed, which is allowed",
		old:     numbered(`number Text @sequence("INV-")`),
		new:     numbered(`number Text @computed(invoice.name + "!")`),
		rows:    oldInvoices,
		allow:   []string{"drop:invoice.number"},
		asks:    "select string_agg(number, ' ' order by id) from app.invoice",
		answers: "a! b! c!",
	},
	{
		name:    "computed field that becomes a sequence",
		old:     numbered(`number Text @computed(invoice.name + "!")`),
		new:     numbered(`number Text @sequence("INV-")`),
		rows:    oldInvoices,
		asks:    asksNumbers,
		answers: "INV-0001 INV-0002 INV-0003 INV-0004",
	},
	{
		name:    "field with a sequence gone",
		old:     numbered(`number Text @sequence("INV-")`),
		new:     numbered(""),
		rows:    oldInvoices,
		refused: "column app.invoice.number would be dropped with its values",
	},
	{
		name:    "field with a sequence gone, which is allowed, and a model of the sequence's name",
		old:     numbered(`number Text @sequence("INV-")`),
		new:     numbered("") + "model InvoiceNumberSeq { fields { name Text } }\n",
		rows:    oldInvoices,
		allow:   []string{"drop:invoice.number"},
		asks:    "select count(*)::text from app.invoice_number_seq",
		answers: "0",
	},
	{
		name:  "model with a sequence gone",
		old:   numbered(`number Text @sequence("INV-")`) + "model Post { fields { title Text } }\n",
		new:   "model Post { fields { title Text } }\n",
		rows:  oldInvoices,
		allow: []string{"drop:invoice"},
		asks:  "select count(*)::text from app.post", answers: "0",
	},
	{
		name:    "text that becomes a sequence, and goes on behind what is there",
		old:     written("number Text @unique"),
		new:     numbered(`number Text @sequence("INV-")`),
		rows:    oldNumbers,
		asks:    asksNumbers,
		answers: "INV-0007 INV-12345 INV-0100 INV-12346",
	},
	{
		name:    "optional text that becomes a sequence, whose gaps are filled",
		old:     numbered("number Text?"),
		new:     numbered(`number Text @sequence("INV-")`),
		rows:    oldNumbers + "insert into app.invoice (id, name, created_at) values ('i5', 'e', '2026-01-02'), ('i4', 'd', '2026-01-03')",
		asks:    asksNumbers,
		answers: "INV-0007 INV-12345 INV-0100 INV-12347 INV-12346 INV-12348",
	},
	{
		name:    "text that becomes a sequence, with values of another form",
		old:     written("number Text"),
		new:     numbered(`number Text @sequence("INV-")`),
		rows:    oldNumbers + "insert into app.invoice (name, number) values ('d', 'INV-007'), ('e', 'INV-00008'), ('f', 'inv-0009'), ('g', '')",
		refused: "column app.invoice.number would be numbered by a sequence, and rows hold what is not a number of it (4 values), for example",
	},
	{
		name:    "text that becomes a sequence, with values of another form, which may stay",
		old:     written("number Text"),
		new:     numbered(`number Text @sequence("INV-", 3)`),
		rows:    "insert into app.invoice (id, name, number) values ('i1', 'a', 'INV-99'), ('i2', 'b', 'INV-999999999999999999999999')",
		allow:   []string{"sequence:invoice.number"},
		asks:    asksNumbers,
		answers: "INV-99 INV-999999999999999999999999 INV-0003",
	},
	{
		name:      "text that becomes a sequence, with values of another form, which are put right",
		old:       numbered("number Text?"),
		new:       numbered(`number Text @sequence("INV-")`),
		rows:      "insert into app.invoice (id, name, number) values ('i1', 'a', '99'), ('i2', 'b', 'INV-0003'), ('i3', 'c', null)",
		backfills: []diff.Backfill{{Table: "invoice", Column: "number", Value: "'INV-' || lpad(number, 4, '0')"}},
		asks:      asksNumbers,
		answers:   "INV-0099 INV-0003 INV-0100 INV-0101",
	},
	{
		name:    "text that becomes a sequence, with one value twice",
		old:     written("number Text"),
		new:     numbered(`number Text @sequence("INV-")`),
		rows:    "insert into app.invoice (name, number) values ('a', 'INV-0003'), ('b', 'INV-0003')",
		refused: "key invoice_number_key on table app.invoice would be broken by rows that have the same values",
	},
	{
		name:    "number that becomes a sequence",
		old:     written("number Number"),
		new:     numbered(`number Text @sequence("")`),
		rows:    "insert into app.invoice (id, name, number) values ('i1', 'a', 1234), ('i2', 'b', 10000)",
		asks:    asksNumbers,
		answers: "1234 10000 10001",
	},
	{
		name: "nothing",
		old:  numbered(`number Text @sequence("INV-")`),
		new:  numbered(`number Text @sequence("INV-")`),
		rows: oldInvoices, same: true,
	},
}
