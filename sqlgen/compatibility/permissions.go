package compatibility

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/access"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// permissions compares the permissions: the matrices of the releases, the members of
// roles, and where an action bypasses the rules of other models.
func (c *comparison) permissions() {
	c.roles()
	for _, row := range c.new.matrix.Rows {
		if c.new.exposed[row.Action.Name] {
			c.verdicts(c.old.row(row.Action.Name), &row)
		}
	}
	for _, row := range c.new.matrix.Code {
		c.verdicts(c.codeBefore(row), &row)
	}
	c.uploads()
	c.widenings()
}

// uploads compares for which inputs anonymous callers may send files ahead of a call,
// which fill the storage whether the call follows or not.
func (c *comparison) uploads() {
	for _, p := range c.pairs() {
		old, new := c.old.published[p.name], c.new.published[p.name]
		if !new.AnonymousUploads {
			continue
		}
		for _, f := range new.Files {
			couldBefore := old.AnonymousUploads && slices.ContainsFunc(old.Files, func(before release.FileInput) bool { return before.Name == f.Name })
			if !couldBefore {
				c.found.add(Change{Widening, OfPermission, "anonymous", []string{p.name}, "may upload files for " + f.Name, "anybody can store files"})
			}
		}
	}
}

// roles compares the members of roles that both releases have.
func (c *comparison) roles() {
	for _, r := range c.new.Schema.Roles {
		i := slices.IndexFunc(c.old.Schema.Roles, func(other *model.Role) bool { return other.Name == r.Name })
		if i < 0 {
			continue
		}
		old, new := membersOf(c.old.Schema.Roles[i]), membersOf(r)
		if more := missing(new, old); len(more) > 0 {
			c.found.add(Change{Widening, OfPermission, "role " + r.Name, nil, "gains " + strings.Join(more, ", "), "more callers get the rights of the role"})
		}
		if fewer := missing(old, new); len(fewer) > 0 {
			c.found.add(Change{Breaking, OfPermission, "role " + r.Name, nil, "loses " + strings.Join(fewer, ", "), "these callers lose the rights of the role"})
		}
	}
}

// membersOf lists the members of a role: addresses, domains, and expressions in braces.
func membersOf(r *model.Role) []string {
	members := append(slices.Clone(r.Emails), r.Domains...)
	for _, e := range r.Expressions {
		members = append(members, "{ "+e.Text+" }")
	}
	return members
}

// difference is the change of the decision for a class of callers.
type difference struct {
	class  Class
	text   string
	reason string
}

// verdicts compares the decisions of an action's rules for each class of callers, and
// reports the same difference of several classes once. No client relies on what code may do.
func (c *comparison) verdicts(old, new *access.Row) {
	var order []difference
	callers := map[difference][]string{}
	for _, class := range c.classes() {
		for _, d := range c.differences(c.old.decide(old, class), c.new.decide(new, class)) {
			switch {
			case new.Code != "" && d.class != Widening:
				continue
			case new.Code != "":
				d.reason = "the code reaches rows that it did not"
			}
			if callers[d] == nil {
				order = append(order, d)
			}
			callers[d] = append(callers[d], class)
		}
	}
	for _, d := range order {
		c.found.add(Change{d.class, OfPermission, strings.Join(callers[d], ", "), []string{new.Action.Name}, d.text, d.reason})
	}
}

// classes returns the names of the classes of callers of both releases.
func (c *comparison) classes() []string {
	var names []string
	for _, s := range []*side{c.old, c.new} {
		for _, class := range s.matrix.Classes {
			if !slices.Contains(names, class.Name) {
				names = append(names, class.Name)
			}
		}
	}
	return names
}

// row returns the row of an action, nil if no api exposes it.
func (s *side) row(action string) *access.Row {
	i := slices.IndexFunc(s.matrix.Rows, func(r access.Row) bool { return r.Action.Name == action })
	if i < 0 || !s.exposed[action] {
		return nil
	}
	return &s.matrix.Rows[i]
}

// codeBefore returns what the code could do to the same rows in the old release, nil for nothing.
func (c *comparison) codeBefore(row access.Row) *access.Row {
	before := modelNamed(c.old.Schema, row.Action.Model)
	i := slices.IndexFunc(c.old.matrix.Code, func(r access.Row) bool {
		return r.Code == row.Code && r.Action.Model == before && r.Action.Kind == row.Action.Kind
	})
	if i < 0 {
		return nil
	}
	return &c.old.matrix.Code[i]
}

// decide returns the decision of a row for a class of callers. A caller with a role of the other
// release only is authenticated in this one.
func (s *side) decide(row *access.Row, class string) access.Decision {
	if row == nil {
		return access.Decision{Verdict: access.Never}
	}
	column := slices.IndexFunc(s.matrix.Classes, func(c *access.Class) bool { return c.Name == class })
	if column < 0 {
		column = slices.IndexFunc(s.matrix.Classes, func(c *access.Class) bool { return c.IsAuthenticated })
	}
	return row.Decisions[column]
}

// differences compares two decisions. If they depend on different rules, it cannot tell
// which admits more: each new rule may admit what was refused, and each removed one may
// have admitted what is refused now.
func (c *comparison) differences(old, new access.Decision) []difference {
	text := string(new.Verdict) + ", was " + string(old.Verdict)
	switch {
	case new.Verdict.Exceeds(old.Verdict):
		if new.Verdict == access.Depends {
			text += ": if " + strings.Join(textsOf(new.Rules), ", or ")
		}
		return []difference{{Widening, text, "calls that were refused are admitted"}}
	case old.Verdict.Exceeds(new.Verdict):
		if new.Verdict == access.Depends {
			text += ": if " + strings.Join(textsOf(new.Rules), ", or ")
		}
		return []difference{{Breaking, text, "calls that were admitted are refused"}}
	}
	var list []difference
	before, kept := textsOf(old.Rules), []string{}
	for _, rule := range new.Rules {
		was := c.asBefore(rule.Text, rule.Expression)
		if kept = append(kept, was); !slices.Contains(before, was) {
			list = append(list, difference{Widening, "with the rule: " + rule.Text, "it may admit calls that were refused"})
		}
	}
	for _, rule := range missing(before, kept) {
		list = append(list, difference{Breaking, "without the rule: " + rule, "calls that it admitted may be refused"})
	}
	return list
}

func textsOf(rules []*model.Rule) []string {
	var texts []string
	for _, r := range rules {
		texts = append(texts, r.Text)
	}
	return texts
}

// widenings compares where actions bypass the rules of other models, even if an @allow
// says that it is intended: it may not have been so before.
func (c *comparison) widenings() {
	old := map[string]bool{}
	for _, w := range access.Warnings(c.old.Schema, c.old.matrix, c.old.Warnings) {
		old[w.Message] = true
	}
	for _, w := range access.Warnings(c.new.Schema, c.new.matrix, c.new.Warnings) {
		if len(w.Gains) > 0 && !old[c.modelsBefore(w.Message)] && c.new.exposed[w.Action.Name] {
			c.found.add(Change{Widening, OfPermission, strings.Join(w.Gains, ", "), []string{w.Action.Name}, w.Message, "callers reach rows regardless of the rules of their model"})
		}
	}
}
