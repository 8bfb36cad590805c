package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/program"
)

var updateTutorial = flag.Bool("update-tutorial", false, "write into the tutorial what its commands print")

const tutorialPage = "guide/tutorial.md"

// lesson is a block of the tutorial.
//
//	```sh            commands for the shell; they print nothing unless the next block has it
//	```sh server     a command that keeps running, in a terminal of its own
//	```text, ```json the output of the commands before it
//	```text server   the next output of the last server; the line … means any lines
//	```diff PATH     a change of a file
//	```LANGUAGE PATH a whole file
type lesson = casetest.Block

// TestTutorial follows the tutorial in its order: it writes the files, runs the commands, and compares their output.
// In the end a browser uses the product. Times, tokens and durations may differ. Ids may differ too, but the page has
// one for each id of the run, in the same places.
func TestTutorial(t *testing.T) {
	t.Parallel()
	const consequence = "nobody follows the tutorial"
	program.Modules(t, typescriptDir, consequence)
	browser := findBrowser(t, consequence)
	page := fileText(t, tutorialPage)
	lessons := casetest.Blocks(t, tutorialPage)
	if len(lessons) < 20 {
		t.Fatalf("%s has %d blocks", tutorialPage, len(lessons))
	}
	r := newReader(t)
	for i, l := range lessons {
		next := lesson{}
		if i+1 < len(lessons) {
			next = lessons[i+1]
		}
		r.follow(t, l, next)
		if t.Failed() {
			break
		}
	}
	if *updateTutorial {
		r.rewrite(t, page)
	}
	if t.Failed() {
		return
	}
	want := `at first: 3 things; sign in
signed in: ada@example.com can offer
offered: Lamp, with a picture of 3 by 2 points
refused: title: String length must be at most 80
asked for: Kitchen chair: For my niece
signed out: sign in
complaints: none
`
	browse(t, browser, want, "tutorial.mjs", "http://localhost:"+r.ports["3000"])
}

// reader follows the tutorial in a folder of its own.
type reader struct {
	home    string
	env     []string
	ports   map[string]string // by those that the tutorial names
	shell   *shell
	printed string // by the last commands
	server  *background
	said    ids      // of the page
	got     ids      // of this run
	changes []change // of the page, when it is updated
}

type change struct {
	at       lesson
	replaced string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	home, err := os.MkdirTemp("", "sternpost-tutorial-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	if err := os.Chmod(home, 0o755); err != nil { // Postgres may run as another user
		t.Fatal(err)
	}
	r := &reader{home: home, ports: map[string]string{"8080": program.FreePort(t), "3000": program.FreePort(t)}, said: ids{}, got: ids{}}
	for _, name := range []string{"PATH", "TMPDIR", "LANG"} {
		if value, ok := os.LookupEnv(name); ok {
			r.env = append(r.env, name+"="+value)
		}
	}
	goEnv, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS").Output()
	if err != nil {
		t.Fatal(err)
	}
	values := strings.Split(string(goEnv), "\n")
	npmCache, err := exec.Command("npm", "config", "get", "cache").Output()
	if err != nil {
		t.Fatal(err)
	}
	// Files that an earlier test has fetched are not fetched again.
	r.env = append(r.env, "HOME="+home, "GOCACHE="+values[0], "GOMODCACHE="+values[1], "GOPROXY="+values[2], "GOFLAGS="+values[3],
		"npm_config_cache="+strings.TrimSpace(string(npmCache)), "npm_config_prefer_offline=true", "npm_config_audit=false",
		"npm_config_update_notifier=false", "STERNPOST_ADMIN_PORT=0", "PORT="+r.ports["8080"])
	r.shell = startShell(t, r.env)
	return r
}

// here is a text of the tutorial with the ports of this run.
func (r *reader) here(text string) string {
	for usual, port := range r.ports {
		text = strings.ReplaceAll(text, "localhost:"+usual, "localhost:"+port)
		text = strings.ReplaceAll(text, "listen("+usual+",", "listen("+port+",")
	}
	return text
}

// there is the output of a command here, as the tutorial writes it.
func (r *reader) there(text string) string {
	for usual, port := range r.ports {
		text = strings.ReplaceAll(text, "localhost:"+port, "localhost:"+usual)
	}
	return waits.ReplaceAllString(strings.ReplaceAll(text, r.home, "/home/ada"), "")
}

// waits are the lines of make on a busy machine.
var waits = regexp.MustCompile(`(?m)^still compiling after \d+ s\n?`)

func (r *reader) follow(t *testing.T, l, next lesson) {
	t.Helper()
	switch {
	case l.Language == "sh" && l.Info == "":
		r.printed = r.there(r.shell.run(t, r.here(l.Text)))
		if says := next.Info == "" && (next.Language == "text" || next.Language == "json"); !says && r.printed != "" {
			t.Errorf("the commands\n%s\nprint what the tutorial does not say:\n%s", l.Text, r.printed)
		}
	case l.Language == "sh" && l.Info == "server":
		r.server = startServer(t, r.shell.dir(t), r.shell.path(t), r.env, r.here(l.Text))
	case l.Language == "text" && l.Info == "server":
		r.changes = append(r.changes, change{l, r.server.await(t, r, l.Text)})
	case l.Language == "text" && l.Info == "":
		r.compare(t, l, l.Text, r.printed)
	case l.Language == "json" && l.Info == "":
		r.compare(t, l, compacted(l.Text), compacted(r.printed))
	case l.Language == "diff":
		r.change(t, l)
	case l.Info != "":
		name := filepath.Join(r.home, "giveaway", l.Info)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		replaceText(t, name, r.here(l.Text))
	default:
		t.Fatalf("a block of %q is not expected:\n%s", l.Language, l.Text)
	}
}

// compare compares the text of a block with the output of the commands.
func (r *reader) compare(t *testing.T, l lesson, said, got string) {
	t.Helper()
	r.changes = append(r.changes, change{l, r.printed})
	said, got = masked(r.said.numbered(said)), masked(r.got.numbered(got))
	if said != got && !*updateTutorial {
		t.Errorf("the tutorial says\n%s\nbut the commands print\n%s", said, got)
	}
}

// rewrite writes the output of all commands into the tutorial, so that the page shows one run.
func (r *reader) rewrite(t *testing.T, page string) {
	t.Helper()
	for _, c := range slices.Backward(r.changes) {
		text := strings.TrimRight(c.replaced, "\n")
		if c.at.Language == "json" {
			text = wrapped(text)
		}
		page = page[:c.at.Start] + text + "\n" + page[c.at.Start+len(c.at.Text):]
	}
	if err := os.WriteFile(tutorialPage, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wrapped is compact JSON in lines for a page, without parts that readers do not need.
func wrapped(text string) string {
	text = regexp.MustCompile(`("(?:access_token|refresh_token|startCursor|endCursor|url)":"[^"]{4})[^"]*"`).ReplaceAllString(text, `$1…"`)
	text = regexp.MustCompile(`(":|,)(["{\[]|true|false|null|\d+)`).ReplaceAllString(text, "$1 $2")
	text = regexp.MustCompile(`(":)(["{\[]|true|false|null|\d+)`).ReplaceAllString(text, "$1 $2")
	var lines []string
	line := ""
	for word := range strings.SplitAfterSeq(text, ", ") {
		if len(line)+len(word) > 110 {
			lines = append(lines, strings.TrimRight(line, " "))
			line = " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}

// change applies a change to a file. It finds the lines that stay and go there once, and replaces them with those that
// stay and come. A line @@ divides several changes of one file.
func (r *reader) change(t *testing.T, l lesson) {
	t.Helper()
	name := filepath.Join(r.home, "giveaway", l.Info)
	text := fileText(t, name)
	for hunk := range strings.SplitSeq(l.Text, "@@\n") {
		var before, after strings.Builder
		for line := range strings.Lines(hunk) {
			switch line[0] {
			case ' ':
				before.WriteString(line[1:])
				after.WriteString(line[1:])
			case '-':
				before.WriteString(line[1:])
			case '+':
				after.WriteString(line[1:])
			default:
				t.Fatalf("the line %q of a change begins with neither ' ', + nor -", line)
			}
		}
		if n := strings.Count(text, r.here(before.String())); n != 1 {
			t.Fatalf("the change\n%s\nfits %d times into %s:\n%s", hunk, n, l.Info, text)
		}
		text = strings.Replace(text, r.here(before.String()), r.here(after.String()), 1)
	}
	replaceText(t, name, text)
}

// replaceText writes a file as editors do: a new file replaces it.
func replaceText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name+"~", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+"~", name); err != nil {
		t.Fatal(err)
	}
}

// varying matches unpredictable values.
var varying = []struct {
	pattern *regexp.Regexp
	mask    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "{time}"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(ms|s|µs)\b`), "{duration}"},
	{regexp.MustCompile(`"(access_token|refresh_token|startCursor|endCursor|url)": ?"[^"]*"`), `"$1":"{secret}"`},
	{regexp.MustCompile(`"key": ?"[A-Za-z0-9_-]{22}"`), `"key":"{key}"`},
	{regexp.MustCompile(`PostgreSQL \S+ from \S+`), "PostgreSQL"},
}

var idPattern = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// ids has a number for each id, in the order of their first appearance.
type ids map[string]int

// numbered is a text with the numbers in place of its ids.
func (known ids) numbered(text string) string {
	return idPattern.ReplaceAllStringFunc(text, func(id string) string {
		if known[id] == 0 {
			known[id] = len(known) + 1
		}
		return fmt.Sprintf("{id %d}", known[id])
	})
}

func masked(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.mask)
	}
	return strings.TrimRight(text, "\n")
}

// compacted is JSON without white space. Invalid JSON differs from all valid JSON.
func compacted(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return err.Error() + ":\n" + text
	}
	return b.String()
}

// shell runs commands one after the other, as a terminal does.
type shell struct {
	in  io.Writer
	out *bufio.Reader
}

func startShell(t *testing.T, env []string) *shell {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("bash", "--norc", "-e", "-u")
	command.Dir, command.Env = root, env
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = command.Stdout
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = command.Wait()
	})
	s := &shell{in, bufio.NewReader(out)}
	s.run(t, "curl() { command curl --silent --show-error --max-time 60 \"$@\"; }\n")
	return s
}

// run runs commands and returns their output, standard output and error.
func (s *shell) run(t *testing.T, commands string) string {
	t.Helper()
	const end = "=== printed ==="
	if _, err := fmt.Fprintf(s.in, "{\n%s\n} </dev/null\nprintf '\\n%s\\n'\n", commands, end); err != nil {
		t.Fatalf("the shell has ended before\n%s\n%v", commands, err)
	}
	var printed strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatalf("the commands\n%s\nfailed; they printed:\n%s%s", commands, printed.String(), line)
		}
		if line == end+"\n" {
			return strings.TrimSuffix(printed.String(), "\n")
		}
		printed.WriteString(line)
	}
}

func (s *shell) dir(t *testing.T) string  { return strings.TrimSpace(s.run(t, "pwd")) }
func (s *shell) path(t *testing.T) string { return strings.TrimSpace(s.run(t, `echo "$PATH"`)) }

// background is a command of the tutorial that keeps running in a terminal of its own.
type background struct {
	*program.Process
	seen int // bytes that were awaited already
}

func startServer(t *testing.T, dir, path string, env []string, text string) *background {
	t.Helper()
	command := exec.Command("bash", "--norc", "-c", "exec "+text)
	command.Dir, command.Env = dir, append(slices.Clone(env), "PATH="+path)
	return &background{Process: program.Start(t, command)}
}

// await waits until the server prints lines, in their order, after those of the last await. It returns the text with
// the printed lines.
func (s *background) await(t *testing.T, r *reader, text string) string {
	t.Helper()
	var printed strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line != "…" && line != "" {
			until(t, fmt.Sprintf("the server prints %q", line), func() bool { return s.find(r, &line) })
		}
		printed.WriteString(line + "\n")
	}
	return printed.String()
}

// find looks for a line in the output after the last line found, and sets it to the printed one.
func (s *background) find(r *reader, line *string) bool {
	text := s.Out.String()
	for at := s.seen; ; {
		length := strings.IndexByte(text[at:], '\n') + 1
		if length == 0 {
			return false
		}
		at += length
		if printed := r.there(text[at-length : at-1]); masked(printed) == masked(*line) {
			s.seen, *line = at, printed
			return true
		}
	}
}
