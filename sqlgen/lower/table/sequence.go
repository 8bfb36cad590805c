package table

import (
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// fourDigits writes a number with at least four digits, and up to nineteen: a sequence's greatest number has as many.
const fourDigits = "FM9999999999999990000"

// number gives a column a sequence, and the default that takes its next number.
func (l *Lowering) number(c *pg.Column, f *model.Field) {
	c.Sequence = &pg.Sequence{
		Name:   l.Names.Take(f.Model.Table + "_" + f.Column + "_seq"),
		Prefix: f.Sequence.Prefix,
		First:  f.Sequence.First,
	}
	next := pg.Expr(pg.Fn("to_char", pg.Fn("nextval", pg.Str(pg.Qualified(value.AppSchema, c.Sequence.Name))), pg.Str(fourDigits)))
	if c.Sequence.Prefix != "" {
		next = pg.Op(pg.Str(c.Sequence.Prefix), "||", next)
	}
	c.Default = emit.Expr(next)
}
