package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sternpost/sternpost/sql"
)

// Roles and names of databases belong to the server, which other processes may use at
// the same time. So all names of a process contain its token: sternpost_test_<token>_….
// While the process lives it holds an advisory lock of that number, so that others can
// tell the remains of dead processes.
const (
	prefix = "sternpost_test_"

	// The classes of our advisory locks in the maintenance database.
	tokenLock  = 0x53747470
	commonLock = 0x53747471
)

// cluster is the server of this process, set up to make databases.
type cluster struct {
	server   *server
	super    *url.URL // the server's URL, without parameter database
	token    string   // eight hexadecimal digits
	password string   // of this process's roles
	pooler   *Pooler  // that servers connect through; nil means that they connect to Postgres itself

	keeps bool          // whether the server has to keep its data
	guard *pgx.Conn     // holds the lock of the token
	admin *pgxpool.Pool // in the maintenance database, as superuser

	count     atomic.Int64 // of databases made
	mu        sync.Mutex
	templates map[string]func() (string, error) // by Template.Name: the database, once it is built
}

// process is the cluster of this process, started for the first test that needs it. It
// is a variable of the package, since sharing it is the purpose of the package.
var process struct {
	mu      sync.Mutex
	cluster *cluster
	err     error
	ended   bool

	inContainer bool // whether a container comes before the Postgres of this machine
}

// running returns the cluster of this process and starts it if it is not running. It
// keeps an error, since the next test would get it too.
func running() (*cluster, error) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.ended {
		return nil, errors.New("the server has been stopped by Main")
	}
	if process.cluster == nil && process.err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		process.cluster, process.err = startCluster(ctx, process.inContainer)
	}
	return process.cluster, process.err
}

// shutdown ends the cluster of this process, if there is one.
func shutdown() error {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.ended = true
	if process.cluster == nil {
		return nil
	}
	return process.cluster.stop()
}

func startCluster(ctx context.Context, inContainer bool) (*cluster, error) {
	srv, err := startServer(ctx, inContainer)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "pgtest: %s\n", srv.describe)
	return setUp(ctx, srv)
}

// setUp prepares a server for databases. It ends the server on an error.
func setUp(ctx context.Context, srv *server) (_ *cluster, err error) {
	c := &cluster{server: srv, templates: map[string]func() (string, error){}}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	c.super, err = url.Parse(srv.url)
	if err == nil && c.super.Scheme != "postgres" && c.super.Scheme != "postgresql" {
		err = errors.New("want the form postgres://…")
	}
	if err != nil {
		return nil, fmt.Errorf("read the server's URL: %w", err)
	}

	random := make([]byte, 20)
	if _, err := rand.Read(random); err != nil {
		return nil, fmt.Errorf("make a token: %w", err)
	}
	c.token, c.password = hex.EncodeToString(random[:4]), hex.EncodeToString(random[4:])

	c.guard, err = pgx.Connect(ctx, srv.url)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if _, err := c.guard.Exec(ctx, "select pg_advisory_lock($1, $2)", tokenLock, tokenNumber(c.token)); err != nil {
		return nil, fmt.Errorf("lock the token: %w", err)
	}
	config, err := pgxpool.ParseConfig(srv.url)
	if err != nil {
		return nil, fmt.Errorf("read the server's URL: %w", err)
	}
	config.MaxConns = 4
	c.admin, err = pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if err := c.admin.QueryRow(ctx, "select current_setting('fsync') = 'on'").Scan(&c.keeps); err != nil {
		return nil, fmt.Errorf("read the server's settings: %w", err)
	}
	if srv.isShared {
		if err := c.sweep(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.makeRoles(ctx); err != nil {
		return nil, err
	}
	c.pooler, err = wantedPooler(c)
	return c, err
}

// stop removes all that this process made and ends the server if it is ours.
func (c *cluster) stop() error {
	var errs []error
	if c.pooler != nil {
		c.pooler.stop()
	}
	if c.admin != nil {
		if c.server.isShared {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			errs = append(errs, c.remove(ctx, c.token))
		}
		c.admin.Close()
	}
	if c.guard != nil {
		errs = append(errs, c.guard.Close(context.Background()))
	}
	errs = append(errs, c.server.stop())
	return errors.Join(errs...)
}

// makeRoles makes the roles of this process. It makes those of the platform, which all
// databases of a server share, before any migration can, since from PostgreSQL 16 on
// only their maker may grant them.
func (c *cluster) makeRoles(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, c.admin, func(tx pgx.Tx) error {
		// One process at a time.
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1, 0)", commonLock); err != nil {
			return err
		}
		var names []string
		for _, role := range sql.Roles() {
			names = append(names, role.Name)
			var isThere bool
			if err := tx.QueryRow(ctx, "select to_regrole($1) is not null", role.Name).Scan(&isThere); err != nil {
				return err
			}
			if isThere {
				continue
			}
			if _, err := tx.Exec(ctx, "create role "+role.Name+" nologin"); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, strings.Join([]string{
			"create role " + c.owner() + " login createrole password '" + c.password + "'",
			"create role " + c.login() + " login password '" + c.password + "'",
			"grant " + strings.Join(names, ", ") + " to " + c.owner(),
			"grant sternpost_server to " + c.login(),
		}, ";\n"))
		return err
	})
	if err != nil {
		return fmt.Errorf("make roles (this takes a superuser): %w", err)
	}
	return nil
}

func (c *cluster) owner() string { return prefix + c.token + "_owner" }
func (c *cluster) login() string { return prefix + c.token + "_server" }

// url is the server's URL for another database and user.
func (c *cluster) url(database string, user *url.Userinfo) string {
	u := *c.super
	u.Path = "/" + database
	u.User = user
	return u.String()
}

// template returns the name of a database to copy, and builds it for the first caller.
// Other callers wait meanwhile.
func (c *cluster) template(ctx context.Context, t Template) (string, error) {
	c.mu.Lock()
	build, ok := c.templates[t.Name]
	if !ok {
		build = sync.OnceValues(func() (string, error) { return c.build(ctx, t) })
		c.templates[t.Name] = build
	}
	c.mu.Unlock()
	return build()
}

func (c *cluster) build(ctx context.Context, t Template) (name string, err error) {
	if (t.Name == "") != (t.Build == nil) {
		return "", errors.New("a template has both name and build function, or neither")
	}
	base, fill := "", sql.Migrate
	if t.Name != "" {
		fill = t.Build
		if base, err = c.template(ctx, Template{}); err != nil {
			return "", err
		}
	}

	name, err = c.create(ctx, base)
	if err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, c.url(name, url.UserPassword(c.owner(), c.password)))
	if err != nil {
		return "", fmt.Errorf("connect to template %q: %w", t.Name, err)
	}
	// The copied database must have no connections.
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if err := fill(ctx, conn); err != nil {
		return "", fmt.Errorf("build template %q: %w", t.Name, err)
	}
	return name, nil
}

// create makes a database, as a copy of another or an empty one for "". The copy does
// not include the rights on a database.
func (c *cluster) create(ctx context.Context, template string) (string, error) {
	name := fmt.Sprintf("%s%s_%d", prefix, c.token, c.count.Add(1))
	source := template
	if source == "" {
		source = "template0"
	}
	// Copying the files saves a quarter of the processor, but reaches the disk of a server that has to keep its data.
	strategy := "file_copy"
	if c.keeps {
		strategy = "wal_log"
	}
	if _, err := c.admin.Exec(ctx, "create database "+name+" template "+source+" strategy "+strategy+" owner "+c.owner()); err != nil {
		return "", fmt.Errorf("create a database: %w", err)
	}
	if template == "" {
		return name, nil
	}
	_, err := c.admin.Exec(ctx, "revoke all on database "+name+" from public; grant connect on database "+name+" to "+c.login())
	if err != nil {
		return "", errors.Join(fmt.Errorf("grant rights on a database: %w", err), c.drop(name))
	}
	return name, nil
}

func (c *cluster) drop(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := c.admin.Exec(ctx, "drop database if exists "+name+" with (force)"); err != nil {
		return fmt.Errorf("drop a database: %w", err)
	}
	return nil
}

// sweep removes the remains of dead processes.
func (c *cluster) sweep(ctx context.Context) error {
	rows, err := c.admin.Query(ctx, `
		select distinct substring(name from '^sternpost_test_([0-9a-f]{8})_')
		from (select datname from pg_database union all select rolname from pg_roles) as made (name)
		where name ~ '^sternpost_test_[0-9a-f]{8}_'
	`)
	if err != nil {
		return fmt.Errorf("look for what is left: %w", err)
	}
	tokens, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for what is left: %w", err)
	}
	for _, token := range tokens {
		if token == c.token {
			continue
		}
		err := c.admin.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
			number := tokenNumber(token)
			var isGone bool
			err := conn.QueryRow(ctx, "select pg_try_advisory_lock($1, $2)", tokenLock, number).Scan(&isGone)
			if err != nil || !isGone {
				return err
			}
			err = c.remove(ctx, token)
			_, errUnlock := conn.Exec(ctx, "select pg_advisory_unlock($1, $2)", tokenLock, number)
			return errors.Join(err, errUnlock)
		})
		if err != nil {
			return fmt.Errorf("remove what process %s has left: %w", token, err)
		}
	}
	return nil
}

// remove drops the databases and roles of a token.
func (c *cluster) remove(ctx context.Context, token string) error {
	for _, kind := range []struct{ object, names string }{
		{"database", "select datname from pg_database where starts_with(datname, $1) order by 1"},
		{"role", "select rolname from pg_roles where starts_with(rolname, $1) order by 1"},
	} {
		rows, err := c.admin.Query(ctx, kind.names, prefix+token+"_")
		if err != nil {
			return fmt.Errorf("list what to drop: %w", err)
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("list what to drop: %w", err)
		}
		for _, name := range names {
			statement := "drop role " + name
			if kind.object == "database" {
				statement = "drop database if exists " + name + " with (force)"
			}
			if _, err := c.admin.Exec(ctx, statement); err != nil {
				return fmt.Errorf("drop %s %s: %w", kind.object, name, err)
			}
		}
	}
	return nil
}

// tokenNumber is the token as the second key of an advisory lock.
func tokenNumber(token string) int32 {
	bytes, err := hex.DecodeString(token)
	if err != nil {
		panic(fmt.Sprintf("token %q: %v", token, err))
	}
	return int32(binary.BigEndian.Uint32(bytes))
}
