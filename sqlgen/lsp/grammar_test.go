package lsp

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/expr"
)

// The grammar for editors has exactly the words of the language.
func TestGrammarHasTheWords(t *testing.T) {
	t.Parallel()
	var grammar struct {
		Repository map[string]struct {
			Match    string
			Patterns []struct{ Name, Match string }
		}
	}
	if err := json.Unmarshal([]byte(readText(t, "vscode/syntaxes/stern.tmLanguage.json")), &grammar); err != nil {
		t.Fatal(err)
	}
	listed := func(rule, name string) []string {
		match := grammar.Repository[rule].Match
		for _, p := range grammar.Repository[rule].Patterns {
			if p.Name == name {
				match = p.Match
			}
		}
		found := regexp.MustCompile(`\(([A-Za-z]+(?:\|[A-Za-z]+)+)\)`).FindStringSubmatch(match)
		if found == nil {
			t.Fatalf("%s %s has no list of words: %s", rule, name, match)
		}
		return strings.Split(found[1], "|")
	}
	names := func(lists ...words) []string {
		var all []string
		for _, list := range lists {
			for _, w := range list {
				all = append(all, w.name)
			}
		}
		return all
	}
	attributes, scalars := []string{}, []string{"Any", "Identity"}
	for _, a := range check.Attributes() {
		attributes = append(attributes, a.Name)
	}
	for _, kind := range expr.Scalars() {
		scalars = append(scalars, kind.String())
	}
	how := names(argumentWords)
	how = slices.DeleteFunc(how, func(name string) bool {
		return slices.Contains([]string{"expression", "roles", "actions", "jobs", "fields", "where", "message", "field", "from", "of", "keep", "timeZone", "per"}, name) // labels, which any word can be
	})
	context := slices.DeleteFunc(names(contextWords), func(name string) bool { return name == "ctx" })
	tests := []struct {
		rule, name string
		want       []string
	}{
		{"declarations", "", names(declarationWords)},
		{"blocks", "", names(blockWords)},
		{"actions", "", names(kindWords)},
		{"words", "keyword.other.kind.stern", names(kindWords)},
		{"clauses", "", names(clauseWords)},
		{"attributes", "", attributes},
		{"functions", "", names(functionWords)},
		{"context", "", context},
		{"types", "", scalars},
		{"words", "constant.language.stern", names(literalWords)},
		{"words", "constant.language.how.stern", how},
		{"words", "support.constant.warning.stern", names(warningWords)},
	}
	for _, test := range tests {
		got := listed(test.rule, test.name)
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s %s: got %q, want %q", test.rule, test.name, got, test.want)
		}
	}
}
