package contract

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/schema"
)

// rows compares which rows an action finds, and in which order a list shows them.
func (c *comparison) rows() {
	if old, new := c.old.Schema.Config.HideRefusedRows, c.new.Schema.Config.HideRefusedRows; old != new {
		if new {
			c.found.add(Change{Breaking, OfRows, "hideRefusedRows", nil, "set", "a refused row is answered as if it were not there, no longer with 403"})
		} else {
			c.found.add(Change{Widening, OfRows, "hideRefusedRows", nil, "not set any more", "callers learn which rows exist that they may not see"})
		}
	}
	for _, p := range c.pairs() {
		c.wheres([]string{p.name}, "", wheresOf(p.old.Wheres), wheresOf(p.new.Wheres))
		if old, new := orderOf(p.old), orderOf(p.new); old != new {
			c.found.add(Change{Breaking, OfRows, "order", []string{p.name}, "was " + old + ", is " + new,
				"rows come in another order, and cursors that clients hold are refused"})
		}
	}
	for _, u := range c.new.Schema.Unions {
		if old := unionNamed(c.old.Schema, u.Name); old != nil {
			c.arms(old, u)
		}
	}
}

// wheres compares conditions that rows have to fulfil.
func (c *comparison) wheres(actions []string, subject string, old, new []string) {
	for _, text := range missing(old, new) {
		c.found.add(Change{Widening, OfRows, subject, actions, "without the condition " + text, "rows that it left out are reached"})
	}
	for _, text := range missing(new, old) {
		c.found.add(Change{Breaking, OfRows, subject, actions, "with the condition " + text, "rows that it leaves out are not found any more"})
	}
}

func wheresOf(list []*schema.Where) []string {
	var texts []string
	for _, w := range list {
		texts = append(texts, w.Text)
	}
	return texts
}

// missing returns what one list has and another has not.
func missing(of, in []string) []string {
	var list []string
	for _, text := range of {
		if !slices.Contains(in, text) {
			list = append(list, text)
		}
	}
	return list
}

// orderOf words the order of a list.
func orderOf(a *schema.Action) string {
	var keys []string
	for _, k := range a.OrderBy {
		name := ""
		if k.Field != nil {
			name = k.Field.Name
		} else {
			name = k.UnionField.Name
		}
		if k.Descending {
			name += " desc"
		}
		keys = append(keys, name)
	}
	return strings.Join(append(keys, "id"), ", ")
}

func unionNamed(s *schema.Schema, name string) *schema.Union {
	for _, u := range s.Unions {
		if u.Name == name {
			return u
		}
	}
	return nil
}

// arms compares from which rows a union is made. For whom a new arm widens access
// is said with the permissions.
func (c *comparison) arms(old, new *schema.Union) {
	var actions []string
	for _, p := range c.pairs() {
		if p.new.Union == new {
			actions = append(actions, p.name)
		}
	}
	if len(actions) == 0 {
		return
	}
	for _, arm := range old.Arms {
		if armNamed(new, arm.Name) == nil {
			c.found.add(Change{Breaking, OfRows, "arm " + arm.Name, actions, "removed", "rows of " + arm.Model.Name + " are not found any more"})
		}
	}
	for _, arm := range new.Arms {
		before := armNamed(old, arm.Name)
		switch {
		case before == nil:
			c.found.add(Change{Compatible, OfRows, "arm " + arm.Name, actions, "added", "clients ignore records of sources that they do not know"})
		case before.Model.Name != arm.Model.Name:
			c.found.add(Change{Breaking, OfRows, "arm " + arm.Name, actions, "is of " + arm.Model.Name + ", was of " + before.Model.Name,
				"rows of " + before.Model.Name + " are not found any more"})
		default:
			c.wheres(actions, "arm "+arm.Name, wheresOf(before.Wheres), wheresOf(arm.Wheres))
		}
	}
}

func armNamed(u *schema.Union, name string) *schema.Arm {
	for _, arm := range u.Arms {
		if arm.Name == name {
			return arm
		}
	}
	return nil
}
