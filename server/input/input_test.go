package input_test

import (
	"encoding/json"
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

	replaced, err := in.Replace(func(p input.Place) ([]byte, error) {
		return json.Marshal(map[string]string{"was": p.Path})
	})
	wantJSON := `{"token":{"was":"token"},"values":{"pin":{"was":"values.pin"},"files":[{"was":"values.files.0"},{"was":"values.files.1"}],` +
		`"cover":{"was":"values.cover"}},"title":"a"}`
	if err != nil || string(replaced.JSON) != wantJSON || len(replaced.Places()) != 0 {
		t.Errorf("replace the places\n got %s, %v, %d places\nwant %s", replaced.JSON, err, len(replaced.Places()), wantJSON)
	}
	if again := `{"token":"té\"\n"`; !strings.HasPrefix(string(in.JSON), again) {
		t.Errorf("the input itself changed: got %s", in.JSON)
	}

	in, err = r.Read([]byte(`{"values":{"cover":null,"pin":null}}`))
	if err != nil || len(in.Places()) != 0 {
		t.Errorf("null at places: got %v, %v, want none", in.Places(), err)
	}
}
