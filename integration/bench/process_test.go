package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// process is a server in a process of its own.
type process struct {
	pid        int
	url        string
	client     *fasthttp.Client
	firstAfter time.Duration // from its start to its first answer
	output     *strings.Builder
	stop       func() // may be called again
}

// startSelf starts this program as a server, with a pool of so many connections.
func startSelf(b testing.TB, kind, databaseURL, key string, pool int, first call) *process {
	b.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "BENCH_SERVE="+kind, "BENCH_DATABASE="+databaseURL, "BENCH_KEY="+key, fmt.Sprintf("BENCH_POOL=%d", pool))
	return run(b, kind, command, "/api/json/", first)
}

// firstCall is asked until a server of the benchmark's schema answers.
var firstCall = call{action: "getPost", body: `{"id":"none"}`}

// run starts a server, which finds its address in HOST and PORT, and waits for its first answer.
func run(b testing.TB, name string, command *exec.Cmd, path string, first call) *process {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err := errors.Join(err, l.Close()); err != nil {
		b.Fatal(err)
	}
	if command.Env == nil {
		command.Env = os.Environ()
	}
	command.Env = append(command.Env, "HOST="+host, "PORT="+port)
	output := &strings.Builder{}
	command.Stdout, command.Stderr = output, output
	began := time.Now()
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		command.Process.Signal(syscall.SIGKILL)
		command.Wait()
	})
	b.Cleanup(stop)
	p := &process{
		pid: command.Process.Pid, url: "http://" + net.JoinHostPort(host, port) + path,
		client: &fasthttp.Client{MaxConnsPerHost: maxClients}, output: output, stop: stop,
	}
	for time.Since(began) < 30*time.Second {
		if status, _, err := p.post(first.action, "", first.body); err == nil && (status == 200 || status == 404) {
			p.firstAfter = time.Since(began)
			return p
		}
		time.Sleep(time.Millisecond)
	}
	status, body, err := p.post(first.action, "", first.body)
	b.Fatalf("the server %s does not answer: %d %s %v\n%s", name, status, body, err, output)
	return nil
}

func (p *process) post(action, token, body string) (int, []byte, error) {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	request.SetRequestURI(p.url + action)
	request.Header.SetMethod("POST")
	request.Header.SetContentType("application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.SetBodyString(body)
	err := p.client.DoTimeout(request, response, 10*time.Second)
	return response.StatusCode(), append([]byte(nil), response.Body()...), err
}

// call is one request.
type call struct {
	action, token, body string
}

// load sends requests from several clients and returns the cost of each. It checks that
// answers hold at least an expected text.
func (p *process) load(b testing.TB, postmaster, clients int, request func(int64) call, answers string) cost {
	b.Helper()
	return p.loadWith(b, postmaster, clients, requests, request, answers)
}

// loadWarm is load for a server that has just started: it does the same before, until all connections are open and have
// planned the statement. That can cost as much as the requests.
func (p *process) loadWarm(b testing.TB, postmaster, clients int, request func(int64) call, answers string) cost {
	b.Helper()
	p.load(b, postmaster, clients, request, answers)
	return p.load(b, postmaster, clients, request, answers)
}

// loadWith is load with so many requests. It sends a tenth of them before.
func (p *process) loadWith(b testing.TB, postmaster, clients, requests int, request func(int64) call, answers string) cost {
	b.Helper()
	send := func(n int64) error {
		c := request(n)
		status, answer, err := p.post(c.action, c.token, c.body)
		if err == nil && (status != 200 || !json.Valid(answer) || !strings.Contains(string(answer), answers)) {
			err = fmt.Errorf("%s %s: status %d: %s", c.action, c.body, status, answer)
		}
		return err
	}
	sendAll := func(requests int) (took []time.Duration) {
		var next atomic.Int64
		next.Store(rand.Int64N(posts))
		end := next.Load() + int64(requests)
		errs, each := make([]error, clients), make([][]time.Duration, clients)
		var wait sync.WaitGroup
		for i := range clients {
			wait.Go(func() {
				for n := next.Add(1); n <= end && errs[i] == nil; n = next.Add(1) {
					began := time.Now()
					errs[i] = send(n)
					each[i] = append(each[i], time.Since(began))
				}
			})
		}
		wait.Wait()
		if err := errors.Join(errs...); err != nil {
			b.Fatalf("%v\nThe server wrote: %s", err, p.output)
		}
		return slices.Concat(each...)
	}

	sendAll(requests / 10)
	// The CPU time of a Postgres process, such as an autovacuum worker, is lost when it ends. The count is then not the
	// cost of the requests, and they are sent again.
	for range 5 {
		count, err := countInstructions(append(children(b, postmaster), p.pid))
		if err != nil {
			warnOnce(fmt.Sprintf("instructions are not counted: %v", err))
			count = &instructions{}
		}
		serverBefore, databaseBefore, before := cpu(b, p.pid), childrenCPU(b, postmaster), count.count()
		took := sendAll(requests)
		server, database, counted := cpu(b, p.pid)-serverBefore, childrenCPU(b, postmaster), count.count()-before
		count.close()
		spent, isWhole := database.since(databaseBefore)
		if !isWhole {
			continue
		}
		slices.Sort(took)
		return cost{
			server:       server.Seconds() * 1e6 / float64(requests),
			database:     spent.Seconds() * 1e6 / float64(requests),
			instructions: float64(counted) / 1e3 / float64(requests),
			halfWithin:   took[len(took)/2].Seconds() * 1e6,
		}
	}
	b.Fatal("processes of Postgres end whenever requests are measured")
	return cost{}
}

var warned sync.Map

func warnOnce(text string) {
	if _, was := warned.LoadOrStore(text, true); !was {
		fmt.Fprintln(os.Stderr, text)
	}
}

// cpu is the CPU time of the threads of a process, in nanoseconds
// (/proc/PID/task/TID/schedstat).
func cpu(b testing.TB, pid int) time.Duration {
	b.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		b.Fatal(err)
	}
	var sum time.Duration
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		if fields := strings.Fields(string(text)); len(fields) > 0 {
			n, _ := strconv.ParseInt(fields[0], 10, 64)
			sum += time.Duration(n)
		}
	}
	return sum
}

// spending is the CPU time of processes, by their ids.
type spending map[int]time.Duration

// since is the CPU time of the processes since an earlier reading, with those that began
// in between. It is not whole if one has ended.
func (s spending) since(earlier spending) (spent time.Duration, isWhole bool) {
	for pid := range earlier {
		if _, lives := s[pid]; !lives {
			return 0, false
		}
	}
	for pid, took := range s {
		spent += took - earlier[pid]
	}
	return spent, true
}

// childrenCPU is the CPU time of the living children of a process.
func childrenCPU(b testing.TB, parent int) spending {
	b.Helper()
	all := spending{}
	for _, pid := range children(b, parent) {
		if took := cpu(b, pid); took > 0 { // else it has ended meanwhile
			all[pid] = took
		}
	}
	return all
}

func children(b testing.TB, parent int) []int {
	b.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		b.Fatal(err)
	}
	var list []int
	for _, dir := range dirs {
		text, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue // it is gone
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			list = append(list, pid)
		}
	}
	return list
}

// postmaster finds the Postgres that this process started.
func postmaster(b testing.TB) int {
	b.Helper()
	for _, pid := range children(b, os.Getpid()) {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if strings.TrimSpace(string(name)) == "postgres" {
			return pid
		}
	}
	b.Skip("the CPU time of Postgres can be read only where it is started by the benchmark, on Linux")
	return 0
}

// resident is the memory of a process, in MiB.
type resident struct {
	all, own float64 // own is what no file holds: other processes of the program share the rest
}

func memory(b testing.TB, pid int) resident {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		b.Fatal(err)
	}
	var r resident
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		n, _ := strconv.Atoi(fields[1])
		switch fields[0] {
		case "Rss:":
			r.all = float64(n) / 1024
		case "Anonymous:":
			r.own = float64(n) / 1024
		}
	}
	if r.all == 0 {
		b.Fatalf("no Rss in what Linux tells of process %d:\n%s", pid, text)
	}
	return r
}
