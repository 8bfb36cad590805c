package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// fatSchema has lists of every form. Some of their rows are fat in one way or another.
const fatSchema = `
model Author {
  fields { name Text  bio Markdown?  posts Post[]  agent Agent? }
}
model Agent {
  fields { name Text }
}
model Post {
  fields { title Text  body Markdown?  tags Text[]  sizes Number[]?  weights Vector?  author Author?  remarks Remark[] }
  actions {
    list directPosts(title?)
    list sortedPosts(title?) { @sortable(title, body) }
    list ownPosts(title?) { @permission(expression: post.author.name != "nobody" || post.title != "nothing") }
    list embeddedPosts() { @embed(author) }
    list nestedPosts() { @embed(author.agent)  @embed(remarks) }
    list codePosts(title?) { @function }
  }
  @permission(expression: true, actions: [list])
}
model Remark {
  fields { post Post  text Text }
}
model Figure {
  fields { first Number  second Decimal  third Boolean  at Timestamp }
  actions { list listFigures() }
  @permission(expression: true, actions: [list])
}
union Thing {
  fields { name Text  more Markdown?  tags Text[] }
  arms {
    post Post { @set(thing.name = post.title)  @set(thing.more = post.body)  @set(thing.tags = post.tags) }
    author Author { @set(thing.name = author.name)  @set(thing.more = author.bio)  @set(thing.tags = []) }
  }
  actions { list things()  list sortedThings() { @sortable(name) } }
  @permission(expression: true, actions: [list])
}
`

// fatRows fills it: most rows are thin, and some have a member of up to 30,000 bytes,
// with characters that take several in JSON.
const fatRows = `
insert into app.agent (id, name) select 'g' || n, repeat('g', case n % 3 when 0 then 4000 else 10 end) from generate_series(1, 5) as n;
insert into app.author (id, name, bio, agent_id)
select 'a' || n, 'author ' || n, case n % 4 when 0 then repeat('bio "" ', 900) when 1 then null else 'b' end, case when n % 2 = 0 then 'g' || n % 5 + 1 end
from generate_series(1, 9) as n;
insert into app.post (id, title, body, tags, sizes, weights, author_id)
select
  'p' || lpad(n::text, 3, '0'),
  'title ' || n % 7,
  case n % 11 when 0 then repeat(E'\n"', 6000) when 5 then repeat('x', 30000) when 7 then null else 'body' end,
  case n % 13 when 0 then array_fill('tag'::text, array[3000]) else '{}' end,
  case n % 17 when 0 then array_fill(1234567, array[2000]) when 1 then '{}' end,
  case n % 19 when 0 then array_fill(0.123456::real, array[1500]) when 1 then array[1, 2]::real[] end,
  case when n % 5 > 0 then 'a' || n % 9 + 1 end
from generate_series(1, 60) as n;
insert into app.remark (id, post_id, text)
select 'r' || n, 'p' || lpad((n % 20 + 1)::text, 3, '0'), repeat('remark', case n % 6 when 0 then 1500 else 1 end) from generate_series(1, 70) as n;
insert into app.figure (id, first, second, third, at) select 'n' || n, n, 1.5, true, now() from generate_series(1, 300) as n;
`

const fatCode = `
create function functions.code_posts(title text default null) returns setof app.post
language sql
stable
as $$ select * from app.post; $$;
`

type fatPage struct {
	Results  []json.RawMessage
	PageInfo struct {
		StartCursor, EndCursor       string
		HasNextPage, HasPreviousPage bool
		Count, TotalCount            int
		PageNumber                   int
	}
}

func (p *fatPage) ids(t *testing.T) []string {
	t.Helper()
	ids := make([]string, len(p.Results))
	for i, r := range p.Results {
		var row struct{ ID, SourceArm string }
		if err := json.Unmarshal(r, &row); err != nil {
			t.Fatal(err)
		}
		ids[i] = row.ID + row.SourceArm
	}
	return ids
}

func (p *fatPage) bytes() int {
	n := 0
	for _, r := range p.Results {
		n += len(r)
	}
	return n
}

// A page ends early if its records have more bytes than allowed, from any cause. Paging on
// shows every row once: forward, backward and by offset.
func TestFatPages(t *testing.T) {
	t.Parallel()
	const limit = 20_000
	dir := writeProject(t, map[string]string{"schema.stern": fatSchema, "functions/codePosts.sql": fatCode})
	db := installApp(t, dir)
	if _, err := db.Owner(t).Exec(t.Context(), fatRows); err != nil {
		t.Fatal(err)
	}
	limited := serveWith(t, db, dir, db.ServerURL(), serving{env: []string{fmt.Sprintf("STERNPOST_LIMITS_PAGE=%d", limit)}})
	whole := serve(t, db, dir, db.ServerURL())
	header := http.Header{"Content-Type": {"application/json"}}
	ask := func(t *testing.T, a *app, action string, input map[string]any) *fatPage {
		t.Helper()
		body, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		response, text := a.send(t, "POST", "/api/json/"+action, header, string(body))
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d %.500s", action, body, response.StatusCode, text)
		}
		p := &fatPage{}
		if err := json.Unmarshal([]byte(text), p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	with := func(input map[string]any, more ...any) map[string]any {
		all := map[string]any{}
		for k, v := range input {
			all[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			all[more[i].(string)] = more[i+1]
		}
		return all
	}

	order := func(name, direction string) []any { return []any{map[string]any{name: direction}} }
	filter := map[string]any{"title": map[string]any{"equals": "title 3"}}
	wide := map[string]any{"title": map[string]any{"startsWith": "title"}}
	for _, c := range []struct {
		action string
		input  map[string]any
	}{
		{"directPosts", nil},
		{"directPosts", map[string]any{"where": filter}},
		{"directPosts", map[string]any{"where": wide}},
		{"sortedPosts", nil},
		{"sortedPosts", map[string]any{"orderBy": order("title", "desc")}},
		{"ownPosts", nil},
		{"ownPosts", map[string]any{"where": wide}},
		{"embeddedPosts", nil},
		{"nestedPosts", nil},
		{"codePosts", nil},
		{"codePosts", map[string]any{"where": wide}},
		{"listFigures", nil},
		{"things", nil},
		{"sortedThings", map[string]any{"orderBy": order("name", "desc")}},
	} {
		t.Run(strings.Trim(fmt.Sprint(c.action, c.input), "map[]"), func(t *testing.T) {
			t.Parallel()
			all := ask(t, whole, c.action, with(c.input, "first", 1000))
			want := all.ids(t)
			size := map[string]int{}
			for i, r := range all.Results {
				size[want[i]] = len(r)
			}
			early := 0
			check := func(p *fatPage, asked int, next string, more bool) {
				t.Helper()
				if p.PageInfo.Count != len(p.Results) || len(p.Results) == 0 {
					t.Fatalf("count is %d, records are %d", p.PageInfo.Count, len(p.Results))
				}
				if p.bytes() > limit && len(p.Results) > 1 {
					t.Errorf("a page of %d records has %d bytes", len(p.Results), p.bytes())
				}
				if p.PageInfo.TotalCount != 0 && p.PageInfo.TotalCount != len(want) {
					t.Errorf("totalCount is %d, want %d", p.PageInfo.TotalCount, len(want))
				}
				if len(p.Results) == asked {
					return
				}
				if more {
					early++
					// It does not end too early.
					if p.bytes()+size[next] < limit*9/10 {
						t.Errorf("a page ended with %d bytes before a record of %d", p.bytes(), size[next])
					}
				}
			}
			at := func(i int) string {
				if i < 0 || i >= len(want) {
					return ""
				}
				return want[i]
			}
			for _, asked := range []int{7, 1000} {
				var got []string
				input := with(c.input, "first", asked, "totalCount", true)
				for range len(want) {
					p := ask(t, limited, c.action, input)
					if p.PageInfo.HasPreviousPage != (len(got) > 0) {
						t.Errorf("hasPreviousPage is %t after %d rows", p.PageInfo.HasPreviousPage, len(got))
					}
					got = append(got, p.ids(t)...)
					check(p, asked, at(len(got)), p.PageInfo.HasNextPage)
					if !p.PageInfo.HasNextPage {
						break
					}
					input = with(c.input, "first", asked, "after", p.PageInfo.EndCursor)
				}
				if !slices.Equal(got, want) {
					t.Errorf("first %d, then after\ngot  %v\nwant %v", asked, got, want)
				}

				got = nil
				input = with(c.input, "last", asked)
				for range len(want) {
					p := ask(t, limited, c.action, input)
					if p.PageInfo.HasNextPage != (len(got) > 0) {
						t.Errorf("hasNextPage is %t before %d rows", p.PageInfo.HasNextPage, len(got))
					}
					got = append(p.ids(t), got...)
					check(p, asked, at(len(want)-len(got)-1), p.PageInfo.HasPreviousPage)
					if !p.PageInfo.HasPreviousPage {
						break
					}
					input = with(c.input, "last", asked, "before", p.PageInfo.StartCursor)
				}
				if !slices.Equal(got, want) {
					t.Errorf("last %d, then before\ngot  %v\nwant %v", asked, got, want)
				}

				got = nil
				for range len(want) {
					p := ask(t, limited, c.action, with(c.input, "limit", asked, "offset", len(got)))
					if p.PageInfo.PageNumber != len(got)/asked+1 {
						t.Errorf("limit %d, offset %d: pageNumber is %d", asked, len(got), p.PageInfo.PageNumber)
					}
					got = append(got, p.ids(t)...)
					check(p, asked, at(len(got)), p.PageInfo.HasNextPage)
					if !p.PageInfo.HasNextPage {
						break
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("limit %d\ngot  %v\nwant %v", asked, got, want)
				}
			}
			if early == 0 {
				t.Error("no page ended early")
			}
		})
	}
}

// A record is shown the same whether or not its page ends early: a page of one byte has
// one record, complete.
func TestFatRecordsAreWhole(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": fatSchema, "functions/codePosts.sql": fatCode})
	db := installApp(t, dir)
	if _, err := db.Owner(t).Exec(t.Context(), fatRows); err != nil {
		t.Fatal(err)
	}
	limited := serveWith(t, db, dir, db.ServerURL(), serving{env: []string{"STERNPOST_LIMITS_PAGE=1"}})
	whole := serve(t, db, dir, db.ServerURL())
	header := http.Header{"Content-Type": {"application/json"}}
	for _, action := range []string{"directPosts", "sortedPosts", "ownPosts", "embeddedPosts", "nestedPosts", "codePosts", "things"} {
		for _, offset := range []int{0, 4, 10, 12, 16, 18, 59} {
			one := fmt.Sprintf(`{"limit":3,"offset":%d}`, offset)
			_, got := limited.send(t, "POST", "/api/json/"+action, header, one)
			_, want := whole.send(t, "POST", "/api/json/"+action, header, fmt.Sprintf(`{"limit":1,"offset":%d}`, offset))
			got, _, _ = strings.Cut(got, `"pageInfo"`)
			want, _, _ = strings.Cut(want, `"pageInfo"`)
			if got != want || !strings.Contains(got, `"id"`) {
				t.Errorf("%s at %d\ngot  %.300s\nwant %.300s", action, offset, got, want)
			}
		}
	}
}
