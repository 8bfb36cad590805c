package lsp

import (
	"context"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen"
)

// workspaceSymbols answers with the declarations in projects of open files that match a
// query: its letters in their order, in any case.
func (s *server) workspaceSymbols(_ context.Context, p struct {
	Query string `json:"query"`
}) ([]symbolInformation, error) {
	found := []symbolInformation{}
	for _, v := range s.views() {
		for _, f := range v.index.files {
			of := &view{project: v.project, index: v.index, file: f, lines: newLines(f.Source.Text, v.lines.units)}
			uri := v.project.uri(f.Source.Name)
			var add func(list []documentSymbol, within string)
			add = func(list []documentSymbol, within string) {
				for _, y := range list {
					if fits(y.Name, p.Query) {
						found = append(found, symbolInformation{y.Name, y.Kind, location{uri, y.SelectionRange}, within})
					}
					add(y.Children, y.Name)
				}
			}
			add(of.symbols(), "")
		}
	}
	// Equal names come before similar ones.
	slices.SortStableFunc(found, func(a, b symbolInformation) int { return distance(a.Name, p.Query) - distance(b.Name, p.Query) })
	return found, nil
}

// fits tells whether the letters of a query are in a name, in their order.
func fits(name, query string) bool {
	name = strings.ToLower(name)
	for _, letter := range strings.ToLower(query) {
		_, rest, found := strings.Cut(name, string(letter))
		if !found {
			return false
		}
		name = rest
	}
	return true
}

// distance returns the distance between a query and a name that fits it.
func distance(name, query string) int {
	name, query = strings.ToLower(name), strings.ToLower(query)
	switch {
	case name == query:
		return 0
	case strings.HasPrefix(name, query):
		return 1
	case strings.Contains(name, query):
		return 2
	}
	return 3
}

// views returns a view of each project that has an open schema file.
func (s *server) views() []*view {
	s.mu.Lock()
	var uris []string
	for _, k := range s.projects {
		for _, d := range k.documents {
			if d.name != sqlgen.ConfigName {
				uris = append(uris, d.uri)
				break
			}
		}
	}
	s.mu.Unlock()
	var views []*view
	for _, uri := range uris {
		if v := s.view(uri); v != nil {
			views = append(views, v)
		}
	}
	return views
}
