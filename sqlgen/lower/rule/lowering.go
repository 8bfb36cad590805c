package rule

import (
	"github.com/sternpost/sternpost/sqlgen/lower/table"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// Lowering is what the lowering of one schema knows from its rules on.
type Lowering struct {
	*table.Lowering

	Nested map[*model.Model][]nested // rows that actions insert beside their own, by model
	Owners map[string]string         // the roles that the functions of actions run as, by the actions' names
}

// New prepares to lower the rules of a schema.
func New(below *table.Lowering) *Lowering {
	return &Lowering{Lowering: below, Nested: nestedInserts(below.Schema), Owners: map[string]string{}}
}
