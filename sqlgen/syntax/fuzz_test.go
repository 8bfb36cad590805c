package syntax

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// FuzzScan checks that the tokens of any file and the text between them are the whole file, and that
// every place is right.
func FuzzScan(f *testing.F) {
	addSchemas(f)
	f.Fuzz(func(t *testing.T, text string) { checkTokens(t, text) })
}

// FuzzParse checks that no input crashes the parser, that every error has a place in the file, and
// that a file without errors is whole.
func FuzzParse(f *testing.F) {
	addSchemas(f)
	f.Fuzz(func(t *testing.T, text string) {
		file, errs := parse(text)
		for _, d := range errs {
			if s := d.Span; s.File != file.Source || s.Start.Offset > s.End.Offset || s.End.Offset > len(text) || s.Start.Line < 1 {
				t.Errorf("error at %v of %q: %s", s, text, d.Message)
			}
		}
		if file.Incomplete() && !errs.HasErrors() {
			t.Errorf("%q is incomplete but has no error", text)
		}
		rendered(t, errs.Sorted(), Options{})
		dump(file)
	})
}

// FuzzFormat runs checkFormatted.
func FuzzFormat(f *testing.F) {
	addSchemas(f)
	f.Fuzz(func(t *testing.T, text string) {
		file, errs := parse(text)
		checkFormatted(t, file, errs)
	})
}

// FuzzComments runs checkFormatted on schemas without errors, with other text between their tokens.
// The bytes of choices choose that text, again and again.
func FuzzComments(f *testing.F) {
	var schemas []*File
	for _, text := range schemasIn(f) {
		if file, errs := parse(text); len(errs) == 0 {
			schemas = append(schemas, file)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range schemas {
		for range 20 {
			choices := make([]byte, 200)
			for j := range choices {
				choices[j] = byte(random.IntN(len(separators) * (1 + 5*random.IntN(4)))) // often plain spaces
			}
			f.Add(uint(i), choices)
		}
	}
	f.Fuzz(func(t *testing.T, schema uint, choices []byte) {
		if len(choices) == 0 {
			return
		}
		var text strings.Builder
		for i, token := range schemas[schema%uint(len(schemas))].Tokens {
			between := " "
			if choice := int(choices[i%len(choices)]); choice < len(separators) {
				between = separators[choice]
			}
			text.WriteString(between + token.Text)
		}
		file, errs := parse(text.String())
		if len(errs) > 0 {
			t.Fatalf("other comments make errors of\n%s\n%s", text.String(), rendered(t, errs, Options{}))
		}
		checkFormatted(t, file, errs)
	})
}

// separators are the texts that may be between any two tokens.
var separators = [...]string{
	"\n", "\n\n", "\n\n\n", "\r\n", "\t",
	"// a\n", "\n// a\n", "\n\n// a\n", "// a\n\n", "// a\n// b\n", "\n// a\n\n// b\n",
	"/// a\n", "\n/// a\n", "\n/// a\n\n", "\n/// a\n///  b \n", "\n//// a\n", "\n/// a\n// b\n",
	"/* a */", "/* a */\n", "\n/* a */", "\n/* a */\n", "/* a\n  b */", "\n\n/* a\n b */\n", "/* a */ // b\n", "\n/* a */ /// b\n",
	"\r", "// a\r", "/* a\r\r\n b */", "/**//* b */ ", "\n/* a */\n/// b\n", "\n/// a\n/* b */", "//\n", "\n///\n",
}

// addSchemas adds all schemas in testdata as seeds.
func addSchemas(f *testing.F) {
	for _, text := range schemasIn(f) {
		f.Add(text)
	}
}

// schemasIn returns all schemas in testdata.
func schemasIn(tb testing.TB) []string {
	var texts []string
	for _, path := range glob(tb, "testdata/cases/*.txtar") {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, string(archive.Files[0].Data))
	}
	for _, path := range glob(tb, "testdata/errors/*.stern") {
		text, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// checkTokens checks the tokens of a text.
func checkTokens(t *testing.T, text string) {
	t.Helper()
	var errs Errors
	source := &Source{Name: "schema.stern", Text: []byte(text)}
	tokens, _ := scan(source, &errs)
	end := Pos{Offset: 0, Line: 1, Column: 1}
	step := func(what string, s Span) {
		t.Helper()
		if s.Start.Offset < end.Offset || s.End.Offset < s.Start.Offset || s.End.Offset > len(text) {
			t.Fatalf("%q: %s at %d to %d after %d", text, what, s.Start.Offset, s.End.Offset, end.Offset)
		}
		if between := text[end.Offset:s.Start.Offset]; strings.TrimPrefix(strings.TrimSpace(between), "\uFEFF") != "" {
			t.Fatalf("%q: %q before %s is lost", text, between, what)
		}
		if want := placeOf(text, s.Start.Offset); s.Start != want {
			t.Fatalf("%q: %s begins at %v, want %v", text, what, s.Start, want)
		}
		end = s.End
	}
	for _, token := range tokens {
		for _, trivia := range token.Leading {
			step("trivia "+trivia.Text, trivia.Span)
		}
		step("token "+token.Text, token.Span)
	}
	if end.Offset != len(text) {
		t.Fatalf("%q: %q after the last token is lost", text, text[end.Offset:])
	}
}

// placeOf counts lines and characters again.
func placeOf(text string, offset int) Pos {
	p := Pos{Offset: offset, Line: 1, Column: 1}
	for i, r := range text[:offset] {
		switch {
		case r == '\n', r == '\r' && !strings.HasPrefix(text[i+1:], "\n"):
			p.Line++
			p.Column = 1
		case i > 0 || r != '\uFEFF':
			p.Column++
		}
	}
	return p
}
