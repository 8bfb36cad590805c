package diff

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// countsFiles tells whether a table counts the fields that hold files.
func countsFiles(t *pg.Table) bool {
	return slices.ContainsFunc(t.Triggers, func(tr *pg.Trigger) bool { return tr.Name == pg.FileTrigger })
}

// countFiles counts files anew once the fields that named them are gone, so that their contents go too.
func (p *planner) countFiles() {
	if p.dropsFiles {
		p.step(CountFiles{}, nil, "files that only dropped rows or values named are deleted", NoLock, Long)
	}
}
