package expr

import (
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// The schema of these tests, one field a line as the language writes it. A field
// without column is marked virtual.
var testModels = map[string]string{
	"Order": `
		id ID
		number Text
		note Markdown?
		state State
		kind Kind?
		rush Boolean
		hidden Boolean?
		count Number
		maybe Number?
		price Decimal
		due Date?
		at Timestamp
		lasts Duration?
		photo File?
		shape Vector?
		token Secret?
		pass Password?
		tags Text[]
		nums Number[]
		costs Decimal[]?
		states State[]
		flags Boolean[]
		days Date[]
		customer Customer
		customerId ID
		other Customer?
		otherId ID?
		parent Order?
		parentId ID?
		bill Bill? virtual
		items Item[] virtual`,
	"Item": `
		id ID
		order Order
		orderId ID
		what Text
		note Text?
		price Decimal
		done Boolean?
		tags Text[]
		owner Customer?
		ownerId ID?
		parts Part[] virtual`,
	"Part": `
		id ID
		item Item
		itemId ID
		name Text
		weight Number?`,
	"Bill": `
		id ID
		order Order
		orderId ID
		total Decimal`,
	"Customer": `
		id ID
		name Text
		nick Text?
		identity Identity?
		identityId ID?
		secret Secret
		orders Order[] virtual`,
	"Identity": `
		id ID
		email Text?
		emailVerified Boolean
		password Password?
		customer Customer? virtual`,
	"Event": `
		id ID virtual
		title Text virtual
		at Timestamp virtual
		amount Decimal? virtual
		sourceModel Text virtual
		sourceArm Text virtual`,
}

var testEnums = map[string][]string{"State": {"Open", "Closed"}, "Kind": {"A", "B"}}

const testInputs = `
	inText Text
	inMarkdown Markdown
	inID ID
	inNumber Number
	inDecimal Decimal
	inBoolean Boolean
	inDate Date
	inTimestamp Timestamp
	inDuration Duration
	inState State
	inKind Kind
	inFile File
	inVector Vector
	inPassword Password
	inSecret Secret
	inTexts Text[]
	inMarkdowns Markdown[]
	inNumbers Number[]
	inDecimals Decimal[]
	inStates State[]
	inFiles File[]
	maybeNumber Number?
	maybeText Text?
	order Text`

// testField is a field or input of the test schema.
type testField struct {
	name      string
	model     string
	typ       Type
	optional  bool
	isVirtual bool
}

func (f *testField) StepName() string    { return f.name }
func (f *testField) StepType() Type      { return f.typ }
func (f *testField) StepOptional() bool  { return f.optional }
func (f *testField) StepModel() string   { return f.model }
func (f *testField) StepStored() bool    { return !f.isVirtual }
func (f *testField) StepWriteOnly() bool { return f.typ.Kind == Password || f.typ.Kind == Secret }
func (f *testField) InputName() string   { return f.name }
func (f *testField) InputType() Type     { return f.typ }
func (f *testField) InputOptional() bool { return f.optional }
func (f *testField) InputNullable() bool { return f.optional }

// testFields reads fields, one a line.
func testFields(model, text string) []*testField {
	var fields []*testField
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		f := &testField{name: words[0], model: model, isVirtual: len(words) > 2}
		f.typ, f.optional = testType(words[1])
		fields = append(fields, f)
	}
	return fields
}

// testType reads a type as the language writes it.
func testType(text string) (typ Type, optional bool) {
	text, optional = strings.CutSuffix(text, "?")
	text, array := strings.CutSuffix(text, "[]")
	for k := ID; k <= Secret; k++ {
		if k.String() == text {
			return Type{Kind: k, Array: array}, optional
		}
	}
	if _, isEnum := testEnums[text]; isEnum {
		return Type{Kind: Enum, Name: text, Array: array}, optional
	}
	return Type{Kind: Model, Name: text, Array: array}, optional
}

// testSchema is the test schema, read once for each test.
type testSchema struct {
	fields map[string][]*testField // by model
	inputs []*testField
}

func newTestSchema() *testSchema {
	s := &testSchema{fields: map[string][]*testField{}, inputs: testFields("", testInputs)}
	for model, text := range testModels {
		s.fields[model] = testFields(model, text)
	}
	return s
}

// at returns the scope of a place. The row is an Order, in a union's rule an
// Event.
func (s *testSchema) at(place Place) *testScope {
	return &testScope{testSchema: s, place: place, variable: "order", model: "Order"}
}

// union returns the scope of a rule of the union.
func (s *testSchema) union() *testScope {
	return &testScope{testSchema: s, place: ModelRule, variable: "event", model: "Event"}
}

// testScope is a place in the test schema.
type testScope struct {
	*testSchema
	place           Place
	variable, model string
	isReadOrWrite   bool
}

func (s *testScope) Place() Place { return s.place }

func (s *testScope) Row() (variable, model string, nameable bool) {
	if s.place == Default {
		return "", "", false
	}
	return s.variable, s.model, s.place != ActionValidate && !s.isReadOrWrite
}

func (s *testScope) Field(model, name string) (Step, bool) {
	for _, f := range s.fields[model] {
		if f.name == name {
			return f, true
		}
	}
	return nil, false
}

func (s *testScope) Condition(model, name string) (Node, bool) { return nil, false }

func (s *testScope) FieldNames(model string) []string {
	var names []string
	for _, f := range s.fields[model] {
		names = append(names, f.name)
	}
	return names
}

func (s *testScope) Input(name string) (Input, InputUse) {
	switch s.place {
	case ModelRule, ModelValidate, ArmWhere, ArmValue, Default:
		return nil, NoInput
	}
	switch name {
	case "filtered":
		return nil, InputFiltersList
	case "itemsWhat":
		return nil, InputBelowToMany
	}
	for _, i := range s.inputs {
		if i.name == name {
			return i, InputNameable
		}
	}
	return nil, NoInput
}

func (s *testScope) InputNames() []string {
	var names []string
	for _, i := range s.inputs {
		names = append(names, i.name)
	}
	return names
}

func (s *testScope) EnumValues(enum string) ([]string, bool) {
	values, ok := testEnums[enum]
	return values, ok
}

func (s *testScope) EnumNames() []string        { return []string{"State", "Kind"} }
func (s *testScope) EnvNames() []string         { return []string{"REGION"} }
func (s *testScope) SecretNames() []string      { return []string{"KEY"} }
func (s *testScope) HeaderName(n string) string { return "snake_" + n }
func (s *testScope) SourceNames(f Step) ([]string, bool) {
	switch {
	case f.StepModel() != "Event":
		return nil, false
	case f.StepName() == "sourceModel":
		return []string{"Invoice", "Note"}, true
	case f.StepName() == "sourceArm":
		return []string{"payment", "note"}, true
	}
	return nil, false
}

// parse returns the tree of an expression.
func parse(t testing.TB, text string) syntax.Expr {
	t.Helper()
	var errs syntax.Errors
	e := parseOrNil("model Order {\n@validate("+text+"\n)}", &errs)
	if len(errs) > 0 {
		t.Fatalf("%s does not parse: %s", text, errs[0].Message)
	}
	return e
}

// parseOrNil returns the first argument of the first attribute in a schema file.
func parseOrNil(text string, errs *syntax.Errors) syntax.Expr {
	file := syntax.Parse(&syntax.Source{Name: "test.stern", Text: []byte(text)}, errs)
	for _, d := range file.Decls {
		m, ok := d.(*syntax.Model)
		if !ok {
			continue
		}
		for _, a := range syntax.AttributesOf(m.Members) {
			for _, arg := range a.Args {
				return arg.Value
			}
		}
	}
	return nil
}

// check checks an expression that has no errors.
func check(t testing.TB, scope Scope, text string) Node {
	t.Helper()
	var errs syntax.Errors
	n := Check(parse(t, text), scope, &errs)
	if len(errs) > 0 || n == nil {
		t.Fatalf("%s: got %q, want no error", text, reported(errs))
	}
	return n
}

// reported returns the reported errors, in source order, each as its code and the
// text that it points to.
func reported(errs syntax.Errors) []string {
	all := []string{}
	for _, d := range errs.Sorted() {
		text := d.Span.File.Text[d.Span.Start.Offset:d.Span.End.Offset]
		all = append(all, string(d.Code)+" "+string(text))
	}
	return all
}

// hasCode tells whether one of the codes was reported.
func hasCode(errs syntax.Errors, codes ...syntax.Code) bool {
	return slices.ContainsFunc(errs, func(d *syntax.Diagnostic) bool { return slices.Contains(codes, d.Code) })
}
