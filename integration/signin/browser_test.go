package signin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrowser signs in with Chromium: from a page of another origin, by way of a
// certified provider, back to the page, and to a call that only those may make who have
// signed in. What is special about browsers (cookies, CORS, redirects between sites)
// is as it is there.
func TestBrowser(t *testing.T) {
	t.Parallel()
	modules := nodeModules(t, "no browser signs in")
	chromium := findChromium(t)
	text, err := os.ReadFile(filepath.Join(modules, "page.html"))
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	s := serve(t, options{
		settings: settings("", provider("Main", "http://127.0.0.1:"+port, clientID)),
		env:      []string{secretOf("MAIN", clientSecret)},
	})
	startNode(t, node(t, modules, "oidc-provider.mjs", port, clientID, clientSecret, s.url+"/auth/callback/Main"))
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.ReplaceAll(string(text), "{{base}}", s.url))
	}))
	t.Cleanup(page.Close)

	for _, isNew := range []bool{true, false} {
		program := node(t, modules, "browser.mjs", page.URL+"/page")
		program.Env = append(os.Environ(), "CHROMIUM="+chromium)
		out, err := program.CombinedOutput()
		want := fmt.Sprintf("page: createNote answers 200 from a page; new: %v\ncookies a script may read: 0\n", isNew)
		if err != nil || string(out) != want {
			t.Errorf("got  %v %s\nwant %s", err, out, want)
		}
	}
}

func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("SKIPPED: no browser signs in: there is no chromium here")
	return ""
}
