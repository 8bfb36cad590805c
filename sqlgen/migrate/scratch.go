package migrate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// scratch is a Postgres on which migrations are tried. Its databases go with it.
type scratch struct {
	admin     *pgx.Conn
	url       string // of admin
	stop      func() error
	databases []string
}

// newScratch connects to a server whose role may make databases, or starts one if url is
// empty.
func newScratch(ctx context.Context, url string) (*scratch, error) {
	s := &scratch{url: url, stop: func() error { return nil }}
	if url == "" {
		server, err := postgres.Start(ctx, postgres.Options{Temporary: true})
		if err != nil {
			return nil, fmt.Errorf("start a Postgres to try the migrations on: %w", err)
		}
		s.url, s.stop = server.URL(), server.Stop
	}
	var err error
	if s.admin, err = pgx.Connect(ctx, s.url); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to the Postgres to try the migrations on: %w", err), s.stop())
	}
	return s, nil
}

// close drops the databases and ends the server if it was started.
func (s *scratch) close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, name := range s.databases {
		_, err := s.admin.Exec(ctx, "drop database "+pg.Ident(name)+" with (force)")
		errs = append(errs, err)
	}
	return errors.Join(append(errs, s.admin.Close(ctx), s.stop())...)
}

// database makes an empty database and returns its URL.
func (s *scratch) database(ctx context.Context) (string, error) {
	name := "sternpost_scratch_" + strings.ToLower(rand.Text()[:12])
	if _, err := s.admin.Exec(ctx, "create database "+pg.Ident(name)+" template template0 encoding 'UTF8'"); err != nil {
		return "", fmt.Errorf("make a database to try the migrations on: %w", err)
	}
	s.databases = append(s.databases, name)
	u, err := url.Parse(s.url)
	if err != nil {
		return "", fmt.Errorf("read the URL of the Postgres to try the migrations on: %w", err)
	}
	u.Path = "/" + name
	return u.String(), nil
}

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
func (s *scratch) replay(ctx context.Context, files []*File, then func(conn *pgx.Conn) error) error {
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
	url, err := s.database(ctx)
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
