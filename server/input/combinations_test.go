package input_test

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestEveryPagingCombination requests pages by every combination of the paging inputs.
// Those of the first table are pages; for any other, the error names the first exclusion
// that applies.
func TestEveryPagingCombination(t *testing.T) {
	t.Parallel()
	r := compile(t, listSchemas, "ListArticlesInput")
	pages := [][]string{
		{}, {"after"}, {"first"}, {"first", "after"}, {"last"}, {"last", "before"}, {"before"}, {"limit"}, {"limit", "offset"},
	}
	exclusions := []struct{ field, other, problem string }{
		{"first", "limit", "cannot be used with limit"},
		{"first", "offset", "cannot be used with limit"},
		{"last", "limit", "cannot be used with limit"},
		{"last", "offset", "cannot be used with limit"},
		{"after", "limit", "cannot be used with limit"},
		{"after", "offset", "cannot be used with limit"},
		{"before", "limit", "cannot be used with limit"},
		{"before", "offset", "cannot be used with limit"},
		{"offset", "", "needs limit"},
		{"last", "first", "cannot be used with first"},
		{"before", "after", "cannot be used with after"},
		{"before", "first", "cannot be used with first"},
		{"after", "last", "cannot be used with last"},
	}
	names := []string{"first", "last", "after", "before", "limit", "offset"}
	for set := range 1 << len(names) {
		given := map[string]any{}
		for i, name := range names {
			if set&(1<<i) != 0 {
				given[name] = map[bool]any{true: "c", false: 2}[name == "after" || name == "before"]
			}
		}
		isPage := slices.ContainsFunc(pages, func(page []string) bool {
			return len(page) == len(given) && !slices.ContainsFunc(page, func(name string) bool { return given[name] == nil })
		})
		want := ""
		for _, e := range exclusions {
			if given[e.field] != nil && (given[e.other] != nil || e.other == "" && given["limit"] == nil) {
				want = e.field + ": " + e.problem
				break
			}
		}
		if isPage != (want == "") {
			t.Fatalf("%v: the tables of this test disagree", given)
		}
		body, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, err := r.Read(body); err != nil {
			got = onlyProblem(t, err)
		}
		if got != want {
			t.Errorf("read %s\n got %s\nwant %s", body, got, want)
		}
	}
}
