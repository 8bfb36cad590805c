package files

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
	"github.com/sternpost/sternpost/storage/local"
)

// UploadPath is the path for uploads to storage on a disk.
const UploadPath = disk.Path + storage.Uploads

// receiver is storage with uploads through this server.
type receiver interface {
	AdmitsUpload(key, query, contentType string, size int64) bool
	Receive(ctx context.Context, key, contentType string, size int64, contents io.Reader) error
}

var _, _ receiver = (*disk.Store)(nil), (*local.Store)(nil)

// Receive writes the contents of a file to storage on a disk, at the address that storage
// signed for it.
func (s *Service) Receive(c *fiber.Ctx) error {
	store, receives := s.Store.(receiver)
	switch {
	case !receives:
		return &refusal.ActionNotFound
	case s.Policy.IsPreflight(c):
		return preflight(c, fiber.MethodPut)
	case c.Method() != fiber.MethodPut:
		return refusal.NotAllowed(fiber.MethodPut)
	}
	header := &c.Request().Header
	contentType := string(header.Peek("Content-Type"))
	size, err := strconv.ParseInt(string(header.Peek("Content-Length")), 10, 64)
	key := signedKey(c)
	if err != nil || !store.AdmitsUpload(key, string(c.Context().URI().QueryString()), contentType, size) {
		return &refusal.PermissionDenied
	}
	transfer := s.Uploads.Of(s.Policy.ClientAddress(c))
	if err := transfer.Take(1); err != nil {
		return err
	}
	defer transfer.Release()
	body := &request.Of(c).Body
	body.IsFile()
	err = store.Receive(c.Context(), key, contentType, size, body)
	var refused *refusal.Refusal
	if err != nil && !errors.As(err, &refused) { // errors of the body belong to the request
		return refusal.Unavailable.With(err)
	}
	return err
}

// preflight allows pages of other origins to send or fetch files.
func preflight(c *fiber.Ctx, methods string) error {
	if err := request.Preflight(c, nil); err != nil {
		return err
	}
	c.Set("Access-Control-Allow-Methods", methods)
	return nil
}

// signedKey returns the key in the path of a signed address, exactly as it was sent:
// another spelling of a key is another text, which has no signature.
func signedKey(c *fiber.Ctx) string {
	return strings.TrimPrefix(string(c.Context().URI().PathOriginal()), disk.Path)
}
