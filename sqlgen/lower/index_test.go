package lower_test

import (
	"slices"
	"testing"

	"github.com/sternpost/sternpost/integration/compiletest"
)

// TestDeclaredIndexGetsIDOnce tests that an @index in the order of a list ends with the id, unless another index of the
// model serves the list as it is.
func TestDeclaredIndexGetsIDOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rest string
		want       []string // the indexes
	}{
		{"alone", "", []string{"task_state_day_id_idx"}},
		{"beside a longer one", "@index(state, day, id)", []string{"task_state_day_idx", "task_state_day_id_idx"}},
		{"beside one that goes on", "@index(state, day, id, title)", []string{"task_state_day_idx", "task_state_day_id_title_idx"}},
		{"beside a key", "@unique([state, day, id])", []string{"task_state_day_idx"}},
		{"beside one in another order", "@index(day, state, id)", []string{"task_state_day_id_idx", "task_day_state_id_idx"}},
		{"beside a key in another order", "@unique([day, state, id])", []string{"task_state_day_id_idx"}},
		{"beside one without the id", "@index(state, day, title)", []string{"task_state_day_id_idx", "task_state_day_title_idx"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := compiletest.Schema(t, `model Task { fields { state State day Date title Text }
				actions { list byDay(state?) { @orderBy(day: asc) } }
				@index(state, day) `+c.rest+` @permission(expression: true, actions: [list]) } enum State { Open Done }`)
			var got []string
			for _, i := range r.Database.Table("task").Indexes {
				if i.Keys[0].Column != "day" || len(i.Keys) > 2 { // that of the order alone has the day and the id
					got = append(got, i.Name)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the indexes are %q, want %q", got, c.want)
			}
		})
	}
}
