package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/input"
)

func TestPaginationLimit(t *testing.T) {
	t.Parallel()
	m := app()
	published := string(m.Schemas.Get("ListNotesInput"))
	if err := limitPages(m, config.Pagination{DefaultSize: 5, MaxSize: 20}); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(published, `"maximum":1000}`, `"maximum":20}`)
	if got := string(m.Schemas.Get("ListNotesInput")); got != want {
		t.Errorf("the schema of a list becomes\n%s\nwant\n%s", got, want)
	}
	if strings.Count(want, `"maximum":20}`) != 3 || !strings.Contains(want, `"maximum":1000000`) {
		t.Errorf("the schema\n%s\ndoes not limit the sizes, or the offset too", want)
	}
	for i, s := range m.Schemas {
		if s.Name == "ListNotesInput" {
			m.Schemas[i].JSON = json.RawMessage(`{"type":"object","properties":{"first":{"type":"integer","maximum":9}}}`)
		}
	}
	const fault = "action listNotes: limit its page size: properties: last is missing"
	if err := limitPages(m, config.Pagination{MaxSize: 20}); err == nil || err.Error() != fault {
		t.Errorf("a list without page sizes: got %v, want %s", err, fault)
	}
}

// TestPaginationOfRequests reads requests as a configured server does, and compares the input of the
// database, or the refusal.
func TestPaginationOfRequests(t *testing.T) {
	t.Parallel()
	m := app()
	p := config.Pagination{DefaultSize: 5, MaxSize: 20, AlwaysCount: true}
	if err := limitPages(m, p); err != nil {
		t.Fatal(err)
	}
	reader := func(name string) *input.Reader {
		r, err := input.Compile(m.Schemas, name)
		if err != nil {
			t.Fatal(err)
		}
		return r.WithPaging(pagingOf(p))
	}
	list, get := reader("ListNotesInput"), reader("GetNoteInput")
	for _, c := range []struct{ body, want string }{
		{``, `{"first":5,"totalCount":true}`},
		{`{"after":"x"}`, `{"after":"x","first":5,"totalCount":true}`},
		{`{"before":"x"}`, `{"before":"x","last":5,"totalCount":true}`},
		{`{"first":20}`, `{"first":20,"totalCount":true}`},
		{`{"last":2,"before":"x"}`, `{"last":2,"before":"x","totalCount":true}`},
		{`{"limit":3,"offset":1}`, `{"limit":3,"offset":1,"totalCount":true}`},
		{`{"totalCount":false}`, `{"totalCount":false,"first":5,"totalCount":true}`},
		{`{"first":21}`, ""},
		{`{"limit":21}`, ""},
	} {
		in, err := list.Read([]byte(c.body))
		if got := string(in.JSON); got != c.want || err == nil && in.PlainPage() {
			t.Errorf("%s: got %s (%v), plain %t, want %s", c.body, got, err, in.PlainPage(), c.want)
		}
	}
	if in, err := get.Read([]byte(`{"id":"7"}`)); string(in.JSON) != `{"id":"7"}` {
		t.Errorf("a get: got %s (%v), want it as it is", in.JSON, err)
	}
	plain := pagingOf(config.Pagination{DefaultSize: 5, MaxSize: 20})
	if in, err := list.WithPaging(plain).Read([]byte(`{}`)); err != nil || !in.PlainPage() || string(in.JSON) != `{"first":5}` {
		t.Errorf("a list that is not counted: got %s, plain %t (%v)", in.JSON, in.PlainPage(), err)
	}
}
