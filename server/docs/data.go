package docs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// Data does for the pages, in development, what the server cannot: its role may neither read
// rows nor change them but by actions.
type Data interface {
	// Ask answers a question of the pages, as JSON. Its error is a *WrongError if the
	// question is invalid.
	Ask(ctx context.Context, question string, input []byte) ([]byte, error)

	// Models returns the models of the installed schema, also those without actions.
	Models() []release.Model

	// Trouble returns why the served release differs from the project's files, in words
	// for people; empty if it does not.
	Trouble() string
}

// WrongError is the fault of a question of the pages, in words for people.
type WrongError struct {
	Message string
	Field   string // the faulty field; empty means none
}

func (e *WrongError) Error() string { return e.Message }

// hasRows tells whether the pages show rows.
func (s *Pages) hasRows() bool {
	return s.Data != nil && s.Config.Mode == config.Development
}

// dataRoutes lists the paths that exist in development only, with data. The data
// answers everything that this file does not.
func (s *Pages) dataRoutes(app *fiber.App) {
	if !s.hasRows() {
		return
	}
	app.All("/docs/data/state", s.Policy.ForOwnPages(s.state))
	app.All("/docs/data/token", s.Policy.ForOwnPages(s.token))
	app.All("/docs/data/mend", s.Policy.ForOwnPages(s.mend))
	app.All("/docs/data/file", s.Policy.ForOwnPages(s.file))
	app.All("/docs/data/:question", s.Policy.ForOwnPages(s.ask))
}

// ask passes a question to the data.
func (s *Pages) ask(c *fiber.Ctx, body []byte) error {
	found, err := s.Data.Ask(context.Background(), c.Params("question"), body)
	var wrong *WrongError
	switch {
	case errors.As(err, &wrong):
		return refusal.InputInvalid.Saying("%s", wrong.Message).Listing(problem.Incorrect(wrong.Message).At(wrong.Field))
	case err != nil:
		return refusal.Unavailable.With(err)
	}
	return request.SendJSON(c, http.StatusOK, string(found))
}

// state returns the served release, and what prevents the next one.
func (s *Pages) state(c *fiber.Ctx, _ []byte) error {
	number, _ := s.Release()
	return sendAnswer(c, struct {
		Release int64  `json:"release"`
		Trouble string `json:"trouble"`
	}{number, s.Data.Trouble()})
}

// token makes an access token for an identity, for calls by the pages in its name.
func (s *Pages) token(c *fiber.Ctx, body []byte) error {
	var in struct {
		Identity string `json:"identity"`
	}
	if err := json.Unmarshal(body, &in); err != nil || in.Identity == "" {
		return refusal.InputMalformed.Saying("the body must have an identity")
	}
	token, expires, err := s.IssueToken(in.Identity)
	if err != nil {
		return err
	}
	return sendAnswer(c, struct {
		Token   string `json:"token"`
		Expires int64  `json:"expires"` // in milliseconds
	}{token, expires.UnixMilli()})
}

// file returns the address for the contents of a stored file.
func (s *Pages) file(c *fiber.Ctx, body []byte) error {
	var in struct{ Key, Filename, ContentType string }
	if err := json.Unmarshal(body, &in); err != nil {
		return refusal.InputMalformed.Saying("the body must be a file")
	}
	url, err := s.FileURL(in.Key, in.Filename, in.ContentType)
	if err != nil {
		return err
	}
	return sendAnswer(c, struct {
		URL string `json:"url"`
	}{url})
}

// sendAnswer answers a question.
func sendAnswer(c *fiber.Ctx, found any) error {
	text, err := answer.Encode(found)
	if err != nil {
		return fmt.Errorf("write an answer: %w", err)
	}
	return request.SendJSON(c, http.StatusOK, string(text))
}
