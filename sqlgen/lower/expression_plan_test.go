package lower

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
)

// clinicRows fills the tables of the clinics: 100 clinics, each with 20 members and
// 100 patients, and 100,000 visits with 100,000 items, two for every second visit.
const clinicRows = `
	set session_replication_role = replica; -- the references hold by construction
	insert into app.identity (id) select 'i' || n from generate_series(0, 1999) as n;
	insert into app.clinic (id, name) select 'c' || n, 'clinic' from generate_series(0, 99) as n;
	insert into app.member (id, clinic_id, identity_id, is_chief)
	select 'm' || n, 'c' || n % 100, 'i' || n, n < 100 from generate_series(0, 1999) as n;
	insert into app.patient (id, name, clinic_id) select 'p' || n, 'patient', 'c' || n % 100 from generate_series(0, 9999) as n;
	insert into app.visit (id, patient_id, state, day, tags)
	select 'v' || n, 'p' || n % 10000, 'Done', '2027-03-01', '{}' from generate_series(0, 99999) as n;
	insert into app.item (id, visit_id, what, price)
	select 't' || n, 'v' || n / 2 * 2, 'lamp', n % 10 from generate_series(0, 99999) as n;
	analyze;
	reset session_replication_role;
`

// planNode is a node of the output of explain.
type planNode struct {
	Type     string     `json:"Node Type"`
	Relation string     `json:"Relation Name"`
	Index    string     `json:"Index Name"`
	Rows     float64    `json:"Actual Rows"`
	Loops    float64    `json:"Actual Loops"`
	Removed  float64    `json:"Rows Removed by Filter"`
	Plans    []planNode `json:"Plans"`
}

// visit calls f for the node and all below it.
func (n planNode) visit(f func(planNode)) {
	f(n)
	for _, p := range n.Plans {
		p.visit(f)
	}
}

// explain runs a query and returns its plan.
func explain(t *testing.T, conn *pgx.Conn, query string) planNode {
	t.Helper()
	var text []byte
	if err := conn.QueryRow(t.Context(), "explain (analyze, timing off, format json) "+query).Scan(&text); err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal(text, &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan
}

// TestExpressionPlans checks that expressions over some rows cost no more than these: each step uses an index.
func TestExpressionPlans(t *testing.T) {
	t.Parallel()
	s, _ := clinic(t, "")
	s.Actions, modelNamed(s, "Visit").Actions = nil, nil // their inputs cannot be lowered yet
	db := pgtest.New(t, pgtest.Options{})
	mustInstall(t, db, s, "")
	conn := db.Superuser(t)
	if _, err := conn.Exec(t.Context(), clinicRows+"select set_config('sternpost.identity_id', 'i7', false);"); err != nil {
		t.Fatal(err)
	}

	tests := []struct {
		text    string
		indexes []string // indexes that have to be used
		rows    float64  // the most rows that any step reads
	}{
		{`visit.items.price > 5`, []string{"item_visit_id_idx"}, 500},
		{`visit.items == null`, []string{"item_visit_id_idx"}, 500},
		{`!(visit.items.price != 5)`, []string{"item_visit_id_idx"}, 500},
		{`visit.items.price > 5 && visit.items.what == "lamp" && visit.items.parts == null`, []string{"item_visit_id_idx"}, 500},
		{`visit.patient.visits.items.price > 5`, []string{"visit_patient_id_idx", "item_visit_id_idx"}, 1000},
		{`ctx.identity in visit.patient.clinic.members.identity`, nil, 1500}, // from either end
		{`visit.patient.clinic.members.identity == ctx.identity && visit.patient.clinic.members.isChief`, nil, 1500},
	}
	for _, test := range tests {
		condition := emit.Expr(conditionOf(t, value.RuleLogic, value.InQuery, test.text))
		for _, use := range []struct{ name, query string }{
			{"one row", "select visit.id from related.visit where visit.id = 'v4711' and (" + condition + ")"},
			{"a page", "select visit.id from related.visit where (" + condition + ") order by visit.id limit 20"},
			{"values", "select (" + condition + ") is true from (select * from related.visit order by id limit 20) as visit"},
		} {
			p := explain(t, conn, use.query)
			var used []string
			p.visit(func(n planNode) {
				if n.Index != "" {
					used = append(used, n.Index)
				}
				if read := (n.Rows + n.Removed) * n.Loops; read > test.rows {
					t.Errorf("%s: %s: %s on %s reads %.0f rows, want at most %.0f", test.text, use.name, n.Type, n.Relation, read, test.rows)
				}
			})
			for _, i := range test.indexes {
				if !slices.Contains(used, i) {
					t.Errorf("%s: %s: index %s is not used, but %q", test.text, use.name, i, used)
				}
			}
		}
	}
}
