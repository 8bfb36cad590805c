package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// patchSQL writes the merge patch that makes one document of a release of another one.
func patchSQL(old, new []byte) string { return pg.DollarQuote("json", string(patch(old, new))) }

// patch returns what platform.merged takes to make one JSON text of another: the members that are new or have changed,
// null for those that are gone, and those that follow another member than before.
func patch(old, new json.RawMessage) json.RawMessage {
	was, is := members(old), members(new)
	if old[0] != new[0] || old[0] != '{' && (len(was) == 0 || len(is) == 0) {
		return new
	}
	var changes release.Schemas
	behind := map[string]string{} // the member before, of those that stay
	before := ""
	for _, m := range was {
		if is.Get(m.Name) == nil {
			changes = append(changes, release.Schema{Name: m.Name, JSON: json.RawMessage("null")})
			continue
		}
		behind[m.Name] = before
		before = m.Name
	}
	before = ""
	for _, m := range is {
		value := was.Get(m.Name)
		last, stays := behind[m.Name]
		switch {
		case !stays:
			changes = append(changes, m)
		case bytes.Equal(value, m.JSON) && last == before:
		case string(m.JSON) == "null":
			panic(fmt.Sprintf("migrate: a merge patch cannot make %s null", m.Name))
		default:
			changes = append(changes, release.Schema{Name: m.Name, JSON: patch(value, m.JSON)})
		}
		before = m.Name
	}
	return written(changes, new[1] == '\n')
}

// written writes an object, with a line for each member if inLines is set.
func written(members release.Schemas, inLines bool) json.RawMessage {
	line := ""
	if inLines {
		line = "\n"
	}
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = fmt.Sprintf("%q:%s", m.Name, m.JSON)
	}
	return json.RawMessage("{" + line + strings.Join(texts, ","+line) + line + "}")
}

// members returns the members of an object, or the elements of a list if each has a name of its own; none for any other
// text.
func members(text json.RawMessage) release.Schemas {
	var list release.Schemas
	if text[0] == '{' {
		if err := json.Unmarshal(text, &list); err != nil {
			panic(fmt.Sprintf("migrate: read a document: %v", err))
		}
		return list
	}
	var elements []json.RawMessage
	if json.Unmarshal(text, &elements) != nil {
		return nil
	}
	for _, element := range elements {
		var named struct{ Name string }
		if json.Unmarshal(element, &named) != nil || named.Name == "" || list.Get(named.Name) != nil {
			return nil
		}
		list = append(list, release.Schema{Name: named.Name, JSON: element})
	}
	return list
}
