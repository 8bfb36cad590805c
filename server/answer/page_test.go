package answer_test

import (
	"bytes"
	"strconv"
	"strings"
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

// A page of usual size is written behind its records, in memory that serves the next page.
func TestPageMemory(t *testing.T) {
	t.Parallel()
	id := release.Member{Name: "id", Column: "id", Type: release.TextMember}
	a := &release.Action{Name: "listPosts", Kind: release.List, Record: "Post", Order: []release.SortKey{{Member: id}}}
	m := &release.Manifest{Records: map[string][]release.Member{"Post": {id}}, Actions: []*release.Action{a}}
	plan := answer.NewPlan(m, a, 0)
	page := func(rows int, out []byte) (json, memory []byte) {
		into := plan.Begin(answer.Page{Size: rows}, out)
		for i := range rows {
			into.Row([][]byte{strconv.AppendInt([]byte("post "), int64(i), 10)})
		}
		return into.JSON()
	}

	for _, rows := range []int{0, 1, 20, 3, answer.Free / 16} {
		want, _ := page(rows, nil)
		json, memory := page(rows, make([]byte, 0, answer.Free))
		if string(json) != string(want) || !strings.HasPrefix(string(json), `{"results":[`) || strings.Count(string(json), `"post `) != rows {
			t.Errorf("%d rows: got %s, want %s", rows, json, want)
		}
		if again, _ := page(rows, memory[:0]); string(again) != string(want) {
			t.Errorf("%d rows in used memory: got %s, want %s", rows, again, want)
		}
	}
	_, memory := page(20, nil)
	json, kept := page(20, memory[:0])
	if cap(kept) != cap(memory) || &kept[0] != &memory[0] || &json[len(json)-1] != &kept[len(kept)-1] {
		t.Error("a page is not written to the memory of the one before")
	}
}
