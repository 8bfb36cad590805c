package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server/mcp"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
)

func newMCP() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp [DIR]",
		Short: "Help an agent: check, permissions, explain and the schema as tools",
		Long: `Mcp speaks the Model Context Protocol over standard input and output. An agent that
writes the schema in DIR starts it, and gets

  sternpost_check        the errors and warnings of the project
  sternpost_permissions  who may call what, as a matrix
  sternpost_explain      why a call is admitted or refused

as tools, and the files of the project and the language on two pages as resources. If
sternpost dev serves the project, and mcp.apis of the configuration names APIs, their
actions are tools too. They are called by whoever the token or key of a machine in the
variable MCP_TOKEN says; without one by an anonymous caller.`,
		Args: takes(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := filepath.Abs(projectDir(args))
			if err == nil {
				err = sqlgen.CheckDir(dir)
			}
			if err != nil {
				return inputError(err)
			}
			a := &agent{ctx: c.Context(), dir: dir, code: codeCheck{start: postgres.Start}}
			defer a.code.stop()
			host := mcp.Host{
				Name: "sternpost", Version: currentVersion(), List: a.tools, Call: a.call, Resources: a.resources,
				Instructions: "Read the resource AGENTS.md before you write a schema, and run sternpost_check after each change of it.",
			}
			if err := host.Serve(c.InOrStdin(), c.OutOrStdout()); err != nil {
				return environmentError(err)
			}
			return nil
		},
	}
}

// agent is an agent that works on a project.
type agent struct {
	ctx  context.Context
	dir  string
	code codeCheck
}

// agentTools are the descriptions of the tools that are commands.
var agentTools = [][]byte{
	[]byte(`{"name":"sternpost_check","description":"Compiles the project. Returns errors and warnings with their places and codes.",` +
		`"inputSchema":{"type":"object","additionalProperties":false},"annotations":{"readOnlyHint":true}}`),
	[]byte(`{"name":"sternpost_permissions","description":"Who may call what: for each action, its rules and what they decide for each kind of caller.",` +
		`"inputSchema":{"type":"object","additionalProperties":false},"annotations":{"readOnlyHint":true}}`),
	[]byte(`{"name":"sternpost_explain","description":"Why a call would be admitted or refused, rule by rule, in the database of sternpost dev. Does not make the call.",` +
		`"inputSchema":{"type":"object","properties":{"action":{"type":"string"},"input":{"type":"object","description":"The body of the call."},` +
		`"as":{"type":"string","description":"The id or e-mail of the caller; anonymous if absent."},` +
		`"row":{"type":"string","description":"The id of a row to explain, in place of the one that the input finds."}},` +
		`"required":["action"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`),
}

// tools lists the commands, and the actions of a dev that runs.
func (a *agent) tools() ([][]byte, error) {
	list := slices.Clone(agentTools)
	for _, address := range a.addresses() {
		if answered, err := a.ask(address, "tools/list", struct{}{}); err == nil {
			for _, tool := range answered.Result.Tools {
				list = append(list, tool)
			}
		}
	}
	return list, nil
}

// call calls a tool.
func (a *agent) call(c mcp.Call) (mcp.Result, error) {
	switch c.Name {
	case "sternpost_check":
		return a.run(func(out, diagnostics io.Writer) error {
			r := &checkReport{out: out, diagnostics: diagnostics, json: true, code: a.code}
			err := checkProject(a.ctx, r, a.dir)
			if a.code = r.code; err != nil && err.Error() == "" {
				return nil // errors of the schema are what was asked for
			}
			return err
		})
	case "sternpost_permissions":
		return a.run(func(out, diagnostics io.Writer) error { return permissions(out, diagnostics, a.dir, "json", false) })
	case "sternpost_explain":
		var given struct {
			Action, As, Row string
			Input           json.RawMessage
		}
		if err := json.Unmarshal(c.Arguments, &given); err != nil {
			return mcp.Result{}, mcp.Invalid("the arguments do not fit the schema of ", c.Name)
		}
		f := &explainFlags{as: given.As, row: given.Row, input: string(given.Input), format: "json"}
		return a.run(func(out, diagnostics io.Writer) error { return f.explain(a.ctx, out, diagnostics, given.Action, a.dir) })
	}
	for _, address := range a.addresses() {
		answered, err := a.ask(address, "tools/call", map[string]any{
			"name": c.Name, "arguments": json.RawMessage(c.Arguments), "_meta": map[string]any{"idempotencyKey": c.Key},
		})
		if err != nil {
			return failed(fmt.Sprintf("sternpost dev does not serve the project: %v", err))
		}
		if !strings.HasPrefix(answered.Error.Message, "Unknown tool: ") {
			return mcp.Result{JSON: answered.Result.StructuredContent, IsError: answered.Result.IsError}, nil
		}
	}
	return mcp.Result{}, mcp.Invalid("Unknown tool: ", c.Name)
}

// run runs a command. Its result is what the command prints as JSON, and what it says besides.
func (a *agent) run(do func(out, diagnostics io.Writer) error) (mcp.Result, error) {
	var out, diagnostics bytes.Buffer
	if err := do(&out, &diagnostics); err != nil {
		return failed(strings.TrimSpace(diagnostics.String() + "\n" + err.Error()))
	}
	text, err := json.Marshal(struct {
		Result   json.RawMessage `json:"result"`
		Messages string          `json:"messages,omitempty"`
	}{out.Bytes(), diagnostics.String()})
	return mcp.Result{JSON: text}, err
}

// failed is the result of a tool that cannot do its work.
func failed(why string) (mcp.Result, error) {
	text, err := json.Marshal(map[string]string{"message": why})
	return mcp.Result{JSON: text, IsError: true}, err
}

// resources are the language and the files of the project.
func (a *agent) resources() ([]mcp.Resource, error) {
	language, err := newProject.ReadFile("project/AGENTS.md")
	if err != nil {
		return nil, err
	}
	list := []mcp.Resource{{URI: "sternpost:///AGENTS.md", Name: "AGENTS.md", MIMEType: "text/markdown", Text: string(language)}}
	project, err := sqlgen.ReadProject(a.dir)
	if err != nil {
		return nil, err
	}
	sources := slices.Concat(project.Files, project.Functions)
	if project.Config != nil {
		sources = append(sources, project.Config)
	}
	for _, s := range sources {
		address := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(a.dir, s.Name))}
		list = append(list, mcp.Resource{URI: address.String(), Name: s.Name, MIMEType: "text/plain", Text: string(s.Text)})
	}
	return list, nil
}

// addresses returns where dev serves the tools of APIs.
func (a *agent) addresses() (list []string) {
	settings, err := developmentSettings(a.dir)
	if err != nil {
		return nil // check reports it
	}
	for _, api := range settings.MCP.APIs {
		list = append(list, settings.BaseURL+"/"+strings.ToLower(api)+"/mcp")
	}
	return list
}

// devAnswer is what dev answers to a message.
type devAnswer struct {
	Result struct {
		Tools             []json.RawMessage
		StructuredContent json.RawMessage
		IsError           bool
	}
	Error   struct{ Message string } // of the protocol
	Message string                   // of a refusal before the message was read
}

// ask sends a message to dev. An action may take long.
func (a *agent) ask(address, method string, params any) (answered devAnswer, err error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return answered, err
	}
	ctx, cancel := context.WithTimeout(a.ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return answered, err
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Protocol-Version": {mcp.Former}}
	if token := os.Getenv("MCP_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answered, err
	}
	defer response.Body.Close()
	err = json.NewDecoder(response.Body).Decode(&answered)
	if err == nil && answered.Message != "" {
		err = fmt.Errorf("it answers: %s", answered.Message)
	}
	return answered, err
}
