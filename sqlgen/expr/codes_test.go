package expr

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Every code's doc comment carries an example with that error alone.
func TestExamplesOfCodes(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		code := syntax.Code(spec.Names[0].Name)
		_, example, ok := strings.Cut(spec.Doc.Text(), "\n\n\t")
		if !ok {
			t.Errorf("%s has no example", code)
			return true
		}
		examples++
		errs := checkAttribute(t, code, strings.TrimSpace(example))
		if len(errs) != 1 || errs[0].Code != code {
			t.Errorf("%s: example %s reports %q", code, strings.TrimSpace(example), reported(errs))
		}
		return true
	})
	if examples < 19 {
		t.Errorf("found %d examples, want those of all codes", examples)
	}
}

// checkAttribute checks the expression of an attribute as if it were where the code
// belongs.
func checkAttribute(t *testing.T, code syntax.Code, text string) syntax.Errors {
	t.Helper()
	var errs syntax.Errors
	file := syntax.Parse(&syntax.Source{Name: "test.stern", Text: []byte("model Order { " + text + " }")}, &errs)
	if len(errs) > 0 {
		t.Fatalf("%s does not parse: %s", text, errs[0].Message)
	}
	attribute := syntax.AttributesOf(file.Decls[0].(*syntax.Model).Members)[0]
	arg := attribute.Args[0]
	schema := newTestSchema()
	switch attribute.Name.Name {
	case "where":
		Check(arg.Value, schema.at(Where), &errs)
	case "permission":
		scope := schema.at(ModelRule)
		if strings.Contains(text, "event.") {
			scope = schema.union()
		}
		scope.isReadOrWrite = strings.Contains(text, "[read]")
		Check(arg.Value, scope, &errs)
	case "validate":
		scope := schema.at(ModelValidate)
		if code == ManyInput {
			scope = schema.at(ActionValidate)
		}
		Check(arg.Value, scope, &errs)
	case "computed":
		CheckComputed(arg.Value, Target{Type: Type{Kind: Decimal}, Name: "price"}, schema.at(Computed), &errs)
	case "default":
		CheckValue(arg.Value, Target{Type: Type{Kind: Boolean}, Name: "rush"}, schema.at(Default), &errs)
	case "set":
		scope := schema.at(SetValue)
		model := "Order"
		if arg.Target.Steps[0].Name == "event" {
			scope, model = schema.at(ArmValue), "Event"
		}
		field, ok := scope.Field(model, arg.Target.Steps[1].Name)
		if !ok {
			t.Fatalf("%s assigns to no field", text)
		}
		CheckValue(arg.Value, Target{Type: field.StepType(), Name: arg.Target.String()}, scope, &errs)
	}
	return errs
}
