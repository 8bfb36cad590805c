package refusal

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/server/problem"
)

const page = "../../integration/guide/reference/errors.md"

// TestErrorsPage compares the page about errors with the catalogue: statuses, codes and the usual
// messages; and the codes of inputs with their kinds. The page itself says when an error occurs.
func TestErrorsPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const heading = "| status | `code` | usual message | when |\n|---|---|---|---|\n"
	before, rest, found := strings.Cut(string(text), heading)
	if !found {
		t.Fatalf("%s has no table %q", page, heading)
	}
	rows, after, _ := strings.Cut(rest, "\n\n")
	written := map[string]string{} // by status and code, when it occurs
	for row := range strings.Lines(rows) {
		if cells := strings.Split(strings.TrimSpace(row), " | "); len(cells) == 4 {
			written[strings.Trim(cells[0], "| ")+" "+strings.Trim(cells[1], "`")] = strings.TrimSuffix(cells[3], " |")
		}
	}
	var table strings.Builder
	for _, r := range Catalogue() {
		when := written[fmt.Sprintf("%d %s", r.Status, r.Code)]
		if when == "" {
			t.Errorf("%s does not say when %d %s comes: add a row, and run -update", page, r.Status, r.Code)
		}
		fmt.Fprintf(&table, "| %d | `%s` | %s | %s |\n", r.Status, r.Code, r.Message, when)
	}
	const inputs = "| `code` of an input | `params` | when |\n|---|---|---|\n"
	between, rest, found := strings.Cut(after, inputs)
	if !found {
		t.Fatalf("%s has no table %q", page, inputs)
	}
	_, after, _ = strings.Cut(rest, "\n\n")
	table.WriteString("\n" + between + inputs)
	for _, k := range problem.Kinds() {
		var params []string
		for _, p := range k.Params {
			params = append(params, "`"+p.Name+"`")
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", k.Code, strings.Join(params, ", "), k.When)
	}
	if !t.Failed() {
		casetest.File(t, page, before+heading+table.String()+"\n"+after)
	}
}

// TestErrorsOfTheDatabase compares the SQLSTATEs on the page with the answers to them.
func TestErrorsOfTheDatabase(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]Refusal{} // by SQLSTATE or by its class
	row := regexp.MustCompile("(?m)^\\| (`.*?) \\| (\\d+) \\| `(\\w+)` \\|")
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		status, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		for _, state := range regexp.MustCompile("`([0-9A-Zx]{5})`").FindAllStringSubmatch(m[1], -1) {
			said[strings.TrimRight(state[1], "x")] = append(said[strings.TrimRight(state[1], "x")], Refusal{Status: status, Code: m[3]})
		}
	}
	for state, want := range databaseRefusals {
		says := said[state]
		if says == nil {
			says = said[state[:len(state)-1]] // as 57P0 does for 57P01
		}
		if !slices.ContainsFunc(says, func(r Refusal) bool { return r.Status == want.Status && r.Code == want.Code }) {
			t.Errorf("%s: of SQLSTATE %s it says %v, and it is answered by %d %s", page, state, says, want.Status, want.Code)
		}
	}
}
