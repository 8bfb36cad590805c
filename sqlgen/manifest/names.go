package manifest

import (
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/model"
)

// derivedNames hands out the names of components that are made of names of the schema,
// such as CreatePostInput. What is declared keeps its name, and of two derived ones that
// coincide the later is told apart by a number.
type derivedNames struct {
	taken map[string]bool
	names map[string]string // by what they name
}

func newDerivedNames(s *model.Schema) derivedNames {
	d := derivedNames{map[string]bool{}, map[string]string{}}
	for _, name := range []string{"Error", "File", "PageInfo", "UploadRequest", "UploadResponse"} {
		d.taken[name] = true
	}
	for _, m := range s.Models {
		d.taken[m.Name] = true
	}
	for _, u := range s.Unions {
		d.taken[u.Name] = true
	}
	for _, e := range s.Enums {
		d.taken[e.Name] = true
	}
	for _, m := range s.Messages {
		d.taken[m.Name] = true
	}
	return d
}

// take returns the name of a thing, which is the wanted one unless that is taken.
func (d derivedNames) take(thing, wanted string) string {
	if name, known := d.names[thing]; known {
		return name
	}
	name := wanted
	for n := 2; d.taken[name]; n++ {
		name = wanted + strconv.Itoa(n)
	}
	d.taken[name] = true
	d.names[thing] = name
	return name
}

// part returns the name of a whole body of an action, or of what is called where, values
// or result of it.
func (d derivedNames) part(a *model.Action, suffix string) string {
	return d.take("part "+a.Name+" "+suffix, upperFirst(a.Name)+suffix)
}

// nested returns the name of an object that is nested in what an action takes.
func (d derivedNames) nested(prefix string, a *model.Action, path []*model.Field) string {
	return d.take("nested "+a.Name+" "+model.PathName(path), prefix+"Input")
}

// filter returns the name of the operators for values of a type, which all lists share.
func (d derivedNames) filter(prefix, base, suffix string) string {
	return d.take(strings.Join([]string{"filter", prefix, base, suffix}, " "), prefix+base+suffix+"QueryInput")
}
