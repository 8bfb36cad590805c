package server

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	platform "github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/release"
)

//go:embed testdata/app.sql
var appSQL string

var clusterPort int
var databases atomic.Int64

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	bin := "/usr/lib/postgresql/15/bin/"
	dir, _ := os.MkdirTemp("", "sternpost-server-test")
	os.Chmod(dir, 0o777)
	defer os.RemoveAll(dir)
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	clusterPort = l.Addr().(*net.TCPAddr).Port
	l.Close()
	data := filepath.Join(dir, "data")
	as := func(args ...string) {
		cmd := exec.Command("runuser", append([]string{"-u", "postgres", "--"}, args...)...)
		cmd.Dir = "/tmp"
		if out, err := cmd.CombinedOutput(); err != nil {
			panic(fmt.Sprint(args, err, string(out)))
		}
	}
	as(bin+"initdb", "-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8")
	as(bin+"pg_ctl", "-D", data, "-l", filepath.Join(dir, "log"), "-w", "-o",
		fmt.Sprintf("-c listen_addresses=127.0.0.1 -c port=%d -c fsync=off -c unix_socket_directories=%s -c max_connections=300", clusterPort, dir), "start")
	defer as(bin+"pg_ctl", "-D", data, "-m", "immediate", "stop")
	return m.Run()
}

// testDatabase is a database with the application of testdata.
type testDatabase struct {
	url string
}

func newDatabase(t *testing.T) *testDatabase {
	t.Helper()
	d := newEmptyDatabase(t)
	if err := platform.Migrate(t.Context(), d.connect(t)); err != nil {
		t.Fatal(err)
	}
	d.exec(t, appSQL)
	return d
}

// newEmptyDatabase makes a database that holds nothing.
func newEmptyDatabase(t *testing.T) *testDatabase {
	t.Helper()
	ctx := t.Context()
	name := fmt.Sprintf("t%d", databases.Add(1))
	admin, err := pgx.Connect(ctx, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", clusterPort))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	if _, err := admin.Exec(ctx, "create database "+name); err != nil {
		t.Fatal(err)
	}
	return &testDatabase{url: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s", clusterPort, name)}
}

func (d *testDatabase) connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func (d *testDatabase) exec(t *testing.T, sql string) {
	t.Helper()
	conn := d.connect(t)
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// install makes a manifest the newest release.
func (d *testDatabase) install(t *testing.T, m *release.Manifest) {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	conn := d.connect(t)
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "select platform.install_release('', $1, '{}')", string(raw)); err != nil {
		t.Fatal(err)
	}
}

func (d *testDatabase) address() string {
	return fmt.Sprintf("127.0.0.1:%d", clusterPort)
}

// through returns the URL of the database by way of another address.
func (d *testDatabase) through(address string) string {
	return strings.Replace(d.url, d.address(), address, 1)
}
