package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/events"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

// eventsPath is the path of the events in development.
const eventsPath = "/events"

// eventsShown is the number of events shown, the latest ones.
const eventsShown = 50

// eventView is an event as the page shows it.
type eventView struct {
	events.Listed
	Title, Record, Text string
}

// eventsPage shows what subscribers were told, with payload and answer: what waits, what has failed, and what is over.
func (s *Pages) eventsPage(c *fiber.Ctx) error {
	ask := events.Querier(s.DB.QueryRow)
	states, err := ask.States()
	if err != nil {
		return refuseCatalog("list the subscribers", err)
	}
	list, err := ask.List(eventsShown, true)
	if err != nil {
		return refuseCatalog("list the events", err)
	}
	views := []eventView{}
	for _, l := range list {
		v := eventView{Listed: l}
		v.Title, v.Record = l.Name()
		var text bytes.Buffer
		if err := json.Indent(&text, l.Event, "", "  "); err != nil {
			return fmt.Errorf("show an event: %w", err)
		}
		v.Text = text.String()
		views = append(views, v)
	}
	number, m := s.Release()
	return sendPage(c, s.pages()["events"], struct {
		frame
		States []events.State
		Events []eventView
	}{s.frame(number, m, "", 0), states, views})
}

// mend does what a button of the pages of events and of jobs says.
func (s *Pages) mend(c *fiber.Ctx, body []byte) error {
	var asked struct{ Do, Named, Inputs string }
	if err := json.Unmarshal(body, &asked); err != nil {
		return refusal.InputInvalid.Saying("it is not a question of the page")
	}
	ask := events.Querier(s.DB.QueryRow)
	var err error
	switch _, m := s.Release(); {
	case asked.Do == "resume":
		_, err = ask.Resume(asked.Named)
	case asked.Do == "retry", asked.Do == "skip":
		_, err = ask.Mend(asked.Do == "skip", asked.Named)
	case asked.Do == "rerun", asked.Do == "cancel":
		_, err = ask.MendRun(asked.Do == "cancel", asked.Named)
	case asked.Do == "run" && m != nil:
		_, err = ask.Start(m, asked.Named, []byte(asked.Inputs))
	}
	switch refused := events.Refused(""); {
	case errors.As(err, &refused):
		return refusal.InputInvalid.Saying("%s", refused)
	case err != nil:
		return refusal.Unavailable.With(err)
	}
	return request.SendJSON(c, http.StatusOK, "{}")
}
