package server

import (
	"slices"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/refusal"
)

// judgeRows asks which rows a call of many was refused for, and returns the refusal that names them.
func (k *call) judgeRows(whole *refusal.Refusal) *refusal.Refusal {
	isOfRow := whole.Code != refusal.SecondFactor.Code && slices.Contains([]int{400, 403, 404, 409}, whole.Status)
	if !isOfRow || whole.NamesRow() {
		return whole
	}
	found := k.action.judge.Begin(answer.Page{}, nil)
	if k.server.db.Call(k.request.Client, k.action.judge, found.Parameters(k.prepared.input, k.identity, k.token, k.prepared.context), found) != nil {
		return whole // of the call itself, which says less
	}
	return refusal.OfRows(whole, found.JSON(), k.action.Action, k.release.constraints)
}
