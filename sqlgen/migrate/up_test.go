package migrate_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/migrate"
)

// schemas are three that follow one another.
var schemas = []string{
	schemaOf("title Text", ""),
	schemaOf("title Text prio Number @default(1)", "model Tag { fields { name Text @unique } }"),
	schemaOf("title Text @unique prio Number @default(1) tag Tag?", "model Tag { fields { name Text @unique tasks Task[] } }"),
}

func schemaOf(fields, rest string) string {
	return "model Task { fields { " + fields + " } actions { get getTask(id) create createTask() with (title) list listTasks(title?) } " +
		"@permission(expression: true, actions: [get, list, create]) } " + rest
}

// threeMigrations writes the migrations of the three schemas.
func threeMigrations(t testing.TB) (project string) {
	t.Helper()
	project = t.TempDir()
	mustNew(t, project, "first", compile(t, schemas[0]))
	mustNew(t, project, "second", compile(t, schemas[1]))
	mustNew(t, project, "third", compile(t, schemas[2]), "unique:task.title")
	return project
}

// letServerIn gives the login of a server the privileges that it needs in a database that was empty.
func letServerIn(t testing.TB, db *pgtest.DB) {
	t.Helper()
	u, err := url.Parse(db.ServerURL())
	if err != nil {
		t.Fatal(err)
	}
	login := pgx.Identifier{u.User.Username()}.Sanitize()
	mustExec(t, db.Superuser(t), "grant sternpost_server to "+login+"; grant connect on database "+db.Name()+" to "+login)
}

func mustUp(t testing.TB, project, url string) int {
	t.Helper()
	n, err := migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestUpFromEachVersion checks that tern's command line and Up apply the same files from any version, and each other's.
func TestUpFromEachVersion(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	dir := filepath.Join(project, migrate.DirName)
	last := len(folder(t, project).Files)
	fresh := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	if _, err := install.Install(t.Context(), fresh, compile(t, schemas[2])); err != nil {
		t.Fatal(err)
	}
	want := catalog(t, fresh)
	for version := range last + 1 {
		for name, up := range map[string]func(db *pgtest.DB){
			"tern":      func(db *pgtest.DB) { mustTern(t, db.OwnerURL(), dir) },
			"sternpost": func(db *pgtest.DB) { mustUp(t, project, db.OwnerURL()) },
		} {
			db := pgtest.New(t, pgtest.Options{Empty: true})
			if version > 0 {
				mustTern(t, db.OwnerURL(), dir, "-d", string(rune('0'+version)))
				mustExec(t, db.Owner(t), "insert into app.task (title) values ('kept')")
			}
			up(db)
			conn := db.Owner(t)
			checkSame(t, name, catalog(t, conn), want)
			if got := value[int](t, conn, "select version from public.schema_version"); got != last {
				t.Errorf("%s from %d: the version is %d, want %d", name, version, got, last)
			}
			if got := value[int](t, conn, "select count(*) from app.task where title = 'kept'"); got != min(version, 1) {
				t.Errorf("%s from %d: %d rows are left", name, version, got)
			}
			if got := value[int](t, conn, "select count(*) from platform.drift()"); got > 0 {
				t.Errorf("%s from %d: %d objects are other than the release wants", name, version, got)
			}
			letServerIn(t, db)
			server := db.Server(t)
			if got := value[int](t, server, "select count(*) from platform.serving_faults()"); got > 0 {
				t.Errorf("%s from %d: the database has faults", name, version)
			}
			if n := mustUp(t, project, db.OwnerURL()); n != 0 {
				t.Errorf("%s from %d: %d migrations are applied twice", name, version, n)
			}
		}
	}
}

// TestTernGoesDownNowhere checks that migrations have no way down: dropped objects are gone.
func TestTernGoesDownNowhere(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	db := pgtest.New(t, pgtest.Options{Empty: true})
	mustUp(t, project, db.OwnerURL())
	out, err := tern(t, db.OwnerURL(), filepath.Join(project, migrate.DirName), "-d", "-1")
	if err == nil || !strings.Contains(out, "Irreversible migration: 5") {
		t.Errorf("tern migrate -d -1: %v, %s", err, tail(out))
	}
}

func TestUpManyAtOnce(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	db := pgtest.New(t, pgtest.Options{Empty: true})
	var total [5]int
	var errs [5]error
	var group sync.WaitGroup
	for i := range total {
		group.Go(func() {
			total[i], errs[i] = migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{URL: db.OwnerURL()})
		})
	}
	group.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range total {
		sum += n
	}
	if want := len(folder(t, project).Files); sum != want {
		t.Errorf("%v migrations were applied, want %d", total, want)
	}
}

// TestUpWaitsForLocks checks that a migration waits for the lock of another transaction in short turns, so that others
// get theirs in between; then it is applied.
func TestUpWaitsForLocks(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	db := pgtest.New(t, pgtest.Options{Empty: true})
	mustTern(t, db.OwnerURL(), filepath.Join(project, migrate.DirName), "-d", "1")
	holder, reader := db.Owner(t), db.Owner(t)
	mustExec(t, holder, "begin; insert into app.task (title) values ('a')")

	said := make(chan string, 1000)
	result := make(chan error, 1)
	go func() {
		_, err := migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{
			URL: db.OwnerURL(), LockTimeout: 200 * time.Millisecond, Say: func(line string) { said <- line },
		})
		result <- err
	}()
	for tries := 0; tries < 3; {
		select {
		case line := <-said:
			if strings.Contains(line, "is tried again") {
				tries++
				// Between the turns all others go on, under a time-out that is not the migration's.
				mustExec(t, reader, "select from app.task; insert into app.task (title) values (gen_random_uuid()::text)")
			}
		case err := <-result:
			t.Fatalf("it ended while the lock was held: %v", err)
		}
	}
	mustExec(t, holder, "commit")
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if got := value[int](t, reader, "select count(*) from app.task"); got != 4 {
		t.Errorf("there are %d rows, want 4", got)
	}
}

// TestUpWaitsToLook locks a table that the look for changes by hand has to read.
func TestUpWaitsToLook(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	db := pgtest.New(t, pgtest.Options{Empty: true})
	mustTern(t, db.OwnerURL(), filepath.Join(project, migrate.DirName), "-d", "1")
	holder := db.Owner(t)
	mustExec(t, holder, "begin; lock table app.task, platform.release")
	_, err := migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{URL: db.OwnerURL(), LockTimeout: 50 * time.Millisecond, Patience: -1})
	if !errors.Is(err, migrate.ErrLocked) {
		t.Errorf("without patience: Up = %v, want that another session has a lock", err)
	}
	commit := sync.OnceFunc(func() { mustExec(t, holder, "commit") })
	_, err = migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{
		URL: db.OwnerURL(), LockTimeout: 200 * time.Millisecond, Say: func(line string) {
			if strings.Contains(line, "is tried again") {
				commit()
			}
		},
	})
	if err != nil {
		t.Error(err)
	}
}

// TestUpSaysWhatWaits changes a type: up says beforehand which calls wait for the rows that are written anew.
func TestUpSaysWhatWaits(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	models := func(size string) string {
		return schemaOf("title Text size "+size+" @default(1)", "model Tag { fields { name Text } actions { get getTag(id) } @permission(expression: true, actions: [get]) }")
	}
	mustNew(t, project, "first", compile(t, models("Number")))
	db := pgtest.New(t, pgtest.Options{Empty: true})
	mustUp(t, project, db.OwnerURL())
	mustExec(t, db.Owner(t), "insert into app.task (title, size) select 'a', 1 from generate_series(1, 2000); analyze app.task")
	written, err := migrate.New(folder(t, project), "second", compile(t, models("Decimal")), migrate.PlanOptions{})
	if err != nil || len(written.Warnings) != 1 || !strings.HasPrefix(written.Warnings[0], "table app.task is written anew (model Task, field size") {
		t.Fatalf("migrate new warns: %q (%v)", written.Warnings, err)
	}
	var said []string
	_, err = migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{URL: db.OwnerURL(), Say: func(line string) { said = append(said, line) }})
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^002_second.sql: table app.task is written anew \(about 2000 rows, \d MB with its indexes\); meanwhile, for about 1 s, these calls wait: createTask, getTask, listTasks$`)
	if !slices.ContainsFunc(said, want.MatchString) {
		t.Errorf("up says\n%s\nand nothing like %s", strings.Join(said, "\n"), want)
	}
}

func TestUpLosesPatience(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	db := pgtest.New(t, pgtest.Options{Empty: true})
	mustTern(t, db.OwnerURL(), filepath.Join(project, migrate.DirName), "-d", "1")
	mustExec(t, db.Owner(t), "begin; insert into app.task (title) values ('a')")
	_, err := migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{
		URL: db.OwnerURL(), LockTimeout: 50 * time.Millisecond, Patience: -1,
	})
	var failed *migrate.ApplyError
	if !errors.As(err, &failed) || failed.Cause.Code != "55P03" {
		t.Errorf("Up = %v, want that it did not get its lock", err)
	}
}

// TestStatusBesideLocks asks for the status while another session has locked a table, as a migration does.
func TestStatusBesideLocks(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	db := pgtest.New(t, pgtest.Options{Empty: true})
	mustTern(t, db.OwnerURL(), filepath.Join(project, migrate.DirName), "-d", "1")
	holder := db.Owner(t)
	mustExec(t, holder, "begin; lock table app.task")
	if _, err := migrate.ReadStatus(t.Context(), folder(t, project), db.OwnerURL()); !errors.Is(err, migrate.ErrLocked) {
		t.Errorf("ReadStatus = %v, want that another session has a lock", err)
	}
	mustExec(t, holder, "commit")
	status, err := migrate.ReadStatus(t.Context(), folder(t, project), db.OwnerURL())
	if err != nil || status.Version != 1 {
		t.Errorf("when the lock is free: ReadStatus = %v, %v", status, err)
	}
}

// TestUpTellsProgress checks that a long migration reports its progress, and the transactions that it waits for.
func TestUpTellsProgress(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	mustNew(t, project, "first", compile(t, schemas[0]))
	byHand := filepath.Join(project, migrate.DirName, "002_slow.sql")
	if err := os.WriteFile(byHand, []byte("select pg_sleep(0.5);\nupdate app.task set title = 'b';\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := pgtest.New(t, pgtest.Options{Empty: true})
	mustTern(t, db.OwnerURL(), filepath.Join(project, migrate.DirName), "-d", "1")
	holder := db.Owner(t)
	mustExec(t, holder, "insert into app.task (title) values ('a')")
	mustExec(t, holder, "begin; update app.task set title = 'c'")
	waits := make(chan bool)
	var once sync.Once
	var said strings.Builder
	result := make(chan error, 1)
	go func() {
		_, err := migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{
			URL: db.OwnerURL(), LockTimeout: time.Minute, Progress: 50 * time.Millisecond, AllowDrift: true,
			Say: func(line string) {
				said.WriteString(line + "\n")
				if strings.Contains(line, "waiting for process") {
					once.Do(func() { close(waits) })
				}
			},
		})
		result <- err
	}()
	select {
	case <-waits:
	case err := <-result:
		t.Fatalf("it ended while the row was locked: %v", err)
	}
	mustExec(t, holder, "commit")
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "002_slow.sql: 0 s, at work") {
		t.Errorf("it says\n%s", said.String())
	}
}

// TestStatusHalfway checks a database between the files of a change: it is incomplete, and not changed by hand.
func TestStatusHalfway(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	db := pgtest.New(t, pgtest.Options{Empty: true})
	mustTern(t, db.OwnerURL(), filepath.Join(project, migrate.DirName), "-d", "2")
	status, err := migrate.ReadStatus(t.Context(), folder(t, project), db.OwnerURL())
	if err != nil {
		t.Fatal(err)
	}
	if !status.Halfway || status.Version != 2 || status.Release != 2 || len(status.Pending) != 3 || len(status.Drift) > 0 || status.Obstacle != nil || status.IsCurrent() {
		t.Errorf("the status is %+v", status)
	}
	mustUp(t, project, db.OwnerURL())
	status, err = migrate.ReadStatus(t.Context(), folder(t, project), db.OwnerURL())
	if err != nil || !status.IsCurrent() || status.Halfway {
		t.Errorf("the status is %+v, %v", status, err)
	}
}

// TestUpBehindPooler refuses a pooler by its behaviour: it refuses a setting, drops it, or keeps no session. Nothing is
// changed.
func TestUpBehindPooler(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	for _, c := range []struct {
		name     string
		settings []string
		want     string
	}{
		{"refuses settings", nil, "it refuses a setting: unsupported startup parameter"},
		{"drops settings", []string{"ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout"}, "it drops lock_timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{Empty: true})
			pooler := pgtest.NewPooler(t, pgtest.PoolerOptions{Settings: c.settings})
			_, err := migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{URL: pooler.Of(db.OwnerURL()), LockTimeout: time.Second})
			if !errors.Is(err, postgres.ErrNoSession) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			var isUntouched bool
			if err := db.Owner(t).QueryRow(t.Context(), "select to_regclass('public.schema_version') is null").Scan(&isUntouched); err != nil || !isUntouched {
				t.Errorf("the database was changed (%v)", err)
			}
		})
	}
}

func TestUpRefuses(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	dir := filepath.Join(project, migrate.DirName)
	at := func(version string) *pgtest.DB {
		db := pgtest.New(t, pgtest.Options{Empty: true})
		mustTern(t, db.OwnerURL(), dir, "-d", version)
		return db
	}
	up := func(url string) error {
		_, err := migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{URL: url})
		return err
	}
	cases := []struct {
		name string
		db   func() string
		want string
	}{
		{"the login of a server", func() string {
			db := at("1")
			letServerIn(t, db)
			return db.ServerURL()
		}, "login of a server"},
		{"an owner of another database", func() string {
			db := at("1")
			mustExec(t, db.Superuser(t), "alter database "+db.Name()+" owner to current_user; grant connect on database "+db.Name()+" to public")
			return db.OwnerURL()
		}, "; check the name of the database in DATABASE_URL, or migrate as its owner"},
		{"a newer database", func() string {
			db := at("1")
			mustExec(t, db.Owner(t), "update public.schema_version set version = 99")
			return db.OwnerURL()
		}, "use the version of the project that migrated it"},
		{"a newer platform", func() string {
			db := at("1")
			mustExec(t, db.Owner(t), "update platform.schema_version set version = 99")
			return db.OwnerURL()
		}, "newer than this build"},
		{"an application that was installed without migrations", func() string {
			db := pgtest.New(t, pgtest.Options{Empty: true})
			if _, err := install.Install(t.Context(), db.Owner(t), compile(t, schemas[0])); err != nil {
				t.Fatal(err)
			}
			return db.OwnerURL()
		}, "migrate adopt"},
		{"a release from elsewhere", func() string {
			db := at("1")
			mustExec(t, db.Owner(t), "select platform.install_release('x', '{}', '{}')")
			return db.OwnerURL()
		}, "is not the one of migration 1"},
		{"a change by hand", func() string {
			db := at("1")
			mustExec(t, db.Owner(t), "drop policy task_select_open on app.task; alter table app.task rename column title to headline")
			return db.OwnerURL()
		}, "policy task_select_open on app.task is gone"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := up(c.db()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Up = %v, want an error with %q", err, c.want)
			}
		})
	}
}

// TestUpTellsWhereItFails checks that Postgres' error is reported with file and line, and earlier migrations stay.
func TestUpTellsWhereItFails(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	files := folder(t, project).Files
	name := filepath.Join(project, migrate.DirName, files[1].Name)
	text := files[1].Text
	at := strings.Index(text, "\n\n")
	if err := os.WriteFile(name, []byte(text[:at]+"\n\nselect nothing_such();"+text[at:]), 0o600); err != nil {
		t.Fatal(err)
	}
	db := pgtest.New(t, pgtest.Options{Empty: true})
	n, err := migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{URL: db.OwnerURL()})
	var failed *migrate.ApplyError
	want := strings.Count(text[:at], "\n") + 3
	if !errors.As(err, &failed) || n != 1 || failed.File != files[1].Name || failed.Line != want {
		t.Errorf("Up = %d, %v; want an error in line %d of %s", n, err, want, files[1].Name)
	}
	if got := value[int](t, db.Owner(t), "select version from public.schema_version"); got != 1 {
		t.Errorf("the version is %d, want 1", got)
	}
}

// TestUpCountsRowsThatBreak checks that rows that break what a change adds are counted before anything of the change is
// applied, and that the error names what they break.
func TestUpCountsRowsThatBreak(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fields, rest, allow string // what is allowed, or a value for rows
		mend, want          string
	}{
		{"title Text\n count Number?\n code Text? @maxLength(3)", "", "task.code = title", "update app.task set title = left(title, 2)",
			"constraint task_code_max_length_check on table app.task would be broken by rows (2 rows): model Task, field code, @maxLength(3), schema.stern:3:2"},
		{"title Text @maxLength(3)\n count Number?", "", "check:task.task_title_max_length_check", "update app.task set title = left(title, 2)",
			"constraint task_title_max_length_check on table app.task would be broken by rows (2 rows): model Task, field title, @maxLength(3), schema.stern:1:23"},
		{"title Text\n count Number?", "@validate(task.title != \"long\", message: \"Not long\")", "check:task.task_validate_01", "delete from app.task where title = 'long'",
			"constraint task_validate_01 on table app.task would be broken by rows (1 row): model Task, @validate, Not long, schema.stern:2:"},
		{"title Text @unique\n count Number?", "", "unique:task.title", "update app.task set title = id",
			"key task_title_key on table app.task would be broken by rows that have the same values (2 rows): model Task, field title, @unique, schema.stern:1:23"},
		{"title Text\n count Number", "", "require:task.count", "update app.task set count = 1",
			"column app.task.count would be required, and rows have no value for it (3 rows): model Task, field count, schema.stern:2:2"},
	} {
		t.Run(c.allow, func(t *testing.T) {
			t.Parallel()
			project := t.TempDir()
			schema := func(fields, rest string) *emit.Release {
				return compile(t, strings.Replace(strings.Replace(schemaOf(fields, ""), "} actions", "} "+rest+" actions", 1), "with (title)", "with (title, count)", 1))
			}
			mustNew(t, project, "first", schema("title Text\n count Number?", ""))
			db := pgtest.New(t, pgtest.Options{Empty: true})
			mustUp(t, project, db.OwnerURL())
			conn := db.Owner(t)
			mustExec(t, conn, "insert into app.task (title) values ('a'), ('long'), ('longer')")
			if strings.HasPrefix(c.allow, "unique") {
				mustExec(t, conn, "update app.task set title = 'b' where title <> 'a'")
			}
			options := migrate.PlanOptions{Allow: []string{c.allow}}
			if given, err := diff.ParseBackfill(c.allow); err == nil {
				options = migrate.PlanOptions{Backfills: []diff.Backfill{given}}
			}
			if _, err := migrate.New(folder(t, project), "second", schema(c.fields, c.rest), options); err != nil {
				t.Fatal(err)
			}
			n, err := migrate.Up(t.Context(), folder(t, project), migrate.UpOptions{URL: db.OwnerURL()})
			if n != 0 || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Up = %d, %v\nwant %s", n, err, c.want)
			}
			mustExec(t, conn, c.mend)
			if n := mustUp(t, project, db.OwnerURL()); n != 2 {
				t.Errorf("afterwards %d files are applied", n)
			}
		})
	}
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	fresh := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	if _, err := install.Install(t.Context(), fresh, compile(t, schemas[2])); err != nil {
		t.Fatal(err)
	}
	want := catalog(t, fresh)
	adopt := func(db *pgtest.DB, at int) (int, error) {
		return migrate.Adopt(context.WithoutCancel(t.Context()), folder(t, project), migrate.AdoptOptions{URL: db.OwnerURL(), At: at, ScratchURL: db.SuperuserURL()})
	}
	complete := []int{} // the last file of each change
	for _, f := range folder(t, project).Files {
		if f.IsLast() {
			complete = append(complete, f.Number)
		}
	}
	for version, schema := range schemas {
		db := pgtest.New(t, pgtest.Options{Empty: true})
		conn := db.Owner(t)
		if version == 1 { // by dev, in steps of its own
			if _, err := install.Install(t.Context(), conn, compile(t, schemas[0])); err != nil {
				t.Fatal(err)
			}
		}
		if version == 2 { // by build | psql
			mustExec(t, conn, install.Script(compile(t, schema)))
		} else if _, err := install.Install(t.Context(), conn, compile(t, schema)); err != nil {
			t.Fatal(err)
		}
		mustExec(t, conn, "update platform.release set by_dev = true")
		at := complete[version]
		if version == len(schemas)-1 {
			at = 0
		}
		got, err := adopt(db, at)
		if value[bool](t, conn, "select exists (select from platform.release where by_dev)") {
			t.Error("dev would take the database for its own")
		}
		if err != nil || got != complete[version] {
			t.Errorf("Adopt = %d, %v, want version %d", got, err, complete[version])
			continue
		}
		mustUp(t, project, db.OwnerURL())
		if n := mustUp(t, project, db.OwnerURL()); n != 0 {
			t.Errorf("%d migrations are left", n)
		}
		checkSame(t, "adopted and migrated", catalog(t, conn), want)
		if _, err := adopt(db, 0); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("adopted twice: %v", err)
		}
	}

	db := pgtest.New(t, pgtest.Options{Empty: true})
	if _, err := adopt(db, 0); err == nil || !strings.Contains(err.Error(), "nothing is installed") {
		t.Errorf("an empty database: %v", err)
	}
	conn := db.Owner(t)
	if _, err := install.Install(t.Context(), conn, compile(t, schemas[1])); err != nil {
		t.Fatal(err)
	}
	mustExec(t, conn, "alter table app.task add column extra text; drop policy task_select_open on app.task")
	_, err := adopt(db, complete[1])
	var differs *migrate.AdoptError
	if !errors.As(err, &differs) || differs.At != complete[1] || len(differs.Differences) != 2 {
		t.Errorf("a database that was changed by hand: %v", err)
	}
	if _, err := adopt(db, complete[0]); !errors.As(err, &differs) || differs.At != complete[0] || len(differs.Differences) <= 2 {
		t.Errorf("a database as another migration leaves it: %v", err)
	}
	for at, want := range map[int]string{complete[2] + 1: "there is no migration", -1: "there is no migration"} {
		if _, err := adopt(db, at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("migration %d: %v, want %s", at, err, want)
		}
	}
	for _, f := range folder(t, project).Files {
		if !f.IsLast() {
			if _, err := adopt(db, f.Number); err == nil || !strings.Contains(err.Error(), "is not the last file of its change") {
				t.Errorf("half of a change: %v", err)
			}
		}
	}
	if got := value[bool](t, conn, "select to_regclass('public.schema_version') is null"); !got {
		t.Error("a database that was refused has a version")
	}
}
