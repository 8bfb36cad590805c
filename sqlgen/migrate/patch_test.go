package migrate

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/release"
)

// TestPatch checks what a patch says, and that Postgres makes the new text of the old one with it, to the byte.
func TestPatch(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	check := func(old, new string) {
		t.Helper()
		p := string(patch([]byte(old), []byte(new)))
		var got string
		if err := conn.QueryRow(t.Context(), "select platform.merged($1, $2)", old, p).Scan(&got); err != nil || got != new {
			t.Fatalf("%s\nwith %s\nmakes %s, %v\nwant %s", old, p, got, err, new)
		}
	}
	for _, c := range []struct{ old, new, want string }{
		{`{}`, `{}`, `{}`},
		{`{"a":1,"b":{"c":"x\",{"},"d":[1,{}]}`, `{"a":1,"b":{"c":"x\",{"},"d":[1,{}]}`, `{}`},
		{`{}`, `{"a":{"b":null}}`, `{"a":{"b":null}}`},
		{`{"a":{"b":1}}`, `{"a":{}}`, `{"a":{"b":null}}`},
		{`{"a":[{"name":"b","c":1}]}`, `{"a":[]}`, `{"a":[]}`},
		{`{"a":[]}`, `{"a":[{"name":"b"}]}`, `{"a":[{"name":"b"}]}`},
		{`{"actions":[{"name":"get","doc":"x"},{"name":"list"},{"name":"old"}]}`, `{"actions":[{"name":"get","doc":"{{ $$ ----"},{"name":"list"}]}`,
			`{"actions":{"old":null,"get":{"doc":"{{ $$ ----"}}}`},
		{`{"a":[{"name":"x"},{"name":"z"}]}`, `{"a":[{"name":"x"},{"name":"y"},{"name":"z"}]}`, `{"a":{"y":{"name":"y"},"z":{}}}`},
		{`{"a":[{"name":"x"},{"name":"x"}]}`, `{"a":[{"name":"x"}]}`, `{"a":[{"name":"x"}]}`},
		{`{"a":1,"b":[1],"c":{"d":1}}`, `{"c":{"d":1},"b":[1],"a":1}`, `{"c":{},"b":[1],"a":1}`},
		{`{"ü":"日本\\","b":1}`, `{"ü":"日\\","b":1}`, `{"ü":"日\\"}`},
		{"{\n\"a\":[\n{\"name\":\"x\"}\n]\n}", "{\n\"a\":[\n{\"name\":\"x\"},\n{\"name\":\"y\"}\n]\n}", "{\n\"a\":{\n\"y\":{\"name\":\"y\"}\n}\n}"},
	} {
		if got := string(patch([]byte(c.old), []byte(c.new))); got != c.want {
			t.Errorf("from %s to %s it says\n%s, want\n%s", c.old, c.new, got, c.want)
		}
		check(c.old, c.new)
	}

	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		check(randomObject(random, 0), randomObject(random, 0))
	}
}

// randomObject makes an object of few names, so that two of them have much in common.
func randomObject(random *rand.Rand, depth int) string {
	names := []string{"a", "b", "c", "d", "e"}
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var members release.Schemas
	for _, name := range names[:random.IntN(len(names)+1)] {
		// The kind of a member follows from its place, as in a release.
		value := strconv.Itoa(random.IntN(2))
		switch kind := (int(name[0]) + depth) % 4; {
		case kind == 0:
			value = strconv.Quote(",{[]}" + value)
		case kind == 1 && depth < 3:
			value = randomObject(random, depth+1)
		case kind == 2 && depth < 3:
			var list []json.RawMessage
			for _, m := range members {
				element := release.Schemas{{Name: "name", JSON: json.RawMessage(strconv.Quote(m.Name))}, {Name: "is", JSON: json.RawMessage(value)}}
				list = append(list, written(element, false))
			}
			text, _ := json.Marshal(list)
			value = string(text)
			if list == nil {
				value = "[]"
			}
		}
		members = append(members, release.Schema{Name: name, JSON: json.RawMessage(value)})
	}
	return string(written(members, random.IntN(2) == 0))
}
