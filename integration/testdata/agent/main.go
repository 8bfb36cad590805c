// Agent is a client of the Model Context Protocol for tests: that of the official SDK. It is a module of its own, so that
// the SDK is none of ours.
//
//	agent REVISION http ADDRESS [TOKEN]
//	agent REVISION stdio COMMAND…
//
// It reads calls, one a line, {"name": …, "arguments": …, "_meta": …}, and answers a line for each: the result, or
// {"fault": …}. The names tools/list, resources/list and resources/read call these methods.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func run(ctx context.Context, revision, how string, where []string) error {
	var transport mcp.Transport
	if how == "http" {
		where = append(where, "")
		transport = &mcp.StreamableClientTransport{Endpoint: where[0], HTTPClient: &http.Client{Transport: bearer(where[1])}, MaxRetries: -1}
	} else {
		command := exec.Command(where[0], where[1:]...)
		command.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: command}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return err
	}
	defer session.Close()
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		return fmt.Errorf("the server speaks %s, want %s", got, revision)
	}
	lines, answers := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	lines.Buffer(nil, 16<<20)
	answers.SetEscapeHTML(false)
	for lines.Scan() {
		var call struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Meta      mcp.Meta        `json:"_meta"`
			URI       string          `json:"uri"`
		}
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			return err
		}
		var result any
		var err error
		switch call.Name {
		case "tools/list":
			result, err = session.ListTools(ctx, nil)
		case "resources/list":
			result, err = session.ListResources(ctx, nil)
		case "resources/read":
			result, err = session.ReadResource(ctx, &mcp.ReadResourceParams{URI: call.URI})
		default:
			result, err = session.CallTool(ctx, &mcp.CallToolParams{Name: call.Name, Arguments: call.Arguments, Meta: call.Meta})
		}
		if err != nil {
			result = map[string]string{"fault": err.Error()}
		}
		if err := answers.Encode(result); err != nil {
			return err
		}
	}
	return lines.Err()
}
