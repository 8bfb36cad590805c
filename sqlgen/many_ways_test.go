package sqlgen_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestManyWays compiles models whose computed fields read each other on 2^30 ways, which are too many
// to follow one by one.
func TestManyWays(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("model M0 { fields { x Number } actions { get getM(id) } @permission(expression: true, actions: [get]) }\n")
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&text, "model M%d { fields { a M%d b M%d x Number @computed(m%d.a.x + m%d.b.x) } }\n", i, i-1, i-1, i, i)
	}
	compile(t, text.String())
}
