package migrate

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func spliced(base string, splices []splice) string {
	var b strings.Builder
	at := 0
	for _, s := range splices {
		b.WriteString(base[at:s.from] + s.text)
		at = s.to
	}
	return b.String() + base[at:]
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new string }{
		{"", ""},
		{"", `{"a":1}`},
		{`{"a":1}`, ""},
		{`{"a":[1,1,1,1],"b":"x,y"}`, `{"a":[1,1,1],"b":"x,z"}`},
		{`{"a":"\"{","b":2}`, `{"c":3,"a":"\"{"}`},
		{`{"ä":"日本"}`, `{"ä":"日"}`},
		{`[[[[]]]]`, `[[],[[]]]`},
	} {
		if got := spliced(c.old, difference(c.old, c.new)); got != c.new {
			t.Errorf("from %q to %q it makes %q", c.old, c.new, got)
		}
	}
}

// TestDifferenceOfRandomTexts compares random texts of few words, with many repeats, that are changed in places.
func TestDifferenceOfRandomTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{`"a"`, `"b":`, `{`, `}`, `[`, `]`, `,`, `1`, `"ü,{"`, `"\\\""`}
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[random.IntN(len(words))])
		}
		return b.String()
	}
	for range 2000 {
		a, b, c := text(random.IntN(60)), text(random.IntN(60)), text(random.IntN(60))
		old, new := a+b+c, a+text(random.IntN(10))+c
		if got := spliced(old, difference(old, new)); got != new {
			t.Fatalf("from %q to %q it makes %q", old, new, got)
		}
	}
}

func TestDifferenceIsSmall(t *testing.T) {
	t.Parallel()
	member := func(i int, more string) string {
		return `{"name":"action` + strings.Repeat("x", i) + `","fields":[{"name":"id"},{"name":"title"}` + more + `]},`
	}
	var old, new strings.Builder
	for i := range 200 {
		more := ""
		if i%50 == 0 {
			more = `,{"name":"prio"}`
		}
		old.WriteString(member(i, ""))
		new.WriteString(member(i, more))
	}
	got := difference(old.String(), new.String())
	if len(got) != 4 {
		t.Errorf("four insertions are %d splices", len(got))
	}
	if size := len(splicesSQL(got)); size > 300 {
		t.Errorf("they take %d bytes", size)
	}
}
