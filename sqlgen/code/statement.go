package code

import "strings"

// Statement is one statement of a file.
type Statement struct {
	Start, End int    // the bytes from its first word to behind its last one
	Function   string // the function of schema functions that it makes; empty if it makes none
	Head       int    // the byte at which the word "function" begins in front of that name
	HeadEnd    int    // the byte at which the name ends
	Body       *Body  // nil if it is not in quotes
}

// Statements returns the statements of a file; none if its quotes or comments do not end.
func Statements(file []byte) []Statement {
	text := string(file)
	tokens, refused := scan(text)
	if refused != nil {
		return nil
	}
	var list []Statement
	for _, w := range split(text, tokens) {
		one := Statement{Start: w.tokens[0].start, End: w.tokens[len(w.tokens)-1].end}
		if name, behind := w.made("function"); w.refused() == "" && name != nil {
			one.Function = name[1]
			one.Head, one.HeadEnd = w.tokens[behind-4].start, w.tokens[behind-1].end // function functions . name
			if body, ok := w.body(); ok {
				one.Body = &Body{unquote(text, body)}
			}
		}
		list = append(list, one)
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

// split cuts the tokens of a text into statements. A semicolon does not end one in
// parentheses, nor in a body without quotes, from "begin atomic" to its end.
func split(text string, tokens []token) []words {
	var list []words
	start, parentheses, blocks := 0, 0, 0
	for i := 0; i <= len(tokens); i++ {
		w := words{text, tokens[start:min(i+1, len(tokens))]}
		switch at := w.at(i - start); {
		case i == len(tokens) || at == ";" && parentheses <= 0 && blocks == 0:
			if i > start {
				list = append(list, words{text, tokens[start:i]})
			}
			start, parentheses = i+1, 0
		case at == "(":
			parentheses++
		case at == ")":
			parentheses--
		case tokens[i].kind != word || parentheses > 0:
		case at == "atomic" && w.at(i-start-1) == "begin" && blocks == 0, at == "case" && blocks > 0:
			blocks++
		case at == "end" && blocks > 0:
			blocks--
		}
	}
	return list
}

// made returns the name of what a statement makes, if it is of a kind, and the place of the token
// behind it.
func (w words) made(kind string) (name []string, behind int) {
	i := 1
	if w.at(1) == "or" && w.at(2) == "replace" {
		i = 3
	}
	if w.at(0) != "create" || w.at(i) != kind {
		return nil, 0
	}
	return w.name(i + 1)
}

// name reads a name from a token on.
func (w words) name(i int) (name []string, behind int) {
	for ; i < len(w.tokens); i += 2 {
		name = append(name, w.identifier(i))
		if w.at(i+1) != "." {
			return name, i + 1
		}
	}
	return name, i
}

// identifier returns the name that a token is.
func (w words) identifier(i int) string {
	t := w.tokens[i]
	text := w.text[t.start:t.end]
	if t.kind == quotedID && text[0] == '"' {
		return strings.ReplaceAll(text[1:len(text)-1], `""`, `"`)
	}
	return strings.ToLower(text)
}

// body returns the constant that holds the body of a function.
func (w words) body() (token, bool) {
	for i, t := range w.tokens {
		if t.kind == constant && w.isWord(i-1, "as") {
			return t, true
		}
	}
	return token{}, false
}

// languages returns what a statement says of the language of a function. Of escapes the
// database knows more, so they stay as they are.
func (w words) languages() []string {
	var list []string
	for i := range w.tokens {
		if !w.isWord(i-1, "language") {
			continue
		}
		switch t := w.tokens[i]; {
		case t.kind == word, t.kind == quotedID:
			list = append(list, w.identifier(i))
		case t.kind == constant && strings.IndexByte("'$", w.text[t.start]) >= 0:
			list = append(list, strings.ToLower(w.constant(i)))
		case t.kind == constant:
			list = append(list, w.text[t.start:t.end])
		}
	}
	return list
}

// trusted tells whether a function may be in a language.
func trusted(language string) bool {
	return language != "c" && language != "internal" && !strings.ContainsAny(language, `\&'`)
}

// refused says why a file of custom code may not hold a statement; empty if it may.
func (w words) refused() string {
	isOurs := func(name []string) bool { return len(name) == 2 && name[0] == "functions" }
	if name, behind := w.made("function"); name != nil && w.at(behind) == "(" {
		if !isOurs(name) {
			return otherSchema(name)
		}
		for _, language := range w.languages() {
			if !trusted(language) {
				return untrusted(language)
			}
		}
		return ""
	}
	if w.at(0) == "comment" && w.at(1) == "on" && w.at(2) == "function" {
		if name, _ := w.name(3); isOurs(name) {
			return ""
		}
	}
	first, second := w.at(0), w.at(1)
	if name, _ := w.made("procedure"); name != nil {
		second = "procedure"
	}
	return otherStatement(first, second)
}
