package server

import (
	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/replica"
)

// positionHeader holds, in the answer to a write, the position in the log of the database.
// A request that sends it back sees everything written until then.
const positionHeader = "Sternpost-Position"

// seenBy returns what the caller of a request must see.
func seenBy(c *fiber.Ctx, who *caller) (replica.Seen, error) {
	seen := replica.Seen{Identity: who.identity}
	if text := c.Request().Header.Peek(positionHeader); len(text) > 0 {
		var err error
		if seen.Position, err = replica.ParsePosition(string(text)); err != nil {
			return seen, refusal.InputMalformed.Saying("invalid %s header: it must be the value from an earlier response", positionHeader)
		}
	}
	return seen, nil
}

// noting returns a function to run right after a write. It notes the position in the log,
// and sends it to the client.
func (s *Server) noting(c *fiber.Ctx, who *caller) func(*pgconn.PgConn) {
	return func(pg *pgconn.PgConn) {
		s.sendPosition(c)(database.NotePosition(pg, who.identity))
	}
}

// noteLater is noting for a write whose connection is not at hand.
func (s *Server) noteLater(c *fiber.Ctx, who *caller) {
	if s.db.HasReplicas() {
		s.sendPosition(c)(s.db.NotePosition(who.identity))
	}
}

// sendPosition returns a function that sends the position of a write, or logs why it is not known.
func (s *Server) sendPosition(c *fiber.Ctx) func(position string, err error) {
	return func(position string, err error) {
		if err != nil { // the write was carried out
			s.log.Warn("cannot record the position of a write: its caller may briefly read older data", "error", err)
			return
		}
		c.Set(positionHeader, position)
	}
}
