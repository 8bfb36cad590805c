package main_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestKeys makes, lists and revokes keys.
func TestKeys(t *testing.T) {
	t.Parallel()
	db := built(t, files(t, map[string]string{"schema.stern": noteSchema}))
	_, err := db.Superuser(t).Exec(t.Context(), `insert into app.identity (id, email, issuer) values
		('ada', 'ada@example.com', 'a'), ('eve', 'eve@example.com', 'a'), ('eve2', 'eve@example.com', 'b')`)
	if err != nil {
		t.Fatal(err)
	}
	keys := func(code int, want string, args ...string) (stdout string) {
		t.Helper()
		stdout, stderr, got := command{args: append([]string{"keys"}, args...), dir: t.TempDir(), env: []string{"DATABASE_URL=" + db.OwnerURL()}}.run(t)
		if got != code || !strings.Contains(stdout+stderr, want) {
			t.Errorf("keys %v\n got exit %d\n%s%s\nwant exit %d, %s", args, got, stdout, stderr, code, want)
		}
		return stdout
	}
	today := time.Now().UTC().Format(time.DateOnly)
	keys(2, "--identity and --expires are required", "create", "--identity", "ada")
	keys(2, `"soon" is neither a number of days such as 90d nor a date`, "create", "--identity", "ada", "--expires", "soon")
	keys(2, "2020-01-31 is in the past", "create", "--identity", "ada", "--expires", "2020-01-31")
	keys(1, "no identity has this id or e-mail address", "create", "--identity", "bob@example.com", "--expires", "90d")
	keys(1, "several identities have this e-mail address", "create", "--identity", "eve@example.com", "--expires", "90d")

	key := keys(0, "of identity ada, until", "create", "--identity", "Ada@Example.com", "--expires", "90d")
	if !regexp.MustCompile(`^sternpost_[A-Za-z0-9_-]{43}\n$`).MatchString(key) {
		t.Errorf("got the key %q", key)
	}
	keys(0, "of identity eve2, until", "create", "--identity", "eve2", "--expires", today)

	list := keys(0, "ada@example.com", "list")
	rows := regexp.MustCompile(`(?m)^(\S+)\s+(\S+)\s+\S+@example.com\s+`+today+`\s+\S+Z\s+valid$`).FindAllStringSubmatch(list, -1)
	if len(rows) != 2 || strings.Contains(list, strings.TrimSpace(key)) {
		t.Fatalf("got the list\n%s", list)
	}
	keys(0, "", "revoke", rows[0][1])
	keys(1, "no key "+rows[0][1]+" can be revoked", "revoke", rows[0][1])
	keys(0, "revoked", "list")
	stdout, stderr, code := command{args: []string{"keys", "create", "--identity", "ada", "--expires", "1d"}, dir: t.TempDir(), env: []string{"DATABASE_URL=" + db.ServerURL()}}.run(t)
	if code != 3 || !strings.Contains(stderr, "permission denied") {
		t.Errorf("as the login of a server: got exit %d\n%s%s", code, stdout, stderr)
	}
}
