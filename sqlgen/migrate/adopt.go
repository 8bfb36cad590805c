package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql"
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

// AdoptError is returned for a database that is not as any of the migrations leaves it.
type AdoptError struct {
	Nearest     int // the version that it is most like
	Differences []Difference
	Note        string // what else might be the reason
}

// Error lists in what the database differs.
func (e *AdoptError) Error() string {
	text := fmt.Sprintf("the database is not as any migration leaves it; it is most like %03d, but for:\n%s", e.Nearest, lines(e.Differences))
	if e.Note != "" {
		text += "\n" + e.Note
	}
	return text + "\nnothing was changed"
}

// Adopt takes a database under the migrations in which an application was installed
// without them. It finds the migration that leaves a database as this one is, by
// applying all of them on a scratch Postgres (at scratchURL, or one that it starts), and
// notes its number; it changes nothing else. It returns the number.
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
	unlock, err := sql.Lock(ctx, conn, nil)
	if err != nil {
		return 0, err
	}
	defer unlock()
	s, err := readState(ctx, conn)
	switch {
	case err != nil:
		return 0, err
	case s.platform == 0 || s.release == 0:
		return 0, fmt.Errorf("nothing is installed in the database: sternpost migrate up installs it")
	case s.version > 0 && s.version <= len(folder.Files) && s.digest == folder.releaseAt(s.version):
		return 0, fmt.Errorf("the database is under the migrations already, at %03d", s.version)
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

// like is a version, and in what a database differs from it.
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
	return fmt.Sprintf("the migrations were tried on PostgreSQL %d, and the database runs on %d, which may tell the same in other words: "+
		"give a server of that version with --scratch-url", l.major, major)
}

// likeness finds the version that a catalog is most like; of equal ones, the last.
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
	for version := len(folder.Files); version > 0; version-- {
		if !folder.isComplete(version) {
			continue
		}
		err := server.replay(ctx, folder.Files[:version], func(conn *pgx.Conn) error {
			l := &like{version: version}
			catalog, err := readCatalog(ctx, conn)
			if err != nil {
				return err
			}
			l.differences = compare(there, catalog, "is not in it", "is missing", "is other")
			if l.release, _, err = readRelease(ctx, conn); err != nil {
				return err
			}
			if best == nil || len(l.differences) < len(best.differences) {
				best = l
			}
			return conn.QueryRow(ctx, "select current_setting('server_version_num')::int / 10000").Scan(&l.major)
		})
		if err != nil {
			return nil, err
		}
		if len(best.differences) == 0 {
			return best, nil
		}
	}
	if best == nil {
		return nil, fmt.Errorf("there are no migrations in %s: write the first one with sternpost migrate new", folder.Dir)
	}
	return best, nil
}

// adopt notes the version, and the release as migrations make it: the next one changes
// its very text.
func adopt(ctx context.Context, conn *pgx.Conn, found *like) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, statement := range []string{
			"create table if not exists " + versionTable + " (version int4 not null)",
			"delete from " + versionTable,
			fmt.Sprintf("insert into %s (version) values (%d)", versionTable, found.version),
		} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `
			select platform.install_release($1, $2::json, $3::json)
			where $4 is distinct from (
				select platform.release_digest(manifest::text, description::text) from platform.release order by number desc limit 1
			)`, found.release.source, string(found.release.manifest), string(found.release.description), found.release.digest())
		return err
	})
	if err != nil {
		return fmt.Errorf("note the version: %w", err)
	}
	return nil
}
