package migrate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/postgres"
)

// versionTable is where tern's command line counts migrations by default.
const versionTable = "public.schema_version"

// connect connects as a role that migrates. Settings are startup parameters, since tern resets all others after each
// migration.
func connect(ctx context.Context, url string, lockTimeout time.Duration) (*pgx.Conn, error) {
	config, err := postgres.ParseURL(url)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] = "sternpost migrate"
	config.RuntimeParams["statement_timeout"] = "0"
	config.RuntimeParams["standard_conforming_strings"] = "on"
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	if lockTimeout > 0 {
		config.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		var raised *pgconn.PgError
		if errors.As(err, &raised) && raised.Code == "08P01" { // an unsupported startup parameter
			err = fmt.Errorf("%w (it refuses a setting: %s)", postgres.ErrNoSession, raised.Message)
		}
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	if err := checkSettings(ctx, conn, config.RuntimeParams); err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return conn, nil
}

// checkSettings returns an error if a pooler has dropped startup settings of a connection: without a limit, a migration
// could keep everyone waiting.
func checkSettings(ctx context.Context, conn *pgx.Conn, wanted map[string]string) error {
	name := "lock_timeout"
	value, isWanted := wanted[name]
	if !isWanted {
		return nil
	}
	var holds bool
	err := conn.QueryRow(ctx, "select setting = $2 from pg_settings where name = $1", pgx.QueryExecModeExec, name, value).Scan(&holds)
	if err != nil {
		return fmt.Errorf("look for the settings of the connection: %w", err)
	}
	if !holds {
		return fmt.Errorf("connect to the database: %w (it drops %s)", postgres.ErrNoSession, name)
	}
	return nil
}

// RoleError is returned for a role that cannot migrate.
type RoleError struct {
	Role, Owner, Database string
	IsServer              bool // whether it is the login of a server
}

// Error says which roles can.
func (e *RoleError) Error() string {
	text := fmt.Sprintf("role %s does not own database %s", e.Role, e.Database)
	if e.IsServer {
		return text + fmt.Sprintf(": it is the login of a server, which may only call actions; migrate as its owner, %s", e.Owner)
	}
	return text + fmt.Sprintf("; check the name of the database in DATABASE_URL, or migrate as its owner, %s", e.Owner)
}

// checkOwner returns an error unless the role of a connection may migrate.
func checkOwner(ctx context.Context, conn *pgx.Conn) error {
	e := &RoleError{}
	var isOwner bool
	err := conn.QueryRow(ctx, `
		select
			current_user,
			pg_get_userbyid(datdba),
			datname,
			pg_has_role(current_user, datdba, 'usage'),
			-- An owner is a member of all roles of Sternpost, the login of a server of this one.
			array(
				select rolname::text
				from pg_roles
				where rolname in ('sternpost_server', 'sternpost_caller') and pg_has_role(current_user, oid, 'member')
			) = array['sternpost_server']
		from pg_database
		where datname = current_database()`).Scan(&e.Role, &e.Owner, &e.Database, &isOwner, &e.IsServer)
	if err != nil {
		return fmt.Errorf("read the owner of the database: %w", err)
	}
	if !isOwner {
		return e
	}
	return nil
}

// state is the version and release of a database.
type state struct {
	version  int    // the last applied migration
	counted  bool   // whether there is a version at all
	release  int64  // the newest; 0 means none
	digest   string // of the newest release; empty means none
	platform int    // its version; 0 means none
}

// readState reads the state of a database. It changes nothing.
func readState(ctx context.Context, conn *pgx.Conn) (state, error) {
	var s state
	var hasPlatform, hasReleases, hasDigest bool
	err := conn.QueryRow(ctx, `
		select
			to_regclass('public.schema_version') is not null,
			to_regclass('platform.schema_version') is not null,
			to_regclass('platform.release') is not null,
			to_regprocedure('platform.release_digest(text, text)') is not null`).Scan(&s.counted, &hasPlatform, &hasReleases, &hasDigest)
	ask := func(when bool, query string, to ...any) {
		if err == nil && when {
			if err = conn.QueryRow(ctx, query).Scan(to...); errors.Is(err, pgx.ErrNoRows) {
				err = nil
			}
		}
	}
	ask(s.counted, "select version from public.schema_version", &s.version)
	ask(hasPlatform, "select version from platform.schema_version", &s.platform)
	ask(hasReleases, "select coalesce(max(number), 0) from platform.release", &s.release)
	ask(hasReleases && hasDigest, `
		select platform.release_digest(manifest::text, description::text)
		from platform.release
		order by number desc
		limit 1`, &s.digest)
	if err != nil {
		return s, fmt.Errorf("read the state of the database: %w", err)
	}
	return s, nil
}

// Difference is an object that differs from its expected state.
type Difference struct {
	Object string // column app.post.title
	Change string // is gone
}

// readDrift returns the changes by hand since the newest release.
func readDrift(ctx context.Context, conn *pgx.Conn) ([]Difference, error) {
	var can bool
	if err := conn.QueryRow(ctx, "select to_regprocedure('platform.drift()') is not null").Scan(&can); err != nil || !can {
		return nil, err
	}
	rows, err := conn.Query(ctx, "select object, change from platform.drift()")
	if err != nil {
		return nil, fmt.Errorf("look for changes by hand: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Difference])
	if err != nil {
		return nil, fmt.Errorf("look for changes by hand: %w", err)
	}
	return list, nil
}

// where finds the position of a database within a folder, and returns an error if it cannot go on from there.
func (f *Folder) where(s state) error {
	switch n := len(f.Files); {
	case s.platform > sql.Version():
		return fmt.Errorf("%w (version %d, known up to %d): use the Sternpost that migrated it, or a newer one",
			sql.ErrNewerPlatform, s.platform, sql.Version())
	case s.version > n:
		return fmt.Errorf("the database is at migration %d, and the last one here is %d: use the version of the project that migrated it", s.version, n)
	case s.version == 0 && s.platform > 0:
		return errors.New("an application is installed in the database, but without migrations: " +
			"build or dev installed it. Start migrations on it: sternpost migrate adopt")
	}
	want := f.releaseAt(s.version)
	if s.digest != want {
		return fmt.Errorf("the newest release in the database (%d) is not the one of migration %d: it was installed by dev or by hand. "+
			"If the database is as a migration leaves it, run: sternpost migrate adopt", s.release, s.version)
	}
	return nil
}

// releaseAt returns the digest of the release that a database has at a version; empty
// means none.
func (f *Folder) releaseAt(version int) string {
	digest := ""
	for _, file := range f.Files[:version] {
		if !file.IsByHand() {
			digest = file.To
		}
	}
	return digest
}
