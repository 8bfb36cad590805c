package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/storage"
)

// uploadRequestName and uploadRequestSchema are the body of the upload route. The
// size is at least 1: the signature of an empty PUT covers neither type nor length.
const (
	uploadRequestName   = "UploadRequest"
	uploadRequestSchema = `{"type":"object","properties":{` +
		`"filename":{"description":"1 to 255 bytes of UTF-8, without control characters, / and \\.","type":"string","minLength":1,"maxLength":255},` +
		`"contentType":{"description":"type/subtype with optional parameters, at most 255 bytes.","type":"string","minLength":1,"maxLength":255},` +
		`"size":{"type":"integer","minimum":1}},` +
		`"required":["filename","contentType","size"],"additionalProperties":false}`
)

// uploadRequestReader returns the reader of that body.
func uploadRequestReader() *input.Reader {
	schemas := release.Schemas{{Name: uploadRequestName, JSON: json.RawMessage(uploadRequestSchema)}}
	reader, err := input.Compile(schemas, uploadRequestName)
	if err != nil {
		panic(err)
	}
	return reader
}

// uploadRequest is what a client announces.
type uploadRequest struct {
	Filename    string `json:"filename"`
	ContentType string `json:"contentType"`
	Size        int64  `json:"size"`
}

// upload lets a client send a file ahead of the call that attaches it. Its stages are
// those of a call, up to the permission.
func (s *Server) upload(c *fiber.Ctx) error {
	r := s.current.Load()
	exposed, err := s.route(c, r)
	if err != nil {
		return err
	}
	if s.headers.isPreflight(c) {
		return preflight(c, r.headerNames())
	}
	who, err := s.identify(c)
	if err != nil {
		return err
	}
	zone, err := s.zones.Load().read(c.Request().Header.PeekAll("Time-Zone"))
	if err != nil {
		return err
	}
	if c.Method() != fiber.MethodPost {
		return notAllowed(fiber.MethodPost)
	}
	caller := caller{identity: who, zone: zone, request: requestOf(c)}
	return s.onNewest(c, r, exposed, func(r *served, api *api) error {
		return s.allowUpload(c, r, api, &caller)
	})
}

// allowUpload reads what a client announces and decides, on one release.
func (s *Server) allowUpload(c *fiber.Ctx, r *served, api *api, who *caller) error {
	action, in := api.uploadInput(c.Params("action"), c.Params("field"))
	if action != nil {
		who.request.action = action.metrics
	}
	announced, err := s.readUpload(c, in != nil)
	if err != nil {
		return err
	}
	decided, err := s.decideEarly(action, r, who, nil, who.context(c, r))
	if err != nil {
		return err
	}
	if decided == refused || decided == depends && who.identity == "" {
		return &permissionDenied
	}
	if entries := judgeFile(in, announced.ContentType, announced.Size, "contentType", "size"); len(entries) > 0 {
		return inputInvalid.listing(entries...)
	}
	return s.mint(c, action, in, announced, who.identity)
}

// uploadInput returns the action of that name and its input that takes uploads; nil
// for what there is not.
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

// readUpload reads the body. What cannot be read at all is refused before the
// route, what does not fit after it.
func (s *Server) readUpload(c *fiber.Ctx, exists bool) (*uploadRequest, error) {
	if !s.takesBody(c) {
		return nil, &unsupportedMediaType
	}
	body, err := s.readBody(c)
	if err != nil {
		return nil, err
	}
	in, err := s.uploads.Read(body)
	switch {
	case isMalformed(err):
		return nil, err
	case !exists:
		return nil, &actionNotFound
	case err != nil:
		return nil, err
	}
	announced := &uploadRequest{}
	if err := json.Unmarshal(in.JSON, announced); err != nil {
		return nil, fmt.Errorf("read an upload request that fits its schema: %w", err)
	}
	var entries []entry
	if problem := input.FileNameProblem(announced.Filename); problem != "" {
		entries = append(entries, entry{"filename", problem})
	}
	if problem := input.ContentTypeProblem(announced.ContentType); problem != "" {
		entries = append(entries, entry{"contentType", problem})
	}
	if len(entries) > 0 {
		return nil, inputInvalid.listing(entries...)
	}
	return announced, nil
}

// mint makes the key and the URL, and answers with both.
func (s *Server) mint(c *fiber.Ctx, action *action, in *release.FileInput, announced *uploadRequest, who string) error {
	key := newFileKey()
	// S3 dates a signature in whole seconds, down.
	urlExpires := time.Now().UTC().Truncate(time.Second).Add(s.config.Uploads.URLExpiry)
	ctx, cancel := storageContext()
	defer cancel()
	url, err := s.store.UploadURL(ctx, storage.Uploads+key, storage.Upload{
		ContentType: announced.ContentType,
		Size:        announced.Size,
		Lifetime:    s.config.Uploads.URLExpiry,
	})
	if err != nil {
		return unavailable.with(err)
	}

	most := s.config.Uploads.MaxOutstanding
	minted := map[string]any{
		"key": key, "action": action.Name, "field": in.Name,
		"filename": announced.Filename, "contentType": announced.ContentType, "size": announced.Size,
	}
	if who == "" {
		most = s.config.Uploads.MaxOutstandingAnonymous
		minted["address"] = s.clientAddress(c)
	} else {
		minted["identityId"] = who
	}
	text, err := json.Marshal(minted)
	if err != nil {
		return fmt.Errorf("write an upload: %w", err)
	}
	var expires string
	err = s.db.queryRow(`select platform.file_mint($1, $2, $3)`,
		[]any{string(text), int32(most), s.config.Uploads.KeyExpiry}, &expires)
	if err != nil {
		return refuseRate(err, action)
	}

	b := append([]byte(nil), `{"key":`...)
	b = quote(b, key)
	b = append(b, `,"url":`...)
	b = quote(b, url)
	b = append(b, `,"headers":{"Content-Type":`...)
	b = quote(b, announced.ContentType)
	b = fmt.Appendf(b, `,"Content-Length":"%d"},"expiresAt":`, announced.Size)
	b = quote(b, expires)
	b = append(b, `,"urlExpiresAt":`...)
	b = quote(b, urlExpires.Format("2006-01-02T15:04:05.000Z"))
	c.Response().Header.SetContentType(jsonType)
	c.Response().SetBody(append(b, '}'))
	return nil
}

// refuseRate says how an error of a function that bounds what a caller has stored is
// answered: too much with the time until there may be more.
func refuseRate(err error, action *action) error {
	r := refuseCall(err, action.Action, nil, nil)
	var raised *pgconn.PgError
	var detail struct {
		RetryAfter int `json:"retryAfter"`
	}
	if errors.As(err, &raised) && json.Unmarshal([]byte(raised.Detail), &detail) == nil {
		r.retryAfter = time.Duration(detail.RetryAfter) * time.Second
	}
	return r
}

// decision is what the rules of an action say before any row is read.
type decision int

const (
	depends  decision = iota // on the row, and on inputs that are not known
	admitted                 // whatever the row
	refused
)

// decideEarly asks the rules about a call, and whatever else of it stands before the
// row: the caller's identity and the action's validation. What refuses it there is
// the error. Without an input they are asked about an upload.
func (s *Server) decideEarly(a *action, r *served, who *caller, input, context []byte) (decision, error) {
	answered := a.early.Begin(answer.Page{}, nil)
	err := s.db.call(who.request.client, a.early, input, context, answered)
	decided := depends
	text, _ := answered.JSON()
	switch string(text) {
	case "t":
		decided = admitted
	case "f":
		decided = refused
	}
	switch {
	case isOvertaken(err):
		return depends, err
	case err != nil:
		return depends, refuseCall(err, a.Action, r.constraints, input)
	}
	return decided, nil
}
