package server

import (
	"net/url"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// answerRun answers what became of a run of a job. The call that starts one goes on, and its answer says that it is
// accepted.
func (k *call) answerRun() error {
	if k.action == nil || k.action.Kind != release.Start {
		return nil
	}
	if k.http.Method() != fiber.MethodGet {
		k.http.Status(fiber.StatusAccepted)
		return nil
	}
	query, err := url.ParseQuery(string(k.http.Request().URI().QueryString()))
	switch {
	case err != nil:
		return &refusal.InputMalformed
	case len(query) != 1 || len(query["run"]) != 1:
		return &input.Invalid{Problems: []problem.Problem{problem.Validate("is needed: the id of a run, and nothing else").At("run")}}
	}
	var found *string
	err = k.server.db.QueryRow(`select platform.job_find($1, $2, $3)`, []any{k.action.Model, query.Get("run"), string(k.makeContext())}, &found)
	switch {
	case err != nil:
		return refusal.OfCall(err, k.action.Action, k.release.constraints, nil)
	case found == nil:
		return &refusal.RecordNotFound
	}
	k.http.Response().SetBody(answer.Compact([]byte(*found)))
	k.http.Response().Header.SetContentType(request.JSONType)
	return errAnswered
}
