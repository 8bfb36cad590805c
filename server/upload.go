package server

import (
	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// uploadStages let a client send a file before the call that attaches it. They are those of a call, up to the permission.
var uploadStages = stages{
	arrive: []stage{(*call).answerPreflight, (*call).identify, (*call).readZone, (*call).checkPost},
	act:    []stage{(*call).allowUpload},
}

func (s *Server) upload(c *fiber.Ctx) error { return s.goThrough(c, &uploadStages) }

func (k *call) checkPost() error {
	if k.http.Method() != fiber.MethodPost {
		return refusal.NotAllowed(fiber.MethodPost)
	}
	return nil
}

// allowUpload reads the announcement of a client, decides, and answers where the file goes.
func (k *call) allowUpload() error {
	in := k.action.uploadInput(k.http.Params("field"))
	announced, err := k.server.files.ReadUpload(k.http, in != nil)
	if err != nil {
		return err
	}
	decided, err := k.decideEarly(nil, k.makeContext())
	if err != nil {
		return err
	}
	if decided == refused || decided == depends && k.identity == "" {
		return &refusal.PermissionDenied
	}
	return k.server.files.Mint(k.http, k.action.Action, in, announced, k.identity)
}

// uploadInput returns the input for uploads of that name; nil if there is none.
func (a *action) uploadInput(name string) *release.FileInput {
	if a == nil {
		return nil
	}
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	return nil
}
