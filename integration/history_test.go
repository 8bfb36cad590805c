package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

const keptInvoices = `
model Invoice {
  fields { number Text  total Decimal  paidOn Date?  note Text? @hidden  pin Secret?  look Vector?  owner Person }
  actions {
    create createInvoice() with (number, total, pin?) { @set(invoice.owner.id = ctx.identity.person.id) }
    update correctInvoice(id) with (total?, note?, pin?, paidOn?)
    delete deleteInvoice(id)
    history invoiceHistory(id)
    history invoiceAudit(id) { @permission(roles: [Auditor]) }
  }
  @history(keep: "7 years")
  @permission(expression: ctx.isAuthenticated, actions: [create])
  @permission(expression: invoice.owner.identity == ctx.identity, actions: [get, update, delete])
}
model Person { fields { identity Identity @unique } }
role Auditor { emails { "audit@books.example" } }
`

// keptChange is an entry of a history.
type keptChange struct {
	Kind, At, RequestID string
	IdentityID, Action  *string
	Fields              []string
	Before, After       map[string]any
}

// TestHistory reads every version of a row: who wrote it, when, by what, and what changed.
func TestHistory(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": keptInvoices})
	db := installApp(t, dir)
	a := serve(t, db, dir, db.ServerURL())
	conn := db.Superuser(t)
	exec := func(statement string, arguments ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), statement, arguments...); err != nil {
			t.Fatal(err)
		}
	}
	call := func(caller http.Header, action, body string, want int) string {
		t.Helper()
		response, answer := a.send(t, "POST", "/api/json/"+action, caller, body)
		if response.StatusCode != want {
			t.Errorf("%s %s: got %d %s, want %d", action, body, response.StatusCode, answer, want)
		}
		return answer
	}
	ada, bob := a.as(t, "ada"), a.as(t, "bob")
	auditor := a.as(t, "auditor")
	exec(`update app.identity set email = 'audit@books.example', email_verified = true, issuer = 'a' where id = 'auditor'`)
	exec(`insert into app.person (id, identity_id) select 'p' || id, id from app.identity`)
	var record struct{ ID string }
	if err := json.Unmarshal([]byte(call(ada, "createInvoice", `{"number":"1","total":10.50,"pin":"canary-pin"}`, 200)), &record); err != nil {
		t.Fatal(err)
	}
	read := func(caller http.Header, action, rest string) (entries []keptChange, page map[string]any) {
		t.Helper()
		answer := call(caller, action, fmt.Sprintf(`{"id":%q%s}`, record.ID, rest), 200)
		if strings.Contains(answer, "canary") || strings.Contains(answer, "note") || strings.Contains(answer, "pin") || strings.Contains(answer, "look") {
			t.Errorf("a history shows what is hidden: %s", answer)
		}
		var got struct {
			Results  []keptChange
			PageInfo map[string]any
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		return got.Results, got.PageInfo
	}
	correct := func(values string) {
		t.Helper()
		call(ada, "correctInvoice", fmt.Sprintf(`{"where":{"id":%q},"values":%s}`, record.ID, values), 200)
	}
	correct(`{"total":12.25}`)
	correct(`{"total":12.25}`)      // changes nothing
	correct(`{"pin":"canary-new"}`) // nothing that is kept
	correct(`{"note":"canary-note"}`)
	exec(`begin; update app.invoice set total = 99; rollback`)
	exec(`update app.invoice set paid_on = '2026-11-23'`)

	entries, page := read(ada, "invoiceHistory", "")
	var told []string
	for _, e := range entries {
		by := "a program"
		if e.IdentityID != nil && e.Action != nil {
			by = *e.Action
		}
		told = append(told, fmt.Sprint(e.Kind, " by ", by, " ", e.Fields))
	}
	want := []string{"update by a program [paidOn]", "update by correctInvoice []", "update by correctInvoice [total]", "create by createInvoice"}
	if len(told) != 4 || !reflect.DeepEqual(told[:3], want[:3]) || !strings.HasPrefix(told[3], want[3]) {
		t.Fatalf("got %q\nwant %q", told, want)
	}
	if e := entries[2]; e.Before["total"] != 10.5 || e.After["total"] != 12.25 || e.After["ownerId"] != "pada" || e.RequestID == "" || e.At == "" {
		t.Errorf("an entry is %+v", e)
	}
	if entries[3].Before != nil || entries[3].After["total"] != 10.5 {
		t.Errorf("the first entry is %+v", entries[3])
	}
	if page["hasNextPage"] != false || page["hasPreviousPage"] != false || page["count"] != 4.0 {
		t.Errorf("page info: %v", page)
	}

	var kinds []string
	for rest := `,"first":3`; rest != ""; {
		entries, page := read(ada, "invoiceHistory", rest)
		for _, e := range entries {
			kinds = append(kinds, e.Kind)
		}
		if rest = ""; page["hasNextPage"] == true {
			rest = fmt.Sprintf(`,"first":3,"after":%q`, page["endCursor"])
		} else if page["hasPreviousPage"] != true || len(entries) != 1 {
			t.Errorf("the last page is %v with %d entries", page, len(entries))
		}
	}
	if got := strings.Join(kinds, " "); got != "update update update create" {
		t.Errorf("pages: %s", got)
	}
	if response, answer := a.send(t, "GET", "/api/json/invoiceHistory?id="+url.QueryEscape(record.ID)+"&first=1", ada, ""); response.StatusCode != 200 {
		t.Errorf("by query: %d %s", response.StatusCode, answer)
	}
	for _, body := range []string{`"first":0`, `"first":1001`, `"after":"x"`, `"after":"WzEsIm5vIiwxXQ"`, `"last":1`} {
		answer := call(ada, "invoiceHistory", fmt.Sprintf(`{"id":%q,%s}`, record.ID, body), 400)
		if field := strings.Trim(strings.SplitN(body, ":", 2)[0], `"`); !strings.Contains(answer, `"field":"`+field+`"`) {
			t.Errorf("%s is answered by %s", body, answer)
		}
	}

	call(bob, "invoiceHistory", fmt.Sprintf(`{"id":%q}`, record.ID), 403)
	call(nil, "invoiceHistory", fmt.Sprintf(`{"id":%q}`, record.ID), 403)
	call(ada, "invoiceAudit", fmt.Sprintf(`{"id":%q}`, record.ID), 403)
	call(ada, "deleteInvoice", fmt.Sprintf(`{"id":%q}`, record.ID), 200)
	call(ada, "invoiceHistory", fmt.Sprintf(`{"id":%q}`, record.ID), 403)
	if entries, _ := read(auditor, "invoiceAudit", ""); len(entries) != 5 || entries[0].Kind != "delete" || entries[0].After != nil {
		t.Errorf("the auditor sees %+v", entries)
	}
}
