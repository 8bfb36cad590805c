package integration

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPages walks through the pages for developers with Chromium: it tries actions,
// reads SQL, logs in and uses the reference, all without requests to elsewhere.
func TestPages(t *testing.T) {
	const consequence = "no browser looks at the pages"
	t.Parallel()
	browser := findBrowser(t, consequence)
	a := serveApp(t, appDir("workshop"))
	want := `title: workshop
models: Customer Bicycle RepairOrder Item Mechanic Identity
caller: anonymous
diagram: Customer Mechanic Identity Bicycle RepairOrder Item 4 Bicycle.owner_id → Customer
to look at: Anybody may write by createCustomer, updateCustomer, deleteC
padlocks: cancelOrder hireMechanic updateMechanic requestEmailVerification changePassword changeEmail signOutEverywhere listSessions endSession endOtherSessions startAuthenticator confirmAuthenticator removeAuthenticator renewRecoveryCodes listFactors
model: RepairOrder · workshop id number bicycle_id mechanic_id state complaint promised_for finished_at created_at updated_at
rules: everyone: openOrder, takeIn, getOrder, listOrders, listBoard, assignOrder, moveOrder, finishOrder, fetchOrder, bill; if ctx.isAuthenticated: cancelOrder
relations: bicycle_id leads to Bicycle; mechanic_id leads to Mechanic, and is emptied with it; Item leads here by order_id, and is deleted with it
keys and limits: unique: id; unique: number; state = ANY (ARRAY['Received', 'InRepair', 'Waiting', 'Mended', 'Fetched'])
create: 200 Ada true null
create again: 400 must be unique
as JSON: {"name":"Ada","email":"ada@example.com","newsletter":true}
as a form again: Grace true
inputs: name required, email, phone, newsletter
sql: as it runs, sql-text true, sql-word true
list with all inputs: 200
list by a filter: Ada
nested: {"number":"number","complaint":"complaint","bicycle":{"owner":{"name":"name"},"brand":"brand","frameNumber":"frameNumber","kind":"City"},"items":[{"what":"achain","price":12.50}]}
nested, sent: 200
accepts: image/* image/* · at most 5 MB
a text: a.txt has the type text/plain; this input accepts image/*
too large: big.png has 5,000,001 bytes; this input accepts at most 5,000,000
photos: 200 a.png 3, large.png 4000000
matrix: hireMechanic	never	always
anonymous: 403
signed in: 200
on another page: 200
found: registerBicycle listBicycles updateBicycle
found in SQL: hireMechanic
found: No matches.
gone to: Mechanic · workshop
operations: all
padlocks: cancelOrder hireMechanic updateMechanic requestEmailVerification changePassword changeEmail signOutEverywhere listSessions endSession endOtherSessions startAuthenticator confirmAuthenticator removeAuthenticator renewRecoveryCodes listFactors
example: {"first":10}
executed: 200
operations of Tablet: all
caller: anonymous
outside: nothing
complaints: none
`
	browse(t, browser, want, "pages.mjs", a.url)
}

// TestAccessPage names the rules that a permission depends on, and none where nothing depends.
func TestAccessPage(t *testing.T) {
	t.Parallel()
	_, page := serveApp(t, appDir("ledger")).send(t, "GET", "/docs/access", nil, "")
	for action, want := range map[string]string{
		"renameBusiness": `<td><code>business.owner == ctx.identity</code></td></tr>`,
		"listCustomers":  `<td><code>customer.business == ctx.identity.business</code> or <code>roles: Auditor</code></td></tr>`,
		"statement":      `<td></td></tr>`,
	} {
		_, row, _ := strings.Cut(page, `<tr data-action="`+action+`">`)
		if row, _, _ = strings.Cut(row, "\n"); !strings.Contains(row, want) {
			t.Errorf("the row of %s is %s, without %s", action, row, want)
		}
	}
}

// TestLookOfPages looks at the pages of each example app in a wide and a narrow window, in
// light and dark colours.
func TestLookOfPages(t *testing.T) {
	const consequence = "no browser looks at the pages"
	t.Parallel()
	browser := findBrowser(t, consequence)
	var want string
	for _, kind := range []string{"wide", "narrow", "dark"} {
		ground := "rgb(255, 255, 255)"
		if kind == "dark" {
			ground = "rgb(20, 25, 31)"
		}
		for _, place := range []string{"application", "model", "action", "last action", "access", "reference", "operation"} {
			want += kind + " " + place + ": fine, on " + ground + "\n"
		}
	}
	for _, of := range []struct{ name, model, action string }{{"workshop", "RepairOrder", "takeIn"}, {"ledger", "Customer", "listCustomers"}} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			a := serveApp(t, appDir(of.name))
			browse(t, browser, want, "look.mjs", a.url, of.name, of.model, of.action)
		})
	}
}

// TestPageWaits opens the page without a database, and sees it load by itself later.
func TestPageWaits(t *testing.T) {
	const consequence = "no browser looks at the pages"
	t.Parallel()
	browser := findBrowser(t, consequence)
	db := installApp(t, appDir("workshop"))
	between := newLine(t, db.ServerURL())
	a := serve(t, db, appDir("workshop"), between.url)
	a.await(t, "createCustomer", `{"name":"Ada"}`, `"name":"Ada"`)
	between.cut()
	a.awaitReady(t, `{"status":"unavailable","reason":"database"}`)

	// The browser asks for this when it has seen the page, and the database is back.
	mend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { between.mend() }))
	t.Cleanup(mend.Close)
	browse(t, browser, "503 The application cannot be shown\nthen workshop\n", "wait.mjs", a.url, mend.URL)
}
