package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
)

func TestLab(t *testing.T) {
	database, err := postgres.Start(context.Background(), postgres.Options{Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	defer database.Stop()
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, database.URL())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "app.stern"), []byte(manyModels(100)), 0o600)
	n := 9
	times := map[string][]float64{}
	var order []string
	round := 0
	note := func(name string, since time.Time) time.Time {
		if _, ok := times[name]; !ok {
			order = append(order, name)
		}
		for len(times[name]) < round+1 {
			times[name] = append(times[name], 0)
		}
		times[name][round] += float64(time.Since(since).Microseconds()) / 1000
		return time.Now()
	}
	if p := os.Getenv("LABPROF"); p != "" {
		f, _ := os.Create(p)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	for i := range n {
		name := fmt.Sprintf("lab%d", i)
		round = i
		admin.Exec(ctx, "create database "+name)
		config, _ := pgx.ParseConfig(database.URL())
		config.Database = name
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		at := began
		p, err := sqlgen.ReadProject(dir)
		if err != nil {
			t.Fatal(err)
		}
		compiled, errs := sqlgen.Compile(p)
		if errs.HasErrors() {
			t.Fatal(errs)
		}
		at = note("compile", at)
		release := compiled.Release()
		at = note("release (manifest text)", at)
		pb := func() float64 {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", conn.PgConn().PID()))
			var ns float64
			fmt.Sscan(string(b), &ns)
			return ns / 1e6
		}
		p0 := pb()
		if err := sql.Migrate(ctx, conn); err != nil {
			t.Fatal(err)
		}
		at = note("platform", at)
		if _, ok := times["cpu platform backend"]; !ok {
			order = append(order, "cpu platform backend")
		}
		times["cpu platform backend"] = append(times["cpu platform backend"], pb()-p0)
		if os.Getenv("LABKINDS") != "" {
			plan := diff.Between(nil, release.Database, diff.Options{})
			at = note("diff", at)
			statements := emit.Plan(plan)
			at = note("emit", at)
			conn.Exec(ctx, "begin")
			var texts []string
			kind := ""
			flush := func() {
				at = time.Now()
				if len(texts) > 0 {
					r := conn.PgConn().Exec(ctx, strings.Join(texts, "\n"))
					for r.NextResult() {
						if _, err := r.ResultReader().Close(); err != nil {
							t.Fatal(err)
						}
					}
					if err := r.Close(); err != nil {
						t.Fatal(err)
					}
					note(kind, at)
				}
				texts = nil
			}
			for _, s := range statements {
				text := s.Text
				for strings.HasPrefix(text, "--") {
					_, text, _ = strings.Cut(text, "\n")
				}
				words := strings.Fields(text)
				k := strings.Join(words[:2], " ")
				if words[0] == "alter" || words[0] == "comment" {
					k += " " + words[3]
				}
				if words[0] == "grant" {
					k = "grant"
				}
				if words[0] == "create" && words[1] == "policy" {
					k = "policy"
				}
				if words[0] == "alter" && words[1] == "table" {
					k = "alter table " + words[3] + " " + words[4]
				}
				if words[0] == "comment" {
					k = "comment " + words[2]
				}
				if k != kind {
					flush()
				}
				kind = k
				texts = append(texts, s.Text)
			}
			flush()
			at = time.Now()
			desc := release.Database.Description()
			at = note("description", at)
			var num int64
			if err := conn.QueryRow(ctx, "select platform.install_release($1, $2, $3)", release.Source, string(release.Manifest), string(desc)).Scan(&num); err != nil {
				t.Fatal(err)
			}
			at = note("install_release", at)
			conn.Exec(ctx, "commit")
			at = note("commit", at)
		} else {
			backend := func() float64 {
				b, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", conn.PgConn().PID()))
				if err != nil {
					t.Fatal(err)
				}
				var ns float64
				fmt.Sscan(string(b), &ns)
				return ns / 1e6
			}
			self := func() float64 {
				var u syscall.Rusage
				syscall.Getrusage(syscall.RUSAGE_SELF, &u)
				return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
			}
			add := func(name string, v float64) {
				if _, ok := times[name]; !ok {
					order = append(order, name)
				}
				times[name] = append(times[name], v)
			}
			b0, s0 := backend(), self()
			if _, err := install.Install(ctx, conn, release); err != nil {
				t.Fatal(err)
			}
			at = note("install", at)
			note("TOTAL", began)
			add("cpu install backend", backend()-b0)
			add("cpu install self", self()-s0)
			at = time.Now()
			b0, s0 = backend(), self()
			p, _ := sqlgen.ReadProject(dir)
			compiled, _ := sqlgen.Compile(p)
			at = note("unchanged: compile", at)
			release := compiled.Release()
			add("cpu compile", self()-s0)
			s0 = self()
			if _, err := install.Install(ctx, conn, release); err != nil {
				t.Fatal(err)
			}
			at = note("unchanged: install", at)
			add("cpu unchanged install backend", backend()-b0)
			add("cpu unchanged install self", self()-s0)
		}
		conn.Close(ctx)
		admin.Exec(ctx, "drop database "+name)
	}
	for _, k := range order {
		l := slices.Clone(times[k])
		slices.Sort(l)
		fmt.Printf("%-40s min %8.1f median %8.1f  max %8.1f (%d)\n", k, l[0], l[len(l)/2], l[len(l)-1], len(l))
	}
}
