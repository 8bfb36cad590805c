package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	exitInput       = 1
	exitUsage       = 2
	exitEnvironment = 3
)

const noteSchema = `model Note {
  fields {
    text Text
  }
  actions {
    create createNote() with (text)
    list listNotes()
  }
  @permission(expression: true, actions: [create, list])
}
`

func TestUsage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		want string // on standard error
	}{
		{[]string{"serv"}, `unknown command "serv" (did you mean "serve"?)`},
		{[]string{"chekc", "x"}, `unknown command "chekc" (did you mean "check"?)`},
		{[]string{"deploy"}, "unknown command \"deploy\"\nusage: sternpost"},
		{[]string{"migrate", "statsu"}, `unknown command "statsu" (did you mean "status"?)`},
		{[]string{"keys", "creat"}, `unknown command "creat" (did you mean "create"?)`},
		{[]string{"check", "--strict"}, "unknown flag: --strict"},
		{[]string{"check", "a", "b"}, "unexpected argument b\nusage: sternpost check [DIR] [flags]\n"},
		{[]string{"check", "--format", "xml"}, `--format takes text or json, not "xml"`},
		{[]string{"init", ""}, "give the folder to make"},
		{[]string{"init"}, "an argument is missing\nusage: sternpost init DIR [flags]\n"},
		{[]string{"serve", "dir"}, "it takes no arguments, not dir\nusage: sternpost serve [flags]\n"},
		{[]string{"diff"}, "2 arguments are missing\nusage: sternpost diff OLD NEW [flags]\n"},
		{[]string{"dev", "--port", "http"}, `--port takes a number, not "http"`},
		{[]string{"migrate", "up", "--patience", "5"}, `--patience takes a time such as 30s or 5m, not "5"`},
		{[]string{"fmt", "-w", "--check"}, "none of the others can be"},
		{[]string{"version", "--all"}, "unknown flag: --all"},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Parallel()
			command{args: test.args}.expect(t, exitUsage, test.want)
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	out := command{}.expect(t, 0, "")
	for _, name := range []string{"init", "dev", "check", "fmt", "build", "client", "serve", "health", "version"} {
		if !strings.Contains(out, "\n  "+name+" ") {
			t.Errorf("the help does not list %s:\n%s", name, out)
		}
	}
	if out := (command{args: []string{"version"}}).expect(t, 0, ""); !strings.HasPrefix(out, "sternpost ") {
		t.Errorf("version: got %q", out)
	}
}

// TestConfiguration gives the commands that serve unusable configurations.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		file   string // sternpost.yaml
		env    []string
		args   []string
		want   string
		isProd bool // serve alone would refuse it
	}{
		{name: "an unknown key", file: "prot: 8080\n", want: "sternpost.yaml:1: prot: unknown setting"},
		{name: "not YAML", file: "port: [\n", want: "sternpost.yaml"},
		{name: "a value of another form", file: "host: 127.0.0.1\nport: eighty\n", want: "sternpost.yaml:2: port:"},
		{name: "an unknown variable", env: []string{"STERNPOST_PROT=8080"}, want: "STERNPOST_PROT: unknown setting"},
		{name: "a port that there is not", args: []string{"--port", "99999"}, want: "PORT: port:"},
		{name: "a mode that there is not", env: []string{"STERNPOST_MODE=testing"}, want: "STERNPOST_MODE: mode:"},
		{name: "a file that is not there", args: []string{"--config", "none.yaml"}, want: "none.yaml"},
		{name: "nothing at all", want: "baseUrl is required", isProd: true},
	}
	for _, test := range tests {
		for _, name := range []string{"serve", "dev"} {
			if test.isProd && name == "dev" {
				continue
			}
			t.Run(test.name+" for "+name, func(t *testing.T) {
				t.Parallel()
				content := map[string]string{"schema.stern": noteSchema}
				if test.file != "" {
					content["sternpost.yaml"] = test.file
				}
				dir := files(t, content)
				c := command{args: append([]string{name}, test.args...), dir: dir, env: test.env}
				c.expect(t, exitInput, test.want)
				if _, err := os.Stat(filepath.Join(dir, ".sternpost")); err == nil {
					t.Error("something was made in the project")
				}
			})
		}
	}
}

func TestInit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "shop")
	out := command{args: []string{"init", dir}}.expect(t, 0, "")
	if !strings.Contains(out, "sternpost dev "+dir) {
		t.Errorf("init does not say how to go on: %q", out)
	}
	spaced := filepath.Join(t.TempDir(), "my shop")
	if out := (command{args: []string{"init", spaced}}).expect(t, 0, ""); !strings.Contains(out, "sternpost dev '"+spaced+"'\n") {
		t.Errorf("init gives a command that a shell does not take: %q", out)
	}
	if got := (command{args: []string{"check", dir}}).expect(t, 0, ""); got != "no errors\n" {
		t.Errorf("check of a new project: got %q", got)
	}
	command{args: []string{"fmt", "--check", dir}}.expect(t, 0, "")

	before := readFile(t, filepath.Join(dir, "schema.stern"))
	command{args: []string{"init", dir}}.expect(t, exitInput, "nothing was written")
	if got := readFile(t, filepath.Join(dir, "schema.stern")); got != before {
		t.Errorf("a second init changed the schema: %q", got)
	}

	other := files(t, map[string]string{"shop.keel": noteSchema})
	command{args: []string{"init", other}}.expect(t, exitInput, "shop.keel")
	blocked := filepath.Join(other, "shop.keel", "sub")
	command{args: []string{"init", blocked}}.expect(t, exitEnvironment, "not a directory")
}

func TestFmt(t *testing.T) {
	t.Parallel()
	const crooked = "model   Note{ fields{ text Text } }\n"
	const straight = "model Note {\n  fields {\n    text Text\n  }\n}\n"
	const broken = "model Note { fields {\n"
	dir := files(t, map[string]string{
		"crooked.stern": crooked, "straight.stern": straight, "schemas/deep.keel": crooked, "note.txt": crooked,
	})
	path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }

	// To standard output, which leaves the file.
	if got := (command{args: []string{"fmt", path("crooked.stern")}}).expect(t, 0, ""); got != straight {
		t.Errorf("fmt: got %q, want %q", got, straight)
	}
	if got := readFile(t, path("crooked.stern")); got != crooked {
		t.Errorf("fmt changed the file: %q", got)
	}
	want := path("crooked.stern") + "\n" + path("schemas/deep.keel") + "\n"
	if got := (command{args: []string{"fmt", "--check", dir}}).expect(t, exitInput, ""); got != want {
		t.Errorf("fmt --check: got %q, want %q", got, want)
	}
	if got := (command{args: []string{"fmt", "-w"}, dir: dir}).expect(t, 0, ""); got != "" {
		t.Errorf("fmt -w: got %q", got)
	}
	for _, name := range []string{"crooked.stern", "straight.stern", "schemas/deep.keel"} {
		if got := readFile(t, path(name)); got != straight {
			t.Errorf("fmt -w: %s is %q, want %q", name, got, straight)
		}
	}
	if got := readFile(t, path("note.txt")); got != crooked {
		t.Errorf("fmt -w changed another file: %q", got)
	}
	command{args: []string{"fmt", "--check", dir}}.expect(t, 0, "")

	replaceFile(t, path("straight.stern"), broken)
	replaceFile(t, path("crooked.stern"), crooked)
	command{args: []string{"fmt", "-w", dir}}.expect(t, exitInput, "straight.stern:")
	if got := readFile(t, path("straight.stern")); got != broken {
		t.Errorf("fmt -w changed a file that does not parse: %q", got)
	}
	if got := readFile(t, path("crooked.stern")); got != straight {
		t.Errorf("fmt -w left a file beside one that does not parse: %q", got)
	}
	command{args: []string{"fmt", path("none.stern")}}.expect(t, exitEnvironment, "none.stern")
}
