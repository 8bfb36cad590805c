package expr

import (
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// operandsOfTable has an operand of every class and type, by a short name.
var operandsOfTable = []struct{ name, text string }{
	{"Text", "order.number"},
	{"Markdown", "order.note"},
	{"ID", "order.id"},
	{"text", `"x"`},
	{"Number", "order.count"},
	{"Decimal", "order.price"},
	{"integer", "1"},
	{"decimal", "1.5"},
	{"Date", "order.due"},
	{"Timestamp", "order.at"},
	{"Duration", "order.lasts"},
	{"Boolean", "order.rush"},
	{"true", "true"},
	{"State", "order.state"},
	{"State.Open", "State.Open"},
	{"Kind", "order.kind"},
	{"Customer", "order.customer"},
	{"Identity", "ctx.identity"},
	{"Item[]", "order.items"},
	{"items.price", "order.items.price"},
	{"items.owner", "order.items.owner"},
	{"Text[]", "order.tags"},
	{"items.tags", "order.items.tags"},
	{"Markdown[]", "inMarkdowns"},
	{"Number[]", "order.nums"},
	{"Decimal[]", "order.costs"},
	{"State[]", "order.states"},
	{"Boolean[]", "order.flags"},
	{"Date[]", "order.days"},
	{"File[]", "inFiles"},
	{"[text]", `["x"]`},
	{"[integer]", "[1]"},
	{"[State]", "[State.Open]"},
	{"[true]", "[true]"},
	{"[]", "[]"},
	{"null", "null"},
	{"File", "order.photo"},
	{"Vector", "order.shape"},
}

// The groups of operands that == compares. Without a colon each member meets all
// members, itself included; with one, each before it meets each behind it.
var equalityGroups = []string{
	"Text Markdown ID text",
	"Number Decimal integer decimal items.price",
	"Date Timestamp",
	"Date : text",
	"Timestamp : text",
	"Duration : text",
	"Duration",
	"Boolean true",
	"State State.Open",
	"Kind",
	"Customer items.owner",
	"Customer : ID text",
	"items.owner : ID text",
	"Identity",
	"Identity : ID text",
	"Text[] Markdown[] items.tags",
	"Text[] : [text] []",
	"items.tags : [text] []",
	"Markdown[] : [text] []",
	"Number[] Decimal[]",
	"Number[] : [integer] []",
	"Decimal[] : [integer] []",
	"State[]",
	"State[] : [State] []",
	"Boolean[]",
	"Boolean[] : [true] []",
	"Date[]",
	"Date[] : [text] []",
	"File[] : []",
	"null : Text Markdown ID text Number Decimal integer decimal Date Timestamp Duration Boolean true State State.Open Kind " +
		"Customer Identity Item[] items.price items.owner Text[] items.tags Markdown[] Number[] Decimal[] State[] Boolean[] Date[] File[] " +
		"[text] [integer] [State] [true] [] null File Vector",
}

var orderingGroups = []string{
	"Text Markdown text",
	"Number Decimal integer decimal items.price",
	"Date Timestamp",
	"Date : text",
	"Timestamp : text",
	"Duration : text",
	"Duration",
}

// The operands of in: the elements on the left of the colon, the containers on the
// right.
var membership = []string{
	"Text Markdown ID text null : Text[] Markdown[] items.tags [text]",
	"Number Decimal integer decimal items.price null : Number[] Decimal[] [integer] items.price",
	"Date Timestamp text null : Date[]",
	"Date Timestamp Duration : [text]",
	"State State.Open null : State[] [State]",
	"Boolean true null : Boolean[] [true]",
	"Customer items.owner ID text null : items.owner",
	"Customer items.owner Identity : [text]",
	"ID text null : Item[]",
	"null : File[] [integer]",
	"Text Markdown ID text Number Decimal integer decimal Date Timestamp Duration Boolean true State State.Open Kind " +
		"Customer Identity items.price items.owner null : []",
}

func TestOperatorTable(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	equality := groupPairs(equalityGroups)
	ordering := groupPairs(orderingGroups)
	in := map[[2]string]bool{}
	for _, row := range membership {
		left, right, _ := strings.Cut(row, " : ")
		for _, l := range strings.Fields(left) {
			for _, r := range strings.Fields(right) {
				in[[2]string{l, r}] = true
			}
		}
	}
	for _, l := range operandsOfTable {
		for _, r := range operandsOfTable {
			pair := [2]string{l.name, r.name}
			for _, op := range []string{"==", "!="} {
				checkCell(t, schema, l.text, op, r.text, equality[pair])
			}
			for _, op := range []string{"<", "<=", ">", ">="} {
				checkCell(t, schema, l.text, op, r.text, ordering[pair])
			}
			checkCell(t, schema, l.text, "in", r.text, in[pair])
		}
	}
}

// groupPairs returns all pairs that groups allow, in both orders.
func groupPairs(groups []string) map[[2]string]bool {
	pairs := map[[2]string]bool{}
	for _, group := range groups {
		members, others, ok := strings.Cut(group, " : ")
		if !ok {
			others = members
		}
		for _, a := range strings.Fields(members) {
			for _, b := range strings.Fields(others) {
				pairs[[2]string{a, b}], pairs[[2]string{b, a}] = true, true
			}
		}
	}
	return pairs
}

// checkCell checks one cell of the table, without the spelling of text literals for the
// type beside them.
func checkCell(t *testing.T, schema *testSchema, left, op, right string, want bool) {
	t.Helper()
	text := left + " " + op + " " + right
	var errs syntax.Errors
	n := Check(parse(t, text), schema.at(Where), &errs)
	if (n == nil) != (len(errs) > 0) {
		t.Errorf("%s: node is %v, but reported is %q", text, n, reported(errs))
	}
	if len(errs) > 1 {
		t.Errorf("%s: got %q, want one error at most", text, reported(errs))
	}
	got := !hasCode(errs, OperandTypes, ListElement)
	if got != want {
		t.Errorf("%s: accepted is %t, want %t; reported is %q", text, got, want, reported(errs))
	}
	if got && len(errs) > 0 && !hasCode(errs, BadLiteral) {
		t.Errorf("%s: got %q", text, reported(errs))
	}
}

func TestLogicalOperators(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	boolean := []string{"Boolean", "true"}
	for _, o := range operandsOfTable {
		for _, text := range []string{o.text, "!" + o.text, o.text + " && true", "false || " + o.text} {
			var errs syntax.Errors
			n := Check(parse(t, text), schema.at(Where), &errs)
			want := slices.Contains(boolean, o.name)
			if got := n != nil; got != want {
				t.Errorf("%s: accepted is %t, want %t; reported is %q", text, got, want, reported(errs))
			}
			if !want && (len(errs) != 1 || errs[0].Code != NotBoolean) {
				t.Errorf("%s: got %q, want one NotBoolean", text, reported(errs))
			}
		}
	}
}

// The table is complete for its readers: it has the classes of all checked operands
// that the checker accepts.
func TestPairsIsTheTable(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	tests := []struct {
		text        string
		left, right Class
	}{
		{`order.number == "x"`, ClassText, ClassText},
		{`order.due < "2027-03-01"`, ClassTemporal, ClassTemporal},
		{`order.customer == "x"`, ClassModel, ClassID},
		{`order.items == null`, ClassToMany, ClassNull},
		{`order.tags == ["a"]`, ClassArray, ClassList},
		{`order.photo != null`, ClassOpaque, ClassNull},
		{`order.count >= 1.5`, ClassNumeric, ClassNumeric},
	}
	for _, test := range tests {
		c := check(t, schema.at(Where), test.text).(*Compare)
		left, right := operandOf(c.Left).class, operandOf(c.Right).class
		if left != test.left || right != test.right {
			t.Errorf("%s: got classes %s and %s, want %s and %s", test.text, left, right, test.left, test.right)
		}
		if !paired(left, right, operators(c.Op)) {
			t.Errorf("%s: %s and %s are not a pair", test.text, left, right)
		}
	}
	c := check(t, schema.at(Where), "order.state in order.states").(*Compare)
	if element, ok := elementOf(c.Right); !ok || element.class != ClassEnum {
		t.Errorf("order.states has elements of class %s, %t; want enum", element.class, ok)
	}
}
