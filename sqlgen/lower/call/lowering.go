package call

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/lower/derive"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Lowering is what the lowering of one schema knows from its functions on.
type Lowering struct {
	*derive.Lowering

	Functions *pg.Names                // names of functions in schema api
	Early     map[*model.Action]string // functions that decide before anything is prepared

	Jobs        []release.Job
	Subscribers []release.Subscriber
	Histories   []release.History
}

// New prepares to lower the actions of a schema. Generated names of functions give way to those of actions.
func New(below *derive.Lowering) *Lowering {
	l := &Lowering{Lowering: below, Functions: pg.NewNames(), Early: map[*model.Action]string{}}
	for _, a := range l.Schema.Actions {
		l.Functions.Take(rule.FunctionName(a))
	}
	return l
}
