package faults

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/migrate"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

var resultsFile = flag.String("results", "", "write the table to this file")

// schema has two rows below one, so that a half write can be detected.
const schema = `model Order {
  fields { number Text  lines Line[] }
  actions { create place() with (number, lines.item) }
  @permission(expression: true, actions: [create])
}
model Line { fields { order Order  item Text } }
`

// field is the place of a fault: a database, perhaps with a standby, and its servers.
type field struct {
	testing.TB
	primary, standby *pgtest.Node
	db               *pgtest.DB
	proxy            *pgtest.Proxy // between the servers and the database; nil without one
	servers          []*instance
	clients          *clients
	full             string // a folder on the disk of the database, where that is small
	project          string // the folder of the project whose migrations the database is under; empty if it is under none
}

// fault is one fault of a field while clients write. When befall returns, the damage is
// mended, or can at least be overcome.
type fault struct {
	name         string
	servers      int
	standby      standby
	isProxied    bool
	isSmall      bool // the disk of the database
	isMigrated   bool // the database is under migrations, and has many rows
	mayLose      bool // acknowledged writes
	failsNothing bool // nothing may even be refused
	isTold       bool // a subscriber hears of each line
	befall       func(*field)
}

// standby is the kind of standby.
type standby int

const (
	none standby = iota
	synchronous
	asynchronous
)

// faults are tried in this order.
var faults = []fault{
	{name: "kill -9 of one of three servers, 5 times", servers: 3, befall: killServer},
	{name: "restart of three servers, one after the other", servers: 3, befall: restartServers},
	{name: "kill -9 of a backend, 3 times", servers: 1, befall: killBackend},
	{name: "kill -9 of the postmaster and all its processes, 3 times", servers: 1, befall: killPostmaster},
	{name: "restart of Postgres, 3 times", servers: 1, befall: restartPostgres},
	{name: "Postgres stopped for 5 s (SIGSTOP)", servers: 1, befall: stopPostgres},
	{name: "Postgres stopped for 20 s, longer than a call may take", servers: 1, befall: stopPostgresLonger},
	{name: "all connections cut, 20 times", servers: 1, isProxied: true, befall: cutConnections},
	{name: "one answer of 40 cut off", servers: 1, isProxied: true, befall: cutAnswers},
	{name: "disk full for 3 s", servers: 1, isSmall: true, befall: fillDisk},
	{name: "promotion of a synchronous standby, three servers", servers: 3, standby: synchronous, befall: promote},
	{name: "promotion of an asynchronous standby, three servers", servers: 3, standby: asynchronous, mayLose: true, befall: promote},
	{name: "a release installed, three servers", servers: 3, failsNothing: true, befall: installRelease},
	{name: tellingName, servers: 3, standby: synchronous, isTold: true, befall: tell},
	{name: "migrate up beside a transaction that is open for 3 s, three servers", servers: 3, isMigrated: true, failsNothing: true, befall: migrateUp},
}

// BenchmarkFaults causes each fault in a field of its own, and fails if a write was
// acknowledged and lost, doubled, half done, or carried out although it was refused.
func BenchmarkFaults(b *testing.B) {
	began := time.Now()
	var results []result
	var skipped []string
	for _, f := range faults {
		isRun := b.Run(f.name, func(b *testing.B) {
			r, why := f.run(b)
			if why != "" {
				skipped = append(skipped, f.name+": "+why)
				return
			}
			results = append(results, r)
			r.judge(b)
		})
		if !isRun {
			skipped = append(skipped, f.name+": it failed")
		}
	}
	text := table(results, skipped)
	fmt.Printf("\n%s\n%s\n", text, time.Since(began).Round(time.Second))
	if *resultsFile != "" {
		write(b, *resultsFile, text, time.Since(began))
	}
}

// run causes a fault while clients write. why says why it cannot do so here.
func (f *fault) run(b testing.TB) (r result, why string) {
	field, why := newField(b, f)
	if why != "" {
		return r, why
	}
	field.clients = newClients(field.urls)
	stop := sync.OnceFunc(field.clients.end)
	b.Cleanup(stop)
	field.awaitWrites(time.Now())
	f.befall(field)
	r = result{name: f.name, mayLose: f.mayLose, failsNothing: f.failsNothing}
	r.recover = field.awaitWrites(time.Now())
	time.Sleep(500 * time.Millisecond)
	stop()
	field.clients.compare(b, &r, field.superuser())
	if f.isTold {
		field.compareEvents(&r)
	}
	return r, ""
}

// newField makes a field.
func newField(b testing.TB, of *fault) (f *field, why string) {
	b.Helper()
	f = &field{TB: b}
	settings := []string{"log_min_messages=fatal"}
	if of.isSmall {
		if f.full, why = smallDisk(b); why != "" {
			return nil, why
		}
		f.primary = pgtest.NewNodeIn(b, filepath.Join(f.full, "data"), append(settings, "max_wal_size=64MB", "wal_keep_size=0")...)
	} else {
		f.primary = pgtest.NewNode(b, settings...)
	}
	if of.isMigrated {
		f.migrate(b)
	} else {
		f.db = f.primary.New(b, pgtest.Options{Template: pgtest.Template{Name: "orders", Build: func(ctx context.Context, owner *pgx.Conn) error {
			if of.isTold {
				return installSchema(ctx, owner, heardSchema, hear)
			}
			return installSchema(ctx, owner, schema)
		}}})
	}
	url := f.db.ServerURL()
	if of.standby != none {
		f.standby = f.primary.Replica(b, "standby", settings...)
		url = pgtest.Together(url, f.db.At(f.standby).ServerURL())
		if of.standby == synchronous {
			f.primary.Exec(b, "alter system set synchronous_standby_names = 'standby'")
			f.primary.Exec(b, "select pg_reload_conf()")
		}
	}
	if of.isProxied {
		f.proxy = pgtest.NewProxy(b, url)
		url = f.proxy.URL()
	}
	key, err := auth.GenerateKey()
	if err != nil {
		b.Fatal(err)
	}
	for range of.servers {
		f.servers = append(f.servers, newInstance(b, url, string(key)))
	}
	return f, ""
}

// installSchema installs a schema in a database.
func installSchema(ctx context.Context, owner *pgx.Conn, schema string, code ...*syntax.Source) error {
	release, err := compile(schema, code...)
	if err != nil {
		return err
	}
	_, err = install.Install(ctx, owner, release)
	return err
}

func compile(schema string, code ...*syntax.Source) (*emit.Release, error) {
	compiled, errs := sqlgen.Compile(&sqlgen.Project{Files: []*syntax.Source{{Name: "schema.stern", Text: []byte(schema)}}, Functions: code})
	if errs.HasErrors() {
		return nil, fmt.Errorf("compile: %v", errs)
	}
	return compiled.Release(), nil
}

// migrate makes a database by a migration, and gives it rows.
func (f *field) migrate(b testing.TB) {
	b.Helper()
	f.db, f.project = f.primary.New(b, pgtest.Options{Empty: true}), b.TempDir()
	f.up("first", schema)
	login, err := pgx.ParseConfig(f.db.ServerURL())
	if err != nil {
		b.Fatal(err)
	}
	user := pgx.Identifier{login.User}.Sanitize()
	_, err = f.superuser().Exec(b.Context(), fmt.Sprintf(`
		grant sternpost_server to %s;
		grant connect on database %s to %[1]s;
		insert into app."order" (number)
		select '%[3]s' || number
		from generate_series(1, %[4]d) as number`, user, f.db.Name(), earlier, earlierRows))
	if err != nil {
		b.Fatal(err)
	}
}

// Rows from before the clients.
const (
	earlier     = "earlier "
	earlierRows = 200_000
)

// up writes the migration to a schema, and applies it.
func (f *field) up(name, schema string) {
	f.Helper()
	release, err := compile(schema)
	if err != nil {
		f.Fatal(err)
	}
	for _, step := range []func(*migrate.Folder) error{
		func(folder *migrate.Folder) error {
			_, err := migrate.New(folder, name, release, migrate.PlanOptions{})
			return err
		},
		func(folder *migrate.Folder) error {
			_, err := migrate.Up(f.Context(), folder, migrate.UpOptions{URL: f.db.OwnerURL(), LockTimeout: 500 * time.Millisecond})
			return err
		},
	} {
		folder, err := migrate.ReadFolder(f.project)
		if err == nil {
			err = step(folder)
		}
		if err != nil {
			f.Fatal(err)
		}
	}
}

// smallDisk makes a disk of 300 MB for a database.
func smallDisk(b testing.TB) (dir, why string) {
	b.Helper()
	dir, err := os.MkdirTemp("", "sternpost-disk-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		b.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=300m,mode=0711"); err != nil {
		return "", fmt.Sprintf("a small disk cannot be made here (%v); it takes root", err)
	}
	b.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir, ""
}

func (f *field) urls() []string {
	var urls []string
	for _, s := range f.servers {
		urls = append(urls, s.url())
	}
	return urls
}

// awaitWrites waits for the acknowledgement of a write that was sent after a moment, and returns
// how long after it.
func (f *field) awaitWrites(moment time.Time) time.Duration {
	f.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if after, is := f.clients.acknowledgedAfter(moment); is {
			return after
		}
	}
	f.Fatal("nothing is acknowledged within a minute")
	return 0
}

// superuser connects to the database as it is now.
func (f *field) superuser() *pgx.Conn {
	if f.standby != nil {
		return f.db.At(f.standby).Superuser(f)
	}
	return f.db.Superuser(f)
}

func killServer(f *field) {
	for i := range 5 {
		s := f.servers[i%len(f.servers)]
		s.end(f, syscall.SIGKILL)
		f.awaitWrites(time.Now())
		s.start(f)
	}
}

func restartServers(f *field) {
	for _, s := range f.servers {
		s.end(f, syscall.SIGTERM)
		s.start(f)
	}
}

func killBackend(f *field) {
	for range 3 {
		conn, pid := f.superuser(), 0
		for deadline := time.Now().Add(time.Minute); pid == 0; time.Sleep(5 * time.Millisecond) {
			err := conn.QueryRow(f.Context(), `select coalesce(max(pid), 0) from pg_stat_activity
				where datname = current_database() and application_name = 'sternpost' and query like '%place%'`).Scan(&pid)
			if err != nil || time.Now().After(deadline) {
				f.Fatalf("no backend carries out a write (%v)", err)
			}
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			f.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond) // until the others have been ended as well
		f.awaitWrites(time.Now())
	}
}

func killPostmaster(f *field) {
	for range 3 {
		f.primary.Kill(f)
		f.primary.Start(f)
		f.awaitWrites(time.Now())
	}
}

func restartPostgres(f *field) {
	for range 3 {
		f.primary.Stop(f)
		f.primary.Start(f)
		f.awaitWrites(time.Now())
	}
}

func stopPostgres(f *field) {
	f.primary.Freeze(f)
	time.Sleep(5 * time.Second)
	f.primary.Thaw(f)
}

func stopPostgresLonger(f *field) {
	f.primary.Freeze(f)
	time.Sleep(20 * time.Second)
	f.primary.Thaw(f)
}

func cutConnections(f *field) {
	for range 20 {
		f.proxy.Cut()
		f.awaitWrites(time.Now())
	}
}

func cutAnswers(f *field) {
	var mu sync.Mutex
	sent, cut := 0, 0
	f.proxy.Decide(func(statement string) pgtest.Fate {
		mu.Lock()
		defer mu.Unlock()
		if !strings.Contains(statement, "place") && statement != "commit" {
			return pgtest.Pass
		}
		if sent++; sent%40 == 0 {
			cut++
			return pgtest.CutUnanswered
		}
		return pgtest.Pass
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		isEnough := cut >= 20
		mu.Unlock()
		if isEnough {
			break
		}
		if time.Now().After(deadline) {
			f.Fatal("no 20 answers were cut off within a minute")
		}
	}
	f.proxy.Decide(nil)
}

func fillDisk(f *field) {
	filler := filepath.Join(f.full, "filler")
	file, err := os.Create(filler)
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	zeros := make([]byte, 1<<20)
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		if _, err := file.Write(zeros); err != nil { // it is full: freed space is taken as well
			zeros = zeros[:4096]
			time.Sleep(time.Millisecond)
		}
	}
	if err := os.Remove(filler); err != nil {
		f.Fatal(err)
	}
	if err := file.Truncate(0); err != nil {
		f.Fatal(err)
	}
	f.primary.StartIfEnded(f)
}

func promote(f *field) {
	f.primary.Kill(f)
	f.standby.Promote(f)
}

func installRelease(f *field) {
	if err := installSchema(f.Context(), f.db.Owner(f), replace(f, schema, "number Text ", `number Text  state Text @default("new") `)); err != nil {
		f.Fatal(err)
	}
}

// migrateUp adds a column, an index and a check to a table of many rows, while another
// session has been reading it in a transaction for some time.
func migrateUp(f *field) {
	reader := f.superuser()
	if _, err := reader.Exec(f.Context(), `begin; select from app."order" limit 1`); err != nil {
		f.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		time.Sleep(3 * time.Second)
		_, err := reader.Exec(f.Context(), "commit")
		ended <- err
	}()
	changed := replace(f, schema, "number Text ", `number Text @index  state Text @default("new") `)
	f.up("second", replace(f, changed, "  @permission", "  @validate(order.state != \"\")\n  @permission"))
	if err := <-ended; err != nil {
		f.Fatal(err)
	}
}

// replace replaces a part of a text, which must exist.
func replace(f *field, text, old, new string) string {
	changed := strings.Replace(text, old, new, 1)
	if changed == text {
		f.Fatalf("%q is not in %q", old, text)
	}
	return changed
}
