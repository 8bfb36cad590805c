package bench

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"regexp"
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
	usualPool    = 8     // connections of a server to Postgres
	requests     = 2_000 // of each server in each round
)

var (
	quick   = flag.Bool("quick", false, "one round, and no growth")
	rounds  = flag.Int("rounds", 15, "how often each request is measured")
	cells   = flag.String("cells", "", "measure only the requests whose names match, and nothing else")
	results = flag.String("results", "", "a file that the figures are written to")
)

// TestMain serves when it is started as a server, and otherwise runs benchmarks.
func TestMain(m *testing.M) {
	host, port, url, pool := os.Getenv("HOST"), os.Getenv("PORT"), os.Getenv("BENCH_DATABASE"), os.Getenv("BENCH_POOL")
	switch os.Getenv("BENCH_SERVE") {
	case "json", "rows":
		tokens, err := newTokens([]byte(os.Getenv("BENCH_KEY")))
		if err == nil {
			err = serveByHand(handForms[os.Getenv("BENCH_SERVE")], url, net.JoinHostPort(host, port), pool, tokens)
		}
		fail(err)
	case "sternpost":
		fail(serveSternpost(url, host, port, pool))
	}
	os.Exit(m.Run())
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

// newTokens makes the issuer and verifier of the callers' tokens, the same for both
// servers.
func newTokens(key []byte) (*auth.Tokens, error) {
	return auth.NewTokens(auth.TokenOptions{SigningKey: key, BaseURL: "https://bench.example", Lifetime: time.Hour, CacheSize: 10_000})
}

func serveSternpost(url, host, port, pool string) error {
	key := os.Getenv("BENCH_KEY")
	tokens, err := newTokens([]byte(key))
	if err != nil {
		return err
	}
	settings, err := config.Load(config.Source{Env: []string{
		"STERNPOST_MODE=development", "DATABASE_URL=" + url, "HOST=" + host, "PORT=" + port,
		"STERNPOST_ADMIN_PORT=0", "STERNPOST_DATABASE_POOL_SIZE=" + pool, "STERNPOST_AUTH_SIGNING_KEY=" + key,
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

// stage is the environment of the benchmark.
type stage struct {
	database  *postgres.Server
	backends  int // process id of the postmaster
	data      *data
	key       string
	tokens    []string // of the authors
	sternpost *process
	peers     map[peer]*process
	report    strings.Builder
}

// printf prints a line of the report, and keeps it for the file.
func (s *stage) printf(format string, arguments ...any) {
	line := fmt.Sprintf(format, arguments...)
	fmt.Print(line)
	s.report.WriteString(line)
}

// newStage starts the servers over a database with so many entries.
func newStage(b testing.TB, entries int) *stage {
	b.Helper()
	database, err := postgres.Start(context.Background(), postgres.Options{Temporary: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { database.Stop() })
	s := &stage{database: database, backends: postmaster(b), data: prepare(b, database.URL(), entries), peers: map[peer]*process{}}
	key, err := auth.GenerateKey()
	if err != nil {
		b.Fatal(err)
	}
	s.key = string(key)
	issuer, err := newTokens(key)
	if err != nil {
		b.Fatal(err)
	}
	for _, id := range s.data.identities {
		token, _, err := issuer.Issue(id)
		if err != nil {
			b.Fatal(err)
		}
		s.tokens = append(s.tokens, token)
	}
	s.sternpost = s.start(b, database.URL(), usualPool)
	s.peers[itself] = s.sternpost
	s.peers[handJSON] = startSelf(b, "json", s.data.handURL, s.key, usualPool, firstCall)
	s.peers[handRows] = startSelf(b, "rows", s.data.handURL, s.key, usualPool, firstCall)
	return s
}

// start starts Sternpost on a database, with a pool of so many connections.
func (s *stage) start(b testing.TB, databaseURL string, pool int) *process {
	b.Helper()
	return startSelf(b, "sternpost", databaseURL, s.key, pool, firstCall)
}

// BenchmarkSternpost writes all measurements.
func BenchmarkSternpost(b *testing.B) {
	named, err := regexp.Compile(*cells)
	if err != nil {
		b.Fatal(err)
	}
	s := newStage(b, entries)
	s.expectEqualAnswers(b)
	time.Sleep(time.Second)
	idle := memory(b, s.sternpost.pid)
	if *quick {
		*rounds = 1
	}

	all := slices.DeleteFunc(comparisons(s.data, s.tokens, cursorOf(b, s.sternpost)), func(c comparison) bool { return !named.MatchString(c.name) })
	s.measure(b, fmt.Sprintf("Per request, the median of %d shuffled rounds of %d requests: thousands of instructions of server and Postgres, their CPU µs,\n"+
		"and how long half of the requests took at most, in µs. Ratio: by hand / Sternpost, so above 1 is cheaper than by hand; in\n"+
		"brackets that of the middle half of the rounds.", *rounds, requests),
		all, *rounds)
	if *cells != "" {
		return
	}
	s.printf("\n%-42s %9.3f s     goal ≤ 0.05\n", "start to first answer", s.sternpost.firstAfter.Seconds())
	loaded := memory(b, s.sternpost.pid)
	s.printf("%-42s %9.1f MiB   goal ≤ 25, %.1f without the program; by hand %.1f after the load\n", "resident memory of the server, idle",
		idle.all, idle.own, memory(b, s.peers[handRows].pid).all)
	s.printf("%-42s %9.1f MiB   goal ≤ 40, %.1f without the program\n", "resident memory of the server, after load", loaded.all, loaded.own)

	s.measureLimit(b)
	s.measurePeer(b, min(*rounds, 5)) // PostGraphile takes five times as long
	if !*quick {
		s.measurePools(b)
		s.measureGrowth(b)
	}
	if *results != "" {
		s.write(b, *results)
	}
}

// cursorOf asks for the end of the page before the deep one.
func cursorOf(b testing.TB, p *process) string {
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
