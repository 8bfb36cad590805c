package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

// Pagination is how lists are paged. The zero Pagination leaves them as they are
// published.
type Pagination struct {
	DefaultSize int  // of a page whose size a request leaves open
	MaxSize     int  // that a request may ask for
	AlwaysCount bool // whether every list says how many rows there are in all
}

// paging is what is added to the input of lists.
func (p Pagination) paging() input.Paging {
	return input.Paging{Size: p.DefaultSize, TotalCount: p.AlwaysCount}
}

// limit sets the greatest page size in the published input of all lists, by which
// requests are checked and which the descriptions show.
func (p Pagination) limit(m *release.Manifest) error {
	if p.MaxSize == 0 {
		return nil
	}
	m.Schemas = slices.Clone(m.Schemas)
	done := map[string]bool{}
	for _, a := range m.Actions {
		if a.Kind != release.List || done[a.Input] {
			continue
		}
		done[a.Input] = true
		i := slices.IndexFunc(m.Schemas, func(s release.Schema) bool { return s.Name == a.Input })
		if i < 0 {
			return fmt.Errorf("action %s: there is no schema %s", a.Name, a.Input)
		}
		limited, err := p.limitSizes(m.Schemas[i].JSON)
		if err != nil {
			return fmt.Errorf("action %s: limit its page size: %w", a.Name, err)
		}
		m.Schemas[i].JSON = limited
	}
	return nil
}

// limitSizes sets the maximum of the page sizes in the schema of a list's body.
func (p Pagination) limitSizes(schema json.RawMessage) (json.RawMessage, error) {
	return changeMember(schema, "properties", func(properties json.RawMessage) (json.RawMessage, error) {
		for _, name := range []string{"first", "last", "limit"} {
			var err error
			properties, err = changeMember(properties, name, func(size json.RawMessage) (json.RawMessage, error) {
				return changeMember(size, "maximum", func(json.RawMessage) (json.RawMessage, error) {
					return json.RawMessage(strconv.Itoa(p.MaxSize)), nil
				})
			})
			if err != nil {
				return nil, err
			}
		}
		return properties, nil
	})
}

// changeMember changes a member of a JSON object, whose order it keeps.
func changeMember(object json.RawMessage, name string, change func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	var members release.Schemas
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(members, func(m release.Schema) bool { return m.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no %s", name)
	}
	value, err := change(members[i].JSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	members[i].JSON = value
	return json.Marshal(members)
}
