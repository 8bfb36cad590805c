//go:build unix

package pgtest

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
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

// Node is a Postgres of one test, for tests of faults. It runs the binaries of this
// machine, keeps its confirmed commits when it is killed, and is removed when the test
// ends.
type Node struct {
	dir      string
	settings []string
	server   *postgres.Server
	cluster  *cluster
}

// NewNode starts a Postgres, with further settings, each "name=value". It skips the test
// on a machine without the binaries of Postgres.
func NewNode(t testing.TB, settings ...string) *Node {
	t.Helper()
	return NewNodeIn(t, nodeDir(t), settings...)
}

// NewNodeIn is NewNode with the data in a new directory.
func NewNodeIn(t testing.TB, dir string, settings ...string) *Node {
	t.Helper()
	if err := os.MkdirAll(dir, 0o711); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	n := &Node{dir: dir, settings: settings}
	n.Start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := setUp(ctx, &server{url: n.server.URL(), describe: n.server.Describe(), stop: func() error { return nil }})
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	n.cluster = c
	t.Cleanup(func() {
		c.admin.Close()
		_ = c.guard.Close(context.Background()) // it may have gone with the server
	})
	return n
}

// nodeDir makes a directory that the account of the server can reach. It has the name and
// lock of temporary servers, so that the next of these removes the remains of a killed test.
func nodeDir(t testing.TB) string {
	t.Helper()
	base := os.TempDir()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "sternpost-postgres-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	lock, err := os.Create(filepath.Join(dir, "locking"))
	if err == nil {
		err = errors.Join(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX), os.Rename(lock.Name(), filepath.Join(dir, "lock")))
	}
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		_ = os.RemoveAll(dir)
		lock.Close()
	})
	return dir
}

// New makes a database on the node.
func (n *Node) New(t testing.TB, opts Options) *DB {
	t.Helper()
	return n.cluster.newDB(t, opts)
}

// At is the same database on another node, which is its replica.
func (db *DB) At(n *Node) *DB { return &DB{name: db.name, cluster: n.cluster} }

// Together joins the URLs of one database on several nodes into one URL, in the order of
// attempts.
func Together(urls ...string) string {
	var hosts, ports []string
	var together *url.URL
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			panic(err) // they are of our making
		}
		hosts, ports = append(hosts, u.Query().Get("host")), append(ports, u.Query().Get("port"))
		together = u
	}
	query := url.Values{"host": {strings.Join(hosts, ",")}, "port": {strings.Join(ports, ",")}, "sslmode": {"disable"}}
	together.RawQuery = query.Encode()
	return together.String()
}

// Start starts a node, also after it was killed or stopped.
func (n *Node) Start(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if n.server != nil {
		_ = n.server.Stop() // it has ended; this gives up its data
	}
	// A killed process loses nothing that it has written, so nothing has to reach the disk.
	settings := append([]string{"fsync=off", "wal_level=replica", "hot_standby=on", "max_connections=100", "shared_buffers=16MB", "wal_keep_size=256MB"}, n.settings...)
	started, err := postgres.Start(ctx, postgres.Options{Dir: n.dir, Settings: settings})
	var missing *postgres.NotFoundError
	if errors.As(err, &missing) {
		t.Skipf("SKIPPED: no server of Postgres is killed: it needs one that is started here: %v", err)
	}
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	n.server = started
	t.Cleanup(func() {
		n.signal(t, syscall.SIGCONT)
		_ = started.Stop()
	})
}

// Replica makes a node that follows another by streaming, from a pg_basebackup of it.
// application is its name in synchronous_standby_names.
func (n *Node) Replica(t testing.TB, application string, settings ...string) *Node {
	t.Helper()
	own, err := url.Parse(n.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	source := "host=" + own.Query().Get("host") + " port=" + own.Query().Get("port") + " user=" + own.User.Username() + " application_name=" + application
	r := &Node{dir: nodeDir(t), settings: settings}
	data := filepath.Join(r.dir, "postgres")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	backup := exec.CommandContext(ctx, n.program(t, "pg_basebackup"), "--dbname="+source, "--pgdata="+data,
		"--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync")
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("pgtest: pg_basebackup: %v\n%s", err, out)
	}
	_ = os.Remove(filepath.Join(data, ".s.PGSQL.5432.lock")) // the backup takes along the socket's, which is in the data
	chownLike(t, data, n.server.DataDir())
	r.Start(t)
	r.cluster = n.clusterAt(t, r.server.URL())
	return r
}

// clusterAt is the cluster of a node, with its roles, at another address.
func (n *Node) clusterAt(t testing.TB, address string) *cluster {
	t.Helper()
	super := *n.cluster.super
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	super.RawQuery = u.RawQuery
	return &cluster{server: n.cluster.server, super: &super, token: n.cluster.token, password: n.cluster.password}
}

// program is the path of a program that is installed beside the server.
func (n *Node) program(t testing.TB, name string) string {
	t.Helper()
	var dir string
	conn := connect(t, n.server.URL())
	if err := conn.QueryRow(t.Context(), "select setting from pg_config where name = 'BINDIR'").Scan(&dir); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: no server is copied or upgraded: it needs %s beside the server (Debian: it comes with postgresql): %v", name, err)
	}
	return path
}

// chownLike gives all files in a directory to the owner of another.
func chownLike(t testing.TB, dir, like string) {
	t.Helper()
	info, err := os.Stat(like)
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if int(owner.Uid) == os.Geteuid() {
		return
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(owner.Uid), int(owner.Gid))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Superuser connects to the maintenance database as superuser, until the test ends.
func (n *Node) Superuser(t testing.TB) *pgx.Conn {
	t.Helper()
	return connect(t, n.server.URL())
}

// Exec runs a statement as superuser, on a connection of its own.
func (n *Node) Exec(t testing.TB, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, n.server.URL())
	if err != nil {
		t.Fatalf("pgtest: connect: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("pgtest: %s: %v", statement, err)
	}
}

// Kill ends a node like a power cut: at once, in the middle of its work.
func (n *Node) Kill(t testing.TB) {
	t.Helper()
	n.signal(t, syscall.SIGKILL)
	select {
	case <-n.server.Exited():
	case <-time.After(30 * time.Second):
		t.Fatal("pgtest: a killed server does not end")
	}
}

// Stop ends a node in good order: it disconnects all clients and writes everything.
func (n *Node) Stop(t testing.TB) {
	t.Helper()
	if err := n.server.Stop(); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
}

// StartIfEnded starts a node again if it ended by itself.
func (n *Node) StartIfEnded(t testing.TB) {
	t.Helper()
	select {
	case <-n.server.Exited():
		n.Start(t)
	case <-time.After(time.Second):
	}
}

// Promote makes a replica a primary, and returns when it accepts writes.
func (n *Node) Promote(t testing.TB) {
	t.Helper()
	n.Exec(t, "select pg_promote(true, 60)")
}

// AwaitReplay waits until a replica has all current writes of a primary.
func (n *Node) AwaitReplay(t testing.TB, primary *Node) {
	t.Helper()
	var written string
	if err := primary.Superuser(t).QueryRow(t.Context(), "select pg_current_wal_flush_lsn()::text").Scan(&written); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	replica, isThere := n.Superuser(t), false
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && !isThere; time.Sleep(5 * time.Millisecond) {
		if err := replica.QueryRow(t.Context(), "select pg_last_wal_replay_lsn() >= $1::text::pg_lsn", written).Scan(&isThere); err != nil {
			t.Fatalf("pgtest: %v", err)
		}
	}
	if !isThere {
		t.Fatalf("pgtest: the replica does not reach %s within a minute", written)
	}
}

// Freeze stops all processes of a node: connections stay open, and nothing answers. Thaw
// resumes them.
func (n *Node) Freeze(t testing.TB) { t.Helper(); n.signal(t, syscall.SIGSTOP) }

// Thaw resumes a frozen node.
func (n *Node) Thaw(t testing.TB) { t.Helper(); n.signal(t, syscall.SIGCONT) }

// signal sends a signal to the processes of a node, if it runs. It includes the
// children, since a killed node's children would otherwise finish their work.
func (n *Node) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(n.server.DataDir(), "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, errPID := strconv.Atoi(first)
	if err = errors.Join(err, errPID); err != nil {
		t.Fatalf("pgtest: find the process of a server: %v", err)
	}
	select {
	case <-n.server.Exited():
		return
	default:
	}
	for _, p := range append([]int{pid}, children(t, pid)...) {
		if err := syscall.Kill(p, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatalf("pgtest: signal process %d: %v", p, err)
		}
	}
}

// children returns the processes that a server has started.
func children(t testing.TB, pid int) []int {
	t.Helper()
	out, err := exec.Command("ps", "-e", "-o", "pid=,ppid=").Output()
	if err != nil {
		t.Fatalf("pgtest: list processes: %v", err)
	}
	var pids []int
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[1] == strconv.Itoa(pid) {
			if child, err := strconv.Atoi(fields[0]); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// Upgrade moves a node into a new cluster by pg_upgrade, with the same version of Postgres.
func (n *Node) Upgrade(t testing.TB) {
	t.Helper()
	upgrade := n.program(t, "pg_upgrade")
	u, err := url.Parse(n.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	n.Stop(t)
	fresh := &Node{dir: nodeDir(t), settings: n.settings}
	fresh.Start(t)
	fresh.Stop(t)
	work := filepath.Join(fresh.dir, "upgrade")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	chownLike(t, work, n.server.DataDir())
	cmd := exec.Command(upgrade, "--old-bindir="+filepath.Dir(upgrade), "--new-bindir="+filepath.Dir(upgrade), "--old-datadir="+n.server.DataDir(),
		"--new-datadir="+fresh.server.DataDir(), "--username="+u.User.Username(), "--socketdir="+work)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if info, err := os.Stat(work); err != nil {
		t.Fatal(err)
	} else if owner := info.Sys().(*syscall.Stat_t); int(owner.Uid) != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pgtest: pg_upgrade: %v\n%s", err, out)
	}
	n.dir, n.server = fresh.dir, fresh.server
	n.Start(t)
	n.cluster = n.clusterAt(t, n.server.URL())
}
