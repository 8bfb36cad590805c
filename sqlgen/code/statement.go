package code

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Statement is one statement of a file.
type Statement struct {
	Start    int    // the byte at which its first word begins
	Function string // the function of schema functions that it makes; empty if it makes none
	Head     int    // the byte at which the word "function" begins in front of that name
	HeadEnd  int    // the byte at which the name ends
	Body     *Body  // nil if it is not in quotes
}

// Statements returns the statements of a file; none if the grammar refuses it.
func Statements(file []byte) []Statement {
	text := string(file)
	if strings.ContainsRune(text, 0) {
		return nil
	}
	trees, refused := parse(text)
	if refused != nil {
		return nil
	}
	tokens, refused := scan(text)
	if refused != nil {
		return nil
	}
	var list []Statement
	for _, s := range statementsOf(text, trees, tokens) {
		one := Statement{Start: s.tokens[0].start}
		if s.refused() == "" && s.make != nil {
			one.Function = s.make.Name[1].text()
			for i, t := range s.tokens {
				if isWord(text, t, "function") {
					one.Head, one.HeadEnd = t.start, s.tokens[i+3].end // function functions . name
					break
				}
			}
			if t, ok := s.body(text); ok {
				one.Body = &Body{unquote(text, t)}
			}
		}
		list = append(list, one)
	}
	return list
}

// Split returns the texts of the statements of a file; the whole text if the grammar
// refuses it.
func Split(text string) []string {
	var list []string
	statements := Statements([]byte(text))
	for i, s := range statements {
		end := len(text)
		if i+1 < len(statements) {
			end = statements[i+1].Start
		}
		list = append(list, text[s.Start:end])
	}
	if list == nil {
		list = []string{text}
	}
	return list
}

// Body is the text of a function.
type Body struct {
	quoted quoted
}

// Text returns the body without its quotes.
func (b *Body) Text() string { return b.quoted.text }

// Place returns the byte of the file at which a byte of the body is.
func (b *Body) Place(at int) int { return b.quoted.place(at) }

// statement is a statement as the grammar reads it.
type statement struct {
	kind   string   // of its node
	make   *making  // nil if it makes no function
	target []string // what it comments on; nil if that is not a function
	tokens []token
}

// making is the node of a statement that makes a function or procedure.
type making struct {
	IsProcedure bool      `json:"is_procedure"`
	Name        []literal `json:"funcname"`
	Options     []struct {
		Element struct {
			Name     string          `json:"defname"`
			Argument json.RawMessage `json:"arg"`
		} `json:"DefElem"`
	} `json:"options"`
}

// literal is a name or text in the tree.
type literal struct {
	String struct {
		Value string `json:"sval"`
	} `json:"String"`
}

func (l literal) text() string { return l.String.Value }

// body returns the constant that holds the body of a function.
func (s *statement) body(text string) (token, bool) {
	for i, t := range s.tokens[1:] {
		if t.kind == constant && isWord(text, s.tokens[i], "as") {
			return t, true
		}
	}
	return token{}, false
}

// language returns the language of a function's body; one without quotes is in SQL.
func (m *making) language() string {
	for _, o := range m.Options {
		var name literal
		if o.Element.Name == "language" && json.Unmarshal(o.Element.Argument, &name) == nil {
			return strings.ToLower(name.text())
		}
	}
	return "sql"
}

// statementsOf joins the results of the grammar and the scanner for a text.
func statementsOf(text string, trees []tree, tokens []token) []statement {
	list := make([]statement, len(trees))
	for i, tree := range trees {
		end := len(text)
		if tree.Length > 0 {
			end = tree.Location + tree.Length
		}
		for len(tokens) > 0 && (tokens[0].start < tree.Location || tokens[0].kind == ';') {
			tokens = tokens[1:]
		}
		s := &list[i]
		for len(tokens) > 0 && tokens[0].end <= end {
			s.tokens = append(s.tokens, tokens[0])
			tokens = tokens[1:]
		}
		for kind, node := range tree.Node { // there is one
			s.kind = kind
			s.readParts(node)
		}
	}
	return list
}

func (s *statement) readParts(node json.RawMessage) {
	switch s.kind {
	case "CreateFunctionStmt":
		s.make = &making{}
		if err := json.Unmarshal(node, s.make); err != nil {
			panic(fmt.Sprintf("code: read a function: %v", err))
		}
	case "CommentStmt":
		var comment struct {
			Type   string `json:"objtype"`
			Object struct {
				Function struct {
					Name []literal `json:"objname"`
				} `json:"ObjectWithArgs"`
			} `json:"object"`
		}
		if json.Unmarshal(node, &comment) == nil && comment.Type == "OBJECT_FUNCTION" {
			s.target = names(comment.Object.Function.Name)
		}
	}
}

func names(list []literal) []string {
	var texts []string
	for _, l := range list {
		texts = append(texts, l.text())
	}
	return texts
}

// refused says why a file of custom code may not hold a statement; empty if it may.
func (s *statement) refused() string {
	isOurs := func(name []string) bool { return len(name) == 2 && name[0] == "functions" }
	switch {
	case s.make != nil && s.make.IsProcedure:
		return holdsFunctionsOnly("a procedure")
	case s.make != nil && !isOurs(names(s.make.Name)):
		return otherSchema(names(s.make.Name))
	case s.make != nil && (s.make.language() == "c" || s.make.language() == "internal"):
		return untrusted(s.make.language())
	case s.make != nil, isOurs(s.target):
		return ""
	}
	return otherStatement(s.kind)
}

// isWord tells whether a token is a word of the grammar.
func isWord(text string, t token, word string) bool {
	return t.kind > blockComment && strings.EqualFold(text[t.start:t.end], word)
}
