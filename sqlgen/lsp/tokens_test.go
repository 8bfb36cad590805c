package lsp

import (
	"fmt"
	"strings"
	"testing"
)

// decoded returns semantic tokens, one a line: its text and its type.
func decoded(text string, data []int) []string {
	var list []string
	at := position{}
	for i := 0; i+5 <= len(data); i += 5 {
		if data[i] > 0 {
			at = position{at.Line + data[i], 0}
		}
		at.Character += data[i+1]
		l := newLines([]byte(text), utf16Units)
		word := text[l.offset(at):l.offset(position{at.Line, at.Character + data[i+2]})]
		line := word + " " + tokenTypes[data[i+3]]
		for bit, name := range tokenModifiers {
			if data[i+4]&(1<<bit) != 0 {
				line += " " + name
			}
		}
		list = append(list, line)
	}
	return list
}

func TestSemanticTokens(t *testing.T) {
	t.Parallel()
	const text = `/// 😀 What is read.
model Post {
  fields {
    title Text @unique
    state State @default(State.Draft) // how far
    /* two
       lines */
  }
  actions {
    list posts(title?, since: Date) { @where(post.createdAt >= since && post.title != "😀" && true) }
  }
  @permission(roles: [Staff], actions: [list])
}
enum State { Draft }
role Staff { domains { "a.example" } }
`
	const want = `/// 😀 What is read. comment
model keyword|Post class declaration
fields keyword
title property declaration|Text type defaultLibrary|unique decorator defaultLibrary
state property declaration|State enum|default decorator defaultLibrary|State enum|Draft enumMember|// how far comment
/* two comment
       lines */ comment
actions keyword
list keyword|posts method declaration|title property|since parameter declaration|Date type defaultLibrary|where decorator defaultLibrary|post variable|createdAt property|>= operator|since variable|&& operator|post variable|title property|!= operator|"😀" string|&& operator|true keyword defaultLibrary
permission decorator defaultLibrary|roles keyword|Staff type|actions keyword|list keyword
enum keyword|State enum declaration|Draft enumMember declaration
role keyword|Staff type declaration|domains keyword|"a.example" string`
	c := start(t)
	c.open("untitled:a", text)
	var tokens semanticTokens
	c.call("textDocument/semanticTokens/full", documentParams{documentID{"untitled:a"}}, &tokens)
	got := decoded(text, tokens.Data)
	if wanted := strings.FieldsFunc(want, func(r rune) bool { return r == '|' || r == '\n' }); fmt.Sprint(got) != fmt.Sprint(wanted) {
		for i := range max(len(got), len(wanted)) {
			if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
				t.Fatalf("token %d: got %q\nwant %q", i, got[min(i, len(got)):], wanted[min(i, len(wanted)):])
			}
		}
	}
	// A range answers the tokens of its lines.
	c.call("textDocument/semanticTokens/range", rangeParams{documentParams{documentID{"untitled:a"}}, textRange{position{3, 0}, position{4, 0}}}, &tokens)
	if got := strings.Join(decoded(text, tokens.Data), "|"); got != "title property declaration|Text type defaultLibrary|unique decorator defaultLibrary" {
		t.Errorf("range: got %s", got)
	}
}

// In every file the tokens come in order and do not overlap.
func TestSemanticTokensOfHalfWritten(t *testing.T) {
	t.Parallel()
	for end := 0; end <= len(sample); end += 7 {
		x, file := sampleFile(sample[:end])
		v := &view{index: x, file: file, lines: newLines(file.Source.Text, utf16Units)}
		last := 0
		for _, token := range v.tokens(0, end) {
			if token.start < last || token.end <= token.start || strings.Contains(sample[token.start:token.end], "\n") {
				t.Fatalf("written up to %d: token from %d to %d behind %d", end, token.start, token.end, last)
			}
			last = token.end
		}
	}
}
