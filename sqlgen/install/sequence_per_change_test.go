package install_test

import "github.com/sternpost/sternpost/sqlgen/diff"

// numberedPer is a schema of invoices of practices, with more fields.
func numberedPer(fields string) string {
	return "model Practice { fields { name Text invoices Invoice[] } }\nmodel Invoice { fields { name Text practice Practice " + fields + " } " +
		"actions { create bill() with (name, practice.id) get find(id) } @permission(expression: true, actions: [create, get]) }\n"
}

// writtenPer is such a schema without a create.
func writtenPer(fields string) string {
	return "model Practice { fields { name Text invoices Invoice[] } }\nmodel Invoice { fields { name Text practice Practice " + fields + " } " +
		"actions { get find(id) } @permission(expression: true, actions: [get]) }\n"
}

const guests = "model Guest { fields { name Text } }\n"

const perPractice = `number Text @sequence("INV-", per: practice)`

// Invoices of two practices, whose physical order is not the order in which they were made, and such with numbers.
const (
	practices          = "insert into app.practice (id, name) values ('p', 'p'), ('q', 'q');"
	invoicesOfPractice = practices + `insert into app.invoice (id, name, practice_id, created_at) values
		('i3', 'c', 'p', '2026-03-01'), ('i1', 'a', 'p', '2026-01-01'), ('i2', 'b', 'q', '2026-03-01'), ('i4', 'd', 'q', '2026-03-01'), ('i5', 'e', 'p', '2026-03-01');`
	numbersOfPractice = practices + `insert into app.invoice (id, name, practice_id, number, created_at) values
		('i1', 'a', 'p', 'INV-0007', '2026-01-01'), ('i2', 'b', 'q', 'INV-12345', '2026-01-02'), ('i3', 'c', 'p', 'INV-0100', '2026-01-03');`
)

// asksPer bills another invoice of each practice, and reads all numbers, and the counters as they were before.
const asksPer = `
	with billed as (insert into app.invoice (name, practice_id) values ('y', 'p'), ('z', 'q') returning name, number)
	select concat_ws(' ', string_agg(number, ' ' order by id), '|', (select string_agg(number, ' ' order by name) from billed),
		(select '| ' || string_agg(sequence || ' ' || per || last, ' ' order by sequence, per) from platform.counter))
	from app.invoice
`

var sequencePerChanges = []change{
	{
		name:    "numbers per row added to rows, which are numbered as they were made",
		old:     numberedPer(""),
		new:     numberedPer(perPractice),
		rows:    invoicesOfPractice,
		asks:    asksPer,
		answers: "INV-0001 INV-0001 INV-0002 INV-0002 INV-0003 | INV-0004 INV-0003 | invoice_number_seq p3 invoice_number_seq q2",
	},
	{
		name:      "numbers per row added with values for some rows",
		old:       numberedPer(""),
		new:       numberedPer(`number Text @sequence("it's", 9999, per: practice)`),
		rows:      invoicesOfPractice,
		backfills: []diff.Backfill{{Table: "invoice", Column: "number", Value: "case id when 'i1' then 'it''s10500' when 'i2' then 'old' end"}},
		asks:      asksPer,
		answers:   "it's10500 old it's10501 it's9999 it's10502 | it's10503 it's10000 | invoice_number_seq p10502 invoice_number_seq q9999",
	},
	{
		name:      "numbers per row added together with what they count per",
		old:       "model Practice { fields { name Text } }\nmodel Invoice { fields { name Text } }\n",
		new:       "model Practice { fields { name Text invoices Invoice[] } }\nmodel Invoice { fields { number Text @sequence(\"\", per: practice) name Text practice Practice } }\n",
		rows:      practices + "insert into app.invoice (id, name, created_at) values ('i1', 'q', '2026-03-01'), ('i2', 'p', '2026-01-01'), ('i3', 'q', '2026-01-01')",
		backfills: []diff.Backfill{{Table: "invoice", Column: "practice_id", Value: "name"}},
		asks:      asksPer,
		answers:   "0002 0001 0001 | 0002 0003 | invoice_number_seq p1 invoice_number_seq q2",
	},
	{
		name: "models with numbers per row added",
		old:  "model Post { fields { title Text } }\n",
		new:  "model Post { fields { title Text } }\n" + numberedPer(perPractice),
		asks: "select count(*)::text from platform.counter", answers: "0",
	},
	{
		name:    "sequence that comes to count per row, and goes on behind what is there",
		old:     numberedPer(`number Text @sequence("INV-")`),
		new:     numberedPer(perPractice),
		rows:    invoicesOfPractice,
		asks:    asksPer,
		answers: "INV-0002 INV-0003 INV-0001 INV-0004 INV-0005 | INV-0006 INV-0005 | invoice_number_seq p5 invoice_number_seq q4",
	},
	{
		name:    "sequence with another prefix that comes to count per row",
		old:     numberedPer(`number Text @sequence("R", 5)`),
		new:     numberedPer(perPractice),
		rows:    invoicesOfPractice,
		asks:    asksPer,
		answers: "R0006 R0007 R0005 R0008 R0009 | INV-0001 INV-0001",
	},
	{
		name:    "numbers per row that become a sequence, but two rows have one number",
		old:     numberedPer(perPractice),
		new:     numberedPer(`number Text @sequence("INV-")`),
		rows:    invoicesOfPractice,
		refused: "key invoice_number_key on table app.invoice would be broken by rows that have the same values",
	},
	{
		name:    "numbers per row that become a sequence, which goes on behind all",
		old:     numberedPer(perPractice),
		new:     numberedPer(`number Text @sequence("INV-")`),
		rows:    invoicesOfPractice + "delete from app.invoice where practice_id = 'q'",
		asks:    asksPer,
		answers: "INV-0002 INV-0001 INV-0003 | INV-0004 INV-0005",
	},
	{
		name:    "numbers per row that become a text",
		old:     numberedPer(perPractice),
		new:     numberedPer("number Text? @index"),
		rows:    invoicesOfPractice,
		asks:    asksPer,
		answers: "INV-0002 INV-0001 INV-0001 INV-0002 INV-0003 |",
	},
	{
		name:    "text that comes to be numbered per row, and goes on behind what is there",
		old:     writtenPer("number Text"),
		new:     numberedPer(perPractice),
		rows:    numbersOfPractice,
		asks:    asksPer,
		answers: "INV-0007 INV-12345 INV-0100 | INV-0101 INV-12346 | invoice_number_seq p100 invoice_number_seq q12345",
	},
	{
		name:    "unique text that comes to be numbered per row, whose gaps are filled",
		old:     numberedPer("number Text?"),
		new:     numberedPer(perPractice),
		rows:    numbersOfPractice + "insert into app.invoice (id, name, practice_id, number, created_at) values ('i6', 'f', 'q', null, '2026-01-04'), ('i5', 'e', 'q', null, '2026-01-05'), ('i4', 'd', 'p', null, '2026-01-05')",
		asks:    asksPer,
		answers: "INV-0007 INV-12345 INV-0100 INV-0101 INV-12347 INV-12346 | INV-0102 INV-12348 | invoice_number_seq p101 invoice_number_seq q12347",
	},
	{
		name:    "text that comes to be numbered per row, with values of another form",
		old:     writtenPer("number Text"),
		new:     numberedPer(perPractice),
		rows:    numbersOfPractice + "update app.invoice set number = 'x' where id = 'i1'",
		refused: "column app.invoice.number would be numbered by a sequence, and rows hold what is not a number of it (1 value), for example",
	},
	{
		name:    "text that comes to be numbered per row, with one value twice in a practice",
		old:     writtenPer("number Text"),
		new:     numberedPer(perPractice),
		rows:    numbersOfPractice + "update app.invoice set number = 'INV-0007' where id <> 'i2'",
		refused: "key invoice_practice_id_number_key on table app.invoice would be broken by rows that have the same values",
	},
	{
		name: "another row that numbers count per",
		old:  writtenPer("guest Guest "+perPractice) + guests,
		new:  writtenPer(`guest Guest number Text @sequence("INV-", per: guest)`) + guests,
		rows: practices + `insert into app.guest (id, name) values ('g', 'g'), ('h', 'h');
			insert into app.invoice (id, name, practice_id, guest_id) values ('i1', 'a', 'p', 'g'), ('i2', 'b', 'p', 'g'), ('i3', 'c', 'p', 'h')`,
		asks:    "select string_agg(number, ' ' order by id) || (select string_agg(' ' || sequence || per || last, '' order by sequence, per) from platform.counter) from app.invoice",
		answers: "INV-0001 INV-0002 INV-0003 invoice_number_seqg2 invoice_number_seqh3",
	},
	{
		name: "what numbers counted per gone",
		old:  writtenPer("guest Guest "+perPractice) + guests,
		new:  `model Invoice { fields { name Text guest Guest number Text @sequence("INV-", per: guest) } }` + "\n" + guests,
		rows: practices + `insert into app.guest (id, name) values ('g', 'g');
			insert into app.invoice (id, name, practice_id, guest_id) values ('i1', 'a', 'p', 'g'), ('i2', 'b', 'p', 'g')`,
		allow:   []string{"drop:practice", "drop:invoice.practice_id"},
		asks:    "select string_agg(number, ' ' order by id) || (select string_agg(' ' || sequence || per || last, '' order by sequence, per) from platform.counter) from app.invoice",
		answers: "INV-0001 INV-0002 invoice_number_seqg2",
	},
	{
		name: "prefix and begin of numbers per row changed",
		old:  numberedPer(`number Text @sequence("A1", per: practice)`),
		new:  numberedPer(`number Text @sequence("A", 10003, per: practice)`),
		rows: invoicesOfPractice, asks: asksPer,
		answers: "A10002 A10001 A10001 A10002 A10003 | A10004 A10003 | invoice_number_seq p10003 invoice_number_seq q10002",
	},
	{
		name: "everything about numbers per row renamed",
		old:  numberedPer(perPractice),
		new: "model Clinic { fields { name Text bills Bill[] @renamed(from: invoices) } @renamed(from: Practice) }\n" +
			"model Bill { fields { name Text clinic Clinic @renamed(from: practice) code Text @sequence(\"INV-\", per: clinic) @renamed(from: number) } @renamed(from: Invoice) }\n",
		rows: invoicesOfPractice + "delete from app.invoice where id = 'i5'",
		asks: `with billed as (insert into app.bill (name, clinic_id) values ('y', 'p') returning code)
			select code || (select string_agg(' ' || sequence || per || last, '' order by sequence, per) from platform.counter) from billed`,
		answers: "INV-0004 bill_code_seqp3 bill_code_seqq2",
	},
	{
		name:    "numbers per row gone, which is allowed",
		old:     numberedPer(perPractice),
		new:     numberedPer(""),
		rows:    invoicesOfPractice,
		allow:   []string{"drop:invoice.number"},
		asks:    "select count(*)::text from platform.counter",
		answers: "0",
	},
	{
		name:    "model with numbers per row gone, which is allowed",
		old:     numberedPer(perPractice),
		new:     "model Practice { fields { name Text } }\n",
		rows:    invoicesOfPractice,
		allow:   []string{"drop:invoice"},
		asks:    "select count(*)::text from platform.counter",
		answers: "0",
	},
	{
		name: "nothing about numbers per row",
		old:  numberedPer(perPractice),
		new:  numberedPer(perPractice),
		rows: invoicesOfPractice, same: true,
	},
}
