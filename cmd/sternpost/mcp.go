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
			if err != nil {
				return environmentError(err)
			}
			if err := sqlgen.CheckDir(dir); err != nil {
				return inputError(err)
			}
			a := &agent{ctx: c.Context(), dir: dir, code: codeCheck{start: postgres.Start}}
			defer a.code.stop()
			host := mcp.Host{
				Name: "sternpost", Version: currentVersion(),
				Instructions: "Read the resource AGENTS.md before you write a schema, and run sternpost_check after each change of it.",
				List:         a.tools, Call: a.call, Resources: a.resources,
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

// ownTools are the descriptions of the tools that are commands.
var ownTools = []string{
	`{"name":"sternpost_check","description":"Compiles the project. Returns errors and warnings with their places and codes.",` +
		`"inputSchema":{"type":"object","additionalProperties":false},"annotations":{"readOnlyHint":true}}`,
	`{"name":"sternpost_permissions","description":"Who may call what: for each action, its rules and what they decide for each kind of caller.",` +
		`"inputSchema":{"type":"object","additionalProperties":false},"annotations":{"readOnlyHint":true}}`,
	`{"name":"sternpost_explain","description":"Why a call would be admitted or refused, rule by rule, in the database of sternpost dev. Does not make the call.",` +
		`"inputSchema":{"type":"object","properties":{"action":{"type":"string"},` +
		`"as":{"type":"string","description":"The id or e-mail of the caller; anonymous if absent."},` +
		`"input":{"type":"object","description":"The body of the call."},` +
		`"row":{"type":"string","description":"The id of a row to explain, in place of the one that the input finds."}},` +
		`"required":["action"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`,
}

// tools lists the commands, and the actions of a dev that runs.
func (a *agent) tools() ([][]byte, error) {
	var list [][]byte
	for _, text := range ownTools {
		list = append(list, []byte(text))
	}
	served := func(address string) {
		var result struct{ Tools []json.RawMessage }
		if fault, err := a.ask(address, "tools/list", struct{}{}, &result); err == nil && fault == "" {
			for _, tool := range result.Tools {
				list = append(list, tool)
			}
		}
	}
	for _, address := range a.addresses() {
		served(address)
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

// call calls a tool.
func (a *agent) call(c mcp.Call) (mcp.Result, error) {
	switch c.Name {
	case "sternpost_check":
		return a.run(func(out, diagnostics io.Writer) error {
			r := &checkReport{out: out, diagnostics: diagnostics, json: true, code: a.code}
			defer func() { a.code = r.code }()
			if err := checkProject(a.ctx, r, a.dir); err != nil && err.Error() != "" {
				return err
			}
			return nil // errors of the schema are what was asked for
		})
	case "sternpost_permissions":
		return a.run(func(out, diagnostics io.Writer) error { return permissions(out, diagnostics, a.dir, "json") })
	case "sternpost_explain":
		var given struct {
			Action, As, Row string
			Input           json.RawMessage
		}
		if err := json.Unmarshal(c.Arguments, &given); err != nil {
			return mcp.Result{}, mcp.BadArguments("the arguments of sternpost_explain do not fit its schema")
		}
		f := &explainFlags{as: given.As, row: given.Row, input: string(given.Input), format: "json"}
		return a.run(func(out, diagnostics io.Writer) error { return f.explain(a.ctx, out, diagnostics, given.Action, a.dir) })
	}
	for _, address := range a.addresses() {
		var result struct {
			StructuredContent json.RawMessage
			IsError           bool
		}
		fault, err := a.ask(address, "tools/call", map[string]any{
			"name": c.Name, "arguments": json.RawMessage(c.Arguments), "_meta": map[string]any{"idempotencyKey": c.Key},
		}, &result)
		switch {
		case err != nil:
			return failed(fmt.Sprintf("sternpost dev does not serve the project: %v", err))
		case fault == "":
			return mcp.Result{JSON: result.StructuredContent, IsError: result.IsError}, nil
		case !strings.HasPrefix(fault, "Unknown tool: "):
			return failed(fault)
		}
	}
	return mcp.Result{}, mcp.UnknownTool(c.Name)
}

// run runs a command. Its result is what the command prints as JSON, and what it says besides.
func (a *agent) run(do func(out, diagnostics io.Writer) error) (mcp.Result, error) {
	var out, diagnostics bytes.Buffer
	err := do(&out, &diagnostics)
	if err != nil {
		return failed(strings.TrimSpace(diagnostics.String() + "\n" + err.Error()))
	}
	answered := struct {
		Result   json.RawMessage `json:"result"`
		Messages string          `json:"messages,omitempty"`
	}{out.Bytes(), diagnostics.String()}
	text, err := json.Marshal(answered)
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

// askTimeout is longer than an action may take.
const askTimeout = time.Minute

// ask sends a message to dev. fault is the message of an error of the protocol.
func (a *agent) ask(address, method string, params, result any) (fault string, err error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(a.ctx, askTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Mcp-Protocol-Version", mcp.Former)
	if token := os.Getenv("MCP_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answered := struct {
		Result  any
		Error   struct{ Message string }
		Message string // of a refusal before the message was read
	}{Result: result}
	if err := json.NewDecoder(response.Body).Decode(&answered); err != nil {
		return "", fmt.Errorf("read the answer of %s: %w", address, err)
	}
	return answered.Error.Message + answered.Message, nil
}
