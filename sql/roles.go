package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql/role"
)

// Role is one of the roles that the databases of a cluster share.
type Role struct {
	Name    string
	Comment string
}

// Roles returns the roles that the migrations make. They cannot log in.
func Roles() []Role {
	var roles []Role
	for _, name := range role.All() {
		comment := "Owns functions in schema api, and so is who they run as. Never logs in."
		switch name {
		case role.Open:
			comment = "Owns the functions in schema api whose policies walk no relation, and so is who they run as. Never logs in."
		case role.Caller:
			comment = "Owns the functions in schema api, and so is who they run as. Never logs in."
		case role.Code:
			comment = "Owns the functions in schema api that call custom code, and so is who that runs as. Never logs in."
		case role.Server:
			comment = "The rights of a Sternpost server; logins of servers are members."
		}
		roles = append(roles, Role{name, comment})
	}
	return roles
}

// ErrNoSuchRole is returned for a login that is missing in the cluster.
var ErrNoSuchRole = errors.New("the cluster does not have this role")

// MakeRoles makes the missing roles of a cluster, and the owner of the database a member
// of each, since a dump of a database lacks them. It revokes the rights of public on the
// database, and lets logins serve it. It keeps what exists already.
//
// The role of conn is the owner, or one that may make and grant roles.
func MakeRoles(ctx context.Context, conn *pgx.Conn, logins []string) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var database, owner string
		err := tx.QueryRow(ctx, "select datname, pg_get_userbyid(datdba) from pg_database where datname = current_database()").Scan(&database, &owner)
		if err != nil {
			return fmt.Errorf("read the owner of the database: %w", err)
		}
		for _, r := range Roles() {
			if err := makeRole(ctx, tx, r, owner); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "revoke all on database "+ident(database)+" from public"); err != nil {
			return fmt.Errorf("revoke the rights of public on the database: %w", err)
		}
		for _, login := range logins {
			if err := grantServer(ctx, tx, login, database); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("make the roles: %w", err)
	}
	return nil
}

// makeRole makes a missing role, and the owner a member, so that the owner can transfer
// functions to it.
func makeRole(ctx context.Context, tx pgx.Tx, r Role, owner string) error {
	var isThere bool
	if err := tx.QueryRow(ctx, "select to_regrole($1) is not null", r.Name).Scan(&isThere); err != nil {
		return err
	}
	if !isThere {
		if _, err := tx.Exec(ctx, "create role "+ident(r.Name)+" nologin"); err != nil {
			return fmt.Errorf("create role %s: %w", r.Name, err)
		}
		if _, err := tx.Exec(ctx, "comment on role "+ident(r.Name)+" is '"+r.Comment+"'"); err != nil {
			return fmt.Errorf("comment on role %s: %w", r.Name, err)
		}
	}
	var isMember bool
	err := tx.QueryRow(ctx, `
		select
			pg_has_role($1, $2, 'usage')
			and pg_has_role($1, $2, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)`,
		owner, r.Name).Scan(&isMember)
	if err != nil || isMember {
		return err
	}
	if _, err := tx.Exec(ctx, "grant "+ident(r.Name)+" to "+ident(owner)); err != nil {
		return fmt.Errorf("grant %s to %s: %w", r.Name, owner, err)
	}
	return nil
}

// grantServer lets a login serve a database.
func grantServer(ctx context.Context, tx pgx.Tx, login, database string) error {
	var isThere bool
	if err := tx.QueryRow(ctx, "select exists (select from pg_roles where rolname = $1)", login).Scan(&isThere); err != nil {
		return err
	}
	if !isThere {
		return fmt.Errorf("%w: %s (run: create role %s login password '…')", ErrNoSuchRole, login, ident(login))
	}
	_, err := tx.Exec(ctx, "grant "+role.Server+" to "+ident(login)+"; grant connect on database "+ident(database)+" to "+ident(login))
	if err != nil {
		return fmt.Errorf("let %s serve the database: %w", login, err)
	}
	return nil
}

func ident(name string) string { return pgx.Identifier{name}.Sanitize() }
