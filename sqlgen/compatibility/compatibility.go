package compatibility

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/access"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Release is one version of a project.
type Release struct {
	Schema   *model.Schema
	Warnings syntax.Errors     // of the compiler
	Manifest *release.Manifest // what is published
}

// NewRelease returns the release of a checked schema and of the manifest compiled from
// it. The texts of its expressions say what the conditions in them stand for: that may
// change where they do not.
func NewRelease(s *model.Schema, warnings syntax.Errors, manifest *release.Manifest) *Release {
	s.SpellConditions()
	return &Release{Schema: s, Warnings: warnings, Manifest: manifest}
}

// Compare returns the changes from one release to another, by area, and within an area
// in the order of the schemas.
func Compare(old, new *Release) []Change {
	c := &comparison{old: newSide(old), new: newSide(new), renames: renamesOf(new.Schema)}
	c.apis()        // paths, and which actions they expose
	c.actions()     // actions that come, go or change their kind
	c.inputs()      // what requests may hold and must
	c.results()     // what answers hold
	c.shown()       // what of that was stored before, and not shown
	c.rows()        // the rows that an action finds, and their order
	c.errors()      // what is refused on account of values
	c.permissions() // permissions of callers
	slices.SortStableFunc(c.found.list, func(a, b Change) int { return cmp.Compare(a.Area.rank(), b.Area.rank()) })
	return c.found.list
}

// rank orders areas.
func (a Area) rank() int {
	return slices.Index([]Area{OfAPI, OfAction, OfInput, OfResult, OfRows, OfError, OfPermission}, a)
}

// comparison is the state of one Compare.
type comparison struct {
	old, new *side
	renames  renames
	found    changes
}

// side is one of the two releases, with its indexes.
type side struct {
	*Release
	published map[string]*release.Action
	checked   map[string]*model.Action
	exposed   map[string]bool
	matrix    *access.Matrix
	shapes    map[string]*shape // by component
}

func newSide(r *Release) *side {
	s := &side{
		Release:   r,
		published: map[string]*release.Action{},
		checked:   map[string]*model.Action{},
		exposed:   map[string]bool{},
		matrix:    access.Of(r.Schema),
		shapes:    map[string]*shape{},
	}
	for _, a := range r.Manifest.Actions {
		s.published[a.Name] = a
	}
	for _, row := range s.matrix.Rows {
		s.checked[row.Action.Name] = row.Action
		s.exposed[row.Action.Name] = len(row.APIs) > 0
	}
	for _, e := range r.Manifest.Schemas {
		s.shapes[e.Name] = parseShape(e.JSON)
	}
	return s
}

// pair is an action that both releases expose, with the same kind.
type pair struct {
	name     string
	old, new *model.Action
}

// pairs returns the actions to compare in detail, in the order of the new release.
func (c *comparison) pairs() []pair {
	var pairs []pair
	for _, a := range c.new.Schema.Actions {
		before := c.old.checked[a.Name]
		if before != nil && c.old.exposed[a.Name] && c.new.exposed[a.Name] && before.Kind == a.Kind {
			pairs = append(pairs, pair{a.Name, before, a})
		}
	}
	return pairs
}

// apis compares the paths under which actions are exposed.
func (c *comparison) apis() {
	for _, api := range c.old.Schema.APIs {
		other := apiAt(c.new.Schema, api.Path)
		if other == nil && len(api.Actions) > 0 {
			c.found.add(Change{Breaking, OfAPI, "api " + api.Name, nil, "removed", fmt.Sprintf("calls under /%s answer 404", api.Path)})
			continue
		}
		for _, a := range api.Actions {
			if c.new.checked[a.Name] != nil && !exposes(other, a.Name) && c.new.exposed[a.Name] {
				c.found.add(Change{Breaking, OfAPI, "api " + api.Name, []string{a.Name}, "moved out of it", "calls of it under this api answer 404"})
			}
		}
	}
	for _, api := range c.new.Schema.APIs {
		other := apiAt(c.old.Schema, api.Path)
		if other == nil && len(api.Actions) > 0 {
			c.found.add(Change{Compatible, OfAPI, "api " + api.Name, nil, "added", fmt.Sprintf("nobody relies on /%s yet", api.Path)})
			continue
		}
		for _, a := range api.Actions {
			if c.old.exposed[a.Name] && !exposes(other, a.Name) {
				c.found.add(Change{Compatible, OfAPI, "api " + api.Name, []string{a.Name}, "added to it", "another api exposes it already"})
			}
		}
	}
}

// apiAt returns the api with a path, or nil.
func apiAt(s *model.Schema, path string) *model.API {
	for _, api := range s.APIs {
		if api.Path == path {
			return api
		}
	}
	return nil
}

// exposes tells whether an api has an action of that name.
func exposes(api *model.API, name string) bool {
	return api != nil && slices.ContainsFunc(api.Actions, func(a *model.Action) bool { return a.Name == name })
}

// actions compares the existing actions. An action that no api exposes does not exist.
func (c *comparison) actions() {
	for _, a := range c.old.Schema.Actions {
		after := c.new.checked[a.Name]
		switch {
		case !c.old.exposed[a.Name]:
		case after == nil:
			c.found.add(Change{Breaking, OfAction, "", []string{a.Name}, "removed", "calls of it answer 404"})
		case !c.new.exposed[a.Name]:
			c.found.add(Change{Breaking, OfAction, "", []string{a.Name}, "removed from all apis", "calls of it answer 404"})
		case after.Kind != a.Kind:
			c.found.add(Change{Breaking, OfAction, "", []string{a.Name}, fmt.Sprintf("was a %s, is a %s", a.Kind, after.Kind), "requests and answers have another form"})
		}
	}
	for _, a := range c.new.Schema.Actions {
		switch {
		case !c.new.exposed[a.Name] || c.old.exposed[a.Name]:
		case c.old.checked[a.Name] != nil:
			c.found.add(Change{Compatible, OfAction, "", []string{a.Name}, "exposed", "no api had it"})
		default:
			c.found.add(Change{Compatible, OfAction, "", []string{a.Name}, "added", "nobody calls it yet"})
		}
	}
}

// renames holds the renames of the new schema: the new name by the old one, in the
// spelling of members of requests and answers or values of enums.
type renames map[string][]string

func renamesOf(s *model.Schema) renames {
	r := renames{}
	add := func(from, to string) {
		if from != "" {
			r[from] = append(r[from], to)
		}
	}
	for _, m := range s.Models {
		for _, f := range m.Fields {
			add(f.RenamedFrom, f.Name)
			if f.FK != nil && f.RenamedFrom != "" {
				add(f.RenamedFrom+"Id", f.FK.Name)
			}
		}
	}
	for _, e := range s.Enums {
		for _, v := range e.Values {
			add(v.RenamedFrom, v.Name)
		}
	}
	return r
}

// to returns the new name to which an old one is renamed; empty means none.
func (r renames) to(goes string, come []string) string {
	for _, name := range r[goes] {
		if slices.Contains(come, name) {
			return name
		}
	}
	return ""
}
