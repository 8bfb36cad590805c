package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Role is one of the roles that the databases of a cluster share.
type Role struct {
	Name    string
	Comment string
}

// ServerRole is the group that the logins of servers are members of.
const ServerRole = "sternpost_server"

// Roles returns the roles that the migrations make. None of them logs in.
func Roles() []Role {
	return []Role{
		{"sternpost_caller", "Owns the functions in schema api, and so is who they run as. Never logs in."},
		{"sternpost_code", "Owns the functions in schema api that call custom code, and so is who that runs as. Never logs in."},
		{ServerRole, "The rights of a Sternpost server; logins of servers are members."},
	}
}

// ErrNoSuchRole is returned for a login that the cluster does not have.
var ErrNoSuchRole = errors.New("the cluster has no such role")

// MakeRoles makes the roles of a cluster that are missing and the owner of the database a
// member of each, which is what a dump of a database lacks. It takes from everybody the
// rights on the database, and lets logins serve it. What is so already stays.
//
// The role of conn is the owner, or one that may make and grant roles.
func MakeRoles(ctx context.Context, conn *pgx.Conn, logins []string) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var database, owner string
		err := tx.QueryRow(ctx, "select datname, pg_get_userbyid(datdba) from pg_database where datname = current_database()").Scan(&database, &owner)
		if err != nil {
			return fmt.Errorf("look who owns the database: %w", err)
		}
		for _, role := range Roles() {
			if err := makeRole(ctx, tx, role, owner); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "revoke all on database "+ident(database)+" from public"); err != nil {
			return fmt.Errorf("take from everybody the rights on the database: %w", err)
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

// makeRole makes a role unless it is there, and the owner a member, who may then hand
// functions over to it.
func makeRole(ctx context.Context, tx pgx.Tx, role Role, owner string) error {
	var isThere bool
	if err := tx.QueryRow(ctx, "select to_regrole($1) is not null", role.Name).Scan(&isThere); err != nil {
		return err
	}
	if !isThere {
		if _, err := tx.Exec(ctx, "create role "+ident(role.Name)+" nologin"); err != nil {
			return fmt.Errorf("create role %s: %w", role.Name, err)
		}
		if _, err := tx.Exec(ctx, "comment on role "+ident(role.Name)+" is '"+role.Comment+"'"); err != nil {
			return fmt.Errorf("comment on role %s: %w", role.Name, err)
		}
	}
	var isMember bool
	err := tx.QueryRow(ctx, `
		select
			pg_has_role($1, $2, 'usage')
			and pg_has_role($1, $2, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)`,
		owner, role.Name).Scan(&isMember)
	if err != nil || isMember {
		return err
	}
	if _, err := tx.Exec(ctx, "grant "+ident(role.Name)+" to "+ident(owner)); err != nil {
		return fmt.Errorf("grant %s to %s: %w", role.Name, owner, err)
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
	_, err := tx.Exec(ctx, "grant "+ServerRole+" to "+ident(login)+"; grant connect on database "+ident(database)+" to "+ident(login))
	if err != nil {
		return fmt.Errorf("let %s serve the database: %w", login, err)
	}
	return nil
}

func ident(name string) string { return pgx.Identifier{name}.Sanitize() }
