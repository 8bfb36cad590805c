package pattern_test

import (
	"encoding/json"
	"math/rand"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/pattern"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// sample is a random pattern, and texts of which some match.
type sample struct {
	Source  string   `json:"source"`
	Written string   `json:"written"`
	Texts   []string `json:"texts"`
}

// samples makes random patterns of all that the grammar has.
func samples(seed int64, count int) []sample {
	r := rand.New(rand.NewSource(seed))
	pick := func(from ...string) string { return from[r.Intn(len(from))] }
	var element func(depth int) string
	alternatives := func(depth int) string {
		var text strings.Builder
		for i := range 1 + r.Intn(3) {
			if i > 0 {
				text.WriteByte('|')
			}
			for range r.Intn(4) {
				text.WriteString(element(depth - 1))
			}
		}
		return text.String()
	}
	element = func(depth int) string {
		var atom string
		switch n := r.Intn(9); {
		case n < 2 && depth > 0:
			atom = pick("(", "(?:") + alternatives(depth) + ")"
		case n < 4:
			atom = pick("[abc]", "[^ab]", `[\d_]`, `[^\w]`, `[a-c\-\]]`, "[é-ü€]", `[\s^]`, `[/\\$.]`, "[Aa]", "[^\\n]", "[😀-😎]")
		default:
			atom = pick("a", "b", "c", "-", ".", `\.`, `\d`, `\w`, `\s`, "ä", "😀", `\/`, `\$`, " ", `\n`, "_", "A", `\\`, `\{`, ",", "'", "~", "#", "&&")
		}
		if strings.HasSuffix(atom, "&&") {
			return atom
		}
		return atom + pick("", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}")
	}
	var list []sample
	for len(list) < count {
		source := alternatives(3)
		written, problem := pattern.Read(source)
		if problem != "" {
			continue
		}
		s := sample{Source: source, Written: written}
		for range 40 {
			var text strings.Builder
			for range r.Intn(7) {
				text.WriteString(pick("a", "b", "c", "-", ".", "0", "7", "_", "ä", "é", "ü", "€", "😀", "😎", " ", "\n", "\t", "\r", "\u2028", "\u00a0", "A", "/", "$", "\\", "]", "{", "^", "'", "~", "#", ",", "&&", "٣"))
			}
			s.Texts = append(s.Texts, text.String())
		}
		list = append(list, s)
	}
	return list
}

// TestEngines compares the matcher with Go's engine, that of Postgres and that of JavaScript, on random patterns and texts.
func TestEngines(t *testing.T) {
	t.Parallel()
	all := samples(1, 400)
	db := pgtest.New(t, pgtest.Options{}).Owner(t)
	answers := javascript(t, all)
	matched := 0
	for i, s := range all {
		m, err := pattern.Compile(s.Written)
		if err != nil {
			t.Fatal(err)
		}
		own := regexp.MustCompile(s.Written)
		rows, err := db.Query(t.Context(), "select text ~ $1 from unnest($2::text[]) with ordinality as u (text, place) order by place", s.Written, s.Texts)
		if err != nil {
			t.Fatal(err)
		}
		postgres, err := pgx.CollectRows(rows, pgx.RowTo[bool])
		if err != nil {
			t.Fatalf("%s: %v", s.Written, err)
		}
		if example := m.Example(); !m.Match([]byte(example)) {
			t.Errorf("%s: its example %q does not match", s.Written, example)
		}
		for j, text := range s.Texts {
			want := own.MatchString(text)
			if want {
				matched++
			}
			if got := m.Match([]byte(text)); got != want || postgres[j] != want || answers != nil && answers[i][j] != want {
				t.Errorf("%s, written %s, of %q: Go %t, matcher %t, Postgres %t, JavaScript %v", s.Source, s.Written, text, want, got, postgres[j], answers[i][j])
			}
		}
	}
	if matched < 500 {
		t.Errorf("only %d texts matched", matched)
	}
}

// javascript asks Node.js, as validators of JSON Schema do; nil without it.
func javascript(t *testing.T, all []sample) [][]bool {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Log("JavaScript is not compared: there is no node")
		return nil
	}
	asked, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	const program = `let s = ""; process.stdin.setEncoding("utf8").on("data", d => s += d).on("end", () =>
		console.log(JSON.stringify(JSON.parse(s).map(e => { const r = new RegExp(e.written, "u"); return e.texts.map(t => r.test(t)); }))))`
	command := exec.Command(node, "-e", program)
	command.Stdin = strings.NewReader(string(asked))
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	var answers [][]bool
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// TestLinear measures patterns that are slow where an engine goes back, or makes its states anew, on texts of 64 KiB.
func TestLinear(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{}).Owner(t)
	r := rand.New(rand.NewSource(1))
	random := make([]byte, 64<<10)
	for i := range random {
		random[i] = "ab"[r.Intn(2)]
	}
	texts := []string{strings.Repeat("a", 64<<10), string(random), strings.Repeat("ab ", 64<<10/3), strings.Repeat("é", 32<<10), strings.Repeat("a@", 32<<10), "http://" + strings.Repeat("a:", 32<<10)}
	patterns := []string{pattern.Email, pattern.URL, pattern.Blank}
	for _, source := range []string{`(a*)*b`, `(a|a)*b`, `(a+)+`, `(a|b)*a(a|b){5}`, `(a|b)*a(a|b){6}`, `(.{1,18}){1,18}`, `((a|b){1,14}){1,14}(a|b)*`, `(.*a){8}`, `(.*a){1,100}`, `.{0,255}`, `(a?){30}a{30}`, `(\w+\s?)*`, `([a-z]+-)*[a-z]+`, `(a|ab|b)*c`, `(a{1,20}){1,20}`, `(.*b.*a){5}.*`} {
		written, problem := pattern.Read(source)
		if problem != "" {
			t.Logf("%s: refused, %s", source, problem)
			continue
		}
		patterns = append(patterns, written)
	}
	for _, written := range patterns {
		m, err := pattern.Compile(written)
		if err != nil {
			t.Fatal(err)
		}
		worst, worstPostgres := time.Duration(0), 0.0
		for _, text := range texts {
			began := time.Now()
			want := m.Match([]byte(text))
			worst = max(worst, time.Since(began))
			var got bool
			var took float64
			for range 2 { // the second does not make the states of the pattern
				if err := db.QueryRow(t.Context(), `with a as materialized (select clock_timestamp() as at, $1::text as text),
					b as materialized (select text ~ $2 as matches, at from a) select matches, extract(epoch from clock_timestamp() - at) * 1000 from b`, text, written).Scan(&got, &took); err != nil {
					t.Fatal(err)
				}
			}
			worstPostgres = max(worstPostgres, took)
			if got != want {
				t.Errorf("%s of %.10q…: matcher %t, Postgres %t", written, text, want, got)
			}
		}
		t.Logf("%-60.60s %3d states: %v, Postgres %.1f ms", written, m.States(), worst, worstPostgres)
	}
}
