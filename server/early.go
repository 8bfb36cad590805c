package server

import (
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/refusal"
)

// decision is the result of an action's rules before any row is read.
type decision int

const (
	depends  decision = iota // it depends on the row, or on unknown inputs
	admitted                 // for any row
	refused
)

// decideEarly evaluates everything of a call that comes before the row: the rules, the
// caller's identity and the action's validation. A refusal is returned as the error.
// Without an input, the rules decide about an upload.
func (k *call) decideEarly(input, context []byte) (decision, error) {
	early := k.action.early
	answered := early.Begin(answer.Page{}, nil)
	err := k.server.db.Call(k.request.Client, early, answered.Parameters(input, k.identity, k.token, context), answered)
	switch text := string(answered.JSON()); {
	case refusal.IsOvertaken(err):
		return depends, err
	case err != nil:
		return depends, refusal.OfCall(err, k.action.Action, k.release.constraints, input)
	case text == "t":
		return admitted, nil
	case text == "f":
		return refused, nil
	}
	return depends, nil
}
