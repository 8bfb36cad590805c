package pattern_test

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sql/pattern"
)

// TestRead writes patterns in the form that all engines read, and says what is wrong with others.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{`[A-Z]{2}\d{4}`, `^(?:[A-Z]{2}[0-9]{4})$`},
		{`(a|b)+.`, `^(?:[ab]+[^\n])$`},
		{`(ab|cd)*?`, `error: *? has two quantifiers: write a group`},
		{`(foo|bar){2,}x{0,3}`, `^(?:(?:foo|bar){2,}x{0,3})$`},
		{`\w\s`, `^(?:[0-9A-Z_a-z][\t\n\f\r ])$`},
		{`[^a-z\]]\.\/`, "^(?:[^\\]a-z]\\./)$"},
		{`ä|[é-ü]|`, `^(?:[äé-ü]|)$`},
		{`[Hh]t+`, `^(?:[Hh]t+)$`},
		{`\b`, `error: \b is not one of`},
		{`(?i)a`, `error: groups are`},
		{`(?=a)`, `error: groups are`},
		{`(?<n>a)`, `error: groups are`},
		{`a\1`, `error: \1 is not one of`},
		{`^a$`, `error: a pattern is of the whole text, so it has no ^`},
		{`a{1,300}`, `error: a quantifier counts to 255`},
		{`a{,3}`, `error: a { begins a quantifier`},
		{`*a`, `error: there is nothing before *`},
		{`a**`, `error: ** has two quantifiers`},
		{`[[:alpha:]]`, `error: a [ in a class`},
		{`[]a]`, `error: a class is empty`},
		{`a]`, `error: a ] by itself`},
		{`(a`, `error: it is not a regular expression`},
		{`[b-a]`, `error: it is not a regular expression`},
		{`\`, `error: \`},
		{`[\d\D]`, `error: \D is not`},
		{`[^\n]|\n`, `error: a class has all characters`},
		{`((a{1,100}){1,100}){1,100}`, `error: it is not a regular expression`},
		{`(a|b)*a(a|b){12}`, `error: it has too many states`},
	} {
		written, problem := pattern.Read(c.source)
		if problem != "" {
			written = "error: " + problem
		}
		if written != c.want && (problem == "" || !strings.HasPrefix(written, c.want)) {
			t.Errorf("%s: got %s, want %s", c.source, written, c.want)
		}
	}
}

// TestFormats takes addresses of the formats, and refuses other texts.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, pattern string
		taken, others []string
	}{
		{"email", pattern.Email,
			[]string{"ada@example.com", "a.b+c@x-y.example", "a@localhost", "o'brien@a.b.c"},
			[]string{"", "ada", "@example.com", "ada@", "a b@example.com", ".a@example.com", "a..b@example.com", "a@-x.com", "a@x-.com", "a@x..com", "a@x.com ", "ä@example.com"}},
		{"url", pattern.URL,
			[]string{"http://example.com", "https://u:p@example.com:8080/a/b;c?d=e&f#g", "HTTPS://[::1]/", "https://a.example/%20?q=/?"},
			[]string{"", "example.com", "ftp://example.com", "http://", "http:///a", "https://a b", "https://a/%2", "javascript:alert(1)", "https://a/\n", "https://a.example/ä"}},
		{"blank", pattern.Blank, []string{"", " \t\n\v\f\r", "\u00a0\u2003\u3000"}, []string{"a", " a ", "\u200b"}},
	} {
		m, err := pattern.Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range c.taken {
			if !m.Match([]byte(text)) {
				t.Errorf("%s: %q is refused", c.name, text)
			}
		}
		for _, text := range c.others {
			if m.Match([]byte(text)) {
				t.Errorf("%s: %q is taken", c.name, text)
			}
		}
	}
}
