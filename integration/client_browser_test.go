package integration

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
)

// TestClientInBrowser uses a client in two tabs of Chromium, on a page of another origin.
func TestClientInBrowser(t *testing.T) {
	const dir, consequence = "clients/pages", "no browser uses a client"
	t.Parallel()
	program.Modules(t, dir, consequence)
	program.Modules(t, typescriptDir, consequence)
	browser := program.Chromium(t, consequence)
	work := typescriptFolder(t)
	node(t, work, nil, tsc, "-p", ".")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/client.js" {
			http.ServeFile(w, r, filepath.Join(work, "out/workshop-client.js"))
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><title>An application</title>"))
	}))
	t.Cleanup(page.Close)
	db := installApp(t, appDir("workshop"))
	a := serveWith(t, db, appDir("workshop"), db.ServerURL(), serving{env: []string{"STERNPOST_CORS_ORIGINS=" + page.URL}})
	got := node(t, dir, []string{"CHROMIUM=" + browser}, "client.mjs", a.url, page.URL)
	want := `told: true true
hired: Mia
refreshed: 1 for 6 calls, Mia,Mia,Mia,Mia,Mia,Mia
refused: true ERR_INVALID_INPUT email 32
photo: front ü.png 300000 true 1
ended: Error: enough
after a reload: true
signed out: false null 0
complaints: none
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s\ndiffering lines:\n%s", got, want, differing(got, want))
	}
}
