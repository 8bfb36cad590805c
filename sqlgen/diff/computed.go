package diff

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Computed columns are never altered. A column whose expression changes is dropped and made anew, since its values were
// not written by anyone. Triggers that keep columns are dropped before any table changes, and made again when every
// column has been filled: so they ignore the steps between.

// isComputed tells whether a column's values are computed and never written.
func isComputed(c *pg.Column) bool { return c.IsComputed() }

// remake separates old and new columns that cannot become one another: those that are computed by another expression,
// or were not computed before, and generated ones that read a changed column; and computed ones that a sequence numbers
// now. Any other column that is no longer computed keeps its values.
func (p *planner) remake() {
	names := map[string]string{}
	for _, pr := range p.pairs {
		for from, to := range pr.names {
			names[from] = to
		}
	}
	for _, pr := range p.pairs {
		if pr.old == nil || pr.new == nil {
			continue
		}
		for _, o := range pr.old.Columns {
			to, isKept := pr.columns[o.Name]
			if !isKept {
				continue
			}
			n := pr.new.Column(to)
			isSame := o.Type == n.Type && pg.Renamed(o.Generated, names) == n.Generated && pg.Renamed(o.Derived, names) == n.Derived
			isMade := isComputed(n) || isComputed(o) && n.Sequence != nil
			if isMade && (!isSame || o.Generated != "" && pr.changes(o.Generated)) {
				delete(pr.columns, o.Name)
				delete(pr.names, o.Name)
				pr.remade[o.Name], pr.remade[to], pr.retyped[o.Name] = true, true, true
				p.touch(pr)
			}
		}
	}
}

// changes tells whether an expression over the old columns reads a column that changes.
func (pr *pair) changes(expression string) bool {
	mentioned := pg.Mentions(pg.Lit(expression))
	return slices.ContainsFunc(pr.old.Columns, func(o *pg.Column) bool {
		to, isKept := pr.columns[o.Name]
		return mentioned.Column(o.Name) && (!isKept || pr.retyped[o.Name] || o.NotNull != pr.new.Column(to).NotNull)
	})
}

// isRemade tells whether a key or check depends on a column that is made anew.
func (pr *pair) isRemade(columns []string) bool {
	return slices.ContainsFunc(columns, func(c string) bool { return pr.remade[c] })
}

// keepAnew finds the tables whose triggers that keep columns have to be dropped and made again: the groups in which a
// derived column, or a column that it is made of, changes. A column that no computed one mentions changes with them on.
func (p *planner) keepAnew() {
	groups := p.derivedTogether()
	for _, pr := range p.pairs {
		pr.rekeeps = slices.ContainsFunc(groups[pr], func(other *pair) bool { return p.derivationOf(other.old, p.old) != p.derivationOf(other.new, p.new) })
	}
}

// derivedTogether groups the tables by derived columns: a table with those that its columns are made of.
func (p *planner) derivedTogether() map[*pair][]*pair {
	groups := map[*pair][]*pair{}
	for _, pr := range p.pairs {
		groups[pr] = []*pair{pr}
	}
	for _, pr := range p.pairs {
		for _, t := range []*pg.Table{pr.old, pr.new} {
			if t == nil {
				continue
			}
			read := pg.Mentions(derivedIn(t)...)
			for _, other := range p.pairs {
				isRead := other.old != nil && read.Table(other.old.Name) || other.new != nil && read.Table(other.new.Name)
				if !isRead || slices.Contains(groups[pr], other) {
					continue
				}
				joined := append(slices.Clone(groups[pr]), groups[other]...)
				for _, member := range joined {
					groups[member] = joined
				}
			}
		}
	}
	return groups
}

// derivedIn returns the expressions that the columns of a table are kept equal to.
func derivedIn(t *pg.Table) []pg.Expr {
	var definitions []pg.Expr
	for _, c := range t.Columns {
		if c.Derived != "" {
			definitions = append(definitions, pg.Lit(c.Derived))
		}
	}
	return definitions
}

// derivationOf describes all parts of a table that concern derived columns; it is empty if triggers keep nothing in the
// database.
func (p *planner) derivationOf(t *pg.Table, db *pg.Database) string {
	if t == nil || !slices.ContainsFunc(db.Tables, hasKeepers) {
		return ""
	}
	var computed []pg.Expr
	for _, other := range db.Tables {
		computed = append(computed, derivedIn(other)...)
		for _, c := range other.Columns {
			if c.Generated != "" {
				computed = append(computed, pg.Lit(c.Generated))
			}
		}
	}
	read := pg.Mentions(computed...)
	told := struct {
		Name      string
		Columns   []*pg.Column
		Functions []*pg.Function
	}{t.Name, sortedColumns(t, func(c *pg.Column) bool { return isComputed(c) || read.Column(c.Name) }), t.Functions}
	if len(told.Columns) == 0 && !hasKeepers(t) {
		return ""
	}
	return asText(told)
}

// hasKeepers tells whether triggers keep columns by the rows of a table.
func hasKeepers(t *pg.Table) bool { return len(t.Functions) > 0 }

// sortedColumns returns columns of a table by name; the table has them in the order in which they were added.
func sortedColumns(t *pg.Table, which func(*pg.Column) bool) []*pg.Column {
	columns := slices.DeleteFunc(slices.Clone(t.Columns), func(c *pg.Column) bool { return !which(c) })
	slices.SortFunc(columns, func(a, b *pg.Column) int { return strings.Compare(a.Name, b.Name) })
	return columns
}

// changesColumns tells whether a table has other columns than before.
func (pr *pair) changesColumns() bool {
	all := func(*pg.Column) bool { return true }
	return pr.old.Name != pr.new.Name || asText(sortedColumns(pr.old, all)) != asText(sortedColumns(pr.new, all))
}

func asText(told any) string {
	text, err := json.Marshal(told)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// touchTrigger is the trigger that sets updated_at.
const touchTrigger = "_100_touch"

// isOff tells whether a trigger has been dropped for the time of the change.
func (p *planner) isOff(pr *pair, t *pg.Trigger) bool {
	return pr.rekeeps && t.IsKeeping() || t.Name == pg.TestTrigger && p.retests(pr)
}

// stopKeeping drops the triggers that keep columns, and the computed columns that are made anew.
func (p *planner) stopKeeping() {
	for _, pr := range p.pairs {
		if pr.old == nil {
			continue
		}
		if pr.rekeeps {
			for _, t := range pr.old.Triggers {
				if t.IsKeeping() {
					p.step(DropTrigger{pr.old, t.Name}, pr.old, "what it keeps is computed anew below", AccessExclusive)
				}
			}
		}
		if pr.new != nil && slices.ContainsFunc(pr.old.Columns, isComputed) && pr.changesColumns() {
			// It names columns, and so would keep their types from changing.
			touch := &pg.Trigger{Name: touchTrigger, Text: "create trigger " + touchTrigger + " before update on " +
				pg.Qualified(pr.old.Schema, pr.old.Name) + "\n  for each row execute function platform.tg_touch();"}
			p.step(DropTrigger{pr.old, touchTrigger}, pr.old, "what it compares may change below", AccessExclusive)
			p.step(CreateTrigger{pr.old, touch}, pr.old, "until its columns are as they are to be", ShareRowExclusive)
			pr.retouched = true
		}
		if pr.rekeeps && hasKeepers(pr.old) {
			p.step(DropKeepers{pr.old}, pr.old, "what they keep is computed anew below", NoLock)
		}
	}
}

// freeze lets columns that are no longer computed keep their values, before the columns that they were computed from
// go.
func (p *planner) freeze() {
	for _, pr := range p.pairs {
		if pr.old == nil || pr.new == nil {
			continue
		}
		for _, o := range pr.old.Columns {
			to, stays := pr.columns[o.Name]
			if !stays || o.Generated == "" {
				continue
			}
			if n := pr.new.Column(to); n.Generated == "" {
				p.step(DropExpression{pr.old, o}, pr.old, originOf(pr.new, n).String()+": it keeps its values, and is not computed any longer", AccessExclusive)
			}
		}
	}
}

// dropRemade drops the columns that are made anew: first those that Postgres computes,
// which may read the others.
func (p *planner) dropRemade() {
	for _, generated := range []bool{true, false} {
		for _, pr := range p.pairs {
			if pr.old == nil || pr.new == nil {
				continue
			}
			for _, o := range pr.old.Columns {
				_, stays := pr.columns[o.Name]
				if (o.Generated != "") == generated && !stays && (pr.remade[o.Name] || isComputed(o)) {
					p.dropColumn(pr, pr.old, o)
				}
			}
		}
	}
}

// compute adds the columns that Postgres computes, and fills those that triggers keep.
func (p *planner) compute() {
	for _, pr := range p.pairs {
		if pr.old == nil || pr.new == nil {
			continue
		}
		for _, n := range pr.new.Columns {
			if n.Generated != "" && pr.was(n.Name) == nil {
				p.step(AddColumn{pr.new, n, false}, pr.new, originOf(pr.new, n).String(), AccessExclusive, Rewrites, LocksReads, LocksWrites, Long)
				if n.Comment != "" {
					p.step(CommentColumn{pr.new, n}, pr.new, originOf(pr.new, n).String(), ShareUpdateExclusive)
				}
			}
		}
	}
	if len(p.old.Tables) == 0 {
		return
	}
	for _, c := range p.new.Derived {
		at := slices.IndexFunc(p.pairs, func(pr *pair) bool { return pr.new != nil && pr.new.Name == c.Table })
		if pr := p.pairs[at]; pr.old != nil && pr.rekeeps {
			p.step(FillColumn{pr.new, pr.new.Column(c.Column)}, pr.new, "computed for all rows", RowExclusive, Long)
		}
	}
}

// startKeeping makes the functions of triggers that keep columns.
func (p *planner) startKeeping() {
	for _, pr := range p.pairs {
		if pr.new != nil && hasKeepers(pr.new) && (pr.rekeeps || pr.old == nil) {
			p.step(CreateKeepers{pr.new}, pr.new, pr.new.Origin.String()+": what is computed from its rows", NoLock)
		}
	}
}
