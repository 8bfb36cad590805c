package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// calls of pgbench, from so many connections.
const (
	limitCalls   = 20_000
	limitClients = 4
)

// measureLimit runs the statements written by hand with pgbench: their cost in Postgres alone, without any server. No
// server can cost less.
func (s *stage) measureLimit(b testing.TB) {
	b.Helper()
	program, err := exec.LookPath("pgbench")
	if err != nil {
		s.printf("\nThe limit is not measured: there is no pgbench here.\n")
		return
	}
	s.printf("\nThe limit: CPU µs of Postgres alone per bare statement, prepared, by pgbench with %d clients; beside it the CPU µs of Postgres\n"+
		"for the same request to Sternpost and to the server written by hand.\n", limitClients)
	s.printf("%-42s %8s %8s %8s\n", "", "limit", "ours", "by hand")
	all := comparisons(s.data, s.tokens, "")
	limited := func(from string) string {
		return strings.Replace(handForms["rows"].post.selecting(from), "$1", strconv.Itoa(pageSize+1), 1)
	}
	for _, limit := range []struct {
		name, sql string
		argument  string
	}{
		{"get", handForms["rows"].post.selecting(fromPost), s.data.posts[0]},
		{"list of 20, foreseen: by status", limited(fromPostsByStatus), "Live"},
		{"list of 20, foreseen: by author", limited(fromPostsByAuthor), s.data.authors[0]},
	} {
		for _, c := range all {
			if c.name != limit.name {
				continue
			}
			ours := s.sternpost.load(b, s.backends, c.clients, c.ours, c.answers)
			theirs := s.peers[handRows].load(b, s.backends, c.clients, c.theirs, c.answers)
			s.printf("%-42s %8.1f %8.1f %8.1f\n", limit.name, s.limit(b, program, limit.sql, limit.argument), ours.database, theirs.database)
		}
	}
}

// limit returns the CPU that Postgres needs for a statement, in µs, connections and preparation included.
func (s *stage) limit(b testing.TB, program, sql, argument string) float64 {
	b.Helper()
	script := filepath.Join(b.TempDir(), "statement.sql")
	text := strings.NewReplacer("$1", ":argument", "$2", ":argument", "\n", " ").Replace(strings.TrimSpace(sql)) + ";\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	config, err := pgx.ParseConfig(s.data.handURL)
	if err != nil {
		b.Fatal(err)
	}
	command := exec.Command(program, "-n", "-M", "prepared", "-f", script, "-D", "argument="+argument,
		"-c", strconv.Itoa(limitClients), "-t", strconv.Itoa(limitCalls/limitClients))
	command.Env = append(os.Environ(), "PGHOST="+config.Host, fmt.Sprintf("PGPORT=%d", config.Port),
		"PGUSER="+config.User, "PGOPTIONS=-c plan_cache_mode=force_generic_plan", "PGDATABASE="+config.Database)
	before := endedChildrenCPU(b, s.backends)
	if out, err := command.CombinedOutput(); err != nil {
		b.Fatalf("pgbench: %v\n%s", err, out)
	}
	time.Sleep(200 * time.Millisecond) // until the postmaster has seen its backends end
	return (endedChildrenCPU(b, s.backends) - before).Seconds() * 1e6 / limitCalls
}

// endedChildrenCPU is the CPU time of the ended children of a process (proc(5), cutime and cstime of /proc/PID/stat,
// in hundredths of a second).
func endedChildrenCPU(b testing.TB, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, errUser := strconv.Atoi(fields[13])
	system, errSystem := strconv.Atoi(fields[14])
	if errUser != nil || errSystem != nil {
		b.Fatalf("/proc/%d/stat: %s", pid, text)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
