package integration

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
)

const jobs = `
model Job {
  fields { number Text @unique  owner Text?  crew Crew?  a Number @default  b Number @default }
  actions {
    create post() with (number, crew.id?)
    update claim(id) with (owner) { @where(job.owner == null) }
    update claimEither(id?, number?) with (owner) { @where(job.owner == null) }
    update claimRuled(id) with (owner) { @permission(expression: job.owner == null) }
    update claimCrew(id) with (owner) {
      @where(job.owner == null)
      @permission(expression: job.crew.name == "x" && job.owner == null)
    }
    delete cancel(id) { @where(job.owner == null) }
    update edit(id) with (a?, b?)
    get getJob(id)
  }
  @permission(expression: true, actions: [create, update, get, delete])
}
model Crew {
  fields { name Text  jobs Job[] }
  actions { create makeCrew() with (name) }
  @permission(expression: true, actions: [create])
}
`

// TestWritersOfOneRow lets many callers update one row at once. If only the first update
// can satisfy a condition or rule, exactly one succeeds, and its value is stored. A write
// of one field does not undo another caller's write of another field.
func TestWritersOfOneRow(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, map[string]string{"schema.stern": jobs}))
	call := func(action, body string) (int, string) {
		response, answer, err := a.try(t.Context(), "POST", "/api/json/"+action, nil, body)
		if err != nil {
			t.Errorf("%s %s: %v", action, body, err)
			return 0, ""
		}
		return response.StatusCode, answer
	}
	idOf := func(answer string) string {
		var record struct{ ID string }
		if err := json.Unmarshal([]byte(answer), &record); err != nil {
			t.Fatalf("read %s: %v", answer, err)
		}
		return record.ID
	}
	_, answer := call("makeCrew", `{"name":"x"}`)
	crew := idOf(answer)

	const callers, rounds = 8, 5
	posted := 0
	post := func() string {
		posted++
		_, answer := call("post", fmt.Sprintf(`{"number":"%d","crew":{"id":%q}}`, posted, crew))
		return idOf(answer)
	}
	tests := []struct {
		action string
		where  string // of the look-up, with the id and the number in it
		late   int    // the answer to all but the first
	}{
		{"claim", `{"id":%[1]q}`, 404},
		{"claimEither", `{"id":%[1]q}`, 404},
		{"claimEither", `{"number":"%[2]d"}`, 404},
		{"claimRuled", `{"id":%[1]q}`, 403},
		{"claimCrew", `{"id":%[1]q}`, 404},
	}
	for _, test := range tests {
		for range rounds {
			id := post()
			statuses := make([]int, callers+1)
			var group sync.WaitGroup
			for caller := range callers {
				group.Go(func() {
					statuses[caller], _ = call(test.action, fmt.Sprintf(`{"where":`+test.where+`,"values":{"owner":"%[3]d"}}`, id, posted, caller))
				})
			}
			group.Go(func() {
				if test.action == "claim" { // a delete may come first
					statuses[callers], _ = call("cancel", fmt.Sprintf(`{"id":%q}`, id))
				}
			})
			group.Wait()
			winner, late := -1, 0
			for caller, status := range statuses {
				switch status {
				case 200:
					if winner >= 0 {
						t.Errorf("%s: callers %d and %d both succeed", test.action, winner, caller)
					}
					winner = caller
				case test.late:
					late++
				case 0:
				default:
					t.Errorf("%s: a caller got %d, want 200 or %d", test.action, status, test.late)
				}
			}
			want := fmt.Sprintf("%d", winner)
			var stored string
			err := a.db.Superuser(t).QueryRow(t.Context(), "select coalesce((select owner from app.job where id = $1), $2)", id, fmt.Sprint(callers)).Scan(&stored)
			if err != nil || stored != want || late < callers-1 {
				t.Errorf("%s: %s is stored, %v, %s succeeded, %d were late: %v", test.action, stored, err, want, late, statuses)
			}
		}
	}

	for range rounds {
		id := post()
		var group sync.WaitGroup
		for _, field := range []string{"a", "b"} {
			group.Go(func() {
				for i := range 10 {
					if status, answer := call("edit", fmt.Sprintf(`{"where":{"id":%q},"values":{%q:%d}}`, id, field, i+1)); status != 200 {
						t.Errorf("edit: got %d %s", status, answer)
					}
				}
			})
		}
		group.Wait()
		var both string
		if err := a.db.Superuser(t).QueryRow(t.Context(), "select a || ' ' || b from app.job where id = $1", id).Scan(&both); err != nil || both != "10 10" {
			t.Errorf("%s is stored, %v, want 10 10", both, err)
		}
	}
}
