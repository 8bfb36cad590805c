package server

import (
	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/request"
)

// runAccount runs one of Identity's own actions until its client leaves.
func (s *Server) runAccount(c *fiber.Ctx, action *action, in []byte, who *caller) error {
	ctx, stop := request.WhileThere(c.UserContext(), who.request.Client)
	defer stop()
	err := account.Run(ctx, s.signIn.Accounts, action.Action, in, auth.Caller{
		Client:   s.signIn.ClientOf(c),
		Identity: auth.Identity{ID: who.identity, Token: who.token, Family: who.family},
	})
	if err != nil {
		return err
	}
	s.signIn.Mailed()
	s.noteLater(c, who)
	return request.SendJSON(c, fiber.StatusOK, "{}")
}
