package input_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/input"
)

// valueReader reads values of one schema: {"v": value}.
func valueReader(t testing.TB, schema string) *input.Reader {
	t.Helper()
	return compile(t, `{"X":{"type":"object","additionalProperties":false,"properties":{"v":`+schema+`}}}`, "X")
}

// readValue reads one value, and returns the value that was passed on, or the problem.
func readValue(t *testing.T, r *input.Reader, value string) string {
	t.Helper()
	in, err := r.Read([]byte(`{"v":` + value + `}`))
	if err == nil {
		return strings.TrimSuffix(strings.TrimPrefix(string(in.JSON), `{"v":`), "}")
	}
	var invalid *input.Invalid
	if !errors.As(err, &invalid) {
		t.Fatalf("read %s: got error %v, want *input.Invalid", value, err)
	}
	if len(invalid.Problems) != 1 || !strings.HasPrefix(invalid.Problems[0].Field, "v") {
		t.Fatalf("read %s: got problems %v, want one of v", value, invalid.Problems)
	}
	return invalid.Problems[0].Error
}

// These are the published schemas for the types of the schema language.
const (
	schemaID        = `{"type":"string","minLength":1,"maxLength":255}`
	schemaText      = `{"type":"string"}`
	schemaMarkdown  = `{"type":"string","format":"markdown"}`
	schemaNumber    = `{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991}`
	schemaDecimal   = `{"type":"number","format":"decimal"}`
	schemaBoolean   = `{"type":"boolean"}`
	schemaDate      = `{"type":"string","format":"date"}`
	schemaTimestamp = `{"type":"string","format":"date-time"}`
	schemaDuration  = `{"type":"string","format":"duration"}`
	schemaEnum      = `{"enum":["Draft","Live"]}`
	schemaPassword  = `{"type":"string","format":"password","minLength":1,"maxLength":1024}`
	schemaVector    = `{"type":"array","minItems":1,"maxItems":16000,"items":{"type":"number"}}`
	schemaFile      = `{"type":"string","x-format":"file"}`
	schemaDataURL   = `{"type":"string","format":"data-url"}`
	schemaRelative  = `{"type":"string","format":"relative-period"}`
)

const (
	refusedInteger = "Invalid type. Expected: integer, given: number"
	refusedText    = "Invalid type. Expected: string, given: integer"
	refusedDecimal = "Does not match format 'decimal'"
	refusedDataURL = "is not a data URL with a type, a name and base64 data"
	refusedName    = "is not a file name: "
	refusedType    = "is not a content type"
)

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestValues(t *testing.T) {
	t.Parallel()
	same := "\x00" // passed on as sent
	for _, c := range []struct{ schema, value, want string }{
		{schemaID, `"x"`, same},
		{schemaID, `""`, "String length must be at least 1"},
		{schemaID, quoted(strings.Repeat("é", 255)), same},
		{schemaID, quoted(strings.Repeat("é", 256)), "String length must be at most 255"},
		{schemaID, `5`, refusedText},

		{schemaText, `""`, same},
		{schemaText, `"\u0041\n"`, `"A\n"`},
		{schemaText, `null`, "Invalid type. Expected: string, given: null"},
		{schemaMarkdown, `"# \u0041"`, `"# A"`},

		{schemaNumber, `5`, same},
		{schemaNumber, `5.0`, `5`},
		{schemaNumber, `5e0`, `5`},
		{schemaNumber, `-0`, `0`},
		{schemaNumber, `0.5e1`, `5`},
		{schemaNumber, `-9007199254740991`, same},
		{schemaNumber, `9007199254740991.000`, `9007199254740991`},
		{schemaNumber, `9007199254740992`, "Must be less than or equal to 9007199254740991"},
		{schemaNumber, `1e100`, "Must be less than or equal to 9007199254740991"},
		{schemaNumber, `-1e100`, "Must be greater than or equal to -9007199254740991"},
		{`{"type":"integer"}`, `1e16`, "Must be less than or equal to 9007199254740991"},
		{schemaNumber, `5.5`, refusedInteger},
		{schemaNumber, `1e-100`, refusedInteger},
		{schemaNumber, `"5"`, "Invalid type. Expected: integer, given: string"},
		{schemaNumber, `true`, "Invalid type. Expected: integer, given: boolean"},

		{schemaDecimal, `1.50`, `1.5`},
		{schemaDecimal, `0.1`, same},
		{schemaDecimal, `1.5e3`, `1500`},
		{schemaDecimal, `12345678901234567890.123456789012345678`, same},
		{schemaDecimal, `1e37`, `1` + strings.Repeat("0", 37)},
		{schemaDecimal, `1e38`, refusedDecimal},
		{schemaDecimal, `1e-18`, `0.000000000000000001`},
		{schemaDecimal, `1e-19`, refusedDecimal},
		{schemaDecimal, `123456789012345678901.123456789012345678`, refusedDecimal},
		{schemaDecimal, `"1.5"`, "Invalid type. Expected: number, given: string"},

		{schemaBoolean, `true`, same},
		{schemaBoolean, `"true"`, "Invalid type. Expected: boolean, given: string"},
		{schemaBoolean, `1`, "Invalid type. Expected: boolean, given: integer"},

		{schemaEnum, `"Live"`, same},
		{schemaEnum, `"\u004cive"`, `"Live"`},
		{schemaEnum, `"live"`, `v must be one of the following: "Draft", "Live"`},
		{schemaEnum, `7`, `v must be one of the following: "Draft", "Live"`},
		{schemaEnum, `1.5`, `v must be one of the following: "Draft", "Live"`},
		{schemaEnum, `true`, `v must be one of the following: "Draft", "Live"`},
		{schemaEnum, `null`, `v must be one of the following: "Draft", "Live"`},
		{schemaEnum, `{"a":[1]}`, `v must be one of the following: "Draft", "Live"`},
		{`{"enum":["A",null]}`, `null`, same},
		{`{"enum":[null,"A","B"]}`, `"C"`, `v must be one of the following: "A", "B", null`},
		{`{"type":"string","enum":["A"]}`, `7`, refusedText},

		{schemaPassword, quoted(strings.Repeat("é", 512)), same},
		{schemaPassword, quoted(strings.Repeat("é", 513)), "String length must be at most 1024 bytes"},
		{schemaPassword, `""`, "String length must be at least 1 bytes"},

		{schemaVector, `[0.25,1e-3,5]`, same},
		{schemaVector, `[1e-90,-1e-46]`, `[0,0]`},
		{schemaVector, `[1e39]`, "Must be less than or equal to 340282346638528859811704183484516925440"},
		{schemaVector, `[-1e39]`, "Must be greater than or equal to -340282346638528859811704183484516925440"},
		{schemaVector, `[]`, "Must have at least 1 items"},
		{schemaVector, `[1,"a"]`, "Invalid type. Expected: number, given: string"},
		{schemaVector, `[` + strings.Repeat("1,", 16000) + `1]`, "Must have at most 16000 items"},

		{`{"type":["object","null"]}`, `[]`, "Invalid type. Expected: [object,null], given: array"},
		{`{"type":["string","null"]}`, `1.5`, "Invalid type. Expected: [string,null], given: number"},
		{`{"type":["null","integer"]}`, `{}`, "Invalid type. Expected: [null,integer], given: object"},
		{`{"type":"array","maxItems":2}`, `[1,2,3]`, "Must have at most 2 items"},
		{`{"type":"object","minProperties":1}`, `{}`, "Must have at least 1 properties"},
		{`{"type":"object","maxProperties":1}`, `{"a":1,"b":2}`, "Must have at most 1 properties"},
		{`{"type":"integer","minimum":1,"maximum":1000}`, `0`, "Must be greater than or equal to 1"},
		{`{"type":"integer","minimum":1,"maximum":1000}`, `1001`, "Must be less than or equal to 1000"},
		{`{"type":"number","format":"decimal","minimum":1.50}`, `1.49`, "Must be greater than or equal to 1.5"},
		{`true`, `{"a":[1.0,"x"]}`, same},
		{`{}`, `1.50`, same},
		{`{"description":"any"}`, `null`, same},
	} {
		want := c.want
		if want == same {
			want = c.value
		}
		if got := readValue(t, valueReader(t, c.schema), c.value); got != want {
			t.Errorf("schema %s, value %.80s\n got %.200s\nwant %.200s", c.schema, c.value, got, want)
		}
	}
}

// textFormat is a format of text with accepted values, their form, and refused values.
type textFormat struct {
	schema   string
	accepted [][2]string
	refused  []string
	problem  string
}

var textFormats = []textFormat{
	{
		schema: schemaDate,
		accepted: [][2]string{
			{"2026-03-31", "2026-03-31"},
			{"0001-01-01", "0001-01-01"},
			{"9999-12-31", "9999-12-31"},
			{"2024-02-29", "2024-02-29"},
			{"2000-02-29", "2000-02-29"},
			{"2026-03-31T23:59:59Z", "2026-03-31"},
			{"2026-03-31t23:59:59.123456789z", "2026-03-31"},
			{"2026-03-31T00:00:00+14:00", "2026-03-31"},
			{"0001-01-01T00:00:00+14:00", "0001-01-01"},
			{"9999-12-31T23:59:59-12:00", "9999-12-31"},
		},
		refused: []string{
			"", "2026", "2026-03", "2026-3-31", "26-03-31", "2026-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "2026-00-10",
			"2026-01-00", "0000-01-01", "10000-01-01", "-2026-01-01", "+2026-01-01", "20260331", "2026/03/31", "2026-03-31 ",
			" 2026-03-31", "2026-03-31T", "2026-03-31T10:00", "2026-03-31T10:00:00", "2026-03-31 10:00:00Z", "2026-W14-2",
			"today", "infinity", "２０２６-03-31", "2026-03-32", "2026-0a-01",
		},
		problem: "Does not match format 'date'",
	},
	{
		schema: schemaTimestamp,
		accepted: [][2]string{
			{"2026-03-31T21:40:10.000Z", "2026-03-31T21:40:10.000Z"},
			{"2026-03-31T21:40:10Z", "2026-03-31T21:40:10.000Z"},
			{"2026-03-31t21:40:10z", "2026-03-31T21:40:10.000Z"},
			{"2026-03-31T21:40:10.1Z", "2026-03-31T21:40:10.100Z"},
			{"2026-03-31T21:40:10.0009Z", "2026-03-31T21:40:10.000Z"},
			{"2026-03-31T21:40:10.123999999999999999999Z", "2026-03-31T21:40:10.123Z"},
			{"2026-03-31T23:40:10+02:00", "2026-03-31T21:40:10.000Z"},
			{"2026-04-01T03:10:10.5+05:30", "2026-03-31T21:40:10.500Z"},
			{"2026-03-31T21:40:10-00:00", "2026-03-31T21:40:10.000Z"},
			{"2026-12-31T20:00:00-08:00", "2027-01-01T04:00:00.000Z"},
			{"2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00.000Z"},
			{"2024-03-01T00:30:00+01:00", "2024-02-29T23:30:00.000Z"},
			{"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"},
			{"0001-01-01T01:00:00+01:00", "0001-01-01T00:00:00.000Z"},
			{"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
			{"2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"},
			{"2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.500Z"},
			{"2017-01-01T01:59:60+02:00", "2017-01-01T00:00:00.000Z"},
			{"2015-06-30T15:59:60-08:00", "2015-07-01T00:00:00.000Z"},
		},
		refused: []string{
			"", "2026-03-31", "2026-03-31T21:40Z", "2026-03-31T21:40:10", "2026-03-31 21:40:10Z", "2026-03-31T21:40:10.Z",
			"2026-03-31T21:40:10,5Z", "2026-03-31T24:00:00Z", "2026-03-31T21:60:00Z", "2026-03-31T21:40:61Z", "2026-03-31T21:40:60Z",
			"2026-03-31T22:59:60Z", "2026-03-30T23:59:60Z", "2016-12-31T23:59:60+01:00", "2026-03-31T21:40:10+2:00", "2026-03-31T21:40:10+0200",
			"2026-03-31T21:40:10+02", "2026-03-31T21:40:10+24:00", "2026-03-31T21:40:10+02:60", "2026-03-31T21:40:10 Z",
			"2026-03-31T21:40:10ZZ", "2026-03-31T21:40:10Z ", "0000-12-31T23:00:00Z", "0000-12-31T23:00:00-05:00",
			"0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z", "2026-02-30T00:00:00Z", "1774993210",
			"now", "2026-03-31T2x:40:10Z", "2026-03-31T21:40:10\u221202:00", "2026-03-31T21:40:10.5", "2026-03-31T21:40:10*02:00",
		},
		problem: "Does not match format 'date-time'",
	},
	{
		schema: schemaDuration,
		accepted: [][2]string{
			{"P1Y2M3W4DT5H6M7S", "P1Y2M3W4DT5H6M7S"},
			{"PT90M", "PT90M"},
			{"P1W", "P1W"},
			{"P-1D", "P-1D"},
			{"P1Y-1M", "P1Y-1M"},
			{"PT0S", "PT0S"},
			{"P0D", "PT0S"},
			{"P0DT0H", "PT0S"},
			{"P-0D", "PT0S"},
			{"P0Y3D", "P3D"},
			{"P1DT0S", "P1D"},
			{"P007D", "P7D"},
			{"PT1.5S", "PT1.5S"},
			{"PT-0.5S", "PT-0.5S"},
			{"PT0.000001S", "PT0.000001S"},
			{"PT1.500000S", "PT1.5S"},
			{"PT1.0S", "PT1S"},
			{"PT-0.0S", "PT0S"},
			{"P1MT1M", "P1MT1M"},
			{"PT2.5H", "PT2H1800S"},
			{"PT-2.5H", "PT-2H-1800S"},
			{"PT1M30S"},
			{"PT0.000001H", "PT0.0036S"},
			{"P0.5D", "PT43200S"},
			{"P-1.25D", "P-1DT-21600S"},
			{"P1DT0.5H", "P1DT1800S"},
			{"P1.5W", "P1W3DT43200S"},
			{"P0.000001W", "PT0.6048S"},
			{"P1.5Y", "P1Y6M"},
			{"P0.25Y", "P3M"},
			{"P2.0M", "P2M"},
			{"P0.0D", "PT0S"},
			{"P99999999Y99999999M99999999W99999999DT99999999H99999999M99999999.999999S", "P99999999Y99999999M99999999W99999999DT99999999H99999999M99999999.999999S"},
			{"PT-99999999H", "PT-99999999H"},
		},
		refused: []string{
			"", "P", "PT", "P1", "P1DT", "1D", "p1d", "P1d", "-P1D", "+P1D", "P+1D", "P--1D", "P1.5M", "P0.1Y", "P1.5DT1H", "P1.0DT1H", "PT1.5H1M", "P1.5D1", "P1.D", "P.5D", "P0.0000001D", "P1,5D", "PT1.S", "PT.5S", "PT1,5S",
			"PT0.0000001S", "P100000000Y", "P000000001Y", "P1D1Y", "P1D1D", "P1H", "PT1D", "PT1Y", "P1S", "PT1S1M", "PTT1S", "P1DT1HT1M",
			"P1D ", " P1D", "P 1D", "1 day", "P0001-02-03", "P1YT", "P-D", "PT1H-", "P1D1", "PT-1.-5S",
		},
		problem: "Does not match format 'duration'",
	},
	{
		schema: schemaRelative,
		accepted: [][2]string{
			{"now", "now"},
			{"TODAY", "today"},
			{"Tomorrow", "tomorrow"},
			{"yesterday", "yesterday"},
			{"this week", "this week"},
			{"this  complete   Weeks", "this complete weeks"},
			{"next day", "next day"},
			{"last 7 days", "last 7 days"},
			{"last 1 week", "last 1 week"},
			{"LAST 2 Complete Months", "last 2 complete months"},
			{"next complete hour", "next complete hour"},
			{"last 10000 minutes", "last 10000 minutes"},
			{"next 3 years", "next 3 years"},
		},
		refused: []string{
			"", " ", "now ", " now", "now now", "today day", "this", "this 2 days", "this complete", "last", "last 7", "last complete",
			"last 0 days", "last 07 days", "last 10001 days", "last -1 days", "last +1 days", "last 1.5 days", "last one day",
			"last 7 complete", "last complete 7 days", "last 7 complete days ago", "next decade", "last\tday", "last\u00a0day", "days",
			"7 days", "next 99999999999999999999 days", "this week this week", "la\u017ft day", "complete day", "last 7 7 days",
		},
		problem: "Does not match format 'relative-period'",
	},
	{
		schema: schemaDataURL,
		accepted: [][2]string{
			{"data:image/png;name=knots.png;base64,aGk=", ""},
			{"DATA:image/png;NAME=knots.png;BASE64,aGk=", ""},
			{"data:text/plain;charset=utf-8;name=a%20b.txt;base64,", ""},
			{"data:text/plain;name=a.txt;charset=utf-8;base64,AAAA", ""},
			{"data:text/plain;x=\"a;b,c\";name=%C3%A9.txt;base64,AA==", ""},
			{"data:application/vnd.api+json;name=" + strings.Repeat("a", 255) + ";base64,+/+/", ""},
			{"data:text/plain;name=a+b.txt;base64,", ""},
			{"data:text/plain;name=...;base64,", ""},
			{"data:text/plain;name=a%3Bb.txt;base64,", ""},
			{"data:text/plain;name=a;b%20c;d.txt;charset=utf-8;base64,", ""},
			{"data:text/plain;name=\"a;b.txt\";base64,", ""},
		},
		refused: []string{
			"", "x", "data:", "data:,", "dat:image/png;name=a;base64,", "https://example.com/a.png", "data:image/png;base64,AAAA",
			"data:;name=a;base64,AAAA", "data:image/png;name=a,AAAA", "data:image/png;name=a;base64", "data:image/png;name=a;base64,AAA",
			"data:image/png;name=a;base64,AAA-", "data:image/png;name=a;base64,AAA_", "data:image/png;name=a;base64,AA A", "data:image/png;name=a;base64,AAAA\n",
			"data:image/png;name=a;base64,A===", "data:image/png;name=a;base64,====", "data:image/png;name=a;base64,AA==AAAA",
			"data:image/png;name=a;base64,AA=A", "data:image/png;name=%zz;base64,", "data:image/png;name=%ff;base64,",
			"data:image/png;name=a;name=b;base64,", "data:image/png;base64;name=a,AAAA",
			"data:image/png;name=a;base64,AAAA,", "data:base64,AAAA", "data:name=a;base64,AAAA",
		},
		problem: refusedDataURL,
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a\u200eb;base64,", ""}},
		refused:  []string{"data:image/png;name=;base64,"},
		problem:  refusedName + "it is empty",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused:  []string{"data:image/png;name=.;base64,"},
		problem:  refusedName + ". is a folder",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused:  []string{"data:image/png;name=..;base64,"},
		problem:  refusedName + ".. is a folder",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused:  []string{"data:image/png;name=a%2Fb;base64,", "data:image/png;name=a/b;base64,"},
		problem:  refusedName + "it has a /",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused:  []string{"data:image/png;name=a%5Cb;base64,"},
		problem:  refusedName + `it has a \`,
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused:  []string{"data:image/png;name=a%00b;base64,"},
		problem:  refusedName + "it has the control character U+0000",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused:  []string{"data:image/png;name=a%0Ab;base64,"},
		problem:  refusedName + "it has the control character U+000A",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused:  []string{"data:image/png;name=%7F;base64,"},
		problem:  refusedName + "it has the control character U+007F",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused:  []string{"data:image/png;name=%C2%85;base64,"},
		problem:  refusedName + "it has the control character U+0085",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused:  []string{"data:image/png;name=%E2%80%AEgpj.exe;base64,"},
		problem:  refusedName + "it has the character U+202E, which changes the direction of text",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused:  []string{"data:image/png;name=\u2066a;base64,"},
		problem:  refusedName + "it has the character U+2066, which changes the direction of text",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:image/png;name=a;base64,", ""}},
		refused: []string{
			"data:image/png;name=" + strings.Repeat("a", 256) + ";base64,", "data:image/png;name=" + strings.Repeat("%C3%A9", 128) + ";base64,",
		},
		problem: refusedName + "it has 256 bytes, and at most 255 are allowed",
	},
	{
		schema:   schemaDataURL,
		accepted: [][2]string{{"data:a/b;name=a;base64,", ""}},
		refused: []string{
			"data:image;name=a;base64,", "data:image/*;name=a;base64,", "data:*/*;name=a;base64,", "data:image/p%67;name=a;base64,", "data:.a/b;name=a;base64,", "data:image/;name=a;base64,", "data:/png;name=a;base64,", "data:a/b/c;name=a;base64,",
			"data:im age/png;name=a;base64,", "data:image/png;charset;name=a;base64,", "data:image/png;a=b;a=c;name=a;base64,",
			"data:image/pñg;name=a;base64,", "data:image/png;x=\"\u00e9\";name=a;base64,", "data:image/" + strings.Repeat("p", 256) + ";name=a;base64,",
		},
		problem: refusedType,
	},
	{
		schema: schemaFile,
		accepted: [][2]string{
			{"q8Jw2cX7TfKb0sVnR4mYtA", ""},
			{"", ""},
			{"database", ""},
			{"data:image/png;name=knots.png;base64,aGk=", ""},
		},
		refused: []string{"data:", "DATA:image/png;base64,AAAA", "Data:x"},
		problem: refusedDataURL,
	},
}

func TestTextFormats(t *testing.T) {
	t.Parallel()
	for _, f := range textFormats {
		t.Run(f.problem+" "+f.schema, func(t *testing.T) {
			t.Parallel()
			r := valueReader(t, f.schema)
			for _, c := range f.accepted {
				want := c[1]
				if want == "" {
					want = c[0]
				}
				got := readValue(t, r, quoted(c[0]))
				if got != rawQuoted(want) {
					t.Errorf("read %q\n got %s\nwant %s", c[0], got, rawQuoted(want))
				}
			}
			for _, text := range f.refused {
				if got := readValue(t, r, quoted(text)); got != f.problem {
					t.Errorf("read %q\n got %s\nwant %s", text, got, f.problem)
				}
			}
		})
	}
}

// rawQuoted quotes a text without control characters.
func rawQuoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func TestTextFormatsOfEscapedText(t *testing.T) {
	t.Parallel()
	r := valueReader(t, schemaTimestamp)
	value := `"2026-03-31\u005421:40:10\u002b02:00"`
	if got, want := readValue(t, r, value), `"2026-03-31T19:40:10.000Z"`; got != want {
		t.Errorf("read %s\n got %s\nwant %s", value, got, want)
	}
}
