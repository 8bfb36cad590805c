package integration

import (
	"net/http"
	"strings"
	"testing"
)

// TestRelativeDatesFollowTheCallersZone asks on which side of today a day lies, in the first and the
// last zone to reach it: their dates always differ.
func TestRelativeDatesFollowTheCallersZone(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, map[string]string{"schema.stern": `
model Event {
  fields { day Date }
  actions { list listEvents(day?) }
  @permission(expression: true, actions: [list])
}`}))
	_, err := a.db.Superuser(t).Exec(t.Context(), `
		insert into app.event (id, day)
		select 'e', (now() at time zone 'Pacific/Kiritimati')::date`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		zone string
		want string // within the answer
	}{
		{"Pacific/Niue", `"id":"e"`},
		{"Pacific/Kiritimati", `"results":[]`},
	} {
		response, answer := a.send(t, "POST", "/api/json/listEvents", http.Header{"Time-Zone": {c.zone}}, `{"where":{"day":{"afterRelative":"today"}}}`)
		if response.StatusCode != 200 || !strings.Contains(answer, c.want) {
			t.Errorf("in %s the day of Kiritimati after today: got %d %s, want %s", c.zone, response.StatusCode, answer, c.want)
		}
	}
}
