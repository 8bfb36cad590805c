package migrate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/postgres"
)

// readCatalog reads the installed objects, each with its description.
func readCatalog(ctx context.Context, conn *pgx.Conn) (map[string]string, error) {
	rows, err := conn.Query(ctx, "select object, fact from platform.catalog()")
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	facts := map[string]string{}
	var object, fact string
	_, err = pgx.ForEachRow(rows, []any{&object, &fact}, func() error {
		facts[object] = fact
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	return facts, nil
}

// compare returns the objects in which a catalog differs from the wanted one, by name.
func compare(got, want map[string]string, extra, missing, other string) []Difference {
	var list []Difference
	for _, object := range sortedKeys(got, want) {
		is, there := got[object]
		should, wanted := want[object]
		switch {
		case !wanted:
			list = append(list, Difference{object, extra})
		case !there:
			list = append(list, Difference{object, missing})
		case is != should:
			list = append(list, Difference{object, other})
		}
	}
	return list
}

// asker is a connection or a transaction.
type asker interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// readRelease reads the newest release of a database after migrations, and the state of its platform.
func readRelease(ctx context.Context, conn asker) (record, sql.State, error) {
	var r record
	platform := sql.State{}
	var manifest, description, hash string
	err := conn.QueryRow(ctx, `
		select release.source, release.manifest::text, release.description::text, schema_version.version, function_version.hash
		from platform.release
		cross join platform.schema_version
		cross join platform.function_version
		order by release.number desc
		limit 1`).Scan(&r.source, &manifest, &description, &platform.Version, &hash)
	if err != nil {
		return r, platform, fmt.Errorf("read the release that the migrations make: %w", err)
	}
	r.manifest, r.description = []byte(manifest), []byte(description)
	if hash == sql.Hash() {
		platform = sql.Current()
	}
	return r, platform, nil
}

// replay applies files to a database of its own, and calls then with a connection to it.
func replay(ctx context.Context, s *postgres.Scratch, files []*File, then func(conn *pgx.Conn) error) error {
	dir, err := os.MkdirTemp("", "sternpost-migrations")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copied := &Folder{Dir: dir, Files: files}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			return err
		}
	}
	url, err := s.Database(ctx)
	if err != nil {
		return err
	}
	if _, err := Up(ctx, copied, UpOptions{URL: url}); err != nil {
		return err
	}
	conn, err := connect(ctx, url, 0)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return then(conn)
}
