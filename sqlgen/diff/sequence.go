package diff

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// A column with a sequence keeps its values, regardless of changes to its sequence:
// rows without a value get the next numbers, and the sequence goes on behind all that it
// could give a second time.

// addNumbered adds a column with a sequence, and numbers the rows that are there.
func (p *planner) addNumbered(pr *pair, n *pg.Column, reason string) {
	rows := p.rows(pr.old.Name, "")
	p.step(AddColumn{pr.new, n, true}, pr.new, reason, AccessExclusive)
	if n.Comment != "" {
		p.step(CommentColumn{pr.new, n}, pr.new, reason, ShareUpdateExclusive)
	}
	if n.Sequence.Per == "" {
		p.step(CreateSequence{pr.new, n}, pr.new, reason, ShareRowExclusive)
		p.step(AlterDefault{pr.new, n}, pr.new, reason, AccessExclusive)
	}
	if given := p.backfill(pr.new.Name, n.Name); given != nil {
		p.step(UpdateRows{pr.new, n, given.Expression(), ""}, pr.new, reason+": backfill", RowExclusive, MayFail, Long).Given = given
		p.advance(pr, n, reason)
	}
	if rows != 0 {
		p.numberRows(pr, n, reason+": rows are numbered as they were made", rows)
	}
	p.require(pr, n, reason)
}

// numberRows numbers rows without a value. Their numbers follow those that other rows have.
func (p *planner) numberRows(pr *pair, n *pg.Column, reason string, rows int64) {
	p.step(NumberRows{pr.new, n}, pr.new, reason, RowExclusive, Long).Rows = rows
	if n.Sequence.Per != "" {
		p.advance(pr, n, originOf(pr.new, n).String())
	}
}

// becomeNumbered makes the sequence of an existing column without one, or with one that counts otherwise. Values that
// the sequence could not have given stay if another one gave them, or the user allows it.
func (p *planner) becomeNumbered(pr *pair, o, n *pg.Column, reason string) {
	if n.Sequence.Per == "" {
		p.step(CreateSequence{pr.new, n}, pr.new, reason, ShareRowExclusive)
	}
	if o.Sequence != nil || p.backfill(pr.new.Name, n.Name) != nil {
		return
	}
	text := "(" + ConversionOf(o, n).using(pg.Ident(o.Name)) + ")"
	r := &Refusal{
		Object: "column app." + pr.new.Name + "." + n.Name, Change: "would be numbered by a sequence, and rows hold what is not a number of it",
		Reason: reason, Allow: "sequence:" + pr.new.Name + "." + n.Name, Backfill: pr.new.Name + "." + n.Name,
		Table: pr.old.Name, Column: o.Name, Condition: "not (" + n.Sequence.Gives(text) + ")", Sealed: o.Opaque != "",
	}
	if r.Rows = p.rows(pr.old.Name, r.Condition); r.Rows != 0 && !p.allows(r.Allow) {
		if r.Rows == Unknown {
			r.Change = "would be numbered by a sequence, and rows may hold what is not a number of it"
		}
		p.refuse(r)
	}
}

// number handles the values of a column that has a sequence now. Its default is the new one already; under that lock no
// other transaction adds rows.
func (p *planner) number(pr *pair, o, n *pg.Column, reason string) {
	if pr.keepsSequence(o, n) {
		restarts := o.Sequence.First != n.Sequence.First && n.Sequence.Per == "" // a counter asks its trigger for it
		if restarts {
			p.step(RestartSequence{pr.new, n}, pr.new, reason, NoLock)
		}
		if restarts || o.Sequence.Prefix != n.Sequence.Prefix {
			p.advance(pr, n, reason)
		}
		return
	}
	if given := p.backfill(pr.new.Name, n.Name); given != nil && o.Type == n.Type && o.Opaque == n.Opaque {
		where := pg.Ident(n.Name) + " is null or not (" + n.Sequence.Gives(pg.Ident(n.Name)) + ")"
		p.step(UpdateRows{pr.new, n, given.Expression(), where}, pr.new, reason+": backfill", RowExclusive, LosesData, MayFail, Long).Given = given
	}
	p.advance(pr, n, reason)
	if o.NotNull {
		return
	}
	if rows := p.rows(pr.old.Name, pg.Ident(o.Name)+" is null"); rows != 0 {
		p.numberRows(pr, n, reason+": rows without a number are numbered as they were made", rows)
	}
	p.require(pr, n, reason)
}

// advance moves a sequence beyond the numbers that it could give a second time.
func (p *planner) advance(pr *pair, n *pg.Column, reason string) {
	p.step(AdvanceSequence{pr.new, n}, pr.new, reason+": beyond the numbers that rows have", NoLock, Long)
}

// defaultLeft is the default that a column has once tables and sequences have their new names.
func (pr *pair) defaultLeft(o, n *pg.Column) string {
	switch {
	case o.Sequence == nil:
		return o.Default
	case !pr.keepsSequence(o, n):
		return "" // it was dropped with the sequence
	case n.Sequence.Prefix == o.Sequence.Prefix:
		return n.Default // it follows the sequence through renames
	}
	return o.Default
}

// keepsSequence tells whether a column's sequence goes on: it has one still, which counts by the same rows.
func (pr *pair) keepsSequence(o, n *pg.Column) bool {
	if n == nil || o.Sequence == nil || n.Sequence == nil {
		return false
	}
	return pr.columns[o.Sequence.Per] == n.Sequence.Per && (o.Sequence.Per == "") == (n.Sequence.Per == "")
}

// dropSequences drops the sequences that columns no longer have. The numbers given stay if the column does.
func (p *planner) dropSequences(pr *pair) {
	for _, o := range pr.old.Columns {
		if o.Sequence != nil && !pr.keepsSequence(o, pr.new.Column(pr.columns[o.Name])) {
			p.step(DropSequence{pr.old, o}, pr.old, pr.gone("the sequence of "+fieldOf(o)), AccessExclusive)
		}
	}
}

// isNewlyNumbered tells whether a new column has a sequence that it did not have before.
func (pr *pair) isNewlyNumbered(n *pg.Column) bool {
	o := pr.was(n.Name)
	return o == nil || !pr.keepsSequence(o, n)
}

// isNumbered tells whether a new column of a key holds only numbers of its own sequence, which are unique in the key.
func (p *planner) isNumbered(pr *pair, column string, key []string) bool {
	s := pr.new.Column(column).Sequence
	return pr.was(column) == nil && s != nil && (s.Per == "" || slices.Contains(key, s.Per)) && p.backfill(pr.new.Name, column) == nil
}
