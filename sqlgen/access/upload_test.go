package access_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/access"
	"github.com/sternpost/sternpost/sqlgen/expr"
)

// TestAdmitsUploads compares the decisions for anonymous uploads with the expected ones,
// and with the decision for many such callers.
func TestAdmitsUploads(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		expression string
		isWrite    bool
		want       bool
	}{
		{"true", false, true},
		{"false", false, false},
		{"ctx.isAuthenticated", false, false},
		{"!ctx.isAuthenticated", false, true},
		{`ctx.headers.key == "k"`, false, true},
		{`!(ctx.headers.key == "k")`, false, true},
		{`ctx.headers.key == ctx.secrets.KEY`, false, true},
		{`ctx.headers.key == "k" && ctx.isAuthenticated`, false, false},
		{`ctx.headers.key == ctx.identity.name`, false, false},
		{`ctx.now > "2020-01-01T00:00:00Z"`, false, true},
		{`order.number == "x"`, false, false},
		{`!(order.number == "x")`, false, false},
		{`order.number == "x" && ctx.headers.key == "k"`, false, false},
		{`order.number == "x" || ctx.headers.key == "k"`, false, true},
		{`!(order.number == "x" && ctx.headers.key == "k")`, false, true},
		{`order.number == ctx.headers.key`, false, false},
		{`!(order.owner == ctx.identity)`, false, true},
		{`given == "x"`, true, false},
		{`given != null`, true, false},
		{`!(given == null)`, true, false},
		{`given != null || ctx.headers.key == "k"`, true, true},
		{`given == ctx.headers.key`, true, false},
		{`!(given == ctx.identity.name)`, true, true},
	} {
		t.Run(test.expression, func(t *testing.T) {
			t.Parallel()
			action := ruleOf(t, test.expression, test.isWrite)
			if got := access.AdmitsUploads(action.Rules); got != test.want {
				t.Errorf("%s: got %t, want %t", test.expression, got, test.want)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for range 300 {
				call := randomCall(random, access.Anonymous())
				if decided := expr.Foresee(call, action.Rules[0].Expression, knownAtUpload, nil); decided == expr.True && !test.want {
					t.Fatalf("%s: the call %+v is admitted", test.expression, call)
				}
			}
		})
	}
}

// knownAtUpload knows the caller and ctx, but neither the row nor the inputs.
func knownAtUpload(p *expr.Path) expr.Knowledge {
	if p.Root == expr.RootRow || p.Root == expr.RootInput {
		return expr.Open
	}
	return expr.Fixed
}
