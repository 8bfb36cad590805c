package emit

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// sequenceName is the name of a column's sequence.
func sequenceName(t *pg.Table, c *pg.Column) string { return pg.Qualified(t.Schema, c.Sequence.Name) }

// createSequence writes the statement that makes a column's sequence. The column owns it, so that it is dropped with
// the column, and a dump knows its purpose; a sequence that is made before its table is owned later.
func createSequence(t *pg.Table, c *pg.Column, owned bool) string {
	text := fmt.Sprintf("create sequence %s minvalue 0 start with %d", sequenceName(t, c), c.Sequence.First)
	if owned {
		text += " owned by " + columnName(t, c)
	}
	return text + ";"
}

func columnName(t *pg.Table, c *pg.Column) string {
	return pg.Qualified(t.Schema, t.Name) + "." + pg.Ident(c.Name)
}

// createSequences writes the statements before a table is made, whose defaults need its sequences.
func createSequences(t *pg.Table) []string {
	var texts []string
	for _, c := range t.Numbered() {
		texts = append(texts, createSequence(t, c, false))
	}
	return texts
}

// ownSequences writes the statements after the table is made.
func ownSequences(t *pg.Table) []string {
	var texts []string
	for _, c := range t.Numbered() {
		texts = append(texts, fmt.Sprintf("alter sequence %s owned by %s;", sequenceName(t, c), columnName(t, c)))
	}
	return texts
}

// grantSequences lets roles that insert rows take numbers.
func grantSequences(t *pg.Table) []string {
	var roles []string
	for _, g := range t.Grants {
		if g.Privilege == string(pg.ForInsert) {
			roles = append(roles, g.Role)
		}
	}
	if roles == nil {
		return nil
	}
	var texts []string
	for _, c := range t.Numbered() {
		texts = append(texts, fmt.Sprintf("grant usage on sequence %s to %s;", sequenceName(t, c), strings.Join(roles, ", ")))
	}
	return texts
}

// advanceSequence moves a sequence to its first number, and beyond the numbers that rows have, if it is behind.
func advanceSequence(t *pg.Table, c *pg.Column) string {
	if s := c.Sequence; s.Per != "" {
		return strings.Join([]string{
			"insert into platform.counter (sequence, per, last)",
			"select " + pg.Quote(s.Name) + ", " + pg.Ident(s.Per) + ", max(" + s.Number(pg.Ident(c.Name)) + "::bigint)",
			"from " + pg.Qualified(t.Schema, t.Name),
			"where " + s.Gives(pg.Ident(c.Name)),
			"group by " + pg.Ident(s.Per),
			"on conflict (sequence, per) do update set last = greatest(counter.last, excluded.last);",
		}, "\n")
	}
	first := fmt.Sprint(c.Sequence.First)
	return strings.Join([]string{
		"select setval(" + pg.Quote(sequenceName(t, c)) + ", numbers.next, false)",
		"from (",
		"  select greatest(" + first + ", max(" + c.Sequence.Number(pg.Ident(c.Name)) + "::bigint) + 1) as next",
		"  from " + pg.Qualified(t.Schema, t.Name),
		"  where " + c.Sequence.Gives(pg.Ident(c.Name)),
		") as numbers",
		"cross join " + sequenceName(t, c) + " as given",
		"where numbers.next > given.last_value + given.is_called::integer;",
	}, "\n")
}

// numberRows gives rows without a value the next numbers, in the order in which the rows were made. It takes the
// numbers once, in that order, before it changes any row.
func numberRows(t *pg.Table, c *pg.Column) string {
	table, column := pg.Qualified(t.Schema, t.Name), pg.Ident(c.Name)
	numbered := []string{
		"  select unnumbered.id, " + c.Default + " as number",
		"  from (select id from " + table + " where " + column + " is null order by created_at, id) as unnumbered",
	}
	if s := c.Sequence; s.Per != "" {
		per := pg.Ident(s.Per)
		next := fmt.Sprintf("greatest(counter.last + 1, %d) - 1 + row_number() over (partition by unnumbered.%s order by unnumbered.created_at, unnumbered.id)", s.First, per)
		numbered = []string{
			"  select unnumbered.id, " + pg.Quote(s.Prefix) + " || to_char(" + next + ", '" + pg.FourDigits + "') as number",
			"  from " + table + " as unnumbered",
			"  left join platform.counter on counter.sequence = " + pg.Quote(s.Name) + " and counter.per = unnumbered." + per,
			"  where unnumbered." + column + " is null",
		}
	}
	return strings.Join([]string{
		"with numbered as materialized (",
		strings.Join(numbered, "\n"),
		")",
		"update " + table,
		"set " + column + " = numbered.number",
		"from numbered",
		"where " + pg.Ident(t.Name) + ".id = numbered.id;",
	}, "\n")
}
