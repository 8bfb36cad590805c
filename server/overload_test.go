package server

import (
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/config"
)

// TestShares lets one slow action, and then two, take all that they can get. Other actions and
// sign-ins still get through.
func TestShares(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) {
		c.PoolSize, c.PoolWait, c.StatementTimeout, c.LockTimeout = 8, time.Minute, time.Minute, time.Minute
	})
	s.post(t, "getNote", `{"id":"n1"}`) // opens the first of the connections that reads share
	var all sync.WaitGroup
	sleep := func(action string, times int) {
		for range times {
			all.Go(func() { s.post(t, action, `{"id":"none","seconds":60}`) })
		}
	}
	sleep("hold", 8)
	d.waitSleeping(t, 6) // three of four connections that reads do not share, and three that reads can spare
	for range 5 {
		if status, body := s.post(t, "createNote", `{"title":"quick"}`); status != 200 {
			t.Errorf("beside a slow action: got %d %s", status, body)
		}
	}
	sleep("nap", 3)
	d.waitSleeping(t, 7)
	response, err := http.PostForm(s.url+"/auth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"unknown"}})
	if err != nil || response.StatusCode != 400 {
		t.Errorf("a sign-in beside two slow actions: got %v, %v", response, err)
	} else {
		response.Body.Close()
	}
	if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 200 {
		t.Errorf("a read beside two slow actions: got %d %s", status, body)
	}
	var sleeping int
	if err := d.Superuser(t).QueryRow(t.Context(), "select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'").Scan(&sleeping); err != nil || sleeping != 7 {
		t.Errorf("%d sleep, want 7 (%v)", sleeping, err)
	}
	until(t, "all have ended", func() bool { // each that ends makes room for another
		d.wake(t)
		return s.inFlight.Load() == 0
	})
	all.Wait()
}

// TestSlowCalls makes 16 calls of a second of one action over 8 connections. None is refused while connections are free:
// on three connections the last would wait for five seconds.
func TestSlowCalls(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) { c.PoolSize, c.PoolWait = 8, 3*time.Second })
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if status, body := s.post(t, "hold", `{"id":"none","seconds":1}`); status != 200 {
				t.Errorf("got %d %s", status, body)
			}
		})
	}
	all.Wait()
}

// TestLoans lets the writes of one action wait for a lock. They have three of the four connections
// that reads do not share, and those that reads can spare. Other actions, reads and sign-ins still get
// through.
func TestLoans(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) {
		c.PoolSize, c.PoolWait, c.StatementTimeout, c.LockTimeout = 8, time.Minute, time.Minute, time.Minute
	})
	locker := d.Superuser(t)
	lock, err := locker.Begin(t.Context())
	if err == nil {
		_, err = lock.Exec(t.Context(), "lock table app.note in share mode")
	}
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if status, body := s.post(t, "createNote", fmt.Sprintf(`{"title":"%d"}`, i)); status != 200 {
				t.Errorf("createNote: got %d %s", status, body)
			}
		})
	}
	watch, waiting := d.Superuser(t), 0
	count := func() int {
		if err := watch.QueryRow(t.Context(), "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		return waiting
	}
	until(t, "six of eight connections wait for the lock", func() bool { return count() == 6 })
	if status, body := s.post(t, "deleteAuthor", `{"id":"none"}`); status != 200 {
		t.Errorf("another action: got %d %s", status, body)
	}
	if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 200 {
		t.Errorf("a read: got %d %s", status, body)
	}
	response, err := http.PostForm(s.url+"/auth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"unknown"}})
	if err != nil || response.StatusCode != 400 {
		t.Errorf("a sign-in: got %v, %v", response, err)
	} else {
		response.Body.Close()
	}
	if count() != 6 {
		t.Errorf("%d wait for the lock, want 6", waiting)
	}
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	until(t, "all connections are given back", func() bool { return s.db.Connections().InUse == 0 })
	if c := s.db.Connections(); c.Open > c.Max {
		t.Errorf("afterwards: got %+v", c)
	}
}

// TestFewerSlots serves from a Postgres with fewer slots than the pool would take: calls wait for the
// open connections, and none for longer than it may.
func TestFewerSlots(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	if _, err := d.Superuser(t).Exec(t.Context(), "alter database "+d.Name()+" connection limit 4"); err != nil {
		t.Fatal(err)
	}
	s := start(t, d.ServerURL(), func(c *config.Config) { c.PoolSize, c.PoolWait = 16, 2*time.Second })
	s.waitReady(t, "")
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for i := range 60 {
		all.Go(func() {
			for range 10 {
				action, body := "createNote", fmt.Sprintf(`{"title":"%d"}`, i)
				if i%3 == 0 {
					action, body = "getNote", `{"id":"n1"}`
				}
				if status, answer := s.post(t, action, body); status != 200 {
					mu.Lock()
					answers[answer]++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if len(answers) > 0 {
		t.Errorf("with four slots: %v", answers)
	}
}

// TestSmallPool lets one slow action wait for places, from a pool of four. General lists still get through.
func TestSmallPool(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.PoolSize, c.PoolWait, c.StatementTimeout = 4, time.Minute, 5*longEnough })
	d.letWake(t, "hold", "volatile", "hold")
	s.post(t, "getNote", `{"id":"n1"}`)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { s.post(t, "hold", `{"id":"none","seconds":600}`) })
	}
	d.waitSleeping(t, 2)
	for range 3 {
		if status, body := s.post(t, "listNotes", `{"totalCount":true}`); status != 200 {
			t.Errorf("beside a slow action: got %d %s", status, body)
		}
	}
	until(t, "all have ended", func() bool {
		d.wake(t)
		return s.inFlight.Load() == 0
	})
	all.Wait()
}

// TestCustomCodeAlone has custom code use all connections but those for others: one for reads that share it, one for other
// actions.
func TestCustomCodeAlone(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	m := app()
	for _, a := range m.Actions {
		a.Custom = a.Custom || a.Name == "hold"
	}
	d.install(t, m)
	s := start(t, d.ServerURL(), func(c *config.Config) { c.PoolSize, c.PoolWait, c.StatementTimeout = 8, time.Minute, 5*longEnough })
	s.waitReady(t, "")
	d.letWake(t, "hold", "volatile", "custom code")
	s.post(t, "getNote", `{"id":"n1"}`)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if status, body := s.post(t, "hold", `{"id":"none","seconds":600}`); status != 200 {
				t.Errorf("got %d %s", status, body)
			}
		})
	}
	d.waitSleeping(t, 6)
	until(t, "all have ended", func() bool {
		d.wake(t)
		return s.inFlight.Load() == 0
	})
	all.Wait()
	if status, body := s.post(t, "createNote", `{"title":"afterwards"}`); status != 200 {
		t.Errorf("afterwards: got %d %s", status, body)
	}
}

// TestSilentDatabase stops the database while calls wait for it. Each is told that it is not available, also those that
// only waited for a place.
func TestSilentDatabase(t *testing.T) {
	t.Parallel()
	node := pgtest.NewNode(t)
	d := &testDatabase{node.New(t, withApp)}
	d.install(t, app())
	s := start(t, d.ServerURL(), func(c *config.Config) { c.PoolSize, c.PoolWait, c.StatementTimeout = 4, 2*time.Second, 10*time.Second })
	s.waitReady(t, "")
	if status, body := s.post(t, "createNote", `{"title":"before"}`); status != 200 {
		t.Fatalf("before: got %d %s", status, body)
	}
	node.Freeze(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for i := range 20 {
		all.Go(func() {
			action, body := "listNotes", `{"totalCount":true}`
			if i%2 == 0 {
				action, body = "getNote", `{"id":"n1"}`
			}
			status, answer := s.post(t, action, body)
			mu.Lock()
			defer mu.Unlock()
			answers[fmt.Sprint(status, " ", answer)]++
		})
	}
	all.Wait()
	node.Thaw(t)
	if answers["503 "+unavailableJSON] != 20 {
		t.Errorf("got %v", answers)
	}
}
