package sqlgen_test

import (
	"regexp"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// TestWhyPage compares the SQL on the page about the choices with the SQL that the compiler prints for
// the schema of the README.
func TestWhyPage(t *testing.T) {
	t.Parallel()
	const page = "../integration/guide/why.md"
	script := install.Script(compileProject(t, schemasOf(t, "../README.md")[0].project))
	shown := 0
	text := regexp.MustCompile("(?s)```sql (\\w+) (\\S+)\n(.*?)```").ReplaceAllStringFunc(readFile(t, page), func(block string) string {
		shown++
		name := regexp.MustCompile("```sql (\\w+) (\\S+)").FindStringSubmatch(block)
		end := `;\n`
		if name[1] == "function" {
			end = `\n\$\$;\n`
		}
		found := regexp.MustCompile(`(?s)create ` + name[1] + ` ` + regexp.QuoteMeta(name[2]) + `\b.*?` + end).FindString(script)
		if found == "" {
			t.Errorf("the compiler prints no %s %s", name[1], name[2])
		}
		return name[0] + "\n" + found + "```"
	})
	if shown != 2 {
		t.Errorf("%s shows %d pieces of SQL, want 2", page, shown)
	}
	casetest.File(t, page, text)
}
