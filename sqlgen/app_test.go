package sqlgen_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// app is an installed schema whose functions a test calls as a server does.
type app struct {
	db       *pgtest.DB
	manifest *release.Manifest
	owner    *pgx.Conn // sees and changes all rows
	server   *pgx.Conn // may execute
	readers  map[string]*input.Reader
}

// newApp installs a schema in a database of its own. Apps of one name share a
// template.
func newApp(t testing.TB, name, schema string) *app {
	t.Helper()
	return installApp(t, name, compile(t, schema))
}

// installApp installs a compiled release in a database of its own.
func installApp(t testing.TB, name string, compiled *emit.Release) *app {
	t.Helper()
	a := &app{manifest: manifestOf(t, compiled), readers: map[string]*input.Reader{}}
	a.db = pgtest.New(t, pgtest.Options{Template: pgtest.Template{
		Name: name,
		Build: func(ctx context.Context, owner *pgx.Conn) error {
			if _, err := install.Install(ctx, owner, compiled); err != nil {
				return err
			}
			_, err := owner.Exec(ctx, "insert into app.identity (id) values ('me')")
			return err
		},
	}})
	a.owner, a.server = a.db.Owner(t), a.db.Server(t)
	for _, action := range a.manifest.Actions {
		reader, err := input.Compile(a.manifest.Schemas, action.Input)
		if err != nil {
			t.Fatalf("action %s: %v", action.Name, err)
		}
		a.readers[action.Name] = reader
	}
	return a
}

func (a *app) exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	if _, err := a.owner.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (a *app) action(t testing.TB, name string) *release.Action {
	t.Helper()
	for _, action := range a.manifest.Actions {
		if action.Name == name {
			return action
		}
	}
	t.Fatalf("there is no action %s", name)
	return nil
}

// call calls an action with a request body. It returns the answer, or the SQLSTATE of an
// error, with the constraint that failed.
func (a *app) call(t testing.TB, name, body, caller string) string {
	t.Helper()
	in, err := a.readers[name].Read([]byte(body))
	if err != nil {
		t.Fatalf("action %s does not take %s: %v", name, body, err)
	}
	return a.callFunction(t, a.action(t, name).Function, string(in.JSON), caller)
}

// callFunction calls a function of schema api.
func (a *app) callFunction(t testing.TB, function, body, caller string) string {
	t.Helper()
	answer, err := calls.JSON(t.Context(), a.server, function, body, callContext(caller))
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return answer
	case errors.As(err, &refused) && refused.ConstraintName != "":
		return refused.Code + " " + refused.ConstraintName
	case errors.As(err, &refused) && refused.Code == "23502":
		return refused.Code + " " + refused.TableName + "." + refused.ColumnName
	case errors.As(err, &refused) && (refused.Code[:2] == "SP" || refused.Code == "42501"):
		return refused.Code
	}
	t.Fatalf("call api.%s with %s: %v", function, body, err)
	return ""
}

// callContext is the second argument of every function; "" is anonymous.
func callContext(caller string) string {
	if caller == "" {
		return "{}"
	}
	return fmt.Sprintf(`{"identityId":%q}`, caller)
}

// object reads an answer that must be a JSON object.
func object(t testing.TB, answer string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(answer), &o); err != nil {
		t.Fatalf("the answer %s is not a JSON object: %v", answer, err)
	}
	return o
}
