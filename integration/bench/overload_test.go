package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// An action that holds a connection for 20 ms and takes almost no CPU, so that the capacity
// does not depend on other load of the machine.
var (
	overloadSchema = "model Thing {\n  fields {\n    name Text\n  }\n  actions {\n    read work() returns (Any)\n  }\n  @permission(expression: true, actions: [read])\n}\n"
	overloadCode   = "create function functions.work() returns jsonb\nlanguage plpgsql\nstable\nas $$\nbegin\n  perform pg_sleep(0.02);\n  return '\"done\"';\nend;\n$$;\n"
)

const (
	overloadRound = 5 * time.Second
	overloadMost  = 2 * time.Second // the 99th percentile of served requests
)

// BenchmarkOverload sends the capacity, twice and ten times as much, from clients that give
// up after 300 ms and from patient ones, and prints the outcome. It fails if the patient
// clients get less than nine tenths of the capacity.
func BenchmarkOverload(b *testing.B) {
	server := startOverloaded(b)
	capacity := server.capacity()
	fmt.Printf("\nOverload: calls of 20 ms; done at most %.0f a second.\n%-34s %9s %9s %9s %9s %9s %9s\n", capacity,
		"load, and when clients give up", "sent/s", "good/s", "refused/s", "left/s", "p50 ms", "p99 ms")
	for _, patience := range []time.Duration{300 * time.Millisecond, 5 * time.Second} {
		for _, times := range []float64{1, 2, 10} {
			r := server.offer(times*capacity, patience)
			fmt.Printf("%-34s %9.0f %9.0f %9.0f %9.0f %9.0f %9.0f\n", fmt.Sprintf("%.0f×, %s", times, patience),
				r.rate(r.sent), r.rate(r.good), r.rate(r.refused), r.rate(r.left), r.quantile(0.5), r.quantile(0.99))
			if r.rate(r.good) < 0.9*capacity || r.quantile(0.99) > float64(overloadMost.Milliseconds()) {
				b.Errorf("%.0f×, %s: %.0f done in time of %.0f, p99 %.0f ms", times, patience, r.rate(r.good), capacity, r.quantile(0.99))
			}
			if r.strange != "" {
				b.Errorf("%.0f×, %s: %s", times, patience, r.strange)
			}
		}
	}
}

// overloaded is a server of that action.
type overloaded struct {
	*process
	transport *http.Transport
}

func startOverloaded(b testing.TB) *overloaded {
	b.Helper()
	ctx := context.Background()
	database, err := postgres.Start(ctx, postgres.Options{Temporary: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { database.Stop() })
	dir := b.TempDir()
	key, err := auth.GenerateKey()
	err = errors.Join(err,
		os.MkdirAll(filepath.Join(dir, "functions"), 0o700),
		os.WriteFile(filepath.Join(dir, "app.stern"), []byte(overloadSchema), 0o600),
		os.WriteFile(filepath.Join(dir, "functions", "work.sql"), []byte(overloadCode), 0o600))
	if err != nil {
		b.Fatal(err)
	}
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		b.Fatal(err)
	}
	compiled, errs := sqlgen.Compile(project)
	if errs.HasErrors() {
		b.Fatal(errs)
	}
	conn, err := pgx.Connect(ctx, database.URL())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := install.Install(ctx, conn, compiled.Release()); err != nil {
		b.Fatal(err)
	}
	return &overloaded{
		process:   startSelf(b, "sternpost", database.URL(), string(key), usualPool, call{action: "work", body: "{}"}),
		transport: &http.Transport{MaxIdleConnsPerHost: 1000},
	}
}

// send makes one call.
func (o *overloaded) send(patience time.Duration) (status int, body string, err error) {
	client := &http.Client{Transport: o.transport, Timeout: patience}
	response, err := client.Post(o.url+"work", "application/json", strings.NewReader("{}"))
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// capacity is the number of calls done in a second for a few waiting clients.
func (o *overloaded) capacity() float64 {
	var done atomic.Int64
	until := time.Now().Add(overloadRound)
	var all sync.WaitGroup
	for range usualPool {
		all.Go(func() {
			for time.Now().Before(until) {
				if status, _, err := o.send(10 * time.Second); err == nil && status == 200 {
					done.Add(1)
				}
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / overloadRound.Seconds()
}

// offered is the outcome of a load.
type offered struct {
	mu                        sync.Mutex
	sent, good, refused, left int
	took                      []time.Duration // of successful requests
	strange                   string          // an answer that was not expected
}

func (r *offered) rate(n int) float64 { return float64(n) / overloadRound.Seconds() }

func (r *offered) quantile(q float64) float64 {
	if len(r.took) == 0 {
		return 0
	}
	slices.Sort(r.took)
	return float64(r.took[int(q*float64(len(r.took)-1))].Milliseconds())
}

// offer sends so many calls a second, regardless of their outcome.
func (o *overloaded) offer(rate float64, patience time.Duration) *offered {
	r := &offered{}
	var all sync.WaitGroup
	began := time.Now()
	for time.Since(began) < overloadRound {
		for float64(r.sent) < rate*time.Since(began).Seconds() {
			r.sent++
			all.Go(func() { r.note(o, patience) })
		}
		time.Sleep(time.Millisecond)
	}
	all.Wait()
	return r
}

func (r *offered) note(o *overloaded, patience time.Duration) {
	sent := time.Now()
	status, body, err := o.send(patience)
	took := time.Since(sent)
	r.mu.Lock()
	defer r.mu.Unlock()
	var network net.Error
	switch {
	case errors.As(err, &network) && network.Timeout():
		r.left++
	case err != nil:
		r.strange = err.Error()
	case status == 200:
		r.good++
		r.took = append(r.took, took)
	case status == 503:
		r.refused++
	default:
		r.strange = fmt.Sprint(status, " ", body)
	}
}
