package compatibility

import (
	"fmt"
	"slices"
	"strings"
)

// inputs compares the allowed and required members of requests.
func (c *comparison) inputs() {
	for _, p := range c.pairs() {
		old, new := c.old.published[p.name], c.new.published[p.name]
		c.walk(p.name, OfInput, old.Input, new.Input)
	}
}

// results compares the members of answers. A result of any JSON has no published schema,
// nor has that of a delete, which is an id.
func (c *comparison) results() {
	for _, p := range c.pairs() {
		c.walk(p.name, OfResult, c.old.published[p.name].Result, c.new.published[p.name].Result)
	}
}

// walk compares a component of one release with one of the other. No name means any
// JSON.
func (c *comparison) walk(action string, area Area, old, new string) {
	w := &walk{comparison: c, area: area}
	if own := strings.ToUpper(action[:1]) + action[1:] + "Result"; strings.TrimRight(new, "0123456789") == own {
		w.own = new
	}
	before, after := &shape{ref: old}, &shape{ref: new}
	if old == "" || new == "" { // what is any JSON has no name, so that the other one is looked at as it is
		before, after = w.resolve(c.old, before), w.resolve(c.new, after)
	}
	w.compare("", before, after)
	for _, change := range w.found.list {
		change.Area, change.Actions = area, []string{action}
		c.found.add(change)
	}
}

// walk is the comparison of two components and all that they refer to. An old request
// must still be accepted: the new shape takes all that the old one did. An answer must
// still be understood: it holds what clients rely on.
type walk struct {
	*comparison
	area  Area
	own   string      // the component that is the action's own result, if it has one
	below [][2]string // the pairs of components that it is in
	found changes
}

func (w *walk) isInput() bool { return w.area == OfInput }

// add notes a change at a path.
func (w *walk) add(class Class, at, text, reason string) {
	if at == "" {
		at = "as a whole"
	}
	w.found.add(Change{Class: class, Subject: at, Text: text, Reason: reason})
}

// narrows notes that fewer values are possible, which can break requests; widens, that
// more are, which can break readers of answers.
func (w *walk) narrows(at, text, request, answer string) {
	if w.isInput() {
		w.add(Breaking, at, text, request)
		return
	}
	w.add(Compatible, at, text, answer)
}

func (w *walk) widens(at, text, request, answer string) {
	if w.isInput() {
		w.add(Compatible, at, text, request)
		return
	}
	w.add(Breaking, at, text, answer)
}

// compare compares two shapes at a path, which begins at the nearest component with the
// same name in both releases, if it is not the action's own.
func (w *walk) compare(at string, old, new *shape) {
	if old.ref != "" || new.ref != "" {
		w.enter(at, old, new)
		return
	}
	if isNullable(old) != isNullable(new) && !old.isAny() && !new.isAny() {
		w.compareNull(at, new)
	}
	old, new = single(old), single(new)
	if old.ref != "" || new.ref != "" {
		w.enter(at, old, new)
		return
	}
	switch {
	case old.oneOf != nil && new.oneOf != nil:
		w.compareAlternatives(at, old, new)
	case kindOf(old) != kindOf(new):
		w.compareKinds(at, old, new)
	case kindOf(new) == "object":
		w.compareObjects(at, old, new)
	case kindOf(new) == "array":
		if old.items != nil && new.items != nil {
			w.compare(at+"[]", old.items, new.items)
		}
		w.compareBounds(at, old, new)
	default:
		w.compareScalars(at, old, new)
	}
	w.compareUnexamined(at, old, new)
}

// enter compares the references of components. Components may refer to themselves.
func (w *walk) enter(at string, old, new *shape) {
	names := [2]string{old.ref, new.ref}
	if slices.Contains(w.below, names) {
		return
	}
	w.below = append(w.below, names)
	defer func() { w.below = w.below[:len(w.below)-1] }()

	if w.isInput() && old.ref != new.ref && isFilter(w.resolve(w.old, old)) && isFilter(w.resolve(w.new, new)) {
		w.compareFilters(at, old, new)
		return
	}
	if !w.isInput() && old.ref == new.ref && new.ref != w.own {
		at = new.ref
	}
	w.compare(at, w.resolve(w.old, old), w.resolve(w.new, new))
}

// resolve returns the target of a shape's reference.
func (w *walk) resolve(s *side, of *shape) *shape {
	if of.ref == "" {
		return of
	}
	found := s.shapes[of.ref]
	if found == nil {
		panic("contract: the manifest has no component " + of.ref)
	}
	return found
}

// isNullable tells whether null is a possible value.
func isNullable(s *shape) bool { return s.nullable || s.isAny() }

// single returns the one alternative of a shape, if there is only one beside null.
func single(s *shape) *shape {
	if len(s.oneOf) == 1 {
		return s.oneOf[0]
	}
	return s
}

// compareNull compares whether null is possible.
func (w *walk) compareNull(at string, new *shape) {
	if isNullable(new) {
		w.widens(at, "takes null", "requests stay valid", "clients do not expect null there")
		return
	}
	w.narrows(at, "does not take null any more", "requests with null are refused", "it always has a value")
}

// kindOf returns the kind of a shape's values, in the terms of JSON.
func kindOf(s *shape) string {
	switch {
	case s.isAny():
		return "any"
	case s.oneOf != nil:
		return "alternatives"
	}
	return strings.Join(s.types, " or ")
}

// compareKinds compares shapes of different kinds.
func (w *walk) compareKinds(at string, old, new *shape) {
	text := wasIs(old, new)
	from, to := kindOf(old), kindOf(new)
	switch {
	case to == "any", from == "integer" && to == "number":
		w.widens(at, text, "everything that was accepted is still accepted", "clients get values of another type")
	case from == "any", from == "number" && to == "integer":
		w.narrows(at, text, "requests with other values are refused", "such values were possible before")
	case w.isInput():
		w.add(Breaking, at, text, "requests with values of the old type are refused")
	default:
		w.add(Breaking, at, text, "clients get values of another type")
	}
}

func wasIs(old, new *shape) string { return "was " + old.describe() + ", is " + new.describe() }

// compareObjects compares the members of objects.
func (w *walk) compareObjects(at string, old, new *shape) {
	var come []string
	for _, m := range new.members {
		if old.member(m.name) == nil {
			come = append(come, m.name)
		}
	}
	for _, m := range old.members {
		if new.member(m.name) != nil {
			continue
		}
		if to := w.renames.to(m.name, come); to != "" {
			come = slices.DeleteFunc(come, func(name string) bool { return name == to })
			w.add(Breaking, join(at, m.name), "renamed to "+to, "the database keeps its values, but clients know it by its old name")
			w.compare(join(at, to), m.shape, new.member(to).shape)
			continue
		}
		w.goes(at, m, new)
	}
	for _, m := range new.members {
		before := old.member(m.name)
		if before == nil {
			if slices.Contains(come, m.name) {
				w.comes(at, m)
			}
			continue
		}
		w.compareRequired(join(at, m.name), *before, m)
		w.compare(join(at, m.name), before.shape, m.shape)
	}
	if w.isInput() {
		w.compareSets(at, old, new)
	}
	w.compareBounds(at, old, new)
}

// compareSets compares the alternative sets of members. A request must hold one of them. A request
// that satisfied an old set has to satisfy a new one.
func (w *walk) compareSets(at string, old, new *shape) {
	var lost, gained []string
	for _, set := range old.sets {
		if !satisfies(new, set) {
			lost = append(lost, strings.Join(set, " with "))
		}
	}
	for _, set := range new.sets {
		if !satisfies(old, set) {
			gained = append(gained, strings.Join(set, " with "))
		}
	}
	switch {
	case len(old.sets) == 0 && len(new.sets) > 0 && !satisfies(new, nil):
		var sets []string
		for _, set := range new.sets {
			sets = append(sets, strings.Join(set, " with "))
		}
		w.add(Breaking, at, "needs "+strings.Join(sets, ", or "), "requests without them are refused")
	case len(lost) > 0:
		w.add(Breaking, at, strings.Join(lost, ", or ")+" is not enough any more", "requests with no more than that are refused")
	case len(gained) > 0:
		w.add(Compatible, at, strings.Join(gained, ", or ")+" is enough", "everything that was accepted is still accepted")
	case len(old.sets) > 0 && len(new.sets) == 0 && !requiresAny(new, slices.Concat(old.sets...)):
		w.add(Compatible, at, "needs no particular members any more", "everything that was accepted is still accepted")
	}
}

// requiresAny tells whether one of these members is required, which is said of it.
func requiresAny(s *shape, names []string) bool {
	return slices.ContainsFunc(s.members, func(m member) bool { return m.required && slices.Contains(names, m.name) })
}

// satisfies tells whether a request with some members, and with the required ones, holds
// all members that an object demands.
func satisfies(s *shape, members []string) bool {
	return len(s.sets) == 0 || slices.ContainsFunc(s.sets, func(set []string) bool {
		return !slices.ContainsFunc(set, func(name string) bool {
			m := s.member(name)
			return !slices.Contains(members, name) && (m == nil || !m.required)
		})
	})
}

// goes notes that a member is removed.
func (w *walk) goes(at string, m member, new *shape) {
	at = join(at, m.name)
	switch {
	case !w.isInput():
		w.add(Breaking, at, "removed", "clients that read it find nothing")
	case new.isClosed:
		w.add(Breaking, at, "removed", "requests with it are refused")
	default:
		w.add(Compatible, at, "removed", "it is ignored in requests")
	}
}

// comes notes that a member is added.
func (w *walk) comes(at string, m member) {
	at = join(at, m.name)
	switch {
	case !w.isInput():
		w.add(Compatible, at, added, "clients ignore members that they do not know")
	case m.required:
		w.add(Breaking, at, "added, and required", "requests without it are refused")
	default:
		w.add(Compatible, at, added, "it may be left out")
	}
}

// compareRequired compares whether a member is required.
func (w *walk) compareRequired(at string, old, new member) {
	switch {
	case !old.required && new.required:
		w.narrows(at, "required, was optional", "requests without it are refused", "it is always there")
	case old.required && !new.required:
		w.widens(at, "optional, was required", "it may still be given", "clients rely on it being there")
	}
}

// compareScalars compares values that are not objects or arrays.
func (w *walk) compareScalars(at string, old, new *shape) {
	switch {
	case old.enum != nil && new.enum != nil:
		w.compareEnums(at, old, new)
		return
	case new.enum != nil:
		w.narrows(at, wasIs(old, new), "requests with other values are refused", "it has some of the values as before")
		return
	case old.enum != nil:
		w.widens(at, wasIs(old, new), "everything that was accepted is still accepted", "clients get any value")
		return
	}
	if old.format != new.format && !(isPlain(old) && isPlain(new)) {
		if w.isInput() && (new.format == "" || old.format == "data-url" && new.format == "file") {
			w.add(Compatible, at, wasIs(old, new), "everything that was accepted is still accepted")
			return
		}
		w.retyped(at, old, new)
		return
	}
	if old.describe() == new.describe() {
		w.compareBounds(at, old, new)
		return
	}
	if w.isInput() && isStricter(old, new) {
		w.add(Breaking, at, wasIs(old, new), "some values that were accepted are refused")
		return
	}
	w.add(Compatible, at, wasIs(old, new), "it is the same in requests and answers")
}

// retyped notes another format, whose values are neither all nor none of those of
// the old one.
func (w *walk) retyped(at string, old, new *shape) {
	if w.isInput() {
		w.add(Breaking, at, wasIs(old, new), "values of the old type are refused or mean something else")
		return
	}
	w.add(Breaking, at, wasIs(old, new), "clients get values of another type")
}

// isPlain tells whether a text has no special format: Text, ID, Markdown.
func isPlain(s *shape) bool {
	return kindOf(s) == "string" && (s.format == "" || s.format == "markdown")
}

// compareEnums compares the values of enums.
func (w *walk) compareEnums(at string, old, new *shape) {
	var come, gone []string
	for _, v := range new.enum {
		if !slices.Contains(old.enum, v) {
			come = append(come, v)
		}
	}
	for _, v := range old.enum {
		if slices.Contains(new.enum, v) {
			continue
		}
		if to := w.renames.to(v, come); to != "" {
			come = slices.DeleteFunc(come, func(name string) bool { return name == to })
			w.add(Breaking, at, "value "+v+" renamed to "+to, "rows that have it keep it, but clients know it by its old name")
			continue
		}
		gone = append(gone, v)
	}
	if len(gone) > 0 {
		w.narrows(at, "loses "+strings.Join(gone, ", "), "requests with it are refused", "clients do not get it any more")
	}
	if len(come) == 0 {
		return
	}
	reason := "clients ignore values that they do not know"
	if w.isInput() {
		reason = "requests stay valid"
	}
	w.add(Compatible, at, "gains "+strings.Join(come, ", "), reason)
}

// compareAlternatives compares values of several forms, matched by their names,
// or by their order where they have none.
func (w *walk) compareAlternatives(at string, old, new *shape) {
	matched := map[*shape]bool{}
	for i, before := range old.oneOf {
		after := matching(before, new.oneOf, i)
		if after == nil {
			w.narrows(at, "is never "+before.describe()+" any more", "requests of this form are refused", "clients do not get it any more")
			continue
		}
		matched[after] = true
		w.compare(at, before, after)
	}
	for _, after := range new.oneOf {
		if !matched[after] {
			w.add(Compatible, at, "can be "+after.describe(), "clients ignore forms that they do not know")
		}
	}
}

// matching returns the alternative that continues an old one.
func matching(old *shape, list []*shape, at int) *shape {
	for _, s := range list {
		if s.ref != "" && s.ref == old.ref {
			return s
		}
	}
	if old.ref == "" && at < len(list) && list[at].ref == "" {
		return list[at]
	}
	return nil
}

// compareBounds compares the bounds of values, which matter only to requests.
func (w *walk) compareBounds(at string, old, new *shape) {
	if !w.isInput() {
		return
	}
	for _, b := range new.bounds {
		switch before := old.bound(b.keyword); {
		case before == nil:
			w.add(Breaking, at, fmt.Sprintf("has %s %s", b.keyword, b.value), "requests beyond it are refused")
		case tighter(*before, b):
			w.add(Breaking, at, fmt.Sprintf("%s was %s, is %s", b.keyword, before.value, b.value), "requests beyond it are refused")
		case tighter(b, *before):
			w.add(Compatible, at, fmt.Sprintf("%s was %s, is %s", b.keyword, before.value, b.value), "everything that was accepted is still accepted")
		}
	}
	for _, b := range old.bounds {
		if new.bound(b.keyword) == nil {
			w.add(Compatible, at, "has no "+b.keyword+" any more", "everything that was accepted is still accepted")
		}
	}
}

// isStricter tells whether a shape has a bound that another lacks or has less
// tight.
func isStricter(old, new *shape) bool {
	return slices.ContainsFunc(new.bounds, func(b bound) bool {
		before := old.bound(b.keyword)
		return before == nil || tighter(*before, b)
	})
}

// tighter tells whether a bound excludes values that another allows.
func tighter(old, new bound) bool {
	from, err := old.value.Float64()
	to, err2 := new.value.Float64()
	if err != nil || err2 != nil {
		panic(fmt.Sprintf("contract: the bounds %s and %s are not numbers", old.value, new.value))
	}
	if new.isLower() {
		return to > from
	}
	return to < from
}

// compareUnexamined compares the remaining keywords, and reports any change of them as
// the worst.
func (w *walk) compareUnexamined(at string, old, new *shape) {
	if slices.Equal(old.unexamined, new.unexamined) {
		return
	}
	names := []string{}
	for _, list := range [][]string{old.unexamined, new.unexamined} {
		for _, text := range list {
			name, _, _ := strings.Cut(text, ":")
			if !slices.Contains(names, name) && slices.Contains(old.unexamined, text) != slices.Contains(new.unexamined, text) {
				names = append(names, name)
			}
		}
	}
	switch missing := func(from, in []string) bool {
		return slices.ContainsFunc(from, func(text string) bool { return !slices.Contains(in, text) })
	}; {
	case len(names) == 0:
	case !missing(new.unexamined, old.unexamined):
		w.widens(at, "has no condition any more ("+strings.Join(names, ", ")+")", "everything that was accepted is still accepted", "clients get other values")
	default:
		w.add(Breaking, at, "has other conditions ("+strings.Join(names, ", ")+")", "Sternpost cannot compare the values that they admit")
	}
}

// querySuffix ends the names of the components that are conditions of lists, but for a
// number that tells it apart from another one.
const querySuffix = "QueryInput"

// isFilter tells whether a shape is the conditions of a list for a field: an object with
// one member at least.
func isFilter(s *shape) bool { return s.bound("minProperties") != nil }

// compareFilters compares the conditions that a list takes for a field of another type.
// They are one change, regardless of their number of operators.
func (w *walk) compareFilters(at string, old, new *shape) {
	inner := &walk{comparison: w.comparison, area: w.area, own: w.own, below: w.below}
	inner.compare("", w.resolve(w.old, old), w.resolve(w.new, new))
	var lost []string
	for _, c := range inner.found.list {
		if c.Class == Breaking {
			lost = append(lost, c.Subject+" "+c.Text)
		}
	}
	text := "was filtered as " + queried(old.ref) + ", is as " + queried(new.ref)
	switch {
	case len(lost) > 0:
		w.add(Breaking, at, text, strings.Join(lost, "; "))
	case len(inner.found.list) > 0:
		w.add(Compatible, at, text, "every condition is still accepted")
	}
}

// queried names the type of the field that conditions are for.
func queried(ref string) string {
	name := strings.TrimSuffix(strings.TrimRight(ref, "0123456789"), querySuffix)
	if plain, isNullable := strings.CutPrefix(name, "Nullable"); isNullable {
		return plain + "?"
	}
	return name
}

// join adds a member to a path.
func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
