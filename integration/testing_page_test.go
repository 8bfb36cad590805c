package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
)

const testingPage = "guide/how-to/testing.md"

// TestTestingPage follows the page about tests in a copy of the ledger: its commands, and the steps of
// its workflow. Each command that should fail, as the page says, fails after a change of the schema.
func TestTestingPage(t *testing.T) {
	t.Parallel()
	const consequence = "nobody runs the tests that the guide shows"
	program.Modules(t, typescriptDir, consequence)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(appDir("ledger"))); err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Abs(filepath.Join(typescriptDir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	db := pgtest.New(t, pgtest.Options{Empty: true})
	port := program.FreePort(t)
	shell := casetest.Shell{Command: buildCommand(t), Dir: dir, Env: []string{"DATABASE_URL=" + db.SuperuserURL(), "PORT=" + port}}
	if out, code := shell.Run(t, "sternpost migrate new initial"); code != 0 {
		t.Fatal(out)
	}
	shell.Follow(t, testingPage)

	steps := workflowSteps(t, filepath.Join(dir, ".github/workflows/test.yml"))
	here := func(text string) string { return strings.ReplaceAll(text, "localhost:8080", "localhost:"+port) }
	client := filepath.Join(dir, "test/ledger.test.ts")
	replaceText(t, client, here(fileText(t, client)))
	script := "trap 'kill $(jobs -p); wait' EXIT\n" + here(strings.Join(steps, "\n"))
	if out, code := shell.Run(t, script); code != 0 || !strings.Contains(out, "# pass 1\n") {
		t.Fatalf("the workflow exits with %d:\n%s", code, out)
	}

	schema := filepath.Join(dir, "ledger.stern")
	sound := fileText(t, schema)
	for command, change := range map[string][2]string{
		"sternpost fmt --check":                                 {"model Business {", "model  Business {"},
		"sternpost check":                                       {"name Text", "name Txet"},
		"sternpost permissions | diff permissions.txt -":        {"@permission(roles: [Auditor], actions: [get, list])", ""},
		`sternpost migrate check --scratch-url "$DATABASE_URL"`: {"note Markdown?", "note Text?"},
		`sternpost test --matrix --scratch-url "$DATABASE_URL"`: {"@permission(expression: customer.identity == ctx.identity, actions: [get])", ""},
	} {
		if !strings.Contains(fileText(t, testingPage), "| `"+strings.ReplaceAll(command, "|", `\|`)+"` |") {
			t.Errorf("the page does not say when %s fails", command)
		}
		replaceText(t, schema, strings.Replace(sound, change[0], change[1], 1))
		if out, code := shell.Run(t, command); code != 1 {
			t.Errorf("%s: exit %d after the change of %q:\n%s", command, code, change[0], out)
		}
	}
	if said := len(regexp.MustCompile("(?m)^\\| `sternpost").FindAllString(fileText(t, testingPage), -1)); said != 5 {
		t.Errorf("the page says of %d commands when they fail", said)
	}
}

// workflowSteps returns the commands of a workflow in their order.
func workflowSteps(t *testing.T, name string) []string {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(fileText(t, name)), &workflow); err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, s := range workflow.Jobs["test"].Steps {
		if s.Run != "" {
			commands = append(commands, s.Run)
		}
	}
	if len(commands) < 6 {
		t.Fatalf("the workflow has the commands %q", commands)
	}
	return commands
}
