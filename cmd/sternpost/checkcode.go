package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// codeCheck has Postgres check custom code, by installing it in a database that nobody uses.
type codeCheck struct {
	server *postgres.Server // nil before the first check
	start  func(context.Context, postgres.Options) (*postgres.Server, error)
}

// check returns the errors that Postgres finds in the custom code of a project. Without any
// Postgres on the machine it says so, and finds none.
func (c *codeCheck) check(ctx context.Context, diagnostics io.Writer, compiled *sqlgen.Compiled) (syntax.Errors, error) {
	if len(compiled.Database.Code) == 0 {
		return nil, nil
	}
	if c.server == nil {
		started, err := c.start(ctx, postgres.Options{Temporary: true})
		var missing *postgres.NotFoundError
		if errors.As(err, &missing) {
			fmt.Fprintf(diagnostics, "sternpost: Postgres has not checked the custom code: %v\n", err)
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("start Postgres to check the custom code: %w", err)
		}
		c.server = started
	}
	return c.install(ctx, compiled)
}

// install installs a project in an empty database, which is removed.
func (c *codeCheck) install(ctx context.Context, compiled *sqlgen.Compiled) (syntax.Errors, error) {
	const database = "checked"
	admin, err := postgres.Connect(ctx, c.server.URL())
	if err != nil {
		return nil, fmt.Errorf("check the custom code: %w", err)
	}
	defer admin.Close(context.WithoutCancel(ctx))
	if _, err := admin.Exec(ctx, "create database "+database); err != nil {
		return nil, fmt.Errorf("check the custom code: %w", err)
	}
	defer admin.Exec(context.WithoutCancel(ctx), "drop database "+database+" with (force)")

	config := admin.Config().Copy()
	config.Database = database
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("check the custom code: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = install.Install(ctx, conn, compiled.Release())
	var code *install.CodeError
	if errors.As(err, &code) {
		return code.Errors, nil
	}
	return nil, err
}

// stop ends the Postgres that was started.
func (c *codeCheck) stop() {
	if c.server != nil {
		c.server.Stop()
	}
}
