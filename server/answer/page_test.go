package answer_test

import (
	"bytes"
	"errors"
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
	json := first.JSON()
	if len(json) > limit+500 || cap(json) > 4*limit {
		t.Errorf("an answer of at most %d bytes has %d, and holds %d", limit, len(json), cap(json))
	}
	if !bytes.Contains(json, []byte(`"hasNextPage":true`)) || !bytes.Contains(json, []byte(`"count":2,`)) && !bytes.Contains(json, []byte(`"count":2}`)) {
		t.Errorf("got %s", json[len(json)-200:])
	}
	if got := plan.Begin(page, nil).Statement().Name; got != "_bounded" {
		t.Errorf("the page after a fat one is asked for by %q", got)
	}
}

// The memory of an answer is reserved as it is held: with what its buffer has grown ahead, and what JSON escapes.
func TestHeldMemory(t *testing.T) {
	t.Parallel()
	id := release.Member{Name: "id", Column: "id", Type: release.TextMember}
	records := map[string][]release.Member{"Post": {id}}
	list := &release.Action{Name: "listPosts", Kind: release.List, Record: "Post", Order: []release.SortKey{{Member: id}}}
	get := &release.Action{Name: "getPost", Kind: release.Get, Record: "Post"}
	m := &release.Manifest{Records: records, Actions: []*release.Action{list, get}}
	for _, test := range []struct {
		what string
		plan *answer.Plan
		page answer.Page
		rows int
		text string
	}{
		{"a small page", answer.NewPlan(m, list, 0), answer.Page{Size: 100}, 100, strings.Repeat("x", 100)},
		{"a large page", answer.NewPlan(m, list, 0), answer.Page{Size: 1000}, 1000, strings.Repeat("x", 3000)},
		{"a large page, backwards", answer.NewPlan(m, list, 0), answer.Page{Size: 1000, IsBackwards: true}, 1000, strings.Repeat("x", 3000)},
		{"an escaped record", answer.NewPlan(m, get, 0), answer.Page{}, 1, strings.Repeat("\x01", 1<<20)},
	} {
		reserved := 0
		into := test.plan.Begin(test.page, nil)
		into.Hold = func(bytes int) error { reserved += bytes; return nil }
		for range test.rows {
			into.Row([][]byte{[]byte(test.text)})
		}
		body := into.JSON()
		if err := into.Keep(body); err != nil || cap(body) > answer.Free+reserved {
			t.Errorf("%s holds %d bytes, and reserves %d (%v)", test.what, cap(body), reserved, err)
		}
		if test.what == "a small page" && reserved > 0 {
			t.Errorf("%s reserves %d bytes", test.what, reserved)
		}
		full := errors.New("full")
		if into.Hold = func(int) error { return full }; into.Keep(make([]byte, 32<<20)) != full || into.Err() != full {
			t.Errorf("%s is kept although no memory is left", test.what)
		}
	}
}

// A page is written to the memory of the one before, in the order of its rows or in reverse.
func TestPageMemory(t *testing.T) {
	t.Parallel()
	id := release.Member{Name: "id", Column: "id", Type: release.TextMember}
	a := &release.Action{Name: "listPosts", Kind: release.List, Record: "Post", Order: []release.SortKey{{Member: id}}}
	m := &release.Manifest{Records: map[string][]release.Member{"Post": {id}}, Actions: []*release.Action{a}}
	plan := answer.NewPlan(m, a, 0)
	page := func(rows int, isBackwards bool, memory []byte) []byte {
		into := plan.Begin(answer.Page{Size: rows, IsBackwards: isBackwards}, memory)
		for i := range rows {
			if isBackwards {
				i = rows - 1 - i
			}
			into.Row([][]byte{strconv.AppendInt([]byte("post "), int64(i), 10)})
		}
		return into.JSON()
	}

	for _, rows := range []int{0, 1, 20, 3, answer.Free / 16} {
		var records []string
		for i := range rows {
			records = append(records, `{"id":"post `+strconv.Itoa(i)+`"}`)
		}
		want := `{"results":[` + strings.Join(records, ",") + `],"pageInfo":{`
		for _, isBackwards := range []bool{false, true} {
			json := page(rows, isBackwards, nil)
			if !strings.HasPrefix(string(json), want) {
				t.Errorf("%d rows, backwards %v: got %s, want %s…", rows, isBackwards, json, want)
			}
			kept := string(json)
			if again := page(rows, isBackwards, json[:0]); string(again) != kept {
				t.Errorf("%d rows, backwards %v, in used memory: got %s, want %s", rows, isBackwards, again, kept)
			} else if rows == 20 && !isBackwards && &again[0] != &json[0] {
				t.Error("a page is not written to the memory of the one before")
			}
		}
	}
}
