package bench

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// comparison is one row of the table: requests to Sternpost, and those to compare
// with.
type comparison struct {
	name    string
	goal    float64 // for the ratio; 0 means none
	clients int
	ours    func(n int64) call
	theirs  func(n int64) call // to the other server
	other   peer
	answers string // what every answer holds
}

// peer is a server that Sternpost is compared with.
type peer int

const (
	hand     peer = iota // the better one of the two forms of the server written by hand
	handJSON             // Postgres makes the JSON
	handRows             // the server makes it, of rows
	itself               // Sternpost, with another request
	postGraphile
)

var peerNames = map[peer]string{handJSON: "JSON in SQL", handRows: "rows"}

// forms are the servers that are measured for a peer.
func (p peer) forms() []peer {
	if p == hand {
		return []peer{handJSON, handRows}
	}
	return []peer{p}
}

// comparisons lists the measured requests.
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
		{name: "page 1: 10k rows against 2M", goal: 0.9, clients: usualClients, other: itself, answers: `"hasNextPage":true`, ours: firstEntries, theirs: firstNotes},
		{name: "10k rows, page 1, against 2M, page 5,000", goal: 0.9, clients: usualClients, other: itself, answers: `"hasNextPage":true`, ours: deepEntries, theirs: firstNotes},
	}
}

// statusOf spreads the values of created rows like those of the rows before, so that
// the lists keep their plans.
func statusOf(n int64) string {
	if n%10 == 0 {
		return "Live"
	}
	return "Draft"
}

// measure takes the cost of each comparison in shuffled rounds and writes the table. By hand, the form that takes less CPU
// counts.
func (s *stage) measure(b testing.TB, title string, all []comparison, rounds int) {
	b.Helper()
	ours, theirs := make([][]cost, len(all)), make([]map[peer][]cost, len(all))
	for range rounds {
		for _, i := range rand.Perm(len(all)) {
			c := all[i]
			forms := c.other.forms()
			if theirs[i] == nil {
				theirs[i] = map[peer][]cost{}
			}
			for _, at := range rand.Perm(len(forms) + 1) {
				if at == len(forms) {
					ours[i] = append(ours[i], s.sternpost.load(b, s.backends, c.clients, c.ours, c.answers))
				} else {
					theirs[i][forms[at]] = append(theirs[i][forms[at]], s.peers[forms[at]].load(b, s.backends, c.clients, c.theirs, c.answers))
				}
			}
		}
	}

	s.printf("\n%s\n", title)
	s.printf("%-42s %25s %35s %20s %18s\n", "", "instructions (k)", "CPU (µs)", "of it Postgres", "p50 (µs)")
	s.printf("%-42s %8s %8s %7s  %8s %8s %7s %13s %8s %8s %8s %8s  %-6s  %s\n", "",
		"ours", "other", "ratio", "ours", "other", "ratio", "", "ours", "other", "ours", "other", "goal", "the other, and the ratio to its other form")
	for i, c := range all {
		goal := ""
		if c.goal > 0 {
			goal = fmt.Sprintf("≥ %.2f", c.goal)
		}
		forms := slices.SortedFunc(maps.Keys(theirs[i]), func(f, g peer) int {
			return cmp.Compare(median(theirs[i][f], cost.total), median(theirs[i][g], cost.total))
		})
		better, remark := theirs[i][forms[0]], ""
		if len(forms) == 2 {
			others := ratiosOf(ours[i], theirs[i][forms[1]], cost.total)
			remark = fmt.Sprintf("%s; %s %.2f", peerNames[forms[0]], peerNames[forms[1]], others[len(others)/2])
		}
		ratios := ratiosOf(ours[i], better, cost.total)
		s.printf("%-42s %s  %s (%.2f … %.2f) %8.1f %8.1f %8.0f %8.0f  %-6s  %s\n", c.name,
			compared(ours[i], better, func(c cost) float64 { return c.instructions }), compared(ours[i], better, cost.total),
			ratios[len(ratios)/4], ratios[len(ratios)-1-len(ratios)/4],
			median(ours[i], cost.inPostgres), median(better, cost.inPostgres),
			median(ours[i], cost.p50), median(better, cost.p50), goal, remark)
	}
}

// cost is the cost of one request.
type cost struct {
	server, database float64 // microseconds of CPU
	instructions     float64 // thousands, of both
	halfWithin       float64 // microseconds that half of the requests took at most
}

func (c cost) total() float64      { return c.server + c.database }
func (c cost) inPostgres() float64 { return c.database }
func (c cost) p50() float64        { return c.halfWithin }

// compared writes a figure of both servers and the ratio, or dashes where there is none. The ratio is the median of
// those of the rounds: the two servers of a round are measured one right after the other, and the machine may be slower
// in the next round.
func compared(ours, theirs []cost, figure func(cost) float64) string {
	o, t := median(ours, figure), median(theirs, figure)
	if o == 0 {
		return fmt.Sprintf("%8s %8s %7s", "–", "–", "–")
	}
	ratios := ratiosOf(ours, theirs, figure)
	return fmt.Sprintf("%8.1f %8.1f %7.2f", o, t, ratios[len(ratios)/2])
}

// ratiosOf returns the ratio of a figure in each round, sorted.
func ratiosOf(ours, theirs []cost, figure func(cost) float64) []float64 {
	ratios := make([]float64, len(ours))
	for r := range ours {
		ratios[r] = figure(theirs[r]) / figure(ours[r])
	}
	slices.Sort(ratios)
	return ratios
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
