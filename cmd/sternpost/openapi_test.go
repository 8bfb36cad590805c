package main_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOpenAPI prints the documents of projects.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	apis := `model Note {
  fields {
    text Text
  }
  actions {
    create createNote() with (text)
    list listNotes()
  }
  @permission(expression: true, actions: [create, list])
}

api Reading {
  models {
    Note {
      actions {
        listNotes
      }
    }
  }
}
`
	all := []string{"/api/json/changeEmail", "/api/json/changePassword", "/api/json/confirmAuthenticator", "/api/json/confirmPasskey", "/api/json/confirmProviderLink", "/api/json/createNote", "/api/json/endOtherSessions", "/api/json/endSession", "/api/json/listFactors", "/api/json/listNotes", "/api/json/listProviderLinks", "/api/json/listSessions", "/api/json/removeAuthenticator", "/api/json/removePasskey", "/api/json/removeProviderLink", "/api/json/renewRecoveryCodes", "/api/json/requestEmailVerification",
		"/api/json/requestPasswordReset", "/api/json/resetPassword", "/api/json/signOutEverywhere", "/api/json/startAuthenticator", "/api/json/startPasskey", "/api/json/startProviderLink", "/api/json/verifyEmail"}
	configured := map[string]string{"notes.stern": apis, "sternpost.yaml": "baseUrl: http://notes.example.com\nname: Our notes\n"}
	tests := []struct {
		name    string
		files   map[string]string
		args    []string
		title   string
		server  string
		actions []string
	}{
		{"the first one", map[string]string{"notes.stern": apis}, nil, "Api", "http://localhost:8080", all},
		{"by name", map[string]string{"notes.stern": apis}, []string{"--api", "Reading"}, "Reading", "http://localhost:8080", []string{"/reading/json/listNotes"}},
		{"by the name in its path", map[string]string{"notes.stern": apis}, []string{"--api", "reading"}, "Reading", "http://localhost:8080", []string{"/reading/json/listNotes"}},
		{"the address of the settings", configured, nil, "Api", "http://notes.example.com", all},
		{"an address", configured, []string{"--base-url", "https://a.example"}, "Api", "https://a.example", all},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, test.files)
			out := command{args: append([]string{"openapi", dir}, test.args...)}.expect(t, 0, "")
			if again := (command{args: append([]string{"openapi"}, test.args...), dir: dir}).expect(t, 0, ""); again != out {
				t.Error("printed twice, the documents differ")
			}
			var document struct {
				Info struct {
					Title, Version string
					Project        string `json:"x-project"`
				}
				Servers []struct{ URL string }
				Paths   map[string]any
			}
			if err := json.Unmarshal([]byte(out), &document); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			if document.Info.Title != test.title || document.Info.Version != "0" {
				t.Errorf("info: got %+v, want %s, version 0", document.Info, test.title)
			}
			project := "Our notes"
			if test.files["sternpost.yaml"] == "" {
				project = filepath.Base(dir)
			}
			if document.Info.Project != project {
				t.Errorf("project: got %q, want %q", document.Info.Project, project)
			}
			if len(document.Servers) != 1 || document.Servers[0].URL != test.server {
				t.Errorf("servers: got %v, want %s", document.Servers, test.server)
			}
			var paths []string
			for path := range document.Paths {
				if !strings.HasPrefix(path, "/auth/") {
					paths = append(paths, path)
				}
			}
			slices.Sort(paths)
			if !slices.Equal(paths, test.actions) {
				t.Errorf("paths: got %q, want %q", paths, test.actions)
			}
		})
	}

	dir := files(t, map[string]string{"notes.stern": apis})
	command{args: []string{"openapi", dir, "--api", "Tablet"}}.expect(t, exitInput, "unknown API Tablet; the project has Api, Reading")
	broken := files(t, map[string]string{"notes.stern": "model Note {\n"})
	command{args: []string{"openapi", broken}}.expect(t, exitInput, "notes.stern:")
	none := files(t, map[string]string{"sternpost.yaml": "useDefaultApi: false\n", "notes.stern": noteSchema})
	command{args: []string{"openapi", none}}.expect(t, exitInput, "the project has no API")
}
