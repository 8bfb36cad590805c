package files

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/storage"
)

// UploadRequestName is the component of UploadRequestSchema.
const UploadRequestName = "UploadRequest"

// UploadRequestSchema is the body of the upload route. The size is at least 1: the
// signature of an empty PUT covers neither type nor length.
var UploadRequestSchema = release.ObjectOf(release.Properties{}.
	With("filename", shortText("1 to 255 bytes of UTF-8, without control characters, / and \\.")).
	With("contentType", shortText("type/subtype with optional parameters, at most 255 bytes.")).
	With("size", release.Typed("integer").With("minimum", 1))).
	Requiring("filename", "contentType", "size").Closed()

// shortText returns a text of 1 to 255 characters. The description comes first.
func shortText(description string) *release.JSONSchema {
	return release.Anything().Described(description).With("type", "string").With("minLength", 1).With("maxLength", 255)
}

// uploadRequestReader returns the reader of that body.
func uploadRequestReader() *input.Reader {
	schemas := release.Schemas{{Name: UploadRequestName, JSON: UploadRequestSchema.Text()}}
	reader, err := input.Compile(schemas, UploadRequestName)
	if err != nil {
		panic(err)
	}
	return reader
}

// uploadRequest is the announcement of a client.
type uploadRequest struct {
	Filename    string `json:"filename"`
	ContentType string `json:"contentType"`
	Size        int64  `json:"size"`
}

// ReadUpload reads the body. An unreadable body is refused before the route, an invalid
// one after it.
func (s *Service) ReadUpload(c *fiber.Ctx, exists bool) (*uploadRequest, error) {
	if !s.Policy.TakesBody(c) {
		return nil, &refusal.UnsupportedMediaType
	}
	body, err := s.Policy.ReadBody(c)
	if err != nil {
		return nil, err
	}
	in, err := s.announcements.Read(body)
	switch {
	case input.IsMalformed(err):
		return nil, err
	case !exists:
		return nil, &refusal.ActionNotFound
	case err != nil:
		return nil, err
	}
	announced := &uploadRequest{}
	if err := json.Unmarshal(in.JSON, announced); err != nil {
		return nil, fmt.Errorf("read an upload request that fits its schema: %w", err)
	}
	var entries []problem.Problem
	if why := input.FileNameProblem(announced.Filename); why != "" {
		entries = append(entries, problem.FormatBecause("filename", why).At("filename"))
	}
	if why := input.ContentTypeProblem(announced.ContentType); why != "" {
		entries = append(entries, problem.FormatBecause("content-type", why).At("contentType"))
	}
	if len(entries) > 0 {
		return nil, refusal.InputInvalid.Listing(entries...)
	}
	return announced, nil
}

// Mint judges the announcement, makes the key and the URL, and answers with both.
func (s *Service) Mint(c *fiber.Ctx, action *release.Action, in *release.FileInput, announced *uploadRequest, who string) error {
	if entries := judgeFile(in, announced.ContentType, announced.Size, "contentType", "size"); len(entries) > 0 {
		return refusal.InputInvalid.Listing(entries...)
	}
	key := newFileKey()
	// S3 rounds the time of a signature down to whole seconds.
	urlExpires := time.Now().UTC().Truncate(time.Second).Add(s.Config.Uploads.URLExpiry)
	ctx, cancel := storageContext()
	defer cancel()
	url, err := s.Store.UploadURL(ctx, storage.Uploads+key, storage.Upload{
		ContentType: announced.ContentType,
		Size:        announced.Size,
		Lifetime:    s.Config.Uploads.URLExpiry,
	})
	if err != nil {
		return refusal.Unavailable.With(err)
	}

	most := s.Config.Uploads.MaxOutstanding
	minted := map[string]any{
		"key": key, "action": action.Name, "field": in.Name,
		"filename": announced.Filename, "contentType": announced.ContentType, "size": announced.Size,
	}
	if who == "" {
		most = s.Config.Uploads.MaxOutstandingAnonymous
		minted["address"] = s.Policy.ClientAddress(c)
	} else {
		minted["identityId"] = who
	}
	text, err := json.Marshal(minted)
	if err != nil {
		return fmt.Errorf("write an upload: %w", err)
	}
	var expires string
	err = s.DB.QueryRow(`select platform.file_mint($1, $2, $3)`,
		[]any{string(text), int32(most), s.Config.Uploads.KeyExpiry}, &expires)
	if err != nil {
		return refusal.OfCall(err, action, nil, nil)
	}

	b := append([]byte(nil), `{"key":`...)
	b = answer.Quote(b, key)
	b = append(b, `,"url":`...)
	b = answer.Quote(b, url)
	b = append(b, `,"headers":{"Content-Type":`...)
	b = answer.Quote(b, announced.ContentType)
	b = fmt.Appendf(b, `,"Content-Length":"%d"},"expiresAt":`, announced.Size)
	b = answer.Quote(b, expires)
	b = append(b, `,"urlExpiresAt":`...)
	b = answer.Quote(b, urlExpires.Format("2006-01-02T15:04:05.000Z"))
	c.Response().Header.SetContentType(request.JSONType)
	c.Response().SetBody(append(b, '}'))
	return nil
}
