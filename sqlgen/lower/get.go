package lower

import (
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// get lowers a get.
func (l *lowering) get(a *schema.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name, pg.Stable)
	where := b.lookUp()
	var unlessFound []pg.Statement
	if hidden := b.isHidden(where); !pg.IsFalse(hidden) {
		unlessFound = append(unlessFound, pg.IfThen(hidden, b.end("platform.refuse")))
	}
	b.answerOne(b.stored(), where, append(unlessFound, b.requireCaller()...)...)
	return b.finish()
}
