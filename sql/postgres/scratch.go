package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Scratch is a Postgres for databases that go with it.
type Scratch struct {
	admin     *pgx.Conn
	url       string // of admin
	stop      func() error
	databases []string
}

// NewScratch connects to a server whose role may make databases, or starts one if url is
// empty.
func NewScratch(ctx context.Context, url string) (*Scratch, error) {
	s := &Scratch{url: url, stop: func() error { return nil }}
	if url == "" {
		server, err := Start(ctx, Options{Temporary: true})
		if err != nil {
			return nil, fmt.Errorf("start a scratch Postgres: %w", err)
		}
		s.url, s.stop = server.URL(), server.Stop
	}
	var err error
	if s.admin, err = pgx.Connect(ctx, s.url); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to the scratch Postgres: %w", err), s.stop())
	}
	return s, nil
}

// Close drops the databases and ends the server if it was started.
func (s *Scratch) Close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, name := range s.databases {
		_, err := s.admin.Exec(ctx, "drop database "+pgx.Identifier{name}.Sanitize()+" with (force)")
		errs = append(errs, err)
	}
	return errors.Join(append(errs, s.admin.Close(ctx), s.stop())...)
}

// Database makes an empty database and returns its URL.
func (s *Scratch) Database(ctx context.Context) (string, error) {
	return s.make(ctx, "template0 encoding 'UTF8'")
}

// Copy copies one of the databases, which ends the connections to it, and returns the URL of the copy.
func (s *Scratch) Copy(ctx context.Context, of string) (string, error) {
	u, err := url.Parse(of)
	if err != nil {
		return "", fmt.Errorf("read the URL of a scratch database: %w", err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	if _, err := s.admin.Exec(ctx, "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1", name); err != nil {
		return "", fmt.Errorf("end the connections to a scratch database: %w", err)
	}
	made, err := s.make(ctx, pgx.Identifier{name}.Sanitize())
	if err != nil {
		return "", err
	}
	// The rights to a database itself are not copied. Nobody but their owner uses these.
	if _, err := s.admin.Exec(ctx, "revoke all on database "+pgx.Identifier{s.databases[len(s.databases)-1]}.Sanitize()+" from public"); err != nil {
		return "", fmt.Errorf("close a scratch database to others: %w", err)
	}
	return made, nil
}

func (s *Scratch) make(ctx context.Context, template string) (string, error) {
	name := "sternpost_scratch_" + strings.ToLower(rand.Text()[:12])
	if _, err := s.admin.Exec(ctx, "create database "+pgx.Identifier{name}.Sanitize()+" template "+template); err != nil {
		return "", fmt.Errorf("make a scratch database: %w", err)
	}
	s.databases = append(s.databases, name)
	u, err := url.Parse(s.url)
	if err != nil {
		return "", fmt.Errorf("read the URL of the scratch Postgres: %w", err)
	}
	u.Path = "/" + name
	return u.String(), nil
}
