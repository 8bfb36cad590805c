package integration

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
)

// TestClientInBrowser uses a client in two tabs of Chromium, on a page of another origin.
func TestClientInBrowser(t *testing.T) {
	const consequence = "no browser uses a client"
	t.Parallel()
	program.Modules(t, typescriptDir, consequence)
	browser := findBrowser(t, consequence)
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
	origin := strings.Replace(page.URL, "127.0.0.1", "localhost", 1) // passkeys belong to a domain
	a := serveWith(t, db, appDir("workshop"), db.ServerURL(), serving{env: []string{
		"STERNPOST_CORS_ORIGINS=" + origin, "STERNPOST_AUTH_PASSKEYS_RP_ID=localhost", "STERNPOST_AUTH_PASSKEYS_ORIGINS=" + origin,
	}})
	want := `told: true true
hired: Mia
refreshed: 1 for 6 calls, Mia,Mia,Mia,Mia,Mia,Mia
passkeys of today: [false,[["passkey","this computer",true]],["secondFactor passkey second_factor_required"],"InvalidStateError"]
passkeys of yesterday: [false,[["passkey","this computer",true]],["secondFactor passkey second_factor_required"],"InvalidStateError"]
refused: true ERR_INVALID_INPUT email 32
photo: front ü.png 300000 true 1
ended: Error: enough
after a reload: true
signed out: false null 0
complaints: none
`
	browse(t, browser, want, "client.mjs", a.url, origin)
}
