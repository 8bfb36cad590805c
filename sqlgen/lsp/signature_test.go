package lsp

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/check"
)

func TestSignatureHelp(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, label, parameter string }{
		{post("@permission(¦)"), "@permission(expression: condition, roles: [Role], actions: [kind], jobs: [Job, subscriber])", "expression: condition"},
		{post("@permission(expression: true, ¦)"), "@permission(expression: condition, roles: [Role], actions: [kind], jobs: [Job, subscriber])", "roles: [Role]"},
		{post("@permission(actions: [get, ¦])"), "@permission(expression: condition, roles: [Role], actions: [kind], jobs: [Job, subscriber])", "actions: [kind]"},
		{post("@validate(post.title != \"a, b\", m¦)"), "@validate(condition, message: \"text\", field: name)", "message: \"text\""},
		{post("@unique([title, ¦])"), "@unique([a, b])", "[a, b]"},
		{"model A { fields { n Text @sequence(\"A\", ¦) } }", "@sequence(\"INV-\", 1000)", "1000"},
		{"model A { fields { n Text @sequence(¦) } }", "@sequence(\"INV-\")", "\"INV-\""},
		{"model A { fields { p Person @onDelete(¦) } }", "@onDelete(cascade)", "cascade"},
		{actions("get getPost(¦"), "get name(inputs that pin a row)", "(inputs that pin a row)"},
		{actions("update setPost(id, ¦) with (title)"), "update name(inputs that pin a row) with (values)", "(inputs that pin a row)"},
		{actions("update setPost(id) with (¦)"), "update name(inputs that pin a row) with (values)", "(values)"},
		{actions("read a() returns (¦)"), "read name(inputs) returns (message)", "(message)"},
		{"model A { fields { bs B[] n Number @computed(COUNTIF(a.bs.x, ¦)) } } model B { fields { x Text a A } }", "COUNTIF(path, condition)", "condition"},
		{"model A { fields { bs B[] n Number @computed(SUM(¦)) } }", "SUM(path)", "path"},
		{actions("list listPosts(title?) ¦"), "", ""},
		{"model A { ¦ }", "", ""},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			c, uri, p := openAt(t, test.text)
			var h *signatureHelp
			c.call("textDocument/signatureHelp", at(uri, p), &h)
			if h == nil {
				if test.label != "" {
					t.Errorf("got none, want %s", test.label)
				}
				return
			}
			s := h.Signatures[h.ActiveSignature]
			if s.Label != test.label || s.Parameters[h.ActiveParameter].Label != test.parameter {
				t.Errorf("got %s, %s, want %s, %s", s.Label, s.Parameters[h.ActiveParameter].Label, test.label, test.parameter)
			}
			for _, part := range s.Parameters {
				if !strings.Contains(s.Label, part.Label) {
					t.Errorf("%s is not part of %s", part.Label, s.Label)
				}
			}
			if s.Documentation == nil || s.Documentation.Value == "" {
				t.Error("it explains nothing")
			}
		})
	}
}

// Each attribute that takes arguments has a signature, and each is explained.
func TestSignaturesOfAttributes(t *testing.T) {
	t.Parallel()
	var names []string
	for _, a := range check.Attributes() {
		names = append(names, a.Name)
		if !attributeWords.has(a.Name) {
			t.Errorf("@%s is not explained", a.Name)
		}
		if help := attributeHelp(&cursor{attribute: a.Name}); (help != nil) != strings.Contains(a.Usage, "(") {
			t.Errorf("@%s: got %+v of %s", a.Name, help, a.Usage)
		}
	}
	for _, w := range attributeWords {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+w.name+" ") {
			t.Errorf("@%s is explained, and the compiler does not know it", w.name)
		}
	}
}
