package diff

import "github.com/sternpost/sternpost/sqlgen/pg"

// relation is a table, or an index with the key that it may belong to, that gets another name. They share the names of
// their schema.
type relation struct {
	old, new string
	change   Change
	table    *pg.Table
	reason   string
}

// rename follows @renamed, and gives the objects of tables the names that a new installation would give them.
func (p *planner) rename() {
	p.renameRelations(p.renamedRelations())
	for _, pr := range p.pairs {
		if pr.old == nil || pr.new == nil {
			continue
		}
		for _, o := range pr.old.Columns {
			if to, ok := pr.columns[o.Name]; ok && to != o.Name {
				n := pr.new.Column(to)
				p.step(RenameColumn{pr.new, o.Name, n}, pr.new, renameReason(originOf(pr.new, n), n.RenamedAt), AccessExclusive)
			}
		}
		p.renameConstraints(pr)
	}
}

func renameReason(o pg.Origin, at string) string {
	o.Place = at
	return o.String() + ": @renamed"
}

// renamedRelations gathers the tables, indexes and keys whose names change.
func (p *planner) renamedRelations() []relation {
	var list []relation
	for _, pr := range p.pairs {
		if pr.old == nil || pr.new == nil {
			continue
		}
		if pr.old.Name != pr.new.Name {
			list = append(list, relation{pr.old.Name, pr.new.Name, RenameTable{pr.old, pr.new}, pr.old, renameReason(pr.new.Origin, pr.new.RenamedAt)})
		}
		follow := func(old, new string) {
			if old != new {
				list = append(list, relation{old, new, RenameIndex{old, new}, pr.new, pr.new.Origin.String() + ": follows what it is about"})
			}
		}
		for _, c := range pr.old.Constraints {
			if n, ok := pr.kept[c].(*pg.Constraint); ok && c.Kind != pg.Check {
				follow(c.Name, n.Name)
			}
		}
		for _, o := range pr.old.Columns {
			if n := pr.new.Column(pr.columns[o.Name]); pr.keepsSequence(o, n) && n.Sequence.Name != o.Sequence.Name {
				from, to := o.Sequence.Name, n.Sequence.Name
				list = append(list, relation{from, to, RenameSequence{from, to, n.Sequence.Per != ""}, pr.new, pr.new.Origin.String() + ": follows what it is about"})
			}
		}
		for _, i := range pr.old.Indexes {
			if n, ok := pr.kept[i].(*pg.Index); ok {
				follow(i.Name, n.Name)
			}
		}
	}
	return list
}

// renameRelations renames in an order in which each new name is free. If names form a circle, one of them gets a
// temporary name first.
func (p *planner) renameRelations(list []relation) {
	for len(list) > 0 {
		at := -1
		for i, r := range list {
			if !holdsName(list, r.new) {
				at = i
				break
			}
		}
		if at < 0 {
			aside := list[0].old + "_"
			for holdsName(list, aside) {
				aside += "_"
			}
			p.renameRelation(list[0], list[0].old, aside)
			list[0].old = aside
			continue
		}
		p.renameRelation(list[at], list[at].old, list[at].new)
		list = append(list[:at:at], list[at+1:]...)
	}
}

func holdsName(list []relation, name string) bool {
	for _, r := range list {
		if r.old == name {
			return true
		}
	}
	return false
}

func (p *planner) renameRelation(r relation, from, to string) {
	if t, ok := r.change.(RenameTable); ok {
		old, new := *t.Old, *t.New
		old.Name, new.Name = from, to
		p.step(RenameTable{&old, &new}, &old, r.reason, AccessExclusive)
		return
	}
	if s, ok := r.change.(RenameSequence); ok {
		p.step(RenameSequence{from, to, s.IsCounter}, r.table, r.reason, NoLock)
		return
	}
	p.step(RenameIndex{from, to}, r.table, r.reason, ShareUpdateExclusive)
}

// renameConstraints renames checks and references, whose names only their table shares.
func (p *planner) renameConstraints(pr *pair) {
	var list []relation
	for _, c := range pr.old.Constraints {
		if n, ok := pr.kept[c].(*pg.Constraint); ok && c.Kind == pg.Check && n.Name != c.Name {
			list = append(list, relation{old: c.Name, new: n.Name})
		}
	}
	for _, r := range pr.old.References {
		if n, ok := pr.kept[r].(*pg.Reference); ok && n.Name != r.Name {
			list = append(list, relation{old: r.Name, new: n.Name})
		}
	}
	for len(list) > 0 {
		at := 0
		for i, r := range list {
			if !holdsName(list, r.new) {
				at = i
				break
			}
		}
		r := list[at]
		to := r.new
		if holdsName(list, to) {
			to = r.old + "_"
		}
		p.step(RenameConstraint{pr.new, r.old, to}, pr.new, pr.new.Origin.String()+": follows what it is about", AccessExclusive)
		if to == r.new {
			list = append(list[:at:at], list[at+1:]...)
		} else {
			list[at].old = to
		}
	}
}
