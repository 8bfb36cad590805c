package input_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/input"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	texts := input.NewTexts([]input.Text{
		{Path: "where.id"},
		{Path: "values.note"},
		{Path: "values.note", Given: true},
		{Path: "values.owner.id"},
		{Path: "values.owner.id", Given: true},
		{Path: "values.count"},
		{Path: "values.flag"},
	})
	for _, c := range []struct{ written, want string }{
		{`{"where":{"id":"a"},"values":{}}`, `"a" nil "f" nil "f" nil nil`},
		{`{"values":{"note":"x\n\u00e9\"","count":-12,"flag":true},"where":{"id":"a"}}`, `"a" "x\né\"" "t" nil "f" "-12" "true"`},
		{`{"values":{"flag":false,"note":null,"owner":{"id":"o"}},"where":{"id":""}}`, `"" nil "t" "o" "t" nil "false"`},
		{`{"values":{"owner":null,"count":1}}`, `nil nil "f" nil "t" "1" nil`},
		{`{"values":{"owner":{"id":null}}}`, `nil nil "f" nil "t" nil nil`},
		{`{"values":{"owner":{}}}`, `nil nil "f" nil "f" nil nil`},
		{`{"id":"b","values":{"id":"b","where":{"id":"b"},"owner":{"note":"b"}}}`, `nil nil "f" nil "f" nil nil`},
		{`{}`, `nil nil "f" nil "f" nil nil`},
		{` { "where" : { "id" : "a" } , "values" : { "note" : null , "count" : 5 } } `, `"a" nil "t" nil "f" "5 " nil`},
	} {
		var got string
		for i, text := range texts.Of([]byte(c.written)) {
			if i > 0 {
				got += " "
			}
			if text == nil {
				got += "nil"
			} else {
				got += fmt.Sprintf("%q", text)
			}
		}
		if got != c.want {
			t.Errorf("of %s\ngot  %s\nwant %s", c.written, got, c.want)
		}
	}
	texts = input.NewTexts([]input.Text{{Path: "position.1"}, {Path: "position.0"}, {Path: "id"}})
	for _, c := range []struct{ written, want string }{
		{`{"list":["x",{"a":["y"]},[]],"position":["a",-7],"id":"b"}`, `["-7" "a" "b"]`},
		{`{"position": [ "a" , true ] , "id":"b"}`, `["true " "a" "b"]`},
		{`{"position":[],"id":"b"}`, `["" "" "b"]`},
		{`{"position":["a"],"id":"b"}`, `["" "a" "b"]`},
		{`{"position":["a",null,"c"],"id":"b"}`, `["" "a" "b"]`},
		{`{"position":["a",1`, `["1" "a" ""]`},
		{`{"position":["a"`, `["" "a" ""]`},
	} {
		if got := fmt.Sprintf("%q", texts.Of([]byte(c.written))); got != c.want {
			t.Errorf("of %s\ngot  %s\nwant %s", c.written, got, c.want)
		}
	}
	if got := input.NewTexts(nil).Of([]byte("{}")); len(got) != 0 {
		t.Errorf("got %q where nothing is taken", got)
	}
}

// TestAppendText writes each character that needs an escape, at each place among characters that need none.
func TestAppendText(t *testing.T) {
	t.Parallel()
	escapes := map[byte]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	for c := range byte(' ') {
		if escapes[c] == "" {
			escapes[c] = fmt.Sprintf(`\u%04x`, c)
		}
	}
	for _, around := range []string{"x", "~", "\x7f", "é", "\U0001f98a", "\u0080", " ", "!", "#", "[", "]"} {
		for length := range 20 {
			plain := strings.Repeat(around, length)
			if got := string(input.AppendText(nil, []byte(plain))); got != `"`+plain+`"` {
				t.Errorf("got %s, want %s in quotes", got, plain)
			}
			for c, escape := range escapes {
				for _, twice := range []int{1, 2} {
					given := plain + strings.Repeat(string(rune(c)), twice) + plain
					want := `"` + plain + strings.Repeat(escape, twice) + plain + `"`
					if got := string(input.AppendText([]byte("before"), []byte(given))); got != "before"+want {
						t.Errorf("%q: got %s, want %s", given, got, want)
					}
				}
			}
		}
	}
}
