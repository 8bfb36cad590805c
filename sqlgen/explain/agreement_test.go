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

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/explain"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/model"
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
    get byInput(id, word: Text?) {
      @permission(expression: word == order.number || word == null && order.rush)
    }
    get byEither(id?, number?) {
      @permission(expression: order.owner == ctx.identity)
    }
    get byCustomer(customer.name, number) {
      @permission(expression: order.owner != null)
    }
    get byCondition(number) {
      @where(order.rush)
      @where(order.items.price > 5)
      @permission(expression: order.customer.identity == ctx.identity)
    }
    get byCaller() {
      @where(order.owner == ctx.identity)
      @where(order.number == "C")
      @permission(expression: order.size > 2)
    }
    update byValidity(id, word: Text?) with (rush) {
      @permission(expression: order.rush && ctx.isAuthenticated)
      @validate(word != "bad", message: "not a good word")
    }
    update byNewSize(id) with (size) {
      @permission(expression: order.size == null || order.size < size)
    }
    list listByRelations() {
      @permission(expression: order.owner == ctx.identity || order.customer.identity == ctx.identity)
      @permission(roles: [Workshop])
    }
    list listByCondition(above: Number?) {
      @where(order.size > above)
      @where(order.items.price > 3)
      @permission(expression: order.rush || order.items.what == "lamp" && ctx.isAuthenticated)
    }
    create byNewRow() with (number, customer.id) {
      @permission(expression: order.customer.identity == ctx.identity)
      @permission(roles: [Chief])
    }
    create byCallerAlone() with (number, customer.id) {
      @permission(expression: ctx.identity.email != null)
    }
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
	db := pgtest.New(t, pgtest.Options{})
	if _, err := install.Install(t.Context(), db.Owner(t), compiletest.Project(t, project).Release()); err != nil {
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
				for _, input := range inputsOf(t, a) {
					request := explain.Request{
						Action: a, Caller: caller, Secrets: secrets, Headers: map[string]string{"shop_key": key}, Input: json.RawMessage(input),
					}
					e, err := run(t, owner, checked, request)
					if err != nil {
						t.Fatalf("explain %s as %q with %s: %v", a.Name, caller, input, err)
					}
					got := fmt.Sprint(e.Status)
					switch {
					case strings.HasPrefix(e.Outcome, "null"):
						got += " null"
					case a.Kind == model.List && e.Status == 200:
						got += " rows " + strings.Join(shown(e), " ")
					}
					want := answer(t, server, request)
					kind, _, _ := strings.Cut(want, " o")
					answers[strings.TrimSpace(kind)]++
					if e.Status == 0 && a.Kind == model.Create && (want == "200" || want == "403") {
						continue // only the new row decides
					}
					if got != want {
						t.Errorf("%s as %q with the header %q and %s: explained as %s (%s), answered with %s", a.Name, caller, key, input, got, e.Outcome, want)
					}
				}
			}
		}
	}
	for _, status := range []string{"200", "200 null", "200 rows", "400", "403", "404"} {
		if answers[status] == 0 {
			t.Errorf("no call was answered with %s: %v", status, answers)
		}
	}
}

// inputsOf are requests for every row, and for a missing one.
func inputsOf(t *testing.T, a *model.Action) []string {
	t.Helper()
	var inputs []string
	for i, id := range []string{"o1", "o2", "o3", "o4", "none"} {
		number := "ABCDE"[i : i+1]
		byID, byNumber := fmt.Sprintf(`{"id":%q}`, id), fmt.Sprintf(`{"number":%q}`, number)
		switch a.Name {
		case "byInput":
			inputs = append(inputs, byID, fmt.Sprintf(`{"id":%q,"word":"A"}`, id), fmt.Sprintf(`{"id":%q,"word":%q}`, id, number))
		case "byEither":
			inputs = append(inputs, byID, byNumber, fmt.Sprintf(`{"id":"o1","number":%q}`, number))
		case "byNumber", "byCondition":
			inputs = append(inputs, byNumber)
		case "byCustomer":
			inputs = append(inputs, fmt.Sprintf(`{"customerName":"Bea","number":%q}`, number))
		case "byCaller", "listByRelations":
			return []string{"{}"}
		case "listByCondition":
			return []string{"{}", `{"where":{"above":1}}`, `{"where":{"above":5}}`}
		case "byHeader":
			inputs = append(inputs, fmt.Sprintf(`{"where":{"id":%q},"values":{"rush":true}}`, id))
		case "byRole", "byNewSize":
			inputs = append(inputs, fmt.Sprintf(`{"where":{"id":%q},"values":{"size":5}}`, id), fmt.Sprintf(`{"where":{"id":%q},"values":{"size":null}}`, id))
		case "byValidity":
			inputs = append(inputs, fmt.Sprintf(`{"where":{"id":%q,"word":"bad"},"values":{"rush":true}}`, id), fmt.Sprintf(`{"where":{"id":%q},"values":{"rush":true}}`, id))
		case "byNewRow", "byCallerAlone":
			return []string{`{"number":"N","customer":{"id":"c1"}}`, `{"number":"N","customer":{"id":"c2"}}`}
		default:
			inputs = append(inputs, byID)
		}
	}
	return inputs
}

// shown returns the rows of a list that are not left out.
func shown(e *explain.Explanation) []string {
	var ids []string
	for _, r := range e.Rows {
		if r.Selected && r.Admitted {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// answer makes a call as the server does, rolls its writes back, and returns the status of
// the answer.
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
	result, err := calls.JSON(t.Context(), conn, r.Action.Function, string(r.Input), string(bound))
	var raised *pgconn.PgError
	switch {
	case errors.As(err, &raised) && strings.HasPrefix(raised.Code, "SP"):
		return raised.Code[2:]
	case errors.As(err, &raised) && raised.Code == "42501": // row security refuses the new row
		return "403"
	case err != nil:
		t.Fatalf("call %s as %q with %s: %v", r.Action.Name, r.Caller, r.Input, err)
	case result == "null":
		return "200 null"
	case r.Action.Kind != model.List:
		return "200"
	}
	var page struct{ Results []struct{ ID string } }
	if err := json.Unmarshal([]byte(result), &page); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, record := range page.Results {
		ids = append(ids, record.ID)
	}
	return "200 rows " + strings.Join(ids, " ")
}
