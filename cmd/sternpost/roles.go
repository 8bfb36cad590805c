package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen/install"
)

func newRoles() *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{
		Use:   "roles",
		Short: "Make the roles that a database needs, before and after a restore",
		Long: `Roles prepares a cluster and a database for an application, before a restore and after
it. A dump of one database lacks the roles of the cluster. Roles makes those that own
the functions of an application, and makes the database's owner a member of them. It
revokes the rights of public on the database. If an application is installed, roles gives
each function to the role that it runs as, since pg_restore --no-owner leaves functions
to the database's owner. You can run it at any time. It does not change what is right
already.

Connect as the owner of the database, with the right to make roles (createrole), or as a
superuser. The owner does not need createrole afterwards. --login lets an existing login
serve the database.`,
		Args: takes(0, 0),
	}
	flags.add(c)
	var logins []string
	c.Flags().StringArrayVar(&logins, "login", nil, "the login of a server: it may serve this database; repeatable")
	c.RunE = func(c *cobra.Command, _ []string) error {
		url, err := flags.url()
		if err != nil {
			return err
		}
		conn, err := postgres.Connect(c.Context(), url)
		if err != nil {
			return environmentError(fmt.Errorf("connect to the database: %w", err))
		}
		defer conn.Close(c.Context())
		release, err := install.Roles(c.Context(), conn, logins)
		if err != nil {
			return rolesError(err)
		}
		var names []string
		for _, role := range sql.Roles() {
			names = append(names, role.Name)
		}
		fmt.Fprintf(c.OutOrStdout(), "roles: %s\n", strings.Join(names, ", "))
		for _, login := range logins {
			fmt.Fprintf(c.OutOrStdout(), "%s may serve database %s\n", login, conn.Config().Database)
		}
		if release > 0 {
			fmt.Fprintf(c.OutOrStdout(), "the functions of release %d belong to the roles that they run as\n", release)
		} else {
			fmt.Fprintln(c.OutOrStdout(), "no application is installed in the database")
		}
		return nil
	}
	return c
}

// rolesError adds advice to an error that lacks it.
func rolesError(err error) error {
	var raised *pgconn.PgError
	if errors.As(err, &raised) && raised.Code == "42501" {
		return inputError(fmt.Errorf("%w (connect as a superuser, or as an owner of the database who may create roles)", err))
	}
	return migrateError(err)
}
