package sql_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
)

const installRelease = `select platform.install_release('a.stern', '{"b": 1, "a": 2, "b": 3}', '{}')`

func TestInstallRelease(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	owner, server := db.Owner(t), db.Server(t)
	exec(t, server, "listen sternpost_release")

	if got := value[int64](t, owner, installRelease); got != 1 {
		t.Errorf("the first release has number %d, want 1", got)
	}
	// A release that is taken back leaves no gap.
	exec(t, owner, "begin;"+installRelease+"; rollback")
	if got := value[int64](t, owner, installRelease); got != 2 {
		t.Errorf("the second release has number %d, want 2", got)
	}
	for _, want := range []string{"1", "2"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		notification, err := server.WaitForNotification(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if notification.Payload != want {
			t.Errorf("the server was told of %q, want %q", notification.Payload, want)
		}
	}

	// The order of members is kept, and what a server has no use for is not shown to it.
	if got, want := value[string](t, server, "select manifest::text from platform.release where number = 2"), `{"b": 1, "a": 2, "b": 3}`; got != want {
		t.Errorf("manifest = %s, want %s", got, want)
	}
	for _, statement := range []string{
		"select description from platform.release",
		"insert into platform.release values (3, '', '{}', '{}')",
		"delete from platform.release",
		installRelease,
	} {
		_, err := server.Exec(t.Context(), statement)
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) || pgErr.Code != "42501" {
			t.Errorf("the server may %s (%v)", statement, err)
		}
	}
}

func TestInstallReleasesAtTheSameTime(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	const installers, each = 4, 10
	results := make(chan error, installers)
	for range installers {
		owner := db.Owner(t)
		go func() {
			var err error
			for range each {
				_, e := owner.Exec(t.Context(), installRelease)
				err = errors.Join(err, e)
			}
			results <- err
		}()
	}
	for range installers {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	var want []int64
	for n := range int64(installers * each) {
		want = append(want, n+1)
	}
	if got := values[int64](t, db.Owner(t), "select number from platform.release order by number"); !slices.Equal(got, want) {
		t.Errorf("numbers %v, want 1 to %d", got, installers*each)
	}
}
