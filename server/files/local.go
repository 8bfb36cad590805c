package files

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/local"
)

// UploadPath is where local storage takes uploads.
const UploadPath = local.UploadPath + storage.Uploads

// Receive takes the contents of a file into local storage, at the address that
// storage signed for it.
func (s *Service) Receive(c *fiber.Ctx) error {
	store, isLocal := s.Store.(*local.Store)
	switch {
	case !isLocal:
		return &refusal.ActionNotFound
	case s.Policy.IsPreflight(c):
		return preflightUpload(c)
	case c.Method() != fiber.MethodPut:
		return refusal.NotAllowed(fiber.MethodPut)
	case !admitsUpload(store, &c.Request().Header):
		return &refusal.PermissionDenied
	}
	contentType := string(c.Request().Header.Peek("Content-Type"))
	if err := store.Receive(c.Context(), storage.Uploads+c.Params("key"), contentType, &request.Of(c).Body); err != nil {
		return fmt.Errorf("receive an upload: %w", err)
	}
	return nil
}

// preflightUpload lets pages of other origins upload.
func preflightUpload(c *fiber.Ctx) error {
	if err := request.Preflight(c, nil); err != nil {
		return err
	}
	c.Set("Access-Control-Allow-Methods", "PUT")
	return nil
}

// admitsUpload tells from the header alone whether a request is one that was signed.
func admitsUpload(store *local.Store, header *fasthttp.RequestHeader) bool {
	path, query, _ := strings.Cut(string(header.RequestURI()), "?")
	key, ok := strings.CutPrefix(path, UploadPath)
	values, err := url.ParseQuery(query)
	length, lengthErr := strconv.ParseInt(string(header.Peek("Content-Length")), 10, 64)
	return ok && err == nil && lengthErr == nil && isFileKey(key) &&
		store.Admits(storage.Uploads+key, values.Get("expires"), values.Get("signature"), string(header.Peek("Content-Type")), length)
}
