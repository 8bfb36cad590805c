package syntax

// TokenKind is the kind of a token.
type TokenKind int

// The kinds of tokens.
const (
	TokenEOF         TokenKind = iota // the end of the file; holds the comments after the last token
	TokenName                         // a name; there are no reserved words
	TokenString                       // a text literal, quotes included
	TokenNumber                       // a number without sign
	TokenPunctuation                  // brackets, separators and operators
	TokenInvalid                      // characters that begin nothing
)

// Token is one name, literal, bracket, separator or operator. The tokens of a
// file and their trivia are the whole file, except white space.
type Token struct {
	Kind    TokenKind
	Text    string // as written
	Span    Span
	Leading []Trivia // what is between the token before and this one, in order

	value  string  // of a string: the text with its escapes resolved
	isOpen bool    // of a string: whether its closing quote is missing
	faults []fault // what is wrong with the token itself; reported when the parser comes to it
}

// fault is something wrong inside a single token.
type fault struct {
	span    Span
	code    Code
	message string
}

// TriviaKind is the kind of a piece of trivia.
type TriviaKind int

// The kinds of trivia.
const (
	LineEnd      TriviaKind = iota // the end of a line
	LineComment                    // // … up to the last visible character of the line
	BlockComment                   // /* … */
)

// Trivia is text between two tokens that matters only to readers: line ends and
// comments.
type Trivia struct {
	Kind TriviaKind
	Text string // of a comment, as written; "" for a line end
	Span Span
}

// is reports whether the token is the punctuation text.
func (t *Token) is(text string) bool {
	return t.Kind == TokenPunctuation && t.Text == text
}

// isName reports whether the token is the name text.
func (t *Token) isName(text string) bool {
	return t.Kind == TokenName && t.Text == text
}

// startsLine reports whether the token is the first one on its line.
func (t *Token) startsLine() bool {
	for _, tr := range t.Leading {
		if tr.Kind == LineEnd {
			return true
		}
	}
	return t.Span.Start.Line == 1 && t.Span.Start.Column == 1
}
