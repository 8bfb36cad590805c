package server

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/refusal"
)

const (
	adviceInstall = "as the owner of the database, run sternpost migrate up; this server waits for the release"
	adviceMember  = "as an administrator, run: grant sternpost_server to %s"
	adviceLogin   = "let the server log in with a role that is only a member of sternpost_server: create role … login password '…' in role sternpost_server; put its name into DATABASE_URL"
)

// advice tells the operator of the server, which logs in as login, how to fix a database that
// cannot be served. It is "" if the error says enough.
func advice(err error, login string) string {
	var unfit *database.Incompatible
	var connecting *pgconn.ConnectError
	isConnecting := errors.As(err, &connecting)
	switch code := refusal.SQLState(err); {
	case errors.Is(err, errNoRelease):
		return adviceInstall
	case errors.As(err, &unfit) && unfit.Unsafe:
		return adviceLogin
	case errors.As(err, &unfit):
		return "give what is named; if it is a function or a schema, use the version of Sternpost that installed the release, or install it again with sternpost migrate up"
	case code == "28P01", code == "28000":
		return "check the user and the password in DATABASE_URL, and the server's pg_hba.conf"
	case code == "3D000":
		return "check the name of the database in DATABASE_URL; sternpost migrate up needs an existing database"
	case code == "42501" && isConnecting:
		return "as an administrator, run: grant connect on database … to sternpost_server"
	case code == "42501":
		return fmt.Sprintf(adviceMember, login)
	case code == "53300":
		return "raise max_connections of Postgres, or lower database.poolSize"
	case isConnecting:
		return "check that Postgres is running, and the host and port in DATABASE_URL"
	}
	return ""
}
