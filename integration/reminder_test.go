package integration

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/mailserver"
)

// TestReminder lets the schedule of the clinic come, and that of the page about jobs, which shows the clinic's code: each
// patient with an appointment on the next day gets one mail.
func TestReminder(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, b := range casetest.Blocks(t, "guide/how-to/jobs.md") {
		switch {
		case b.Language == "stern":
			files["schema.stern"] = b.Text // the last one
		case b.Info != "":
			files[b.Info] = b.Text
		}
	}
	for _, name := range []string{"functions/remindPatients.sql", "mail/appointment.txt"} {
		if files[name] != fileText(t, filepath.Join(appDir("clinic"), name)) {
			t.Errorf("the page shows another %s than the clinic has", name)
		}
	}
	delete(files, "functions/closeMonth.sql")
	for _, test := range []struct{ name, dir, cancelled string }{
		{"page", writeProject(t, files), `is_cancelled) values ('c', 'p', current_date + 1 + time '09:00', true)`},
		{"clinic", appDir("clinic"), `minutes, state) values ('c', 'p', current_date + 1 + time '09:00', 20, 'Cancelled')`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			mails := mailserver.New(t, false, false)
			db := installApp(t, test.dir)
			conn := db.Superuser(t)
			exec := func(statements string) {
				t.Helper()
				if _, err := conn.Exec(t.Context(), statements); err != nil {
					t.Fatal(err)
				}
			}
			exec(`set time zone 'Europe/Berlin'`)
			if test.name == "clinic" {
				exec(`alter table app.appointment alter minutes set default 20; alter table app.patient alter number set default gen_random_uuid()`)
			}
			exec(`insert into app.practice (id, name) values ('n', 'North');
				insert into app.patient (id, practice_id, name, email) values ('p', 'n', 'Ada', 'ada@example.com'), ('q', 'n', 'Bo', null);
				insert into app.appointment (id, patient_id, starts_at) values
					('a', 'p', current_date + 1 + time '10:30'), ('b', 'q', current_date + 1 + time '10:00'), ('d', 'p', current_date + 2 + time '10:00');
				insert into app.appointment (id, patient_id, starts_at, ` + test.cancelled + `;
				update platform.schedule set slot = now() - interval '1 day'`)
			serveWith(t, db, test.dir, db.ServerURL(), serving{env: mailEnvironment(mails)})
			for deadline := time.Now().Add(30 * time.Second); len(mails.Taken()) == 0 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			}
			exec(`select platform.job_start('RemindPatients', '{}')`)
			awaitTasks(t, db)
			var day string
			if err := conn.QueryRow(t.Context(), `select to_char(current_date + 1, 'FMDD.FMMM.')`).Scan(&day); err != nil {
				t.Fatal(err)
			}
			want := "ada@example.com: Your appointment at North: Dear Ada,\n\nwe expect you tomorrow, " + day +
				", at 10:30. If you cannot come, please call us today.\n\nNorth"
			if got := subjects(mails); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestLedgerByItself sends an invoice of the ledger, and lets its job run over an old draft: the customer of the one gets
// a mail, and the history of the other says what took it away.
func TestLedgerByItself(t *testing.T) {
	t.Parallel()
	mails := mailserver.New(t, false, false)
	db := installApp(t, appDir("ledger"))
	a := serveWith(t, db, appDir("ledger"), db.ServerURL(), serving{env: mailEnvironment(mails)})
	conn := db.Superuser(t)
	ada := a.as(t, "ada")
	if _, err := conn.Exec(t.Context(), `
		insert into app.business (id, name, owner_id) values ('b', 'Quist', 'ada');
		insert into app.customer (id, business_id, name, email, invitation) values ('c', 'b', 'Bo', 'bo@example.com', 'x'), ('d', 'b', 'Cy', null, 'y');
		insert into app.invoice (id, business_id, customer_id, number, issued_on, due_on) values
			('sent', 'b', 'c', 'N-1', '2026-03-01', '2026-04-01'), ('quiet', 'b', 'd', 'N-2', '2026-03-01', '2026-04-01'), ('old', 'b', 'c', 'N-3', '2026-03-01', '2026-04-01');
		insert into app.line (invoice_id, text, price) values ('sent', 'a bow', 60), ('quiet', 'a bow', 60);
		alter table app.invoice disable trigger user;
		update app.invoice set updated_at = now() - interval '2 years';
		alter table app.invoice enable trigger user`); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"sent", "quiet"} {
		if response, answer := a.send(t, "POST", "/api/json/sendInvoice", ada, `{"where":{"id":"`+id+`"}}`); response.StatusCode != 200 {
			t.Fatalf("send %s: %d %s", id, response.StatusCode, answer)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); len(mails.Taken()) == 0 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
	}
	if _, err := conn.Exec(t.Context(), `select platform.job_start('DiscardDrafts', '{}')`); err != nil {
		t.Fatal(err)
	}
	awaitTasks(t, db)
	want := "bo@example.com: Invoice N-1 of Quist: Dear Bo,\n\nQuist has sent you the invoice N-1, due on 2026-04-01. Sign in to see it."
	if got := subjects(mails); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	eva := a.as(t, "eva")
	if _, err := conn.Exec(t.Context(), `update app.identity set email = 'eva@audit.example', email_verified = true where id = 'eva'`); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"sent": "update sendInvoice ada", "old": "delete DiscardDrafts "} {
		_, answer := a.send(t, "POST", "/api/json/invoiceHistory", eva, `{"id":"`+id+`"}`)
		var page struct {
			Results []struct{ Kind, Action, IdentityID string }
		}
		if err := json.Unmarshal([]byte(answer), &page); err != nil || len(page.Results) == 0 {
			t.Fatalf("the history of %s: %v in %s", id, err, answer)
		}
		if latest := page.Results[0]; latest.Kind+" "+latest.Action+" "+latest.IdentityID != want {
			t.Errorf("the history of %s: got %s, want %s first", id, answer, want)
		}
	}
}
