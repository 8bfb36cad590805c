package diff

import "github.com/sternpost/sternpost/sqlgen/pg"

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
	p.step(CreateSequence{pr.new, n}, pr.new, reason, ShareRowExclusive)
	p.step(AlterDefault{pr.new, n}, pr.new, reason, AccessExclusive)
	if given := p.backfill(pr.new.Name, n.Name); given != nil {
		p.step(UpdateRows{pr.new, n, given.Expression(), ""}, pr.new, reason+": backfill", RowExclusive, MayFail, Long).Given = given
		p.advance(pr, n, reason)
	}
	if rows != 0 {
		p.step(NumberRows{pr.new, n}, pr.new, reason+": rows are numbered as they were made", RowExclusive, Long).Rows = rows
	}
	p.require(pr, n, reason)
}

// becomeNumbered makes the sequence of an existing column without one. Values that the sequence could not have given
// stay only if the user allows it.
func (p *planner) becomeNumbered(pr *pair, o, n *pg.Column, reason string) {
	p.step(CreateSequence{pr.new, n}, pr.new, reason, ShareRowExclusive)
	if p.backfill(pr.new.Name, n.Name) != nil {
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
	if o.Sequence != nil {
		if o.Sequence.First != n.Sequence.First {
			p.step(RestartSequence{pr.new, n}, pr.new, reason, NoLock)
		}
		if o.Sequence.First != n.Sequence.First || o.Sequence.Prefix != n.Sequence.Prefix {
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
		p.step(NumberRows{pr.new, n}, pr.new, reason+": rows without a number are numbered as they were made", RowExclusive, Long).Rows = rows
	}
	p.require(pr, n, reason)
}

// advance moves a sequence beyond the numbers that it could give a second time.
func (p *planner) advance(pr *pair, n *pg.Column, reason string) {
	p.step(AdvanceSequence{pr.new, n}, pr.new, reason+": beyond the numbers that rows have", NoLock, Long)
}

// defaultLeft is the default that a column has once tables and sequences have their new names.
func defaultLeft(o, n *pg.Column) string {
	switch {
	case o.Sequence == nil:
		return o.Default
	case n.Sequence == nil:
		return "" // it was dropped with the sequence
	case n.Sequence.Prefix == o.Sequence.Prefix:
		return n.Default // it follows the sequence through renames
	}
	return o.Default
}

// dropSequences drops the sequences that columns no longer have. The numbers given stay if the column does.
func (p *planner) dropSequences(pr *pair) {
	for _, o := range pr.old.Numbered() {
		if n := pr.new.Column(pr.columns[o.Name]); n == nil || n.Sequence == nil {
			p.step(DropSequence{pr.old, o}, pr.old, pr.gone("the sequence of "+fieldOf(o)), AccessExclusive)
		}
	}
}

// isNewlyNumbered tells whether a new column has a sequence that it did not have before.
func (pr *pair) isNewlyNumbered(n *pg.Column) bool {
	o := pr.was(n.Name)
	return o == nil || o.Sequence == nil
}

// isNumbered tells whether a new column holds only numbers of its own sequence.
func (p *planner) isNumbered(pr *pair, column string) bool {
	given := p.backfill(pr.new.Name, column) != nil
	return pr.was(column) == nil && pr.new.Column(column).Sequence != nil && !given
}
