package sql_test

import (
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// takingTurns runs a test on a database as it is, and on one that lacks advisory locks,
// where those who race take turns by rows.
func takingTurns(t *testing.T, test func(t *testing.T, lacks func(*pgtest.DB))) {
	t.Run("by advisory locks", func(t *testing.T) {
		t.Parallel()
		test(t, func(*pgtest.DB) {})
	})
	t.Run("by rows", func(t *testing.T) {
		t.Parallel()
		test(t, func(db *pgtest.DB) {
			exec(t, db.Superuser(t), "revoke execute on function pg_advisory_xact_lock(bigint) from public")
		})
	})
}

// A turn lasts until its transaction ends, and does not keep out turns of another kind.
func TestTurnsOfRows(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	exec(t, db.Superuser(t), "revoke execute on function pg_advisory_xact_lock(bigint) from public")
	first, second := db.Owner(t), db.Owner(t)
	exec(t, first, "begin; select platform.take_turn('account', 'ada')")
	exec(t, second, "set lock_timeout = '20ms'; select platform.take_turn('address', 'ada')")
	if _, err := second.Exec(t.Context(), "select platform.take_turn('account', 'ada')"); refused(t, err).Code != "55P03" {
		t.Errorf("a turn that is taken: got %v", err)
	}
	exec(t, first, "commit")
	exec(t, second, "select platform.take_turn('account', 'ada')")
	for _, kind := range values[string](t, first, "select distinct kind from platform.turn") {
		if n := value[int](t, first, "select count(*) from platform.turn where kind = $1", kind); n != 64 {
			t.Errorf("kind %s has %d rows, want 64", kind, n)
		}
	}
}

// Without notifications a release is still installed.
func TestInstallReleaseUnheard(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	exec(t, db.Superuser(t), "revoke execute on function pg_notify(text, text) from public")
	if got := value[int64](t, db.Owner(t), installRelease); got != 1 {
		t.Errorf("the first release has number %d, want 1", got)
	}
}

// Only the strengths of locks that functions need are accepted: the text becomes a part of a statement.
func TestLockRows(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	first, second := db.Owner(t), db.Owner(t)
	exec(t, first, "create table app.ware (id text primary key); insert into app.ware (id) values ('a'), ('b'), ('c')")
	exec(t, first, "begin; select platform.lock_rows('ware', 'update', '{b,a,a,none}')")
	exec(t, second, "set lock_timeout = '20ms'")
	for id, isLocked := range map[string]bool{"a": true, "b": true, "c": false} {
		_, err := second.Exec(t.Context(), "select platform.lock_rows('ware', 'share', array[$1])", id)
		if isLocked && refused(t, err).Code != "55P03" || !isLocked && err != nil {
			t.Errorf("row %s: got %v", id, err)
		}
	}
	exec(t, first, "commit")
	_, err := second.Exec(t.Context(), "select platform.lock_rows('ware', 'update; drop table app.ware', '{a}')")
	if refused(t, err).Code != "22023" {
		t.Errorf("another strength: got %v", err)
	}
}
