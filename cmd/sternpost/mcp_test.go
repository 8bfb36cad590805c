package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
)

// TestMCP works on a project with the client of the official SDK: it checks the schema, asks about rules, reads the files,
// and calls the actions that dev serves.
func TestMCP(t *testing.T) {
	t.Parallel()
	dir, port := filepath.Join(openDir(t), "shop"), program.FreePort(t)
	command{args: []string{"init", dir}}.expect(t, 0, "")
	settings := filepath.Join(dir, "sternpost.yaml")
	if err := os.WriteFile(settings, []byte(readFile(t, settings)+"mcp:\n  apis: [Api]\n  writes: [Api]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	env := []string{"PORT=" + port, "STERNPOST_ADMIN_PORT=0", "DATABASE_URL="}
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		a := program.StartAgent(t, env, revision, "stdio", binary, "mcp", dir)
		if got := a.Call("tools/list", "").Tools; len(got) != 3 || got[0].Name != "sternpost_check" {
			t.Errorf("%s: without dev: got %+v", revision, got)
		}
		if got := a.Call("sternpost_check", ""); got.IsError || string(got.StructuredContent) != `{"result":[]}` {
			t.Errorf("%s: check: got %s %s", revision, got.StructuredContent, got.Fault)
		}
		if got := a.Call("sternpost_permissions", "{}"); got.IsError || !strings.Contains(string(got.StructuredContent), `"action":"createTask"`) {
			t.Errorf("%s: permissions: got %s", revision, got.StructuredContent)
		}
		if got := a.Call("sternpost_explain", `{"action":"getTask","input":{"id":"read"}}`); !got.IsError || !strings.Contains(string(got.StructuredContent), "run sternpost dev in "+dir) {
			t.Errorf("%s: explain without a database: got %s", revision, got.StructuredContent)
		}
		if got := a.Call("resources/list", "").Resources; len(got) != 4 || got[1].Name != "schema.stern" {
			t.Errorf("%s: resources: got %+v", revision, got)
		} else if text := a.Call("resources/read", got[1].URI).Contents; len(text) != 1 || text[0].Text != readFile(t, filepath.Join(dir, "schema.stern")) {
			t.Errorf("%s: the schema: got %+v", revision, text)
		}
		if got := a.Call("resources/read", "sternpost:///AGENTS.md").Contents; len(got) != 1 || got[0].Text != readFile(t, filepath.Join(dir, "AGENTS.md")) {
			t.Errorf("%s: the language: got %+v", revision, got)
		}
		for _, address := range []string{"file:///etc/passwd", "file://" + dir + "/../shop/schema.stern", "file://" + settings + "x"} {
			if got := a.Call("resources/read", address); !strings.Contains(got.Fault, "Resource not found") {
				t.Errorf("%s: read %s: got %+v", revision, address, got)
			}
		}
		if got := a.Call("createTask", `{"title":"x"}`); !got.IsError || !strings.Contains(string(got.StructuredContent), "sternpost dev does not serve the project") {
			t.Errorf("%s: an action without dev: got %s %s", revision, got.StructuredContent, got.Fault)
		}
	}

	dev := command{args: []string{"dev", dir}, env: env}.start(t)
	dev.Await(t, 0, "Sternpost serves")
	a := program.StartAgent(t, env, "2026-07-28", "stdio", binary, "mcp", dir)
	names := map[string]bool{}
	for _, tool := range a.Call("tools/list", "").Tools {
		names[tool.Name] = true
	}
	if !names["createTask"] || !names["sternpost_check"] || names["deleteTask"] {
		t.Errorf("an anonymous caller gets the tools %v", names)
	}
	if got := a.Call("createTask", `{"title":"by an agent"}`); got.IsError || !strings.Contains(string(got.StructuredContent), `"title":"by an agent"`) {
		t.Errorf("createTask: got %s %s", got.StructuredContent, got.Fault)
	}
	if got := a.Call("createTask", `{"title":7}`); !got.IsError || !strings.Contains(string(got.StructuredContent), `{"code":"type","error":"Invalid type. Expected: string, given: integer","field":"title","params":{"expected":"string","given":"integer"}}`) {
		t.Errorf("a bad input: got %s", got.StructuredContent)
	}
	if got := a.Call("nothing", `{}`); !strings.Contains(got.Fault, "Unknown tool: nothing") {
		t.Errorf("no tool: got %+v", got)
	}
	if got := a.Call("sternpost_explain", `{"action":"deleteTask","input":{"id":"read"}}`); got.IsError || !strings.Contains(string(got.StructuredContent), `"status":403`) {
		t.Errorf("explain: got %s", got.StructuredContent)
	}

	token := signInAt(t, "http://localhost:"+port)
	b := program.StartAgent(t, append(env, "MCP_TOKEN="+token), "2025-11-25", "stdio", binary, "mcp", dir)
	if got := b.Call("deleteTask", `{"id":"read"}`); got.IsError || string(got.StructuredContent) != `{"result":"read"}` {
		t.Errorf("deleteTask with a token: got %s %s", got.StructuredContent, got.Fault)
	}
	c := program.StartAgent(t, append(env, "MCP_TOKEN=nonsense"), "2025-11-25", "stdio", binary, "mcp", dir)
	if got := c.Call("getTask", `{"id":"read"}`); !got.IsError || !strings.Contains(string(got.StructuredContent), "the access token is not valid") {
		t.Errorf("a bad token: got %s %s", got.StructuredContent, got.Fault)
	}

	if err := os.WriteFile(filepath.Join(dir, "schema.stern"), []byte("model Task {\n  fields {\n    title Txet\n  }\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := a.Call("sternpost_check", ""); got.IsError || !strings.Contains(string(got.StructuredContent), `"code":"UnknownType"`) {
		t.Errorf("check of a broken schema: got %s", got.StructuredContent)
	}
	if got := a.Call("sternpost_permissions", ""); !got.IsError || !strings.Contains(string(got.StructuredContent), "UnknownType") {
		t.Errorf("permissions of a broken schema: got %s", got.StructuredContent)
	}
}

// signInAt returns an access token of the identity in the seed of a new project.
func signInAt(t *testing.T, address string) string {
	t.Helper()
	response, err := http.Post(address+"/auth/token", "application/json", strings.NewReader(`{"grant_type":"password","username":"me@example.com","password":"correct-horse"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var granted struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&granted); err != nil || granted.Token == "" {
		t.Fatalf("sign in: %d, %v", response.StatusCode, err)
	}
	return granted.Token
}
