package pg

// Creation is a table that is made, with the references that it can have from the start. The others wait for all tables.
type Creation struct {
	Table      *Table
	Now, Later []*Reference
}

// InOrder returns tables in an order in which they can be made: each behind those that it refers to. Tables that refer
// to each other in a circle, or to a table of one, come last, and references between them wait. So do references to
// tables that are not in the list. The division does not depend on the order of the list.
func InOrder(tables []*Table) []Creation {
	var order []Creation
	made := map[string]bool{}
	create := func(t *Table) {
		c := Creation{Table: t}
		for _, r := range t.References {
			if r.Table == t.Name || made[r.Table] {
				c.Now = append(c.Now, r)
			} else {
				c.Later = append(c.Later, r)
			}
		}
		order = append(order, c)
	}
	listed := map[string]bool{}
	for _, t := range tables {
		listed[t.Name] = true
	}
	waiting := tables
	for before := -1; before != len(waiting); {
		before = len(waiting)
		var still []*Table
		for _, t := range waiting {
			if t.awaits(listed, made) {
				still = append(still, t)
				continue
			}
			create(t)
			made[t.Name] = true
		}
		waiting = still
	}
	for _, t := range waiting {
		create(t)
	}
	return order
}

// awaits tells whether a table refers to another listed one that is not made.
func (t *Table) awaits(listed, made map[string]bool) bool {
	for _, r := range t.References {
		if r.Table != t.Name && listed[r.Table] && !made[r.Table] {
			return true
		}
	}
	return false
}
