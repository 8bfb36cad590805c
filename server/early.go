package server

import (
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/refusal"
)

// decision is what the rules of an action say before any row is read.
type decision int

const (
	depends  decision = iota // on the row, and on inputs that are not known
	admitted                 // whatever the row
	refused
)

// decideEarly asks the rules about a call, and whatever else of it is before the
// row: the caller's identity and the action's validation. What refuses it there is
// the error. Without an input they are asked about an upload.
func (s *Server) decideEarly(a *action, r *served, who *caller, input, context []byte) (decision, error) {
	answered := a.early.Begin(answer.Page{}, nil)
	err := s.db.call(who.request.Client, a.early, a.early.Parameters(input, who.identity, context), answered)
	decided := depends
	text, _ := answered.JSON()
	switch string(text) {
	case "t":
		decided = admitted
	case "f":
		decided = refused
	}
	switch {
	case isOvertaken(err):
		return depends, err
	case err != nil:
		return depends, refusal.OfCall(err, a.Action, r.constraints, input)
	}
	return decided, nil
}
