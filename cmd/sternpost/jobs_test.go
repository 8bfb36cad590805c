package main_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestJobs starts, lists, cancels and retries runs. No server runs, so they wait.
func TestJobs(t *testing.T) {
	t.Parallel()
	db := built(t, files(t, map[string]string{
		"schema.stern":        "job Close {\n  inputs { month Date? }\n  @permission(expression: true)\n}\n",
		"functions/close.sql": "create function functions.close(month date) returns void language sql volatile security invoker as $$ select $$;\n",
	}))
	url := db.OwnerURL()
	jobs := func(code int, want string, args ...string) (stdout string) {
		t.Helper()
		stdout, stderr, got := command{args: append([]string{"jobs"}, args...), dir: t.TempDir(), env: []string{"DATABASE_URL=" + url}}.run(t)
		if got != code || !strings.Contains(stdout+stderr, want) {
			t.Errorf("jobs %v\n got exit %d\n%s%s\nwant exit %d, %s", args, got, stdout, stderr, code, want)
		}
		return strings.TrimSpace(stdout)
	}
	jobs(1, "the release has no job Clos; it has: Close", "run", "Clos")
	jobs(1, "the inputs: month", "run", "Close", `{"month": 1}`)
	jobs(1, "the inputs: ", "run", "Close", `{`)
	run := jobs(0, "", "run", "Close", `{"month": "2026-11-01"}`)
	if list := jobs(0, run, "list"); !regexp.MustCompile(`Close\s+{"month": "2026-11-01"}\s+waiting\s`).MatchString(list) {
		t.Errorf("got the list\n%s", list)
	}
	jobs(1, "there is no run "+run+", or it has not failed", "retry", run)
	jobs(0, "", "cancel", run)
	jobs(1, "or it has ended", "cancel", run)
	jobs(0, "cancelled", "list")
	url = db.ServerURL()
	jobs(0, "", "retry", run)
	jobs(0, "waiting", "list")
	jobs(0, "", "run", "Close")
}
