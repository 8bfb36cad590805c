package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/sqlgen"
)

// TestWebhookPage runs the receiving program of the page about webhooks, which verifies signatures with npm's
// standardwebhooks, against the application of the page: also while a secret rotates, and after the secret is another.
func TestWebhookPage(t *testing.T) {
	t.Parallel()
	const modules = "clients/webhooks"
	program.Modules(t, modules, "nobody verifies the signatures of webhooks but we")
	files := map[string]string{}
	for _, b := range casetest.Blocks(t, "guide/how-to/webhooks.md") {
		switch {
		case b.Language == "stern":
			files["schema.stern"] = b.Text
		case b.Info != "":
			files[b.Info] = b.Text
		}
	}
	work := t.TempDir()
	installed, err := filepath.Abs(filepath.Join(modules, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(installed, filepath.Join(work, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "warehouse.mjs"), []byte(files["warehouse.mjs"]), 0o644); err != nil {
		t.Fatal(err)
	}
	const present, next = "whsec_" + hookKey, "whsec_bmV4dCBjYW5hcnkga2V5IG9mIGEgd2ViaG9vaw=="
	port := program.FreePort(t)
	var out program.Output
	command := exec.CommandContext(t.Context(), "node", "warehouse.mjs")
	command.Dir, command.Stdout, command.Stderr = work, &out, &out
	command.Env = append(os.Environ(), "PORT="+port, "WAREHOUSE_SECRET="+present)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})

	config := strings.ReplaceAll(files[sqlgen.ConfigName], "localhost:7000", "127.0.0.1:"+port)
	dir := writeProject(t, map[string]string{"schema.stern": files["schema.stern"], sqlgen.ConfigName: config})
	db := installApp(t, dir)
	conn := db.Superuser(t)
	failure := func() (text string) {
		if err := conn.QueryRow(t.Context(), `select coalesce(max(failure), '') from platform.task where kind = 'delivery'`).Scan(&text); err != nil {
			t.Error(err)
		}
		return text
	}
	for _, test := range []struct {
		name, secret, more string
		isDone             func() bool
	}{
		{name: "one secret", secret: present, isDone: func() bool { return out.String() == "pack one secret\n" }},
		{name: "a new one", secret: next, more: "    previousSecrets: [" + present + "]\n", isDone: func() bool { return strings.HasSuffix(out.String(), "pack a new one\n") }},
		{name: "without the old one", secret: next, isDone: func() bool { return failure() == "answered 401: the signature is not valid" }},
	} {
		t.Run(test.name, func(t *testing.T) { // its server ends with it
			if err := os.WriteFile(filepath.Join(dir, sqlgen.ConfigName), []byte(config+test.more), 0o644); err != nil {
				t.Fatal(err)
			}
			a := serveWith(t, db, dir, db.ServerURL(), serving{env: []string{"SUBSCRIBER_SECRET_TELL_WAREHOUSE=" + test.secret}})
			id := a.record(t, "createOrder", `{"number":"`+test.name+`","margin":3}`)
			a.call(t, "payOrder", `{"where":{"id":"`+id+`"}}`)
			for deadline := time.Now().Add(30 * time.Second); !test.isDone(); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("the warehouse says\n%s\nand the failure is %q", out.String(), failure())
				}
			}
		})
	}
}
