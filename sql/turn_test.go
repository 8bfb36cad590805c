package sql_test

import (
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// A turn lasts until its transaction ends, and does not keep out turns of another kind.
func TestTurns(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	first, second := db.Owner(t), db.Owner(t)
	exec(t, first, "begin; select platform.take_turn('account', 'ada')")
	exec(t, second, "set lock_timeout = '20ms'; select platform.take_turn('address', 'ada')")
	for _, kind := range []string{"take", "share"} {
		if _, err := second.Exec(t.Context(), "select platform."+kind+"_turn('account', 'ada')"); refused(t, err).Code != "55P03" {
			t.Errorf("%s a turn that is taken: got %v", kind, err)
		}
	}
	exec(t, first, "commit; begin; select platform.share_turn('account', 'ada')")
	exec(t, second, "select platform.share_turn('account', 'ada')")
	if _, err := second.Exec(t.Context(), "select platform.take_turn('account', 'ada')"); refused(t, err).Code != "55P03" {
		t.Errorf("take a turn that is shared: got %v", err)
	}
	exec(t, first, "commit")
	exec(t, second, "select platform.take_turn('account', 'ada')")
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
