package dev

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

func TestSample(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		schema string
		want   []string
	}{
		{
			name: "every required type",
			schema: `
				model Thing {
					fields {
						text Text number Number decimal Decimal flag Boolean day Date moment Timestamp
						span Duration size Size place Vector tags Text[] note Text?
					}
					actions {
						create createThing() with (text, number, decimal, flag, day, moment, span, size, place, tags, note?)
						list listThings(text?)
					}
					@permission(expression: true, actions: [create, list])
				}
				enum Size { Small Large }`,
			want: []string{
				`curl -d '{"text":"a text","number":1,"decimal":1,"flag":true,"day":"2026-03-31","moment":"2026-03-31T09:00:00Z",` +
					`"span":"PT1H","size":"Small","place":[1],"tags":[]}' -H 'Content-Type: application/json' http://localhost/api/json/createThing`,
				`curl 'http://localhost/api/json/listThings?first=5'`,
				`curl 'http://localhost/api/json/listThings?first=0'`,
			},
		},
		{
			name: "what needs another record or a filter is passed over",
			schema: `
				model Page {
					fields { book Book text Text }
					actions {
						create addPage() with (book.id, text)
						list listPages(book.id)
					}
					@permission(expression: true, actions: [create, list])
				}
				model Book {
					fields { title Text }
					actions {
						list listBooks(title?)
						create addBook() with (title)
					}
					@permission(expression: true, actions: [create, list])
				}`,
			want: []string{
				`curl -d '{"title":"a title"}' -H 'Content-Type: application/json' http://localhost/api/json/addBook`,
				`curl 'http://localhost/api/json/listBooks?first=5'`,
				`curl 'http://localhost/api/json/listBooks?first=0'`,
			},
		},
		{
			name: "what takes a token is passed over",
			schema: `
				model Book {
					fields { title Text }
					actions {
						create addBook() with (title)
						list listBooks()
					}
					@permission(expression: ctx.isAuthenticated, actions: [create])
					@permission(expression: true, actions: [list])
				}`,
			want: []string{
				`curl 'http://localhost/api/json/listBooks?first=5'`,
				`curl 'http://localhost/api/json/listBooks?first=0'`,
			},
		},
		{
			name: "only what the first API exposes, under its path",
			schema: `
				model Book {
					fields { title Text }
					actions { create addBook() with (title) list listBooks() list allBooks() }
					@permission(expression: true, actions: [create, list])
				}
				api Api { models { Book { actions { allBooks } } } }`,
			want: []string{
				`curl 'http://localhost/api/json/allBooks?first=5'`,
				`curl 'http://localhost/api/json/allBooks?first=0'`,
			},
		},
		{
			name:   "nothing to try",
			schema: `model Book { fields { title Text } }`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			compiled, errs := sqlgen.Compile(&sqlgen.Project{Files: []*syntax.Source{{Name: "schema.stern", Text: []byte(test.schema)}}})
			if errs.HasErrors() {
				var text strings.Builder
				if err := syntax.Render(&text, errs, syntax.Options{}); err != nil {
					t.Fatal(err)
				}
				t.Fatal(text.String())
			}
			var got []string
			for _, r := range sample(compiled.Manifest, "http://localhost") {
				got = append(got, r.command)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}
