package expr

import (
	"strings"
	"testing"
)

// Every kind has its row, and every scalar type all of its documentation.
func TestEveryKindHasARow(t *testing.T) {
	if len(kinds) != int(AnyList)+1 {
		t.Fatalf("%d rows, want one for each of %d kinds", len(kinds)-1, AnyList)
	}
	seen := map[string]Kind{}
	for k := ID; k <= AnyList; k++ {
		f := kinds[k]
		if f.name == "" || f.class == 0 {
			t.Errorf("kind %d has no name or no class", int(k))
		}
		if other, isTaken := seen[f.name]; isTaken {
			t.Errorf("kinds %d and %d are both called %s", int(other), int(k), f.name)
		}
		seen[f.name] = k
		if k.IsScalar() != (f.doc != "" && f.example != "") {
			t.Errorf("%s: a scalar type, and no other, has a description and an example", k)
		}
		if (f.read == nil) != (f.wrong == "") {
			t.Errorf("%s: messages refuse what does not read", k)
		}
		if f.compared != nil && f.read == nil {
			t.Errorf("%s: the interpreter would read what nobody has checked", k)
		}
		if k.IsScalar() != (f.json.Type != "") {
			t.Errorf("%s: a scalar type, and no other, has a form in JSON of its own", k)
		}
		if isFiltered := k.IsScalar() && !k.IsOpaque() || k == Enum; isFiltered != (len(f.filters) > 0) {
			t.Errorf("%s: what is compared, and nothing else, has filters", k)
		}
		if k.IsScalar() && !strings.Contains(f.example, " "+k.String()) {
			t.Errorf("%s: the example is a field of another type: %s", k, f.example)
		}
	}
}

func TestScalarNamed(t *testing.T) {
	for _, k := range Scalars() {
		if got, ok := ScalarNamed(k.String()); !ok || got != k {
			t.Errorf("ScalarNamed(%q) = %s, %t", k, got, ok)
		}
	}
	for _, name := range []string{"text", "Any", "null", "enum", "[]", ""} {
		if k, ok := ScalarNamed(name); ok {
			t.Errorf("ScalarNamed(%q) = %s, want none", name, k)
		}
	}
}
