package sqlgen_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// TestEntering tests that each function sets exactly the settings read in its call: an
// earlier call of the same transaction could have set the others.
func TestEntering(t *testing.T) {
	t.Parallel()
	projects := map[string]*sqlgen.Project{}
	for _, path := range cases(t) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		projects[filepath.Base(path)] = projectOf(archive)
	}
	apps, err := filepath.Glob("../integration/apps/*/sternpost.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range apps {
		if projects[path], err = sqlgen.ReadProject(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
	}
	entered := 0
	for name, project := range projects {
		compiled, _ := sqlgen.Compile(project)
		if compiled == nil {
			continue // only its errors matter
		}
		db := compiled.Database
		for _, f := range db.Functions {
			if strings.Contains(f.Text, "perform platform.enter('custom code', context)") {
				continue // it sets everything
			}
			if isPart(db, f) {
				continue // what it reads is set by the function that calls it
			}
			entered++
			set, read := settingsSet(f.Text), settingsRead(db, f.Text)
			for _, part := range partsOf(db, f) {
				read = sortedOnce(append(read, settingsRead(db, part.Text)...))
			}
			if strings.HasSuffix(f.Name, "__live") {
				read = []string{"identity_id", "token"} // whatever it asks of the caller
			}
			if !slices.Equal(set, read) {
				t.Errorf("%s: api.%s sets %q and reads %q:\n%s", name, f.Name, set, read, f.Text)
			}
		}
	}
	if entered < 100 {
		t.Errorf("only %d functions were looked at", entered)
	}
}

var (
	setting = regexp.MustCompile(`set_config\(\s*'sternpost\.([\w.]+)'`)
	action  = regexp.MustCompile(`set_config\(\s*'sternpost\.action',\s*'(\w+)'`)
	stored  = regexp.MustCompile(`\bapp\.["\w]`)
	written = regexp.MustCompile(`\b(?:insert into|update|delete from) app\.["\w]`)
	picked  = regexp.MustCompile(`' from app\.["\w]`) // a statement that begins in a declaration

	// readers are the functions that read settings, with those settings; $1 is the name that
	// they get.
	readers = []struct {
		call  *regexp.Regexp
		reads string
	}{
		{regexp.MustCompile(`platform\.(?:identity_id|require_caller|refuse|refuse_or_miss|refuse_or_nothing|require_valid)\(`), "identity_id"},
		{regexp.MustCompile(`platform\.(?:require_caller|refuse|refuse_or_miss|refuse_or_nothing|require_valid)\(|related\.caller__roles`), "token"},
		{regexp.MustCompile(`platform\.(?:time_zone|current_period)\(`), "time_zone"},
		{regexp.MustCompile(`": \["(?:Date|Timestamp)\??",`), "time_zone"}, // a field that platform.filter_sql compares with periods
		{regexp.MustCompile(`platform\.header\(\s*'(\w+)'`), "headers.$1"},
		{regexp.MustCompile(`platform\.environment\(\s*'(\w+)'`), "env.$1"},
		{regexp.MustCompile(`platform\.secret\(\s*'(\w+)'`), "secrets.$1"},
		{regexp.MustCompile(`platform\.input\(\s*'(\w+)'`), "inputs.$1"},
	}
)

// reaches tells whether a function calls another one.
func reaches(f, other *pg.Function) bool {
	return f != other && strings.Contains(f.Text[strings.Index(f.Text, "as $"):], "api."+pg.Ident(other.Name)+"(")
}

func isPart(db *pg.Database, f *pg.Function) bool {
	return slices.ContainsFunc(db.Functions, func(other *pg.Function) bool { return reaches(other, f) })
}

// partsOf are the functions that a function calls, and those that they call.
func partsOf(db *pg.Database, f *pg.Function) []*pg.Function {
	var parts []*pg.Function
	for _, other := range db.Functions {
		if reaches(f, other) {
			parts = append(append(parts, other), partsOf(db, other)...)
		}
	}
	return parts
}

// settingsSet are the settings of the call that a function sets, except those of a page that
// it leaves to the server.
func settingsSet(text string) []string {
	var names []string
	for _, m := range setting.FindAllStringSubmatch(text, -1) {
		if m[1] != "page" {
			names = append(names, m[1])
		}
	}
	return sortedOnce(names)
}

// settingsRead are the settings that a function reads, or that policies read for it.
func settingsRead(db *pg.Database, text string) []string {
	var names []string
	read := func(text string) {
		for _, r := range readers {
			for _, m := range r.call.FindAllStringSubmatchIndex(text, -1) {
				names = append(names, string(r.call.ExpandString(nil, r.reads, text, m)))
			}
		}
	}
	body := text[strings.Index(text, "as $"):]
	read(body)
	if statements := body[max(0, strings.Index(body, "\nbegin\n")):]; stored.MatchString(statements) || picked.MatchString(body) {
		names = append(names, "action")
	}
	// A trigger of any table, such as one that computes a value, may write a table of which somebody is told.
	if written.MatchString(body) && slices.ContainsFunc(db.Tables, isTold) {
		names = append(names, "identity_id", "origin", "request_id")
	}
	entered := action.FindStringSubmatch(text)
	for _, table := range db.Tables {
		for _, policy := range table.Policies {
			for _, branch := range policy.Branches {
				if entered != nil && branch.When != nil && strings.Contains(emit.Expr(branch.When), pg.Quote(entered[1])) {
					read(emit.Expr(branch.Condition))
				}
			}
		}
	}
	return sortedOnce(names)
}

// isTold tells whether changes of a table are written down, with the call that made them. Live answers do not ask for it.
func isTold(table *pg.Table) bool {
	return slices.ContainsFunc(table.Triggers, func(t *pg.Trigger) bool {
		return t.Function == "platform.tg_change" && t.Name != "_600_live" && t.Name != "_610_truncate"
	})
}

func sortedOnce(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
