package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/encryption"
)

const safeSchema = `model Safe {
  fields {
    name Text @unique
    order Secret?
    code Secret
  }
  actions {
    create createSafe() with (name, order?, code)
  }
  @permission(expression: true, actions: [create])
}
model Note { fields { text Text  key Secret? } }
`

// TestSecretsRotate encrypts the values of a previous key again, more than one transaction
// holds, and leaves all others unchanged.
func TestSecretsRotate(t *testing.T) {
	t.Parallel()
	db := built(t, files(t, map[string]string{"schema.stern": safeSchema}))
	owner := db.Superuser(t)
	oldKey, newKey := encryption.GenerateKey(), encryption.GenerateKey()
	keys := func(key string, previous ...string) *encryption.Keys {
		t.Helper()
		k, err := encryption.New(key, previous)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	const count = 1203
	rows := make([][]any, count)
	for i := range rows {
		rows[i] = []any{fmt.Sprintf("safe %d", i), nil, keys(oldKey).Encrypt(fmt.Sprintf("canary-%d", i))}
		switch i {
		case 5:
			rows[i][1] = keys(oldKey).Encrypt("canary-order")
		case 6, 7:
			rows[i][2] = keys(newKey).Encrypt(fmt.Sprintf("canary-%d", i))
		}
	}
	if _, err := owner.CopyFrom(t.Context(), pgx.Identifier{"app", "safe"}, []string{"name", "order", "code"}, pgx.CopyFromRows(rows)); err != nil {
		t.Fatal(err)
	}
	if _, err := owner.Exec(t.Context(), `insert into platform.auth_totp (identity_id, secret, confirmed_at) values ('ada', $1, now()), ('bo', null, null)`,
		keys(oldKey).Encrypt("canary-app")); err != nil {
		t.Fatal(err)
	}
	state := func() (text string) {
		t.Helper()
		err := owner.QueryRow(t.Context(), `select string_agg(concat_ws(' ', name, "order" is null, updated_at), ', ' order by id) from app.safe`).Scan(&text)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := state()

	env := production(t, db.OwnerURL(), "8080")
	rotate := func(code int, want string, settings ...string) {
		t.Helper()
		stdout, stderr, got := command{args: []string{"secrets", "rotate"}, dir: t.TempDir(), env: append(env[:len(env):len(env)], settings...)}.run(t)
		if got != code || !strings.Contains(stdout+stderr, want) {
			t.Errorf("secrets rotate with %d settings\n got exit %d\n%s%s\nwant exit %d, %s", len(settings), got, stdout, stderr, code, want)
		}
	}
	now, previously := "STERNPOST_ENCRYPTION_KEY="+newKey, "STERNPOST_ENCRYPTION_PREVIOUS_KEYS="+oldKey
	rotate(3, "encryption.key is required")
	rotate(1, ": the value was encrypted with a key that is not configured\nsafe.code: 0 encrypted anew\nnote.key: 0 encrypted anew\n", now)
	rotate(0, "auth_totp.secret: 1 encrypted anew\nsafe.order: 1 encrypted anew\nsafe.code: 1201 encrypted anew\nnote.key: 0 encrypted anew\n", now, previously)
	rotate(0, "safe.order: 0 encrypted anew\nsafe.code: 0 encrypted anew\nnote.key: 0 encrypted anew\n", now)
	rotate(3, "permission denied", now, "DATABASE_URL="+db.ServerURL())

	var app string
	if err := owner.QueryRow(t.Context(), `select secret from platform.auth_totp where identity_id = 'ada'`).Scan(&app); err != nil {
		t.Fatal(err)
	}
	if got, err := keys(newKey).Decrypt(app); err != nil || got != "canary-app" {
		t.Errorf("the secret of an authenticator app is %q, %v", got, err)
	}
	if after := state(); after != before {
		t.Errorf("the rows changed otherwise:\n%.300s\n%.300s", before, after)
	}
	read, err := owner.Query(t.Context(), `select name, coalesce("order", ''), code from app.safe`)
	if err != nil {
		t.Fatal(err)
	}
	var name, order, code string
	seen := 0
	_, err = pgx.ForEachRow(read, []any{&name, &order, &code}, func() error {
		seen++
		if got, err := keys(newKey).Decrypt(code); err != nil || "safe "+strings.TrimPrefix(got, "canary-") != name {
			t.Errorf("%s: the code is %q, %v", name, got, err)
		}
		if got, err := keys(newKey).Decrypt(order); order != "" && (err != nil || got != "canary-order") {
			t.Errorf("%s: the order is %q, %v", name, got, err)
		}
		return nil
	})
	if err != nil || seen != count {
		t.Errorf("read the rows: got %d, %v, want %d", seen, err, count)
	}
	if _, err := owner.Exec(t.Context(), `update app.safe set name = 'touched' where name = 'safe 1'`); err != nil {
		t.Fatal(err)
	}
	if state() == before {
		t.Error("updated_at is not kept any more")
	}
}
