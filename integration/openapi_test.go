package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/openapi"
	"github.com/sternpost/sternpost/sql/release"
)

// projects returns the folders of all projects here, by name: the example apps, the
// cases' own projects, and those that the compiler's tests compile.
func projects(t *testing.T) map[string]string {
	t.Helper()
	dirs := map[string]string{}
	apps, err := os.ReadDir("apps")
	if err != nil {
		t.Fatal(err)
	}
	for _, app := range apps {
		dirs[app.Name()] = appDir(app.Name())
	}
	for _, cases := range []struct{ prefix, pattern string }{{"", "testdata/*.txtar"}, {"compiled ", "../sqlgen/testdata/*.txtar"}} {
		paths, err := filepath.Glob(cases.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			refused := slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want/errors" })
			if files := projectFiles(archive); len(files) > 0 && !refused {
				dirs[cases.prefix+strings.TrimSuffix(filepath.Base(path), ".txtar")] = writeProject(t, files)
			}
		}
	}
	if len(dirs) < 30 {
		t.Fatalf("found %d projects", len(dirs))
	}
	return dirs
}

// projectFiles are the files of the project in a case, without its rows.
func projectFiles(archive *txtar.Archive) map[string]string {
	files := map[string]string{}
	for _, f := range archive.Files {
		if f.Name != "rows.sql" && !strings.HasPrefix(f.Name, "want/") && isProjectFile(f.Name) {
			files[f.Name] = string(f.Data)
		}
	}
	return files
}

// manifestOf compiles a project and reads its manifest as a server does.
func manifestOf(t *testing.T, dir string) *release.Manifest {
	t.Helper()
	compiled, err := compile(dir)
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Manifest
}

// TestDescriptions describes every API of every project and lets other readers read it.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	for name, dir := range projects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := manifestOf(t, dir)
			for i := range m.APIs {
				text, err := openapi.Describe(m, &m.APIs[i], 3, "https://api.example.com", "Books")
				if err != nil {
					t.Fatal(err)
				}
				checkDescription(t, &m.APIs[i], text)
			}
		})
	}
}

// checkDescription validates a document as OpenAPI 3.1 and all its schemas as JSON
// Schema 2020-12.
func checkDescription(t *testing.T, api *release.API, text []byte) {
	t.Helper()
	loaded, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatalf("load the description of %s: %v\n%s", api.Name, err, text)
	}
	if err := loaded.Validate(t.Context()); err != nil {
		t.Errorf("the description of %s: %v\n%s", api.Name, err, text)
	}
	if loaded.Paths.Len() < len(api.Actions) {
		t.Errorf("the description of %s has %d paths for %d actions", api.Name, loaded.Paths.Len(), len(api.Actions))
	}
	document, err := readDocument(bytes.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	schemas, _ := document.at("components", "schemas").(map[string]any)
	for name := range schemas {
		if _, err := document.schema(pointer("components", "schemas", name)); err != nil {
			t.Errorf("%s: %v", api.Name, err)
		}
	}
	paths, _ := document.at("paths").(map[string]any)
	for path := range paths {
		status := "200"
		if document.at("paths", path, "post", "responses", "202") != nil { // of a job
			status = "202"
		}
		for _, place := range [][]string{{"requestBody"}, {"responses", status}} {
			place = slices.Concat([]string{"paths", path, "post"}, place, []string{"content", "application/json", "schema"})
			if document.at(place...) == nil && !strings.Contains(path, "/json/") {
				continue
			}
			if _, err := document.schema(pointer(place...)); err != nil {
				t.Errorf("%s: %v", api.Name, err)
			}
		}
	}
	for _, name := range []string{"BadRequest", "InternalServerError"} {
		if len(api.Actions) == 0 {
			break
		}
		if _, err := document.schema(pointer("components", "responses", name, "content", "application/json", "schema")); err != nil {
			t.Errorf("%s: %v", api.Name, err)
		}
	}
}

// TestKeptDescriptions compares documents with kept ones, so that reviews see changes
// for clients.
func TestKeptDescriptions(t *testing.T) {
	t.Parallel()
	for _, kept := range []struct{ app, api, path string }{
		{"workshop", "Tablet", "testdata/openapi_tablet.json"},
		{"ledger", "Books", "testdata/openapi_books.json"},
		{"ledger", "Portal", "testdata/openapi_portal.json"},
	} {
		t.Run(kept.api, func(t *testing.T) {
			t.Parallel()
			m := manifestOf(t, appDir(kept.app))
			i := slices.IndexFunc(m.APIs, func(a release.API) bool { return a.Name == kept.api })
			text, err := openapi.Describe(m, &m.APIs[i], 1, "http://localhost:8080", "")
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, text, "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			if casetest.Updating() {
				if err := os.WriteFile(kept.path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(kept.path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("the description of the api %s is not that of %s (-update rewrites it):\n%s", kept.api, kept.path, got.Bytes())
			}
		})
	}
}

// fuzzTime is the duration of the tests with generated requests; without the variable
// they make a fixed number of requests.
func fuzzTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("STERNPOST_TEST_FUZZ")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("STERNPOST_TEST_FUZZ: %v", err)
	}
	return d
}

// TestVerdictsAgree generates requests from the schemas of every action and compares
// the verdict of the server with that of a JSON Schema validator.
func TestVerdictsAgree(t *testing.T) {
	t.Parallel()
	for name, dir := range projects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := manifestOf(t, dir)
			all := release.API{Name: "All", Path: "all"}
			for _, a := range m.Actions {
				all.Actions = append(all.Actions, a.Name)
			}
			text, err := openapi.Describe(m, &all, 1, "http://localhost", "")
			if err != nil {
				t.Fatal(err)
			}
			document, err := readDocument(bytes.NewReader(text), "")
			if err != nil {
				t.Fatal(err)
			}
			until := time.Now().Add(fuzzTime(t))
			for seed := uint64(0); seed == 0 || time.Now().Before(until); seed++ {
				for _, a := range m.Actions {
					compareVerdicts(t, document, m, a, newRequestGenerator(seed, document))
				}
			}
		})
	}
}

// compareVerdicts generates requests to one action.
func compareVerdicts(t *testing.T, document *apiDocument, m *release.Manifest, a *release.Action, g requestGenerator) {
	t.Helper()
	reader, err := input.Compile(m.Schemas, a.Input)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := document.schema(pointer("components", "schemas", a.Input))
	if err != nil {
		t.Fatal(err)
	}
	accepted, refused := 0, 0
	for range 120 {
		body := g.request(map[string]any{"$ref": "#/components/schemas/" + a.Input})
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Fatalf("%s: %s: %v", a.Name, body, err)
		}
		want := schema.Validate(value)
		_, got := reader.Read(body)
		var invalid *input.Invalid
		if got != nil && !errors.As(got, &invalid) {
			t.Errorf("%s: %.500s\n got %v, which no schema says", a.Name, body, got)
		}
		if (got == nil) != (want == nil) {
			t.Errorf("%s: %.500s\n the server says    %v\n the validator says %v", a.Name, body, got, want)
		}
		if got == nil {
			accepted++
		} else {
			refused++
		}
	}
	takesAnything := len(m.Schemas.Get(a.Input)) == 0 || string(m.Schemas.Get(a.Input)) == "{}"
	if accepted < 20 || refused < 20 && !takesAnything {
		t.Errorf("%s: the requests prove little: %d accepted, %d refused", a.Name, accepted, refused)
	}
}

// TestListsTakeAnything sends generated requests to lists: every answer is a page or
// says which input is wrong.
func TestListsTakeAnything(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"filters", "filters_array", "filters_related", "orders", "relations", "paging", "workshop"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := serveCase(t, name)
			_, text := a.send(t, "GET", "/api/json/openapi.json", nil, "")
			document, err := readDocument(strings.NewReader(text), "")
			if err != nil {
				t.Fatal(err)
			}
			lists := listsOf(document)
			if len(lists) == 0 {
				t.Fatal("the API has no list")
			}
			until := time.Now().Add(fuzzTime(t))
			pages, refused := 0, 0
			for seed := uint64(0); seed == 0 || time.Now().Before(until); seed++ {
				for path, schema := range lists {
					g := newRequestGenerator(seed, document)
					for range 100 {
						if a.sendGenerated(t, path, g.request(schema)) {
							pages++
						} else {
							refused++
						}
					}
				}
			}
			if pages < 15 || refused < 15 {
				t.Errorf("the requests prove little: %d pages, %d refused", pages, refused)
			}
		})
	}
}

// serveCase serves the project of a case, with its rows, or an example app.
func serveCase(t *testing.T, name string) *app {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if errors.Is(err, os.ErrNotExist) {
		return serveApp(t, appDir(name))
	}
	if err != nil {
		t.Fatal(err)
	}
	files := projectFiles(archive)
	if len(files) == 0 {
		for _, f := range archive.Files {
			if f.Name == "app" {
				return serveApp(t, appDir(strings.TrimSpace(string(f.Data))))
			}
		}
	}
	a := serveApp(t, writeProject(t, files))
	for _, f := range archive.Files {
		if f.Name == "rows.sql" {
			if _, err := a.db.Superuser(t).Exec(t.Context(), string(f.Data)); err != nil {
				t.Fatalf("rows.sql: %v", err)
			}
		}
	}
	return a
}

// listsOf returns the paths of lists and the schemas of their bodies.
func listsOf(document *apiDocument) map[string]any {
	lists := map[string]any{}
	paths, _ := document.at("paths").(map[string]any)
	for path := range paths {
		name := path[strings.LastIndexByte(path, '/')+1:]
		input := strings.ToUpper(name[:1]) + name[1:] + "Input"
		if document.at("components", "schemas", input, "dependentSchemas") != nil {
			lists[path] = document.at("paths", path, "post", "requestBody", "content", "application/json", "schema")
		}
	}
	return lists
}

// sendGenerated sends a generated request to a list and tells whether it answers a page.
func (a *app) sendGenerated(t *testing.T, path string, body []byte) bool {
	t.Helper()
	response, answer := a.send(t, "POST", path, nil, string(body))
	if response.StatusCode == 200 {
		return true
	}
	var refusal struct {
		Code string
		Data struct {
			Errors []struct{ Field, Error string }
		}
	}
	if err := json.Unmarshal([]byte(answer), &refusal); err != nil || response.StatusCode != 400 || refusal.Code != "ERR_INVALID_INPUT" || len(refusal.Data.Errors) == 0 {
		t.Errorf("%s %.500s\n got %d %s\nwant a page, or what is wrong", path, body, response.StatusCode, answer)
		return false
	}
	var sent any
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	for _, e := range refusal.Data.Errors {
		field := e.Field
		if strings.HasSuffix(e.Error, " is required") { // the field is missing, its parent is not
			field = field[:max(strings.LastIndexByte(field, '.'), 0)]
		}
		if _, isObject := sent.(map[string]any); field == "(root)" && !isObject {
			continue
		}
		if !hasPath(sent, field) {
			t.Errorf("%s %.500s\n got %s\nwant fields that were sent, not %s", path, body, answer, e.Field)
		}
	}
	return false
}

// hasPath tells whether a value has something at a dotted path.
func hasPath(value any, path string) bool {
	if path == "" {
		return true
	}
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v { // names may have dots
			if rest, ok := strings.CutPrefix(path, name); ok {
				if rest == "" || rest[0] == '.' && hasPath(member, rest[1:]) {
					return true
				}
			}
		}
	case []any:
		index, rest, _ := strings.Cut(path, ".")
		i, err := strconv.Atoi(index)
		return err == nil && i < len(v) && hasPath(v[i], rest)
	}
	return false
}
