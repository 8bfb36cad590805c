package answer_test

import (
	"bytes"
	"testing"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/sql/release"
)

// The memory of an answer to a fat page is about the limit, for any number of rows. After
// a page that was too large, the statement without the excess rows is used.
func TestFatPageIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 10_000
	id := release.Member{Name: "id", Column: "id", Type: release.TextMember}
	text := release.Member{Name: "text", Column: "text", Type: release.TextMember}
	a := &release.Action{Name: "listPosts", Kind: release.List, Record: "Post", Order: []release.SortKey{{Member: id}}}
	m := &release.Manifest{Records: map[string][]release.Member{"Post": {id, text}}, Actions: []*release.Action{a}}
	plan := answer.NewPlan(m, a, limit)

	row := [][]byte{[]byte("p"), bytes.Repeat([]byte("x"), limit/3), nil}
	page := answer.Page{Size: 1000, CountsAll: true}
	first := plan.Begin(page, nil)
	if got := first.Statement().Name; got != "_any" {
		t.Fatalf("the first page is asked for by %q", got)
	}
	for range 1000 {
		first.Row(row)
	}
	if !first.Again() || first.Statement().Name != "_bounded" {
		t.Errorf("a page that was too large is not asked for again by the bounded statement, but %q", first.Statement().Name)
	}
	json, memory := first.JSON()
	if len(json) > limit+500 || cap(memory) > 4*limit {
		t.Errorf("an answer of at most %d bytes has %d, and holds %d", limit, len(json), cap(memory))
	}
	if !bytes.Contains(json, []byte(`"hasNextPage":true`)) || !bytes.Contains(json, []byte(`"count":2,`)) && !bytes.Contains(json, []byte(`"count":2}`)) {
		t.Errorf("got %s", json[len(json)-200:])
	}
	if got := plan.Begin(page, nil).Statement().Name; got != "_bounded" {
		t.Errorf("the page after a fat one is asked for by %q", got)
	}
}
