package server

import (
	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// upload lets a client send a file before the call that attaches it. Its stages are those
// of a call, up to the permission.
func (s *Server) upload(c *fiber.Ctx) error {
	r := s.current.Load()
	exposed, err := s.route(c, r)
	if err != nil {
		return err
	}
	if s.policy.IsPreflight(c) {
		return request.Preflight(c, r.headerNames())
	}
	who, err := s.identify(c)
	if err != nil {
		return err
	}
	zone, err := s.zones.Load().parse(c.Request().Header.PeekAll("Time-Zone"))
	if err != nil {
		return err
	}
	if c.Method() != fiber.MethodPost {
		return refusal.NotAllowed(fiber.MethodPost)
	}
	caller := caller{identity: who.ID, token: who.Token, zone: zone, request: request.Of(c)}
	return s.onNewest(c, r, exposed, func(r *served, api *api) error {
		return s.allowUpload(c, r, api, &caller)
	})
}

// allowUpload reads the announcement of a client and decides, on one release.
func (s *Server) allowUpload(c *fiber.Ctx, r *served, api *api, who *caller) error {
	action, in := api.uploadInput(c.Params("action"), c.Params("field"))
	if action != nil {
		who.request.Action = action.metrics
	}
	announced, err := s.files.ReadUpload(c, in != nil)
	if err != nil {
		return err
	}
	decided, err := s.decideEarly(action, r, who, nil, who.context(c, r))
	if err != nil {
		return err
	}
	if decided == refused || decided == depends && who.identity == "" {
		return &refusal.PermissionDenied
	}
	return s.files.Mint(c, action.Action, in, announced, who.identity)
}

// uploadInput returns the action of that name and its input for uploads; nil for an
// unknown name.
func (a *api) uploadInput(actionName, field string) (*action, *release.FileInput) {
	found := a.actions[actionName]
	if found == nil {
		return nil, nil
	}
	for i := range found.Files {
		if found.Files[i].Name == field {
			return found, &found.Files[i]
		}
	}
	return found, nil
}
