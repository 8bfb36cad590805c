package migrate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/postgres"
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

// AdoptError is returned for a database that differs from the result of its migration.
type AdoptError struct {
	At          int // the number of the migration
	Differences []Difference
	Note        string // another possible reason
}

// Error lists the differences of the database.
func (e *AdoptError) Error() string {
	text := fmt.Sprintf("migration %03d leaves a database that differs from this one:\n%s", e.At, lines(e.Differences))
	if e.Note != "" {
		text += "\n" + e.Note
	}
	return text + "\nif the database is as another migration leaves it, name that one with --at; nothing was changed"
}

// AdoptOptions say how to put a database under migrations.
type AdoptOptions struct {
	URL        string
	At         int    // the number of the migration that leaves such a database; 0 means the last one
	ScratchURL string // of a Postgres to try the migrations on; one is started if it is empty
}

// Adopt puts a database under migrations if its application was installed without them. It applies the migrations up to
// the number on a scratch Postgres, compares the outcome with the database, and notes the number if they are equal; it
// changes nothing else. It returns the number.
func Adopt(ctx context.Context, folder *Folder, options AdoptOptions) (version int, err error) {
	if err := folder.files(); err != nil {
		return 0, err
	}
	at := cmp.Or(options.At, len(folder.Files))
	switch {
	case len(folder.Files) == 0:
		return 0, fmt.Errorf("there are no migrations in %s: write the first one with sternpost migrate new", folder.Dir)
	case at < 0 || at > len(folder.Files):
		return 0, fmt.Errorf("there is no migration %d: the last one is %d", at, len(folder.Files))
	case !folder.isComplete(at):
		return 0, fmt.Errorf("migration %03d is not the last file of its change: name that one", at)
	}
	conn, err := connect(ctx, options.URL, defaultLockTimeout)
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
	found, err := try(ctx, &Folder{Dir: folder.Dir, Files: folder.Files[:at]}, options.ScratchURL)
	if err != nil {
		return 0, err
	}
	if differences := compare(there, found.catalog, "is not in it", "is missing", "is other"); len(differences) > 0 {
		return 0, &AdoptError{at, differences, found.note(ctx, conn)}
	}
	return at, adopt(ctx, conn, at, found.release)
}

// outcome is what migrations leave on a scratch Postgres.
type outcome struct {
	catalog map[string]string
	release record
	major   int // of that Postgres
}

// note says that catalogs of different versions of Postgres cannot be compared.
func (o *outcome) note(ctx context.Context, conn *pgx.Conn) string {
	var major int
	if err := conn.QueryRow(ctx, "select current_setting('server_version_num')::int / 10000").Scan(&major); err != nil || major == o.major {
		return ""
	}
	return fmt.Sprintf("the migrations were tried on PostgreSQL %d, and the database runs on %d, which may describe the same objects differently: "+
		"give a server of that version with --scratch-url", o.major, major)
}

// try applies migrations to a database on a scratch Postgres.
func try(ctx context.Context, folder *Folder, scratchURL string) (o *outcome, err error) {
	server, err := postgres.NewScratch(ctx, scratchURL)
	if err != nil {
		return nil, err
	}
	defer func() {
		if failed := server.Close(ctx); err == nil {
			err = failed
		}
	}()
	url, err := server.Database(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := Up(ctx, folder, UpOptions{URL: url}); err != nil {
		return nil, err
	}
	conn, err := connect(ctx, url, 0)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	o = &outcome{}
	if o.catalog, err = readCatalog(ctx, conn); err != nil {
		return nil, err
	}
	if o.release, _, err = readRelease(ctx, conn); err != nil {
		return nil, err
	}
	return o, conn.QueryRow(ctx, "select current_setting('server_version_num')::int / 10000").Scan(&o.major)
}

// adopt notes the version, and the release as migrations make it: the next one changes its very text. Views may show
// their columns in another order than after the migrations, which the next one could not replace: they are made anew.
func adopt(ctx context.Context, conn *pgx.Conn, version int, wanted record) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, statement := range []string{
			"create table if not exists " + versionTable + " (version int4 not null)",
			"delete from " + versionTable,
			fmt.Sprintf("insert into %s (version) values (%d)", versionTable, version),
			"update platform.release set by_dev = false where by_dev", // dev asks from now on
		} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		installed, _, err := readRelease(ctx, tx)
		if err != nil || installed.digest() == wanted.digest() {
			return err
		}
		if err := alignViews(ctx, tx, installed, wanted); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "select platform.install_release($1, $2::json, $3::json)",
			wanted.source, string(wanted.manifest), string(wanted.description))
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
