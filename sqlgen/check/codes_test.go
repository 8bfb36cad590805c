package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// codeExample is a code with the example of its comment.
type codeExample struct {
	code    syntax.Code
	example string
}

// codesOf reads the constants of type Code, with their comments, from the codes.go
// of a package.
func codesOf(t *testing.T, path string) []codeExample {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var codes []codeExample
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		code := syntax.Code(strings.Trim(literal.Value, `"`))
		if string(code) != spec.Names[0].Name {
			t.Errorf("constant %s has the code %q", spec.Names[0].Name, code)
		}
		var example strings.Builder
		for _, line := range strings.Split(spec.Doc.Text(), "\n") {
			if text, found := strings.CutPrefix(line, "\t"); found {
				example.WriteString(text + "\n")
			}
		}
		codes = append(codes, codeExample{code, example.String()})
		return true
	})
	return codes
}

// TestCodeExamples compiles the example of each code. The compiler must report the code, and no other
// error.
func TestCodeExamples(t *testing.T) {
	t.Parallel()
	for _, c := range codesOf(t, "codes.go") {
		if slices.Contains(strings.Fields(codesOfFunctions), string(c.code)) {
			continue // the tests of custom code have its example
		}
		t.Run(string(c.code), func(t *testing.T) {
			t.Parallel()
			source := &syntax.Source{Name: "example.stern", Text: []byte(c.example)}
			p := project{sources: []*syntax.Source{source}, functions: []string{"code.sql"}}
			switch c.code {
			case NoSchema:
				p.sources = nil
			case ProviderProvesAny:
				p.config = &syntax.Source{Name: "sternpost.yaml", Text: []byte("auth: {providers: [{name: a, emailDomains: [staff.example]}, {name: b}]}")}
			case BadConfig, TwoSubscribers:
				source.Text = []byte("model Order { @on([create], code) }")
				p.config = &syntax.Source{Name: "sternpost.yaml", Text: []byte(c.example)}
			}
			_, errs := p.check()
			found := false
			for _, d := range errs {
				found = found || d.Code == c.code
				if d.Code != c.code && !d.Warning {
					t.Errorf("example of %s gives another error: %s", c.code, d.Message)
				}
			}
			if !found {
				t.Errorf("example is not reported as %s:\n%s\ngot:\n%s", c.code, c.example, show(errs))
			}
		})
	}
}

// codesOfFunctions lists the codes of the files of custom code.
const codesOfFunctions = "FunctionSignature FunctionStatement FunctionSetting FunctionSearchPath FunctionUnguarded"

// specified is the closed list of codes of a schema.
const specified = `
NoSchema BadEncoding BadConfig Syntax BadEscape UnsupportedOperator NotSupportedYet BadName ReservedName NameTooLong
DuplicateType DuplicateAction DuplicateRole DuplicateField DuplicateArm DuplicateEnumValue NameClash UnknownType
TypeNotAllowed ArrayNotAllowed EmptyEnum MessageCycle TypeMismatch NullIntoRequired BadLiteral AmbiguousRelation
MissingToOne OptionalToMany RequiredSelfReference BadRelation UnknownAttribute MisplacedAttribute RepeatedAttribute
AttributeArguments BadFieldList UniqueNotAllowed IndexNotAllowed DefaultNeedsValue DefaultNotAllowed DefaultNotConstant
OnDeleteMisplaced OnDeleteNeedsOptional BadRename BadPattern BadSize BadLimit BadTextPattern HiddenInput UnknownActionKind BadReturns WithNotAllowed
ReadInputOnCreate UnknownField InputIsRelation LabelOnPath UnlabelledType InputType NotFilterable MessageInput
UnusedInput DuplicateInput BuiltInTimestamp NotPinned UncoveredField BadLink IdentityNotCreatable UpdateBelowRelation
NothingToWrite NothingToAllow SetTarget SetConflict SetReadsNewRow SetManyValues OrderNotAllowed FacetNotAllowed BadEmbed BadSelect UnknownName
UnknownEnumValue UnknownArm NotBoolean OperandTypes NestedComparison ListElement WriteOnlyField ListInput ManyInput
BadAggregate BadFunction ComputedType ComputedInput ComputedCycle ConditionCycle ComputedNull BadSequence EmptyRule RuleActions UnknownRole BadRoleMember RoleExpression RowInRule NotOwnField SecondFactorPlace FunctionFileMissing FunctionAttribute
RowRuleWithoutRow NoArms UnionFieldType UnionActionKind ArmField UnknownSubscriber TwoSubscribers BadEvent JobNeverRuns BadSchedule JobInput BadMany UnknownJob NotLive HistoryAction BadInvitation UnknownModel UnknownAction DuplicateApiModel
RequiredVirtualSide IndependentToOnes RedundantIndex ComputedBothWays CascadeDeletes MissingIndex SlowRule NoRule EmbedWidens FilterWidens ComputedWidens NestedWidens LinkWidens UnionWidens HiddenCompared CursorWidens
UncheckedInline ProviderProvesAny NothingExposed`

// renameNotFound is a code of the migration planner, since only the planner knows the database.
const renameNotFound = "RenameNotFound"

// TestCodesAreComplete compares the codes of the three packages with the closed list, and requires
// that the test cases of the packages show each of them.
func TestCodesAreComplete(t *testing.T) {
	t.Parallel()
	var have []string
	for _, path := range []string{"../syntax/codes.go", "../expr/codes.go", "codes.go"} {
		for _, c := range codesOf(t, path) {
			if slices.Contains(have, string(c.code)) {
				t.Errorf("two packages have the code %s", c.code)
			}
			have = append(have, string(c.code))
		}
	}
	want := strings.Fields(specified)
	for _, code := range want {
		if !slices.Contains(have, code) {
			t.Errorf("no package has the code %s", code)
		}
	}
	for _, code := range have {
		if !slices.Contains(want, code) && !slices.Contains(strings.Fields(codesOfFunctions), code) && code != renameNotFound {
			t.Errorf("code %s is not in the list", code)
		}
	}
	shown := shownCodes(t)
	for _, code := range want {
		if !shown[code] {
			t.Errorf("no case shows %s", code)
		}
	}
}

// shownCodes returns the codes in the cases of this package, in the parser's own cases, and in the
// tables of the tests of expr and syntax.
func shownCodes(t *testing.T) map[string]bool {
	t.Helper()
	shown := map[string]bool{}
	for _, path := range glob(t, "testdata/*.txtar") {
		for _, m := range expectationPattern.FindAllStringSubmatch(readFile(t, path), -1) {
			shown[m[2]] = true
		}
	}
	for _, path := range slices.Concat(glob(t, "../syntax/testdata/*/*.txtar"), glob(t, "../syntax/testdata/*/*.stern")) {
		var errs syntax.Errors
		syntax.Parse(&syntax.Source{Name: path, Text: []byte(readFile(t, path))}, &errs)
		for _, d := range errs {
			shown[string(d.Code)] = true
		}
	}
	word := regexp.MustCompile(`\b[A-Z]\w+`)
	for _, path := range slices.Concat(glob(t, "../expr/*_test.go"), glob(t, "../syntax/*_test.go")) {
		for _, w := range word.FindAllString(readFile(t, path), -1) {
			shown[w] = true
		}
	}
	return shown
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
