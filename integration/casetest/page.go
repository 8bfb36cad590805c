package casetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Block is a fenced block of a page of the guide.
//
//	```sh            commands for the shell
//	```sh exits N    commands whose exit code is N
//	```text          the output of the commands before it. … means any text in one line
//	```sql           statements
//	```LANGUAGE PATH a file of the project
type Block struct {
	Language string
	Info     string // what follows the language
	Text     string

	Start, End int // of the text, in the page
}

var pageFence = regexp.MustCompile("(?ms)^```(\\S*) ?([^\n]*)\n(.*?)^```$")

// Blocks returns the fenced blocks of a page. There must be at least one.
func Blocks(t testing.TB, page string) []Block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []Block
	for _, m := range pageFence.FindAllStringSubmatchIndex(string(text), -1) {
		part := func(i int) string { return string(text[m[i]:m[i+1]]) }
		blocks = append(blocks, Block{part(2), part(4), part(6), m[6], m[7]})
	}
	if len(blocks) == 0 {
		t.Fatalf("%s has no block of code", page)
	}
	return blocks
}

// Shell runs the commands of a page in the folder of a project.
type Shell struct {
	Command string // the path of sternpost
	Dir     string
	Env     []string                              // beside the variables of this process
	SQL     func(t testing.TB, statements string) // runs a block of statements
}

// Run runs commands and returns their output and exit code.
func (s Shell) Run(t testing.TB, commands string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "--norc", "-eu", "-o", "pipefail", "-c", commands)
	shell.Dir = s.Dir
	shell.Env = append(os.Environ(), "PATH="+filepath.Dir(s.Command)+":"+os.Getenv("PATH"), "STERNPOST_ADMIN_PORT=0", "DATABASE_URL=")
	shell.Env = append(shell.Env, s.Env...)
	printed, err := shell.CombinedOutput()
	if shell.ProcessState == nil || ctx.Err() != nil {
		t.Fatalf("the commands\n%s\n%v, %v; they printed:\n%s", commands, err, ctx.Err(), printed)
	}
	return string(printed), shell.ProcessState.ExitCode()
}

// Follow runs the commands of a page in their order, and compares their output with the page. Under -update it writes
// the output into the page.
func (s Shell) Follow(t testing.TB, page string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var rewritten strings.Builder
	written, printed := 0, ""
	for _, b := range Blocks(t, page) {
		switch {
		case b.Language == "sh":
			printed = s.expect(t, b)
		case b.Language == "text" && b.Info == "":
			if isLike(printed, b.Text) {
				continue
			}
			if !Updating() {
				t.Errorf("%s: the commands print\n%s\nthe page says\n%s", page, printed, b.Text)
			}
			rewritten.Write(text[written:b.Start])
			rewritten.WriteString(printed)
			written = b.End
		case b.Language == "sql" && b.Info == "":
			s.SQL(t, b.Text)
		case b.Info != "":
			s.write(t, b)
		default:
			t.Fatalf("%s: no test runs this block of %s:\n%s", page, b.Language, b.Text)
		}
	}
	if Updating() {
		rewritten.Write(text[written:])
		File(t, page, rewritten.String())
	}
}

// expect runs the commands of a block, compares their exit code, and returns their output.
func (s Shell) expect(t testing.TB, b Block) (out string) {
	t.Helper()
	want := 0
	if b.Info != "" {
		if _, err := fmt.Sscanf(b.Info, "exits %d", &want); err != nil {
			t.Fatalf("%q says nothing about commands", b.Info)
		}
	}
	out, code := s.Run(t, b.Text)
	if code != want {
		t.Fatalf("the commands\n%s\nexit with %d, want %d; they printed:\n%s", b.Text, code, want, out)
	}
	return out
}

// write writes a block as a file of the project.
func (s Shell) write(t testing.TB, b Block) {
	t.Helper()
	path := filepath.Join(s.Dir, filepath.FromSlash(b.Info))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.Text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// isLike tells whether a text is one that a page shows, in which … means any text in one line.
func isLike(text, shown string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(shown), "…", `[^\n]*`)
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(text)
}
