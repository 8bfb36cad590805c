package server

import (
	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/request"
)

// runAccount runs one of Identity's own actions until its client leaves.
func (k *call) runAccount() error {
	if !account.Is(k.action.Action) {
		return nil
	}
	s := k.server
	ctx, stop := request.WhileThere(k.http.UserContext(), k.request.Client)
	defer stop()
	answer, err := account.Run(ctx, account.Service{Accounts: s.signIn.Accounts, Grants: s.signIn.Grants}, k.action.Action, k.in.JSON, auth.Caller{
		Client:   s.signIn.ClientOf(k.http),
		Identity: auth.Identity{ID: k.identity, Token: k.token, Family: k.family},
	})
	if err != nil {
		return err
	}
	s.signIn.Mailed()
	s.noteLater(k.http, &k.caller)
	if err := request.SendJSON(k.http, fiber.StatusOK, answer); err != nil {
		return err
	}
	return errAnswered
}
