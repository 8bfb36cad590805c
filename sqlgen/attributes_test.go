package sqlgen_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// TestAttributesOfFields compiles the example of each attribute of a field, with the attribute and without it: it must
// make a difference to the database, the manifest or the errors.
func TestAttributesOfFields(t *testing.T) {
	t.Parallel()
	outcome := func(field string) string {
		author, inputs := "author Person @relation(written)  approver Person? @relation(approved)", "title, author.id"
		switch {
		case strings.HasPrefix(field, "approver"):
			author = "author Person"
		case strings.HasPrefix(field, "scan"):
			inputs += ", scan"
		}
		compiled, errs := sqlgen.Compile(projectFrom(`
enum State { Draft Published }
model Person { fields { name Text  approved Post[]  written Post[] } }
model Post {
  fields { title Text  state State @default(State.Draft)  ` + author + `
    ` + field + `
  }
  actions { get getPost(id)  create createPost() with (` + inputs + `) }
  @permission(expression: true, actions: [get, create])
}`))
		if compiled == nil {
			return rendered(t, errs)
		}
		return install.Script(compiled.Release())
	}
	checked := 0
	for _, a := range check.Attributes() {
		before, _, isField := strings.Cut(a.Example, " @"+a.Name)
		if !isField || strings.ContainsAny(before, "({") || a.Name == "renamed" { // which only a migration reads
			continue
		}
		checked++
		without := regexp.MustCompile(` @`+a.Name+`(\((\([^()]*\)|[^()])*\))?`).ReplaceAllString(a.Example, "")
		if without == a.Example || outcome(a.Example) == outcome(without) {
			t.Errorf("%s: the attribute changes nothing. Its check is missing in check/fieldattr.go, or what it becomes in lower/table/table.go or manifest/value.go", a.Example)
		}
	}
	if checked < 10 {
		t.Errorf("only %d attributes of fields have examples", checked)
	}
}
