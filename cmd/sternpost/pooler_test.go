package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/encryption"
)

// TestCommandsBehindPooler runs, each twice, the commands that read and write a database
// through a pooler by transaction. Over one connection the second run meets the leftovers of
// the first; over several, one command changes between them.
func TestCommandsBehindPooler(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": strings.Replace(noteSchema, "fields {", "fields {\n    key Secret?", 1)})
	for _, prepared := range []bool{false, true} {
		for _, size := range []int{1, 3} {
			t.Run(fmt.Sprintf("prepared statements %t, %d connections", prepared, size), func(t *testing.T) {
				t.Parallel()
				db := built(t, dir)
				if _, err := db.Superuser(t).Exec(t.Context(), `insert into app.identity (id, email, issuer) values ('ada', 'ada@example.com', 'a')`); err != nil {
					t.Fatal(err)
				}
				url := pgtest.NewPooler(t, pgtest.PoolerOptions{Prepared: prepared, Size: size}).Of(db.OwnerURL())
				env := append(production(t, url, "8080"), "STERNPOST_ENCRYPTION_KEY="+encryption.GenerateKey())
				for _, args := range [][]string{
					{"keys", "create", "--identity", "ada@example.com", "--expires", "90d"},
					{"keys", "list"},
					{"keys", "revoke", "none"},
					{"explain", "listNotes", dir, "--as", "ada"},
					{"secrets", "rotate"},
				} {
					want := 0
					if args[1] == "revoke" {
						want = 1 // the key does not exist
					}
					for range 2 {
						stdout, stderr, code := command{args: args, dir: t.TempDir(), env: env}.run(t)
						if code != want {
							t.Errorf("%v: got exit %d, want %d\n%s%s", args, code, want, stdout, stderr)
						}
					}
				}
			})
		}
	}
}
