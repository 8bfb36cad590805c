package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/sql/postgres"
)

const (
	clients  = 16
	rounds   = 5
	requests = 2_000 // of each server in each round
	warmUp   = 200   // requests before
)

// TestMain serves when it is started as a server, and otherwise runs benchmarks.
func TestMain(m *testing.M) {
	address, url := os.Getenv("BENCH_ADDRESS"), os.Getenv("BENCH_DATABASE")
	switch os.Getenv("BENCH_SERVE") {
	case "hand":
		tokens, err := newTokens([]byte(os.Getenv("BENCH_KEY")))
		if err == nil {
			err = serveByHand(url, address, int32(4*runtime.NumCPU()), tokens)
		}
		fail(err)
	case "sternpost":
		fail(serveSternpost(url, address))
	}
	os.Exit(m.Run())
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

// newTokens makes what issues and verifies the tokens of callers, the same for both
// servers.
func newTokens(key []byte) (*auth.Tokens, error) {
	return auth.NewTokens(auth.TokenOptions{SigningKey: key, BaseURL: "https://bench.example", Lifetime: time.Hour, CacheSize: 10_000})
}

func serveSternpost(url, address string) error {
	key := os.Getenv("BENCH_KEY")
	tokens, err := newTokens([]byte(key))
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	config, err := server.LoadConfig(server.Source{Env: []string{
		"STERNPOST_MODE=development", "DATABASE_URL=" + url, "HOST=" + host, "PORT=" + port,
		"STERNPOST_ADMIN_PORT=0", "STERNPOST_AUTH_SIGNING_KEY=" + key,
	}})
	if err != nil {
		return err
	}
	s, err := server.New(config, server.Options{Role: "sternpost_server", Identifier: tokens})
	if err != nil {
		return err
	}
	return s.Run(context.Background())
}

// comparison is one row of the table: requests to Sternpost, and what they are
// compared with.
type comparison struct {
	name    string
	goal    string // for the ratio
	ours    func(n int64) call
	theirs  func(n int64) call // to the server written by hand, or to Sternpost if isOwn
	isOwn   bool
	answers string // what every answer holds
}

// comparisons lists what is measured.
func comparisons(d *data, tokens []string, deepCursor string) []comparison {
	same := func(name, goal, answers string, request func(n int64) call) comparison {
		return comparison{name: name, goal: goal, ours: request, theirs: request, answers: answers}
	}
	list := func(name, goal, action, filter string) comparison {
		body := fmt.Sprintf(`{%s"first":%d}`, filter, pageSize)
		return same(name, goal, `"hasNextPage":true`, func(int64) call { return call{action: action, body: body} })
	}
	firstNotes := func(int64) call { return call{action: "listNotes", body: fmt.Sprintf(`{"first":%d}`, pageSize)} }
	firstEntries := func(int64) call { return call{action: "listEntries", body: fmt.Sprintf(`{"first":%d}`, pageSize)} }
	deepEntries := func(int64) call {
		return call{action: "listEntries", body: fmt.Sprintf(`{"first":%d,"after":%q}`, pageSize, deepCursor)}
	}
	return []comparison{
		same("get", "≥ 0.95", `"id"`, func(n int64) call {
			return call{action: "getPost", body: fmt.Sprintf(`{"id":%q}`, d.posts[n%posts])}
		}),
		same("get, token, rule over a relation", "≥ 1.0", `"id"`, func(n int64) call {
			return call{"getOwnPost", tokens[n%authors], fmt.Sprintf(`{"id":%q}`, d.posts[n%posts])}
		}),
		same("create", "≥ 0.95", `"id"`, func(n int64) call {
			return call{action: "createPost", body: fmt.Sprintf(
				`{"title":"Knots and bends","body":"A *long* story about ropes, number %d.","status":%q,"author":{"id":%q},"publishedAt":"2026-03-31T21:40:10.000Z"}`,
				n, statusOf(n), d.authors[n%authors])}
		}),
		same("create with 20 children", "≥ 0.95", `"id"`, func(n int64) call {
			return call{action: "createDiscussion", body: fmt.Sprintf(
				`{"title":"Knots and bends","body":"A *long* story about ropes, number %d.","status":%q,"author":{"id":%q},"comments":[%s]}`,
				n, statusOf(n), d.authors[n%authors], strings.Repeat(`{"text":"How does one open it again?"},`, 10)+
					strings.TrimSuffix(strings.Repeat(`{"text":"With a marlinspike.","stars":5},`, 10), ","))}
		}),
		same("update", "≥ 0.95", `"Knots, edition`, func(n int64) call {
			return call{action: "updatePost", body: fmt.Sprintf(`{"where":{"id":%q},"values":{"title":"Knots, edition %d"}}`, d.posts[n%posts], n)}
		}),
		same("update, token, rule over a relation", "≥ 0.95", `"Knots, edition`, func(n int64) call {
			return call{"updateOwnPost", tokens[n%authors],
				fmt.Sprintf(`{"where":{"id":%q},"values":{"title":"Knots, edition %d"}}`, d.posts[n%posts], n)}
		}),
		list("list of 20, foreseen: by status", "≥ 1.2", "listPosts", `"where":{"status":{"equals":"Live"}},`),
		same("list of 20, foreseen: by author", "≥ 1.0", `"hasNextPage":true`, func(n int64) call {
			return call{action: "listPosts", body: fmt.Sprintf(`{"where":{"author":{"id":{"equals":%q}}},"first":%d}`, d.authors[n%authors], pageSize)}
		}),
		list("list of 20, another operator set", "≥ 0.75", "listPosts", `"where":{"status":{"oneOf":["Live"]},"score":{"lessThanOrEquals":4}},`),
		same("list of 20, token, rule over a relation", "", `"hasNextPage":true`, func(n int64) call {
			return call{"listOwnPosts", tokens[n%authors], fmt.Sprintf(`{"first":%d}`, pageSize)}
		}),
		list("page 1 of 2M rows", "", "listEntries", ""),
		{name: "page 5,000 of 2M rows, by cursor", answers: `"hasNextPage":true`, ours: deepEntries, theirs: func(int64) call {
			return call{action: "listEntries", body: fmt.Sprintf(`{"first":%d,"after":{"at":%q,"id":%q}}`, pageSize, d.deep.At, d.deep.ID)}
		}},
		{name: "page 1: 10k rows against 2M", goal: "≥ 0.77", isOwn: true, answers: `"hasNextPage":true`, ours: firstEntries, theirs: firstNotes},
		{name: "10k rows, page 1, against 2M, page 5,000", goal: "≥ 0.77", isOwn: true, answers: `"hasNextPage":true`, ours: deepEntries, theirs: firstNotes},
	}
}

// statusOf spreads what is created over the values as the rows that were there, so
// that the lists keep their plans.
func statusOf(n int64) string {
	if n%10 == 0 {
		return "Live"
	}
	return "Draft"
}

// BenchmarkAgainstHand compares the servers, action by action.
func BenchmarkAgainstHand(b *testing.B) {
	ctx := context.Background()
	database, err := postgres.Start(ctx, postgres.Options{Temporary: true})
	if err != nil {
		b.Fatal(err)
	}
	defer database.Stop()
	d := prepare(b, database.URL())
	key, err := auth.GenerateKey()
	if err != nil {
		b.Fatal(err)
	}
	issuer, err := newTokens(key)
	if err != nil {
		b.Fatal(err)
	}
	tokens := make([]string, authors)
	for i, id := range d.identities {
		if tokens[i], _, err = issuer.Issue(id); err != nil {
			b.Fatal(err)
		}
	}

	sternpost := start(b, "sternpost", database.URL(), string(key))
	hand := start(b, "hand", database.URL(), string(key))
	backends := postmaster(b)
	time.Sleep(time.Second)
	idle := memory(b, sternpost.pid)

	all := comparisons(d, tokens, cursorOf(b, sternpost))
	ours, theirs := make([][]cost, len(all)), make([][]cost, len(all))
	for range rounds {
		for _, i := range rand.Perm(len(all)) {
			c := all[i]
			measureOurs := func() {
				ours[i] = append(ours[i], sternpost.load(b, backends, c.ours, c.answers))
			}
			measureTheirs := func() {
				other := hand
				if c.isOwn {
					other = sternpost
				}
				theirs[i] = append(theirs[i], other.load(b, backends, c.theirs, c.answers))
			}
			if rand.IntN(2) == 0 {
				measureOurs, measureTheirs = measureTheirs, measureOurs
			}
			measureOurs()
			measureTheirs()
		}
	}

	fmt.Printf("\nCPU µs per request, server + Postgres: the median of %d shuffled rounds of %d requests from %d clients.\n"+
		"Ratio: by hand / Sternpost, so above 1 is cheaper than by hand; behind it the lowest and highest of the rounds.\n", rounds, requests, clients)
	fmt.Printf("%-42s %16s %16s %7s %13s  %s\n", "", "Sternpost", "by hand", "ratio", "", "goal")
	for i, c := range all {
		ratios := make([]float64, rounds)
		for r := range rounds {
			ratios[r] = theirs[i][r].total() / ours[i][r].total()
		}
		o, t := median(ours[i]), median(theirs[i])
		fmt.Printf("%-42s %7.1f + %6.1f %7.1f + %6.1f %7.2f  (%.2f … %.2f)  %s\n", c.name,
			o.server, o.database, t.server, t.database, t.total()/o.total(), slices.Min(ratios), slices.Max(ratios), c.goal)
	}
	fmt.Printf("\n%-42s %9.3f s     goal ≤ 0.05\n", "start to first answer", sternpost.firstAfter.Seconds())
	fmt.Printf("%-42s %9.1f MiB   goal ≤ 25, by hand %.1f after the load\n", "resident memory of the server, idle", idle, memory(b, hand.pid))
	fmt.Printf("%-42s %9.1f MiB   goal ≤ 40\n", "resident memory of the server, after load", memory(b, sternpost.pid))
}

// cursorOf asks for the end of the page before the deep one.
func cursorOf(b *testing.B, p *process) string {
	b.Helper()
	body := fmt.Sprintf(`{"limit":1,"offset":%d}`, pageSize*(deepPage-1)-1)
	status, answer, err := p.post("listEntries", "", body)
	var page struct {
		PageInfo struct{ EndCursor string }
	}
	if err == nil {
		err = json.Unmarshal(answer, &page)
	}
	if err != nil || status != 200 || page.PageInfo.EndCursor == "" {
		b.Fatalf("listEntries %s: got status %d, %s, %v", body, status, answer, err)
	}
	return page.PageInfo.EndCursor
}

// cost is what one request costs, in microseconds of CPU.
type cost struct {
	server, database float64
}

func (c cost) total() float64 { return c.server + c.database }

// median takes the round that is in the middle by its total.
func median(costs []cost) cost {
	sorted := slices.Clone(costs)
	slices.SortFunc(sorted, func(a, b cost) int { return int(1000 * (a.total() - b.total())) })
	return sorted[len(sorted)/2]
}
