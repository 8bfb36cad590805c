package syntax

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// testSource is two lines to point to.
func testSource(name string) *Source {
	return &Source{Name: name, Text: []byte("model A {\n\tfields { é Text }\n}\n")}
}

// spanOf returns the span of the first place where a text is in a source.
func spanOf(t *testing.T, source *Source, text string) Span {
	t.Helper()
	offset := strings.Index(string(source.Text), text)
	if offset < 0 {
		t.Fatalf("%q is not in %q", text, source.Text)
	}
	return Span{
		File:  source,
		Start: placeOf(string(source.Text), offset),
		End:   placeOf(string(source.Text), offset+len(text)),
	}
}

func TestSorted(t *testing.T) {
	t.Parallel()
	a, b := testSource("a.stern"), testSource("b.stern")
	var errs Errors
	errs.Add(Syntax, spanOf(t, b, "model"), "5")
	errs.Add(Syntax, spanOf(t, a, "fields"), "3")
	errs.Add(BadName, spanOf(t, a, "fields"), "4")
	errs.Add(Syntax, spanOf(t, a, "A"), "2")
	errs.Add(Syntax, spanOf(t, a, "fields"), "3") // said already
	errs.Add(Syntax, Span{}, "1")
	var got []string
	for _, d := range errs.Sorted() {
		got = append(got, d.Message)
	}
	if want := []string{"1", "2", "3", "4", "5"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(errs) != 6 {
		t.Errorf("sorting changed the errors: got %d, want 6", len(errs))
	}
}

func TestHasErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		errs Errors
		want bool
	}{
		{"none", nil, false},
		{"a warning", Errors{{Warning: true}}, false},
		{"an error", Errors{{Warning: true}, {}}, true},
	}
	for _, test := range tests {
		if got := test.errs.HasErrors(); got != test.want {
			t.Errorf("%s: got %t, want %t", test.name, got, test.want)
		}
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	source := testSource("a.stern")
	yaml := &Source{Name: "sternpost.yaml"}
	errs := Errors{
		{
			Span:    spanOf(t, source, "é"),
			Code:    "UnknownField",
			Message: "one",
			Notes:   []Note{{spanOf(t, source, "A"), "see here"}, {Span{}, "and think"}},
		},
		{Span: spanOf(t, source, "fields { é Text }\n}"), Code: "NoRule", Message: "two", Warning: true},
		{Code: "NoSchema", Message: "there is no schema file"},
		{Span: Span{File: yaml}, Code: "BadConfig", Message: "an escape \x1b[31m"},
		{
			Span:    Span{File: source, Start: Pos{Offset: len(source.Text), Line: 4, Column: 1}, End: Pos{Offset: len(source.Text), Line: 4, Column: 1}},
			Code:    Syntax,
			Message: "at the end",
		},
	}
	tests := []struct {
		name    string
		options Options
		want    string
	}{
		{"all", Options{}, `a.stern:2:11: one [UnknownField]
    fields { é Text }
             ^
a.stern:1:7: see here
note: and think
a.stern:2:2: warning: two [NoRule]
    fields { é Text }
    ^^^^^^^^^^^^^^^^^
there is no schema file [NoSchema]
sternpost.yaml: an escape ` + "\uFFFD" + `[31m [BadConfig]
a.stern:4:1: at the end [Syntax]
`},
		{"at most three: a warning takes no place of an error", Options{Max: 3}, `a.stern:2:11: one [UnknownField]
    fields { é Text }
             ^
a.stern:1:7: see here
note: and think
there is no schema file [NoSchema]
sternpost.yaml: an escape ` + "\uFFFD" + `[31m [BadConfig]
and 2 more
`},
		{"in colour", Options{Color: true, Max: 1}, "" +
			"\x1b[1ma.stern:2:11: \x1b[0mone\x1b[2m [UnknownField]\x1b[0m\n" +
			"    fields { é Text }\n" +
			"             \x1b[1;31m^\x1b[0m\n" +
			"\x1b[1ma.stern:1:7: \x1b[0msee here\n" +
			"note: and think\n" +
			"and 4 more\n"},
	}
	for _, test := range tests {
		if got := rendered(t, errs, test.options); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}

	warned := Errors{{Code: "NoRule", Message: "one", Warning: true}, {Code: "NoRule", Message: "two", Warning: true}, {Code: "NoSchema", Message: "three"}}
	if got, want := rendered(t, warned, Options{Max: 2}), "warning: one [NoRule]\nthree [NoSchema]\nand 1 more\n"; got != want {
		t.Errorf("an error after the warnings: got\n%s\nwant\n%s", got, want)
	}
}

func TestMarshalJSON(t *testing.T) {
	t.Parallel()
	source := testSource("a.stern")
	tests := []struct {
		name string
		errs Errors
		want string
	}{
		{"none", nil, `[]`},
		{"everything", Errors{{
			Span:    spanOf(t, source, "é"),
			Code:    "UnknownField",
			Message: `no "é"`,
			Notes:   []Note{{spanOf(t, source, "A"), "see here"}, {Span{}, "and think"}},
		}}, `[{"file":"a.stern","range":{"start":{"line":2,"column":11},"end":{"line":2,"column":12}},` +
			`"code":"UnknownField","message":"no \"é\"","severity":"error","notes":[` +
			`{"file":"a.stern","range":{"start":{"line":1,"column":7},"end":{"line":1,"column":8}},"message":"see here"},` +
			`{"message":"and think"}]}]`},
		{"a warning without place", Errors{{Code: "NothingExposed", Message: "m", Warning: true}},
			`[{"code":"NothingExposed","message":"m","severity":"warning","notes":[]}]`},
	}
	for _, test := range tests {
		got, err := json.Marshal(test.errs)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	candidates := []string{"title", "author", "authorId", "id", "createdAt", "Text"}
	tests := []struct{ name, want string }{
		{"titel", "title"},
		{"TITLE", "title"},
		{"tilte", "title"},
		{"authr", "author"},
		{"authorID", "authorId"},
		{"createAt", "createdAt"},
		{"text", "Text"},
		{"title", ""}, // itself is not a suggestion
		{"ud", ""},    // too short to tell
		{"body", ""},
		{"", ""},
	}
	for _, test := range tests {
		if got := Suggest(test.name, candidates); got != test.want {
			t.Errorf("Suggest(%q): got %q, want %q", test.name, got, test.want)
		}
	}
	if got := Suggest("abcx", []string{"abcd", "abce"}); got != "abcd" {
		t.Errorf("of equally near names got %q, want the first", got)
	}
}

// TestEditDistance compares the distance within a limit with the definition, over all words of up to
// five letters a, b and c, next to some of them.
func TestEditDistance(t *testing.T) {
	t.Parallel()
	words := []string{""}
	for i := 0; len(words[i]) < 5; i++ {
		for _, letter := range []string{"a", "b", "c"} {
			words = append(words, words[i]+letter)
		}
	}
	for _, a := range []string{"", "a", "ab", "abc", "bcab", "aabb", "cabac", "abcba"} {
		for _, b := range words {
			want := definedDistance(a, b)
			for limit := max(len(a)-len(b), len(b)-len(a)); limit <= 5; limit++ {
				got := editDistance([]rune(a), []rune(b), limit)
				if got != want && (got <= limit || want <= limit) {
					t.Errorf("editDistance(%q, %q, %d): got %d, want %d", a, b, limit, got, want)
				}
			}
		}
	}
}

// definedDistance is the distance of two words by its definition, which recurses over their last
// letters.
func definedDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	shortA, shortB := a[:len(a)-1], b[:len(b)-1]
	lastA, lastB := a[len(a)-1], b[len(b)-1]
	if lastA == lastB {
		return definedDistance(shortA, shortB)
	}
	d := 1 + min(definedDistance(shortA, shortB), definedDistance(shortA, b), definedDistance(a, shortB))
	if len(a) > 1 && len(b) > 1 && lastA == b[len(b)-2] && a[len(a)-2] == lastB {
		d = min(d, 1+definedDistance(a[:len(a)-2], b[:len(b)-2]))
	}
	return d
}
