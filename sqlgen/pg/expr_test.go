package pg_test

import (
	"testing"

	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// TestFolding checks how the builders of logic treat constants, and that they leave everything else as it is.
func TestFolding(t *testing.T) {
	t.Parallel()
	a, b, c := pg.Var("a"), pg.Var("b"), pg.Var("c")
	for _, test := range []struct {
		got  pg.Expr
		want string
	}{
		{pg.AllOf(), "true"},
		{pg.AnyOf(), "false"},
		{pg.AllOf(nil, a, nil), "a"},
		{pg.AllOf(pg.True(), a), "a"},
		{pg.AllOf(a, pg.False(), b), "false"},
		{pg.AllOf(a, pg.AllOf(b, c)), "a and b and c"},
		{pg.AllOf(a, pg.AnyOf(b, c)), "a and (b or c)"},
		{pg.AnyOf(pg.False(), a), "a"},
		{pg.AnyOf(a, pg.True(), b), "true"},
		{pg.AnyOf(a, pg.AnyOf(b, c)), "a or b or c"},
		{pg.AnyOf(a, pg.Null()), "a or null"}, // null is not false
		{pg.Negate(pg.True()), "false"},
		{pg.Negate(pg.False()), "true"},
		{pg.Negate(pg.Null()), "not null"},
		{pg.Negate(pg.Negate(a)), "a"},
		{pg.Negate(pg.IsNull(a)), "a is not null"},
		{pg.Negate(pg.IsNotNull(a)), "a is null"},
		{pg.Negate(&pg.Is{Value: a, Test: "true"}), "a is not true"},
		{pg.Negate(pg.Eq(a, b)), "not a = b"},
	} {
		if got := emit.Expr(test.got); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
