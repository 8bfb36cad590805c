package lower

import (
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
)

// TestEveryScalarHasARow checks that each type of a column has a full description for Postgres, and no other has.
func TestEveryScalarHasARow(t *testing.T) {
	kinds := append(expr.Scalars(), expr.Enum)
	for _, k := range kinds {
		s, ok := value.Scalars[k]
		if !ok {
			t.Errorf("%s has no row", k)
			continue
		}
		column := value.ColumnType(expr.Type{Kind: k})
		if !slices.Contains(diff.Types, column) {
			t.Errorf("%s: no migration knows columns of type %s", k, column)
		}
		if (s.Member == "") != k.IsWriteOnly() {
			t.Errorf("%s: what records show, and nothing else, is a member of them", k)
		}
		if k != expr.Enum && (s.Bare == nil) != k.IsOpaque() {
			t.Errorf("%s: a type that is compared, and no other, has a default", k)
		}
		if cast := value.CastType(k); !strings.HasPrefix(s.Column, cast) {
			t.Errorf("%s: a text is read as %s, and the column is %s", k, cast, s.Column)
		}
	}
	if len(value.Scalars) != len(kinds) {
		t.Errorf("%d rows for %d types", len(value.Scalars), len(kinds))
	}
}
