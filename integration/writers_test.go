package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

const drawers = `
model Cabinet {
  fields { name Text @unique  holder Cabinet?  holds Cabinet[]  drawers Drawer[]  state Text? }
  actions {
    create build() with (name, holder.id?, drawers.key)
    update move(id) with (holder.id?, state?)
    delete drop(id)
  }
  @validate(cabinet.state != "broken")
  @permission(expression: true, actions: [create, update, delete])
}
model Drawer { fields { cabinet Cabinet  key Text @unique } }
`

// TestManyWriters lets many callers write few rows at once: the same unique values
// in different orders, and references to rows that others delete. Each call is answered by its
// effect, never by an internal error, and each write answered 200 is stored, whole.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": drawers})
	db := installApp(t, dir)
	lookForCirclesAtOnce(t, db)
	a := serve(t, db, dir, db.ServerURL())

	const writers, rounds, names = 12, 60, 30
	var mu sync.Mutex
	answers := map[int]int{}
	built := map[string]int{} // by id, the number of its drawers
	gone := map[string]bool{}
	var ids []string
	anyID := func(random *rand.Rand) string {
		mu.Lock()
		defer mu.Unlock()
		if len(ids) == 0 {
			return "none"
		}
		return ids[len(ids)-1-random.IntN(min(len(ids), 8))]
	}

	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(writer), 1))
			for round := range rounds {
				path, body, drawers, id := "build", "", 0, ""
				switch random.IntN(5) {
				case 0:
					path, id = "drop", anyID(random)
					body = fmt.Sprintf(`{"id":%q}`, id)
				case 1:
					path = "move"
					body = fmt.Sprintf(`{"where":{"id":%q},"values":{"holder":{"id":%q},"state":"%d"}}`, anyID(random), anyID(random), round)
				default:
					list := ""
					for i, key := range random.Perm(names) {
						if i > 3 {
							break
						}
						if i > 0 {
							list += ","
						}
						list += fmt.Sprintf(`{"key":"%d"}`, key)
						drawers++
					}
					holder := ""
					if random.IntN(2) == 0 {
						holder = fmt.Sprintf(`"holder":{"id":%q},`, anyID(random))
					}
					body = fmt.Sprintf(`{"name":"%d %d",%s"drawers":[%s]}`, writer, round, holder, list)
				}
				response, answer, err := a.try(t.Context(), "POST", "/api/json/"+path, nil, body)
				if err != nil {
					t.Errorf("%s %s: %v", path, body, err)
					return
				}
				mu.Lock()
				answers[response.StatusCode]++
				switch {
				case response.StatusCode == 200 && path == "build":
					var record struct{ ID string }
					if err := json.Unmarshal([]byte(answer), &record); err != nil {
						t.Errorf("build answers %s: %v", answer, err)
					}
					built[record.ID] = drawers
					ids = append(ids, record.ID)
				case response.StatusCode == 200 && path == "drop":
					gone[id] = true
				case response.StatusCode != 200 && response.StatusCode != 400 && response.StatusCode != 404 && response.StatusCode != 503:
					t.Errorf("%s %s: got %d %s", path, body, response.StatusCode, answer)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()

	rows, err := db.Superuser(t).Query(t.Context(), "select id, (select count(*) from app.drawer where cabinet_id = cabinet.id) from app.cabinet")
	if err != nil {
		t.Fatal(err)
	}
	stored := 0
	for rows.Next() {
		var id string
		var drawers int
		if err := rows.Scan(&id, &drawers); err != nil {
			t.Fatal(err)
		}
		stored++
		if want, ok := built[id]; !ok || gone[id] || drawers != want {
			t.Errorf("cabinet %s is stored with %d drawers; built %t with %d, dropped %t", id, drawers, ok, want, gone[id])
		}
	}
	if rows.Err() != nil || stored != len(built)-len(gone) {
		t.Errorf("%d cabinets are stored, error %v; %d were built and %d dropped", stored, rows.Err(), len(built), len(gone))
	}
	if answers[200] == 0 || answers[400] == 0 {
		t.Errorf("got answers %v, want successes and refusals", answers)
	}
	t.Logf("answers by status: %v", answers)
}

// TestWritersInCircles lets calls write the same unique values in opposite orders, so
// that each waits for the other. The database aborts one of them, which is retried and
// then finds the values taken: exactly one call of each round succeeds.
func TestWritersInCircles(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": drawers})
	db := installApp(t, dir)
	lookForCirclesAtOnce(t, db)
	a := serve(t, db, dir, db.ServerURL())

	const rounds, callers, keys = 10, 4, 1000
	for round := range rounds {
		statuses := make([]int, callers)
		var group sync.WaitGroup
		for caller := range callers {
			group.Go(func() {
				var list []string
				for i := range keys {
					list = append(list, fmt.Sprintf(`{"key":"%d-%d"}`, round, i))
				}
				if caller%2 == 1 {
					slices.Reverse(list)
				}
				body := fmt.Sprintf(`{"name":"%d %d","drawers":[%s]}`, round, caller, strings.Join(list, ","))
				response, answer, err := a.try(t.Context(), "POST", "/api/json/build", nil, body)
				if err != nil {
					t.Errorf("build: %v", err)
					return
				}
				statuses[caller] = response.StatusCode
				switch response.StatusCode {
				case 200, 400, 503:
				default:
					t.Errorf("build: got %d %s", response.StatusCode, answer)
				}
			})
		}
		group.Wait()
		succeeded := 0
		for _, status := range statuses {
			if status == 200 {
				succeeded++
			}
		}
		if succeeded != 1 {
			t.Errorf("round %d: got statuses %v, want one 200", round, statuses)
		}
	}
	var stored int
	if err := db.Superuser(t).QueryRow(t.Context(), "select count(*) from app.drawer").Scan(&stored); err != nil || stored != rounds*keys {
		t.Errorf("%d drawers are stored, error %v, want %d", stored, err, rounds*keys)
	}
}

// lookForCirclesAtOnce makes new connections look for deadlocks at once, not after a
// second.
func lookForCirclesAtOnce(t *testing.T, db *pgtest.DB) {
	t.Helper()
	_, err := db.Superuser(t).Exec(t.Context(), `do $$
begin
  execute format('alter database %I set deadlock_timeout = ''5ms''', current_database());
end
$$`)
	if err != nil {
		t.Fatal(err)
	}
}
