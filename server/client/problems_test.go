package client

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/server/problem"
)

// TestProblems writes the union of all problems of inputs, which is a part of the runtime.
func TestProblems(t *testing.T) {
	t.Parallel()
	var p printer
	p.line(0, "// Problems of single inputs. The tests write this file from the kinds of problems.")
	p.line(0, "")
	p.line(0, "import type { InputField } from \"./fields.js\";")
	p.line(0, "")
	p.comment(0, "One problem of the input. Its code tells the kind, so that a client can say it in its own words.")
	p.line(0, "export type InputProblem =")
	kinds := problem.Kinds()
	for i, k := range kinds {
		params := ""
		if len(k.Params) > 0 {
			var members []string
			for _, m := range k.Params {
				members = append(members, m.Name+": "+m.Type)
			}
			params = ", { " + strings.Join(members, "; ") + " }"
		}
		end := ""
		if i == len(kinds)-1 {
			end = ";"
		}
		p.comment(1, strings.ReplaceAll(k.When, "`", ""))
		p.line(1, "| ProblemOf<%s%s>%s", quote(string(k.Code)), params, end)
	}
	p.line(0, "")
	p.comment(0, "An InputProblem of one code.")
	p.line(0, "interface ProblemOf<Code extends string, Params = undefined> {")
	p.comment(1, "The dotted path of the input.")
	p.line(1, "field?: InputField;")
	p.line(1, "code: Code;")
	p.comment(1, "What belongs to a problem of this code.")
	p.line(1, "params: Params;")
	p.comment(1, "A description for people.")
	p.line(1, "error: string;")
	p.line(0, "}")
	casetest.File(t, "runtime/problems.ts", p.String())
}
