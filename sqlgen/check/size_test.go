package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkText checks a schema of one file.
func checkText(text string) syntax.Errors {
	_, errs := project{sources: []*syntax.Source{{Name: "a.stern", Text: []byte(text)}}}.check()
	return errs
}

// ofCode returns the diagnostics of one code.
func ofCode(errs syntax.Errors, code syntax.Code) syntax.Errors {
	var found syntax.Errors
	for _, d := range errs {
		if d.Code == code {
			found = append(found, d)
		}
	}
	return found
}

// repeated writes a line n times, with a number in place of each #.
func repeated(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(i)) + "\n")
	}
	return b.String()
}

// TestMessageChain checks messages that each lead to the next by two fields. A new search from each
// message would not end.
func TestMessageChain(t *testing.T) {
	t.Parallel()
	const n = 20_000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "message M%d { a M%d b M%d }\n", i, i+1, i+1)
	}
	for _, test := range []struct {
		end  string
		want []string
	}{
		{"text Text", nil},
		{"back M19999", []string{"message M19999 contains itself through a.back, so its value would never end: make a field on the way optional or an array"}},
	} {
		var got []string
		for _, d := range ofCode(checkText(fmt.Sprintf("%smessage M%d { %s }", b.String(), n, test.end)), MessageCycle) {
			got = append(got, d.Message)
		}
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("chain that ends with %q: got %q, want %q", test.end, got, test.want)
		}
	}
}

// TestMessageCycles compares the errors about cycles that share messages.
func TestMessageCycles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"message A { b B } message B { c C } message C { b B a A }", "B: c.b"},
		{"message A { b B c C } message B { a A } message C { a A }", "A: b.a"},
		{"message A { b B } message B { c C } message C { d D } message D { c C b B }", "C: d.c"},
		{"message A { b B d D } message B { c C } message C { b B } message D { a A }", "A: d.a; B: c.b"},
		{"message A { b B c C } message B { d D } message C { d D } message D { text Text }", ""},
		{"message A { b B[] c C? } message B { a A } message C { a A }", ""},
	} {
		var got []string
		for _, d := range ofCode(checkText(test.text), MessageCycle) {
			name, rest, _ := strings.Cut(strings.TrimPrefix(d.Message, "message "), " contains itself through ")
			way, _, _ := strings.Cut(rest, ",")
			got = append(got, name+": "+way)
		}

		if g := strings.Join(got, "; "); g != test.want {
			t.Errorf("%s: got %q, want %q", test.text, g, test.want)
		}
	}
}

// TestManyRelations checks two models with so many fields for each other that
// comparing each with each, for each, does not end.
func TestManyRelations(t *testing.T) {
	t.Parallel()
	const n = 3000
	for _, test := range []struct {
		name, a, b     string
		code           syntax.Code
		reports, notes int
	}{
		{"ambiguous", "f# B", "g# A[]", AmbiguousRelation, 1, maxCandidateNotes + 1},
		{"ambiguous one-to-ones", "f# B @unique", "g# A?", AmbiguousRelation, 1, maxCandidateNotes + 1},
		{"all named", "f# B @relation(g#)", "g# A[]", AmbiguousRelation, 0, 0},
		{"one named by all", "f# B @relation(all)", "all A[]", AmbiguousRelation, 1, maxCandidateNotes + 1},
		{"nothing leads back", "f# Text", "g# A[]", MissingToOne, n, 0},
		{"all unique", "f# B @unique", "g# A[]", MissingToOne, n, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := test.b
			if strings.Contains(b, "#") {
				b = repeated(n, b)
			}
			errs := checkText("model A { fields {\n" + repeated(n, test.a) + "} }\nmodel B { fields {\n" + b + "} }")
			got := ofCode(errs, test.code)
			if len(got) != test.reports {
				t.Fatalf("got %d of code %s, want %d", len(got), test.code, test.reports)
			}
			if len(got) > 0 && len(got[0].Notes) != test.notes {
				t.Errorf("got %d notes, want %d: %v", len(got[0].Notes), test.notes, got[0].Notes)
			}
		})
	}
}

// TestManySuggestions checks that the search for meant names is limited, for every
// kind of unknown name.
func TestManySuggestions(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for _, test := range []struct {
		text string
		code syntax.Code
	}{
		{repeated(n, "model Model# { }") + "model Last { fields {\n" + repeated(n, "f# Modle#") + "} }", UnknownType},
		{repeated(n, "message Message# { }") + "model Last { actions {\n" + repeated(n, "read r#() returns (Mesage#)") + "} }", UnknownType},
		{repeated(n, "model Model# { }") + "api Shop { models {\n" + repeated(n, "Modle#") + "} }", UnknownModel},
	} {
		errs := ofCode(checkText(test.text), test.code)
		suggested := 0
		for _, d := range errs {
			if strings.Contains(d.Message, "did you mean") {
				suggested++
			}
		}
		if len(errs) != n || suggested != maxSuggestions {
			t.Errorf("%.30s...: got %d errors with %d suggestions, want %d with %d", test.text, len(errs), suggested, n, maxSuggestions)
		}
	}
}
