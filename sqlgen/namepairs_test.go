package sqlgen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestNamesMeet calls actions whose names are those of tables and aliases in the SQL of their functions, whose columns
// are called like parameters, variables and columns there. PL/pgSQL takes the name of a function before a point for
// its parameters. Each form of action has each of the names once.
func TestNamesMeet(t *testing.T) {
	t.Parallel()
	forms := []struct{ of, text string }{
		{"Page", "get %s(vId) { @select(input, value, items.what) }"},
		{"Page", "get %s(id) { @embed(items, team) }"},
		{"Page", "list %s(value?, items.what?, team.id?) { @orderBy(place: asc) @sortable(number) }"},
		{"Page", "list %s(context?) { @select(picked, record, items.value) }"},
		{"Page", "create %s() with (input, vId, team.id?, items.what, items.value?) { @select(input, found, place) }"},
		{"Page", "update %s(vId) with (value?, input?) { @select(value, context) }"},
		{"Page", "delete %s(vId)"},
		{"Page", "list %s(value?) { @permission(expression: page.team.members.person == ctx.identity) @permission(expression: page.owner == ctx.identity) @facet(value) }"},
		{"Feed", "list %s(value?, input?) { @sortable(place) @orderBy(number: desc) }"},
		{"Feed", "get %s(id) { @permission(expression: feed.value == \"x\") }"},
	}
	names := []string{"feed", "page", "item", "items", "team", "identity", "access", "until", "record", "page2"}
	var total generatedTally
	for turn := range names {
		t.Run(fmt.Sprint(turn), func(t *testing.T) {
			actions := map[string]string{}
			for i, f := range forms {
				actions[f.of] += fmt.Sprintf("    "+f.text+"\n", names[(turn+i)%len(names)])
			}
			text := strings.NewReplacer("PAGE", actions["Page"], "FEED", actions["Feed"]).Replace(namesMeeting)
			total.answers = map[string]int{}
			callAll(t, uint64(turn), &sqlgen.Project{Files: []*syntax.Source{{Name: "schema.stern", Text: []byte(text)}}}, &total)
		})
	}
}

// namesMeeting is the schema without its actions.
const namesMeeting = `
model Page {
  fields {
    input Text @default
    context Text?
    found Text?
    vId Text @unique
    callerId Text?
    value Text?
    picked Text?
    place Text?
    number Number?
    record Text?
    id2 ID?
    team Team?
    owner Identity?
    items Item[]
  }
  actions {
PAGE
  }
  @permission(expression: true, actions: [get, list, create, update, delete])
}
model Item { fields { page Page  what Text  value Text?  place Number? } }
model Team { fields { input Text?  value Text?  members Member[]  pages Page[] } }
model Member { fields { team Team  person Identity  value Text? } }
union Feed {
  fields { input Text?  value Text?  picked Text?  place Text?  number Number?  arm Text? }
  arms { page Page  item Item { @set(feed.place = null) }  team Team }
  actions {
FEED
  }
  @permission(expression: true, actions: [get, list])
}
`
