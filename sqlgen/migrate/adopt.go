package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

func sortedKeys(all ...map[string]string) []string {
	keys := map[string]bool{}
	for _, m := range all {
		for key := range m {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// AdoptError is returned for a database that differs from the result of every migration.
type AdoptError struct {
	Nearest     int // the most similar version
	Differences []Difference
	Note        string // another possible reason
}

// Error lists the differences of the database.
func (e *AdoptError) Error() string {
	text := fmt.Sprintf("no migration leaves a database like this one; the nearest is %03d, with these differences:\n%s", e.Nearest, lines(e.Differences))
	if e.Note != "" {
		text += "\n" + e.Note
	}
	return text + "\nnothing was changed"
}

// Adopt puts a database under migrations if its application was installed without them. It finds the migration that
// leaves a database in this state, by applying all of them on a scratch Postgres (at scratchURL, or one that it
// starts), and notes its number; it changes nothing else. It returns the number.
func Adopt(ctx context.Context, folder *Folder, url, scratchURL string) (version int, err error) {
	if err := folder.files(); err != nil {
		return 0, err
	}
	conn, err := connect(ctx, url, defaultLockTimeout)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := checkOwner(ctx, conn); err != nil {
		return 0, err
	}
	lock, err := sql.AwaitLock(ctx, conn, nil)
	if err != nil {
		return 0, err
	}
	defer lock.Release()
	s, err := readState(ctx, conn)
	switch {
	case err != nil:
		return 0, err
	case s.platform == 0 || s.release == 0:
		return 0, fmt.Errorf("nothing is installed in the database: sternpost migrate up installs it")
	case s.version > 0 && s.version <= len(folder.Files) && s.digest == folder.releaseAt(s.version):
		return 0, fmt.Errorf("the database has migrations already: it is at %03d", s.version)
	case s.platform > sql.Version():
		return 0, folder.where(s)
	}
	var there map[string]string
	if s.digest != "" { // or the platform is older than any that migrations install
		if there, err = readCatalog(ctx, conn); err != nil {
			return 0, err
		}
	}
	found, err := likeness(ctx, folder, there, scratchURL)
	if err != nil {
		return 0, err
	}
	if len(found.differences) > 0 {
		return 0, &AdoptError{found.version, found.differences, found.note(ctx, conn)}
	}
	return found.version, adopt(ctx, conn, found)
}

// like is a version, and the differences of a database from it.
type like struct {
	version     int
	differences []Difference
	release     record
	major       int // of the Postgres on which it was tried
}

// note says that catalogs of different versions of Postgres cannot be compared.
func (l *like) note(ctx context.Context, conn *pgx.Conn) string {
	var major int
	if err := conn.QueryRow(ctx, "select current_setting('server_version_num')::int / 10000").Scan(&major); err != nil || major == l.major {
		return ""
	}
	return fmt.Sprintf("the migrations were tried on PostgreSQL %d, and the database runs on %d, which may describe the same objects differently: "+
		"give a server of that version with --scratch-url", l.major, major)
}

// likeness finds the version that is most similar to a catalog; among equal ones, the last.
func likeness(ctx context.Context, folder *Folder, there map[string]string, scratchURL string) (best *like, err error) {
	server, err := newScratch(ctx, scratchURL)
	if err != nil {
		return nil, err
	}
	defer func() {
		if failed := server.close(ctx); err == nil {
			err = failed
		}
	}()
	url, err := server.database(ctx)
	if err != nil {
		return nil, err
	}
	for version := range len(folder.Files) + 1 {
		if version == 0 || !folder.isComplete(version) {
			continue
		}
		l, err := likeVersion(ctx, &Folder{Dir: folder.Dir, Files: folder.Files[:version]}, url, there)
		if err != nil {
			return nil, err
		}
		if best == nil || len(l.differences) <= len(best.differences) {
			best = l
		}
	}
	if best == nil {
		return nil, fmt.Errorf("there are no migrations in %s: write the first one with sternpost migrate new", folder.Dir)
	}
	return best, nil
}

// likeVersion applies migrations to a scratch database and compares a catalog with the result.
func likeVersion(ctx context.Context, folder *Folder, url string, there map[string]string) (*like, error) {
	if _, err := Up(ctx, folder, UpOptions{URL: url}); err != nil {
		return nil, err
	}
	conn, err := connect(ctx, url, 0)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	l := &like{version: len(folder.Files)}
	catalog, err := readCatalog(ctx, conn)
	if err != nil {
		return nil, err
	}
	l.differences = compare(there, catalog, "is not in it", "is missing", "is other")
	if l.release, _, err = readRelease(ctx, conn); err != nil {
		return nil, err
	}
	return l, conn.QueryRow(ctx, "select current_setting('server_version_num')::int / 10000").Scan(&l.major)
}

// adopt notes the version, and the release as migrations make it: the next one changes its very text. Views may show
// their columns in another order than after the migrations, which the next one could not replace: they are made anew.
func adopt(ctx context.Context, conn *pgx.Conn, found *like) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, statement := range []string{
			"create table if not exists " + versionTable + " (version int4 not null)",
			"delete from " + versionTable,
			fmt.Sprintf("insert into %s (version) values (%d)", versionTable, found.version),
			"update platform.release set by_dev = false where by_dev", // dev asks from now on
		} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		installed, _, err := readRelease(ctx, tx)
		if err != nil || installed.digest() == found.release.digest() {
			return err
		}
		if err := alignViews(ctx, tx, installed, found.release); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "select platform.install_release($1, $2::json, $3::json)",
			found.release.source, string(found.release.manifest), string(found.release.description))
		return err
	})
	if err != nil {
		return fmt.Errorf("start migrations on the database: %w", err)
	}
	return nil
}

// alignViews makes the views anew, with the objects that depend on them, if two releases of one catalog show columns in
// another order.
func alignViews(ctx context.Context, tx pgx.Tx, installed, wanted record) error {
	old, err := pg.ReadDescription(installed.description)
	if err != nil {
		return err
	}
	new, err := pg.ReadDescription(wanted.description)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(old.Views, new.Views, func(a, b *pg.View) bool {
		return a.Name == b.Name && slices.Equal(a.Columns, b.Columns)
	})
	if same {
		return nil
	}
	// Policies depend on views, and views over queries on others. A release does not keep their texts, but the catalog does.
	policies, err := readPolicies(ctx, tx)
	if err != nil {
		return err
	}
	if err := readQueries(ctx, tx, new.Views); err != nil {
		return err
	}
	plan := &diff.Plan{}
	for _, v := range slices.Backward(new.Views) { // a view over a query comes behind those that it reads
		plan.Steps = append(plan.Steps, &diff.Step{Change: diff.DropView{View: v}})
	}
	for _, v := range new.Views {
		plan.Steps = append(plan.Steps, &diff.Step{Change: diff.CreateView{View: v}})
	}
	var statements []string
	for _, p := range policies {
		statements = append(statements, p.Drop)
	}
	for _, s := range emit.Plan(plan) {
		statements = append(statements, s.Text)
	}
	for _, p := range policies {
		statements = append(statements, p.Create)
	}
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// policyText is the statements that drop a policy and make it again.
type policyText struct{ Drop, Create string }

func readPolicies(ctx context.Context, tx pgx.Tx) ([]policyText, error) {
	rows, err := tx.Query(ctx, `
		select
			format('drop policy %I on %I.%I', policyname, schemaname, tablename),
			format('create policy %I on %I.%I as %s for %s to %s', policyname, schemaname, tablename, permissive, cmd,
				(select string_agg(quote_ident(role), ', ') from unnest(roles) as role))
				|| coalesce(' using (' || qual || ')', '') || coalesce(' with check (' || with_check || ')', '')
		from pg_policies
		where schemaname = 'app'`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[policyText])
}

// readQueries gives the views over queries the statements that make them.
func readQueries(ctx context.Context, tx pgx.Tx, views []*pg.View) error {
	for _, v := range views {
		if !v.IsQuery() {
			continue
		}
		err := tx.QueryRow(ctx, `
			select format('create view %I.%I as %s', schemaname, viewname, definition)
			from pg_views
			where schemaname = $1 and viewname = $2`, v.Schema, v.Name).Scan(&v.Text)
		if err != nil {
			return fmt.Errorf("read the query of view %s: %w", pg.Qualified(v.Schema, v.Name), err)
		}
	}
	return nil
}
