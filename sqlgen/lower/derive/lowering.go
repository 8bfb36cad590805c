package derive

import (
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Lowering is what the lowering of one schema knows from its computed values on.
type Lowering struct {
	*rule.Lowering

	FeedsLate map[*model.Model]bool // models whose rows late rules depend on

	Live map[*model.Action]*Dependence // what live answers depend on

	derived   map[*model.Field]*Part       // parts of computed fields; nil for a generated column
	Parts     []*Part                      // each behind those that it is made of
	partKeys  map[string]*Part             // parts by their keys
	partNames map[*model.Model]*pg.Names   // names of the parts' columns
	ranks     map[*model.Model]int         // the order in which triggers lock rows of several tables; nil until it is asked for
	steps     map[*model.Model][]*keepStep // of the keepers of tables, as far as they were asked for
	turns     []Link                       // the keys that have turns; nil until they are asked for
}

// New finds how the computed fields of a schema are derived.
func New(below *rule.Lowering) *Lowering {
	l := &Lowering{
		Lowering: below, FeedsLate: map[*model.Model]bool{}, derived: map[*model.Field]*Part{}, partKeys: map[string]*Part{},
		partNames: map[*model.Model]*pg.Names{}, steps: map[*model.Model][]*keepStep{},
		Live: map[*model.Action]*Dependence{},
	}
	for _, m := range l.Schema.Models {
		l.compute(m)
	}
	l.findLate()
	l.findLive()
	return l
}
