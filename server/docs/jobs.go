package docs

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/events"
	"github.com/sternpost/sternpost/sql/release"
)

// jobsPath is the path of the jobs in development.
const jobsPath = "/jobs"

// scheduleView is a schedule as the page shows it.
type scheduleView struct {
	events.Scheduled
	Next time.Time
}

// jobsPage shows when jobs run by themselves, and their runs: what waits, what has failed, and what is over.
func (s *Pages) jobsPage(c *fiber.Ctx) error {
	ask := events.Querier(s.DB.QueryRow)
	scheduled, err := ask.Schedules()
	if err != nil {
		return refuseCatalog("list the schedules", err)
	}
	runs, err := ask.Runs(eventsShown)
	if err != nil {
		return refuseCatalog("list the runs", err)
	}
	views := []scheduleView{}
	for _, schedule := range scheduled {
		next, err := schedule.Next()
		if err != nil {
			return err
		}
		views = append(views, scheduleView{schedule, next})
	}
	number, m := s.Release()
	var jobs []release.Job
	if m != nil {
		jobs = m.Jobs
	}
	return sendPage(c, s.pages()["jobs"], struct {
		frame
		Jobs      []release.Job
		Schedules []scheduleView
		Runs      []events.Run
	}{s.frame(number, m, "", 0), jobs, views, runs})
}
