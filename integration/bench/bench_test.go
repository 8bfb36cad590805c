package bench

import (
	"context"
	"encoding/json"
	"flag"
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
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/sql/postgres"
)

const (
	usualClients = 16
	maxClients   = 64
	requests     = 2_000 // of each server in each round
	warmUp       = 200   // requests before
)

var quick = flag.Bool("quick", false, "one round instead of five")

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
	settings, err := config.Load(config.Source{Env: []string{
		"STERNPOST_MODE=development", "DATABASE_URL=" + url, "HOST=" + host, "PORT=" + port,
		"STERNPOST_ADMIN_PORT=0", "STERNPOST_AUTH_SIGNING_KEY=" + key,
	}})
	if err != nil {
		return err
	}
	s, err := server.New(settings, server.Options{Role: "sternpost_server", Identifier: tokens})
	if err != nil {
		return err
	}
	return s.Run(context.Background())
}

// comparison is one row of the table: requests to Sternpost, and what they are
// compared with.
type comparison struct {
	name    string
	goal    float64 // for the ratio; 0 means none
	clients int
	ours    func(n int64) call
	theirs  func(n int64) call // to the server written by hand, or to Sternpost if isOwn
	isOwn   bool
	answers string // what every answer holds
}

// comparisons lists what is measured.
func comparisons(d *data, tokens []string, deepCursor string) []comparison {
	same := func(name string, goal float64, answers string, request func(n int64) call) comparison {
		return comparison{name: name, goal: goal, clients: usualClients, ours: request, theirs: request, answers: answers}
	}
	list := func(name string, goal float64, action, filter string) comparison {
		body := fmt.Sprintf(`{%s"first":%d}`, filter, pageSize)
		return same(name, goal, `"hasNextPage":true`, func(int64) call { return call{action: action, body: body} })
	}
	firstNotes := func(int64) call { return call{action: "listNotes", body: fmt.Sprintf(`{"first":%d}`, pageSize)} }
	firstEntries := func(int64) call { return call{action: "listEntries", body: fmt.Sprintf(`{"first":%d}`, pageSize)} }
	deepEntries := func(int64) call {
		return call{action: "listEntries", body: fmt.Sprintf(`{"first":%d,"after":%q}`, pageSize, deepCursor)}
	}
	get := func(n int64) call {
		return call{action: "getPost", body: fmt.Sprintf(`{"id":%q}`, d.posts[n%posts])}
	}
	return []comparison{
		same("get", 1.2, `"id"`, get),
		{name: "get, 1 client", clients: 1, ours: get, theirs: get, answers: `"id"`},
		{name: "get, 64 clients", goal: 1.5, clients: maxClients, ours: get, theirs: get, answers: `"id"`},
		same("get, token, rule over a relation", 1.2, `"id"`, func(n int64) call {
			return call{"getOwnPost", tokens[n%authors], fmt.Sprintf(`{"id":%q}`, d.posts[n%posts])}
		}),
		same("create", 1.0, `"id"`, func(n int64) call {
			return call{action: "createPost", body: fmt.Sprintf(
				`{"title":"Knots and bends","body":"A *long* story about ropes, number %d.","status":%q,"author":{"id":%q},"publishedAt":"2026-03-31T21:40:10.000Z"}`,
				n, statusOf(n), d.authors[n%authors])}
		}),
		same("create with 20 children", 1.0, `"id"`, func(n int64) call {
			return call{action: "createDiscussion", body: fmt.Sprintf(
				`{"title":"Knots and bends","body":"A *long* story about ropes, number %d.","status":%q,"author":{"id":%q},"comments":[%s]}`,
				n, statusOf(n), d.authors[n%authors], strings.Repeat(`{"text":"How does one open it again?"},`, 10)+
					strings.TrimSuffix(strings.Repeat(`{"text":"With a marlinspike.","stars":5},`, 10), ","))}
		}),
		same("update", 1.0, `"Knots, edition`, func(n int64) call {
			return call{action: "updatePost", body: fmt.Sprintf(`{"where":{"id":%q},"values":{"title":"Knots, edition %d"}}`, d.posts[n%posts], n)}
		}),
		same("update, token, rule over a relation", 0.95, `"Knots, edition`, func(n int64) call {
			return call{"updateOwnPost", tokens[n%authors],
				fmt.Sprintf(`{"where":{"id":%q},"values":{"title":"Knots, edition %d"}}`, d.posts[n%posts], n)}
		}),
		list("list of 20, foreseen: by status", 1.8, "listPosts", `"where":{"status":{"equals":"Live"}},`),
		same("list of 20, foreseen: by author", 1.5, `"hasNextPage":true`, func(n int64) call {
			return call{action: "listPosts", body: fmt.Sprintf(`{"where":{"author":{"id":{"equals":%q}}},"first":%d}`, d.authors[n%authors], pageSize)}
		}),
		list("list of 20, another operator set", 1.0, "listPosts", `"where":{"status":{"oneOf":["Live"]},"score":{"lessThanOrEquals":4}},`),
		same("list of 20, token, rule over a relation", 0, `"hasNextPage":true`, func(n int64) call {
			return call{"listOwnPosts", tokens[n%authors], fmt.Sprintf(`{"first":%d}`, pageSize)}
		}),
		list("page 1 of 2M rows", 0, "listEntries", ""),
		{name: "page 5,000 of 2M rows, by cursor", clients: usualClients, answers: `"hasNextPage":true`, ours: deepEntries, theirs: func(int64) call {
			return call{action: "listEntries", body: fmt.Sprintf(`{"first":%d,"after":{"at":%q,"id":%q}}`, pageSize, d.deep.At, d.deep.ID)}
		}},
		{name: "page 1: 10k rows against 2M", goal: 0.9, clients: usualClients, isOwn: true, answers: `"hasNextPage":true`, ours: firstEntries, theirs: firstNotes},
		{name: "10k rows, page 1, against 2M, page 5,000", goal: 0.9, clients: usualClients, isOwn: true, answers: `"hasNextPage":true`, ours: deepEntries, theirs: firstNotes},
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
	hand := start(b, "hand", d.handURL, string(key))
	backends := postmaster(b)
	time.Sleep(time.Second)
	idle := memory(b, sternpost.pid)

	rounds := 5
	if *quick {
		rounds = 1
	}
	all := comparisons(d, tokens, cursorOf(b, sternpost))
	ours, theirs := make([][]cost, len(all)), make([][]cost, len(all))
	for range rounds {
		for _, i := range rand.Perm(len(all)) {
			c := all[i]
			measureOurs := func() {
				ours[i] = append(ours[i], sternpost.load(b, backends, c.clients, c.ours, c.answers))
			}
			measureTheirs := func() {
				other := hand
				if c.isOwn {
					other = sternpost
				}
				theirs[i] = append(theirs[i], other.load(b, backends, c.clients, c.theirs, c.answers))
			}
			if rand.IntN(2) == 0 {
				measureOurs, measureTheirs = measureTheirs, measureOurs
			}
			measureOurs()
			measureTheirs()
		}
	}

	fmt.Printf("\nPer request, the median of %d shuffled rounds of %d requests: thousands of instructions of server and Postgres, their CPU µs,\n"+
		"and how long half of the requests took at most, in µs. Ratio: by hand / Sternpost, so above 1 is cheaper than by hand.\n", rounds, requests)
	fmt.Printf("%-42s %25s %35s %25s\n", "", "instructions (k)", "CPU (µs)", "p50 (µs)")
	fmt.Printf("%-42s %8s %8s %7s  %8s %8s %7s %13s %8s %8s  %s\n", "", "ours", "by hand", "ratio", "ours", "by hand", "ratio", "", "ours", "by hand", "goal")
	for i, c := range all {
		ratios := make([]float64, rounds)
		for r := range rounds {
			ratios[r] = theirs[i][r].total() / ours[i][r].total()
		}
		goal := ""
		if c.goal > 0 {
			goal = fmt.Sprintf("≥ %.2f", c.goal)
		}
		fmt.Printf("%-42s %s  %s (%.2f … %.2f) %8.0f %8.0f  %s\n", c.name,
			compared(ours[i], theirs[i], func(c cost) float64 { return c.instructions }), compared(ours[i], theirs[i], cost.total),
			slices.Min(ratios), slices.Max(ratios), median(ours[i], cost.p50), median(theirs[i], cost.p50), goal)
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

// cost is what one request costs.
type cost struct {
	server, database float64 // microseconds of CPU
	instructions     float64 // thousands, of both
	halfWithin       float64 // microseconds that half of the requests took at most
}

func (c cost) total() float64 { return c.server + c.database }
func (c cost) p50() float64   { return c.halfWithin }

// compared writes a figure of both servers and the ratio, or dashes where there is none.
func compared(ours, theirs []cost, figure func(cost) float64) string {
	o, t := median(ours, figure), median(theirs, figure)
	if o == 0 {
		return fmt.Sprintf("%8s %8s %7s", "–", "–", "–")
	}
	return fmt.Sprintf("%8.1f %8.1f %7.2f", o, t, t/o)
}

// median takes the middle one of the values of the rounds.
func median(costs []cost, value func(cost) float64) float64 {
	values := make([]float64, len(costs))
	for i, c := range costs {
		values[i] = value(c)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
