//go:build unix

package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql/postgres"
)

// childDir makes the test binary a process that starts a server in the given directory,
// or a temporary one for "temporary", prints its URL and then waits.
const childDir = "STERNPOST_POSTGRES_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		opts := postgres.Options{Dir: dir}
		if dir == "temporary" {
			opts = postgres.Options{Temporary: true}
		}
		server, err := postgres.Start(context.Background(), opts)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(server.URL())
		select {}
	}
	os.Exit(m.Run())
}

// dir is a directory for data that the server's account can reach.
func dir(t *testing.T) string {
	t.Helper()
	path, err := os.MkdirTemp("", "sternpost-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(path); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func start(t *testing.T, opts postgres.Options) *postgres.Server {
	t.Helper()
	server, err := postgres.Start(t.Context(), opts)
	if err != nil {
		t.Fatalf("Start(%+v): %v", opts, err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
	return server
}

// query runs a statement and returns its value as text.
func query(t *testing.T, url, statement string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect to %s: %v", url, err)
	}
	defer conn.Close(context.Background())
	var value string
	if err := conn.QueryRow(t.Context(), statement).Scan(&value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

func TestKeepsData(t *testing.T) {
	t.Parallel()
	d := dir(t)

	server := start(t, postgres.Options{Dir: d})
	if got, want := server.Describe(), filepath.Join(d, "postgres"); !strings.Contains(got, want) {
		t.Errorf("Describe() = %q, want the directory %s in it", got, want)
	}
	if got := query(t, server.URL(), "select lo_from_bytea(7, 'kept')::text"); got != "7" {
		t.Fatalf("made object %s, want 7", got)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}

	server = start(t, postgres.Options{Dir: d, Settings: []string{"max_connections=17"}})
	if got := query(t, server.URL(), "select convert_from(lo_get(7), 'UTF8')"); got != "kept" {
		t.Errorf("after a restart: %q, want what was written before", got)
	}
	if got := query(t, server.URL(), "show max_connections"); got != "17" {
		t.Errorf("max_connections = %s, want 17", got)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	kept := start(t, postgres.Options{Dir: dir(t)})
	temporary := start(t, postgres.Options{Temporary: true})

	for _, test := range []struct{ statement, kept, temporary string }{
		{"show server_encoding", "UTF8", "UTF8"},
		{"select lower('Ä') || (select collate_is_byte from (select 'Z' < 'a' as collate_is_byte) as c)", "ätrue", "ätrue"},
		{"show timezone", "UTC", "UTC"},
		{"show fsync", "on", "off"},
		{"show synchronous_commit", "on", "off"},
		{"show full_page_writes", "on", "off"},
		{"show wal_writer_flush_after", "1MB", "0"},
		{"show listen_addresses", "", ""},
		{"select rolsuper::text from pg_roles where rolname = current_user", "true", "true"},
	} {
		if got := query(t, kept.URL(), test.statement); got != test.kept {
			t.Errorf("kept: %s = %q, want %q", test.statement, got, test.kept)
		}
		if got := query(t, temporary.URL(), test.statement); got != test.temporary {
			t.Errorf("temporary: %s = %q, want %q", test.statement, got, test.temporary)
		}
	}
}

func TestDataIsPrivate(t *testing.T) {
	t.Parallel()
	d := dir(t)
	start(t, postgres.Options{Dir: d})
	info, err := os.Stat(filepath.Join(d, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("mode of the data, where the socket is: %o, want 700", got)
	}
}

func TestTemporaryLeavesNothing(t *testing.T) {
	t.Parallel()
	server := start(t, postgres.Options{Temporary: true})
	data := query(t, server.URL(), "show data_directory")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(data)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Stop: %s is still there (%v)", filepath.Dir(data), err)
	}
}

func TestSecondStartOnOneDirectory(t *testing.T) {
	t.Parallel()
	d := dir(t)
	start(t, postgres.Options{Dir: d})

	_, err := postgres.Start(t.Context(), postgres.Options{Dir: d})
	var inUse *postgres.InUseError
	if !errors.As(err, &inUse) {
		t.Fatalf("second Start: %v, want an *InUseError", err)
	}
	if inUse.PID != os.Getpid() {
		t.Errorf("PID = %d, want ours, %d", inUse.PID, os.Getpid())
	}
}

func TestLongPath(t *testing.T) {
	t.Parallel()
	d := filepath.Join(dir(t), strings.Repeat("long", 30))
	server := start(t, postgres.Options{Dir: d})
	if got := query(t, server.URL(), "select 'up'"); got != "up" {
		t.Errorf("got %q", got)
	}
}

func TestAwkwardPath(t *testing.T) {
	t.Parallel()
	d := filepath.Join(dir(t), `a, "b" c?&=%20'`)
	server := start(t, postgres.Options{Dir: d})
	if got, want := query(t, server.URL(), "show data_directory"), filepath.Join(d, "postgres"); got != want {
		t.Errorf("data_directory = %s, want %s", got, want)
	}
}

func TestDataOfAnotherMajorVersion(t *testing.T) {
	t.Parallel()
	d := dir(t)
	server := start(t, postgres.Options{Dir: d})
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d, "postgres", "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := postgres.Start(t.Context(), postgres.Options{Dir: d})
	if err == nil || !strings.Contains(err.Error(), "PostgreSQL 9 made the data") {
		t.Errorf("Start = %v, want an error that names version 9", err)
	}
}

func TestUnusableSetting(t *testing.T) {
	t.Parallel()
	_, err := postgres.Start(t.Context(), postgres.Options{Temporary: true, Settings: []string{"work_mem=plenty"}})
	if err == nil || !strings.Contains(err.Error(), "work_mem") {
		t.Errorf("Start = %v, want what the server logged about work_mem", err)
	}
}

// An interrupted initdb must not pass for a data directory.
func TestUnfinishedInitialization(t *testing.T) {
	t.Parallel()
	d := dir(t)
	if err := os.MkdirAll(filepath.Join(d, "postgres.new", "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	server := start(t, postgres.Options{Dir: d})
	if got := query(t, server.URL(), "select 'up'"); got != "up" {
		t.Errorf("got %q", got)
	}
}

func TestStalePID(t *testing.T) {
	t.Parallel()
	// The number now belongs to a program that is not Postgres.
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		sleep.Process.Kill()
		sleep.Wait()
	}()

	d := dir(t)
	if err := start(t, postgres.Options{Dir: d}).Stop(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []string{strconv.Itoa(sleep.Process.Pid), "2147483646", "nonsense", ""} {
		path := filepath.Join(d, "postgres", "postmaster.pid")
		if err := os.WriteFile(path, []byte(pid+"\n"+d+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		server := start(t, postgres.Options{Dir: d})
		if got := query(t, server.URL(), "select 'up'"); got != "up" {
			t.Errorf("stale number %q: got %q", pid, got)
		}
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGivenURL(t *testing.T) {
	t.Parallel()
	server := start(t, postgres.Options{Temporary: true})
	given := start(t, postgres.Options{URL: server.URL() + "&password=secret"})
	if got, want := given.URL(), server.URL()+"&password=secret"; got != want {
		t.Errorf("URL() = %s, want %s", got, want)
	}
	if strings.Contains(given.Describe(), "secret") {
		t.Errorf("Describe() = %q, which holds the password", given.Describe())
	}
	if err := given.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := query(t, server.URL(), "select 'up'"); got != "up" {
		t.Errorf("Stop reached a server that was given")
	}

	if _, err := postgres.Start(t.Context(), postgres.Options{URL: "postgres://127.0.0.1:1/none"}); err == nil {
		t.Error("Start with a URL that nobody answers at: no error")
	}
}

func TestNeitherURLNorDirectory(t *testing.T) {
	t.Parallel()
	if _, err := postgres.Start(t.Context(), postgres.Options{}); err == nil {
		t.Error("Start without URL and Dir: no error")
	}
}

func TestDiesWithItsParent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		dir  string
	}{
		{"kept", dir(t)},
		{"temporary", "temporary"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), childDir+"="+test.dir)
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			url, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || !strings.HasPrefix(url, "postgres://") {
				t.Fatalf("the child printed %q (%v)", url, err)
			}
			url = strings.TrimSpace(url)
			postmaster, err := strconv.Atoi(strings.SplitN(
				query(t, url, "select pg_read_file('postmaster.pid')"), "\n", 2)[0])
			if err != nil {
				t.Fatal(err)
			}
			data := query(t, url, "show data_directory")

			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait()

			if test.dir != "temporary" {
				server := start(t, postgres.Options{Dir: test.dir}) // waits for the one before
				if got := query(t, server.URL(), "select 'up'"); got != "up" {
					t.Errorf("after the kill: got %q", got)
				}
			}
			for deadline := time.Now().Add(2 * time.Minute); isThere(postmaster); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("process %d outlives the one that started it", postmaster)
				}
			}
			if test.dir == "temporary" {
				start(t, postgres.Options{Temporary: true}) // removes the leftovers of the killed one
				if _, err := os.Stat(filepath.Dir(data)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is still there (%v)", filepath.Dir(data), err)
				}
			}
		})
	}
}

// isThere tells whether a process runs. A zombie, as in a container without init, does
// not.
func isThere(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// As root the server runs as another user, which may have no access to root's directories.
func TestRootWithClosedDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root; without it every other test covers the plain case")
	}
	d := dir(t)
	if err := os.Chmod(d, 0o700); err != nil {
		t.Fatal(err)
	}
	server := start(t, postgres.Options{Dir: d})
	data := query(t, server.URL(), "show data_directory")
	t.Cleanup(func() { // before Stop in time, so it waits for the lock file only
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		os.RemoveAll(data)
		os.Remove(data + ".lock")
	})
	if strings.HasPrefix(data, d) {
		t.Errorf("data in %s, which the server's user cannot reach", data)
	}
	if !strings.Contains(server.Describe(), data) || !strings.Contains(server.Describe(), d) {
		t.Errorf("Describe() = %q, want both %s and %s in it", server.Describe(), data, d)
	}
}

// These are the same tests as a user other than root.
func TestWithoutRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("this run has no root already")
	}
	home := dir(t)
	if err := os.Chown(home, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(home, "postgres.test")
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, text, 0o755); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for try := 0; ; try++ {
		cmd := exec.Command(binary, "-test.run=TestKeepsData|TestDiesWithItsParent|TestSecondStart|TestLongPath")
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		// A process that another test began meanwhile may still have the file open for writing (go.dev/issue/22315).
		if out, err = cmd.CombinedOutput(); !errors.Is(err, syscall.ETXTBSY) || try == 50 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

// TestInterruptedSearch interrupts the search for a Postgres: the error does not say that none is installed.
func TestInterruptedSearch(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if _, err := postgres.Start(ctx, postgres.Options{Dir: dir(t)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the search was interrupted", err)
	}
}
