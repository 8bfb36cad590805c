package integration

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

var liveFor = flag.Duration("live", 0, "how long TestLiveDifferential writes at random; 0 means a fixed number of writes")

// madeLive makes all gets and lists of a schema live.
func madeLive(schema string) string {
	bare := regexp.MustCompile(`(?m)^(\s+(?:get|list) \w+\([^)]*\))$`)
	block := regexp.MustCompile(`(?m)^(\s+(?:get|list) \w+\([^)]*\) \{)(.*)$`)
	schema = bare.ReplaceAllString(schema, "$1 { @live }")
	return block.ReplaceAllStringFunc(schema, func(line string) string {
		if strings.Contains(line, "@live") {
			return line
		}
		return block.ReplaceAllString(line, "$1 @live$2")
	})
}

// TestLiveDifferential writes at random by SQL and by actions, while callers follow random answers. When nothing is
// written for a while, each stream has the answer of the same call.
func TestLiveDifferential(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"clinic", "ledger", "workshop"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for _, pattern := range []string{"*.stern", "functions/*", "sternpost.yaml"} {
				paths, _ := filepath.Glob(filepath.Join(appDir(name), pattern))
				for _, path := range paths {
					text, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					within, _ := filepath.Rel(appDir(name), path)
					files[within] = madeLive(string(text))
				}
			}
			dir := writeProject(t, files)
			compiled, err := compile(dir)
			if err != nil {
				t.Fatal(err)
			}
			db := installApp(t, dir)
			a := serveWith(t, db, dir, db.ServerURL(), serving{env: []string{"STERNPOST_LIVE_MAX_STREAMS_PER_CALLER=1000"}})
			seed := uint64(1)
			if *liveFor > 0 {
				seed = rand.Uint64()
			}
			t.Logf("seed %d", seed)
			d := &liveDifference{t: t, app: a, rand: rand.New(rand.NewPCG(seed, 1)), conn: db.Superuser(t), schema: compiled.Schema, manifest: compiled.Manifest}
			d.seed(name)
			until := time.Now().Add(*liveFor)
			for round := 0; round < 4 || time.Now().Before(until); round++ {
				for len(d.following) < 40 {
					d.follow()
				}
				for range 40 {
					d.write()
				}
				d.compare()
				for _, f := range d.following[:10] {
					f.stream.close()
				}
				d.following = slices.Clone(d.following[10:])
				if t.Failed() {
					return
				}
			}
			t.Logf("%d writes, %d answers compared", d.writes, d.compared)
		})
	}
}

// liveDifference writes, follows and compares.
type liveDifference struct {
	t                *testing.T
	app              *app
	rand             *rand.Rand
	conn             *pgx.Conn
	schema           *model.Schema
	manifest         *release.Manifest
	identities       []string
	following        []*followed
	writes, compared int
}

// followed is one query of one stream.
type followed struct {
	stream        *liveStream
	header        http.Header
	action, input string
	caller        string
}

func (d *liveDifference) seed(app string) {
	text, err := os.ReadFile(filepath.Join(appDir(app), "seed", app+".json"))
	if err != nil {
		d.t.Fatal(err)
	}
	var seeds struct {
		Identities []struct{ ID, Email string }
		Rows       map[string][]map[string]any
	}
	if err := json.Unmarshal(text, &seeds); err != nil {
		d.t.Fatal(err)
	}
	seeds.Identities = append(seeds.Identities, struct{ ID, Email string }{"stranger", "stranger@example.com"})
	for _, i := range seeds.Identities {
		if _, err := d.conn.Exec(d.t.Context(), "insert into app.identity (id, email, email_verified) values ($1, $2, true)", i.ID, i.Email); err != nil {
			d.t.Fatal(err)
		}
		d.identities = append(d.identities, i.ID)
	}
	for left := true; left; { // references may point anywhere
		left = false
		isStuck := true
		for _, m := range d.schema.Models {
			var again []map[string]any
			for _, row := range seeds.Rows[m.Name] {
				columns := map[string]any{}
				var names []string
				for field, value := range row {
					columns[model.SnakeForm(field)] = value
					names = append(names, pgx.Identifier{model.SnakeForm(field)}.Sanitize())
				}
				document, _ := json.Marshal(columns)
				list, table := strings.Join(names, ", "), pgx.Identifier{"app", m.Table}.Sanitize()
				_, err := d.conn.Exec(d.t.Context(), fmt.Sprintf("insert into %s (%s) select %s from jsonb_populate_record(null::%s, $1)", table, list, list, table), document)
				if err != nil {
					again, left = append(again, row), true
					continue
				}
				isStuck = false
			}
			seeds.Rows[m.Name] = again
		}
		if left && isStuck {
			d.t.Fatalf("rows that cannot be inserted: %v", seeds.Rows)
		}
	}
}

// value returns some value of a column, as text; none if the table is empty.
func (d *liveDifference) value(table, column string) (text string, ok bool) {
	statement := fmt.Sprintf("select %s::text from %s where %[1]s is not null order by random() limit 1", pgx.Identifier{column}.Sanitize(), pgx.Identifier{"app", table}.Sanitize())
	return text, d.conn.QueryRow(d.t.Context(), statement).Scan(&text) == nil
}

// follow opens a stream of a random caller for a random answer.
func (d *liveDifference) follow() {
	var live []*release.Action
	for _, a := range d.manifest.Actions {
		if a.Live != nil {
			live = append(live, a)
		}
	}
	a := live[d.rand.IntN(len(live))]
	input := map[string]any{}
	for _, w := range a.Live.Rows {
		m := d.model(w.Model)
		for _, set := range w.Keys {
			if len(set) != 1 || set[0].Input == "" || w.Model != a.Model || a.Kind == release.List && d.rand.IntN(2) == 0 {
				continue
			}
			text, ok := d.value(m.Table, set[0].Column)
			if !ok {
				continue
			}
			var value any = text
			for _, f := range m.Stored() {
				if f.Column == set[0].Column && (f.Type.Kind == expr.Number || f.Type.Kind == expr.Boolean) {
					value = json.RawMessage(text)
				}
			}
			at, steps := input, strings.Split(set[0].Input, ".")
			for _, step := range steps[:len(steps)-1] {
				next, _ := at[step].(map[string]any)
				if next == nil {
					next = map[string]any{}
					at[step] = next
				}
				at = next
			}
			at[steps[len(steps)-1]] = value
		}
	}
	if a.Kind == release.List && d.rand.IntN(2) == 0 {
		input["first"] = 1 + d.rand.IntN(5)
	}
	body, _ := json.Marshal(input)
	f := &followed{action: a.Name, input: string(body)}
	if i := d.rand.IntN(len(d.identities) + 1); i < len(d.identities) {
		f.caller = d.identities[i]
	}
	f.header = d.app.as(d.t, f.caller)
	stream, response := d.app.tryFollow(d.t, f.header.Clone(), liveQuery(f.action, f.input))
	if stream == nil {
		if response.StatusCode >= 500 {
			d.t.Fatalf("%s %s: got %d", f.action, f.input, response.StatusCode)
		}
		return // without an input that it needs
	}
	f.stream = stream
	d.following = append(d.following, f)
}

func (d *liveDifference) model(name string) *model.Model {
	return d.schema.Models[slices.IndexFunc(d.schema.Models, func(m *model.Model) bool { return m.Name == name })]
}

// write writes something, or tries to: in a transaction of one to three statements that may end with a rollback.
func (d *liveDifference) write() {
	d.writes++
	if d.rand.IntN(8) == 0 {
		d.callSomething()
		return
	}
	tx, err := d.conn.Begin(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	for range 1 + d.rand.IntN(3) {
		statement := d.statement()
		_ = pgx.BeginFunc(d.t.Context(), tx, func(tx pgx.Tx) error { // a savepoint
			_, err := tx.Exec(d.t.Context(), statement)
			return err
		})
	}
	if d.rand.IntN(10) == 0 {
		_ = tx.Rollback(d.t.Context())
	} else {
		_ = tx.Commit(d.t.Context())
	}
}

// callSomething makes a random call of an action that finds a row by its id alone.
func (d *liveDifference) callSomething() {
	a := d.manifest.Actions[d.rand.IntN(len(d.manifest.Actions))]
	if a.Kind != release.Delete || a.Model == "Identity" {
		return
	}
	id, _ := d.value(d.model(a.Model).Table, "id")
	d.app.send(d.t, "POST", "/api/json/"+a.Name, d.app.as(d.t, d.identities[d.rand.IntN(len(d.identities))]), fmt.Sprintf(`{"id":%q}`, id))
}

func (d *liveDifference) statement() string {
	m := d.schema.Models[d.rand.IntN(len(d.schema.Models))]
	table := pgx.Identifier{"app", m.Table}.Sanitize()
	some := func(column, from string) string {
		return fmt.Sprintf("(select %s from %s order by random() limit 1)", column, from)
	}
	if m.IsIdentity {
		emails := []string{"null", "'nobody@example.com'"}
		for _, r := range d.schema.Roles {
			for _, e := range r.Emails {
				emails = append(emails, "'"+e+"'")
			}
			for _, domain := range r.Domains {
				emails = append(emails, "'somebody@"+domain+"'")
			}
		}
		return fmt.Sprintf("update app.identity set email = %s, email_verified = random() < 0.8, issuer = 'a' where id = %s", emails[d.rand.IntN(len(emails))], some("id", table))
	}
	var fields []*model.Field
	for _, f := range m.Stored() {
		if !f.BuiltIn && f.Computed == nil && f.Sequence == nil && !f.Type.Kind.IsWriteOnly() {
			fields = append(fields, f)
		}
	}
	value := func(f *model.Field) string {
		column := pgx.Identifier{f.Column}.Sanitize()
		switch {
		case f.FKOf != nil && f.Optional && d.rand.IntN(4) == 0:
			return "null"
		case f.FKOf != nil:
			return some("id", pgx.Identifier{"app", f.FKOf.Target.Table}.Sanitize())
		case f.Type.Kind == expr.Text || f.Type.Kind == expr.ID:
			if f.Unique || f.Type.Kind == expr.ID {
				return "'t' || substr(md5(random()::text), 1, 8)"
			}
		case f.Type.Kind == expr.Boolean && !f.Type.Array:
			return "random() < 0.5"
		}
		return some(column, table)
	}
	switch n := d.rand.IntN(20); {
	case n < 3:
		return fmt.Sprintf("delete from %s where id = %s", table, some("id", table))
	case n < 12 && len(fields) > 0:
		f := fields[d.rand.IntN(len(fields))]
		return fmt.Sprintf("update %s set %s = %s where id = %s", table, pgx.Identifier{f.Column}.Sanitize(), value(f), some("id", table))
	}
	columns, values := []string{}, []string{}
	for _, f := range fields {
		columns, values = append(columns, pgx.Identifier{f.Column}.Sanitize()), append(values, value(f))
	}
	return fmt.Sprintf("insert into %s (%s) values (%s)", table, strings.Join(columns, ", "), strings.Join(values, ", "))
}

// compare compares what the streams have with what the calls answer, once nothing comes any more.
func (d *liveDifference) compare() {
	for _, f := range d.following {
		d.compared++
		var got, want any
		isEqual := false
		for deadline := time.Now().Add(15 * time.Second); !isEqual && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			_, text := d.app.send(d.t, "POST", "/api/json/"+f.action, f.header.Clone(), f.input)
			want = nil
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				d.t.Fatal(err)
			}
			if refused, ok := want.(map[string]any); ok && refused["code"] != nil && refused["message"] != nil {
				want = refused["code"]
			}
			f.stream.mutex.Lock()
			got = f.stream.answers[0]
			f.stream.mutex.Unlock()
			isEqual = reflect.DeepEqual(got, want)
		}
		if !isEqual {
			d.t.Errorf("%s as %q of %s: the stream has\n%v\nthe call answers\n%v", f.action, f.caller, f.input, got, want)
		}
	}
}
