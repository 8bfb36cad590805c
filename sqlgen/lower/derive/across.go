package derive

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// An aggregate behind a to-one may have a condition that names the reading row, and then has another value for each
// such row: SUMIF(line.invoice.payments.amount, line.invoice.payments.day > line.day). So it is not kept in the row of
// the to-one and copied from there. It is a part of the reading row, made of all rows that point, through any number of
// keys, to the third row: the one that the reading row leads to. Both have the id of the third row in a column of their
// own. A change on either side reads the values concerned anew. It locks the third row first, so the second of two
// changes sees the first.

// across describes a part that is made of rows that point to a third one.
type across struct {
	third *model.Model
	match string   // the column of the owner that leads to the third row
	link  string   // the column of the other rows that leads to it
	own   []string // the columns of the owner that the condition reads
	reads []string // the columns of the other rows that are read
}

// reach splits the path of an aggregate that begins with a to-one: how many to-ones lead to
// the third row, and how many to-manys from there to the rows that are read.
func reach(p *expr.Path) (toOnes, toManys int) {
	for toOnes < len(p.Steps) && !value.Field(p.Steps[toOnes]).IsToMany() {
		toOnes++
	}
	for toOnes+toManys < len(p.Steps) && value.Field(p.Steps[toOnes+toManys]).IsToMany() {
		toManys++
	}
	return toOnes, toManys
}

// acrossPart returns the part that holds an aggregate whose condition names the row of a model.
func (l *Lowering) acrossPart(m *model.Model, a *expr.Aggregate, function string) *Part {
	steps := a.Path.Steps
	toOnes, toManys := reach(a.Path)
	last := value.Field(steps[toOnes+toManys-1])
	other := last.Target
	// back returns the path from the other rows to the rows behind the path's first toManysLeft to-manys.
	back := func(toManysLeft int, rest []expr.Step) *expr.Path {
		var path []expr.Step
		for i := toManys; i > toManysLeft; i-- {
			path = append(path, value.Field(steps[toOnes+i-1]).Inverse)
		}
		return expr.RowPath(other.Name, append(path, rest...), a.Path.Span())
	}
	column := func(m *model.Model, p *expr.Path) string { return l.over(m, "").OwnColumn(p).(*pg.ColumnRef).Name }

	third := expr.RowPath(m.Name, steps[:toOnes], a.Path.Span())
	by := &across{third: value.Field(steps[toOnes-1]).Target, match: column(m, third), link: column(other, back(0, nil))}
	behind := map[*expr.Path]bool{}
	condition := expr.Substitute(a.Condition, func(p *expr.Path) expr.Node {
		if !p.ThroughToMany() {
			by.own = append(by.own, column(m, p))
			return p
		}
		_, n := reach(p)
		moved := back(n, p.Steps[toOnes+n:])
		behind[moved] = true
		by.reads = append(by.reads, column(other, moved))
		return moved
	})

	p := &Part{Kind: reread, step: last, function: function, orZero: a.OrZero, typ: "numeric", across: by}
	value := back(toManys, steps[toOnes+toManys:])
	if len(value.Steps) > 0 || function != "COUNT" {
		by.reads = append(by.reads, column(other, value))
		p.value = func(alias string) pg.Expr { return l.over(other, alias).OwnColumn(value) }
	}
	p.filter = func(alias string) pg.Expr {
		x, beside := l.over(other, alias), l.over(m, m.Table)
		x.Beside, x.Behind = &beside, behind
		return x.Holds(condition)
	}
	slices.Sort(by.reads)
	by.reads = slices.Compact(by.reads)
	p.asAggregate(a)
	return l.part(m, p, nil)
}

// AcrossColumns returns the columns by which triggers find the rows of a model on either side.
func (l *Lowering) AcrossColumns(m *model.Model) []string {
	var columns []string
	add := func(column string) {
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
	}
	for _, p := range l.Parts {
		if p.across != nil && p.Owner == m {
			add(p.across.match)
		}
		if p.across != nil && p.other() == m {
			add(p.across.link)
		}
	}
	return columns
}

// Mixes returns a path in an aggregate's condition that names a row outside of the to-one of the aggregate's path, if
// the values read behind that to-one are behind a to-one again: no key leads from there to the row behind the first. It
// returns nil if the condition has no such path.
func Mixes(a *expr.Aggregate) *expr.Path {
	for i, s := range a.Path.Steps {
		if value.Field(s).IsToMany() {
			continue
		}
		rest := expr.RowPath(value.Field(s).Model.Name, a.Path.Steps[i:], a.Path.Span())
		if !rest.ThroughToMany() {
			return nil
		}
		toOnes, toManys := reach(rest)
		if !expr.RowPath(other(rest, toOnes+toManys), rest.Steps[toOnes+toManys:], a.Path.Span()).ThroughToMany() {
			continue
		}
		for _, p := range expr.Paths(a.Condition) {
			if len(p.Steps) <= i || !slices.Equal(p.Steps[:i+1], a.Path.Steps[:i+1]) {
				return p
			}
		}
	}
	return nil
}

// other is the name of the model to which the first steps of a path lead.
func other(p *expr.Path, steps int) string { return value.Field(p.Steps[steps-1]).Target.Name }
