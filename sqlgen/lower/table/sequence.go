package table

import (
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// number gives a column a sequence, and the default that takes its next number. Where numbers count per row of another
// table, triggers give them.
func (l *Lowering) number(c *pg.Column, f *model.Field) {
	c.Sequence = &pg.Sequence{
		Name:   l.Names.Take(f.Model.Table + "_" + f.Column + "_seq"),
		Prefix: f.Sequence.Prefix,
		First:  f.Sequence.First,
	}
	if per := f.Sequence.Per; per != nil {
		c.Sequence.Per = per.Column
		return
	}
	next := pg.Expr(pg.Fn("to_char", pg.Fn("nextval", pg.Str(pg.Qualified(value.AppSchema, c.Sequence.Name))), pg.Str(pg.FourDigits)))
	if c.Sequence.Prefix != "" {
		next = pg.Op(pg.Str(c.Sequence.Prefix), "||", next)
	}
	c.Default = emit.Expr(next)
}

// Count gives tables the triggers for sequences that count per row of another table: a row gets its number before
// anything is computed from it, and a row that is deleted takes its counters along.
func Count(tables []*pg.Table) {
	counters := map[string][]string{} // of the rows of a table
	for _, t := range tables {
		for _, c := range t.Columns {
			s := c.Sequence
			if s == nil || s.Per == "" {
				continue
			}
			t.Triggers = append(t.Triggers, &pg.Trigger{
				// The name says what it reads: one that reads others goes before they do.
				Name: pg.Shorten("_040_number_"+c.Name+"_per_"+s.Per, pg.MaxIdent), Timing: "before insert or update", Columns: []string{c.Name, s.Per},
				Function: "platform.tg_number", Arguments: []string{s.Name, c.Name, s.Per, s.Prefix, strconv.FormatInt(s.First, 10)},
			})
			for _, r := range t.References {
				if r.Column == s.Per {
					counters[r.Table] = append(counters[r.Table], s.Name)
				}
			}
		}
	}
	for _, t := range tables {
		if names := counters[t.Name]; names != nil {
			t.Triggers = append(t.Triggers, &pg.Trigger{
				Name: "_600_counters", Timing: "after delete", Function: "platform.tg_drop_counters", Arguments: names,
			})
		}
	}
}
