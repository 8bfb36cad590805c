package main_test

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

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/pgtest"
)

const howTo = "../../integration/guide/how-to/"

// guideBlock is a block of code of a page.
//
//	```sh            commands for the shell
//	```sh exits N    commands whose exit code is N
//	```text          the output of the commands before it. … means any text in one line
//	```sql           statements that the owner of the database runs
//	```LANGUAGE PATH a file of the project
type guideBlock struct {
	language   string
	info       string
	text       string
	start, end int // of the text, in the page
}

var guideFence = regexp.MustCompile("(?ms)^```([a-z]+) ?([^\n]*)\n(.*?)^```$")

func blocksOf(t *testing.T, page string) (text string, blocks []guideBlock) {
	t.Helper()
	text = readFile(t, page)
	for _, m := range guideFence.FindAllStringSubmatchIndex(text, -1) {
		blocks = append(blocks, guideBlock{text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]], m[6], m[7]})
	}
	if len(blocks) == 0 {
		t.Fatalf("%s has no block of code", page)
	}
	return text, blocks
}

// guideShell runs the commands of a page in the folder of a project, with the built command on the PATH.
type guideShell struct {
	dir   string
	env   []string
	owner *pgx.Conn
}

// run runs commands and returns their output and exit code.
func (s guideShell) run(t *testing.T, commands string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "--norc", "-eu", "-o", "pipefail", "-c", commands)
	shell.Dir = s.dir
	shell.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "STERNPOST_ADMIN_PORT=0", "DATABASE_URL=")
	shell.Env = append(shell.Env, s.env...)
	printed, err := shell.CombinedOutput()
	if shell.ProcessState == nil || ctx.Err() != nil {
		t.Fatalf("the commands\n%s\n%v, %v; they printed:\n%s", commands, err, ctx.Err(), printed)
	}
	return string(printed), shell.ProcessState.ExitCode()
}

// follow runs the commands of a page in their order, and compares what they print. Under -update it
// writes the output into the page.
func (s guideShell) follow(t *testing.T, page string) {
	t.Helper()
	text, blocks := blocksOf(t, page)
	rewritten, written := "", 0
	for i, b := range blocks {
		switch {
		case b.language == "sh":
			want := 0
			if b.info != "" {
				if _, err := fmt.Sscanf(b.info, "exits %d", &want); err != nil {
					t.Fatalf("%s: a block of sh is followed by %q", page, b.info)
				}
			}
			out, code := s.run(t, b.text)
			if code != want {
				t.Fatalf("%s: the commands\n%s\nexit with %d and not %d; they printed:\n%s", page, b.text, code, want, out)
			}
			if i+1 == len(blocks) || blocks[i+1].language != "text" {
				continue
			}
			said := blocks[i+1]
			if likeness(said.text).MatchString(out) {
				continue
			}
			if !casetest.Updating() {
				t.Errorf("%s: the commands\n%s\nprint\n%s\nthe page says\n%s", page, b.text, out, said.text)
				continue
			}
			rewritten += text[written:said.start] + out
			written = said.end
		case b.language == "text" && i > 0 && blocks[i-1].language == "sh":
		case b.language == "sql" && b.info == "":
			mustRun(t, s.owner, b.text)
		case b.info != "":
			path := filepath.Join(s.dir, filepath.FromSlash(b.info))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			replaceFile(t, path, b.text)
		default:
			t.Fatalf("%s: a block of %s is not tested:\n%s", page, b.language, b.text)
		}
	}
	if casetest.Updating() {
		casetest.File(t, page, rewritten+text[written:])
	}
}

// likeness is the pattern of a text in which … means any text in one line.
func likeness(text string) *regexp.Regexp {
	return regexp.MustCompile(`\A` + strings.ReplaceAll(regexp.QuoteMeta(text), "…", `[^\n]*`) + `\z`)
}

// TestUpgradePage runs the commands of the page about a new version, with a version that has nothing new.
func TestUpgradePage(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "shop")
	command{args: []string{"init", dir}}.expect(t, 0, "")
	command{args: []string{"migrate", "new", "initial", dir}}.expect(t, 0, "")
	db := pgtest.New(t, pgtest.Options{Empty: true})
	command{args: []string{"migrate", "up", dir, "--database-url", db.OwnerURL()}}.expect(t, 0, "")
	guideShell{dir, []string{"COPY_URL=" + db.OwnerURL()}, db.Owner(t)}.follow(t, howTo+"upgrade.md")
}
