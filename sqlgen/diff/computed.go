package diff

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Columns that are computed are never altered: one whose expression changes is dropped and
// made anew, since nobody has written what it holds. Triggers that keep columns come off
// before any table changes, and go back on when every column has been filled: so what the
// steps between do to rows does not concern them.

// isComputed tells whether nobody writes what a column holds.
func isComputed(c *pg.Column) bool { return c.Generated != "" || c.Kept != "" }

// remake parts the columns that cannot become one another: those that are computed by
// another expression, or computed on one side only, and generated ones that read what
// changes.
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
			isSame := o.Type == n.Type && pg.Renamed(o.Generated, names) == n.Generated && pg.Renamed(o.Kept, names) == n.Kept
			if (isComputed(o) || isComputed(n)) && (!isSame || o.Generated != "" && pr.changes(o.Generated)) {
				delete(pr.columns, o.Name)
				delete(pr.names, o.Name)
				pr.remade[o.Name], pr.remade[to], pr.retyped[o.Name] = true, true, true
				p.touch(pr)
			}
		}
	}
}

// changes tells whether an expression over the old columns reads one that does not stay as
// it is.
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

// keepsAnew tells whether the triggers that keep columns have to come off and go back on.
func (p *planner) keepsAnew() bool {
	told := func(db *pg.Database) string {
		type kept struct {
			Name    string
			Columns []*pg.Column
			Guard   *pg.Guard
			Keepers []*pg.Keeper
		}
		var tables []kept
		hasKeepers := false
		for _, t := range db.Tables {
			columns := slices.Clone(t.Columns) // which are in the order in which they were added
			slices.SortFunc(columns, func(a, b *pg.Column) int { return strings.Compare(a.Name, b.Name) })
			tables = append(tables, kept{t.Name, columns, t.Guard, t.Keepers})
			hasKeepers = hasKeepers || len(t.Keepers) > 0
		}
		if !hasKeepers {
			return ""
		}
		text, err := json.Marshal(tables)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	return told(p.old) != told(p.new)
}

// touchTrigger is the trigger that sets updated_at.
const touchTrigger = "_100_touch"

// isKeeping tells whether a trigger keeps columns or guards them.
func isKeeping(t *pg.Trigger) bool {
	return strings.HasPrefix(t.Name, "_400_keep_") || strings.HasPrefix(t.Name, "_050_guard_")
}

// isOff tells whether a trigger has come off for the time of the change.
func (p *planner) isOff(pr *pair, t *pg.Trigger) bool {
	return p.rekeeps && isKeeping(t) || t.Name == pg.TestTrigger && p.retests(pr)
}

// stopKeeping takes the triggers that keep columns off, and drops computed columns that
// are made anew.
func (p *planner) stopKeeping() {
	if p.rekeeps {
		for _, pr := range p.pairs {
			if pr.old == nil {
				continue
			}
			for _, t := range pr.old.Triggers {
				if isKeeping(t) {
					p.step(DropTrigger{pr.old, t.Name}, pr.old, "what it keeps is computed anew below", AccessExclusive)
				}
			}
			if pr.new != nil && slices.ContainsFunc(pr.old.Columns, isComputed) {
				// It tells columns by name, and so would hold on to their types.
				touch := &pg.Trigger{Name: touchTrigger, Text: "create trigger " + touchTrigger + " before update on " +
					pg.Qualified(pr.old.Schema, pr.old.Name) + "\n  for each row execute function platform.tg_touch();"}
				p.step(DropTrigger{pr.old, touchTrigger}, pr.old, "what it compares may change below", AccessExclusive)
				p.step(CreateTrigger{pr.old, touch}, pr.old, "until its columns are as they are to be", ShareRowExclusive)
				pr.retouched = true
			}
			if pr.old.Guard != nil || len(pr.old.Keepers) > 0 {
				p.step(DropKeepers{pr.old}, pr.old, "what they keep is computed anew below", NoLock)
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
	if !p.rekeeps || len(p.old.Tables) == 0 {
		return
	}
	for _, c := range p.new.Kept {
		at := slices.IndexFunc(p.pairs, func(pr *pair) bool { return pr.new != nil && pr.new.Name == c.Table })
		if pr := p.pairs[at]; pr.old != nil {
			p.step(FillColumn{pr.new, pr.new.Column(c.Column)}, pr.new, "computed for all rows", RowExclusive, Long)
		}
	}
}

// startKeeping makes the functions of triggers that keep columns.
func (p *planner) startKeeping() {
	for _, pr := range p.pairs {
		if pr.new != nil && (pr.new.Guard != nil || len(pr.new.Keepers) > 0) && (p.rekeeps || pr.old == nil) {
			p.step(CreateKeepers{pr.new}, pr.new, pr.new.Origin.String()+": what is computed from its rows", NoLock)
		}
	}
}
