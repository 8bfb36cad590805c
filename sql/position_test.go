package sql_test

import (
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	server, owner := db.Server(t), db.Owner(t)
	first := value[string](t, server, "select platform.position_note('ada')::text")
	exec(t, owner, "create table public.more (n integer); insert into public.more select generate_series(1, 100)")
	second := value[string](t, server, "select platform.position_note('ada')::text")
	if !value[bool](t, owner, "select $1::text::pg_lsn < $2::text::pg_lsn", first, second) {
		t.Errorf("the second position %s is not after the first, %s", second, first)
	}
	exec(t, server, "select platform.position_note(null)")
	got := value[string](t, server, "select platform.position_find(array['bob', 'ada', 'ada'])::text")
	if want := "{NULL," + second + "," + second + "}"; got != want {
		t.Errorf("position_find: got %s, want %s", got, want)
	}
	if n := value[int](t, owner, "select count(*) from platform.position"); n != 1 {
		t.Errorf("%d positions are kept, want 1", n)
	}
	// An older one, of a transaction that was slower to note it, does not take its place.
	exec(t, owner, "update platform.position set position = 'FFFFFFFF/0'")
	exec(t, server, "select platform.position_note('ada')")
	if got := value[string](t, server, "select platform.position_find(array['ada'])::text"); got != "{FFFFFFFF/0}" {
		t.Errorf("after an older one: got %s", got)
	}
	if value[bool](t, server, "select platform.position_sweep(1)") || value[int](t, owner, "select count(*) from platform.position") != 1 {
		t.Error("a new position was swept")
	}
	exec(t, owner, "update platform.position set noted_at = now() - interval '10 minutes'")
	if !value[bool](t, server, "select platform.position_sweep(1)") || value[int](t, owner, "select count(*) from platform.position") != 0 {
		t.Error("an old position was not swept")
	}
}

// Only the owner reads or writes positions without the functions, and only servers call
// these.
func TestPositionRights(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, role := range []string{"sternpost_server", "sternpost_caller", "sternpost_open", "sternpost_code", "public"} {
		for _, privilege := range []string{"select", "insert", "update"} {
			if role != "public" && value[bool](t, owner, "select has_any_column_privilege($1, 'platform.position', $2)", role, privilege) {
				t.Errorf("%s may %s platform.position", role, privilege)
			}
		}
		for _, function := range []string{"position_note(text)", "position_find(text[])", "position_sweep(integer)"} {
			may := value[bool](t, owner, "select has_function_privilege($1, $2, 'execute')", role, "platform."+function)
			if may != (role == "sternpost_server") {
				t.Errorf("%s may execute %s: %t", role, function, may)
			}
		}
	}
}
