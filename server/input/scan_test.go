package input_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sternpost/sternpost/server/input"
)

func nested(depth int) string {
	return strings.Repeat("[", depth) + strings.Repeat("]", depth)
}

func nestedObjects(depth int) string {
	return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, reason string }{
		{" ", "not valid JSON"},
		{"{", "not valid JSON"},
		{"}", "not valid JSON"},
		{"nul", "not valid JSON"},
		{"True", "not valid JSON"},
		{"tru\xff", "not valid UTF-8"},
		{"{}{}", "not valid JSON"},
		{"{} x", "not valid JSON"},
		{"{}\x00", "not valid JSON"},
		{"{},", "not valid JSON"},
		{"[1,]", "not valid JSON"},
		{"[,1]", "not valid JSON"},
		{"[1 2]", "not valid JSON"},
		{`{"a":1,}`, "not valid JSON"},
		{`{,"a":1}`, "not valid JSON"},
		{`{"a" 1}`, "not valid JSON"},
		{`{"a":}`, "not valid JSON"},
		{`{a:1}`, "not valid JSON"},
		{`{"a":1;"b":2}`, "not valid JSON"},
		{`{'a':1}`, "not valid JSON"},
		{`// {}`, "not valid JSON"},
		{`{"a":1}]`, "not valid JSON"},
		{`[1}`, "not valid JSON"},
		{"\f{}", "not valid JSON"},
		{"\u00a0{}", "not valid JSON"},
		{"NaN", "not valid JSON"},
		{"Infinity", "not valid JSON"},
		{"-", "not valid JSON"},
		{"+1", "not valid JSON"},
		{"01", "not valid JSON"},
		{"-01", "not valid JSON"},
		{".5", "not valid JSON"},
		{"5.", "not valid JSON"},
		{"5.e1", "not valid JSON"},
		{"5e", "not valid JSON"},
		{"5e+", "not valid JSON"},
		{"0x10", "not valid JSON"},
		{`"`, "not valid JSON"},
		{`"a`, "not valid JSON"},
		{`"\`, "not valid JSON"},
		{`"\"`, "not valid JSON"},
		{`"\a"`, "not valid JSON"},
		{`"\u12"`, "not valid JSON"},
		{`"\u12g4"`, "not valid JSON"},
		{"\"\t\"", "not valid JSON"},
		{"\"\\n\x01\"", "not valid JSON"},
		{"\"a\nb\"", "not valid JSON"},

		{"\xEF\xBB\xBF{}", "not valid UTF-8"},
		{"\xFE\xFF\x00{\x00}", "not valid UTF-8"},
		{"\xFF\xFE{\x00}\x00", "not valid UTF-8"},
		{"\"\xff\"", "not valid UTF-8"},
		{"\"\\n\xff\"", "not valid UTF-8"},
		{"\"\xc3\"", "not valid UTF-8"},
		{"\"\xc0\x80\"", "not valid UTF-8"},
		{"\"\xed\xa0\x80\"", "not valid UTF-8"},
		{"\"\xf4\x90\x80\x80\"", "not valid UTF-8"},
		{"{\"\xff\":1}", "not valid UTF-8"},
		{"{}\xff", "not valid UTF-8"},
		{`"\ud800"`, "not valid UTF-8"},
		{`"\uDC00"`, "not valid UTF-8"},
		{`"\ud800x"`, "not valid UTF-8"},
		{`"\ud800\n"`, "not valid UTF-8"},
		{`"\ud800\ud800"`, "not valid UTF-8"},
		{`"\udc00\ud800"`, "not valid UTF-8"},
		{`"\ud800\u0041"`, "not valid UTF-8"},
		{`{"\ud800":1}`, "not valid UTF-8"},

		{"\"a\x00b\"", "NUL character"},
		{"\"\\n\x00\"", "NUL character"},
		{`"a\u0000b"`, "NUL character"},
		{"{\"a\x00\":1}", "NUL character"},
		{`{"\u0000":1}`, "NUL character"},

		{`{"a":1,"a":2}`, "duplicate name"},
		{`{"a":1,"b":2,"a":2}`, "duplicate name"},
		{`{"a":1,"\u0061":2}`, "duplicate name"},
		{`[{"x":{"":1,"":1}}]`, "duplicate name"},

		{nested(33), "nested too deeply"},
		{nestedObjects(33), "nested too deeply"},
		{`{"a":` + nested(32) + `}`, "nested too deeply"},
		{strings.Repeat("[", 1<<20), "nested too deeply"},

		{strings.Repeat("1", 101), "number out of range"},
		{"0." + strings.Repeat("1", 99), "number out of range"},
		{"1e101", "number out of range"},
		{"1E+101", "number out of range"},
		{"1e-101", "number out of range"},
		{"0e101", "number out of range"},
		{"1e131071", "number out of range"},
		{"1e99999999999999999999", "number out of range"},
		{"-1e-99999999999999999999", "number out of range"},

		// The first reason counts, before any problems with the schema.
		{`{"a":1e999,"a":1}`, "number out of range"},
		{`{"a":1,"a":1e999}`, "duplicate name"},
	} {
		_, err := input.Any().Read([]byte(c.body))
		var malformed *input.Malformed
		if !errors.As(err, &malformed) || malformed.Reason != c.reason {
			t.Errorf("read %.60q\n got error %v\nwant reason %s", c.body, err, c.reason)
		}
	}
}

func TestMalformedMessage(t *testing.T) {
	t.Parallel()
	_, err := input.Any().Read([]byte("{"))
	if want := "the input could not be read: not valid JSON"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestReadWritesValuesAnew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"", "{}"},
		{"\r\n\t {} \n", "{}"},
		{` [ 1 , { "a" : [ ] , "b" : { } } ] `, `[1,{"a":[],"b":{}}]`},
		{`[true,false,null]`, `[true,false,null]`},
		{`{"Id":1,"id":2}`, `{"Id":1,"id":2}`},
		{`{"":1}`, `{"":1}`},
		{`"\u0041\/\"\\\b\f\n\r\t\u001f\u007f"`, `"A/\"\\\b\f\n\r\t\u001f` + "\x7f\""},
		{`{"\u0061\n":1}`, `{"a\n":1}`},
		{`"\ud83d\ude00"`, `"😀"`},
		{`"\uD83D\uDE00é\u00e9"`, `"😀éé"`},
		{`"\ufffd` + "\ufffd" + `"`, "\"\ufffd\ufffd\""},
		{`"\uFEFF` + "\ufeff" + `"`, "\"\ufeff\ufeff\""},
		{`"\u2028<>&"`, "\"\u2028<>&\""},
		{`[1E+100,-0,0.50,1e00000100]`, `[1E+100,-0,0.50,1e00000100]`},
		{strings.Repeat("1", 100), strings.Repeat("1", 100)},
		{nested(32), nested(32)},
		{nestedObjects(32), nestedObjects(32)},
	} {
		got, err := input.Any().Read([]byte(c.body))
		if err != nil || string(got.JSON) != c.want {
			t.Errorf("read %.60q\n got %s, %v\nwant %s", c.body, got.JSON, err, c.want)
		}
	}
}

func TestReadKeepsNothingOfTheBody(t *testing.T) {
	t.Parallel()
	r := input.Any()
	body := []byte(`{"name":"first"}`)
	first, err := r.Read(body)
	if err != nil {
		t.Fatal(err)
	}
	copy(body, `{"eman":"later"}`)
	if _, err := r.Read(body); err != nil {
		t.Fatal(err)
	}
	if want := `{"name":"first"}`; string(first.JSON) != want {
		t.Errorf("after the body was reused: got %s, want %s", first.JSON, want)
	}
}

// FuzzReadAny compares the accepted inputs with another strict reader, and checks that
// reading the output changes nothing more.
func FuzzReadAny(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[1,-0.5e3,"a\n\ud83d\ude00",true,null]`, `{"a":{"b":[{}]}}`, `{"a":1,"\u0061":1}`, "\"\xff\"", `"\u0000"`,
		nested(32), nested(33), `1e101`, `01`, `[1,]`, "\xEF\xBB\xBF1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := input.Any().Read(body)
		if err != nil {
			var malformed *input.Malformed
			if !errors.As(err, &malformed) {
				t.Fatalf("read %q: got error %v, want *input.Malformed", body, err)
			}
			strict := jsontext.Value(body).IsValid()
			if reason := malformed.Reason; strict && (reason == "not valid JSON" || reason == "not valid UTF-8" || reason == "duplicate name") {
				t.Fatalf("read %q: refused as %s, but it is strict JSON", body, reason)
			}
			return
		}
		if len(body) > 0 && !jsontext.Value(body).IsValid() {
			t.Fatalf("read %q: accepted, but it is not strict JSON", body)
		}
		again, err := input.Any().Read(got.JSON)
		if err != nil || !bytes.Equal(again.JSON, got.JSON) {
			t.Fatalf("read %q\n got %s\nagain %s, %v", body, got.JSON, again.JSON, err)
		}
		var sent, read bytes.Buffer
		if len(body) > 0 && (canonical(&sent, body) != nil || canonical(&read, got.JSON) != nil || !bytes.Equal(sent.Bytes(), read.Bytes())) {
			t.Fatalf("read %q\n got %s, another value", body, got.JSON)
		}
	})
}

// canonical writes JSON with its strings in one form.
func canonical(out *bytes.Buffer, body []byte) error {
	value := jsontext.Value(bytes.Clone(body))
	err := value.Format(jsontext.PreserveRawStrings(false))
	out.Write(value)
	return err
}
