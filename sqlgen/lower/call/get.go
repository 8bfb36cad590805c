package call

import (
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Get lowers a get.
func (l *Lowering) Get(a *model.Action) *pg.Function {
	b := l.Begin(a, rule.FunctionName(a), "action "+a.Name, pg.Stable)
	where := b.lookUp()
	unlessFound := b.RequireCaller()
	if hidden := b.isHidden(where); !pg.IsFalse(hidden) {
		unlessFound = []pg.Statement{b.End("platform.refuse_or_nothing", hidden)}
	}
	b.answerOne("", b.Stored(), where, unlessFound...)
	return b.Finish()
}
