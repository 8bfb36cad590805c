package sqlgen_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// nest is a level of a generated create: a model of its own, and how its row hangs
// on the one above.
type nest struct {
	model, table string
	step         string // the field of the parent that leads here
	kind         nestKind
	fields       []nestField
	below        []*nest
	loose        bool // whether the row may be missing though its inputs are required
	byElement    bool // whether it is written for each element of an array
}

type nestKind int

const (
	requiredToOne nestKind = iota
	optionalToOne
	uniqueToOne // optional, with a way back
	virtualToOne
	toManyRequired // the children must have a parent
	toManyOptional
	linkedToOne
	nestKinds
)

func (k nestKind) isMany() bool { return k == toManyRequired || k == toManyOptional }
func (k nestKind) isOptional() bool {
	return k == optionalToOne || k == uniqueToOne || k == virtualToOne
}

// column tells in whose table the reference is: the parent's, or the child's.
func (k nestKind) inParent() bool { return k < virtualToOne || k == linkedToOne }

type nestField struct {
	name               string
	required, defaults bool
	given              bool // by an input
	mayBeAbsent        bool
}

// generateNest makes a random level with what hangs on it.
func generateNest(random *rand.Rand, count *int, kind nestKind, parent *nest, depth int) *nest {
	*count++
	n := &nest{model: fmt.Sprintf("M%c", 'a'+*count), table: fmt.Sprintf("m%c", 'a'+*count), step: fmt.Sprintf("s%c", 'a'+*count), kind: kind}
	if parent != nil {
		n.loose = parent.loose || kind.isMany() || kind.isOptional()
		n.byElement = kind.isMany() || parent.byElement && !kind.isOptional()
	}
	if kind == linkedToOne {
		n.fields = []nestField{{name: "id", given: true, required: true}}
		return n
	}
	for i := range 1 + random.IntN(3) {
		f := nestField{name: fmt.Sprintf("f%c", 'a'+i), required: random.IntN(2) == 0, defaults: random.IntN(3) == 0}
		f.given = i == 0 || f.required && !f.defaults || random.IntN(2) == 0
		f.mayBeAbsent = random.IntN(2) == 0 && (n.loose || !f.required || f.defaults)
		n.fields = append(n.fields, f)
	}
	if depth > 0 {
		for range random.IntN(4) {
			if *count < 20 {
				n.below = append(n.below, generateNest(random, count, nestKind(random.IntN(int(nestKinds))), n, depth-1))
			}
		}
	}
	return n
}

func (n *nest) all() []*nest {
	list := []*nest{n}
	for _, child := range n.below {
		list = append(list, child.all()...)
	}
	return list
}

// declaration is the model in the schema language. name is that of the parent.
func (n *nest) declaration(parent string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s { fields {", n.model)
	for _, f := range n.fields {
		if f.name == "id" {
			continue
		}
		b.WriteString(" " + f.name + " Text")
		if !f.required {
			b.WriteString("?")
		}
		if f.defaults {
			b.WriteString(` @default("by default")`)
		}
	}
	back := map[nestKind]string{virtualToOne: " up %s @unique", uniqueToOne: " up %s?", toManyRequired: " up %s", toManyOptional: " up %s?"}[n.kind]
	if parent != "" && back != "" {
		fmt.Fprintf(&b, back, parent)
	}
	for _, child := range n.below {
		fmt.Fprintf(&b, " %s %s%s", child.step, child.model, map[nestKind]string{
			optionalToOne: "?", uniqueToOne: "? @unique", virtualToOne: "?", toManyRequired: "[]", toManyOptional: "[]",
		}[child.kind])
	}
	b.WriteString(" }")
	if parent == "" {
		fmt.Fprintf(&b, " actions { create make() with (%s) } @permission(expression: true, actions: [create])", strings.Join(n.inputs(""), ", "))
	}
	b.WriteString(" }\n")
	for _, child := range n.below {
		b.WriteString(child.declaration(n.model))
	}
	return b.String()
}

func (n *nest) inputs(prefix string) []string {
	var list []string
	for _, f := range n.fields {
		if f.given {
			list = append(list, prefix+f.name+map[bool]string{true: "?"}[f.mayBeAbsent])
		}
	}
	for _, child := range n.below {
		list = append(list, child.inputs(prefix+child.step+".")...)
	}
	return list
}

// allOptional tells whether all inputs at and below a level may be left out.
func (n *nest) allOptional() bool {
	for _, l := range n.all() {
		for _, f := range l.fields {
			if f.given && !f.mayBeAbsent {
				return false
			}
		}
	}
	return true
}

// request makes a random object for a level, and the row that it should store, or nil if none. missing
// gathers the required columns without a value.
func (n *nest) request(random *rand.Rand, missing *[]string) (sent, stored map[string]any) {
	sent, stored = map[string]any{}, map[string]any{}
	if n.kind == linkedToOne {
		return map[string]any{"id": n.table + "-there"}, map[string]any{"linked": true}
	}
	var lacking []string
	for _, f := range n.fields {
		demanded := n.byElement && f.required && !f.defaults
		switch {
		case f.given && (!f.mayBeAbsent || demanded || random.IntN(3) > 0):
			value := fmt.Sprintf("%s %d", f.name, random.IntN(1000))
			sent[f.name], stored[f.name] = value, value
		case f.defaults:
			stored[f.name] = "by default"
		default:
			stored[f.name] = nil
			if f.required {
				lacking = append(lacking, "23502 "+n.table+"."+f.name)
			}
		}
	}
	for _, child := range n.below {
		child.requestBelow(random, sent, stored, &lacking)
	}
	if n.kind.isOptional() && len(sent) == 0 {
		return sent, nil
	}
	*missing = append(*missing, lacking...)
	return sent, stored
}

// requestBelow adds a member for a level to the object above it.
func (n *nest) requestBelow(random *rand.Rand, sent, stored map[string]any, missing *[]string) {
	isAbsent := n.allOptional() && random.IntN(3) == 0
	switch {
	case n.kind.isMany():
		list, rows := []any{}, []any{}
		for range random.IntN(4) {
			element, row := n.request(random, missing)
			list, rows = append(list, element), append(rows, row)
		}
		if isAbsent {
			rows = []any{}
			n.forget(missing)
		} else {
			sent[n.step] = list
		}
		stored[n.step] = rows
	case n.kind.isOptional() && (isAbsent || random.IntN(4) == 0):
		if !isAbsent {
			sent[n.step] = nil
		}
		stored[n.step] = nil
	default:
		object, row := n.request(random, missing)
		if len(object) > 0 || !isAbsent {
			sent[n.step] = object
		}
		stored[n.step] = nil
		if row != nil {
			stored[n.step] = row
		}
	}
}

// forget removes the missing columns of a level that is not sent after all.
func (n *nest) forget(missing *[]string) {
	for _, l := range n.all() {
		*missing = slices.DeleteFunc(*missing, func(m string) bool { return strings.HasPrefix(m, "23502 "+l.table+".") })
	}
}

// tables holds the rows of a database by table, in order of their ids.
type tables map[string][]map[string]any

// storedBelow returns the stored rows at a level for a row.
func (d tables) storedBelow(n *nest, row map[string]any) map[string]any {
	stored := map[string]any{}
	if n.kind == linkedToOne {
		return map[string]any{"linked": true}
	}
	for _, f := range n.fields {
		stored[f.name] = row[f.name]
	}
	for _, child := range n.below {
		rows := []any{}
		for _, r := range d[child.table] {
			if child.kind.inParent() && r["id"] == row[child.step+"_id"] || !child.kind.inParent() && r["up_id"] == row["id"] {
				rows = append(rows, d.storedBelow(child, r))
			}
		}
		switch {
		case child.kind.isMany():
			stored[child.step] = rows
		case len(rows) == 0:
			stored[child.step] = nil
		default:
			stored[child.step] = rows[0]
		}
	}
	return stored
}

// TestNestedCreates generates creates with random levels, and requests for them, and compares the
// stored rows with a plain reading of the request. A create that compiles may fail for a missing value
// only if the request leaves one out.
func TestNestedCreates(t *testing.T) {
	t.Parallel()
	schemas := 7
	if testing.Short() {
		schemas = 3
	}
	for seed := range schemas {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 7))
			var root *nest
			for root == nil || len(root.all()) < 4 {
				count := 0
				root = generateNest(random, &count, requiredToOne, nil, 3)
			}
			schema := root.declaration("")
			a := newApp(t, fmt.Sprintf("nested_%d", seed), schema)
			for _, n := range root.all() {
				if n.kind == linkedToOne {
					a.exec(t, fmt.Sprintf("insert into app.%s (id) values ('%s-there')", n.table, n.table))
				}
			}
			failed, passed := 0, 0
			for range 60 {
				for _, n := range root.all() {
					if n.kind != linkedToOne {
						a.exec(t, "delete from app."+n.table)
					}
				}
				var missing []string
				sent, want := root.request(random, &missing)
				body, err := json.Marshal(sent)
				if err != nil {
					t.Fatal(err)
				}
				answer := a.call(t, "make", string(body), "")
				if len(missing) > 0 || !strings.HasPrefix(answer, "{") {
					failed++
					if !slices.Contains(missing, answer) {
						t.Fatalf("schema\n%s\nrequest %s\ngot  %s\nwant one of %q", schema, body, answer, missing)
					}
					continue
				}
				passed++
				db := tables{}
				rows := 0
				for _, n := range root.all() {
					db[n.table] = tableRows(t, a.owner, n.table)
					if n.kind != linkedToOne {
						rows += len(db[n.table])
					}
				}
				got := db.storedBelow(root, db[root.table][0])
				if !reflect.DeepEqual(got, want) {
					g, _ := json.Marshal(got)
					w, _ := json.Marshal(want)
					t.Fatalf("schema\n%s\nrequest %s\nstored %s\nwant   %s", schema, body, g, w)
				}
				if expected := countRows(root, want); rows != expected {
					t.Fatalf("schema\n%s\nrequest %s\n%d rows are stored, want %d", schema, body, rows, expected)
				}
			}
			t.Logf("%d models, %d requests taken, %d refused", len(root.all()), passed, failed)
			if passed == 0 {
				t.Errorf("no request of %d was taken; schema\n%s", failed, schema)
			}
		})
	}
}

func tableRows(t *testing.T, conn *pgx.Conn, table string) []map[string]any {
	t.Helper()
	rows, err := conn.Query(t.Context(), "select to_jsonb(t) from app."+table+" as t order by id")
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[map[string]any])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// countRows counts the rows of a level and below, without those that were there.
func countRows(n *nest, stored any) int {
	if stored == nil || n.kind == linkedToOne {
		return 0
	}
	count := 1
	object, _ := stored.(map[string]any)
	for _, child := range n.below {
		switch below := object[child.step].(type) {
		case []any:
			for _, row := range below {
				count += countRows(child, row)
			}
		default:
			count += countRows(child, below)
		}
	}
	return count
}
