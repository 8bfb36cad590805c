package expr

import (
	"slices"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Each error is asserted as its code and the text that it points to.
func TestCheckReports(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	custom := schema.at(ActionRule)
	custom.isReadOrWrite = true
	tests := []struct {
		name  string
		scope Scope
		text  string
		want  []string
	}{
		{"nothing nameable", schema.at(Where), `oder.number == "x"`, []string{`UnknownName oder`}},
		{"role is not a name", schema.at(ActionRule), `Staff`, []string{`UnknownName Staff`}},
		{"variable before input", schema.at(Where), `order == "x"`, nil},
		{"variable of another model", schema.at(Where), `item.price > 1`, []string{`UnknownName item`}},
		{"inputs of no model rule", schema.at(ModelRule), `inText == "x"`, []string{`UnknownName inText`}},
		{"inputs of no model validation", schema.at(ModelValidate), `inText == "x"`, []string{`UnknownName inText`}},
		{"inputs of no arm", schema.at(ArmWhere), `inText == "x"`, []string{`UnknownName inText`}},
		{"row of no action's validation", schema.at(ActionValidate), `order.number == "x"`, []string{`UnknownName order`}},
		{"row of an action's validation hides its input", schema.at(ActionValidate), `order == "x"`, []string{`UnknownName order`}},
		{"ctx of no model validation", schema.at(ModelValidate), `order.at < ctx.now`, []string{`UnknownName ctx`}},
		{"ctx of no arm", schema.at(ArmWhere), `ctx.isAuthenticated`, []string{`UnknownName ctx`}},
		{"ctx in a rule", schema.at(ModelRule), `ctx.isAuthenticated && order.customer.identity == ctx.identity`, nil},
		{"bare ctx", schema.at(Where), `ctx == null`, []string{`UnknownName ctx`}},
		{"unknown part of ctx", schema.at(Where), `ctx.identiy == null`, []string{`UnknownName identiy`}},
		{"bare headers", schema.at(Where), `ctx.headers == null`, []string{`UnknownName headers`}},
		{"any header", schema.at(Where), `ctx.headers.XAnything != ""`, nil},
		{"header's field", schema.at(Where), `ctx.headers.XAnything.foo != ""`, []string{`UnknownField foo`}},
		{"declared names", schema.at(Where), `ctx.env.REGION == ctx.secrets.KEY`, nil},
		{"undeclared names", schema.at(Where), `ctx.env.KEY == ctx.secrets.REGION`, []string{`UnknownName KEY`, `UnknownName REGION`}},
		{"second factor in a rule", schema.at(ModelRule), `ctx.secondFactor && !(ctx.signedInWithin("90 seconds") || ctx.signedInWithin("1 day"))`, nil},
		{"second factor of a role", schema.at(RoleRule), `ctx.secondFactor == true && ctx.signedInWithin("5 minutes")`, nil},
		{"second factor in @where", schema.at(Where), `ctx.secondFactor`, []string{`SecondFactorPlace ctx.secondFactor`}},
		{"time in @where", schema.at(Where), `ctx.signedInWithin("5 minutes")`, []string{`SecondFactorPlace ctx.signedInWithin("5 minutes")`}},
		{"no time", schema.at(ActionRule), `ctx.signedInWithin("0 minutes")`, []string{`SecondFactorPlace ctx.signedInWithin("0 minutes")`}},
		{"time past", schema.at(ActionRule), `ctx.signedInWithin("-5 minutes")`, []string{`SecondFactorPlace ctx.signedInWithin("-5 minutes")`}},
		{"month", schema.at(ActionRule), `ctx.signedInWithin("1 month")`, []string{`SecondFactorPlace ctx.signedInWithin("1 month")`}},
		{"injected time", schema.at(ActionRule), `ctx.signedInWithin("5 minutes'")`, []string{`SecondFactorPlace ctx.signedInWithin("5 minutes'")`}},
		{"number as time", schema.at(ActionRule), `ctx.signedInWithin(5)`, []string{`SecondFactorPlace ctx.signedInWithin(5)`}},
		{"two times", schema.at(ActionRule), `ctx.signedInWithin("1 day", "2 days")`, []string{`SecondFactorPlace ctx.signedInWithin("1 day", "2 days")`}},
		{"time not called", schema.at(ActionRule), `ctx.signedInWithin`, []string{`SecondFactorPlace ctx.signedInWithin`}},
		{"second factor's field", schema.at(ActionRule), `ctx.secondFactor.kind == 1`, []string{`UnknownField kind`}},
		{"now's field", schema.at(Where), `ctx.now.year == 1`, []string{`UnknownField year`}},

		{"unknown field", schema.at(Where), `order.nummer == "x"`, []string{`UnknownField nummer`}},
		{"unknown field behind a relation", schema.at(Where), `order.customer.identity.nme == "x"`, []string{`UnknownField nme`}},
		{"field of a scalar", schema.at(Where), `order.number.length == 1`, []string{`UnknownField length`}},
		{"field of an input", schema.at(Where), `inText.length == 1`, []string{`UnknownField length`}},
		{"field of the identity", schema.at(Where), `ctx.identity.mail == "x"`, []string{`UnknownField mail`}},
		{"field of an enum value", schema.at(Where), `order.state == State.Open.x`, []string{`UnknownField x`}},

		{"unknown enum value", schema.at(Where), `order.state == State.Opn`, []string{`UnknownEnumValue Opn`}},
		{"bare enum", schema.at(Where), `order.state == State`, []string{`UnknownEnumValue State`}},
		{"value of another enum", schema.at(Where), `order.state == Kind.A`, []string{`OperandTypes order.state == Kind.A`}},

		{"source model", schema.union(), `event.sourceModel == "Invoice" || event.sourceModel != null`, nil},
		{"source arm", schema.union(), `event.sourceArm in ["payment", "note"] && "note" != event.sourceArm`, nil},
		{"unknown source model", schema.union(), `event.sourceModel == "invoice"`, []string{`UnknownArm "invoice"`}},
		{"unknown source arm", schema.union(), `event.sourceArm in ["payment", "paymnt", "Note"]`, []string{`UnknownArm "paymnt"`, `UnknownArm "Note"`}},
		{"source with a path", schema.union(), `event.sourceArm == event.title`, []string{`OperandTypes event.sourceArm == event.title`}},
		{"source with a header", schema.union(), `ctx.headers.X == event.sourceModel`, []string{`OperandTypes ctx.headers.X == event.sourceModel`}},
		{"source has no order", schema.union(), `event.sourceArm < "note"`, []string{`OperandTypes event.sourceArm < "note"`}},
		{"source in a list of paths", schema.union(), `event.sourceArm in [ctx.headers.X]`, []string{`ListElement ctx.headers.X`}},
		{"source in a list", schema.union(), `event.sourceArm == ["note"]`, []string{`OperandTypes event.sourceArm == ["note"]`}},
		{"source in nothing", schema.union(), `event.sourceArm in []`, nil},
		{"source as element", schema.union(), `"note" in event.sourceArm`, []string{`OperandTypes "note" in event.sourceArm`}},
		{"other field of a union", schema.union(), `event.title == "x" && event.amount > 1`, nil},

		{"scalar as a whole", schema.at(Where), `order.number`, []string{`NotBoolean order.number`}},
		{"both operands", schema.at(Where), `order.number && !order.count`, []string{`NotBoolean order.number`, `NotBoolean order.count`}},
		{"Boolean array", schema.at(Where), `order.flags`, []string{`NotBoolean order.flags`}},
		{"null as a condition", schema.at(Where), `null || order.rush`, []string{`NotBoolean null`}},
		{"list as a condition", schema.at(Where), `[true]`, []string{`NotBoolean [true]`}},
		{"Boolean behind a to-many", schema.at(Where), `order.items.done && order.rush`, nil},

		{"enum order", schema.at(Where), `order.state < State.Open`, []string{`OperandTypes order.state < State.Open`}},
		{"array with element", schema.at(Where), `order.tags == "x"`, []string{`OperandTypes order.tags == "x"`}},
		{"ID order", schema.at(Where), `order.id < "x"`, []string{`OperandTypes order.id < "x"`}},
		{"order with null", schema.at(Where), `order.count < null`, []string{`OperandTypes order.count < null`}},
		{"other model", schema.at(Where), `order.customer == order`, []string{`OperandTypes order.customer == order`}},
		{"in no list", schema.at(Where), `order.number in order.note`, []string{`OperandTypes order.number in order.note`}},
		{"in nothing but null", schema.at(Where), `order.number in null`, []string{`OperandTypes order.number in null`}},
		{"array in an array", schema.at(Where), `order.tags in order.items.tags`, []string{`OperandTypes order.tags in order.items.tags`}},

		{"comparison of a comparison", schema.at(Where), `(order.rush == true) == order.rush`, []string{`NestedComparison (order.rush == true)`}},
		{"comparison of a logical expression", schema.at(Where), `order.rush == (order.rush && true)`, []string{`NestedComparison (order.rush && true)`}},
		{"comparison of a negation", schema.at(Where), `!order.rush == true`, []string{`NestedComparison !order.rush`}},
		{"chain", schema.at(Where), `1 < order.count < 2 < 3`, []string{`NestedComparison 1 < order.count < 2`}},
		{"errors within a nested comparison", schema.at(Where), `(order.nummer == "x") == order.ruhs`, []string{`NestedComparison (order.nummer == "x")`, `UnknownField nummer`, `UnknownField ruhs`}},
		{"nested comparison within a nested one", schema.at(Where), `(true && (order.rush == true) == true) == true`,
			[]string{`NestedComparison (true && (order.rush == true) == true)`, `NestedComparison (order.rush == true)`}},

		{"arithmetic", schema.at(Where), `order.count * 2 - order.maybe >= -order.price / 3 && order.number + "-" + order.note != "x"`, nil},
		{"arithmetic of times", schema.at(Where), `order.at + "P1D" > ctx.now - order.lasts && order.due - "2027-01-01" < "P3D" && "P1D" + order.lasts == -order.lasts`, nil},
		{"arithmetic of a literal time", schema.at(Where), `"2027-01-01" + order.lasts == order.at && "P1D" - order.lasts == order.lasts && "2027-01-01T00:00:00Z" - order.at > "P1D"`, nil},
		{"arithmetic through a to-many", schema.at(Where), `order.items.price * 2 > order.price && 5 in order.items.price`, nil},
		{"arithmetic tested for null", schema.at(Where), `order.maybe + 1 == null`, nil},
		{"arithmetic in a rule of a model", schema.at(ModelValidate), `order.count + 1 > order.maybe`, nil},
		{"arithmetic of a text and a number", schema.at(Where), `order.number + 1 == "x"`, []string{`OperandTypes order.number + 1`}},
		{"arithmetic of an ID", schema.at(Where), `order.id + "x" == "x"`, []string{`OperandTypes order.id + "x"`}},
		{"difference of texts", schema.at(Where), `order.number - "x" == "y" || "a" - "b" == "c"`, []string{`OperandTypes order.number - "x"`, `OperandTypes "a" - "b"`}},
		{"sum of times", schema.at(Where), `order.at + order.due > ctx.now`, []string{`OperandTypes order.at + order.due`}},
		{"Duration before a time", schema.at(Where), `order.lasts + order.at > ctx.now`, []string{`OperandTypes order.lasts + order.at`}},
		{"arithmetic with null", schema.at(Where), `order.count + null == 1`, []string{`OperandTypes order.count + null`}},
		{"arithmetic of a condition", schema.at(Where), `(order.rush == true) + 1 == 2`, []string{`OperandTypes order.rush == true`}},
		{"arithmetic of a Boolean, an enum, an array and a row", schema.at(Where), `order.rush + 1 == 1 || order.state + "x" == "x" || order.nums * 2 == 1 || order.customer + 1 == 1`,
			[]string{`OperandTypes order.rush + 1`, `OperandTypes order.state + "x"`, `OperandTypes order.nums * 2`, `OperandTypes order.customer + 1`}},
		{"opposite of a text", schema.at(Where), `-order.number == "x"`, []string{`OperandTypes -order.number`}},
		{"arithmetic as a condition", schema.at(Where), `order.count + 1`, []string{`NotBoolean order.count + 1`}},
		{"arithmetic of a Secret", schema.at(Where), `order.token + "x" == "x"`, []string{`WriteOnlyField order.token`}},
		{"arithmetic in a list", schema.at(Where), `order.count in [1 + 1, -inNumber]`, []string{`ListElement 1 + 1`, `ListElement -inNumber`}},
		{"bad Duration", schema.at(Where), `order.at + "soon" > ctx.now`, []string{`BadLiteral "soon"`}},
		{"unknown names in arithmetic", schema.at(Where), `order.cuont + order.pirce > 1`, []string{`UnknownField cuont`, `UnknownField pirce`}},
		{"aggregate", schema.at(Where), `SUM(order.items.price) > 1`, []string{`BadAggregate SUM(order.items.price)`}},

		{"functions", schema.at(Where), `ROUND(order.price, 2) * 2 == ABS(-order.count) && FLOOR(order.price) < CEIL(order.price / 3) && ROUND(order.price) in inNumbers`, nil},
		{"functions of texts", schema.at(Where), `LOWER(TRIM(order.number)) == UPPER("x") && LENGTH(order.note) > 3 && LENGTH(order.number + "x") == 1`, nil},
		{"functions of two values", schema.at(Where), `LEAST(order.count, order.price, 0.5) < GREATEST(1, 2) && LEAST(order.at, order.due) < ctx.now && GREATEST(order.due, "2027-01-01") == order.due`, nil},
		{"the first value", schema.at(Where), `COALESCE(order.maybe, 0) == 0 && COALESCE(order.id, "x") == order.id && COALESCE(order.state, State.Open) == State.Open && COALESCE(order.customer, order.customer) == order.customer`, nil},
		{"a function as a condition", schema.at(Where), `COALESCE(order.rush, false) || !COALESCE(order.items.done, true)`, nil},
		{"a function tested for null", schema.at(Where), `LEAST(order.maybe, order.count) == null`, nil},
		{"a function in a rule of a model", schema.at(ModelValidate), `ROUND(order.price, 2) == order.price && TRIM(order.number) != ""`, nil},
		{"a function of a function", schema.at(Where), `ROUND(LEAST(ABS(order.price), LENGTH(order.number)), 18) > 1`, nil},
		{"no such function", schema.at(Where), `TRUNC(order.price) > 1`, []string{`BadFunction TRUNC(order.price)`}},
		{"a function in small letters", schema.at(Where), `round(order.price) > 1`, []string{`UnsupportedOperator round(order.price)`}},
		{"too few values", schema.at(Where), `LEAST(order.price) > ROUND()`, []string{`BadFunction LEAST(order.price)`, `BadFunction ROUND()`}},
		{"too many values", schema.at(Where), `ABS(order.price, 1) > ROUND(order.price, 1, 2)`, []string{`BadFunction ABS(order.price, 1)`, `BadFunction ROUND(order.price, 1, 2)`}},
		{"digits", schema.at(Where), `ROUND(order.price, 19) > ROUND(order.price, -1) + ROUND(order.price, 1.0) * ROUND(order.price, order.count)`,
			[]string{`BadFunction 19`, `BadFunction -1`, `BadFunction 1.0`, `BadFunction order.count`}},
		{"the length of a number", schema.at(Where), `LENGTH(order.count) > LENGTH(order.tags)`, []string{`BadFunction order.count`, `BadFunction order.tags`}},
		{"the least enum, Boolean, ID and null", schema.at(Where), `LEAST(order.state, order.rush) == LEAST(order.id, null)`,
			[]string{`BadFunction order.state`, `BadFunction order.rush`, `BadFunction order.id`, `BadFunction null`}},
		{"values of two types", schema.at(Where), `COALESCE(order.count, "x") == COALESCE(order.number, order.id)`, []string{`BadFunction COALESCE(order.count, "x")`, `BadFunction COALESCE(order.number, order.id)`}},
		{"a literal of a function", schema.at(Where), `LEAST(order.due, "soon") == order.due`, []string{`BadLiteral "soon"`}},
		{"a function of a condition", schema.at(Where), `COALESCE(order.count > 1, true)`, []string{`OperandTypes order.count > 1`}},
		{"a function of a Secret", schema.at(Where), `LENGTH(order.token) > 1`, []string{`WriteOnlyField order.token`}},
		{"a function in a list", schema.at(Where), `order.count in [ABS(1)]`, []string{`ListElement ABS(1)`}},
		{"a number by a function as a condition", schema.at(Where), `ABS(order.count)`, []string{`NotBoolean ABS(order.count)`}},

		{"row in a list", schema.at(Where), `"x" in [order.number]`, []string{`ListElement order.number`}},
		{"null in a list", schema.at(Where), `order.number in ["x", null]`, []string{`ListElement null`}},
		{"list in a list", schema.at(Where), `order.number in [["x"]]`, []string{`ListElement ["x"]`}},
		{"condition in a list", schema.at(Where), `order.rush in [!true, 1 == 1]`, []string{`ListElement !true`, `ListElement 1 == 1`}},
		{"incomparable elements", schema.at(Where), `order.count in [1, "x", true, inNumbers]`, []string{`ListElement "x"`, `ListElement true`, `ListElement inNumbers`}},
		{"incomparable elements of an array", schema.at(Where), `order.tags == ["x", 1]`, []string{`ListElement 1`}},
		{"elements of ctx", schema.at(Where), `order.number in [inText, ctx.env.REGION, ctx.identity.email]`, nil},
		{"literal in inputs", schema.at(Where), `"2027-03-01" in [inDate]`, nil},
		{"literal in inputs of two types", schema.at(Where), `"2027-03-01" in [inDate, inText]`, []string{`ListElement inText`}},

		{"Secret", schema.at(Where), `order.token == "x"`, []string{`WriteOnlyField order.token`}},
		{"Password of the caller", schema.at(Where), `ctx.identity.password == inPassword`, []string{`WriteOnlyField ctx.identity.password`, `WriteOnlyField inPassword`}},
		{"Secret as a condition", schema.at(Where), `order.token`, []string{`WriteOnlyField order.token`}},
		{"Secret in a list", schema.at(Where), `order.number in [inSecret]`, []string{`WriteOnlyField inSecret`}},
		{"Secret behind a relation", schema.at(Where), `order.customer.secret < "x"`, []string{`WriteOnlyField order.customer.secret`}},
		{"tests for null", schema.at(Where), `order.token == null && null != ctx.identity.password && inSecret != null`, nil},
		{"order with null is not a test", schema.at(Where), `order.token < null`, []string{`WriteOnlyField order.token`}},

		{"input of a list", schema.at(Where), `order.number == filtered`, []string{`ListInput filtered`}},
		{"input of many rows", schema.at(ActionValidate), `itemsWhat != ""`, []string{`ManyInput itemsWhat`}},

		{"row in a rule for read", custom, `order.rush || ctx.isAuthenticated`, []string{`RowInRule order`}},
		{"no row in a rule for read", custom, `inText == "x" && ctx.isAuthenticated`, nil},

		{"own fields", schema.at(ModelValidate), `order.count > 0 || order.customer != null || order.customerId == "x" || order.token == null`, nil},
		{"field behind a relation", schema.at(ModelValidate), `order.customer.name != "" && order.customer == order.other && order.bill != null && order.customer == "x"`, nil},
		{"through a to-many", schema.at(ModelValidate), `order.items == null || order.items.what == "x"`, []string{`NotOwnField order.items`, `NotOwnField order.items.what`}},
		{"a Secret of another row", schema.at(ModelValidate), `order.customer.secret == null`, []string{`NotOwnField order.customer.secret`}},
		{"two models", schema.at(ModelValidate), `order.customer == order`, []string{`NotOwnField order`}},
		{"field behind a relation in an event", schema.at(EventWhere), `order.customer.name != ""`, []string{`NotOwnField order.customer.name`}},
		{"to-one in an event", schema.at(EventWhere), `order.customer == order.other && order.customer != null`, []string{`NotOwnField order.customer`, `NotOwnField order.other`}},
		{"row as a whole", schema.at(ModelValidate), `order == null`, []string{`NotOwnField order`}},
		{"unknown field behind a relation only", schema.at(ModelValidate), `order.customer.nme != ""`, []string{`UnknownField nme`}},

		{"no such day", schema.at(Where), `order.due == "2027-02-30"`, []string{`BadLiteral "2027-02-30"`}},
		{"Date beside a Timestamp", schema.at(Where), `"2027-03-01" < order.at`, []string{`BadLiteral "2027-03-01"`}},
		{"no Duration", schema.at(Where), `order.lasts > "1 hour"`, []string{`BadLiteral "1 hour"`}},
		{"days", schema.at(Where), `order.due in ["2027-02-28", "2027-02-29"]`, []string{`BadLiteral "2027-02-29"`}},
		{"days of an array", schema.at(Where), `order.days != ["2027"]`, []string{`BadLiteral "2027"`}},
		{"day in an array", schema.at(Where), `"2027" in order.days`, []string{`BadLiteral "2027"`}},
		{"greatest Number", schema.at(Where), `order.count == 9007199254740991 || order.count == -9007199254740991`, nil},
		{"too great a Number", schema.at(Where), `order.count == 9007199254740992`, []string{`BadLiteral 9007199254740992`}},
		{"too small a Number", schema.at(Where), `-9007199254740992 < order.count`, []string{`BadLiteral -9007199254740992`}},
		{"great as a Decimal", schema.at(Where), `order.price == 9007199254740992`, nil},
		{"too great a Decimal", schema.at(Where), `order.price < 1e38`, []string{`BadLiteral 1e38`}},
		{"too fine a Decimal", schema.at(Where), `order.price < 1e-19`, []string{`BadLiteral 1e-19`}},

		{"every independent error once", schema.at(Where), `order.nummer == foo && !(order.count || order.state < State.Opn)`,
			[]string{`UnknownField nummer`, `UnknownName foo`, `NotBoolean order.count`, `UnknownEnumValue Opn`}},
		{"nothing that follows", schema.at(Where), `order.nummer < State.Open`, []string{`UnknownField nummer`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var errs syntax.Errors
			n := Check(parse(t, test.text), test.scope, &errs)
			if got := reported(errs); !slices.Equal(got, test.want) {
				t.Errorf("%s:\n got %q\nwant %q", test.text, got, test.want)
			}
			if (n == nil) != (len(errs) > 0) {
				t.Errorf("%s: node is %v, but reported is %q", test.text, n, reported(errs))
			}
		})
	}
}

func TestCheckValueReports(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	tests := []struct {
		place  Place
		target string // its type
		text   string
		want   []string
	}{
		{SetValue, "Text", `"x"`, nil},
		{SetValue, "Text", `order.note`, nil},
		{SetValue, "Text", `inID`, nil},
		{SetValue, "Text", `ctx.headers.X`, nil},
		{SetValue, "Text", `order.count`, []string{`TypeMismatch order.count`}},
		{SetValue, "Text", `1`, []string{`TypeMismatch 1`}},
		{SetValue, "Text", `State.Open`, []string{`TypeMismatch State.Open`}},
		{SetValue, "Text", `order.tags`, []string{`TypeMismatch order.tags`}},
		{SetValue, "Markdown", `order.number`, nil},
		{SetValue, "ID", `order.number`, nil},
		{SetValue, "ID", `order.note`, []string{`TypeMismatch order.note`}},
		{SetValue, "ID", `ctx.identity`, []string{`TypeMismatch ctx.identity`}},
		{SetValue, "Number", `-1`, nil},
		{SetValue, "Number", `inNumber`, nil},
		{SetValue, "Number", `1.5`, []string{`TypeMismatch 1.5`}},
		{SetValue, "Number", `order.price`, []string{`TypeMismatch order.price`}},
		{SetValue, "Number", `9007199254740992`, []string{`BadLiteral 9007199254740992`}},
		{SetValue, "Decimal", `1.5`, nil},
		{SetValue, "Decimal", `9007199254740992`, nil},
		{SetValue, "Decimal", `order.count`, nil},
		{SetValue, "Decimal", `1e99`, []string{`BadLiteral 1e99`}},
		{SetValue, "Boolean", `ctx.isAuthenticated`, nil},
		{SetValue, "Boolean", `false`, nil},
		{SetValue, "Boolean", `0`, []string{`TypeMismatch 0`}},
		{SetValue, "Date", `"2027-03-01"`, nil},
		{SetValue, "Date", `"2027-03-01T09:00:00Z"`, []string{`BadLiteral "2027-03-01T09:00:00Z"`}},
		{SetValue, "Date", `order.at`, nil},
		{SetValue, "Date", `order.number`, []string{`TypeMismatch order.number`}},
		{SetValue, "Timestamp", `ctx.now`, nil},
		{SetValue, "Timestamp", `inDate`, nil},
		{SetValue, "Timestamp", `"2027-03-01T09:00:00"`, []string{`BadLiteral "2027-03-01T09:00:00"`}},
		{SetValue, "Duration", `"PT90M"`, nil},
		{SetValue, "Duration", `inText`, []string{`TypeMismatch inText`}},
		{SetValue, "State", `State.Open`, nil},
		{SetValue, "State", `inState`, nil},
		{SetValue, "State", `Kind.A`, []string{`TypeMismatch Kind.A`}},
		{SetValue, "State", `"Open"`, []string{`TypeMismatch "Open"`}},
		{SetValue, "File", `inFile`, nil},
		{SetValue, "File", `"x"`, []string{`TypeMismatch "x"`}},
		{SetValue, "Vector", `inVector`, nil},
		{SetValue, "Password", `inPassword`, nil},
		{SetValue, "Password", `inText`, nil},
		{SetValue, "Password", `"x"`, nil},
		{SetValue, "Password", `inSecret`, []string{`WriteOnlyField inSecret`}},
		{SetValue, "Password", `inID`, []string{`TypeMismatch inID`}},
		{SetValue, "Secret", `order.token`, []string{`TypeMismatch order.token`}},
		{SetValue, "Text", `inPassword`, []string{`WriteOnlyField inPassword`}},
		{SetValue, "Text", `ctx.identity.password`, []string{`WriteOnlyField ctx.identity.password`}},
		{SetValue, "Customer", `order.other`, nil},
		{SetValue, "Customer", `ctx.identity.customer`, nil},
		{SetValue, "Customer", `order.otherId`, nil},
		{SetValue, "Customer", `"x"`, nil},
		{SetValue, "Customer", `inText`, []string{`TypeMismatch inText`}},
		{SetValue, "Customer", `ctx.identity`, []string{`TypeMismatch ctx.identity`}},
		{SetValue, "Order", `order`, nil},
		{SetValue, "Text[]", `["x", "y"]`, nil},
		{SetValue, "Text[]", `[]`, nil},
		{SetValue, "Text[]", `inTexts`, nil},
		{SetValue, "Text[]", `inMarkdowns`, []string{`TypeMismatch inMarkdowns`}},
		{SetValue, "Text[]", `"x"`, []string{`TypeMismatch "x"`}},
		{SetValue, "Text[]", `["x", 1, null, inText, ["y"]]`, []string{`TypeMismatch 1`, `ListElement null`, `ListElement inText`, `ListElement ["y"]`}},
		{SetValue, "Text[]", `["x", foo]`, []string{`UnknownName foo`}},
		{SetValue, "Number[]", `[-1, 9007199254740992]`, []string{`BadLiteral 9007199254740992`}},
		{SetValue, "Decimal[]", `[-1, 1.5]`, nil},
		{SetValue, "Decimal[]", `inNumbers`, []string{`TypeMismatch inNumbers`}},
		{SetValue, "State[]", `[State.Open, State.Closed]`, nil},
		{SetValue, "State[]", `[State.Opn, Kind.A]`, []string{`UnknownEnumValue Opn`, `TypeMismatch Kind.A`}},
		{SetValue, "Date[]", `["2027-03-01", "2027-03-32"]`, []string{`BadLiteral "2027-03-32"`}},
		{SetValue, "Text", `["x"]`, []string{`TypeMismatch ["x"]`}},
		{SetValue, "Text?", `null`, nil},
		{SetValue, "Text", `null`, []string{`NullIntoRequired null`}},
		{SetValue, "Text[]", `null`, []string{`NullIntoRequired null`}},
		{SetValue, "Text[]?", `null`, nil},
		{SetValue, "Text", `order.customer.nick`, nil},
		{SetValue, "Decimal", `order.items.price`, []string{`SetManyValues order.items.price`}},
		{SetValue, "Customer", `order.items.owner`, []string{`SetManyValues order.items.owner`}},
		{SetValue, "Item", `order.items`, []string{`SetManyValues order.items`}},
		{SetValue, "Text", `itemsWhat`, []string{`ManyInput itemsWhat`}},
		{SetValue, "Text", `order.nummer`, []string{`UnknownField nummer`}},
		{SetValue, "Boolean", `!order.rush`, []string{`NotSupportedYet !order.rush`}},
		{SetValue, "Boolean", `order.rush && true`, []string{`NotSupportedYet order.rush && true`}},

		{SetValue, "Number", `order.count - inNumber`, nil},
		{SetValue, "Decimal", `order.count - inNumber`, nil},
		{SetValue, "Decimal", `-order.price`, nil},
		{SetValue, "Number", `order.count * 1.5`, []string{`TypeMismatch order.count * 1.5`}},
		{SetValue, "Number", `order.count / 2`, []string{`TypeMismatch order.count / 2`}},
		{SetValue, "Text", `order.number + "-" + inText`, nil},
		{SetValue, "Text", `order.count + 1`, []string{`TypeMismatch order.count + 1`}},
		{SetValue, "Date", `order.due + "P1M"`, nil},
		{SetValue, "Duration", `ctx.now - order.at`, nil},
		{SetValue, "Decimal", `order.items.price + 1`, []string{`SetManyValues order.items.price`}},
		{SetValue, "Decimal", `SUM(order.items.price)`, []string{`BadAggregate SUM(order.items.price)`}},
		{ArmValue, "Decimal", `order.count + 1`, nil},
		{ArmValue, "Number", `order.maybe + 1`, []string{`ArmField order.maybe + 1`}},
		{ArmValue, "Decimal", `order.price / 2`, nil},
		{ArmValue, "Decimal", `order.price / order.count`, []string{`ArmField order.price / order.count`}},
		{ArmValue, "Date", `order.due + "P1D"`, []string{`ArmField order.due + "P1D"`}},
		{Default, "Number", `1 + 1`, []string{`DefaultNotConstant 1 + 1`}},

		{Default, "Text", `"x"`, nil},
		{Default, "Timestamp", `ctx.now`, nil},
		{Default, "Date", `ctx.now`, nil},
		{Default, "Text", `ctx.now`, []string{`TypeMismatch ctx.now`}},
		{Default, "Text", `ctx.env.REGION`, []string{`DefaultNotConstant ctx.env.REGION`}},
		{Default, "Boolean", `ctx.isAuthenticated`, []string{`DefaultNotConstant ctx.isAuthenticated`}},
		{Default, "Text", `order.note`, []string{`DefaultNotConstant order.note`}},
		{Default, "Text", `foo`, []string{`DefaultNotConstant foo`}},
		{Default, "Boolean", `true && false`, []string{`DefaultNotConstant true && false`}},
		{Default, "Boolean", `!true`, []string{`DefaultNotConstant !true`}},
		{Default, "State", `State.Open`, nil},
		{Default, "State", `State.Opn`, []string{`UnknownEnumValue Opn`}},
		{Default, "State", `Stat.Open`, []string{`UnknownName Stat`}},
		{Default, "Number", `-1`, nil},
		{Default, "Number", `null`, []string{`NullIntoRequired null`}},
		{Default, "Number?", `null`, nil},
		{Default, "Date[]", `["2027-03-01"]`, nil},
		{Default, "Timestamp[]", `[ctx.now]`, []string{`DefaultNotConstant ctx.now`}},
		{Default, "Text[]", `[["x"], null]`, []string{`DefaultNotConstant ["x"]`, `ListElement null`}},

		{ArmValue, "Text", `order.number`, nil},
		{ArmValue, "Text", `order.customer.name`, nil},
		{ArmValue, "Text", `order.note`, []string{`ArmField order.note`}},
		{ArmValue, "Text", `order.customer.nick`, []string{`ArmField order.customer.nick`}},
		{ArmValue, "Text", `order.other.name`, []string{`ArmField order.other.name`}},
		{ArmValue, "Text?", `order.other.name`, nil},
		{ArmValue, "Text", `order.id`, []string{`ArmField order.id`}},
		{ArmValue, "ID", `order.customerId`, nil},
		{ArmValue, "Decimal", `order.count`, nil},
		{ArmValue, "Number", `order.price`, []string{`ArmField order.price`}},
		{ArmValue, "Timestamp?", `order.due`, []string{`ArmField order.due`}},
		{ArmValue, "Decimal", `order.items.price`, []string{`ArmField order.items.price`}},
		{ArmValue, "Text", `"x"`, nil},
		{ArmValue, "Number", `"x"`, []string{`ArmField "x"`}},
		{ArmValue, "Date", `"2027"`, []string{`BadLiteral "2027"`}},
		{ArmValue, "Text", `null`, []string{`NullIntoRequired null`}},
		{ArmValue, "Text?", `null`, nil},
		{ArmValue, "Text", `ctx.env.REGION`, []string{`UnknownName ctx`}},
		{ArmValue, "Boolean", `!order.rush`, []string{`ArmField !order.rush`}},
		{ArmValue, "Text", `order.token`, []string{`WriteOnlyField order.token`}},
		{ArmValue, "Text[]", `order.tags`, nil},
		{ArmValue, "Text[]", `["x"]`, nil},
	}
	for _, test := range tests {
		typ, optional := testType(test.target)
		target := Target{Type: typ, Optional: optional, Name: "order.target"}
		var errs syntax.Errors
		n := CheckValue(parse(t, test.text), target, schema.at(test.place), &errs)
		if got := reported(errs); !slices.Equal(got, test.want) {
			t.Errorf("place %d, %s = %s:\n got %q\nwant %q", test.place, test.target, test.text, got, test.want)
		}
		if (n == nil) != (len(errs) > 0) {
			t.Errorf("place %d, %s = %s: node is %v, but reported is %q", test.place, test.target, test.text, n, reported(errs))
		}
	}
}

// Syntax errors have been reported and are not reported again.
func TestCheckIsSilentOnWhatDidNotParse(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	for _, text := range []string{`order.count % 1 == 2`, `order.number.len() == 1`, `order. == 1`, `[order.number[1]] == 1`, `"\q" == order.number && order.count`} {
		var syntaxErrs, errs syntax.Errors
		e := parseOrNil("model Order {\n@validate("+text+"\n)}", &syntaxErrs)
		if len(syntaxErrs) == 0 {
			t.Errorf("%s: parses, so it shows nothing", text)
		}
		if e == nil {
			continue
		}
		n := Check(e, schema.at(Where), &errs)
		if n != nil || hasCode(errs, OperandTypes, UnknownField, UnknownName) {
			t.Errorf("%s: got node %v and %q, want no node and silence", text, n, reported(errs))
		}
		value := CheckValue(e, Target{Type: Type{Kind: Text}, Name: "order.number"}, schema.at(SetValue), &errs)
		if value != nil {
			t.Errorf("%s: got value %v, want none", text, value)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	tests := []struct{ text, want string }{
		{`order.nummer == "x"`, `Order has no field "nummer" (did you mean "number"?)`},
		{`ordr.number == "x"`, `nothing here is called "ordr" (did you mean "order"?)`},
		{`number == "x"`, `nothing here is called "number" (did you mean "order.number"?)`},
		{`order.state == Stat.Open`, `nothing here is called "Stat" (did you mean "State"?)`},
		{`order.state == State.Opne`, `enum State has no value "Opne" (did you mean "Open"?)`},
		{`inTxet == "x"`, `nothing here is called "inTxet" (did you mean "inText"?)`},
		{`ctx.env.REGOIN == "x"`, `the configuration declares no "REGOIN" under environment (did you mean "REGION"?)`},
		{`ctx.identty == null`, `ctx has no "identty" (did you mean "identity"?); it has identity, isAuthenticated, secondFactor, signedInWithin, now, headers, env and secrets`},
		{`order.state == "Open"`, `a value of enum State cannot be compared with a text literal by ==; a value of the enum is written State.Open`},
		{`order.items == order.items.owner`, `a to-many of Item cannot be compared with a row of Customer by ==; use in to find a row in a to-many`},
		{`order.tags == "x"`, `an array Text[] cannot be compared with a text literal by ==; use in to find an element in an array`},
		{`order.number in "x"`, `the right side of in must be a list, an array or a to-many, but it is a text literal`},
	}
	for _, test := range tests {
		var errs syntax.Errors
		Check(parse(t, test.text), schema.at(Where), &errs)
		if len(errs) != 1 || errs[0].Message != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.text, errs[0].Message, test.want)
		}
	}
}
