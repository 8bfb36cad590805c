package files

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/local"
)

// Everything except files stays as it is, byte by byte.
func TestFinish(t *testing.T) {
	t.Parallel()
	schemas := release.Schemas{
		{Name: "File", JSON: json.RawMessage(`{"type":"object"}`)},
		{Name: "Plain", JSON: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"own":{"$ref":"#/components/schemas/Plain"}}}`)},
		{Name: "Note", JSON: json.RawMessage(`{"type":"object","properties":{
			"title":{"type":"string"},
			"cover":{"oneOf":[{"$ref":"#/components/schemas/File"},{"type":"null"}]},
			"papers":{"type":["array","null"],"items":{"$ref":"#/components/schemas/File"}},
			"plain":{"$ref":"#/components/schemas/Plain"}}}`)},
		{Name: "List", JSON: json.RawMessage(`{"type":"object","properties":{"results":{"type":"array","items":{"$ref":"#/components/schemas/Note"}},"pageInfo":{"type":"object"}}}`)},
		{Name: "Tree", JSON: json.RawMessage(`{"type":"object","properties":{"leaf":{"$ref":"#/components/schemas/File"},
			"branches":{"type":"array","items":{"$ref":"#/components/schemas/Tree"}},"parent":{"anyOf":[{"$ref":"#/components/schemas/Tree"},{"type":"null"}]}}}`)},
		{Name: "Either", JSON: json.RawMessage(`{"oneOf":[{"$ref":"#/components/schemas/Note"},{"type":"object","properties":{"logo":{"$ref":"#/components/schemas/File"}}},{"type":"array","items":{"$ref":"#/components/schemas/File"}}]}`)},
		{Name: "Alias", JSON: json.RawMessage(`{"$ref":"#/components/schemas/Note"}`)},
		{Name: "Grid", JSON: json.RawMessage(`{"type":"array","items":{"type":"array","items":{"$ref":"#/components/schemas/File"}}}`)},
	}
	store := storeOf(t)
	if err := store.Put(t.Context(), "files/AAAAAAAAAAAAAAAAAAAAAA", "text/plain", []byte("abc")); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Store: store})
	for _, c := range []struct{ component, result string }{ // ◆ is a file that Finish completes, ◇ one that it leaves alone
		{"File", `◆`},
		{"Note", `{"title":"a\u003c\/b","cover":◆,"papers":[◆, ◆],"plain":{"cover":◇}}`},
		{"Note", `{ "title" : 1.50 , "cover" : null , "papers" : null , "further" : ◇ }`},
		{"Note", `{"papers":[],"title":◇}`},
		{"Note", `null`},
		{"List", `{"results":[{"cover":◆},{"cover":null},{"papers":[◆]}],"pageInfo":{"cover":◇}}`},
		{"Tree", `{"leaf":◆,"parent":{"leaf":◆,"parent":null},"branches":[{"leaf":◆,"branches":[{"leaf":◆}]},{}]}`},
		{"Either", `{"cover":◆,"logo":◆,"none":◇}`},
		{"Either", `[◆,◆]`},
		{"Alias", `{"cover":◆}`},
		{"Grid", `[[◆],[],[◆,◆]]`},
	} {
		places, err := PlacesOf(schemas, c.component)
		if err != nil || places == nil {
			t.Fatalf("places of %s: %v, %v", c.component, places, err)
		}
		result := strings.NewReplacer("◆", aFile, "◇", aFile).Replace(c.result)
		want := strings.NewReplacer("◆", finishedFile, "◇", aFile).Replace(c.result)
		got, err := s.Finish([]byte(result), places)
		if err != nil || string(got) != want {
			t.Errorf("finish %s %s\n got %s, %v\nwant %s", c.component, result, got, err, want)
		}
	}
	if places, err := PlacesOf(schemas, "Plain"); places != nil || err != nil {
		t.Errorf("places of a result without files: %v, %v", places, err)
	}
	if _, err := PlacesOf(schemas, "None"); err == nil {
		t.Error("a result of no component has places")
	}
	note, err := PlacesOf(schemas, "Note")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{`{}`, `{"key":"../../etc/passwd"}`, `{"key":7}`, `{"key":"AAAAAAAAAAAAAAAAAAAAAA/x"}`} {
		if got, err := s.Finish([]byte(`{"cover":`+file+`}`), note); err == nil {
			t.Errorf("finish of the file %s: got %s, want an error", file, got)
		}
	}
}

func TestAcceptsType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		patterns, contentType string
		want                  bool
	}{
		{"", "anything/at-all", true},
		{"image/*", "image/png", true},
		{"image/*", "IMAGE/PNG; a=b", true},
		{"image/*", "imagex/png", false},
		{"image/*", "image", false},
		{"image/png", "image/pngx", false},
		{"image/png application/pdf", "application/PDF", true},
		{"text/plain", "text/plain;charset=utf-8", true},
		{"text/plain", "text/plain;", true},
		{"text/plain", "text/plain charset", false},
		{"text/plain", "", false},
		{"/", "text/plain", false},
	} {
		if got := acceptsType(strings.Fields(c.patterns), c.contentType); got != c.want {
			t.Errorf("[%s] accepts %q: got %t, want %t", c.patterns, c.contentType, got, c.want)
		}
	}
}

const aFile = `{"size": 3, "key": "AAAAAAAAAAAAAAAAAAAAAA", "filename": "a.txt", "contentType": "text/plain"}`

const finishedFile = `{"key":"AAAAAAAAAAAAAAAAAAAAAA","filename":"a.txt","contentType":"text/plain","size":3,"url":"data:text/plain;name=a.txt;base64,YWJj"}`

func storeOf(t *testing.T) storage.Store {
	t.Helper()
	store, err := local.Open(local.Options{Directory: t.TempDir(), BaseURL: "http://localhost", Secret: []byte("secret")})
	if err != nil {
		t.Fatal(err)
	}
	return store
}
