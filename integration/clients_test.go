package integration

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestManyClients lets many clients work at once: each must see its own records as it
// left them, and together they must not violate a unique constraint.
func TestManyClients(t *testing.T) {
	t.Parallel()
	db := installApp(t, appDir("workshop"))
	a := serve(t, db, appDir("workshop"), db.ServerURL())
	const clients, rounds = 32, 8

	var wg sync.WaitGroup
	faults := make(chan error, clients)
	for client := range clients {
		wg.Go(func() { faults <- work(t.Context(), a, client, rounds) })
	}
	wg.Wait()
	close(faults)
	for err := range faults {
		if err != nil {
			t.Error(err)
		}
	}

	// In every round all clients wanted the same e-mail address, and one of them got it.
	_, got := a.send(t, "POST", "/api/json/listCustomers", nil, `{"where":{"email":{"notEquals":null}},"first":1,"totalCount":true}`)
	if want := fmt.Sprintf(`"totalCount":%d}`, rounds); !strings.Contains(got, want) {
		t.Errorf("customers with an address: got %s, want %s", got, want)
	}
	_, got = a.send(t, "POST", "/api/json/listCustomers", nil, `{"first":1,"totalCount":true}`)
	if want := fmt.Sprintf(`"totalCount":%d}`, clients*rounds+rounds); !strings.Contains(got, want) {
		t.Errorf("customers: got %s, want %s", got, want)
	}
}

// work is one client: in each round it makes a customer, changes it, reads it, and
// tries to take an address that only one customer may have.
func work(ctx context.Context, a *app, client, rounds int) error {
	call := func(action, body string) (int, string, error) {
		response, text, err := a.try(ctx, "POST", "/api/json/"+action, nil, body)
		if err != nil {
			return 0, "", fmt.Errorf("client %d: %s: %w", client, action, err)
		}
		return response.StatusCode, text, nil
	}
	expect := func(known variables, want, action, body string) error {
		status, got, err := call(action, body)
		if err != nil {
			return err
		}
		if status != http.StatusOK || !known.match(want, got) {
			return fmt.Errorf("client %d: %s %s:\n  got  %d %s\n  want 200 %s", client, action, body, status, got, want)
		}
		return nil
	}
	for round := range rounds {
		name := fmt.Sprintf("client %d round %d", client, round)
		known := variables{}
		made := `{"id":"{id own}","name":"` + name + `","email":null,"phone":null,"newsletter":false,"createdAt":"{time made}","updatedAt":"{made}"}`
		if err := expect(known, made, "createCustomer", `{"name":"`+name+`"}`); err != nil {
			return err
		}
		changed := `{"id":"{own}","name":"` + name + `","email":null,"phone":"` + name + `","newsletter":false,"createdAt":"{made}","updatedAt":"{time changed}"}`
		if err := expect(known, changed, "updateCustomer", `{"where":{"id":"`+known["own"]+`"},"values":{"phone":"`+name+`"}}`); err != nil {
			return err
		}
		changed = strings.Replace(changed, "{time changed}", "{changed}", 1)
		if err := expect(known, changed, "getCustomer", `{"id":"`+known["own"]+`"}`); err != nil {
			return err
		}
		taken := `{"code":"ERR_INVALID_INPUT","message":"the value for the unique field 'email' must be unique","data":{"errors":[{"field":"email","code":"unique","params":{"fields":["email"]},"error":"must be unique"}]}}`
		status, got, err := call("createCustomer", fmt.Sprintf(`{"name":"first","email":"round%d@example.com"}`, round))
		switch {
		case err != nil:
			return err
		case status != http.StatusOK && (status != http.StatusBadRequest || got != taken):
			return fmt.Errorf("client %d: a contended address: got %d %s, want 200 or 400 %s", client, status, got, taken)
		}
	}
	return nil
}
