package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestCodeSwap installs newer custom code below a server that answers requests: no
// request fails meanwhile, and those that come later get the newer answer.
func TestCodeSwap(t *testing.T) {
	t.Parallel()
	code := func(version int) string {
		return fmt.Sprintf("create function functions.version() returns jsonb language sql stable as 'select to_jsonb(%d)';\n"+
			"create function functions.bump(by bigint) returns jsonb language plpgsql volatile as $$\nbegin\n"+
			"  return to_jsonb(%d * bump.by);\nend;\n$$;\n", version, version)
	}
	dir := writeProject(t, map[string]string{
		"schema.stern": `
model Note {
  actions {
    read version() returns (Any)
    write bump(by: Number) returns (Any)
  }
  @permission(expression: true, actions: [read, write])
}
`,
		"functions/version.sql": code(1),
		"functions/bump.sql":    "-- in version.sql\n",
	})
	a := serveApp(t, dir)
	a.await(t, "version", `{}`, `1`)

	var stop atomic.Bool
	var mu sync.Mutex
	var faults []string
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for i := 0; !stop.Load(); i++ {
				action, body := "version", `{}`
				if i%2 == 1 {
					action, body = "bump", `{"by":1}`
				}
				response, got, err := a.try(t.Context(), "POST", "/api/json/"+action, nil, body)
				if err != nil || response.StatusCode != 200 {
					mu.Lock()
					faults = append(faults, fmt.Sprintf("%s: %v %s", action, err, got))
					mu.Unlock()
				}
			}
		})
	}
	const versions = 15
	for version := 2; version <= versions; version++ {
		if err := os.WriteFile(filepath.Join(dir, "functions", "version.sql"), []byte(code(version)), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := reinstall(t, a.db, dir); got.Release != int64(version) {
			t.Errorf("version %d: got %+v", version, got)
		}
		a.await(t, "version", `{}`, fmt.Sprint(version))
	}
	stop.Store(true)
	clients.Wait()
	slices.Sort(faults)
	if faults = slices.Compact(faults); len(faults) > 0 {
		t.Errorf("while code was replaced:\n%s", strings.Join(faults, "\n"))
	}
	a.await(t, "bump", `{"by":2}`, fmt.Sprint(2*versions))
}
