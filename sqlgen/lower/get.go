package lower

import (
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// get lowers a get.
func (l *lowering) get(a *schema.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name, pg.Stable)
	where := b.lookUp()
	b.variable("v_result", "text", nil)
	b.step("", b.recordQuery(where, "v_result"))
	var unlessFound []pg.Statement
	if hidden := b.isHidden(where); !pg.IsFalse(hidden) {
		unlessFound = append(unlessFound, pg.IfThen(hidden, &pg.Perform{Value: pg.Fn("platform.refuse")}))
	}
	unlessFound = append(unlessFound, b.requireCaller()...)
	if len(unlessFound) > 0 {
		b.step("", pg.IfThen(pg.IsNull(pg.Var("v_result")), unlessFound...))
	}
	b.step("", &pg.Return{Value: pg.Fn("coalesce", pg.Var("v_result"), pg.Str("null"))})
	return b.finish()
}
