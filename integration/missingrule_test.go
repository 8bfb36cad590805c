package integration

import (
	"strings"
	"testing"
)

// TestMissingRuleIsLogged calls custom code that does what no rule of the model admits. Callers are
// refused, and the log says which rule is missing.
func TestMissingRuleIsLogged(t *testing.T) {
	t.Parallel()
	code := func(name, statement string) string {
		return "create function functions." + name + "() returns jsonb language plpgsql volatile as $$\nbegin\n  " + statement + ";\n  return 'null';\nend;\n$$;\n"
	}
	a := serveApp(t, writeProject(t, map[string]string{
		"schema.stern": `
model Note {
  fields { text Text }
  actions {
    write addNote() returns (Any)
    write dropNote() returns (Any)
    write readNote() returns (Any)
  }
  @permission(expression: true, actions: [write, update])
}
`,
		"functions/addNote.sql":  code("add_note", "insert into app.note (text) values ('a')"),
		"functions/dropNote.sql": code("drop_note", "delete from app.note"),
		"functions/readNote.sql": code("read_note", "perform text from app.note"),
	}))
	for action, want := range map[string]string{
		"addNote":  "the model of table note has no @permission for create, so",
		"dropNote": "the model of table note has no @permission for delete, so",
		"readNote": "the model of table note has no @permission for ",
	} {
		if response, body := a.send(t, "POST", "/api/json/"+action, nil, "{}"); response.StatusCode != 403 {
			t.Errorf("%s: got %d %s, want 403", action, response.StatusCode, body)
		}
		if !strings.Contains(a.log.String(), want) {
			t.Errorf("%s: the log has no %q:\n%s", action, want, a.log)
		}
	}
}
