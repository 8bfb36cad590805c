package sqlgen_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/sql/role"
)

// crowdedShares is how many relations the rules of the crowded model walk: as many as its
// callers take without one of them naming more than three.
const crowdedShares = 24

// newCrowd installs the crowded model with a post that me shares in every other way.
func newCrowd(t *testing.T) *app {
	t.Helper()
	a := newApp(t, "crowded", crowdedSchema(crowdedShares, 292))
	a.exec(t, "insert into app.identity (id) values ('you')")
	a.exec(t, "insert into app.post (id, title, owner_id) values ('p', 'P', 'me')")
	for n := range crowdedShares {
		a.exec(t, fmt.Sprintf("insert into app.share_%d (post_id, person_id) values ('p', '%s')", n, []string{"me", "you"}[n%2]))
	}
	return a
}

// TestEveryOwnerIsBound takes the policy for each role that actions run as away: then the
// gets that run as it find nothing, those of the others do, and it is the same on a
// superuser's connection.
func TestEveryOwnerIsBound(t *testing.T) {
	t.Parallel()
	a := newCrowd(t)
	gets := map[string]string{role.Open: "get_open"} // by owner
	for n := 0; n < 4*crowdedShares; n += 8 {        // what me shares
		function := fmt.Sprintf("get_%d", n)
		gets[facts(t, a.owner, "select proowner::regrole::text from pg_proc where pronamespace = 'api'::regnamespace and proname = '"+function+"'")[0]] = function
	}
	for _, conn := range []*pgx.Conn{a.owner, a.db.Superuser(t)} {
		for _, closed := range role.OfActions() {
			if gets[closed] == "" {
				t.Fatalf("no get runs as %s: %v", closed, gets)
			}
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range facts(t, conn, "select policyname::text from pg_policies where tablename = 'post' and cmd = 'SELECT' and '"+closed+"' = any (roles)") {
				if _, err := tx.Exec(t.Context(), "drop policy "+name+" on app.post"); err != nil {
					t.Fatal(err)
				}
			}
			for owner, function := range gets {
				nested, err := tx.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				answer, err := calls.JSON(t.Context(), conn, function, `{"id":"p"}`, callContext("me"))
				var failed *pgconn.PgError
				isRefused := errors.As(err, &failed) && failed.Code == "SP403" || err == nil && answer == "null"
				if want := owner == closed; isRefused != want || err != nil && !isRefused {
					t.Errorf("without the policy for %s, api.%s, which runs as %s, answers %s, %v", closed, function, owner, answer, err)
				}
				if err := nested.Rollback(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var updatedAt = regexp.MustCompile(`"updatedAt":"[^"]*"`)

// TestOwnersAreNotMixedUp calls actions of all owners in random order: after any earlier
// calls on a connection, each answers each caller as on a fresh one.
func TestOwnersAreNotMixedUp(t *testing.T) {
	t.Parallel()
	a := newCrowd(t)
	type request struct{ action, body, caller string }
	var requests []request
	for _, caller := range []string{"", "me", "you"} {
		for _, action := range []string{"getOpen", "getOwned"} {
			requests = append(requests, request{action, `{"id":"p"}`, caller})
		}
		for n := 0; n < 4*crowdedShares; n += 12 {
			requests = append(requests,
				request{fmt.Sprintf("get%d", n), `{"id":"p"}`, caller},
				request{fmt.Sprintf("list%d", n+1), `{"first":2}`, caller},
				request{fmt.Sprintf("update%d", n+2), `{"where":{"id":"p"},"values":{"title":"P"}}`, caller})
		}
	}
	fresh := map[request]string{}
	server := a.server
	for _, r := range requests {
		a.server = a.db.Server(t)
		fresh[r] = updatedAt.ReplaceAllString(a.call(t, r.action, r.body, r.caller), "")
		if err := a.server.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	a.server = server
	answers := map[string]int{}
	random := rand.New(rand.NewPCG(1, 2))
	for range 15 * len(requests) { // often enough for plans to be kept
		r := requests[random.IntN(len(requests))]
		got := updatedAt.ReplaceAllString(a.call(t, r.action, r.body, r.caller), "")
		if got != fresh[r] {
			t.Fatalf("%v\ngot  %s\nwant %s", r, got, fresh[r])
		}
		answers[got]++
	}
	if len(answers) < 4 {
		t.Errorf("all answers are %v", answers)
	}
}

// TestOwnersOfFewRelations tests that a schema whose rules walk few relations needs few
// roles, and that actions beyond the capacity of all roles are spread evenly.
func TestOwnersOfFewRelations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ shares, roles, most int }{
		{1, 1, 1}, {3, 1, 3}, {4, 2, 3}, {24, 8, 3}, {25, 8, 4}, {48, 8, 6},
	} {
		db := compile(t, crowdedSchema(c.shares, 4*c.shares))
		var owners []string
		for _, f := range db.Functions {
			if f.Owner != role.Open && !slices.Contains(owners, f.Owner) {
				owners = append(owners, f.Owner)
			}
		}
		most := 0
		for _, p := range db.Table("post").Policies {
			most = max(most, len(p.Views))
		}
		if len(owners) != c.roles || most != c.most {
			t.Errorf("%d relations: %d roles, at most %d relations in a policy, want %d and %d", c.shares, len(owners), most, c.roles, c.most)
		}
	}
}
