package lower

import (
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// get lowers a get.
func (l *lowering) get(a *model.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name, pg.Stable)
	where := b.lookUp()
	unlessFound := b.requireCaller()
	if hidden := b.isHidden(where); !pg.IsFalse(hidden) {
		unlessFound = []pg.Statement{b.end("platform.refuse_or_nothing", hidden)}
	}
	b.answerOne("", b.stored(), where, unlessFound...)
	return b.finish()
}
