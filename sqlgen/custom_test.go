package sqlgen_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// projectFrom reads a project from a text: its schema, then its further files as
// txtar has them.
func projectFrom(text string) *sqlgen.Project {
	archive := txtar.Parse([]byte("-- schema.stern --\n" + text))
	return projectOf(archive)
}

// oddSchema has custom code with inputs of every shape and rules over all of them.
const oddSchema = `
model Order {
  fields {
    number Text @unique  customer Customer  items Item[]  open Boolean @default  page Text  vId Text  input Text
    order Number  row Text  at Timestamp?  took Duration?  cost Decimal[]  scan File?  key Secret?
  }
  actions {
    create a() with (items.id, number?) { @function @permission(expression: order.items.what == "x" && order.open) }
    create b() with (items.parts.size, customer.name?, customer.orders.open, rows: Text[]) { @function }
    create c() { @function }
    create withAll() with (scan?, key?, at?, took?, cost?, more: Vector?, secret: Secret, files: File[]) { @function }
    update d(number?, customer.name?) with (number?, customer.id, items: ID[]?) {
      @function
      @permission(expression: order.customer.name == customerName && order.number == number)
    }
    update e() with (open?) { @function @permission(expression: order.open == open || order.input == "x") }
    get f() { @function @permission(expression: order.vId == "x") }
    get g(open?, items.what?, result: Text?, count: Number) { @function @embed(items.parts, customer) }
    list h(number, items.what?, open, result: Text, rows: Number[]?) {
      @function
      @orderBy(order: desc, page: asc)
      @permission(expression: order.items.what == result && order.open)
    }
    list i() { @function @sortable(page, order, at) @embed(customer, items) }
    delete j(items.id) { @function @permission(expression: order.input == "x" || ctx.isAuthenticated) }
    delete k(number?, vId) { @function }
    delete l(number?) { @function @permission(expression: order.open) }
    read m(customer.name, items.what, order, rows: Vector) returns (Any)
    write orders(items.parts.size) returns (Any) { @permission(expression: itemsPartsSize == 7) }
    write keywords(row: Text, values: Number[], between: Text, setof: Text?, customer.name) returns (Any)
    read long(items.order.customer.nameInFullWithAllTitlesThatSomebodyMayHaveBeenGiven) returns (Any)
    write order(number) returns (Any) { @permission(expression: false) }
    /// Does what no other action does, which takes inputs in a number that one line cannot hold:
    /// hence several.
    write withManyInputs(
      number, customerName: Text, firstOfSeveralInputs: Text, secondOfSeveralInputs: Timestamp?, thirdOfSeveralInputs: Decimal
    ) returns (Answer)
  }
  @permission(expression: true, actions: [create, get, list, update, delete, read, write])
}
model Item { fields { order Order  what Text  parts Part[] } }
model Part { fields { item Item  size Number } }
model Customer { fields { name Text  orders Order[]  nameInFullWithAllTitlesThatSomebodyMayHaveBeenGiven Text? } }
message Answer { order Order }
`

// TestScaffold writes a project's missing code, installs it, and calls it: each function
// fits its action, and says that it is not written yet.
func TestScaffold(t *testing.T) {
	t.Parallel()
	p := projectFrom(oddSchema)
	files := sqlgen.Scaffold(p)
	p.Functions = files
	db := compileProject(t, p)
	if len(files) != len(db.Expected) {
		t.Errorf("there are %d files for %d actions", len(files), len(db.Expected))
	}
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	if _, err := install.Install(t.Context(), owner, db); err != nil {
		t.Fatal(err)
	}
	for _, s := range db.Expected {
		arguments := make([]string, len(s.Arguments))
		for i, a := range s.Arguments {
			arguments[i] = `"` + a.Name + `" => null::` + a.Type
		}
		_, err := owner.Exec(t.Context(), "select functions."+s.Name+"("+strings.Join(arguments, ", ")+")")
		if want := "functions." + s.Name + " is not written yet"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("call %s: got %v, want %q", s.Name, err, want)
		}
	}
	if again := sqlgen.Scaffold(p); again != nil {
		t.Errorf("nothing is missing, and %s was written", again[0].Name)
	}
}

func TestScaffoldText(t *testing.T) {
	t.Parallel()
	files := sqlgen.Scaffold(projectFrom(oddSchema))
	texts := map[string]string{}
	for _, f := range files {
		texts[f.Name] = string(f.Text)
	}
	for name, want := range map[string]string{
		"functions/h.sql": `-- The code of the action h of model Order.
--
-- It runs as the caller, who reaches the rows that the rules of the models admit. It may refuse: raise exception 'why'
-- using errcode = 'SP409', or SP400, SP403, SP404.
create function functions.h(result text, rows bigint[]) returns setof app."order"
language plpgsql
stable
security invoker
as $$
begin
  raise exception 'functions.h is not written yet';
end;
$$;
`,
		"functions/withManyInputs.sql": `-- Does what no other action does, which takes inputs in a number that one line cannot hold:
-- hence several.
--
-- It runs as the caller, who reaches the rows that the rules of the models admit. It may refuse: raise exception 'why'
-- using errcode = 'SP409', or SP400, SP403, SP404.
create function functions.with_many_inputs(
  number text,
  customer_name text,
  first_of_several_inputs text,
  second_of_several_inputs timestamptz,
  third_of_several_inputs numeric
) returns jsonb
language plpgsql
volatile
security invoker
as $$
begin
  raise exception 'functions.with_many_inputs is not written yet';
end;
$$;
`,
	} {
		if got := texts[name]; got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestScaffoldOfABrokenSchema tests that nothing is written while the fitting code is not
// known.
func TestScaffoldOfABrokenSchema(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`model Order { fields { number Txt } actions { read code() returns (Any) } }`,
		`model Order { actions { read code() returns (Any `,
	} {
		if files := sqlgen.Scaffold(projectFrom(text)); files != nil {
			t.Errorf("the schema\n%s\nis in error, and %s was written", text, files[0].Name)
		}
	}
}

// TestOddCustomCode runs the functions of actions whose code returns a row of nulls.
func TestOddCustomCode(t *testing.T) {
	t.Parallel()
	p := projectFrom(oddSchema)
	for _, f := range sqlgen.Scaffold(p) {
		text := string(f.Text)
		body := "declare v app.\"order\"; begin v.id := 'sample'; return v; end;"
		switch {
		case strings.Contains(text, "returns setof"):
			body = strings.Replace(body, "return v;", "return next v; v.number := 'n'; return next v;", 1)
		case strings.Contains(text, "returns jsonb"):
			body = "begin return '{}'; end;"
		case strings.Contains(text, "returns text"):
			body = "begin return 'sample'; end;"
		}
		head, _, _ := strings.Cut(text, "$$\n")
		p.Functions = append(p.Functions, &syntax.Source{Name: f.Name, Text: []byte(head + "$$" + body + "$$")})
	}
	db := compileProject(t, p)
	installed, manifest := runScript(t, install.Script(db)), manifestOf(t, db)
	callEverything(t, installed, manifest)
	checkManifest(t, installed.Owner(t), manifest)
}

// TestReadmeCode installs the custom code that the page about it shows.
func TestReadmeCode(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, s := range schemasOf(t, "../integration/guide/how-to/custom-code.md") {
		if len(s.project.Functions) == 0 {
			continue
		}
		shown++
		owner := pgtest.New(t, pgtest.Options{}).Owner(t)
		if _, err := install.Install(t.Context(), owner, compileProject(t, s.project)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	if shown == 0 {
		t.Error("the page shows no custom code")
	}
}
