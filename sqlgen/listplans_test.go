package sqlgen_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
)

const posts = `
model Org { fields { name Text  authors Author[] } }
model Author {
  fields { org Org  name Text @index  city Text? @index  age Number @index  identity Identity? @unique  posts Post[] }
}
model Post {
  fields {
    title Text @index
    slug Text @unique
    summary Text?
    state State @index
    views Number @index
    price Decimal? @index
    liveAt Timestamp? @index
    day Date @index
    took Duration @index
    isPinned Boolean
    tags Text[]
    author Author @relation(posts)
    editor Author?
    comments Comment[]
  }
  actions {
    list listPosts(
      id?, title?, slug?, summary?, state?, views?, price?, liveAt?, day?, took?, isPinned?, tags?, author.id?, editor.id?,
      author.name?, author.city?, author.age?, comments.text?, comments.score?, comments.at?, createdAt?,
      since: Date?, said: Text?
    ) {
      @where(post.day >= since)
      @where(post.comments.text == said)
      @orderBy(day: desc)
      @sortable(title, liveAt, day)
    }
    list ownPosts(state?, title?) {
      @orderBy(liveAt: desc)
      @permission(expression: post.author.identity == ctx.identity)
    }
    list keptPosts(views?) {
      @permission(expression: post.editorId == ctx.identity.author.id)
    }
    list openPosts(
      id?, title?, slug?, summary?, state?, views?, price?, liveAt?, day?, took?, isPinned?, tags?, author.id?, editor.id?,
      author.name?, author.city?, author.age?, comments.text?, comments.score?, comments.at?, createdAt?,
      since: Date?, said: Text?
    ) {
      @where(post.day >= since)
      @where(post.comments.text == said)
      @orderBy(day: desc)
      @sortable(title, liveAt, day)
      @permission(expression: true)
    }
    list livePosts() { @orderBy(liveAt: asc) @permission(expression: true) }
    list lastPosts() { @orderBy(price: desc) @permission(expression: true) }
    list titledPosts() { @orderBy(title: desc) @permission(expression: true) }
  }
  @permission(expression: ctx.identity in post.author.org.authors.identity, actions: [list])
}
model Comment { fields { post Post  text Text @index  score Number @index  at Timestamp @index } }
enum State { Draft Live Gone }
`

// postRows fills the tables of posts: 100 orgs of 10 authors each, each with 100
// posts, and two comments for each post, so that who belongs to an org sees 1 of 100
// posts.
const postRows = `
	set session_replication_role = replica; -- the references hold by construction
	insert into app.identity (id) select 'i' || n from generate_series(0, 999) as n;
	insert into app.org (id, name) select 'o' || n, 'org' from generate_series(0, 99) as n;
	insert into app.author (id, org_id, name, city, age, identity_id)
	select 'a' || n, 'o' || n % 100, 'author ' || n, nullif('city ' || n % 50, 'city 7'), n % 80, 'i' || n from generate_series(0, 999) as n;
	insert into app.post (id, title, slug, summary, state, views, price, live_at, day, took, is_pinned, tags, author_id, editor_id)
	select
		'p' || n, 'Title ' || n % 50000, 'slug-' || n, nullif('about ' || n % 10, 'about 3'), (array['Draft', 'Live', 'Gone'])[1 + n % 3],
		n % 20000, nullif(n % 10000, 5) * 0.5, nullif('2020-01-01Z'::timestamptz + n * interval '1 minute', '2020-01-01 00:07Z'),
		'2020-01-01'::date + n / 50, n % 5000 * interval '1 minute', n % 1000 = 0, array['tag ' || n % 100],
		'a' || n % 1000, nullif('a' || n * 7 % 1000, 'a7')
	from generate_series(0, 99999) as n;
	insert into app.comment (id, post_id, text, score, at)
	select 'c' || n, 'p' || n / 2, 'comment ' || n, n % 40000, '2020-01-01Z'::timestamptz + n * interval '1 minute'
	from generate_series(0, 199999) as n;
	analyze;
	reset session_replication_role;
`

// throughTable are the operators that scan a table if the rules let a caller see all of it:
// the text contains or ends with something, and fields without an index.
var throughTable = []string{
	`"title":{"endsWith":" 49999"}`, `"title":{"contains":"e 49999"}`, `"isPinned":{"equals":true}`,
	`"createdAt":{"before":"2020-01-01T00:10:00Z"}`,
}

// TestListPlans counts the rows that Postgres reads for lists over 100,000 rows, by a
// caller who may see 1,000 of them (listPosts and those that follow) or all
// (openPosts): no list may look through the table, but for the operators above.
func TestListPlans(t *testing.T) {
	t.Parallel()
	a := newApp(t, "posts", posts)
	conn := a.db.Superuser(t)
	if _, err := conn.Exec(t.Context(), postRows); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ action, where string }{
		{"listPosts", ``},
		{"listPosts", `"id":{"equals":"p7"}`},
		{"listPosts", `"id":{"oneOf":["p7","p107"]}`},
		{"listPosts", `"id":{"notEquals":"p7"}`},
		{"listPosts", `"title":{"equals":"Title 7"}`},
		{"listPosts", `"title":{"notEquals":"Title 7"}`},
		{"listPosts", `"title":{"startsWith":"title 7"}`},
		{"listPosts", `"title":{"startsWith":"title 4999"}`},
		{"listPosts", `"title":{"endsWith":" 49999"}`},
		{"listPosts", `"title":{"contains":"e 49999"}`},
		{"listPosts", `"title":{"oneOf":["Title 7","Title 9"]}`},
		{"listPosts", `"slug":{"equals":"slug-7"}`},
		{"listPosts", `"summary":{"equals":"about 4"}`},
		{"listPosts", `"summary":{"equals":null}`},
		{"listPosts", `"summary":{"notEquals":null}`},
		{"listPosts", `"state":{"equals":"Live"}`},
		{"listPosts", `"state":{"notEquals":"Live"}`},
		{"listPosts", `"state":{"oneOf":["Live","Gone"]}`},
		{"listPosts", `"views":{"equals":7}`},
		{"listPosts", `"views":{"lessThan":2}`},
		{"listPosts", `"views":{"lessThanOrEquals":2}`},
		{"listPosts", `"views":{"greaterThan":19998}`},
		{"listPosts", `"views":{"greaterThanOrEquals":19998}`},
		{"listPosts", `"views":{"oneOf":[7,107]}`},
		{"listPosts", `"price":{"equals":3.5}`},
		{"listPosts", `"price":{"equals":null}`},
		{"listPosts", `"price":{"lessThan":2}`},
		{"listPosts", `"price":{"greaterThanOrEquals":4999}`},
		{"listPosts", `"liveAt":{"before":"2020-01-01T00:10:00Z"}`},
		{"listPosts", `"liveAt":{"after":"2020-03-10T10:30:00Z"}`},
		{"listPosts", `"liveAt":{"equalsRelative":"today"}`},
		{"listPosts", `"liveAt":{"afterRelative":"today"}`},
		{"listPosts", `"day":{"equals":"2020-01-02"}`},
		{"listPosts", `"day":{"before":"2020-01-02"}`},
		{"listPosts", `"day":{"onOrAfter":"2025-06-20"}`},
		{"listPosts", `"day":{"equalsRelative":"last 3 complete days"}`},
		{"listPosts", `"took":{"equals":"PT7M"}`},
		{"listPosts", `"took":{"lessThan":"PT2M"}`},
		{"listPosts", `"isPinned":{"equals":true}`},
		{"listPosts", `"tags":{"any":{"equals":"tag 7"}}`},
		{"listPosts", `"tags":{"equals":["tag 8"]}`},
		{"listPosts", `"author":{"id":{"equals":"a7"}}`},
		{"listPosts", `"author":{"id":{"equals":"a8"}}`},
		{"listPosts", `"editor":{"id":{"equals":"a7"}}`},
		{"listPosts", `"editor":{"id":{"equals":null}}`},
		{"listPosts", `"author":{"name":{"equals":"author 7"}}`},
		{"listPosts", `"author":{"name":{"startsWith":"author 700"}}`},
		{"listPosts", `"author":{"city":{"equals":"city 8"}}`},
		{"listPosts", `"author":{"city":{"equals":null}}`},
		{"listPosts", `"author":{"age":{"lessThan":1}}`},
		{"listPosts", `"comments":{"text":{"equals":"comment 14"}}`},
		{"listPosts", `"comments":{"score":{"equals":14}}`},
		{"listPosts", `"comments":{"at":{"before":"2020-01-01T00:10:00Z"}}`},
		{"listPosts", `"createdAt":{"before":"2020-01-01T00:10:00Z"}`},
		{"listPosts", `"since":"2025-06-20"`},
		{"listPosts", `"said":"comment 14"`},
		{"ownPosts", ``},
		{"ownPosts", `"state":{"equals":"Live"}`},
		{"ownPosts", `"title":{"equals":"Title 7"}`},
		{"ownPosts", `"title":{"startsWith":"Title 7"}`},
		{"keptPosts", ``},
		{"keptPosts", `"views":{"equals":7}`},
		{"titledPosts", ``},
	} {
		actions := []string{c.action}
		if c.action == "listPosts" {
			actions = append(actions, "openPosts")
		}
		for _, name := range actions {
			action := a.action(t, name)
			in, err := a.readers[name].Read([]byte(`{"where":{` + c.where + `},"first":20}`))
			if err != nil {
				t.Fatal(err)
			}
			functions := []string{action.Function}
			if form, ok := calls.Form(action, in.OperatorSet(), in.PlainPage(), in.Page().HasCursor); ok {
				functions = append(functions, form)
			}
			for _, function := range functions {
				rows := rowsRead(t, conn, function, string(in.JSON))
				isThrough := name == "openPosts" && slices.Contains(throughTable, c.where)
				if rows > 6000 != isThrough {
					t.Errorf("api.%s {%s} reads %d rows; through the table: want %t", function, c.where, rows, isThrough)
				}
			}
		}
	}
}

// rowsRead calls a function and returns how many rows of the tables it read.
func rowsRead(t *testing.T, conn *pgx.Conn, function, body string) int {
	t.Helper()
	rows, _ := rowsReadBy(t, conn, function, body, "i7")
	return rows
}

// rowsReadBy is rowsRead for a caller. It returns the answer too.
func rowsReadBy(t *testing.T, conn *pgx.Conn, function, body, caller string) (rows int, answer string) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	// What pg_stat_xact_user_tables says, which would look at all tables each time.
	count := func() (rows int) {
		err := tx.QueryRow(t.Context(), `
			select coalesce(sum(case relkind
				when 'r' then pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)
				else pg_stat_get_xact_tuples_fetched(oid)
			end), 0)
			from pg_class
			where relnamespace = 'app'::regnamespace and relkind in ('r', 'i')`).Scan(&rows)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	before := count()
	answer, err = calls.JSON(t.Context(), conn, function, body, callContext(caller))
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == "SP403" {
		return 0, refused.Code
	} else if err != nil {
		t.Fatalf("api.%s %s: %v", function, body, err)
	}
	return count() - before, answer
}

// TestOpenListReadsRowsOnce tests that a list whose rules need no row reads the rows of a page
// from the front once, with every filter; a page elsewhere is picked before, and so is one by
// a Decimal that has an index.
func TestOpenListReadsRowsOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t, "open", `
model Note {
  fields {
    text Text
    rank Number
    price Decimal
    cost Decimal @index
    at Timestamp
  }
  actions {
    list listNotes(rank?, price?, cost?) {
      @orderBy(at: desc)
      @sortable(rank)
    }
    list briefNotes(rank?, price?, cost?) {
      @orderBy(at: desc)
      @sortable(rank)
      @select(rank, price, cost)
    }
  }
  @permission(expression: ctx.isAuthenticated, actions: [list])
}
`)
	conn := a.db.Superuser(t)
	if _, err := conn.Exec(t.Context(), `
		insert into app.identity (id) values ('i');
		insert into app.note (id, text, rank, price, cost, at)
		select 'n' || n, 'text', n, n, n, '2026-01-01Z'::timestamptz + n * interval '1 minute' from generate_series(0, 9999) as n;
		analyze`); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		body, first string
		most        int
	}{
		{`{"where":{"rank":{"notEquals":-1}},"first":20}`, "n9999", 23},
		{`{"where":{"rank":{"notEquals":-1,"lessThanOrEquals":10000}}}`, "n9999", 53},
		{`{"where":{"rank":{"lessThan":10000}},"limit":20}`, "n9999", 23},
		{`{"where":{"price":{"lessThan":10000}},"first":20}`, "n9999", 23},
		{`{"where":{"rank":{"notEquals":-1},"cost":{"lessThan":20}},"first":20}`, "n19", 60},
		{`{"where":{"rank":{"notEquals":-1}},"limit":20,"offset":10}`, "n9989", 80},
		{`{"where":{"rank":{"notEquals":-1}},"last":20}`, "n19", 60},
	} {
		for _, function := range []string{"list_notes", "brief_notes"} {
			rows, answer := rowsReadBy(t, conn, function, test.body, "i")
			if page := readPage(t, answer); rows > test.most || len(page.ids) < 20 || page.ids[0] != test.first {
				t.Errorf("%s %s reads %d rows for %v, want at most %d from %s on", function, test.body, rows, page.ids, test.most, test.first)
			}
		}
	}
}

// TestForeseenListTakesItsIndex tests that a foreseen filter takes the @index that begins with its field and goes on in
// the order of the list, no matter how many rows have the value, and that it does not sort rows of one day. A request
// for one of a single value does the same.
func TestForeseenListTakesItsIndex(t *testing.T) {
	t.Parallel()
	a := newApp(t, "indexed", `
model Task {
  fields {
    state State
    isDone Boolean
    day Date
  }
  actions {
    list listTasks(state?, isDone?) { @orderBy(day: desc) }
    list oldTasks(state) { @orderBy(day: asc) }
  }
  @index(state, day)
  @index(isDone, day)
  @permission(expression: true, actions: [list])
}
enum State { Open Live Some Rare }
`)
	conn := a.db.Superuser(t)
	if _, err := conn.Exec(t.Context(), `
		insert into app.task (id, state, is_done, day)
		select 't' || 100000 + n, case when n between 5000 and 5099 then 'Rare' when n % 10 = 1 then 'Some' when n % 2 = 0 then 'Open' else 'Live' end,
			n between 5000 and 5099, '2026-01-01'::date + n / 1000
		from generate_series(0, 9999) as n;
		analyze`); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ function, where, first string }{
		{"list_tasks(state.equals)", `"state":{"equals":"Open"}`, "t109998"},
		{"list_tasks(state.equals)", `"state":{"equals":"Rare"}`, "t105099"},
		{"list_tasks(isDone.equals)", `"isDone":{"equals":true}`, "t105099"},
		{"old_tasks(state.equals)", `"state":{"equals":"Rare"}`, "t105000"},
		{"old_tasks(state.equals)", `"state":{"equals":"Live"}`, "t100003"},
		{"list_tasks", `"state":{"oneOf":["Some"]}`, "t109991"},
		{"list_tasks", `"state":{"oneOf":["Some"]},"isDone":{"notEquals":true}`, "t109991"},
	} {
		rows, answer := rowsReadBy(t, conn, test.function, `{"where":{`+test.where+`},"first":20}`, "")
		if page := readPage(t, answer); rows != 21 || len(page.ids) != 20 || page.ids[0] != test.first {
			t.Errorf("%s {%s} reads %d rows for %v, want 21 from %s on", test.function, test.where, rows, page.ids, test.first)
		}
	}
}
