package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

const (
	authors  = 1_000
	posts    = 50_000
	clients  = 16
	rounds   = 5
	requests = 8_000 // of each server in each round
)

// TestMain serves when it is started as a server, and otherwise runs benchmarks.
func TestMain(m *testing.M) {
	address, url := os.Getenv("BENCH_ADDRESS"), os.Getenv("BENCH_DATABASE")
	pool := int32(4 * runtime.NumCPU())
	switch os.Getenv("BENCH_SERVE") {
	case "hand":
		fail(serveByHand(url, address, pool))
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

func serveSternpost(url, address string) error {
	key, err := auth.GenerateKey()
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	config, err := server.LoadConfig(server.Source{Env: []string{
		"STERNPOST_MODE=development", "DATABASE_URL=" + url, "HOST=" + host, "PORT=" + port,
		"STERNPOST_ADMIN_PORT=0", "STERNPOST_AUTH_SIGNING_KEY=" + string(key),
	}})
	if err != nil {
		return err
	}
	s, err := server.New(config, server.Options{Role: "sternpost_server"})
	if err != nil {
		return err
	}
	return s.Run(context.Background())
}

// BenchmarkAgainstHand compares the servers, action by action.
func BenchmarkAgainstHand(b *testing.B) {
	ctx := context.Background()
	database, err := postgres.Start(ctx, postgres.Options{Temporary: true})
	if err != nil {
		b.Fatal(err)
	}
	defer database.Stop()
	ids := prepare(b, database.URL())

	sternpost := start(b, "sternpost", database.URL())
	hand := start(b, "hand", database.URL())
	backends := postmaster(b)

	actions := []struct {
		name string
		body func(n int64) string
	}{
		{"getPost", func(n int64) string { return fmt.Sprintf(`{"id":%q}`, ids.posts[n%posts]) }},
		{"createPost", func(n int64) string {
			return fmt.Sprintf(`{"title":"Knots and bends","body":"A *long* story about ropes, number %d.","author":{"id":%q},"publishedAt":"2026-03-31T21:40:10.000Z"}`,
				n, ids.authors[n%authors])
		}},
		{"updatePost", func(n int64) string {
			return fmt.Sprintf(`{"where":{"id":%q},"values":{"title":"Knots, edition %d"}}`, ids.posts[n%posts], n)
		}},
		{"listPosts", func(n int64) string { return `{"where":{"status":{"equals":"Live"}},"first":20}` }},
	}
	fmt.Printf("\nCPU µs per request, server + Postgres, %d clients; ratio: by hand / Sternpost, above 1 is cheaper than by hand\n", clients)
	fmt.Printf("%-12s %22s %22s %8s %8s\n", "action", "Sternpost", "by hand", "ratio", "req/s")
	for _, a := range actions {
		var ours, theirs []cost
		for range rounds {
			both := []*process{sternpost, hand}
			if rand.IntN(2) == 0 {
				slices.Reverse(both)
			}
			for _, p := range both {
				c := p.load(b, backends, a.name, a.body)
				if p == sternpost {
					ours = append(ours, c)
				} else {
					theirs = append(theirs, c)
				}
			}
		}
		o, t := median(ours), median(theirs)
		fmt.Printf("%-12s %8.1f + %-11.1f %8.1f + %-11.1f %8.2f %8.2f\n",
			a.name, o.server, o.database, t.server, t.database, t.total()/o.total(), o.rate/t.rate)
		b.ReportMetric(t.total()/o.total(), a.name+"/hand")
	}
}

// cost is what one request costs, in microseconds of CPU, and how many a second
// went through.
type cost struct {
	server, database, rate float64
}

func (c cost) total() float64 { return c.server + c.database }

// median takes the round that is in the middle by its total.
func median(costs []cost) cost {
	slices.SortFunc(costs, func(a, b cost) int { return int(1000 * (a.total() - b.total())) })
	return costs[len(costs)/2]
}

type identifiers struct {
	authors, posts []string
}

// prepare installs the schema and fills the tables.
func prepare(b *testing.B, url string) identifiers {
	b.Helper()
	ctx := context.Background()
	p, err := sqlgen.ReadProject(".")
	if err != nil {
		b.Fatal(err)
	}
	db, errs := sqlgen.Compile(p)
	if errs.HasErrors() {
		b.Fatal(errs)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := install.Install(ctx, conn, db); err != nil {
		b.Fatal(err)
	}
	var ids identifiers
	for _, fill := range []struct {
		sql string
		ids *[]string
	}{
		{fmt.Sprintf(`insert into app.author (name) select 'author ' || n from generate_series(1, %d) as n returning id`, authors), &ids.authors},
		{fmt.Sprintf(`insert into app.post (title, body, status, author_id, published_at)
			select 'title ' || n, repeat('text ', 20), case when n %% 10 = 0 then 'Live' else 'Draft' end, author.id, now()
			from generate_series(1, %d) as n
			join (select id, row_number() over () as place from app.author) as author on author.place = n %% %d + 1
			order by n returning id`, posts, authors), &ids.posts},
	} {
		rows, err := conn.Query(ctx, fill.sql)
		if err != nil {
			b.Fatal(err)
		}
		if *fill.ids, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := conn.Exec(ctx, "vacuum analyze"); err != nil {
		b.Fatal(err)
	}
	return ids
}

// process is a server in a process of its own.
type process struct {
	pid    int
	url    string
	client *fasthttp.Client
}

func start(b *testing.B, kind, databaseURL string) *process {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "BENCH_SERVE="+kind, "BENCH_ADDRESS="+address, "BENCH_DATABASE="+databaseURL)
	command.Stderr = os.Stderr
	if kind == "sternpost" {
		command.Stderr = nil // its log
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		command.Process.Signal(syscall.SIGKILL)
		command.Wait()
	})
	p := &process{pid: command.Process.Pid, url: "http://" + address + "/api/json/", client: &fasthttp.Client{MaxConnsPerHost: clients}}
	for range 200 {
		if status, _, err := p.post("getPost", `{"id":"none"}`); err == nil && status == 200 {
			return p
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.Fatalf("the %s server does not answer", kind)
	return nil
}

func (p *process) post(action, body string) (int, []byte, error) {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	request.SetRequestURI(p.url + action)
	request.Header.SetMethod("POST")
	request.Header.SetContentType("application/json")
	request.SetBodyString(body)
	err := p.client.DoTimeout(request, response, 10*time.Second)
	return response.StatusCode(), append([]byte(nil), response.Body()...), err
}

// load sends requests from several clients and returns what each cost.
func (p *process) load(b *testing.B, postmaster int, action string, body func(int64) string) cost {
	b.Helper()
	for n := range int64(200) { // warm
		p.post(action, body(n))
	}
	serverBefore, databaseBefore := cpu(b, p.pid), childrenCPU(b, postmaster)
	began := time.Now()
	var next atomic.Int64
	next.Store(rand.Int64N(posts))
	end := next.Load() + requests
	errs := make([]error, clients)
	var wait sync.WaitGroup
	for i := range clients {
		wait.Go(func() {
			for n := next.Add(1); n <= end && errs[i] == nil; n = next.Add(1) {
				status, answer, err := p.post(action, body(n))
				if err == nil && (status != 200 || !json.Valid(answer)) {
					err = fmt.Errorf("%s: status %d: %s", action, status, answer)
				}
				errs[i] = err
			}
		})
	}
	wait.Wait()
	took := time.Since(began)
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
	// Postgres counts in ticks, so what it spent is known to within some 10 ms of
	// a round.
	return cost{
		server:   (cpu(b, p.pid) - serverBefore).Seconds() * 1e6 / requests,
		database: (childrenCPU(b, postmaster) - databaseBefore).Seconds() * 1e6 / requests,
		rate:     requests / took.Seconds(),
	}
}

// ticks is how many clock ticks Linux counts in a second, on every architecture
// that Go runs on.
const ticks = 100

// cpu is what a process has spent (proc(5), stat, fields 14 and 15).
func cpu(b *testing.B, pid int) time.Duration {
	b.Helper()
	fields := stat(pid)
	if fields == nil {
		b.Fatalf("process %d is gone", pid)
	}
	return spent(fields)
}

// stat returns the fields of /proc/PID/stat behind the name of the command.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

func spent(fields []string) time.Duration {
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / ticks
}

// childrenCPU is what all children of a process have spent that are alive.
func childrenCPU(b *testing.B, parent int) time.Duration {
	b.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		b.Fatal(err)
	}
	var sum time.Duration
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if fields := stat(pid); fields != nil && fields[1] == strconv.Itoa(parent) {
			sum += spent(fields)
		}
	}
	return sum
}

// postmaster finds the Postgres that this process started.
func postmaster(b *testing.B) int {
	b.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		b.Fatal(err)
	}
	self := strconv.Itoa(os.Getpid())
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		fields := stat(pid)
		name, _ := os.ReadFile(filepath.Join(dir, "comm"))
		if fields != nil && fields[1] == self && strings.TrimSpace(string(name)) == "postgres" {
			return pid
		}
	}
	b.Skip("the CPU time of Postgres can be read only where it is started by the benchmark, on Linux")
	return 0
}
