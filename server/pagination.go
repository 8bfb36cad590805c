package server

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

// pagingOf returns the paging inputs that lists get.
func pagingOf(p config.Pagination) input.Paging {
	return input.Paging{Size: p.DefaultSize, TotalCount: p.AlwaysCount}
}

// limitPages sets the greatest page size in the published input of all lists. Requests
// are checked against that input, and the descriptions show it.
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
			return fmt.Errorf("action %s: the schema %s is missing", a.Name, a.Input)
		}
		body, err := release.ReadJSONSchema(m.Schemas[i].JSON)
		if err == nil {
			err = limitSizes(body, p.MaxSize)
		}
		if err != nil {
			return fmt.Errorf("action %s: limit its page size: %w", a.Name, err)
		}
		m.Schemas[i].JSON = body.Text()
	}
	return nil
}

// limitSizes sets the maximum of the page sizes in the schema of a list's body.
func limitSizes(body *release.JSONSchema, most int) error {
	for _, name := range []string{"first", "last", "limit"} {
		size := body.Property(name)
		if size == nil {
			return fmt.Errorf("properties: %s is missing", name)
		}
		size.With("maximum", most)
	}
	body.With("properties", body.Properties)
	return nil
}
