package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
)

// step is a block of commands in a README, and the response below it.
type step struct {
	commands string
	status   string
	response string // empty means that none is shown
}

func readSteps(t *testing.T, name string) []step {
	t.Helper()
	var steps []step
	for _, b := range casetest.Blocks(t, name) {
		switch {
		case b.Language == "sh":
			steps = append(steps, step{commands: b.Text, status: "200"})
		case b.Language == "json" && len(steps) > 0:
			last := &steps[len(steps)-1]
			last.response = unbroken(b.Text)
			if b.Info != "" {
				last.status = b.Info
			}
		default:
			t.Fatalf("%s: a block of %s is not expected:\n%s", name, b.Language, b.Text)
		}
	}
	return steps
}

// TestReadme runs the commands in the README of each example app, in one shell as it
// says, and compares status and body. Ids, times and cursors may differ.
func TestReadme(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("apps/*/README.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("found %d READMEs (%v)", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			t.Parallel()
			runReadme(t, name)
		})
	}
}

// mark separates the output of the steps.
const mark = "=== next step ==="

func runReadme(t *testing.T, name string) {
	steps := readSteps(t, name)
	if len(steps) < 3 {
		t.Fatalf("%s has %d steps", name, len(steps))
	}
	a := serveApp(t, filepath.Dir(name))

	// A function in place of curl prints the status, so that the commands stay unchanged.
	script := `curl() { command curl --silent --show-error --write-out '%{stderr}%{http_code}\n' "$@"; }` + "\n"
	for _, s := range steps {
		script += strings.ReplaceAll(s.commands, "http://localhost:8080", a.url)
		script += fmt.Sprintf("echo '%s'; echo '%s' >&2\n", mark, mark)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-e", "-u", "-c", script)
	var out, statuses strings.Builder
	shell.Stdout, shell.Stderr = &out, &statuses
	if err := shell.Run(); err != nil {
		t.Fatalf("the commands of %s: %v\n%s\n%s", name, err, out.String(), statuses.String())
	}

	bodies, codes := strings.Split(out.String(), mark+"\n"), strings.Split(statuses.String(), mark+"\n")
	if len(bodies) != len(steps)+1 || len(codes) != len(steps)+1 {
		t.Fatalf("%d steps gave %d bodies and %d statuses", len(steps), len(bodies)-1, len(codes)-1)
	}
	for i, s := range steps {
		got := strings.TrimRight(bodies[i], "\n")
		for _, status := range strings.Fields(codes[i]) {
			if status != s.status {
				t.Errorf("%s\n  got  status %s: %s\n  want %s", s.commands, status, got, s.status)
			}
		}
		if len(strings.Fields(codes[i])) == 0 {
			t.Errorf("%s\n  sends no request", s.commands)
		}
		if s.response != "" && shape(got) != shape(s.response) {
			t.Errorf("%s\n  got  %s\n  want %s", s.commands, shape(got), shape(s.response))
		}
	}
}

// tokenMember is an unpredictable member of a token response.
var tokenMember = regexp.MustCompile(`"(access_token|refresh_token)":"[A-Za-z0-9_.-]{43,}"`)

// fileMember is the key of a file, likewise.
var fileMember = regexp.MustCompile(`"key":"[A-Za-z0-9_-]{22}"`)

// shape is a body without the values that differ from run to run.
func shape(body string) string {
	body = fileMember.ReplaceAllString(body, `"key":"{key}"`)
	return tokenMember.ReplaceAllString(variables{}.generalize("", body), `"$1":"{token}"`)
}
