package main_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	unitFile       = "../sternpost.service"
	productionPage = "../../integration/guide/how-to/production.md"
)

// unitValues returns the values that a unit gives one name.
func unitValues(t *testing.T, name string) []string {
	t.Helper()
	var values []string
	for line := range strings.Lines(readFile(t, unitFile)) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), "="); found && key == name {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		t.Fatalf("%s says nothing of %s", unitFile, name)
	}
	return values
}

// TestUnit lets systemd look at the unit, with the built command in it.
func TestUnit(t *testing.T) {
	t.Parallel()
	if got := unitValues(t, "ExecStart"); !slices.Equal(got, []string{"/usr/local/bin/sternpost serve"}) {
		t.Errorf("ExecStart: got %q", got)
	}
	for name, want := range map[string]string{
		"DynamicUser": "yes", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "Restart": "on-failure", "CapabilityBoundingSet": "",
	} {
		if got := unitValues(t, name); got[0] != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}

	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("SKIPPED: systemd's own look at the unit: it needs systemd-analyze (Debian: systemd), which is not here")
	}
	unit := filepath.Join(t.TempDir(), "sternpost.service")
	replaceFile(t, unit, strings.ReplaceAll(readFile(t, unitFile), "/usr/local/bin/sternpost", binary))
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// TestContainerfile runs the commands that the image runs, and compares the file with the
// rest of the project. It builds no image, since that needs a network.
func TestContainerfile(t *testing.T) {
	t.Parallel()
	text := readFile(t, "../Containerfile")
	for _, want := range []string{`make ".release/sternpost-$TARGETOS-$TARGETARCH" VERSION="$VERSION"`, "\nUSER 65532:65532\n", ":nonroot\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the Containerfile lacks %q", want)
		}
	}
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, "../../go.mod"))
	if goVersion == nil || !strings.Contains(text, "/golang:"+goVersion[1]+" AS build\n") {
		t.Errorf("the Containerfile does not build with the Go of go.mod, %v", goVersion)
	}
	for _, line := range []string{"ENTRYPOINT", "CMD", "HEALTHCHECK"} {
		found := regexp.MustCompile(`(?m)^` + line + ` .*?(\[.*\])$`).FindStringSubmatch(text)
		var args []string
		if found == nil || json.Unmarshal([]byte(found[1]), &args) != nil {
			t.Errorf("the Containerfile has no %s in the form of a list", line)
			continue
		}
		if args[0] == "/usr/local/bin/sternpost" {
			args = args[1:]
		}
		out := command{args: append(slices.Clip(args), "--help")}.expect(t, 0, "")
		if usage := strings.Join(append([]string{"sternpost"}, args...), " "); !strings.Contains(out, "\n  "+usage+" [") {
			t.Errorf("%s: there is no command %q:\n%s", line, usage, out)
		}
	}
	for name := range strings.Lines(readFile(t, "../../.dockerignore")) {
		if name = strings.TrimSpace(name); name == "cmd" || name == "Makefile" || name == "*" {
			t.Errorf("the build would not see %s", name)
		}
	}
}

// TestHostPages runs the commands that the pages about hosts name, and those that they give to
// containers, to get their help.
func TestHostPages(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../integration/guide/how-to/hosts/*.md")
	if err != nil || len(pages) < 6 {
		t.Fatalf("found %q, %v", pages, err)
	}
	called := regexp.MustCompile("(?:`|\n)sternpost ((?:[a-z]+ )*[a-z]+)")
	given := regexp.MustCompile(`(?m)^ *(?:command|args): (\[.*\])$`)
	asked := map[string]bool{}
	for _, name := range pages {
		page := readFile(t, name)
		for _, m := range called.FindAllStringSubmatch(page, -1) {
			asked[m[1]] = true
		}
		for _, m := range given.FindAllStringSubmatch(page, -1) {
			var args []string
			if err := json.Unmarshal([]byte(m[1]), &args); err != nil {
				t.Errorf("%s: %s: %v", name, m[0], err)
			} else if args[0] != "caddy" {
				options := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") })
				if options >= 0 {
					args = args[:options]
				}
				asked[strings.Join(args, " ")] = true
			}
		}
	}
	for _, want := range []string{"serve", "migrate up", "roles", "doctor", "files verify"} {
		if !asked[want] {
			t.Errorf("no page of a host names %q", want)
		}
	}
	for words := range asked {
		out := command{args: append(strings.Fields(words), "--help")}.expect(t, 0, "")
		if !strings.Contains(out, "\n  sternpost "+words+" [") {
			t.Errorf("there is no command %q:\n%s", words, out)
		}
	}
}

// TestProductionPage compares the page about production with the project: the
// commands that it names and the metrics.
func TestProductionPage(t *testing.T) {
	t.Parallel()
	page := readFile(t, productionPage)
	commands := regexp.MustCompile("(?:`|\n|sternpost )sternpost ((?:[a-z]+ )*[a-z]+)").FindAllStringSubmatch(page, -1)
	if len(commands) < 5 {
		t.Fatalf("the page names %d commands", len(commands))
	}
	for _, m := range commands {
		words := strings.Fields(m[1])
		out := command{args: append(words, "--help")}.expect(t, 0, "")
		if !strings.Contains(out, "sternpost "+m[1]) {
			t.Errorf("there is no command %q:\n%s", m[1], out)
		}
	}
	var sources strings.Builder
	for _, pattern := range []string{"../../server/*.go", "../../server/*/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			sources.WriteString(readFile(t, name))
		}
	}
	metrics := regexp.MustCompile("`(sternpost_[a-z_]+)[`{]").FindAllStringSubmatch(page, -1)
	if len(metrics) < 5 {
		t.Fatalf("the page names %d metrics", len(metrics))
	}
	for _, m := range metrics {
		if name := strings.TrimSuffix(m[1], "_bucket"); name != "sternpost_server" && !strings.Contains(sources.String(), `"`+name+`"`) {
			t.Errorf("there is no metric %s", m[1])
		}
	}
}
