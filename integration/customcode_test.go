package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestCodeSwap installs newer custom code below a server that answers requests: no
// request fails meanwhile, and those that come later get the newer answer.
func TestCodeSwap(t *testing.T) {
	t.Parallel()
	code := func(version int) string {
		return fmt.Sprintf("create function functions.version() returns jsonb language sql stable as 'select to_jsonb(%d)';\n"+
			"create function functions.bump(by bigint) returns jsonb language plpgsql volatile as $$\nbegin\n"+
			"  return to_jsonb(%d * bump.by);\nend;\n$$;\n", version, version)
	}
	dir := writeProject(t, map[string]string{
		"schema.stern": `
model Note {
  actions {
    read version() returns (Any)
    write bump(by: Number) returns (Any)
  }
  @permission(expression: true, actions: [read, write])
}
`,
		"functions/version.sql": code(1),
		"functions/bump.sql":    "-- in version.sql\n",
	})
	a := serveApp(t, dir)
	a.await(t, "version", `{}`, `1`)

	var stop atomic.Bool
	var mu sync.Mutex
	var faults []string
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for i := 0; !stop.Load(); i++ {
				action, body := "version", `{}`
				if i%2 == 1 {
					action, body = "bump", `{"by":1}`
				}
				response, got, err := a.try(t.Context(), "POST", "/api/json/"+action, nil, body)
				if err != nil || response.StatusCode != 200 {
					mu.Lock()
					faults = append(faults, fmt.Sprintf("%s: %v %s", action, err, got))
					mu.Unlock()
				}
			}
		})
	}
	const versions = 15
	for version := 2; version <= versions; version++ {
		if err := os.WriteFile(filepath.Join(dir, "functions", "version.sql"), []byte(code(version)), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := reinstall(t, a.db, dir); got.Release != int64(version) {
			t.Errorf("version %d: got %+v", version, got)
		}
		a.await(t, "version", `{}`, fmt.Sprint(version))
	}
	stop.Store(true)
	clients.Wait()
	slices.Sort(faults)
	if faults = slices.Compact(faults); len(faults) > 0 {
		t.Errorf("while code was replaced:\n%s", strings.Join(faults, "\n"))
	}
	a.await(t, "bump", `{"by":2}`, fmt.Sprint(2*versions))
}

// leaving is a project whose code hides its settings from the compiler: it builds their
// names at run time.
var leaving = map[string]string{
	"schema.stern": `
model Note {
  fields { text Text  owner Identity }
  actions {
    list allNotes() { @permission(expression: true) }
    read count() returns (Any)
    read session() returns (Any)
    write enterAnother(how: Text) returns (Any)
    write set(name: Text, value: Text) returns (Any)
    create addNote() with (text, owner.id)
  }
  @permission(expression: note.owner == ctx.identity, actions: [get, list])
  @permission(expression: true, actions: [create, read, write])
}
`,
	"functions/count.sql": `
create function functions.seen() returns bigint language plpgsql stable as $$
begin
  return (select count(*) from app.note);
end;
$$;
create function functions.count() returns jsonb language plpgsql stable as 'begin return to_jsonb(functions.seen()); end';
`,
	"functions/session.sql": `
create function functions.session() returns jsonb language sql stable as $$
  select jsonb_build_array(
    current_setting('default_transaction_read_only'), current_setting('TimeZone'), current_setting('statement_timeout'),
    current_setting('my.own', true)
  );
$$;
`,
	"functions/enterAnother.sql": `
create function functions.enter_another(how text) returns jsonb language plpgsql volatile as $$
declare
  v_entered text := current_setting('stern' || 'post.action');
  v_seen bigint := 0;
begin
  execute format('select %s(%L, %L, true)', 'set_' || 'config', 'stern' || 'post.action', 'allNotes');
  for i in 1..10 loop -- often enough for any plan to be kept
    v_seen := v_seen + functions.seen();
  end loop;
  case how
    when 'fails' then raise exception 'no more' using errcode = 'SP409';
    when 'hides' then execute format('select %s(%L, %L, true)', 'set_' || 'config', 'stern' || 'post.action', v_entered);
    else null;
  end case;
  return to_jsonb(v_seen);
end;
$$;
`,
	"functions/set.sql": `
create function functions.set(name text, value text) returns jsonb language plpgsql volatile as $$
begin
  execute format('set session %s = %L', name, value);
  return '"set"';
end;
$$;
`,
}

// TestCodeLeavesNothing tests that a call of custom code leaves nothing to the next one on
// its connection: no plan for another action, and no setting.
func TestCodeLeavesNothing(t *testing.T) {
	t.Parallel()
	leavesNothing(t, func(databaseURL string) string { return databaseURL })
}

// leavesNothing is that test, with a given route to the database.
func leavesNothing(t *testing.T, through func(databaseURL string) string) {
	dir := writeProject(t, leaving)
	db := installApp(t, dir)
	if _, err := db.Superuser(t).Exec(t.Context(), `
		insert into app.identity (id) values ('ann');
		insert into app.note (text, owner_id) values ('one', 'ann'), ('two', 'ann')`); err != nil {
		t.Fatal(err)
	}
	// One connection, which the calls use in turn.
	a := serveWith(t, db, dir, through(db.ServerURL()), serving{env: []string{"STERNPOST_DATABASE_POOL_SIZE=1"}})
	ask := func(action, body string) string {
		t.Helper()
		response, got := a.send(t, "POST", "/api/json/"+action, nil, body)
		return fmt.Sprintf("%d %s", response.StatusCode, got)
	}
	fresh := ask("session", `{}`)
	for _, c := range []struct{ what, action, body, want string }{
		{"another action, and back", "enterAnother", `{"how":"hides"}`, "200 0"}, // the first statement of all, for which there is no plan yet
		{"another action", "enterAnother", `{"how":"returns"}`, "500"},
		{"another action, and a refusal", "enterAnother", `{"how":"fails"}`, "409"},
		{"read only", "set", `{"name":"default_transaction_read_only","value":"on"}`, "200"},
		{"a time zone", "set", `{"name":"TimeZone","value":"Asia/Tokyo"}`, "200"},
		{"no limit", "set", `{"name":"statement_timeout","value":"0"}`, "200"},
		{"a setting of its own", "set", `{"name":"my.own","value":"x"}`, "200"},
	} {
		if got := ask(c.action, c.body); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
		if got := ask("count", `{}`); got != "200 0" {
			t.Errorf("after %s, a stranger sees %s notes, want none", c.what, got)
		}
		if got := ask("session", `{}`); got != strings.Replace(fresh, "null", `""`, 1) && got != fresh {
			t.Errorf("after %s, the session has %s, want %s", c.what, got, fresh)
		}
		if got := ask("addNote", `{"text":"x","owner":{"id":"ann"}}`); !strings.HasPrefix(got, "200") {
			t.Errorf("after %s, a create answers %s", c.what, got)
		}
	}
}
