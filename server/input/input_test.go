package input_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/input"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	r := compile(t, `{"X":{"type":"object","properties":{
	  "values":{"type":"object","properties":{
	    "cover":{"type":["string","null"],"x-format":"file"},
	    "files":{"type":"array","items":{"type":"string","format":"data-url"}},
	    "pin":{"type":["string","null"],"format":"password"}
	  }},
	  "token":{"type":"string","x-format":"secret"},
	  "title":{"type":"string"}
	}}}`, "X")
	body := `{"token":"t\u00e9\"\n","values":{"pin":"p","files":["data:a/b;name=x;base64,","data:a/b;name=y;base64,"],"cover":"key"},"title":"a"}`
	in, err := r.Read([]byte(body))
	if err != nil {
		t.Fatalf("read %s: %v", body, err)
	}
	var got []string
	for _, p := range in.Places() {
		got = append(got, p.Path+" "+p.Format+" "+p.Text())
	}
	want := []string{"token secret té\"\n", "values.pin password p", "values.files.0 data-url data:a/b;name=x;base64,",
		"values.files.1 data-url data:a/b;name=y;base64,", "values.cover file key"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("places of %s\n got %q\nwant %q", body, got, want)
	}

	was := func(of input.Input) string {
		return string(of.Replace(func(i int) []byte { return fmt.Appendf(nil, `{"was":%q}`, of.Places()[i].Path) }))
	}
	wantJSON := `{"token":{"was":"token"},"values":{"pin":{"was":"values.pin"},"files":[{"was":"values.files.0"},{"was":"values.files.1"}],` +
		`"cover":{"was":"values.cover"}},"title":"a"}`
	if got := was(in); got != wantJSON {
		t.Errorf("replace the places\n got %s\nwant %s", got, wantJSON)
	}
	if again := `{"token":"té\"\n"`; !strings.HasPrefix(string(in.JSON), again) {
		t.Errorf("the input itself changed: got %s", in.JSON)
	}

	// Without the contents of inline files, all other places are unchanged.
	got = nil
	small := in.WithoutContents()
	for _, p := range small.Places() {
		got = append(got, p.Path+" "+p.Format+" "+p.Text())
	}
	want = []string{"token secret té\"\n", "values.pin password p", "values.files.0 data-url ", "values.files.1 data-url ", "values.cover file key"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("places without contents of %s\n got %q\nwant %q", body, got, want)
	}
	if got := was(small); got != wantJSON || strings.Contains(string(small.JSON), "data:") {
		t.Errorf("replace the places without contents\n got %s, from %s\nwant %s", got, small.JSON, wantJSON)
	}

	in, err = r.Read([]byte(`{"values":{"cover":null,"pin":null}}`))
	if err != nil || len(in.Places()) != 0 {
		t.Errorf("null at places: got %v, %v, want none", in.Places(), err)
	}
}

// TestFind finds texts by their paths, but neither other values nor texts in an array.
func TestFind(t *testing.T) {
	t.Parallel()
	r := compile(t, `{"X":{"type":"object","properties":{
	  "values":{"type":["object","null"],"properties":{"word":{"type":["string","null"]},"word2":{"type":"string"},"n":{"type":"integer"}}},
	  "words":{"type":"array","items":{"type":"string"}},
	  "word":{"type":"string"},
	  "token":{"type":"string","x-format":"secret"}
	}}}`, "X")
	tests := []struct {
		body, path, want string // want is empty if there is none
	}{
		{`{"word":"a"}`, "word", "a"},
		{`{"values":{"word2":"word","n":1,"word":"é\n\"}"},"word":"b"}`, "values.word", "é\n\"}"},
		{`{"values":{"word2":"c","n":1,"word":"b"},"word":"d"}`, "word", "d"},
		{`{"values":{"word":"word"}}`, "word", ""},
		{`{"values":{"word":null}}`, "values.word", ""},
		{`{"values":null}`, "values.word", ""},
		{`{"values":{"n":7}}`, "values.n", ""},
		{`{"words":["a"]}`, "words", ""},
		{`{}`, "word", ""},
	}
	for _, test := range tests {
		in, err := r.Read([]byte(test.body))
		if err != nil {
			t.Fatal(err)
		}
		p, ok := in.Find(test.path)
		if ok != (test.want != "") || ok && (p.Text() != test.want || !p.IsFound() || p.Path != test.path) {
			t.Errorf("%s in %s: got %v, %+v, want %q", test.path, test.body, ok, p, test.want)
		}
	}

	body := `{"values":{"word":"a"},"token":"b","word":"c"}`
	in, err := r.Read([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	all := in
	for _, path := range []string{"word", "values.word", "word"} {
		p, _ := in.Find(path)
		all = all.With(p)
	}
	got := string(all.Replace(func(i int) []byte { return fmt.Appendf(nil, "%q", all.Places()[i].Path+" "+all.Places()[i].Format) }))
	want := `{"values":{"word":"values.word text"},"token":"token secret","word":"word text"}`
	if got != want || len(in.Places()) != 1 {
		t.Errorf("replace what was found\n got %s, and %d places in the input itself\nwant %s, 1", got, len(in.Places()), want)
	}
}

// The name of an inline file, in every form of its URL.
func TestInlineNames(t *testing.T) {
	t.Parallel()
	r := compile(t, `{"X":{"type":"object","properties":{"f":{"type":"string","format":"data-url"}}}}`, "X")
	for written, want := range map[string][2]string{
		`name=a%3Bb.txt`:                      {"a;b.txt", "text/plain"},
		`name=a;b%20c;d.txt;charset=utf-8`:    {"a;b c;d.txt", "text/plain;charset=utf-8"},
		`name=\"knots.txt\"`:                  {"knots.txt", "text/plain"},
		`name=\"a;b=c.txt\";x=y`:              {"a;b=c.txt", "text/plain;x=y"},
		`name=\"a%20\\\"b\\\".txt\"`:          {`a "b".txt`, "text/plain"},
		`name=%22quoted%22`:                   {`"quoted"`, "text/plain"},
		`charset=utf-8;name=plain.txt;x=\"\"`: {"plain.txt", `text/plain;charset=utf-8;x=""`},
	} {
		in, err := r.Read([]byte(`{"f":"data:text/plain;` + written + `;base64,aGk="}`))
		if err != nil {
			t.Errorf("%s: %v", written, err)
			continue
		}
		file, ok := in.Places()[0].Inline()
		if got := [2]string{file.Name, file.ContentType}; !ok || got != want || string(file.Contents) != "hi" {
			t.Errorf("%s\n got %q, %q\nwant %q", written, got, file.Contents, want)
		}
	}
}
