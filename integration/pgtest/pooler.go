package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// PoolerOptions say how a Pooler works.
type PoolerOptions struct {
	// Prepared lets it keep prepared statements, which PgBouncer does from 1.21 on.
	Prepared bool

	// Size is the number of connections to the database; 0 means 10.
	Size int

	// Settings are further lines of its configuration.
	Settings []string
}

// poolerVariable lets servers under test connect through a pooler: on means one that keeps prepared statements, off one
// that does not.
const poolerVariable = "STERNPOST_TEST_POOLER"

// Pooler is a PgBouncer before the databases of the tests, with transaction pooling. It
// does not authenticate clients.
type Pooler struct {
	address string
	dir     string
	stop    func()
}

// NewPooler starts a PgBouncer until the test ends. It skips the test without PgBouncer.
func NewPooler(t testing.TB, options PoolerOptions) *Pooler {
	t.Helper()
	if findPooler(options.Prepared) == "" {
		t.Skipf("SKIPPED: nothing runs behind a pooler: it needs %s, which is not on this machine (make pooler)", options.program())
	}
	c, err := running()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	p, err := startPooler(c, options)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(p.stop)
	return p
}

// program names the needed program.
func (o PoolerOptions) program() string {
	if o.Prepared {
		return "PgBouncer from 1.21 on"
	}
	return "PgBouncer"
}

// wantedPooler starts the pooler that the environment asks for; nil means none.
func wantedPooler(c *cluster) (*Pooler, error) {
	var options PoolerOptions
	switch value := os.Getenv(poolerVariable); value {
	case "":
		return nil, nil
	case "on", "off":
		options.Prepared = value == "on"
	default:
		return nil, fmt.Errorf("%s: %q is neither on nor off", poolerVariable, value)
	}
	if findPooler(options.Prepared) == "" {
		return nil, fmt.Errorf("%s: there is no %s here (make pooler)", poolerVariable, options.program())
	}
	return startPooler(c, options)
}

func startPooler(c *cluster, options PoolerOptions) (*Pooler, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	listener.Close()
	p := &Pooler{address: listener.Addr().String()}
	if p.dir, err = os.MkdirTemp("", "sternpost-pooler-"); err != nil {
		return nil, err
	}
	file, err := p.configure(c, options)
	if err == nil {
		err = p.start(findPooler(options.Prepared), file)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start PgBouncer: %w", err), os.RemoveAll(p.dir))
	}
	return p, nil
}

// Of returns the URL of a database through the pooler.
func (p *Pooler) Of(databaseURL string) string {
	u, err := url.Parse(databaseURL)
	if err != nil {
		panic("pgtest: " + err.Error())
	}
	u.Host = p.address
	u.RawQuery = "sslmode=disable"
	return u.String()
}

// configure writes the files of a PgBouncer, and returns the path of the first.
func (p *Pooler) configure(c *cluster, options PoolerOptions) (string, error) {
	target, err := pgconn.ParseConfig(c.super.String())
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(p.address)
	if err != nil {
		return "", err
	}
	size := options.Size
	if size == 0 {
		size = 10
	}
	lines := []string{
		"[databases]",
		fmt.Sprintf("* = host=%s port=%d", target.Host, target.Port),
		"[pgbouncer]",
		"listen_addr = 127.0.0.1",
		"listen_port = " + port,
		"unix_socket_dir =",
		"auth_type = trust",
		"auth_file = " + filepath.Join(p.dir, "users"),
		"pool_mode = transaction",
		"default_pool_size = " + strconv.Itoa(size),
		"max_client_conn = 500",
		"server_login_retry = 1",
	}
	if options.Prepared {
		lines = append(lines, "max_prepared_statements = 100")
	}
	if os.Geteuid() == 0 { // it refuses to run as root
		account, err := unprivileged()
		if err != nil {
			return "", err
		}
		lines = append(lines, "user = "+account)
	}
	lines = append(lines, options.Settings...)

	var users strings.Builder
	password, _ := c.super.User.Password()
	for name, password := range map[string]string{c.owner(): c.password, c.login(): c.password, c.super.User.Username(): password} {
		fmt.Fprintf(&users, "\"%s\" \"%s\"\n", name, password)
	}
	file := filepath.Join(p.dir, "pgbouncer.ini")
	return file, errors.Join(
		os.Chmod(p.dir, 0o755), // the account reads it as well
		os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644),
		os.WriteFile(filepath.Join(p.dir, "users"), []byte(users.String()), 0o644),
	)
}

// unprivileged is an account without special rights.
func unprivileged() (string, error) {
	for _, name := range []string{"postgres", "nobody"} {
		if _, err := user.Lookup(name); err == nil {
			return name, nil
		}
	}
	return "", errors.New("there is neither a user postgres nor a user nobody")
}

// start starts a PgBouncer that ends with this process at the latest, even after a crash: a
// shell waits for the end of its input. It restarts a PgBouncer that ended by itself, as
// every service manager does: versions 1.18 to 1.20 may crash when a statement is
// cancelled.
func (p *Pooler) start(program, file string) error {
	const bound = `(
		trap 'kill -TERM "$child"; wait "$child"; exit' TERM
		while :; do "$@" </dev/null & child=$!; wait "$child"; sleep 0.1; done
	) & kept=$!; read -r line; kill -TERM "$kept"; wait "$kept"`
	var output bytes.Buffer
	command := exec.Command("/bin/sh", "-c", bound, "sh", program, file)
	command.Stdout, command.Stderr = &output, &output
	held, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	p.stop = sync.OnceFunc(func() {
		held.Close()
		_ = command.Wait()
		_ = os.RemoveAll(p.dir)
	})
	for range 500 {
		conn, err := net.Dial("tcp", p.address)
		if err == nil {
			return conn.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.stop()
	return fmt.Errorf("it does not answer: %s", output.String())
}

// findPooler returns the path of a PgBouncer, or empty. It prefers the one of the machine
// unless it must keep prepared statements: that is often an older version, which shows
// more.
func findPooler(prepared bool) string {
	for _, p := range poolers() {
		if !prepared || p.keeps {
			return p.path
		}
	}
	return ""
}

type poolerProgram struct {
	path  string
	keeps bool // prepared statements
}

// poolers are the available programs: first the machine's, then those built by make pooler.
var poolers = sync.OnceValue(func() []poolerProgram {
	var found []poolerProgram
	for _, path := range []string{"pgbouncer", "/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer", filepath.Join(top(), ".sternpost", "pgbouncer", "pgbouncer")} {
		path, err := exec.LookPath(path)
		if err != nil {
			continue
		}
		said, err := exec.Command(path, "--version").Output()
		version := regexp.MustCompile(`PgBouncer (\d+)\.(\d+)`).FindStringSubmatch(string(said))
		if err != nil || version == nil {
			continue
		}
		major, _ := strconv.Atoi(version[1])
		minor, _ := strconv.Atoi(version[2])
		found = append(found, poolerProgram{path, major > 1 || minor >= 21})
	}
	return found
})

// top is the folder of the module, above the folder of the test.
func top() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
