package integration

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

// TestPages walks through the pages for developers with Chromium: it tries actions,
// reads SQL, signs in and uses the reference, all without a word from elsewhere.
func TestPages(t *testing.T) {
	const dir, consequence = "clients/pages", "no browser looks at the pages"
	t.Parallel()
	installModules(t, dir, consequence)
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("SKIPPED: %s: there is no chromium here", consequence)
	}
	a := serveApp(t, appDir("workshop"))
	got := node(t, dir, []string{"CHROMIUM=" + browser}, "pages.mjs", a.url)
	want := `title: Sternpost · Api, Tablet
models: Customer Bicycle RepairOrder Item Mechanic Identity
caller: Calls below are anonymous.
inputs: name required, email, phone, newsletter
create: 200 name true
create again: 400 must be unique
sql: as it runs, sql-text true, sql-word true
list as proposed: 200 1
columns: id number bicycle_id mechanic_id state complaint promised_for finished_at created_at updated_at
matrix: hireMechanic	never	always
anonymous: 403
signed in: 200
after a reload: 200
search: Mechanic
search: registerBicycle getBicycle findBicycle listBicycles updateBicycle photographBicycle
search in SQL: hireMechanic
search: true
operations: all
executed: 200
operations of Tablet: all
caller: Calls below are anonymous.
outside: nothing
complaints: none
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s\ndiffering lines:\n%s", got, want, differing(got, want))
	}
}

// TestLookOfPages looks at the pages of each example app in a wide and a narrow window, in
// light and dark colours.
func TestLookOfPages(t *testing.T) {
	const dir, consequence = "clients/pages", "no browser looks at the pages"
	t.Parallel()
	installModules(t, dir, consequence)
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("SKIPPED: %s: there is no chromium here", consequence)
	}
	const want = `wide application: fine, on rgb(255, 255, 255)
wide all open: fine, on rgb(255, 255, 255)
wide reference: fine, on rgb(255, 255, 255)
narrow application: fine, on rgb(255, 255, 255)
narrow all open: fine, on rgb(255, 255, 255)
narrow reference: fine, on rgb(255, 255, 255)
dark application: fine, on rgb(20, 25, 31)
dark all open: fine, on rgb(20, 25, 31)
dark reference: fine, on rgb(255, 255, 255)
` // the reference is light, and turned over as a whole
	for _, name := range []string{"workshop", "ledger"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := serveApp(t, appDir(name))
			if got := node(t, dir, []string{"CHROMIUM=" + browser}, "look.mjs", a.url, name); got != want {
				t.Errorf("got\n%s\nwant\n%s\ndiffering lines:\n%s", got, want, differing(got, want))
			}
		})
	}
}

// TestPageWaits looks at the page while there is no database, and sees it come by itself.
func TestPageWaits(t *testing.T) {
	const dir, consequence = "clients/pages", "no browser looks at the pages"
	t.Parallel()
	installModules(t, dir, consequence)
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("SKIPPED: %s: there is no chromium here", consequence)
	}
	db := installApp(t, appDir("workshop"))
	between := newLine(t, db.ServerURL())
	a := serve(t, db, appDir("workshop"), between.url)
	a.await(t, "createCustomer", `{"name":"Ada"}`, `"name":"Ada"`)
	between.cut()
	a.awaitReady(t, `{"status":"unavailable","reason":"database"}`)

	// The browser asks for this when it has seen the page, and the database is back.
	mend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { between.mend() }))
	t.Cleanup(mend.Close)
	got := node(t, dir, []string{"CHROMIUM=" + browser}, "wait.mjs", a.url, mend.URL)
	if want := "503 The application cannot be shown\nthen Your application\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// differing lists the lines of two texts that are not the same.
func differing(got, want string) string {
	var b strings.Builder
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := "", ""
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			b.WriteString("got  " + g + "\nwant " + w + "\n")
		}
	}
	return b.String()
}
