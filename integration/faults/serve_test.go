package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/server/config"
)

// serveVariable names the database to serve, if this program is started as a server.
const serveVariable = "FAULTS_SERVE"

// TestMain serves if it is started as a server, and otherwise runs the faults.
func TestMain(m *testing.M) {
	if url := os.Getenv(serveVariable); url != "" {
		if err := serve(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve serves a database until it gets a signal.
func serve(url string) error {
	settings, err := config.Load(config.Source{Env: []string{
		"STERNPOST_MODE=development", "DATABASE_URL=" + url, "HOST=" + os.Getenv("HOST"), "PORT=" + os.Getenv("PORT"),
		"STERNPOST_ADMIN_PORT=0", "STERNPOST_DATABASE_POOL_SIZE=8", "STERNPOST_AUTH_SIGNING_KEY=" + os.Getenv("FAULTS_KEY"),
	}})
	if err != nil {
		return err
	}
	s, err := server.New(settings, server.Options{})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return s.Run(ctx)
}

// instance is a server in a process of its own, at a fixed address.
type instance struct {
	host, port string
	env        []string
	command    *exec.Cmd
	log        bytes.Buffer
	exited     chan struct{}
}

// newInstance starts a server of a database, until the benchmark ends.
func newInstance(b testing.TB, databaseURL, key string) *instance {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err = errors.Join(err, l.Close()); err != nil {
		b.Fatal(err)
	}
	i := &instance{host: host, port: port, env: append(os.Environ(),
		serveVariable+"="+databaseURL, "FAULTS_KEY="+key, "HOST="+host, "PORT="+port)}
	i.start(b)
	b.Cleanup(func() {
		i.end(b, syscall.SIGKILL)
		if b.Failed() {
			log := i.log.Bytes()
			b.Logf("the end of a server's log:\n%s", log[max(0, len(log)-2000):])
			for line := range bytes.Lines(log) {
				if bytes.Contains(line, []byte(" status=500 ")) {
					b.Logf("in its middle: %s", line)
				}
			}
		}
	})
	return i
}

func (i *instance) url() string { return "http://" + net.JoinHostPort(i.host, i.port) }

// start starts it, also after its end, and waits until it is ready.
func (i *instance) start(b testing.TB) {
	b.Helper()
	i.command = exec.Command(os.Args[0])
	i.command.Env, i.command.Stdout, i.command.Stderr = i.env, &i.log, &i.log
	if err := i.command.Start(); err != nil {
		b.Fatal(err)
	}
	i.exited = make(chan struct{})
	go func(command *exec.Cmd, exited chan struct{}) {
		_ = command.Wait() // how it ended is in its log
		close(exited)
	}(i.command, i.exited)
	client := &http.Client{Timeout: time.Second}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		response, err := client.Get(i.url() + "/readyz")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
	}
	b.Fatalf("a server is not ready within a minute:\n%s", i.log.Bytes())
}

// end sends it a signal and waits until it has ended.
func (i *instance) end(b testing.TB, signal syscall.Signal) {
	b.Helper()
	_ = i.command.Process.Signal(signal) // it may have ended
	select {
	case <-i.exited:
	case <-time.After(time.Minute):
		b.Fatal("a server does not end within a minute")
	}
}
