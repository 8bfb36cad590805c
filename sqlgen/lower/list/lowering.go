package list

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// Lowering is what the lowering of one schema knows from its lists on.
type Lowering struct {
	*call.Lowering

	Foreseen map[*model.Action][]*release.Foreseen
	Facets   map[*model.Action]string // functions that count the values of all rows of a list

	indexed map[*model.Model]map[string]bool // columns that indexes begin with, those of keys included
}

// New prepares to lower the lists of a schema.
func New(below *call.Lowering) *Lowering {
	return &Lowering{
		Lowering: below, Foreseen: map[*model.Action][]*release.Foreseen{}, Facets: map[*model.Action]string{},
		indexed: map[*model.Model]map[string]bool{},
	}
}
