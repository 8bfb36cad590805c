package signin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/client"
	"github.com/sternpost/sternpost/sqlgen"
)

// ownPage does what staff.html does, with the client that Sternpost prints.
const ownPage = `<!doctype html>
<title>Staff of the workshop</title>
<button id="sign-in">Sign in</button>
<form id="hire" hidden><input name="name" required><button>Hire</button></form>
<p id="said" role="status"></p>
<script type="module">
import { createClient } from '/client.js'
const find = (selector) => document.querySelector(selector)
const client = createClient({ baseUrl: %q })
find('#sign-in').onclick = () => client.signInWith('Main')
find('#hire').onsubmit = async (event) => {
  event.preventDefault()
  const { name } = await client.hireMechanic({ name: new FormData(event.target).get('name') })
  await client.signOut()
  find('#said').textContent = name + ' is hired.'
}
const signedIn = await client.finishSignIn()
if (signedIn) {
  find('#hire').hidden = false
  find('#said').textContent = (signedIn.identityCreated ? 'Welcome!' : 'Welcome back!') + location.search
}
</script>`

// TestOwnClientInBrowser signs in through a provider with the client in TypeScript: Chromium
// leaves the page, comes back to it, and ends at its plain address.
func TestOwnClientInBrowser(t *testing.T) {
	t.Parallel()
	modules := nodeModules(t, "no browser signs in with the client")
	chromium := program.Chromium(t, "no browser signs in with the client")
	const workshop = "../apps/workshop"
	script := compiledClient(t, modules, workshop)
	port := program.FreePort(t)
	s := serve(t, options{
		app:      workshop,
		settings: settings("", provider("Main", "http://127.0.0.1:"+port, clientID)),
		env:      []string{secretOf("MAIN", clientSecret)},
	})
	startNode(t, node(t, modules, "oidc-provider.mjs", port, clientID, clientSecret, s.url+"/auth/callback/Main"))
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/client.js" {
			http.ServeFile(w, r, script)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, ownPage, s.url)
	}))
	t.Cleanup(page.Close)

	for _, c := range []struct{ mechanic, welcome string }{{"Mia", "Welcome!"}, {"Max", "Welcome back!"}} {
		browser := node(t, modules, "browser.mjs", page.URL+"/own.html", s.url, c.mechanic)
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

// compiledClient is the client of a project, compiled for a browser.
func compiledClient(t *testing.T, modules, dir string) string {
	t.Helper()
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	compiled, errs := sqlgen.Compile(project)
	if errs.HasErrors() {
		t.Fatal(errs)
	}
	manifest := account.Extend(compiled.Manifest, account.All)
	text, err := client.TypeScript(manifest, &manifest.APIs[0])
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "client.ts"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	compiler := node(t, modules, "node_modules/typescript/bin/tsc", "--strict", "--target", "es2022", "--module", "es2022", "--skipLibCheck",
		"--lib", "es2022,dom", filepath.Join(work, "client.ts"))
	if out, err := compiler.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(work, "client.js")
}
