package lower

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/integration/pgtest"
	requests "github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// asked is a condition of a list as a request spells it, and as an expression.
type asked struct {
	path, operator string
	operand        any
	text           string
	node           expr.Node // once it is checked
}

// listing is a list under random rules, with conditions that requests may add.
type listing struct {
	where, rule *subject
	conditions  []*asked
	instead     string // a rule that admits more
	order       string // attribute
	orderSQL    string
	facets      []*model.Field // fields of the laboratory's schema
	action      *model.Action
	published   *release.Action
	reader      *requests.Reader
}

// randomConditions returns conditions on the row of a model and on its children, at most one per path and operator.
func randomConditions(r random, m *model.Model) []*asked {
	var list []*asked
	for range 1 + r.IntN(5) {
		at, path := m, []string{}
		for {
			f := pick(r, at.Fields)
			if f.IsRelation() && len(path) < 3 {
				path, at = append(path, f.Name), f.Target
				continue
			}
			if f.IsRelation() || f.Type.Array || at.IsIdentity && !slices.Contains([]string{"id", "email", "team"}, f.Name) {
				if f = at.Field("id"); r.chance(70) {
					f = pick(r, at.Fields)
				}
			}
			if f.IsRelation() || f.Type.Array || at.IsIdentity && !slices.Contains([]string{"id", "email", "team"}, f.Name) || f.StepWriteOnly() {
				break
			}
			switch f.Type.Kind {
			case expr.File, expr.Vector:
			default:
				list = append(list, randomCondition(r, m, append(path, f.Name), f.Type))
			}
			break
		}
	}
	var kept []*asked
	for _, a := range list {
		if !slices.ContainsFunc(kept, func(o *asked) bool {
			return flatName(o.path) == flatName(a.path) && (o.path != a.path || o.operator == a.operator)
		}) {
			kept = append(kept, a)
		}
	}
	return kept
}

func (l *listing) wheres() string {
	if l.where == nil {
		return ""
	}
	return l.where.attributes()
}

// rules returns the rule, or another one that asks nothing or little.
func (l *listing) rules() string {
	if l.instead != "" {
		return "@permission(expression: " + l.instead + ")"
	}
	return l.rule.attributes()
}

// flatName is the name of an input with a path.
func flatName(path string) string { return strings.ToLower(strings.ReplaceAll(path, ".", "")) }

func randomCondition(r random, m *model.Model, path []string, t expr.Type) *asked {
	var names []string
	for _, o := range t.Kind.Filters() {
		if operatorText(o.Name) != "" {
			names = append(names, o.Name)
		}
	}
	c := &asked{path: strings.Join(path, "."), operator: pick(r, names)}
	row := m.Variable + "." + c.path
	if c.operator == "oneOf" {
		values, texts := []any{}, []string{}
		for range r.IntN(3) {
			v := pick(r, domain(t))
			values, texts = append(values, wireValue(t, v)), append(texts, literalText(t, v))
		}
		c.operand, c.text = values, row+" in ["+strings.Join(texts, ", ")+"]"
		return c
	}
	v := pick(r, domain(t))
	c.operand = wireValue(t, v)
	if t.Kind == expr.Boolean {
		c.operand = v == "true"
	}
	c.text = row + " " + operatorText(c.operator) + " " + literalText(t, v)
	return c
}

func literalText(t expr.Type, v string) string {
	switch t.Kind {
	case expr.Number, expr.Decimal, expr.Boolean:
		return v
	case expr.Enum:
		return t.Name + "." + v
	}
	return fmt.Sprintf("%q", v)
}

// operatorText is the spelling of a filter's operator in expressions.
func operatorText(name string) string {
	return map[string]string{
		"equals": "==", "notEquals": "!=", "lessThan": "<", "lessThanOrEquals": "<=", "greaterThan": ">", "greaterThanOrEquals": ">=",
		"before": "<", "onOrBefore": "<=", "after": ">", "onOrAfter": ">=", "oneOf": "in",
	}[name]
}

// TestFilterDifferential lists under random rules, @wheres and filters, and compares every page with the interpreter's
// rows. With the flag -differential it goes on for that long.
func TestFilterDifferential(t *testing.T) {
	t.Parallel()
	count, outcomes := 0, map[string]int{}
	forDifferentialTime(t, func(t *testing.T, seed uint64) { compareLists(t, seed, &count, outcomes) }, 0)
	t.Logf("%d requests; outcomes: %v", count, outcomes)
	for _, outcome := range []string{"refused", "none", "some", "static", "faceted"} {
		if n := outcomes[outcome]; n < 40 && !t.Failed() {
			t.Errorf("a list was %s only %d times: this shows little", outcome, n)
		}
	}
}

// compareLists makes a schema with random lists, and calls them in several worlds.
func compareLists(t *testing.T, seed uint64, count *int, outcomes map[string]int) {
	r := newRandom(seed)
	lab := newLaboratory(t, randomModels(r))
	var wheres, rules []*subject
	for _, s := range lab.randomSubjects(r) {
		switch {
		case namesWriteInput.MatchString(s.attributes()):
		case s.place == whereOfAction:
			wheres = append(wheres, s)
		case s.place == ruleOfAction:
			rules = append(rules, s)
		}
	}
	wheres, rules = lab.check(t, wheres), lab.check(t, rules)
	var listings []*listing
	r.Shuffle(len(wheres), func(i, j int) { wheres[i], wheres[j] = wheres[j], wheres[i] })
	for _, where := range wheres {
		for i, rule := range rules {
			if rule == nil || rule.model != where.model || len(listings) == 40 {
				continue
			}
			m := modelNamed(lab.schema, where.model)
			l := &listing{where: where, rule: rule, conditions: randomConditions(r, m), orderSQL: "id"}
			if own := slices.DeleteFunc(slices.Clone(m.Fields), func(f *model.Field) bool {
				return f.IsRelation() || f.Type.Array || f.StepWriteOnly() || f.Type.Kind == expr.File || f.Type.Kind == expr.Vector || f.Name == "id"
			}); r.chance(50) && len(own) > 0 {
				f, way := pick(r, own), pick(r, []string{"asc", "desc"})
				l.order, l.orderSQL = fmt.Sprintf("@orderBy(%s: %s)", f.Name, way), fmt.Sprintf("%q %s, id %s", f.Column, way, way)
			}
			if r.chance(40) {
				l.facets = randomFacets(r, m)
			}
			if r.chance(50) {
				l.instead = pick(r, []string{"true", "ctx.isAuthenticated", m.Variable + ".id != \"x2\"", l.rule.terms[0].String() + " || " + m.Variable + ".id == \"x2\" || ctx.identity.email == \"a\""})
			}
			if r.chance(50) {
				l.where = nil
			}
			listings = append(listings, l)
			rules[i] = nil
			break
		}
	}
	text := lab.listText(listings)
	checked := mustCheck(t, text)
	db := pgtest.New(t, pgtest.Options{})
	manifest := mustInstall(t, db, checked, text)
	for _, a := range checked.Actions {
		var n int
		if _, err := fmt.Sscanf(a.Name, "list%d", &n); err == nil {
			listings[n].action = a
		}
		if _, err := fmt.Sscanf(a.Name, "plain%d", &n); err == nil {
			for i, w := range a.Wheres {
				listings[n].conditions[i].node = w.Expression
			}
		}
	}
	for _, a := range manifest.Actions {
		var n int
		if _, err := fmt.Sscanf(a.Name, "list%d", &n); err == nil {
			listings[n].published = a
			reader, err := requests.Compile(manifest.Schemas, a.Input)
			if err != nil {
				t.Fatal(err)
			}
			listings[n].reader = reader
		}
	}
	conn := db.Superuser(t)
	if _, err := conn.Exec(t.Context(), "set session_replication_role = replica; set jit = off"); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		var w *world
		for range 4 { // the fullest shows most
			other := randomWorld(r, lab.schema, lab.inputs, r.chance(50))
			if w == nil || w.size() < other.size() {
				w = other
			}
		}
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lab.set(t, tx, w)
		for _, l := range listings {
			for range 2 {
				*count++
				if problem := l.compare(t, r, tx, w, outcomes); problem != "" {
					t.Fatalf("seed %d: %s\n%s\n%s\n%s by %q\n%s\n%s", seed, problem, l.wheres(), l.rules(), l.order, w.identity, modelsText(lab.models), w.sql())
				}
			}
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// listText is the schema with the lists, and for each another one that has its conditions as @wheres.
func (lab *laboratory) listText(listings []*listing) string {
	var b strings.Builder
	b.WriteString(testEnums)
	for _, m := range lab.models {
		_, declared, _ := m.inputs()
		var actions strings.Builder
		for i, l := range listings {
			if l.rule.model != m.name {
				continue
			}
			var paths []string
			for _, in := range strings.Split(declared, ", ") {
				name, _, _ := strings.Cut(in, ":")
				if regexp.MustCompile(`(^|[^.\w])` + name + `\b`).MatchString(l.wheres() + l.rules()) {
					paths = append(paths, in)
				}
			}
			for _, c := range l.conditions {
				if !slices.Contains(paths, c.path+"?") {
					paths = append(paths, c.path+"?")
				}
			}
			fmt.Fprintf(&actions, "    list list%d(%s) {\n      %s\n      %s\n      %s\n      %s\n    }\n", i, strings.Join(paths, ", "), l.wheres(), l.rules(), l.order, l.facetsText())
			fmt.Fprintf(&actions, "    list plain%d() {\n", i)
			for _, c := range l.conditions {
				fmt.Fprintf(&actions, "      @where(%s)\n", c.text)
			}
			actions.WriteString("      @permission(expression: true)\n    }\n")
		}
		b.WriteString(m.text("  actions {\n" + actions.String() + "  }\n"))
	}
	return b.String()
}

// compare sends a request and compares its pages with the interpreter's. It returns the difference.
func (l *listing) compare(t *testing.T, r random, tx pgx.Tx, w *world, outcomes map[string]int) string {
	t.Helper()
	where := map[string]any{}
	for _, in := range l.action.Reads {
		if v, given := w.inputs[in.Name]; in.Explicit && given {
			where[in.Name] = wireValue(in.Type, v)
		}
	}
	var nodes []expr.Node
	for _, c := range l.action.Wheres {
		isGiven := true
		for _, in := range expr.Mentions(c.Expression).Inputs {
			_, has := w.inputs[in.InputName()]
			isGiven = isGiven && has
		}
		if isGiven {
			nodes = append(nodes, c.Expression)
		}
	}
	var binding []expr.Node // for every facet
	own := map[string][]expr.Node{}
	binding = append(binding, nodes...)
	for _, c := range l.conditions {
		if !r.chance(35) {
			continue
		}
		nodes = append(nodes, c.node)
		if of := l.facetOf(c); of != "" {
			own[of] = append(own[of], c.node)
		} else {
			binding = append(binding, c.node)
		}
		at := where
		for _, step := range strings.Split(c.path, ".") {
			if at[step] == nil {
				at[step] = map[string]any{}
			}
			at = at[step].(map[string]any)
		}
		at[c.operator] = c.operand
	}

	rule := l.action.Rules[0].Expression
	early := expr.Early(w.call(nil), rule)
	var want []string
	counted := map[string][]string{} // ids by facet
	for _, row := range w.rows[l.action.Model.Name] {
		call := w.call(row)
		if early != expr.True && !expr.Admits(call, rule) {
			continue
		}
		if expr.Holds(call, nodes...) {
			want = append(want, row.ID())
		}
		for _, f := range l.facets {
			if expr.Holds(call, withOthers(binding, own, f.Name)...) {
				counted[f.Name] = append(counted[f.Name], row.ID())
			}
		}
	}
	var order []string
	if err := tx.QueryRow(t.Context(), "select coalesce(array_agg(id order by "+l.orderSQL+"), '{}') from app."+fmt.Sprintf("%q", l.action.Model.Table)).Scan(&order); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(want, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })

	if early == expr.False {
		outcomes["refused"]++
	} else if len(want) == 0 {
		outcomes["none"]++
	} else {
		outcomes["some"]++
	}
	var met []string
	body := map[string]any{"where": where}
	backwards := r.chance(30)
	if r.chance(70) {
		body[map[bool]string{true: "last", false: "first"}[backwards]] = 1 + r.IntN(2)
	}
	if r.chance(20) {
		body["totalCount"] = true
	}
	for range 6 {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in, err := l.reader.Read(text)
		if err != nil {
			t.Fatalf("%s does not take %s: %v", l.action.Name, text, err)
		}
		function := l.published.Function
		if form, ok := calls.Form(l.published, in.OperatorSet(), in.PlainPage(), in.Page().HasCursor); ok {
			function = form
			outcomes["static"]++
		}
		answer := callList(t, tx, w, function, string(in.JSON))
		if (answer == "SP403" || answer == "SP405") != (early == expr.False) {
			return fmt.Sprintf("%s with %s answers %s, the rule is early %v", function, text, answer, early)
		}
		if early == expr.False {
			return ""
		}
		var page struct {
			Results  []struct{ ID string }
			PageInfo struct {
				StartCursor, EndCursor       string
				HasNextPage, HasPreviousPage bool
				Count                        int
				TotalCount                   *int
			}
			ResultInfo json.RawMessage
		}
		if err := json.Unmarshal([]byte(answer), &page); err != nil {
			t.Fatal(err)
		}
		if got, want := string(page.ResultInfo), l.wantedFacets(t, tx, counted); got != want {
			return fmt.Sprintf("%s with %s tells %s, want %s", function, text, got, want)
		}
		if len(l.facets) > 0 {
			outcomes["faceted"]++
		}
		var ids []string
		for _, row := range page.Results {
			ids = append(ids, row.ID)
		}
		if page.PageInfo.TotalCount != nil && *page.PageInfo.TotalCount != len(want) {
			return fmt.Sprintf("%s with %s counts %d, want %q", function, text, *page.PageInfo.TotalCount, want)
		}
		onward, behind := page.PageInfo.HasNextPage, page.PageInfo.HasPreviousPage
		if body["last"] != nil {
			onward, behind = behind, onward
			body["before"] = page.PageInfo.StartCursor
		} else {
			body["after"] = page.PageInfo.EndCursor
		}
		if behind != (len(met) > 0) {
			return fmt.Sprintf("%s with %s says of rows behind %t; met %q before, want %q", function, text, behind, met, want)
		}
		if body["last"] != nil {
			met = append(ids, met...)
		} else {
			met = append(met, ids...)
		}
		if !onward {
			if !slices.Equal(met, want) {
				return fmt.Sprintf("%s with %s lists %q, want %q", function, text, met, want)
			}
			return ""
		}
	}
	return fmt.Sprintf("the pages do not end: %q, want %q", met, want)
}

// randomFacets returns some fields as facets of a list.
func randomFacets(r random, m *model.Model) []*model.Field {
	var list []*model.Field
	for _, f := range m.Fields {
		if !f.Type.Array && f.Type.Kind.Facet() != expr.NoFacet && r.chance(40) {
			list = append(list, f)
		}
	}
	return list
}

func (l *listing) facetsText() string {
	if len(l.facets) == 0 {
		return ""
	}
	names := make([]string, len(l.facets))
	for i, f := range l.facets {
		names[i] = f.Name
	}
	return "@facet(" + strings.Join(names, ", ") + ")"
}

// facetOf returns the facet whose field a condition filters by, empty for none.
func (l *listing) facetOf(c *asked) string {
	for _, f := range l.facets {
		if c.path == f.Name || f.FKOf != nil && c.path == f.FKOf.Name+".id" {
			return f.Name
		}
	}
	return ""
}

// withOthers are the conditions that bind a facet: those that bind all, and those of the fields of the other facets.
func withOthers(binding []expr.Node, own map[string][]expr.Node, facet string) []expr.Node {
	all := slices.Clone(binding)
	for name, nodes := range own {
		if name != facet {
			all = append(all, nodes...)
		}
	}
	return all
}

// wantedFacets is the expected answer of a list for the rows that count for each facet.
func (l *listing) wantedFacets(t *testing.T, tx pgx.Tx, counted map[string][]string) string {
	t.Helper()
	if len(l.facets) == 0 {
		return ""
	}
	var parts []string
	for _, f := range l.facets {
		told := map[expr.Kind]string{
			expr.Number:    `json_build_object('min', min(v), 'max', max(v), 'avg', trim_scale(round(sum(v) * 1.000000000000000000000000000000000000 / count(v), 18)))`,
			expr.Decimal:   `json_build_object('min', trim_scale(min(v)), 'max', trim_scale(max(v)), 'avg', trim_scale(round(sum(v) * 1.000000000000000000000000000000000000 / count(v), 18)))`,
			expr.Duration:  `json_build_object('min', platform.iso_duration(min(v)), 'max', platform.iso_duration(max(v)), 'avg', platform.iso_duration(avg(v)))`,
			expr.Timestamp: `json_build_object('min', platform.iso(min(v)), 'max', platform.iso(max(v)))`,
			expr.Date:      `json_build_object('min', min(v), 'max', max(v))`,
		}[f.Type.Kind]
		if f.Type.Kind == expr.Number || f.Type.Kind == expr.Decimal {
			told = strings.ReplaceAll(told, "/ count(v)", "/ nullif(count(v), 0)")
		}
		rows := fmt.Sprintf("(select %q as v from app.%q where id = any ($1)) as facet", f.Column, l.action.Model.Table)
		if told == "" {
			told = "coalesce(json_agg(json_build_object('value', v, 'count', n) order by v), '[]')"
			rows = "(select v, count(*) as n from " + rows + " group by v) as facet"
		}
		var text string
		if err := tx.QueryRow(t.Context(), "select ("+told+")::text from "+rows, counted[f.Name]).Scan(&text); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, fmt.Sprintf("%q:%s", f.Name, regexp.MustCompile(` ?([:,]) `).ReplaceAllString(text, "$1")))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// size is the number of rows.
func (w *world) size() int {
	n := 0
	for _, rows := range w.rows {
		n += len(rows)
	}
	return n
}

// callList calls a function of a list, and returns its answer or the code of a refusal.
func callList(t *testing.T, tx pgx.Tx, w *world, function, body string) string {
	t.Helper()
	inner, err := tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Rollback(t.Context())
	answer, err := calls.JSON(t.Context(), inner.Conn(), function, body, w.contextJSON())
	var raised *pgconn.PgError
	if errors.As(err, &raised) && strings.HasPrefix(raised.Code, "SP") {
		return raised.Code
	}
	if err != nil {
		t.Fatalf("call api.%s with %s: %v", function, body, err)
	}
	return answer
}
