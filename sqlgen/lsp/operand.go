package lsp

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// comparisons are the operators whose operands have to agree.
var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

// beforeOperand are the tokens before an operand without arithmetic.
var beforeOperand = []string{"(", ",", ":", "&&", "||", "!", "{"}

// behindOperand are the tokens behind such an operand.
var behindOperand = []string{")", ",", "&&", "||", "}"}

// readOperands notes the path that the place is compared with or assigned to: the other
// side of an operator, if it is only a path.
func (w *walk) readOperands(s *cursor) {
	begin := w.at - 2*len(s.path) // of the path that the place is in
	end := w.at + 2*len(s.rest)
	if s.word != "" {
		end++
	}
	token := func(i int) *syntax.Token { return &w.tokens[max(0, min(i, len(w.tokens)-1))] }
	path := func(i, step int) (names []string, next int) {
		for token(i).Kind == syntax.TokenName {
			names = append(names, token(i).Text)
			if token(i+step).Text != "." {
				return names, i + step
			}
			i += 2 * step
		}
		return nil, i
	}
	if op := token(begin - 1).Text; slices.Contains(comparisons, op) || op == "=" {
		names, before := path(begin-2, -1)
		if slices.Contains(beforeOperand, token(before).Text) {
			slices.Reverse(names)
			s.against, s.operator = names, op
		}
		return
	}
	if op := token(end).Text; (s.word != "" || s.path != nil) && slices.Contains(comparisons, op) && slices.Contains(beforeOperand, token(begin-1).Text) {
		if names, behind := path(end+1, 1); slices.Contains(behindOperand, token(behind).Text) {
			s.against, s.operator = names, op
		}
	}
}
