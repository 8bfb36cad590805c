package seed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/cmd/internal/pages"
	"github.com/sternpost/sternpost/sqlgen"
)

// The folders of a project for its seeds, and for tests, which have the form of seeds.
const (
	Folder = "seed"
	Tests  = "tests"
)

// File is a file of seeds, or a test.
type File struct {
	Name       string `json:"-"` // seed/1-people.json
	SQL        string `json:"-"` // of a script, which has nothing else
	text       []byte
	Identities []Identity `json:"identities"`
	Rows       tables     `json:"rows"`
	Calls      []Call     `json:"calls"`
}

// Identity can log in with its password.
type Identity struct {
	ID       string `json:"id"` // empty means that it gets one
	Email    string `json:"email"`
	Password string `json:"password"`
}

// Call is a call of an action.
type Call struct {
	Action string          `json:"action"`
	As     string          `json:"as"`    // an identity's e-mail address or id; empty is anonymous
	Input  json.RawMessage `json:"input"` // nil means {}

	// Only of a test.
	Name   string          `json:"name"`   // by which later calls refer to the answer; may be empty
	Status int             `json:"status"` // that must come; 0 means 200, or 202 for a job that starts
	Answer json.RawMessage `json:"answer"` // a part of what must come; nil means anything
}

// table holds the rows of a model.
type table struct {
	model string
	rows  []map[string]any
}

// tables are rows by their models, in the order of the file.
type tables []table

// UnmarshalJSON reads an object of lists.
func (t *tables) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return errors.New("rows is not an object of lists: {Model: [{field: value}]}")
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		of := table{model: name.(string)}
		if err := decoder.Decode(&of.rows); err != nil {
			return fmt.Errorf("rows.%s is not a list of objects: [{field: value}]", of.model)
		}
		*t = append(*t, of)
	}
	return nil
}

// fileError is an error in a file, with its place.
type fileError struct{ file, place, message string }

func (e *fileError) Error() string {
	if e.place == "" {
		return e.file + ": " + e.message
	}
	return e.file + ":" + e.place + ": " + e.message
}

func (f *File) wrong(place, format string, args ...any) error {
	return &fileError{f.Name, place, fmt.Sprintf(format, args...)}
}

func (f *File) callPlace(i int) string {
	return fmt.Sprintf("%s:calls[%d] %s", f.Name, i, f.Calls[i].Action)
}

// Read reads the seeds of the project in a folder, in the order of their names: seed/*.json,
// seed/*.yaml and seed/*.sql. A project without that folder has none.
func Read(dir string) ([]File, error) {
	return readAll(dir, Folder, "*.json", "*.yaml", "*.sql")
}

// ReadTests reads the tests of the project in a folder likewise: tests/*.json and tests/*.yaml.
func ReadTests(dir string) ([]File, error) {
	return readAll(dir, Tests, "*.json", "*.yaml")
}

func readAll(dir, folder string, patterns ...string) ([]File, error) {
	root := os.DirFS(dir)
	var names []string
	for _, pattern := range patterns {
		found, err := fs.Glob(root, path.Join(folder, pattern))
		if err != nil {
			return nil, fmt.Errorf("look for files in %s: %w", folder, err)
		}
		names = append(names, found...)
	}
	sort.Strings(names)
	var files []File
	for _, name := range names {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", folder, err)
		}
		f := File{Name: name, text: text}
		if strings.HasSuffix(name, ".sql") {
			f.SQL = string(text)
		} else if err := f.parse(text); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// parse reads a file in JSON or YAML, which has only the members of File.
func (f *File) parse(text []byte) error {
	if !strings.HasSuffix(f.Name, ".yaml") {
		return f.decode(text)
	}
	converted, err := yaml.YAMLToJSON(text)
	var bad yaml.Error
	if errors.As(err, &bad) {
		return f.wrong(fmt.Sprintf("%d:%d", bad.GetToken().Position.Line, bad.GetToken().Position.Column), "this is not YAML: %s", bad.GetMessage())
	} else if err != nil {
		return f.wrong("", "this is not YAML: %v", err)
	}
	return f.decode(converted)
}

// Text returns the text of the file.
func (f *File) Text() []byte { return f.text }

// Line returns the line of a call, or of a value in it, whose path has names of members and places in lists: answer,
// results, 0. A value that is not in the file has the line of what surrounds it.
func (f *File) Line(call int, path ...any) int {
	tree, err := parser.ParseBytes(f.text, 0)
	if err != nil {
		return 1
	}
	line := 1
	at := (&yaml.PathBuilder{}).Root().Child("calls").Index(uint(call))
	for i := -1; i < len(path); i++ {
		if i >= 0 {
			switch step := path[i].(type) {
			case string:
				at = at.Child(step)
			case int:
				at = at.Index(uint(step))
			}
		}
		node, err := at.Build().FilterFile(tree)
		if err != nil || node == nil {
			break
		}
		line = node.GetToken().Position.Line
	}
	return line
}

// decode reads JSON.
func (f *File) decode(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(f)
	var bad *json.SyntaxError
	var misfit *json.UnmarshalTypeError
	switch {
	case errors.As(err, &bad):
		return f.wrong(position(string(text), utf8.RuneCount(text[:max(bad.Offset-1, 0)])), "this is not JSON: %v", err)
	case errors.As(err, &misfit):
		what, kind := misfit.Field, misfit.Value
		if what == "" {
			what = "a seed, which is an object with identities, rows and calls,"
		}
		return f.wrong(position(string(text), utf8.RuneCount(text[:misfit.Offset])), "%s cannot be of the kind %s", what, kind)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return f.wrong("", "the file ends early: it is an object with identities, rows and calls")
	case err != nil:
		return f.wrong("", "%s; a seed has identities, rows and calls", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return f.wrong(position(string(text), utf8.RuneCount(text[:decoder.InputOffset()])), "there is text after the object of the seed: remove it")
	}
	return nil
}

// position returns the place of a character in a text, as line:column.
func position(text string, at int) string {
	before := []rune(text)
	before = before[:min(max(at, 0), len(before))]
	line, column := 1, 1
	for _, r := range before {
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return fmt.Sprintf("%d:%d", line, column)
}

// check finds errors before anything is written. The input of a test may be wrong on purpose.
func (f *File) check(compiled *sqlgen.Compiled) error {
	isTest := path.Dir(f.Name) == Tests
	for i, identity := range f.Identities {
		place := fmt.Sprintf("identities[%d]", i)
		switch _, isEmail := auth.ParseEmail(identity.Email); {
		case !isEmail:
			return f.wrong(place+".email", "%q is not an e-mail address", identity.Email)
		case identity.Password == "":
			return f.wrong(place+".password", "an identity needs a password to sign in with")
		case len(identity.Password) > auth.MaxPassword:
			return f.wrong(place+".password", "the password is longer than %d bytes", auth.MaxPassword)
		}
	}
	for i, c := range f.Calls {
		place := fmt.Sprintf("calls[%d]", i)
		if compiled.Manifest.Action(c.Action) == nil {
			return f.wrong(place+".action", "the schema has no action %q", c.Action)
		}
		if !IsExposed(compiled, c.Action) {
			return f.wrong(place+".action", "no API exposes %s: add it to one, or write rows", c.Action)
		}
		if isTest {
			continue
		}
		if c.Name != "" || c.Status != 0 || c.Answer != nil {
			return f.wrong(place, "name, status and answer are for tests: move the call to a file in %s/", Tests)
		}
		if _, err := pages.ReadInput(compiled, c.Action, c.body()); err != nil {
			return f.wrong(place+".input", "%v", err)
		}
	}
	return nil
}
