package integration

import (
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// TestExposure requests every action and upload route of each example app in each of its APIs. It
// exists exactly in the APIs whose descriptions have it.
func TestExposure(t *testing.T) {
	t.Parallel()
	apps, err := os.ReadDir("apps")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range apps {
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			a := serveApp(t, appDir(entry.Name()))
			exposed, routes := map[string][]string{}, map[string]bool{}
			for _, api := range manifestOf(t, appDir(entry.Name())).APIs {
				exposed[api.Path] = a.describedRoutes(t, api.Path)
				for _, route := range exposed[api.Path] {
					routes[route] = true
				}
			}
			if len(exposed) < 2 {
				t.Fatalf("%s has %d APIs, which shows nothing", entry.Name(), len(exposed))
			}
			hidden := 0
			for _, api := range slices.Sorted(maps.Keys(exposed)) {
				for _, route := range slices.Sorted(maps.Keys(routes)) {
					// No action takes an array, so an existing one says so and does nothing.
					want := http.StatusBadRequest
					if !slices.Contains(exposed[api], route) {
						want = http.StatusNotFound
						hidden++
					}
					path := "/" + api + "/json/" + route
					if response, body := a.send(t, "POST", path, nil, "[]"); response.StatusCode != want {
						t.Errorf("POST %s: got %d %s, want %d", path, response.StatusCode, body, want)
					}
				}
			}
			if hidden == 0 {
				t.Error("every API exposes everything, which shows nothing")
			}
		})
	}
}

// TestIdentityActions compares the actions of Identity that an api may name with those of the server.
func TestIdentityActions(t *testing.T) {
	t.Parallel()
	var have []string
	m := &release.Manifest{APIs: []release.API{{Identity: true}}, Actions: []*release.Action{{Name: "invite", Invitation: "email"}}}
	for _, a := range account.Extend(m, account.All).Actions[1:] {
		have = append(have, a.Name)
	}
	if want := model.IdentityActions(); !slices.Equal(have, want) {
		t.Errorf("the server has %q, the compiler knows %q", have, want)
	}
}

// describedRoutes returns the paths in the description of an API, from behind /json/.
func (a *app) describedRoutes(t *testing.T, api string) []string {
	t.Helper()
	response, text := a.send(t, "GET", "/"+api+"/json/openapi.json", nil, "")
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the description of %s: got %d %s", api, response.StatusCode, text)
	}
	document, err := readDocument(strings.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	paths, _ := document.at("paths").(map[string]any)
	var routes []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		route, ok := strings.CutPrefix(path, "/"+api+"/json/")
		if !ok && !strings.HasPrefix(path, "/auth/") && path != "/{url}" {
			t.Fatalf("the description of %s has the path %s", api, path)
		}
		if !ok {
			continue
		}
		routes = append(routes, route)
	}
	return routes
}

// TestExposureOfLedger compares the actions of the ledger's APIs with its schema.
func TestExposureOfLedger(t *testing.T) {
	t.Parallel()
	a := serveApp(t, appDir("ledger"))
	for _, test := range []struct{ api, want string }{
		{"api", `acceptInvitation addCustomer changeEmail changePassword confirmAuthenticator correctCustomer correctInvoice discardInvoice draftInvoice endOtherSessions endSession getCustomer getEntry getInvoice invoiceHistory
			listCustomers listEntries listFactors listInvoices listPayments listSessions myAccount myBusiness openLedger recordPayment recordPayment/upload/receipt
			refundPayment removeAuthenticator renameBusiness renewRecoveryCodes requestEmailVerification requestPasswordReset resetPassword sendInvoice
			signOutEverywhere startAuthenticator statement verifyEmail`},
		{"books", `addCustomer correctCustomer correctInvoice discardInvoice draftInvoice getCustomer getEntry getInvoice invoiceHistory listCustomers
			listEntries listInvoices listPayments myBusiness openLedger recordPayment recordPayment/upload/receipt refundPayment
			renameBusiness sendInvoice statement`},
		{"portal", `acceptInvitation getEntry getInvoice listEntries listInvoices myAccount statement`},
	} {
		if got := a.describedRoutes(t, test.api); !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("the description of %s:\ngot  %v\nwant %v", test.api, got, strings.Fields(test.want))
		}
	}
}
