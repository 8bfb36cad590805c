package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeEngine answers as docker does. It notes its arguments, a call a line.
const fakeEngine = `#!/bin/sh
echo "$@" >>"$(dirname "$0")/calls"
case $1 in
port) printf '127.0.0.1:49153\n[::1]:49153\n' ;;
ps) cat "$(dirname "$0")/containers" ;;
image) [ "$3" = known ] || exit 1 ;;
run) case "$*" in *broken*) echo "no such image" >&2; exit 125 ;; esac; echo 0123456789ab ;;
esac
`

// TestContainer runs containers with another program in place of the engine.
func TestContainer(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	ours := "sternpost-test-" + host + "-"
	dead, alive := ours+"4194304000-A", fmt.Sprintf("%s%d-B", ours, os.Getpid())
	for name, text := range map[string]string{"docker": fakeEngine, "containers": dead + "\n" + alive + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	name := Engine(t.Context())
	if name != "docker" || !HasImage(t.Context(), name, "known") || HasImage(t.Context(), name, "unknown") {
		t.Fatalf("the engine %q has not only the known image", name)
	}
	address, stop, err := StartContainer(t.Context(), name, "5432", "--env", "A=b c", "postgres:17")
	if err != nil || address != "127.0.0.1:49153" {
		t.Fatalf("got %q, %v", address, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"rm --force --volumes " + dead + "\n", "--publish 127.0.0.1::5432 --env A=b c postgres:17\n"} {
		if !strings.Contains(string(calls), want) {
			t.Errorf("missing: %s\nof:\n%s", want, calls)
		}
	}
	if removed := strings.Count(string(calls), "\nrm "); removed != 2 || strings.Contains(string(calls), "rm --force --volumes "+alive) {
		t.Errorf("%d containers are removed, want the dead one and that of the test:\n%s", removed, calls)
	}
	if _, _, err := StartContainer(t.Context(), name, "5432", "broken"); err == nil || !strings.Contains(err.Error(), "docker run: exit status 125: no such image") {
		t.Errorf("a container that does not start: %v", err)
	}
}
