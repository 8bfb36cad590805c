package lower

import (
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// fourDigits writes a number with at least four digits, and with all that it has: nineteen
// are those of the greatest that a sequence comes to.
const fourDigits = "FM9999999999999990000"

// number gives a column a sequence, and with it the default that takes the next number.
func (l *lowering) number(c *pg.Column, f *schema.Field) {
	c.Sequence = &pg.Sequence{
		Name:   l.names.Take(f.Model.Table + "_" + f.Column + "_seq"),
		Prefix: f.Sequence.Prefix,
		First:  f.Sequence.First,
	}
	next := pg.Expr(pg.Fn("to_char", pg.Fn("nextval", pg.Str(pg.Qualified(appSchema, c.Sequence.Name))), pg.Str(fourDigits)))
	if c.Sequence.Prefix != "" {
		next = pg.Op(pg.Str(c.Sequence.Prefix), "||", next)
	}
	c.Default = emit.Expr(next)
}
