package program

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Agent is a client of the Model Context Protocol in a process of its own: that of the official SDK.
type Agent struct {
	t       testing.TB
	in      *json.Encoder
	answers *bufio.Reader
}

// agentProgram returns the path of the client, which go compiles once and keeps in its cache.
var agentProgram = sync.OnceValues(func() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	command := exec.Command("go", "tool", "-C", filepath.Join(filepath.Dir(file), "..", "testdata", "agent"), "-n", "agent")
	command.Stderr = os.Stderr
	path, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("compile the client of agents: %w", err)
	}
	return strings.TrimSpace(string(path)), nil
})

// StartAgent connects a client that speaks one revision of the protocol: by http to an address, with a token if there is
// one, or by stdio with a command. It ends with the test.
func StartAgent(t testing.TB, env []string, revision, how string, where ...string) *Agent {
	t.Helper()
	path, err := agentProgram()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, append([]string{revision, how}, where...)...)
	command.Stderr, command.Env = os.Stderr, append(os.Environ(), env...)
	in, err1 := command.StdinPipe()
	out, err2 := command.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("agent %s %s %s: %v", revision, how, where, err)
		}
	})
	return &Agent{t, json.NewEncoder(in), bufio.NewReader(out)}
}

// AgentAnswer is what a client gets for a call: a result, or a fault of the protocol.
type AgentAnswer struct {
	Fault             string
	Content           []struct{ Text string }
	StructuredContent json.RawMessage
	IsError           bool

	Tools []struct {
		Name, Description string
		InputSchema       json.RawMessage
		Annotations       map[string]bool
	}
	Resources []struct{ URI, Name string }
	Contents  []struct{ URI, Text string }
}

// Call calls a tool with a JSON object, or one of the methods tools/list, resources/list and resources/read, which takes
// the address of the resource.
func (a *Agent) Call(name, arguments string) (answered AgentAnswer) {
	a.t.Helper()
	call := map[string]any{"name": name}
	if name == "resources/read" {
		call["uri"] = arguments
	} else if arguments != "" {
		call["arguments"] = json.RawMessage(arguments)
	}
	if err := a.in.Encode(call); err != nil {
		a.t.Fatalf("%s: %v", name, err)
	}
	line, err := a.answers.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &answered)
	}
	if err != nil {
		a.t.Fatalf("%s %s: got %q, %v", name, arguments, line, err)
	}
	return answered
}
