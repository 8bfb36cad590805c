package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

// pagingOf is what is added to the input of lists.
func pagingOf(p config.Pagination) input.Paging {
	return input.Paging{Size: p.DefaultSize, TotalCount: p.AlwaysCount}
}

// limitPages sets the greatest page size in the published input of all lists, by which
// requests are checked and which the descriptions show.
func limitPages(m *release.Manifest, p config.Pagination) error {
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
		limited, err := limitSizes(m.Schemas[i].JSON, p.MaxSize)
		if err != nil {
			return fmt.Errorf("action %s: limit its page size: %w", a.Name, err)
		}
		m.Schemas[i].JSON = limited
	}
	return nil
}

// limitSizes sets the maximum of the page sizes in the schema of a list's body.
func limitSizes(schema json.RawMessage, most int) (json.RawMessage, error) {
	return changeMember(schema, "properties", func(properties json.RawMessage) (json.RawMessage, error) {
		for _, name := range []string{"first", "last", "limit"} {
			var err error
			properties, err = changeMember(properties, name, func(size json.RawMessage) (json.RawMessage, error) {
				return changeMember(size, "maximum", func(json.RawMessage) (json.RawMessage, error) {
					return json.RawMessage(strconv.Itoa(most)), nil
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
