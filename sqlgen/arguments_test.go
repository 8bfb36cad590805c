package sqlgen_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/sql/release"
)

const things = `
model Thing {
  fields {
    text Text
    kind Kind
    number Number
    decimal Decimal
    flag Boolean
    day Date
    at Timestamp
    took Duration
    order Text? @unique
    caller Text
    other Thing?
  }
  actions {
    get byText(id, text)
    get byKind(id, kind)
    get byNumber(id, number)
    get byDecimal(id, decimal)
    get byFlag(id, flag)
    get byDay(id, day)
    get byAt(id, at)
    get byTook(id, took)
    get byOrder(id, order)
    get byOther(id, other.id)
    get byAll(id, text, kind, number, decimal, flag, day, at, took)
    get mine() { @where(thing.id == ctx.headers.xThing) }
    get byCaller(id, caller)
    get byChoice(id?, order?)
    get thing(id)
    delete drop(text, id)
  }
  @unique([id, text])
  @permission(expression: true, actions: [get, delete])
}
enum Kind { Good Bad }
`

// TestArguments calls functions that take their inputs one by one with values of every
// type: each finds the row that has them, and no row for another value.
func TestArguments(t *testing.T) {
	t.Parallel()
	a := newApp(t, "things", things)
	const text = `"quoted" \back\ 'x' é 😀 $1 {a,b} ` + "\t\n"
	a.exec(t, `
		insert into app.thing (id, text, kind, number, decimal, flag, day, at, took, "order", caller, other_id)
		values ('a', $1, 'Good', -9007199254740991, -12345678901234567890.123456789012345678, true, '0001-01-01', '9999-12-31T23:59:59.999Z', 'P1DT0.5S', 'o', 'c', 'a')`, text)
	quoted := `"\"quoted\" \\back\\ 'x' \u00e9 \ud83d\ude00 $1 {a,b} \t\n"`
	for _, c := range []struct{ action, finds, misses string }{
		{"byText", `"text":` + quoted, `"text":"x"`},
		{"byKind", `"kind":"Good"`, `"kind":"Bad"`},
		{"byNumber", `"number":-9.007199254740991e15`, `"number":-9007199254740990`},
		{"byDecimal", `"decimal":-12345678901234567890.123456789012345678`, `"decimal":-12345678901234567890.123456789012345679`},
		{"byFlag", `"flag":true`, `"flag":false`},
		{"byDay", `"day":"0001-01-01"`, `"day":"0001-01-02"`},
		{"byAt", `"at":"9999-12-31T23:59:59.999Z"`, `"at":"9999-12-31T23:59:59.998Z"`},
		{"byTook", `"took":"PT24H0.5S"`, `"took":"PT24H"`},
		{"byOrder", `"order":"o"`, `"order":""`},
		{"byOther", `"otherId":"a"`, `"otherId":"b"`},
		{"byAll", `"took":"P1DT0.5S","at":"9999-12-31T23:59:59.999Z","day":"0001-01-01","flag":true,"decimal":-12345678901234567890.123456789012345678,` +
			`"number":-9007199254740991,"kind":"Good","text":` + quoted,
			`"took":"P1DT0.5S","at":"9999-12-31T23:59:59.999Z","day":"0001-01-01","flag":false,"decimal":1,"number":1,"kind":"Bad","text":""`},
		{"byCaller", `"caller":"c"`, `"caller":"me"`},
		{"byChoice", `"order":"o"`, `"order":""`},
	} {
		for _, caller := range []string{"", "me"} {
			if got := a.call(t, c.action, `{`+c.finds+`,"id":"a"}`, caller); got == "null" || got[0] != '{' {
				t.Errorf("%s with %s answers %s", c.action, c.finds, got)
			}
			if got := a.call(t, c.action, `{"id":"a",`+c.misses+`}`, caller); got != "null" {
				t.Errorf("%s with %s answers %s", c.action, c.misses, got)
			}
		}
	}

	for action, want := range map[string]string{
		"byText": "text, text, text, text", "byAt": "text, timestamp with time zone, text, text", "mine": "jsonb",
		"byCaller": "jsonb, jsonb", // it has an input of that name
		"byChoice": "jsonb, jsonb", // one may be absent
		"thing":    "jsonb, jsonb", // thing.id would be its argument
		"drop":     "text, text, text, text",
	} {
		if got := a.action(t, action).Signature(); got != want {
			t.Errorf("%s takes (%s), want (%s)", action, got, want)
		}
	}
	if got, want := a.call(t, "drop", `{"text":`+quoted+`,"id":"a"}`, ""), `"a"`; got != want {
		t.Errorf("drop answers %s, want %s", got, want)
	}
}

const papers = `
model Paper {
  fields {
    text Text
    note Text?
    kind Kind @default(Kind.Good)
    hint Text? @default("none")
    size Number?
    price Decimal @default(1.5)
    flag Boolean?
    day Date?
    at Timestamp?
    took Duration?
    copied Text? @default("nothing")
    moment Timestamp?
    labels Text[]?
    owner Owner?
    keeper Owner
    second Owner?
  }
  actions {
    create createTyped() with (text, note?, kind?, hint?, size?, price?, flag?, day?, at?, took?, owner.id?, keeper.id, copy: Text?) {
      @set(paper.copied = copy)
      @set(paper.moment = day)
      @set(paper.second = paper.keeper)
    }
    create createPlain() with (text, note?, kind?, hint?, size?, price?, flag?, day?, at?, took?, owner.id?, keeper.id, copy: Text?, labels?) {
      @set(paper.copied = copy)
      @set(paper.moment = day)
      @set(paper.second = paper.keeper)
    }
    update updateTyped(id) with (text?, note?, kind?, hint?, size?, price?, flag?, day?, at?, took?, owner.id?, keeper.id?, copy: Text?) {
      @set(paper.copied = copy)
      @set(paper.moment = day)
    }
    update updatePlain(id) with (text?, note?, kind?, hint?, size?, price?, flag?, day?, at?, took?, owner.id?, keeper.id?, copy: Text?, labels?) {
      @set(paper.copied = copy)
      @set(paper.moment = day)
    }
  }
  @permission(expression: true, actions: [create, update])
}
model Owner { fields { name Text } }
enum Kind { Good Bad }
`

// TestArgumentsOfWrites sends the same inputs to two actions. The function of one takes them one by
// one; that of the other also takes an array and therefore the body. Each input may be present, null
// or absent. Both write the same.
func TestArgumentsOfWrites(t *testing.T) {
	t.Parallel()
	a := newApp(t, "papers", papers)
	a.exec(t, "insert into app.owner (id, name) values ('o1', 'One'), ('o2', 'Two')")
	for action, want := range map[string]string{
		"createTyped": "text, text, text, text, boolean, bigint, numeric, boolean, date, timestamp with time zone, interval, text, text, text, text, text",
		"updateTyped": "text, text, text, boolean, text, text, boolean, bigint, boolean, numeric, boolean, boolean, date, boolean, " +
			"timestamp with time zone, boolean, interval, boolean, text, boolean, text, text, text, text",
		"createPlain": release.PlainSignature,
		"updatePlain": release.PlainSignature,
	} {
		if got := a.action(t, action).Signature(); got != want {
			t.Errorf("%s takes (%s), want (%s)", action, got, want)
		}
	}

	// The last of each is null, or what is above it; one that may not be null has none.
	inputs := [][]string{
		{`"note":"\"n\", {1}"`, `"note":""`, `"note":null`},
		{`"kind":"Bad"`},
		{`"hint":"h"`, `"hint":null`},
		{`"size":7`, `"size":null`},
		{`"price":-0.25`},
		{`"flag":true`, `"flag":false`, `"flag":null`},
		{`"day":"2026-03-31"`, `"day":null`},
		{`"at":"2026-03-31T21:40:10.123Z"`, `"at":null`},
		{`"took":"P1DT2H"`, `"took":null`},
		{`"owner":{"id":"o1"}`, `"owner":{}`, `"owner":null`},
		{`"copy":"c"`},
	}
	values := func(random *rand.Rand, more ...string) string {
		for _, choices := range inputs {
			if n := random.IntN(len(choices) + 1); n < len(choices) {
				more = append(more, choices[n])
			}
		}
		random.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
		return "{" + strings.Join(more, ",") + "}"
	}
	unlike := regexp.MustCompile(`"(id|createdAt|updatedAt)":"[^"]*",?`)
	id := regexp.MustCompile(`"id":"([^"]*)"`)
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		body := values(random, `"text":"t"`, `"keeper":{"id":"o2"}`)
		typed, plain := a.call(t, "createTyped", body, ""), a.call(t, "createPlain", body, "")
		if got, want := unlike.ReplaceAllString(typed, ""), unlike.ReplaceAllString(plain, ""); got != want || !strings.Contains(got, `"secondId":"o2"`) {
			t.Fatalf("create with %s answers\n%s, want\n%s", body, got, want)
		}
		body = values(random, [][]string{nil, {`"text":"u"`}, {`"keeper":{"id":"o1"}`}}[random.IntN(3)]...)
		update := func(action, row string) string {
			return a.call(t, action, `{"values":`+body+`,"where":{"id":"`+id.FindStringSubmatch(row)[1]+`"}}`, "")
		}
		got, want := unlike.ReplaceAllString(update("updateTyped", typed), ""), unlike.ReplaceAllString(update("updatePlain", plain), "")
		if got != want || got == "" {
			t.Fatalf("update with %s of %s answers\n%s, want\n%s", body, typed, got, want)
		}
	}
}

// TestParameters tests the arguments of a call's function.
func TestParameters(t *testing.T) {
	t.Parallel()
	m := &release.Manifest{}
	for _, test := range []struct{ arguments, caller, token, want string }{
		{"", "me", "9 s", `["{\"b\":1,\"a\":\"x\\n\"}" "{}"]`},
		{"a", "me", "9 s", `["x\n" "me" "9 s"]`},
		{"ab", "", "", `["x\n" "1" "" ""]`},
		{"bc", "me", "9 s", `["1" "" "me" "9 s"]`},
		{"a-", "me", "9 s", `["x\n" "me"]`}, // as releases of earlier versions have it
		{"a+", "me", "9 s", `["x\n" "{}"]`},
	} {
		action := &release.Action{Name: "get", Kind: release.Delete, Function: "get"}
		last := []release.Argument{{Name: "caller", Type: "text"}, {Name: "access_token", Type: "text"}}
		for _, name := range test.arguments {
			switch name {
			case '-':
				last = last[:1]
				continue
			case '+':
				last = []release.Argument{{Name: "context", Type: release.ContextType}}
				continue
			}
			action.Arguments = append(action.Arguments, release.Argument{Name: string(name), Type: "text", Input: string(name)})
		}
		if test.arguments != "" {
			action.Arguments = append(action.Arguments, last...)
		}
		plan := answer.NewPlan(m, action, 0).Begin(answer.Page{}, nil)
		if got := fmt.Sprintf("%q", plan.Parameters([]byte(`{"b":1,"a":"x\n"}`), test.caller, test.token, []byte("{}"))); got != test.want {
			t.Errorf("arguments %q: got %s, want %s", test.arguments, got, test.want)
		}
	}
}

const listedThings = `
model Thing {
  fields {
    text Text
    kind Kind
    number Number
    decimal Decimal
    flag Boolean
    day Date
    at Timestamp
    took Duration
    hint Text?
    other Thing?
    order Number
  }
  actions {
    list things(text?, kind?, number?, decimal?, flag?, day?, took?, hint?, other.id?, other.text?, since: Date?, until: Timestamp?) {
      @where(thing.day >= since)
      @where(thing.at < until)
      @orderBy(number: desc, day: desc)
    }
    list ordered(order, kind?) { @orderBy(order: asc) }
    list keyed(kind?) { @where(thing.text == ctx.headers.xText) }
    list anyOf(kind?, texts: Text[]?) { @where(thing.text in texts) }
    list formed(form: Text?) { @where(thing.text == form) }
    list owned(kind?) { @permission(expression: thing.text == ctx.identity.email) }
  }
  @permission(expression: true, actions: [list])
}
enum Kind { Good Bad }
`

// TestArgumentsOfForms calls the forms of lists, which take their values and the page one by one: each finds what the
// function for any request finds, for values of every type, and behind a cursor.
func TestArgumentsOfForms(t *testing.T) {
	t.Parallel()
	a := newApp(t, "listed", listedThings)
	const text = `"quoted" \back\ 'x' é {a,b} ` + "\t\n"
	a.exec(t, "insert into app.identity (id, email, issuer) values ('i', 'me', 'x')")
	a.exec(t, `
		insert into app.thing (id, text, kind, number, decimal, flag, day, at, took, hint, other_id, "order")
		select 't' || n, case when n % 2 = 0 then $1 else 'me' end, case when n % 3 = 0 then 'Good' else 'Bad' end, n / 4, n / 8.0, n % 2 = 0,
			'2026-01-01'::date + n % 5, '2026-01-01Z'::timestamptz + n * interval '1 hour', n % 4 * interval '1 day', nullif('h' || n % 2, 'h0'), 't0', n % 2
		from generate_series(0, 39) as n`, text)
	for action, want := range map[string]string{
		"things": "text, text, bigint, numeric, boolean, date, interval, bigint, date, text, bigint, text, text, text",
		"keyed":  "text, text, bigint, jsonb, text",
		"owned":  "text, text, bigint, text, text, text",
		"anyOf":  "text, text, bigint, text, text, text", // an array has no form
		"formed": "text, bigint, text, text, text",       // so has none whose input has the name of an argument
	} {
		if got := a.action(t, action).Foreseen[0].Signature(); got != want {
			t.Errorf("%s takes (%s), want (%s)", action, got, want)
		}
	}

	cursor := regexp.MustCompile(`"endCursor":"([^"]*)"`)
	for _, test := range []struct {
		action, where string
		rows          int
	}{
		{"things", ``, 40},
		{"things", `"text":{"equals":"\"quoted\" \\back\\ 'x' é {a,b} \t\n"}`, 20},
		{"things", `"text":{"equals":""}`, 0},
		{"things", `"kind":{"equals":"Good"}`, 14},
		{"things", `"number":{"equals":3}`, 4},
		{"things", `"decimal":{"equals":0.125}`, 1},
		{"things", `"flag":{"equals":true}`, 20},
		{"things", `"day":{"equals":"2026-01-02"}`, 8},
		{"things", `"took":{"equals":"P1D"}`, 10},
		{"things", `"hint":{"equals":"h1"}`, 20},
		{"things", `"other":{"id":{"equals":"t0"}}`, 40},
		{"things", `"other":{"id":{"equals":"t1"}}`, 0},
		{"things", `"other":{"text":{"equals":"me"}}`, 0},
		{"things", `"since":"2026-01-05"`, 8},
		{"things", `"until":"2026-01-01T10:00:00.000Z"`, 10},
		{"ordered", `"order":{"equals":1}`, 20},
		{"ordered", `"order":{"equals":1},"kind":{"equals":"Good"}`, 7},
		{"keyed", `"kind":{"equals":"Good"}`, 0},
		{"owned", `"kind":{"equals":"Good"}`, 7},
		{"owned", ``, 20},
	} {
		action := a.action(t, test.action)
		after, found := "", 0
		for page := 0; page == 0 || after != ""; page++ {
			body := fmt.Sprintf(`{"where":{%s},"first":7%s}`, test.where, after)
			in, err := a.readers[test.action].Read([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			form, isForm := calls.Form(action, in.OperatorSet(), in.PlainPage(), in.Page().HasCursor)
			if !isForm {
				t.Fatalf("%s %s has no form", test.action, body)
			}
			got, want := a.callFunction(t, form, body, "i"), a.callFunction(t, action.Function, body, "i")
			if got != want {
				t.Fatalf("%s %s answers\n%s, want\n%s", form, body, got, want)
			}
			found += strings.Count(got, `"createdAt"`)
			if after = ""; strings.Contains(got, `"hasNextPage":true`) {
				after = `,"after":"` + cursor.FindStringSubmatch(got)[1] + `"`
			}
		}
		if found != test.rows {
			t.Errorf("%s {%s} finds %d rows, want %d", test.action, test.where, found, test.rows)
		}
	}
}

// TestParametersOfForms tests that a form reads one row more than its page has, and the one at the cursor.
func TestParametersOfForms(t *testing.T) {
	t.Parallel()
	action := &release.Action{Name: "list", Kind: release.List, Function: "list", Record: "R", Foreseen: []*release.Foreseen{{
		Function: "list__foreseen", Forms: []string{"a.equals"}, Seeks: true, Arguments: []release.Argument{
			{Name: "a", Type: "text", Input: "where.a.equals"}, {Name: "after_at", Type: "text", Input: "position.0"},
			{Name: "after_id", Type: "text", Input: "position.1"}, {Name: "first", Type: "bigint", Input: "first"}, {Name: "caller", Type: "text"},
			{Name: "access_token", Type: "text"},
		},
	}}}
	m := &release.Manifest{Records: map[string][]release.Member{"R": {{Name: "id", Column: "id", Type: release.TextMember}}}}
	plan := answer.NewForm(m, action, action.Foreseen[0], "a.equals", 0)
	if sql, want := plan.Begin(answer.Page{}, nil).Statement().SQL, `select "id" from "api"."list__foreseen"($1, $2, $3, $4, $5, $6, 'a.equals')`; sql != want {
		t.Errorf("got %s, want %s", sql, want)
	}
	for _, test := range []struct {
		body string
		page answer.Page
		want string
	}{
		{`{"where":{"a":{"equals":"x"}}}`, answer.Page{}, `["x" "" "" "51" "me" "9 s"]`},
		{`{"where":{"a":{"equals":"x"}},"first":20}`, answer.Page{Size: 20}, `["x" "" "" "21" "me" "9 s"]`},
		{`{"where":{"a":{"equals":"x"}},"first":20,"after":"c","position":["y","z"]}`, answer.Page{Size: 20, Cursor: "c", HasCursor: true}, `["x" "y" "z" "22" "me" "9 s"]`},
	} {
		if got := fmt.Sprintf("%q", plan.Begin(test.page, nil).Parameters([]byte(test.body), "me", "9 s", nil)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.body, got, test.want)
		}
	}
}
