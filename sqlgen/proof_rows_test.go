package sqlgen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// aLiteral is a value for a column, as SQL. Many rows, types and samples of requests have
// it in common.
func (s *schemaText) aLiteral(t *pg.Table, c *pg.Column) string {
	if at := slices.IndexFunc(t.References, func(r *pg.Reference) bool { return r.Column == c.Name }); at >= 0 {
		if t.References[at].Table == "identity" {
			return choice(s, []string{"'me'", "'me'", "'sample'", "'other'"})
		}
		return choice(s, []string{"'sample'", "'sample'", "'r1'", "'r2'", "'r3'"})
	}
	element, isArray := bare(c.Type)
	one := func() string {
		if len(c.Values) > 0 {
			return pg.Quote(choice(s, c.Values))
		}
		switch element {
		case "text":
			return choice(s, []string{"'sample'", "'sample'", "'a'", "''", "'7'", "'-1.5'", "'true'", "'2027-03-01'", "'2027-03-01T09:00:00.000Z'", "'PT1H'", "'Open'", "'it''s {{ . }}'", "'007'", "'N-0004'", "'20000'"})
		case "bigint":
			return choice(s, []string{"7", "0", "1", "-1", "9007199254740991"})
		case "numeric":
			return choice(s, []string{"7.25", "0", "1", "-1.5", "1000", "7"})
		case "boolean":
			return choice(s, []string{"true", "false"})
		case "timestamptz(3)":
			return choice(s, []string{"'2027-03-01T09:00:00Z'", "'2027-03-01T00:00:00Z'", "'2020-02-29T23:59:59.999Z'"})
		case "date":
			return choice(s, []string{"'2027-03-01'", "'2020-02-29'"})
		case "interval":
			return choice(s, []string{"'PT1H'", "'P1M'", "'P3D'"})
		case "jsonb":
			return `'{"key":"sample","filename":"sample","contentType":"text/plain","size":1}'`
		case "real[]":
			return "'{1,2,3}'"
		}
		panic("no value of type " + c.Type)
	}
	if !isArray {
		return one()
	}
	var list []string
	for range s.IntN(3) {
		list = append(list, one())
	}
	return "array[" + strings.Join(list, ", ") + "]::" + strings.TrimSuffix(c.Type, ` collate "C"`)
}

// fill adds rows through plain SQL, as many as the tables admit. A row that a constraint
// does not admit is left out.
func (s *schemaText) fill(t testing.TB, conn *pgx.Conn, db *pg.Database) {
	t.Helper()
	var b strings.Builder
	b.WriteString("do $fill$ begin\n")
	for range 2 {
		for _, table := range db.Tables {
			if table.Name == "identity" {
				continue // see people
			}
			for _, id := range []string{"sample", "r1", "r2", "r3"} {
				names, values := []string{"id"}, []string{pg.Quote(id)}
				for _, c := range table.Columns {
					if slices.Contains([]string{"id", "created_at", "updated_at"}, c.Name) || !c.NotNull && s.chance(25) || c.Default != "" && s.chance(30) {
						continue
					}
					names, values = append(names, pg.Ident(c.Name)), append(values, s.aLiteral(table, c))
				}
				fmt.Fprintf(&b, "begin insert into %s (%s) values (%s) on conflict do nothing;\nexception when integrity_constraint_violation then null; end;\n",
					pg.Qualified(table.Schema, table.Name), strings.Join(names, ", "), strings.Join(values, ", "))
			}
		}
	}
	b.WriteString("end $fill$")
	if _, err := conn.Exec(t.Context(), b.String()); err != nil {
		t.Fatalf("fill the tables: %v", err)
	}
}

// people enters those who call, and the file that rows name.
func people(t testing.TB, conn *pgx.Conn) {
	t.Helper()
	_, err := conn.Exec(t.Context(), `insert into app.identity (id, email) values ('me', 'a@x.example'), ('sample', 'sample'), ('other', null);
		insert into platform.file (key) values ('sample')`)
	if err != nil {
		t.Fatal(err)
	}
}

// readRows reads all rows.
func readRows(t testing.TB, conn *pgx.Conn, db *pg.Database) storedRows {
	t.Helper()
	got := storedRows{}
	var queries []string
	for _, table := range db.Tables {
		got[table.Name] = map[string]map[string]any{}
		queries = append(queries, fmt.Sprintf("select %s, to_jsonb(t)::text from %s as t", pg.Quote(table.Name), pg.Qualified(table.Schema, table.Name)))
	}
	rows, err := conn.Query(t.Context(), strings.Join(queries, " union all "))
	if err != nil {
		t.Fatal(err)
	}
	var table, text string
	_, err = pgx.ForEachRow(rows, []any{&table, &text}, func() error {
		row := map[string]any{}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&row); err != nil {
			return err
		}
		got[table][row["id"].(string)] = row
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// copyRows gives one database the rows of another.
func copyRows(t testing.TB, from, to *pgx.Conn, db *pg.Database) {
	t.Helper()
	names := []string{"platform.file", "platform.counter"}
	for _, table := range db.Tables {
		names = append(names, pg.Qualified(table.Schema, table.Name))
	}
	var b strings.Builder
	b.WriteString("set session_replication_role = replica;\n")
	for _, name := range names {
		var text string
		if err := from.QueryRow(t.Context(), "select coalesce(json_agg(t order by t.ctid), '[]')::text from "+name+" as t").Scan(&text); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "insert into %s select * from json_populate_recordset(null::%s, %s);\n", name, name, pg.Quote(text))
	}
	for _, table := range db.Tables {
		for _, c := range table.Numbered() { // a dump has their positions too
			name := pg.Qualified(table.Schema, c.Sequence.Name)
			var place int64
			var isGiven bool
			if err := from.QueryRow(t.Context(), "select last_value, is_called from "+name).Scan(&place, &isGiven); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "select setval(%s, %d, %t);\n", pg.Quote(name), place, isGiven)
		}
	}
	b.WriteString("reset session_replication_role;")
	if _, err := to.Exec(t.Context(), b.String()); err != nil {
		t.Fatalf("copy rows: %v", err)
	}
}

// proofCall is a call of the matrix, and proofAnswer what came of it.
type proofCall struct {
	Function string `json:"f"`
	Body     string `json:"b"`
	Context  string `json:"c"`
	isRead   bool
	title    string
}

// matrixOf makes the calls of a release: each action, by some callers, with samples of its published
// schema. Many of them find rows.
func matrixOf(t testing.TB, m *release.Manifest) []proofCall {
	t.Helper()
	var calls []proofCall
	for _, a := range m.Actions {
		reader, err := input.Compile(m.Schemas, a.Input)
		if err != nil {
			t.Fatalf("action %s: %v", a.Name, err)
		}
		bodies := samples(t, m, a)
		slices.Sort(bodies)
		for _, body := range bodies[:min(3, len(bodies))] {
			in, err := reader.Read([]byte(body))
			if err != nil {
				t.Fatalf("action %s: %s: %v", a.Name, body, err)
			}
			in.JSON = prepared(in)
			for _, caller := range []string{"me", "sample", ""} {
				isRead := a.Kind == release.Get || a.Kind == release.List || a.Kind == release.Read
				calls = append(calls, proofCall{a.Function, string(in.JSON), callContext(caller), isRead, a.Name + " by " + caller})
			}
		}
	}
	return calls
}

// answersOf makes the calls as a server does, each for itself.
func answersOf(t testing.TB, conn *pgx.Conn, calls []proofCall) []string {
	t.Helper()
	text, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), `do $matrix$
		declare
			v_call record;
			v_answer text;
			v_answers text[] := '{}';
		begin
			perform set_config('role', 'sternpost_server', true);
			for v_call in select * from json_to_recordset(`+pg.Quote(string(text))+`) as (f text, b jsonb, c jsonb) loop
				begin
					execute format('select api.%I($1, $2)::text', v_call.f) into v_answer using v_call.b, v_call.c;
					raise exception using errcode = 'PROOF', message = coalesce(v_answer, 'null');
				exception when others then
					v_answers := v_answers || (sqlstate || ' ' || sqlerrm);
				end;
			end loop;
			perform set_config('proof.answers', to_json(v_answers)::text, false);
		end $matrix$`)
	if err != nil {
		t.Fatalf("call everything: %v", err)
	}
	var list []string
	var got string
	if err := conn.QueryRow(t.Context(), "select current_setting('proof.answers')").Scan(&got); err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(got))).Decode(&list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if strings.HasPrefix(list[i], "PROOF") && !calls[i].isRead {
			list[i] = "PROOF" // a row with an id and moments of its own
		}
		// Rows come as records, in the order in which the columns came to be.
		parts := strings.FieldsFunc(list[i], func(r rune) bool { return strings.ContainsRune("(),", r) })
		slices.Sort(parts)
		list[i] = strings.Join(parts, " ")
	}
	return list
}
