package client

import (
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/sql/release"
)

// ways are the sets of properties of an object that may be given together. The paging
// inputs are such an object: first and after, or last and before, or limit and offset.
type ways struct {
	names   []string   // those that exclude or need another
	sets    [][]string // maximal sets
	needs   map[string]string
	schemas map[string]*release.JSONSchema
}

// waysOf reads dependentSchemas that exclude properties or require one. It returns nil for any
// others.
func waysOf(s *release.JSONSchema) *ways {
	w := &ways{needs: map[string]string{}, schemas: map[string]*release.JSONSchema{}}
	excludes := map[[2]string]bool{}
	mention := map[string]bool{}
	for _, d := range s.Dependent {
		mention[d.Name] = true
		for _, other := range d.Schema.Properties {
			if !other.Schema.IsNever {
				return nil
			}
			mention[other.Name] = true
			excludes[[2]string{d.Name, other.Name}] = true
			excludes[[2]string{other.Name, d.Name}] = true
		}
		switch len(d.Schema.Required) {
		case 0:
		case 1:
			mention[d.Schema.Required[0]] = true
			w.needs[d.Name] = d.Schema.Required[0]
		default:
			return nil
		}
	}
	for _, p := range s.Properties {
		if mention[p.Name] {
			w.names = append(w.names, p.Name)
			w.schemas[p.Name] = p.Schema
		}
	}
	// Each set grows from one of the names, by those compatible with all of it.
	for _, name := range w.names {
		set := []string{name}
		for _, other := range w.names {
			if other != name && !slices.ContainsFunc(set, func(in string) bool { return excludes[[2]string{in, other}] }) {
				set = append(set, other)
			}
		}
		slices.SortFunc(set, func(a, b string) int { return slices.Index(w.names, a) - slices.Index(w.names, b) })
		if !slices.ContainsFunc(w.sets, func(known []string) bool { return slices.Equal(known, set) }) {
			w.sets = append(w.sets, set)
		}
	}
	return w
}

// way returns the name of the type of some ways. Lists share it.
func (t *types) way(w *ways) string {
	text := t.wayText(w)
	at := slices.Index(t.paging, text)
	if at < 0 {
		at = len(t.paging)
		t.paging = append(t.paging, text)
	}
	return pagingName(at)
}

// pagingName returns the name of the type of the ways of that number.
func pagingName(at int) string {
	if at == 0 {
		return pagingType
	}
	return pagingType + strconv.Itoa(at+1)
}

// wayText returns the type of some ways: an object for each, which excludes the properties of the others.
func (t *types) wayText(w *ways) string {
	var objects []string
	for _, set := range w.sets {
		var b printer
		b.WriteString("{ ")
		for i, name := range w.names {
			if i > 0 {
				b.WriteString("; ")
			}
			isNeeded := slices.ContainsFunc(set, func(other string) bool { return w.needs[other] == name })
			switch {
			case !slices.Contains(set, name), w.needs[name] != "" && !slices.Contains(set, w.needs[name]):
				b.WriteString(member(name) + "?: never")
			case isNeeded:
				b.WriteString(member(name) + ": " + t.of(w.schemas[name], 0, 0))
			default:
				b.WriteString(member(name) + "?: " + t.of(w.schemas[name], 0, 0))
			}
		}
		b.WriteString(" }")
		objects = append(objects, b.String())
	}
	return alternatives("|", objects, 0, lineLength)
}
