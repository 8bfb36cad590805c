package release_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/sternpost/sternpost/sql/release"
)

// TestManifestText reads back a manifest in which every member is set: its text has all of them.
func TestManifestText(t *testing.T) {
	t.Parallel()
	m := release.Manifest{
		Format:  1,
		APIs:    []release.API{{Name: "Api", Path: "api", Doc: "d", Actions: []string{"a"}}},
		Callers: []string{"anonymous"}, ByExpression: []string{"Usher"},
		Models: []release.Model{{Name: "M", Doc: "d", Table: "m"}, {Name: "U", IsUnion: true}},
		Actions: []*release.Action{{
			Name: "a", Kind: release.List, Model: "M", Doc: "d", Function: "a", Record: "M", Early: "e", Input: "AInput", Result: "AResult",
			Foreseen: []*release.Foreseen{{Function: "a__foreseen", Forms: []string{""}, Seeks: true}}, Inputs: []release.Input{{Path: "p", Table: "t", Field: "f"}}, LookUp: "id", Anonymous: true,
			Rules: []string{"true"}, Custom: true, Access: []string{"always"},
		}},
		Records:     map[string][]release.Member{"M": {{Name: "aB", Column: "a_b", Type: release.TextMember, Array: true, Embedded: true}}},
		Schemas:     release.Schemas{{Name: "Z", JSON: json.RawMessage(`{"type":"object"}`)}, {Name: "A", JSON: json.RawMessage(`{"b":1,"a":2}`)}},
		Constraints: map[string]release.Constraint{"c": {Kind: release.Unique, Table: "t", Fields: []string{"f"}, Message: "m"}},
		Headers:     []string{"h"},
		Environment: []string{"E"},
		Compared:    []string{"E"},
		Secrets:     []string{"S"},
		Claims:      []release.Claim{{Key: "team", Column: "team"}},
		Mails:       []string{"receipt"},
		Encrypted:   []release.Column{{Table: "t", Column: "f"}},
		Histories:   []release.History{{Table: "t", Keep: "7 years", Row: "t__kept"}},
		Jobs:        []release.Job{{Name: "J", Run: "j__run", Input: "I", Retries: 3, Schedules: []release.Schedule{{Text: "* * * * *", TimeZone: "Europe/Berlin"}}}},
		Subscribers: []release.Subscriber{{Name: "s", Run: "s__run", Events: map[string]string{"M": "m__event"}}},
	}
	set := reflect.ValueOf(m)
	for i := range set.NumField() {
		if set.Field(i).IsZero() {
			t.Errorf("the test sets no %s", set.Type().Field(i).Name)
		}
	}
	var got release.Manifest
	if err := json.Unmarshal(m.Text(), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, m) {
		t.Errorf("got  %+v\nwant %+v", got, m)
	}
}
