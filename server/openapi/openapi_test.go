package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// described is the part of a document that the tests check.
type described struct {
	OpenAPI    string
	Info       struct{ Title, Version, Description string }
	Servers    []struct{ URL string }
	Tags       []struct{ Name, Description string }
	Paths      map[string]struct{ Get, Put, Post describedOperation }
	Components struct {
		Schemas   map[string]any
		Responses map[string]struct {
			Content map[string]struct {
				Schema struct{ AllOf []json.RawMessage }
			}
		}
	}
}

type describedOperation struct {
	OperationID string
	Tags        []string
	Description string
	RequestBody struct {
		Required bool
		Content  map[string]any
	}
	Responses map[string]struct {
		Ref     string `json:"$ref"`
		Content map[string]struct{ Schema json.RawMessage }
	}
	Security []map[string][]string
}

// actionPaths are the paths of actions and the paths below them.
func (d described) actionPaths() []string {
	return slices.DeleteFunc(sortedKeys(d.Paths), func(path string) bool { return !strings.Contains(path, "/json/") })
}

// describe describes an API and reads the document back.
func describe(t *testing.T, m *release.Manifest, api string) described {
	t.Helper()
	for _, a := range m.APIs {
		if a.Name != api {
			continue
		}
		text, err := Describe(m, &a, 7, "https://api.example.com/base", "Books")
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := Describe(m, &a, 7, "https://api.example.com/base", "Books"); string(again) != string(text) {
			t.Errorf("described twice, the documents differ:\n%s\n%s", text, again)
		}
		var d described
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		return d
	}
	t.Fatalf("there is no API %s", api)
	return described{}
}

// bakery is a manifest with an action of each kind.
func bakery() *release.Manifest {
	object := func(name, rest string) release.Schema {
		return release.Schema{Name: name, JSON: []byte(`{"type":"object"` + rest + `}`)}
	}
	action := func(name string, kind release.Kind, input, result string) *release.Action {
		return &release.Action{Name: name, Kind: kind, Model: "Bread", Function: name, Input: input, Result: result, Anonymous: true}
	}
	members := action("getMember", release.Get, "ByID", "Member")
	members.Model, members.Anonymous, members.Doc = "Member", false, "Who <is> & was."
	return &release.Manifest{
		Format: release.Format,
		APIs: []release.API{
			{Name: "Api", Path: "api", Doc: "All of it.", Actions: []string{
				"getBread", "getMember", "listBread", "bake", "change", "eat", "count", "sell"}},
			{Name: "Small", Path: "small", Actions: []string{"listBread"}},
		},
		Models: []release.Model{{Name: "Bread", Doc: "A loaf."}, {Name: "Member"}},
		Actions: []*release.Action{
			action("getBread", release.Get, "ByID", "Bread"), members,
			action("listBread", release.List, "ListInput", "ListResult"),
			action("bake", release.Create, "BakeInput", "Bread"),
			action("change", release.Update, "ChangeInput", "Bread"),
			action("eat", release.Delete, "ByID", ""),
			action("count", release.Read, "AnyInput", ""),
			action("sell", release.Write, "SellInput", "Receipt"),
		},
		Schemas: release.Schemas{
			object("ByID", `,"properties":{"id":{"type":"string"}},"required":["id"]`),
			object("Bread", `,"properties":{"kind":{"$ref":"#/components/schemas/Kind"}}`),
			object("ListInput", `,"properties":{"where":{"$ref":"#/components/schemas/ListWhere"}}`),
			object("ListWhere", `,"properties":{"again":{"$ref":"#/components/schemas/ListWhere"}}`),
			object("ListResult", `,"properties":{"results":{"type":"array","items":{"$ref": "#/components/schemas/Bread"}}}`),
			object("BakeInput", `,"properties":{},"anyOf":[{"required":["a"]},{"required":["b"]}]`),
			{Name: "ChangeInput", JSON: []byte(`{"$ref":"#/components/schemas/ByID"}`)},
			{Name: "AnyInput", JSON: []byte(`true`)},
			object("SellInput", ""),
			object("Receipt", `,"description":"not a mention: \"$ref\":\"#/components/schemas/Nothing\""`),
			object("Member", ""),
			{Name: "Kind", JSON: []byte(`{"type":"string","enum":["Rye"]}`)},
			object("Unused", ""),
		},
	}
}

func TestDescribeOperations(t *testing.T) {
	t.Parallel()
	d := describe(t, bakery(), "Api")
	const always = "200 400 401 403 405 413 415 431 500 503 504"
	tests := []struct {
		action   string
		tag      string
		isNeeded bool // the body
		statuses string
		success  string
		closed   bool // to anonymous callers
	}{
		{"getBread", "Bread", true, always, `{"oneOf":[{"$ref":"#/components/schemas/Bread"},{"type":"null"}]}`, false},
		{"getMember", "Member", true, always, `{"oneOf":[{"$ref":"#/components/schemas/Member"},{"type":"null"}]}`, true},
		{"listBread", "Bread", false, always, `{"$ref":"#/components/schemas/ListResult"}`, false},
		{"bake", "Bread", true, always + " 422 429", `{"$ref":"#/components/schemas/Bread"}`, false},
		{"change", "Bread", true, always + " 404 422 429", `{"$ref":"#/components/schemas/Bread"}`, false},
		{"eat", "Bread", true, always + " 404 422 429", `{"type":"string","description":"The id of the deleted record."}`, false},
		{"count", "Bread", false, always + " 404", `{}`, false},
		{"sell", "Bread", false, always + " 404 422 429", `{"$ref":"#/components/schemas/Receipt"}`, false},
	}
	for _, test := range tests {
		o := d.Paths["/api/json/"+test.action].Post
		if o.OperationID != test.action || !slices.Equal(o.Tags, []string{test.tag}) {
			t.Errorf("%s: got %s, tags %q, want tag %s", test.action, o.OperationID, o.Tags, test.tag)
		}
		if o.RequestBody.Required != test.isNeeded {
			t.Errorf("%s: body required: got %t, want %t", test.action, o.RequestBody.Required, test.isNeeded)
		}
		want := strings.Fields(test.statuses)
		slices.Sort(want)
		if got := sortedKeys(o.Responses); !slices.Equal(got, want) {
			t.Errorf("%s: statuses: got %q, want %q", test.action, got, want)
		}
		if got := string(o.Responses["200"].Content[request.JSONType].Schema); got != test.success {
			t.Errorf("%s: 200: got %s, want %s", test.action, got, test.success)
		}
		security, err := json.Marshal(o.Security)
		if err != nil {
			t.Fatal(err)
		}
		wantSecurity := `[{"bearer":[]},{}]`
		if test.closed {
			wantSecurity = `[{"bearer":[]}]`
		}
		if string(security) != wantSecurity {
			t.Errorf("%s: security: got %s, want %s", test.action, security, wantSecurity)
		}
	}
	if got := d.actionPaths(); len(got) != len(tests) {
		t.Errorf("paths: got %q, want %d", got, len(tests))
	}
}

func TestDescribeDocument(t *testing.T) {
	t.Parallel()
	d := describe(t, bakery(), "Api")
	if d.OpenAPI != "3.1.0" || d.Info.Title != "Api" || d.Info.Version != "7" || d.Info.Description != "All of it." {
		t.Errorf("got %s, %+v", d.OpenAPI, d.Info)
	}
	if len(d.Servers) != 1 || d.Servers[0].URL != "https://api.example.com/base" {
		t.Errorf("servers: got %v", d.Servers)
	}
	if len(d.Tags) != 3 || d.Tags[2].Name != "auth" || d.Tags[0].Name != "Bread" || d.Tags[0].Description != "A loaf." || d.Tags[1].Name != "Member" {
		t.Errorf("tags: got %v", d.Tags)
	}
	if got, want := d.Paths["/api/json/getMember"].Post.Description, "Who <is> & was."; got != want {
		t.Errorf("description of an action: got %q, want %q", got, want)
	}
	if d.Components.Schemas["Unused"] != nil || d.Components.Schemas["Kind"] == nil || d.Components.Schemas["Error"] == nil {
		t.Errorf("schemas: got %q", sortedKeys(d.Components.Schemas))
	}

	small := describe(t, bakery(), "Small")
	if got, want := sortedKeys(small.Components.Schemas), []string{"Bread", "Error", "Kind", "ListInput", "ListResult", "ListWhere"}; !slices.Equal(got, want) {
		t.Errorf("schemas of a small API: got %q, want %q", got, want)
	}
	if got := small.actionPaths(); !slices.Equal(got, []string{"/small/json/listBread"}) {
		t.Errorf("paths of a small API: got %q", got)
	}
	if small.Components.Responses["NotFound"].Content != nil {
		t.Errorf("responses of a small API: got %q, want no NotFound", sortedKeys(small.Components.Responses))
	}
	codes := string(d.Components.Responses["BadRequest"].Content[request.JSONType].Schema.AllOf[1])
	if !strings.Contains(codes, `"enum":["ERR_INPUT_MALFORMED","ERR_INVALID_INPUT"]`) {
		t.Errorf("codes of 400: got %s", codes)
	}
}

// TestDescribeConflicts checks 409 and 404 where data or code may cause them.
func TestDescribeConflicts(t *testing.T) {
	t.Parallel()
	declared := func(m *release.Manifest, status string) string {
		var names []string
		for path, item := range describe(t, m, "Api").Paths {
			if item.Post.Responses[status].Ref != "" {
				names = append(names, strings.TrimPrefix(path, "/api/json/"))
			}
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	plain, validated, custom := bakery(), bakery(), bakery()
	plain.Constraints = map[string]release.Constraint{"bread_kind_key": {Kind: release.Unique}}
	validated.Constraints = map[string]release.Constraint{"bread_validate_01": {Kind: release.Validate}}
	for _, name := range []string{"getBread", "sell"} {
		custom.Action(name).Custom = true
	}
	for _, test := range []struct {
		name             string
		manifest         *release.Manifest
		notFound, exists string
	}{
		{"neither", plain, "change count eat sell", ""},
		{"rules of a model", validated, "change count eat sell", "bake change eat sell"},
		{"custom code", custom, "change count eat getBread sell", "getBread sell"},
	} {
		if got := declared(test.manifest, "404"); got != test.notFound {
			t.Errorf("%s: 404: got %q, want %q", test.name, got, test.notFound)
		}
		if got := declared(test.manifest, "409"); got != test.exists {
			t.Errorf("%s: 409: got %q, want %q", test.name, got, test.exists)
		}
	}
}

func TestDescribeFaults(t *testing.T) {
	t.Parallel()
	m := bakery()
	m.Action("getBread").Input = "Gone"
	if _, err := Describe(m, &m.APIs[0], 1, "", ""); err == nil || !strings.Contains(err.Error(), "there is no component Gone") {
		t.Errorf("a component that is not there: got %v", err)
	}
	m.APIs[1].Actions = []string{"gone"}
	if _, err := Describe(m, &m.APIs[1], 1, "", ""); err == nil || !strings.Contains(err.Error(), "unknown action gone") {
		t.Errorf("an action that is not there: got %v", err)
	}
}

func TestDescribeUploads(t *testing.T) {
	t.Parallel()
	m := bakery()
	bake := m.Action("bake")
	bake.AnonymousUploads = true
	bake.Files = []release.FileInput{
		{Name: "photo", Path: "photo", Accepts: []string{"image/*", "application/pdf"}, MaxSize: 5000000},
		{Name: "papers", Path: "papers", Array: true, MaxSize: 100},
	}
	change := m.Action("change")
	change.Files = []release.FileInput{{Name: "photo", Path: "values.photo", MaxSize: 1}}
	m.Action("count").Name, m.APIs[0].Actions[6] = "bakeUploadPapers", "bakeUploadPapers"
	d := describe(t, m, "Api")
	for _, test := range []struct{ path, operation, Document, security string }{
		{"bake/upload/photo", "bakeUploadPhoto", "Announces a file for the input photo of bake: at most 5000000 bytes, of type image/* or application/pdf.", `[{"bearer":[]},{}]`},
		{"bake/upload/papers", "bakeUploadPapers_", "Announces a file for the input papers of bake: at most 100 bytes.", `[{"bearer":[]},{}]`},
		{"change/upload/photo", "changeUploadPhoto", "Announces a file for the input photo of change: at most 1 bytes.", `[{"bearer":[]}]`},
	} {
		o := d.Paths["/api/json/"+test.path].Post
		if o.OperationID != test.operation || o.Description != test.Document || !o.RequestBody.Required {
			t.Errorf("%s: got %s, %q, want %s, %q, with a body", test.path, o.OperationID, o.Description, test.operation, test.Document)
		}
		security, err := json.Marshal(o.Security)
		if err != nil || string(security) != test.security {
			t.Errorf("%s: security: got %s, want %s", test.path, security, test.security)
		}
		want := strings.Fields("200 400 401 403 404 405 413 415 429 431 500 503 504")
		if got := sortedKeys(o.Responses); !slices.Equal(got, want) {
			t.Errorf("%s: statuses: got %q, want %q", test.path, got, want)
		}
		if got := string(o.Responses["200"].Content[request.JSONType].Schema); got != `{"$ref":"#/components/schemas/UploadResponse"}` {
			t.Errorf("%s: 200: got %s", test.path, got)
		}
	}
	if put := d.Paths["/{url}"].Put; put.OperationID != "putUpload" || !slices.Equal(put.Tags, []string{"files"}) || !put.RequestBody.Required {
		t.Errorf("the PUT of a file: got %+v", put)
	}
	if _, isThere := describe(t, m, "Small").Paths["/{url}"]; isThere {
		t.Error("an API without uploads describes their PUT")
	}
	if d.Components.Schemas["UploadRequest"] == nil || d.Components.Schemas["UploadResponse"] == nil {
		t.Errorf("schemas: got %q", sortedKeys(d.Components.Schemas))
	}
}

// TestDescribeAuth describes the endpoints common to all APIs, beside an action with the name
// of one of them.
func TestDescribeAuth(t *testing.T) {
	t.Parallel()
	m := bakery()
	m.Action("count").Name, m.APIs[0].Actions[6] = "requestToken", "requestToken"
	d := describe(t, m, "Api")
	for _, test := range []struct{ path, method, name, statuses string }{
		{"/auth/token", "post", "requestToken_", "200 400 401 405 413 429 431 500 503"},
		{"/auth/revoke", "post", "revokeToken", "200 400 405 413 431 500 503"},
		{"/auth/passkey", "post", "requestPasskeyChallenge", "200 400 405 413 431 500 503"},
		{"/auth/providers", "get", "listProviders", "200 405 431 500 503"},
		{"/auth/authorize/{name}", "get", "authorize", "302 400 405 431 500 503"},
		{"/auth/callback/{name}", "get", "finishAuthorization", "302 400 405 429 431 500 503"},
		{"/auth/callback/{name}", "post", "finishAuthorizationByForm", "303 400 405 413 429 431 500 503"},
	} {
		o := d.Paths[test.path].Post
		if test.method == "get" {
			o = d.Paths[test.path].Get
		}
		if o.OperationID != test.name || !slices.Equal(o.Tags, []string{"auth"}) || o.Security == nil || len(o.Security) > 0 {
			t.Errorf("%s: got %s of %q under %v, want %s of auth, which needs no token", test.path, o.OperationID, o.Tags, o.Security, test.name)
		}
		if got := strings.Join(sortedKeys(o.Responses), " "); got != test.statuses {
			t.Errorf("%s %s: statuses: got %s, want %s", test.method, test.path, got, test.statuses)
		}
		for status, r := range o.Responses {
			if name := strings.TrimPrefix(r.Ref, "#/components/responses/"); r.Ref != "" && d.Components.Responses[name].Content == nil {
				t.Errorf("%s: %s: %s leads nowhere", test.path, status, r.Ref)
			}
		}
	}
	bodies := d.Paths["/auth/token"].Post.RequestBody.Content
	if got := sortedKeys(bodies); !slices.Equal(got, []string{"application/json", "application/x-www-form-urlencoded"}) {
		t.Errorf("bodies of /auth/token: got %q", got)
	}
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
