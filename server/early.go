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
func (s *Server) decideEarly(a *action, r *served, who *caller, input, context []byte) (decision, error) {
	answered := a.early.Begin(answer.Page{}, nil)
	err := s.db.Call(who.request.Client, a.early, answered.Parameters(input, who.identity, who.token, context), answered)
	decided := depends
	text := answered.JSON()
	switch string(text) {
	case "t":
		decided = admitted
	case "f":
		decided = refused
	}
	switch {
	case refusal.IsOvertaken(err):
		return depends, err
	case err != nil:
		return depends, refusal.OfCall(err, a.Action, r.constraints, input)
	}
	return decided, nil
}
