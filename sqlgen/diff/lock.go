package diff

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Locks are what the transaction of a plan has to lock before its first step, by names in the old database: tables
// whose rows or columns change, each behind those that it refers to, and tables and views that nobody may use meanwhile.
type Locks struct {
	Written  []*pg.Table
	Replaced []*pg.Table
	Views    []*pg.View
}

// locks gathers them from the steps that are there so far: those of the transaction.
func (p *planner) locks() Locks {
	strongest := map[*pg.Table]Lock{}
	lock := func(name string, wanted Lock) {
		for _, pr := range p.pairs {
			if pr.old != nil && (pr.old.Name == name || pr.new != nil && pr.new.Name == name) && strongest[pr.old] != AccessExclusive {
				strongest[pr.old] = wanted
			}
		}
	}
	var l Locks
	for _, s := range p.plan.Steps {
		switch c := s.Change.(type) {
		case DropView:
			l.Views = append(l.Views, c.View)
		case RenameViewColumn:
			if !slices.Contains(l.Views, c.View) {
				l.Views = append(l.Views, c.View)
			}
		case CreateView:
			if o := p.old.View(c.View.Name); o != nil && c.Replace {
				l.Views = append(l.Views, o)
			}
		case AddReference:
			lock(c.Reference.Table, s.Lock)
		case CreateTable:
			for _, r := range c.References {
				lock(r.Table, ShareRowExclusive)
			}
		case DropConstraint:
			for _, r := range c.Table.References {
				if r.Name == c.Name {
					lock(r.Table, s.Lock)
				}
			}
		}
		if s.Table != "" && s.Lock != NoLock && s.Lock != ShareUpdateExclusive {
			lock(s.Table, s.Lock)
		}
	}
	for _, c := range pg.InOrder(p.old.Tables) {
		if t := c.Table; strongest[t] != NoLock {
			l.Written = append(l.Written, t)
			if strongest[t] == AccessExclusive {
				l.Replaced = append(l.Replaced, t)
			}
		}
	}
	slices.SortStableFunc(l.Views, func(a, b *pg.View) int { return slices.Index(p.old.Views, a) - slices.Index(p.old.Views, b) })
	return l
}
