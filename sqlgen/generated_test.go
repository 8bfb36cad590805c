package sqlgen_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

var (
	generatedFor  = flag.Duration("generated", 0, "how long to compile random schemas; 0 means a fixed number of them")
	generatedSeed = flag.Uint64("generated-seed", 0, "the seed of the first random schema")
)

// TestGeneratedSchemas compiles random schemas that use the whole language, under names that
// mean something elsewhere. A schema that the checker accepts must compile, install, serve
// and answer: Postgres must accept all of its SQL. The flag -generated sets its duration.
func TestGeneratedSchemas(t *testing.T) {
	t.Parallel()
	const schemas = 2
	end := time.Now().Add(*generatedFor)
	if deadline, ok := t.Deadline(); ok && deadline.Add(-time.Minute).Before(end) {
		end = deadline.Add(-time.Minute)
	}
	var total generatedTally
	for n := uint64(0); n < schemas || time.Now().Before(end); n++ {
		t.Run(fmt.Sprint(*generatedSeed+n), func(t *testing.T) { runGenerated(t, *generatedSeed+n, &total) })
	}
	t.Logf("%d of %d lines accepted, %d actions, %d calls, answered %v", total.accepted, total.written, total.actions, total.calls, total.answers)
	if total.accepted*2 < total.written {
		t.Errorf("only %d of %d lines were accepted: the generator misses the language", total.accepted, total.written)
	}
}

// generatedTally counts the cases that a run of the test has met.
type generatedTally struct {
	written, accepted, actions, calls int
	answers                           map[string]int
}

// runGenerated takes one random schema through all stages.
func runGenerated(t *testing.T, seed uint64, total *generatedTally) {
	s := &schemaText{Rand: rand.New(rand.NewPCG(seed, 26)), taken: map[string]bool{}}
	p, written := s.project(t)
	total.written += written
	total.accepted += len(s.lines)
	callAll(t, seed, p, total)
}

// callAll installs a project and calls all of its actions. seed is for what it reports.
func callAll(t *testing.T, seed uint64, p *sqlgen.Project, total *generatedTally) {
	t.Helper()
	text := string(p.Files[0].Text)
	p.Functions = sqlgen.Scaffold(p)
	compiled, errs := sqlgen.Compile(p)
	if compiled == nil {
		t.Fatalf("seed %d: %s\n%s", seed, rendered(t, errs), text)
	}
	release := compiled.Release()
	if total.answers == nil {
		total.answers = map[string]int{}
	}

	base := pgtest.New(t, pgtest.Options{})
	owner := base.Owner(t)
	if _, err := install.Install(t.Context(), owner, release); err != nil {
		t.Fatalf("seed %d: install: %v\n%s", seed, err, text)
	}
	checkServing(t, owner)
	m := manifestOf(t, release)
	checkManifest(t, owner, m)
	conn := base.Superuser(t)
	if _, err := conn.Exec(t.Context(), "set session_replication_role = replica; insert into app.identity (id) values ('me')"); err != nil {
		t.Fatal(err)
	}
	for _, a := range m.Actions {
		total.actions++
		reader, err := input.Compile(m.Schemas, a.Input)
		if err != nil {
			t.Errorf("seed %d: action %s: %v\n%s", seed, a.Name, err, text)
			continue
		}
		for _, body := range samples(t, m, a) {
			in, err := reader.Read([]byte(body))
			if err != nil {
				t.Errorf("seed %d: action %s does not take the sample of its own schema\n%s\n%v\n%s", seed, a.Name, body, err, text)
				continue
			}
			in.JSON = prepared(in)
			functions := []string{a.Function}
			if form, ok := calls.Form(a, in.OperatorSet(), in.PlainPage(), in.Page().HasCursor); ok {
				functions = append(functions, form)
			}
			if a.Early != "" {
				functions = append(functions, a.Early)
			}
			for _, function := range functions {
				for _, caller := range []string{"me", ""} {
					code := callGenerated(t.Context(), conn, function, string(in.JSON), caller)
					total.calls++
					total.answers[code]++
					switch {
					case code == "", strings.HasPrefix(code, "SP"), strings.HasPrefix(code, "23"):
					default:
						t.Errorf("seed %d: call api.%s with %s: %s\naction %s\n%s", seed, function, body, code, a.Name, text)
					}
				}
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// callGenerated calls a function and takes it back. It returns the code of an error.
func callGenerated(ctx context.Context, conn *pgx.Conn, function, body, caller string) string {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err.Error()
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Exec(ctx, `select platform.file_enter('{sample}')`); err != nil {
		return err.Error()
	}
	_, err = calls.JSON(ctx, conn, function, body, callContext(caller))
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused) && (strings.HasPrefix(refused.Code, "SP") || strings.HasPrefix(refused.Code, "23")):
		return refused.Code
	case errors.As(err, &refused) && refused.Code == "42501" && refused.Routine == "ExecWithCheckOptions":
		return "SP403 of a new row"
	case errors.As(err, &refused) && refused.Code == "P0001" && strings.Contains(refused.Message, "not written yet"):
		return "SP, custom code"
	}
	return err.Error()
}
