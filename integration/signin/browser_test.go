package signin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
)

// TestBrowser logs in with Chromium: from the staff page of the workshop, which another
// origin serves, through a certified provider, back to the page, and to a call that
// requires a login. It tests what is special about browsers: cookies, CORS, redirects
// between sites.
func TestBrowser(t *testing.T) {
	t.Parallel()
	modules := nodeModules(t, "no browser signs in")
	chromium := program.Chromium(t, "no browser signs in")
	const workshop = "../apps/workshop"
	text, err := os.ReadFile(filepath.Join(workshop, "staff.html"))
	if err != nil {
		t.Fatal(err)
	}
	port := program.FreePort(t)
	s := serve(t, options{
		app:      workshop,
		settings: settings("", provider("Main", "http://127.0.0.1:"+port, clientID)),
		env:      []string{secretOf("MAIN", clientSecret)},
	})
	startNode(t, node(t, modules, "oidc-provider.mjs", port, clientID, clientSecret, s.url+"/auth/callback/Main"))
	const address = "'http://localhost:8080'"
	if n := strings.Count(string(text), address); n != 1 {
		t.Fatalf("the page says %d times where the service is, want once", n)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.Replace(string(text), address, "'"+s.url+"'", 1))
	}))
	t.Cleanup(page.Close)

	for _, c := range []struct{ mechanic, welcome string }{{"Mia", "Welcome!"}, {"Max", "Welcome back!"}} {
		browser := node(t, modules, "browser.mjs", page.URL+"/staff.html", s.url, c.mechanic)
		browser.Env = append(os.Environ(), "CHROMIUM="+chromium)
		out, err := browser.CombinedOutput()
		want := fmt.Sprintf("page: %s\npage: %s is hired.\nway: page service provider service page\n"+
			"cookies of the service: 1 set, 1 taken away, 0 left; a script may read 0\n", c.welcome, c.mechanic)
		if err != nil || string(out) != want {
			t.Errorf("got  %v %s\nwant %s", err, out, want)
		}
	}
	if got := value[string](t, s, "select string_agg(name, ' ' order by name) from app.mechanic"); got != "Max Mia" {
		t.Errorf("mechanics: got %s, want Max Mia", got)
	}
}
