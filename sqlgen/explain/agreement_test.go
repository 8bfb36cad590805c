package explain_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/explain"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

const agreedSchema = `
model Order {
  fields {
    number Text @unique
    rush Boolean @default
    size Number?
    price Decimal?
    day Date?
    lasts Duration?
    owner Identity?
    customer Customer
    items Item[]
  }
  actions {
    get byRelations(id) {
      @permission(expression: order.owner == ctx.identity || order.customer.identity == ctx.identity)
    }
    get byNumber(number) {
      @permission(expression: order.size > 2 && order.price != 3.5)
      @permission(roles: [Workshop])
    }
    get byChildren(id) {
      @permission(expression: order.items.price > 5 && order.items.what == "lamp")
    }
    get byEveryChild(id) {
      @permission(expression: !(order.items.price > 5))
    }
    get byNoChild(id) {
      @permission(expression: order.items == null || order.rush && ctx.isAuthenticated)
    }
    update byHeader(id) with (rush) {
      @permission(expression: ctx.headers.shopKey == ctx.secrets.SHOP_KEY && !(order.owner == ctx.identity))
      @permission(expression: order.customer.name in ["Bea", ctx.identity.email])
    }
    update byRole(id) with (size) {
      @permission(roles: [Chief])
      @permission(expression: order.owner == null, roles: [Workshop])
    }
    delete byTypes(id) {
      @permission(expression: order.day < "2026-01-01" || order.lasts > "PT1H")
    }
    delete byBacklink(id) {
      @permission(expression: order.customer == ctx.identity.customer)
    }
    delete byNobody(id)
  }
}

model Item {
  fields {
    order Order
    what Text
    price Decimal
  }
}

model Customer {
  fields {
    name Text @unique
    identity Identity @unique
  }
}

role Workshop {
  domains { "workshop.example" }
}

role Chief {
  emails { "ada@workshop.example" }
}
`

const agreedRows = `
insert into app.identity (id, email, email_verified) values
  ('ada', 'Ada@workshop.example', true), ('bea', 'Bea', true), ('cy', 'cy@workshop.example', false),
  ('dan', null, false), ('eve', 'eve@workshop.example', true);
insert into app.customer (id, name, identity_id) values ('c1', 'Bea', 'bea'), ('c2', 'Cy', 'cy');
insert into app."order" (id, number, rush, size, price, day, lasts, owner_id, customer_id) values
  ('o1', 'A', true, 3, 3.50, '2025-05-05', 'PT90M', 'dan', 'c1'),
  ('o2', 'B', false, null, null, null, null, null, 'c2'),
  ('o3', 'C', false, 7, 9, '2027-05-05', 'PT30M', 'bea', 'c1'),
  ('o4', 'D', true, 1, null, null, 'P1D', null, 'c2');
insert into app.item (id, order_id, what, price) values
  ('i1', 'o1', 'lamp', 3.50), ('i2', 'o1', 'chair', 9), ('i3', 'o3', 'lamp', 20), ('i4', 'o4', 'chair', 1);
`

// TestAgreement makes every call of a schema, by every caller and with every row,
// and explains it.
func TestAgreement(t *testing.T) {
	t.Parallel()
	checked, project := check(t, &txtar.Archive{Files: []txtar.File{
		{Name: "schema.stern", Data: []byte(agreedSchema)},
		{Name: sqlgen.ConfigName, Data: []byte("secrets:\n  - name: SHOP_KEY\n")},
	}})
	compiled, errs := sqlgen.Compile(project)
	if compiled == nil {
		var b strings.Builder
		if err := syntax.Render(&b, errs, syntax.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("compile the schema:\n%s", b.String())
	}
	db := pgtest.New(t, pgtest.Options{})
	if _, err := install.Install(t.Context(), db.Owner(t), compiled); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Superuser(t).Exec(t.Context(), agreedRows); err != nil {
		t.Fatal(err)
	}
	owner, server := db.Owner(t), db.Server(t)
	secrets := map[string]string{"SHOP_KEY": "k"}
	answers := map[string]int{}
	for _, a := range checked.Actions {
		for _, caller := range []string{"", "ada", "bea", "cy", "dan", "eve"} {
			for _, key := range []string{"", "k"} {
				for i, id := range []string{"o1", "o2", "o3", "o4", "none"} {
					request := explain.Request{
						Action: a, Caller: caller, Secrets: secrets, Headers: map[string]string{"shop_key": key}, Input: json.RawMessage(inputOf(a, id, "ABCDE"[i:i+1])),
					}
					e, err := run(t, owner, checked, request)
					if err != nil {
						t.Fatalf("explain %s as %q of %s: %v", a.Name, caller, id, err)
					}
					got := fmt.Sprint(e.Status)
					if strings.HasPrefix(e.Outcome, "null") {
						got += " null"
					}
					want := answer(t, server, request)
					answers[want]++
					if got != want {
						t.Errorf("%s as %q with the header %q of %s: explained as %s (%s), answered with %s", a.Name, caller, key, id, got, e.Outcome, want)
					}
				}
			}
		}
	}
	for _, status := range []string{"200", "200 null", "403", "404"} {
		if answers[status] == 0 {
			t.Errorf("no call was answered with %s: %v", status, answers)
		}
	}
}

// inputOf is a request for a row.
func inputOf(a *schema.Action, id, number string) string {
	switch {
	case a.Name == "byNumber":
		return fmt.Sprintf(`{"number":%q}`, number)
	case a.Kind == schema.Update && a.Name == "byRole":
		return fmt.Sprintf(`{"where":{"id":%q},"values":{"size":5}}`, id)
	case a.Kind == schema.Update:
		return fmt.Sprintf(`{"where":{"id":%q},"values":{"rush":true}}`, id)
	}
	return fmt.Sprintf(`{"id":%q}`, id)
}

// answer makes a call as the server does, takes back what it wrote, and returns the
// status of the answer.
func answer(t *testing.T, conn *pgx.Conn, r explain.Request) string {
	t.Helper()
	callContext := map[string]any{"headers": r.Headers, "secrets": r.Secrets}
	if r.Caller != "" {
		callContext["identityId"] = r.Caller
	}
	bound, err := json.Marshal(callContext)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	var result string
	err = tx.QueryRow(t.Context(), "select api."+pgx.Identifier{r.Action.Function}.Sanitize()+"($1, $2)", string(r.Input), string(bound)).Scan(&result)
	var raised *pgconn.PgError
	switch {
	case errors.As(err, &raised) && strings.HasPrefix(raised.Code, "SP"):
		return raised.Code[2:]
	case err != nil:
		t.Fatalf("call %s as %q with %s: %v", r.Action.Name, r.Caller, r.Input, err)
	case result == "null":
		return "200 null"
	}
	return "200"
}
