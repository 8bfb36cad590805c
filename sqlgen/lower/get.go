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
	if hidden := b.isHidden(where); !pg.IsFalse(hidden) {
		b.step("", pg.IfThen(pg.IsNull(pg.Var("v_result")), pg.IfThen(hidden, &pg.Perform{Value: pg.Fn("platform.refuse")})))
	}
	b.step("", &pg.Return{Value: pg.Fn("coalesce", pg.Var("v_result"), pg.Str("null"))})
	return b.finish()
}
