package pg_test

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

func TestIdent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"order_item": "order_item",
		"_1":         "_1",
		"a1":         "a1",
		"order":      `"order"`,
		"user":       `"user"`,
		"name":       "name",
		"1a":         `"1a"`,
		"createdAt":  `"createdAt"`,
		"a b":        `"a b"`,
		"a$":         `"a$"`,
		"ü":          `"ü"`,
		"":           `""`,
		`a"; drop`:   `"a""; drop"`,
	} {
		if got := pg.Ident(name); got != want {
			t.Errorf("Ident(%q) = %s, want %s", name, got, want)
		}
	}
	if got := pg.Qualified("app", "order"); got != `app."order"` {
		t.Errorf("Qualified = %s", got)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "''",
		"it's":                                "'it''s'",
		"''":                                  "''''''",
		`a\b`:                                 `E'a\\b'`,
		`\'`:                                  `E'\\'''`,
		"two\nlines":                          "'two\nlines'",
		"$$ }} -- 日":                          "'$$ }} -- 日'",
		"{{ }} {{{{":                          `E'{\x7b }} {\x7b{\x7b'`,
		"{{{":                                 `E'{\x7b{'`,
		`\{{'`:                                `E'\\{\x7b'''`,
		"a\r\n":                               "E'a\\r\n'",
		"----":                                "'----'",
		"x\n---- tern: disable-tx ----\ny":    "E'x\n---\\x2d tern: disable-tx ----\ny'",
		"---- create above / drop below ----": `E'---\x2d create above / drop below ----'`,
	} {
		if got := pg.Quote(text); got != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestDollarQuote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tag, text, want string }{
		{"", "body", "$$body$$"},
		{"", "costs $1", "$$costs $1$$"},
		{"", "a $$ b", "$_$a $$ b$_$"},
		{"", "a $$ $_$ b", "$__$a $$ $_$ b$__$"},
		{"", "ends in $", "$_$ends in $$_$"},
		{"json", `{"a":"$$"}`, `$json${"a":"$$"}$json$`},
		{"json", "$json$", "$json_$$json$$json_$"},
		{"json", "x$json", "$json_$x$json$json_$"},
		{"", "", "$$$$"},
		{"", "'{{1}}'::int[]", `E'''{\x7b1}}''::int[]'`},
		{"json", `{"a":"\n{{"}`, `E'{"a":"\\n{\x7b"}'`},
	} {
		if got := pg.DollarQuote(c.tag, c.text); got != c.want {
			t.Errorf("DollarQuote(%q, %q) = %s, want %s", c.tag, c.text, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 80)
	take := func(wanted ...string) []string {
		names := pg.NewNames()
		var got []string
		for _, w := range wanted {
			got = append(got, names.Take(w))
		}
		return got
	}

	got := take("a_key", "b_key", "a_key", "a_key", long+"b", long+"c", long+"b")
	seen := map[string]bool{}
	for i, name := range got {
		if len(name) > pg.MaxIdent || seen[name] {
			t.Errorf("name %d of %q is too long or was taken before", i, got)
		}
		seen[name] = true
	}
	if got[0] != "a_key" || got[1] != "b_key" || !strings.HasPrefix(got[2], "a_key_") || !strings.HasPrefix(got[4], long[:40]) {
		t.Errorf("got %q", got)
	}
	// The short form of a long name does not depend on the names before it.
	if alone := take(long + "c"); alone[0] != got[5] {
		t.Errorf("a long name alone becomes %q, among others %q", alone[0], got[5])
	}
}
