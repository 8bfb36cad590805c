package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	soundSchema  = "model Task {\n  fields {\n    title Text\n  }\n}\n"
	brokenSchema = "model Task {\n  fields {\n    title Txet\n  }\n}\n"
)

// TestCommand runs the built command, as users and editors do.
func TestCommand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		run  func(t *testing.T, binary string)
	}{
		{"check as text", testCheckText},
		{"check as JSON", testCheckJSON},
		{"check a missing folder", testCheckMissing},
		{"check and watch as text", testWatchText},
		{"check and watch as JSON", testWatchJSON},
		{"lsp", testLSP},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, binary)
		})
	}
}

// TestWarnedOnce runs commands on a project with a warning: all but check print it in full once, whichever comes first.
func TestWarnedOnce(t *testing.T) {
	t.Parallel()
	const full, before = "warning: ", "warnings as before: 1 (sternpost check shows them)\n"
	warned := "model Task {\n  fields {\n    title Text @index\n  }\n  actions {\n    list tasks() {\n      @orderBy(title: asc)\n    }\n  }\n" +
		"  @permission(expression: true, actions: [list])\n}\n"
	dir := project(t, warned)
	for _, c := range []struct {
		args []string
		want string // on standard error
	}{
		{[]string{"check"}, full},
		{[]string{"build"}, full},
		{[]string{"build"}, before},
		{[]string{"openapi"}, before},
		{[]string{"client", "ts"}, before},
		{[]string{"migrate", "new", "start"}, before},
		{[]string{"check"}, full},
	} {
		_, got, code := command{args: append(c.args, dir)}.run(t)
		if code != 0 || !strings.Contains(got, c.want) || (c.want == full) != strings.Contains(got, full) {
			t.Errorf("%v: exit %d, got %q, want %q", c.args, code, got, c.want)
		}
	}

	// What is warned of beside errors is filtered, and not forgotten.
	write(t, dir, warned+"model Other { fields { title Txet } }\n")
	command{args: []string{"permissions", dir}}.expect(t, exitInput, "UnknownType")
	write(t, dir, warned)
	command{args: []string{"build", dir}}.expect(t, 0, before)
	write(t, dir, soundSchema)
	if _, got, _ := (command{args: []string{"build", dir}}).run(t); strings.Contains(got, "RedundantIndex") {
		t.Errorf("got %s", got)
	}
	write(t, dir, warned)
	command{args: []string{"build", dir}}.expect(t, 0, full)
	if text, err := os.ReadFile(filepath.Join(dir, ".sternpost", ".gitignore")); err != nil || string(text) != "*\n" {
		t.Errorf("the folder is not kept out of version control: %q, %v", text, err)
	}
}

func testCheckText(t *testing.T, binary string) {
	dir := project(t, soundSchema)
	out, _, code := run(t, binary, "check", dir)
	if want := "no errors\n"; out != want || code != 0 {
		t.Errorf("check of a sound schema: got %q, exit %d, want %q, exit 0", out, code, want)
	}
	write(t, dir, brokenSchema)
	out, diagnostics, code := run(t, binary, "check", dir)
	if out != "" || code != exitInput || !strings.Contains(diagnostics, `schema.stern:3:11`) {
		t.Errorf("check of a broken schema: got %q and %q, exit %d, want an error at 3:11, exit 1", out, diagnostics, code)
	}
}

func testCheckJSON(t *testing.T, binary string) {
	dir := project(t, brokenSchema)
	out, diagnostics, code := run(t, binary, "check", "--format", "json", dir)
	if codes := codesOf(t, out); strings.Join(codes, " ") != "UnknownType" || diagnostics != "" || code != exitInput {
		t.Errorf("check --format json: got %v and %q, exit %d, want UnknownType, exit 1", codes, diagnostics, code)
	}
	if !strings.Contains(out, "\n  {") {
		t.Errorf("check --format json: got %s, want it indented", out)
	}
	if _, _, code = run(t, binary, "check", "--format", "xml", dir); code != exitUsage {
		t.Errorf("check --format xml: exit %d, want %d", code, exitUsage)
	}
}

func testCheckMissing(t *testing.T, binary string) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, args := range [][]string{{"check", missing}, {"check", "--watch", missing}} {
		if _, _, code := run(t, binary, args...); code != exitEnvironment {
			t.Errorf("%v: exit %d, want %d", args, code, exitEnvironment)
		}
	}
}

func testWatchText(t *testing.T, binary string) {
	dir := project(t, brokenSchema)
	w := startWatch(t, binary, dir, "text")
	w.wait("checking again after the next change")
	write(t, dir, soundSchema)
	w.wait("no errors")
	write(t, dir, brokenSchema)
	w.wait("checking again after the next change")
	if diagnostics := w.interrupt(); strings.Count(diagnostics, "schema.stern:3:11") != 2 {
		t.Errorf("check --watch: got %q, want the error twice", diagnostics)
	}
}

func testWatchJSON(t *testing.T, binary string) {
	dir := project(t, brokenSchema)
	w := startWatch(t, binary, dir, "json")
	if codes := codesOf(t, w.line()); strings.Join(codes, " ") != "UnknownType" {
		t.Errorf("first line: got %v, want UnknownType", codes)
	}
	write(t, dir, soundSchema)
	if codes := codesOf(t, w.line()); strings.Join(codes, " ") != "NothingExposed" {
		t.Errorf("second line: got %v, want NothingExposed", codes)
	}
	if diagnostics := w.interrupt(); diagnostics != "" {
		t.Errorf("check --watch --format json: got %q on standard error, want nothing", diagnostics)
	}
}

// testLSP talks to the language server like an editor that leaves its input open; tests
// of the messages themselves are in their package.
func testLSP(t *testing.T, binary string) {
	const shutdown = `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`
	tests := []struct {
		name     string
		requests []string
		want     int
	}{
		{"exit after shutdown", []string{shutdown}, 0},
		{"exit without shutdown", nil, exitInput},
	}
	for _, test := range tests {
		c := exec.CommandContext(t.Context(), binary, "lsp")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		send := func(m string) { fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(m), m) }
		answers := bufio.NewReader(out)
		for _, m := range append([]string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`}, test.requests...) {
			send(m)
			var length int
			if _, err := fmt.Fscanf(answers, "Content-Length: %d\r\n\r\n", &length); err != nil {
				t.Fatalf("%s: answer to %s: %v", test.name, m, err)
			}
			body := make([]byte, length)
			if _, err := io.ReadFull(answers, body); err != nil || !strings.Contains(string(body), `"result"`) {
				t.Errorf("%s: answer to %s: got %s, %v", test.name, m, body, err)
			}
		}
		send(`{"jsonrpc":"2.0","method":"exit"}`)
		io.Copy(io.Discard, answers)
		var exit *exec.ExitError
		if err := c.Wait(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if got := c.ProcessState.ExitCode(); got != test.want {
			t.Errorf("%s: exit %d, want %d", test.name, got, test.want)
		}
	}
}

// watcher is a running check --watch.
type watcher struct {
	t           *testing.T
	command     *exec.Cmd
	out         *bufio.Scanner
	diagnostics *strings.Builder
}

func startWatch(t *testing.T, binary, dir, format string) *watcher {
	t.Helper()
	w := &watcher{
		t:           t,
		command:     exec.CommandContext(t.Context(), binary, "check", "--watch", "--format", format, dir),
		diagnostics: &strings.Builder{},
	}
	out, err := w.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.out = bufio.NewScanner(out)
	w.command.Stderr = w.diagnostics
	if err := w.command.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// line returns the next line of output.
func (w *watcher) line() string {
	w.t.Helper()
	if !w.out.Scan() {
		w.t.Fatalf("check --watch ended: %v", w.out.Err())
	}
	return w.out.Text()
}

// wait reads lines up to the one given.
func (w *watcher) wait(want string) {
	w.t.Helper()
	for w.line() != want {
	}
}

// interrupt ends the command as Ctrl-C does, and returns what it wrote to
// standard error.
func (w *watcher) interrupt() string {
	w.t.Helper()
	if err := w.command.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	for w.out.Scan() {
	}
	if err := w.command.Wait(); err != nil {
		w.t.Errorf("check --watch after an interrupt: %v, want exit 0", err)
	}
	return w.diagnostics.String()
}

// project makes a project with one schema file.
func project(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, text)
	return dir
}

// write replaces the schema of a project by another file, as editors do.
func write(t *testing.T, dir, text string) {
	t.Helper()
	temporary := filepath.Join(dir, "schema.stern~")
	if err := os.WriteFile(temporary, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temporary, filepath.Join(dir, "schema.stern")); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, binary string, args ...string) (out, diagnostics string, code int) {
	t.Helper()
	var stdout, stderr strings.Builder
	c := exec.CommandContext(t.Context(), binary, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %v: %v", args, err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

// codesOf returns the codes of printed diagnostics.
func codesOf(t *testing.T, text string) []string {
	t.Helper()
	var list []struct{ Code string }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("read diagnostics %q: %v", text, err)
	}
	codes := []string{}
	for _, d := range list {
		codes = append(codes, d.Code)
	}
	return codes
}
