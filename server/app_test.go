package server

import "github.com/sternpost/sternpost/sql/release"

// app is the manifest of the application of testdata.
func app() *release.Manifest {
	object := func(name, properties string) release.Schema {
		return release.Schema{Name: name, JSON: []byte(`{"type":"object","additionalProperties":false,` + properties + `}`)}
	}
	return &release.Manifest{
		Format: release.Format,
		APIs: []release.API{
			{Name: "Api", Path: "api", Actions: []string{
				"getNote", "createNote", "updateNote", "deleteAuthor", "listNotes", "nap", "whoAmI", "echo",
				"sneak", "lose", "fail", "failReading", "hold", "snoop",
			}},
			{Name: "Small", Path: "small", Actions: []string{"getNote"}},
		},
		Actions: []*release.Action{
			{Name: "getNote", Kind: release.Get, Model: "Note", Function: "get_note", Input: "GetNoteInput", LookUp: "id"},
			{Name: "createNote", Kind: release.Create, Model: "Note", Function: "create_note", Input: "CreateNoteInput",
				Inputs: []release.Input{
					{Path: "title", Table: "note", Field: "title"},
					{Path: "slug", Table: "note", Field: "slug"},
					{Path: "shelf", Table: "note", Field: "shelf"},
					{Path: "place", Table: "note", Field: "place"},
					{Path: "author.id", Table: "note", Field: "authorId"},
					{Path: "writer", Table: "note", Field: "authorId"},
					{Path: "twins.title", Table: "note", Field: "title"},
					{Path: "twins.slug", Table: "note", Field: "slug"},
				}},
			{Name: "updateNote", Kind: release.Update, Model: "Note", Function: "update_note", Input: "UpdateNoteInput", LookUp: "where.id",
				Inputs: []release.Input{{Path: "values.title", Table: "note", Field: "title"}}},
			{Name: "deleteAuthor", Kind: release.Delete, Model: "Author", Function: "delete_author", Input: "GetNoteInput", LookUp: "id"},
			{Name: "listNotes", Kind: release.List, Model: "Note", Function: "list_notes", Input: "ListNotesInput",
				Foreseen: []*release.Foreseen{{Function: "list_notes__foreseen", Forms: []string{"title.equals"}, Seeks: true}}},
			{Name: "nap", Kind: release.Read, Model: "Note", Function: "nap", Input: "NapInput"},
			{Name: "whoAmI", Kind: release.Read, Model: "Note", Function: "who_am_i", Input: "Empty", Custom: true},
			{Name: "echo", Kind: release.Read, Model: "Note", Function: "who_am_i", Input: "Any"},
			{Name: "sneak", Kind: release.Read, Model: "Note", Function: "sneak", Input: "Empty"},
			{Name: "lose", Kind: release.Write, Model: "Note", Function: "lose", Input: "LoseInput"},
			{Name: "fail", Kind: release.Write, Model: "Note", Function: "fail", Input: "FailInput"},
			{Name: "failReading", Kind: release.Read, Model: "Note", Function: "fail_reading", Input: "FailInput"},
			{Name: "hold", Kind: release.Write, Model: "Note", Function: "hold", Input: "NapInput"},
			{Name: "snoop", Kind: release.Write, Model: "Note", Function: "snoop", Input: "Empty"},
		},
		Schemas: release.Schemas{
			{Name: "Any", JSON: []byte(`{}`)},
			object("Empty", `"properties":{}`),
			object("GetNoteInput", `"properties":{"id":{"type":"string","minLength":1,"maxLength":255}},"required":["id"]`),
			object("CreateNoteInput", `"properties":{"title":{"type":["string","null"]},"slug":{"type":"string"},"shelf":{"type":"string"},`+
				`"place":{"type":"integer"},"author":{"type":"object","additionalProperties":false,"properties":{"id":{"type":"string"}}},`+
				`"writer":{"type":"string"},"twins":{"type":"array","items":{"type":"object","additionalProperties":false,`+
				`"properties":{"title":{"type":"string"},"slug":{"type":"string"}}}}},"required":["title"]`),
			object("UpdateNoteInput", `"properties":{"where":{"$ref":"#/components/schemas/GetNoteInput"},`+
				`"values":{"type":"object","additionalProperties":false,"properties":{"title":{"type":["string","null"]}}}},"required":["where"]`),
			object("ListNotesInput", `"properties":{"where":{"type":"object","additionalProperties":false,"properties":{"title":`+
				`{"type":"object","minProperties":1,"additionalProperties":false,"properties":{"equals":{"type":"string"},"contains":{"type":"string"}}}}},`+
				`"first":{"type":"integer","minimum":1,"maximum":1000},"last":{"type":"integer","minimum":1,"maximum":1000},`+
				`"after":{"type":"string"},"before":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":1000},`+
				`"offset":{"type":"integer","minimum":0,"maximum":1000000},"totalCount":{"type":"boolean"}},`+
				`"dependentSchemas":{"first":{"properties":{"limit":false,"offset":false,"last":false,"before":false}},`+
				`"last":{"properties":{"limit":false,"offset":false,"after":false}},"after":{"properties":{"limit":false,"offset":false,"before":false}},`+
				`"before":{"properties":{"limit":false,"offset":false}},"offset":{"required":["limit"]}}`),
			object("NapInput", `"properties":{"seconds":{"type":"number"},"id":{"type":"string"}},"required":["seconds"]`),
			object("LoseInput", `"properties":{"times":{"type":"integer"},"code":{"type":"string"}},"required":["times"]`),
			object("FailInput", `"properties":{"code":{"type":"string"},"message":{"type":"string"},"detail":{"type":"string"}},"required":["code"]`),
		},
		Constraints: map[string]release.Constraint{
			"note_slug_key":        {Kind: release.Unique, Table: "note", Fields: []string{"slug"}},
			"note_shelf_place_key": {Kind: release.Unique, Table: "note", Fields: []string{"shelf", "place"}},
			"note_validate_01":     {Kind: release.Validate, Table: "note", Message: "this title is forbidden"},
			"note_author_id_fkey":  {Kind: release.Reference, Table: "note", Fields: []string{"authorId"}},
			"note.title":           {Kind: release.Required, Table: "note", Fields: []string{"title"}},
		},
	}
}
