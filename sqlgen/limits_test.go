package sqlgen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/install"
)

// TestLargestModel installs and calls a model with as many columns, and as many in each kind of index,
// as the compiler allows.
func TestLargestModel(t *testing.T) {
	t.Parallel()
	names := make([]string, 1596)
	for i := range names {
		names[i] = fmt.Sprintf("f%04d", i)
	}
	keys := strings.Join(names[:32], ", ")
	order := strings.Join(names[:30], ": asc, ") + ": asc"
	db := compile(t, `
model Zone { fields { wides Wide[] } }
model Wide {
  fields { zone Zone  `+strings.Join(names, " Number? ")+` Number? }
  actions {
    get getWide(id)
    create createWide() with (zone.id)
    list listWides(zone.id) { @orderBy(`+order+`) @embed(zone) }
  }
  @unique([`+keys+`])
  @index(`+keys+`)
  @permission(expression: true, actions: [get, create, list])
}
`)
	callEverything(t, runScript(t, install.Script(db)), manifestOf(t, db))
}
