package integration

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// bothWays is a schema whose computed fields lead from lines to invoices and wares, and back to their lines.
const bothWays = `
model Ware {
  fields { price Number lines Line[] sold Number @computed(SUM(ware.lines.quantity)) }
  actions { create addWare() with (id, price) update priceWare(id) with (price) }
  @permission(expression: true, actions: [create, update])
}
model Invoice {
  fields { lines Line[] net Number @computed(SUM(invoice.lines.total)) }
  actions { create addInvoice() with (id) }
  @permission(expression: true, actions: [create])
}
model Line {
  fields {
    invoice Invoice
    ware Ware
    quantity Number
    total Number @computed(line.quantity * line.ware.price)
    share Number @computed(COUNTIF(line.invoice.lines, line.invoice.lines.quantity < line.quantity) + line.ware.sold)
  }
  actions { create addLine() with (id, invoice.id, ware.id, quantity) update changeLine(id) with (ware.id, quantity) }
  @permission(expression: true, actions: [create, update])
}
`

// TestContendedWrites compares what eight clients write together with what one does alone, where statements that the
// writes cause wait for each other in circles.
func TestContendedWrites(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": bothWays})
	db := installApp(t, dir)
	a := serve(t, db, dir, db.ServerURL())
	do := func(path, body string) bool {
		response, answer, err := a.try(t.Context(), "POST", "/api/json/"+path, nil, body)
		if err != nil || response.StatusCode != 200 && response.StatusCode != 503 {
			t.Errorf("%s %s: %v %s", path, body, err, answer)
			return false
		}
		return response.StatusCode == 200
	}
	const rows = 4
	for i := range rows {
		do("addWare", fmt.Sprintf(`{"id":"w%d","price":%d}`, i, i))
		do("addInvoice", fmt.Sprintf(`{"id":"i%d"}`, i))
		do("addLine", fmt.Sprintf(`{"id":"l%d","invoice":{"id":"i%d"},"ware":{"id":"w%d"},"quantity":1}`, i, i, i))
	}
	// written returns the number of writes that some clients do in a time.
	written := func(clients int, d time.Duration) int64 {
		var done atomic.Int64
		var group sync.WaitGroup
		end := time.Now().Add(d)
		for client := range clients {
			group.Go(func() {
				for n := client; time.Now().Before(end) && !t.Failed(); n++ {
					path, body := "changeLine", fmt.Sprintf(`{"where":{"id":"l%d"},"values":{"ware":{"id":"w%d"},"quantity":%d}}`, n%rows, n*7%rows, n%9)
					if n%3 == 0 {
						path, body = "priceWare", fmt.Sprintf(`{"where":{"id":"w%d"},"values":{"price":%d}}`, n*5%rows, n%9)
					}
					if do(path, body) {
						done.Add(1)
					}
				}
			})
		}
		group.Wait()
		return done.Load()
	}
	// In turns, so that what runs beside this test takes as much from either.
	var one, eight int64
	for range 3 {
		one += written(1, time.Second)
		eight += written(8, 4*time.Second)
	}
	t.Logf("one client does %d writes in 3 s, eight do %d in 12 s", one, eight)
	if eight < one/2*4 {
		t.Error("eight clients do less than half of what one does")
	}
}
