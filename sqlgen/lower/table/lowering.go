package table

import (
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Lowering is what the lowering of one schema knows from its tables on. The Lowering of each room holds that of the room
// below it.
type Lowering struct {
	Schema      *model.Schema
	Names       *pg.Names         // names of relations and constraints in schema app
	Constraints []namedConstraint // as a server explains them

	calculated map[*model.Field]bool // fields whose values come from arithmetic
}

// New prepares to lower a schema. Generated names give way to those that the schema gives, and never the other way round.
func New(s *model.Schema) *Lowering {
	l := &Lowering{Schema: s, Names: pg.NewNames(), calculated: value.CalculatedFields(s)}
	for _, m := range s.Models {
		l.Names.Take(m.Table)
	}
	return l
}
