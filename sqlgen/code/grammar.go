package code

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/wasilibs/go-pgquery/parser"
	"google.golang.org/protobuf/encoding/protowire"
)

// one makes texts be read one at a time. The parser makes a machine of 250 MiB for each
// concurrent text, and keeps them all.
var one sync.Mutex

// refusal is the grammar's error about a text.
type refusal struct {
	message string
	at      int // the place, counted in characters from 1; 0 means unknown
}

// offset returns the byte of a text at which the error is.
func (r *refusal) offset(text string) int {
	at := 0
	for range r.at - 1 {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// refusalOf makes a refusal of an error of the parser.
func refusalOf(err error) *refusal {
	var refused *parser.Error
	if !errors.As(err, &refused) {
		panic(fmt.Sprintf("code: Postgres' grammar fails: %v", err))
	}
	return &refusal{refused.Message, refused.Cursorpos}
}

// tree is a statement as the grammar reads it: one node, by its name.
type tree struct {
	Node     map[string]json.RawMessage `json:"stmt"`
	Location int                        `json:"stmt_location"` // behind the statement before it
	Length   int                        `json:"stmt_len"`      // up to the semicolon; 0 means the rest
}

// parse reads the statements of a text, which holds no U+0000.
func parse(text string) ([]tree, *refusal) {
	one.Lock()
	defer one.Unlock()
	result, err := parser.ParseToJSON(text)
	if err != nil {
		return nil, refusalOf(err)
	}
	var read struct {
		Statements []tree `json:"stmts"`
	}
	if err := json.Unmarshal([]byte(result), &read); err != nil {
		panic(fmt.Sprintf("code: read what Postgres' grammar says: %v", err))
	}
	return read.Statements, nil
}

// kind is the kind of a token. Marks of one character have their code as number.
type kind int

// The kinds that matter here, as Postgres numbers them.
const (
	identifier    kind = 258
	constant      kind = 261 // a text, in any quotes
	typecast      kind = 268
	colonEquals   kind = 270
	equalsGreater kind = 271
	lineComment   kind = 275
	blockComment  kind = 276
)

// token is a word, mark or constant of a text.
type token struct {
	kind       kind
	start, end int // bytes
}

// scan takes a text, which holds no U+0000, apart into tokens, without comments.
func scan(text string) ([]token, *refusal) {
	one.Lock()
	defer one.Unlock()
	result, err := parser.ScanToProtobuf(text)
	if err != nil {
		return nil, refusalOf(err)
	}
	var tokens []token
	fields(result, func(number protowire.Number, _ uint64, message []byte) {
		const tokensField = 2
		if number != tokensField {
			return
		}
		var t token
		fields(message, func(number protowire.Number, value uint64, _ []byte) {
			switch number {
			case 1:
				t.start = int(value)
			case 2:
				t.end = int(value)
			case 4:
				t.kind = kind(value)
			}
		})
		if t.kind != lineComment && t.kind != blockComment {
			tokens = append(tokens, t)
		}
	})
	return tokens, nil
}

// fields hands over the fields of a message: numbers, and messages within.
func fields(message []byte, each func(protowire.Number, uint64, []byte)) {
	for len(message) > 0 {
		number, wire, length := protowire.ConsumeTag(message)
		if length < 0 {
			panic("code: what Postgres' scanner says is cut off")
		}
		message = message[length:]
		switch wire {
		case protowire.VarintType:
			value, n := protowire.ConsumeVarint(message)
			each(number, value, nil)
			length = n
		case protowire.BytesType:
			value, n := protowire.ConsumeBytes(message)
			each(number, 0, value)
			length = n
		default:
			length = protowire.ConsumeFieldValue(number, wire, message)
		}
		if length < 0 {
			panic("code: what Postgres' scanner says is cut off")
		}
		message = message[length:]
	}
}
