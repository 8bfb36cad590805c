package call

import (
	"github.com/sternpost/sternpost/sqlgen/lower/table"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// attachUploads marks the uploads that the call attaches. A caller who may not attach them any more is refused before
// anything is written.
func (b *Builder) attachUploads() {
	if table.HasUploads(b.Action) {
		b.Step("", &pg.Perform{Value: pg.Fn("platform.file_attach", value.Context)})
	}
}
