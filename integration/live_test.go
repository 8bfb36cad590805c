package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

const followedOrders = `
model Order {
  fields { number Text  state OrderState @default(OrderState.Received)  customer Customer  items Item[] }
  actions {
    create createOrder() with (number, customer.id) { @permission(expression: true) }
    update moveOrder(id) with (state, customer.id?) { @permission(expression: true) }
    delete removeOrder(id) { @permission(expression: true) }
    get getOrder(id) { @embed(items) @live }
    get silentOrder(id)
    list listOrders(state?, customer.id?) { @orderBy(number: asc) @live }
    list allOrders(number?) { @orderBy(number: asc) @facet(state) @permission(expression: true) @live }
    list teamOrders() { @orderBy(number: asc) @permission(expression: order.customer.team.members.identity == ctx.identity) @live }
    read countOrders() returns (Any) { @live(of: [Order]) @permission(expression: true) }
  }
  @permission(expression: order.customer.identity == ctx.identity, actions: [get, list])
  @permission(roles: [Workshop], actions: [get, list])
}
model Item { fields { order Order @onDelete(cascade)  what Text } }
model Customer { fields { name Text  identity Identity? @unique  team Team?  orders Order[] } }
model Team { fields { name Text  customers Customer[]  members Member[] } }
model Member { fields { team Team  identity Identity @unique } }
enum OrderState { Received Mended }
role Workshop { domains { "workshop.example" } }
`

var followedProject = map[string]string{
	"schema.stern": followedOrders,
	"functions/countOrders.sql": `create function functions.count_orders() returns jsonb language sql stable security invoker as $$
  select jsonb_build_object('orders', count(*)) from app."order" $$;`,
}

// liveEvent is an event of a stream.
type liveEvent struct {
	Name string
	Data struct {
		Query      int
		Version    string
		Result     json.RawMessage
		Record     json.RawMessage
		IDs        []string
		Changed    []json.RawMessage
		PageInfo   json.RawMessage
		ResultInfo json.RawMessage
		Code       string
	}
}

// liveStream is a stream, and what its client knows.
type liveStream struct {
	events chan liveEvent
	close  func()

	mutex    sync.Mutex
	answers  map[int]any // by query; a string is the code of a refusal
	versions map[int]string
	ended    string
	comments int
	seen     []liveEvent
}

// follow opens a stream.
func (a *app) follow(t testing.TB, header http.Header, body string) *liveStream {
	t.Helper()
	s, response := a.tryFollow(t, header, body)
	if s == nil {
		t.Fatalf("a stream: got %d", response.StatusCode)
	}
	return s
}

func (a *app) tryFollow(t testing.TB, header http.Header, body string) (*liveStream, *http.Response) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, "POST", a.url+"/api/json/live", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != 200 {
		cancel()
		return nil, response
	}
	s := &liveStream{events: make(chan liveEvent, 1000), close: cancel, answers: map[int]any{}, versions: map[int]string{}}
	t.Cleanup(cancel)
	go s.read(response)
	return s, response
}

// read reads the events of a stream as the HTML standard has it, and keeps the answers up to date.
func (s *liveStream) read(response *http.Response) {
	defer close(s.events)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	var e liveEvent
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			e.Name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e.Data); err != nil {
				panic(fmt.Sprintf("%s: %v", value, err))
			}
		case "":
			if lines.Text() == ":" {
				s.mutex.Lock()
				s.comments++
				s.mutex.Unlock()
			} else if e.Name != "" {
				s.take(e)
				s.events <- e
				e = liveEvent{}
			}
		}
	}
}

func (s *liveStream) take(e liveEvent) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.seen = append(s.seen, e)
	query := e.Data.Query
	decode := func(text json.RawMessage) (value any) {
		if err := json.Unmarshal(text, &value); err != nil {
			panic(err)
		}
		return value
	}
	switch e.Name {
	case "result":
		s.answers[query], s.versions[query] = decode(e.Data.Result), e.Data.Version
	case "change":
		s.versions[query] = e.Data.Version
		if e.Data.IDs == nil {
			s.answers[query] = decode(e.Data.Record)
			return
		}
		page := s.answers[query].(map[string]any)
		known := map[string]any{}
		for _, record := range page["results"].([]any) {
			known[record.(map[string]any)["id"].(string)] = record
		}
		for _, text := range e.Data.Changed {
			record := decode(text).(map[string]any)
			known[record["id"].(string)] = record
		}
		results := []any{}
		for _, id := range e.Data.IDs {
			results = append(results, known[id])
		}
		next := map[string]any{"results": results, "pageInfo": page["pageInfo"]}
		if info, ok := page["resultInfo"]; ok {
			next["resultInfo"] = info
		}
		if e.Data.PageInfo != nil {
			next["pageInfo"] = decode(e.Data.PageInfo)
		}
		if e.Data.ResultInfo != nil {
			next["resultInfo"] = decode(e.Data.ResultInfo)
		}
		s.answers[query] = next
	case "error":
		s.answers[query], s.versions[query] = e.Data.Code, ""
	case "end":
		s.ended = e.Data.Code
	}
}

// next returns the next event, or one of another name if none comes.
func (s *liveStream) next(t testing.TB) liveEvent {
	t.Helper()
	select {
	case e := <-s.events:
		return e
	case <-time.After(20 * time.Second):
		t.Fatal("no event comes")
		return liveEvent{}
	}
}

// expect waits for an event of a name.
func (s *liveStream) expect(t testing.TB, name string) liveEvent {
	t.Helper()
	e := s.next(t)
	if e.Name != name {
		t.Fatalf("got the event %s %+v, want %s", e.Name, e.Data, name)
	}
	return e
}

// silent makes sure that nothing comes for a while.
func (s *liveStream) silent(t testing.TB, while time.Duration) {
	t.Helper()
	select {
	case e := <-s.events:
		t.Errorf("got the event %s %+v, want none", e.Name, e.Data)
	case <-time.After(while):
	}
}

// equals waits until a query has the answer that the call has now.
func (s *liveStream) equals(t testing.TB, a *app, header http.Header, query int, action, input string) {
	t.Helper()
	var got, want any
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		_, text, err := a.try(context.Background(), "POST", "/api/json/"+action, header.Clone(), input)
		if err != nil {
			t.Fatal(err)
		}
		want = nil
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if refused, ok := want.(map[string]any); ok && refused["code"] != nil {
			want = refused["code"]
		}
		s.mutex.Lock()
		got = s.answers[query]
		s.mutex.Unlock()
		if reflect.DeepEqual(got, want) {
			return
		}
	}
	t.Errorf("%s %s: the stream has %v, the call answers %v", action, input, got, want)
}

func liveQuery(action, input string) string {
	return fmt.Sprintf(`{"queries":[{"action":%q,"input":%s}]}`, action, input)
}

// TestLive follows answers: what is sent first, when something changes, when a call is refused, and in the end.
func TestLive(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, followedProject)
	db := installApp(t, dir)
	a := serve(t, db, dir, db.ServerURL())
	conn := db.Superuser(t)
	exec := func(statement string, arguments ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), statement, arguments...); err != nil {
			t.Fatal(err)
		}
	}
	ada, bob := a.as(t, "ada"), a.as(t, "bob")
	exec(`insert into app.team (id, name) values ('red', 'Red'), ('blue', 'Blue')`)
	exec(`insert into app.customer (id, name, identity_id, team_id) values ('cada', 'Ada', 'ada', 'red'), ('cbob', 'Bob', 'bob', 'blue')`)
	exec(`insert into app.member (id, team_id, identity_id) values ('mbob', 'red', 'bob')`)
	exec(`insert into app."order" (id, number, customer_id) values ('o1', '1', 'cada'), ('o2', '2', 'cbob')`)

	own := a.follow(t, ada, liveQuery("listOrders", `{}`))
	team := a.follow(t, bob, liveQuery("teamOrders", `{}`))
	all := a.follow(t, nil, liveQuery("allOrders", `{}`))
	one := a.follow(t, ada, `{"queries":[{"action":"getOrder","input":{"id":"o1"}},{"action":"countOrders"}]}`)
	for _, s := range []*liveStream{own, team, all, one, one} {
		s.expect(t, "result")
	}
	own.equals(t, a, ada, 0, "listOrders", `{}`)
	team.equals(t, a, bob, 0, "teamOrders", `{}`)
	all.equals(t, a, nil, 0, "allOrders", `{}`)
	one.equals(t, a, ada, 0, "getOrder", `{"id":"o1"}`)

	// An action, a statement by hand, a cascade, and a row that leaves.
	a.send(t, "POST", "/api/json/createOrder", nil, `{"number":"3","customer":{"id":"cada"}}`)
	if e := own.expect(t, "change"); len(e.Data.IDs) != 2 || len(e.Data.Changed) != 1 {
		t.Errorf("a change is %+v", e.Data)
	}
	exec(`update app."order" set state = 'Mended' where id = 'o1'`)
	exec(`insert into app.item (id, order_id, what) values ('i1', 'o1', 'saddle')`)
	own.equals(t, a, ada, 0, "listOrders", `{}`)
	team.equals(t, a, bob, 0, "teamOrders", `{}`)
	all.equals(t, a, nil, 0, "allOrders", `{}`)
	one.equals(t, a, ada, 0, "getOrder", `{"id":"o1"}`)
	one.equals(t, a, ada, 1, "countOrders", `{}`)

	// Another customer's order is nobody else's business.
	for len(own.events) > 0 {
		<-own.events
	}
	exec(`update app."order" set state = 'Mended' where id = 'o2'`)
	own.silent(t, 300*time.Millisecond)

	// Whoever loses the row loses its answer, and gets it back.
	exec(`update app."order" set customer_id = 'cbob' where id = 'o1'`)
	one.equals(t, a, ada, 0, "getOrder", `{"id":"o1"}`)
	one.mutex.Lock()
	if one.answers[0] != "ERR_PERMISSION_DENIED" {
		t.Errorf("the order of somebody else is %v", one.answers[0])
	}
	one.mutex.Unlock()
	exec(`update app."order" set customer_id = 'cada' where id = 'o1'`)
	one.equals(t, a, ada, 0, "getOrder", `{"id":"o1"}`)
	exec(`delete from app.customer where id = 'cada'`)
	one.equals(t, a, ada, 0, "getOrder", `{"id":"o1"}`)
	own.equals(t, a, ada, 0, "listOrders", `{}`)

	// Roles and memberships.
	exec(`update app.identity set email = 'ada@workshop.example', email_verified = true, issuer = 'a' where id = 'ada'`)
	own.equals(t, a, ada, 0, "listOrders", `{}`)
	exec(`delete from app.member`)
	team.equals(t, a, bob, 0, "teamOrders", `{}`)
	exec(`insert into app.member (id, team_id, identity_id) values ('mbob', 'blue', 'bob')`)
	team.equals(t, a, bob, 0, "teamOrders", `{}`)
	exec(`truncate app."order" cascade`)
	own.equals(t, a, ada, 0, "listOrders", `{}`)
	team.equals(t, a, bob, 0, "teamOrders", `{}`)
	all.equals(t, a, nil, 0, "allOrders", `{}`)

	// A client that comes again with its version is sent nothing else.
	all.mutex.Lock()
	version := all.versions[0]
	all.mutex.Unlock()
	again := a.follow(t, nil, fmt.Sprintf(`{"queries":[{"action":"allOrders","version":%q}]}`, version))
	again.expect(t, "same")
	a.send(t, "POST", "/api/json/createOrder", nil, `{"number":"9","customer":{"id":"cbob"}}`)
	again.expect(t, "result") // as long as the change
	again.close()
	other := a.follow(t, nil, fmt.Sprintf(`{"queries":[{"action":"allOrders","version":%q}]}`, version))
	other.expect(t, "result")

	// Another release ends the streams.
	changed := strings.Replace(followedOrders, "model Item", "model Extra { fields { text Text } }\nmodel Item", 1)
	reinstall(t, db, writeProject(t, map[string]string{"schema.stern": changed, "functions/countOrders.sql": followedProject["functions/countOrders.sql"]}))
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		own.mutex.Lock()
		ended := own.ended
		own.mutex.Unlock()
		if ended == "ERR_UNAVAILABLE" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the stream goes on after the release")
		}
	}
}

// TestLiveRefusals opens streams that are refused.
func TestLiveRefusals(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, followedProject))
	ada := a.as(t, "ada")
	for _, test := range []struct{ body, want string }{
		{`{"queries":[{"action":"silentOrder","input":{"id":"o"}}]}`, `400 {"code":"ERR_NOT_LIVE","message":"the action silentOrder is not live","data":{"query":0}}`},
		{`{"queries":[{"action":"allOrders"},{"action":"allOrders","input":{"totalCount":true}}]}`, `400 {"code":"ERR_NOT_LIVE","message":"the answer is followed from the front of a list, without totalCount","data":{"query":1}}`},
		{`{"queries":[{"action":"allOrders","input":{"last":3}}]}`, `400 {"code":"ERR_NOT_LIVE"`},
		{`{"queries":[{"action":"nothing"}]}`, `404 {"code":"ERR_ACTION_NOT_FOUND","message":"action not found","data":{"query":0}}`},
		{`{"queries":[{"action":"getOrder","input":{}}]}`, `400 {"code":"ERR_INVALID_INPUT","message":"one or more errors found validating request object","data":{"query":0,"errors":[{"field":"id"`},
		{`{"queries":[]}`, `400 {"code":"ERR_INVALID_INPUT"`},
		{`{"queries":[` + strings.TrimSuffix(strings.Repeat(`{"action":"allOrders"},`, 101), ",") + `]}`, `400 {"code":"ERR_INVALID_INPUT"`},
		{`{"queries":1}`, `400 {"code":"ERR_INVALID_INPUT"`},
		{`{"queries":[{"action":"allOrders"}`, `400 {"code":"ERR_INPUT_MALFORMED"`},
		{strings.Repeat(" ", 65<<10) + liveQuery("allOrders", "{}"), `413 {"code":"ERR_REQUEST_TOO_LARGE"`},
	} {
		response, text := a.send(t, "POST", "/api/json/live", ada.Clone(), test.body)
		if got := fmt.Sprint(response.StatusCode, " ", text); !strings.HasPrefix(got, test.want) {
			t.Errorf("%.100s: got %s, want %s", test.body, got, test.want)
		}
	}
	if response, text := a.send(t, "GET", "/api/json/live", nil, ""); response.StatusCode != 405 {
		t.Errorf("GET: got %d %s", response.StatusCode, text)
	}
	if response, _ := a.send(t, "POST", "/api/json/live", http.Header{"Authorization": {"Bearer x"}}, liveQuery("allOrders", "{}")); response.StatusCode != 401 {
		t.Errorf("a bad token: got %d", response.StatusCode)
	}
}

// TestLiveSignOut ends streams with the sign-in of their token.
func TestLiveSignOut(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, followedProject))
	ada, bob := a.as(t, "ada"), a.as(t, "bob")
	s, other := a.follow(t, ada, liveQuery("listOrders", `{}`)), a.follow(t, bob, liveQuery("listOrders", `{}`))
	s.expect(t, "result")
	other.expect(t, "result")
	began := time.Now()
	if _, err := a.db.Superuser(t).Exec(t.Context(), `select platform.auth_sign_out('ada')`); err != nil {
		t.Fatal(err)
	}
	if e := s.expect(t, "end"); e.Data.Code != "ERR_AUTHENTICATION_FAILED" || time.Since(began) > 5*time.Second {
		t.Errorf("got %s after %s", e.Data.Code, time.Since(began))
	}
	if _, isOpen := <-s.events; isOpen {
		t.Error("something follows the end")
	}
	other.silent(t, 100*time.Millisecond)
	late := a.follow(t, ada, liveQuery("allOrders", `{}`))
	for e := late.next(t); e.Name != "end"; e = late.next(t) {
	}
}
