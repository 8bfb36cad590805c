package compatibility

import (
	"slices"
	"strings"
)

// Class is the effect of a change on users of the contract.
type Class string

// The classes of changes.
const (
	Breaking   Class = "breaking"   // a request that was fine is refused, or an answer is not what clients rely on
	Widening   Class = "widening"   // callers reach what they did not
	Compatible Class = "compatible" // clients and callers notice nothing, or only more of what they may ignore
)

// Area is the subject area of a change.
type Area string

// The areas, in the order of the list.
const (
	OfAPI        Area = "api"
	OfAction     Area = "action"
	OfInput      Area = "input"
	OfResult     Area = "result"
	OfRows       Area = "rows"
	OfError      Area = "error"
	OfPermission Area = "permission"
)

// Change is one difference.
type Change struct {
	Class   Class
	Area    Area
	Subject string   // what has changed: an api, a member of an input or result by its path, a model, callers; empty means the actions themselves
	Actions []string // the actions that it concerns; empty means none in particular
	Text    string   // what has changed about it
	Reason  string   // why it is of its class
}

// added is the text of a change that adds something.
const added = "added"

// isLike tells whether a change equals another, of other actions.
func (c Change) isLike(other Change) bool {
	return c.Class == other.Class && c.Area == other.Area && c.Subject == other.Subject && c.Text == other.Text && c.Reason == other.Reason
}

// changes collects changes and joins equal ones.
type changes struct {
	list []Change
}

func (cs *changes) add(c Change) {
	for i, other := range cs.list {
		// An action as a whole is a line of its own.
		if !c.isLike(other) || c.Subject == "" {
			continue
		}
		for _, name := range c.Actions {
			if !slices.Contains(other.Actions, name) {
				cs.list[i].Actions = append(cs.list[i].Actions, name)
			}
		}
		return
	}
	cs.list = append(cs.list, c)
}

// dropAdded removes the change that adds a member to the result of an action, under any of its subjects.
func (cs *changes) dropAdded(action string, subjects ...string) {
	for i := range cs.list {
		if c := &cs.list[i]; c.Area == OfResult && c.Text == added && slices.Contains(subjects, c.Subject) {
			c.Actions = slices.DeleteFunc(slices.Clone(c.Actions), func(name string) bool { return name == action })
		}
	}
	cs.list = slices.DeleteFunc(cs.list, func(c Change) bool { return c.Area == OfResult && len(c.Actions) == 0 })
}

// Where returns the place of a change in words: its actions and its subject.
func (c Change) Where() string {
	var parts []string
	if len(c.Actions) > 0 {
		parts = append(parts, strings.Join(c.Actions, ", "))
	}
	switch {
	case c.Subject == "":
	case c.Area == OfInput || c.Area == OfResult:
		parts = append(parts, string(c.Area)+" "+c.Subject)
	default:
		parts = append(parts, c.Subject)
	}
	return strings.Join(parts, ": ")
}

// IsAllowed tells whether a list of classes, actions and subjects allows a change:
// its class, its subject or all of its actions are named.
func (c Change) IsAllowed(allowed []string) bool {
	if c.Class == Compatible || slices.Contains(allowed, string(c.Class)) {
		return true
	}
	if c.Subject != "" && slices.Contains(allowed, c.Subject) {
		return true
	}
	return len(c.Actions) > 0 && !slices.ContainsFunc(c.Actions, func(name string) bool { return !slices.Contains(allowed, name) })
}
