package integration

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

// TestSamples reads the proposals of the pages for developers as the server does, and sends
// those of lists: none is refused as an input.
func TestSamples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"workshop", "ledger", "clinic"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := appDir(name)
			compiled, err := compile(dir)
			if err != nil {
				t.Fatal(err)
			}
			a := serveApp(t, dir)
			_, text := a.send(t, "GET", "/docs/samples", nil, "")
			var samples map[string]json.RawMessage
			if err := json.Unmarshal([]byte(text), &samples); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			for _, action := range compiled.Manifest.Actions {
				reader, err := input.Compile(compiled.Manifest.Schemas, action.Input)
				if err != nil {
					t.Fatal(err)
				}
				sample := samples[action.Name]
				if _, err := reader.Read(sample); err != nil {
					t.Errorf("%s %s: %v", action.Name, sample, err)
				}
				if action.Kind != release.List {
					continue
				}
				header := http.Header{"Content-Type": {"application/json"}}
				response, body := a.send(t, "POST", "/api/json/"+action.Name, header, string(sample))
				if response.StatusCode != http.StatusOK && (action.Anonymous || response.StatusCode != http.StatusForbidden) {
					t.Errorf("%s %s: got %d %s, want 200, or 403 of a list for callers who have signed in", action.Name, sample, response.StatusCode, body)
				}
			}
		})
	}
}
