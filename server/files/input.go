package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/jackc/pgx/v5"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/storage"
)

// Sent is a file of an input.
type Sent struct {
	path   string
	stored file // as far as known

	inline *input.File // nil for an upload

	input  *release.FileInput // its limits; nil for an inline file without limits
	upload string             // the key, of an upload
	etag   string             // of the uploaded object
}

// Of returns the files of an input: by path, and in their order.
func Of(a *release.Action, in input.Input) (byPath map[string]*Sent, sent []*Sent) {
	byPath = map[string]*Sent{}
	for _, p := range in.Places() {
		if !isFilePlace(p) {
			continue
		}
		f := &Sent{path: p.Path}
		if inline, ok := p.Inline(); ok {
			f.inline = &inline
			f.stored = file{Filename: inline.Name, ContentType: inline.ContentType, Size: int64(len(inline.Contents))}
			if f.input = fileInputAt(a.Files, p.Path); f.input == nil {
				f.input = inlineInputAt(a.Inline, p.Path)
			}
		} else {
			f.upload, f.input = p.Text(), fileInputAt(a.Files, p.Path)
		}
		byPath[p.Path], sent = f, append(sent, f)
	}
	return byPath, sent
}

func isFilePlace(p input.Place) bool { return p.Format == "data-url" || p.Format == "file" }

// fileInputAt returns the input that contains a path: the input itself, or one of its
// elements.
func fileInputAt(inputs []release.FileInput, path string) *release.FileInput {
	for i := range inputs {
		if rest, ok := strings.CutPrefix(path, inputs[i].Path); ok && (rest == "" || inputs[i].Array && rest[0] == '.') {
			return &inputs[i]
		}
	}
	return nil
}

// inlineInputAt returns the input of nested rows that contains a path.
func inlineInputAt(inputs []release.FileInput, path string) *release.FileInput {
	var names []string
	for _, segment := range strings.Split(path, ".") {
		if _, err := strconv.Atoi(segment); err != nil { // a name is not a number
			names = append(names, segment)
		}
	}
	path = strings.Join(names, ".")
	i := slices.IndexFunc(inputs, func(in release.FileInput) bool { return in.Path == path })
	if i < 0 {
		return nil
	}
	return &inputs[i]
}

// Value returns the file in the form of the database. Until it is stored, the name, type and
// size of an upload are unknown, and empty in that form.
func (f *Sent) Value() []byte {
	return f.stored.append(nil, "")
}

const (
	notUploadKey    = "is not an upload key for this input"
	nothingUploaded = "nothing has been uploaded for this key"
	uploadChanged   = "the upload changed while it was being attached"
)

// Check checks the uploads, whether this call may attach them and their actual content,
// and those inline files that this server checks. It lists all problems.
func (s *Service) Check(a *release.Action, identity string, files []*Sent) error {
	names, err := s.attachable(a, identity, files)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	var entries []problem.Problem
	seen := map[string]bool{}
	for _, f := range files {
		if f.inline != nil {
			if s.Config.Uploads.CheckInline && f.input != nil {
				entries = append(entries, judgeFile(f.input, f.stored.ContentType, f.stored.Size, f.path, f.path)...)
			}
			continue
		}
		name, ok := names[f.upload]
		if !ok || seen[f.upload] {
			entries = append(entries, problem.Upload(notUploadKey).At(f.path))
			continue
		}
		seen[f.upload] = true
		more, err := s.look(ctx, a, identity, f, name)
		if err != nil {
			return err
		}
		entries = append(entries, more...)
	}
	if len(entries) > 0 {
		return refusal.InputInvalid.Listing(entries...)
	}
	return nil
}

// attachable returns the names of the files with upload keys that the call may attach, by
// key.
func (s *Service) attachable(a *release.Action, identity string, files []*Sent) (map[string]string, error) {
	type named struct {
		Key   string `json:"key"`
		Field string `json:"field"`
	}
	var asked []named
	for _, f := range files {
		if f.inline == nil && isFileKey(f.upload) && f.input != nil {
			asked = append(asked, named{f.upload, f.input.Name})
		}
	}
	names := map[string]string{}
	if len(asked) == 0 {
		return names, nil
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("write the upload keys of a call: %w", err)
	}
	err = s.DB.QueryRow(
		`select coalesce(json_object_agg(key, filename), '{}') from platform.file_uploads($1, $2, $3)`,
		[]any{string(text), a.Name, nullable(identity)}, &names)
	if err != nil {
		return nil, refusal.OfCall(err, a, nil, nil)
	}
	return names, nil
}

// look reads the metadata of an uploaded object, and judges it.
func (s *Service) look(ctx context.Context, a *release.Action, identity string, f *Sent, name string) ([]problem.Problem, error) {
	object, err := s.Store.Head(ctx, storage.Uploads+f.upload)
	if errors.Is(err, storage.ErrNotFound) {
		return s.whyAbsent(a, identity, f)
	}
	if err != nil {
		return nil, refusal.Unavailable.With(err)
	}
	f.stored = file{Filename: name, ContentType: object.ContentType, Size: object.Size}
	f.etag = object.ETag
	return judgeFile(f.input, object.ContentType, object.Size, f.path, f.path), nil
}

// whyAbsent returns why storage has no object for a key that the call could attach a moment
// ago: another call may have used it since, which deletes the upload.
func (s *Service) whyAbsent(a *release.Action, identity string, f *Sent) ([]problem.Problem, error) {
	names, err := s.attachable(a, identity, []*Sent{f})
	if err != nil {
		return nil, err
	}
	why := nothingUploaded
	if _, ok := names[f.upload]; !ok {
		why = notUploadKey
	}
	return []problem.Problem{problem.Upload(why).At(f.path)}, nil
}

// Kept are the files that were stored for a call.
type Kept struct {
	keys  []string
	bytes int64 // in total
	payer payer // charged if the call fails
}

// Keep stores the files of a call, once it is certain that the call may have them all. It
// returns nil if the call has no files.
func (s *Service) Keep(c *fiber.Ctx, a *release.Action, identity string, sent []*Sent) (*Kept, error) {
	if len(sent) == 0 {
		return nil, nil
	}
	if err := s.Check(a, identity, sent); err != nil {
		return nil, err
	}
	stored := &Kept{payer: s.payer(c, identity)}
	for _, f := range sent {
		stored.bytes += f.stored.Size
	}
	var err error
	if stored.keys, err = s.storeAll(a, stored.payer, sent); err != nil {
		s.Discard(stored, refusal.Of(err))
		return nil, err
	}
	return stored, nil
}

// storeAll stores all files under new keys. The keys are recorded in the database first,
// so that no file is ever lost. They are returned with an error too.
func (s *Service) storeAll(a *release.Action, payer payer, files []*Sent) (keys []string, err error) {
	for _, f := range files {
		f.stored.Key = newFileKey()
		keys = append(keys, f.stored.Key)
	}
	err = s.DB.QueryRow(`select platform.file_enter($1)::text from platform.file_admit($2, $3)`, []any{keys, payer.name, payer.most}, new(*string))
	if err != nil {
		return nil, refusal.OfCall(err, a, nil, nil)
	}
	ctx, cancel := storageContext() // for all files of the call together
	defer cancel()
	for _, f := range files {
		if err := s.storeFile(ctx, f); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

func (s *Service) storeFile(ctx context.Context, f *Sent) error {
	key := storage.Files + f.stored.Key
	if f.inline != nil {
		if err := s.Store.Put(ctx, key, f.stored.ContentType, f.inline.Contents); err != nil {
			return refusal.Unavailable.With(err)
		}
		f.inline.Contents = nil
		return nil
	}
	err := s.Store.Copy(ctx, storage.Uploads+f.upload, key, f.etag)
	switch {
	case errors.Is(err, storage.ErrNotFound): // another call has used the key since, which deletes its upload
		return refusal.InputInvalid.Listing(problem.Upload(notUploadKey).At(f.path))
	case errors.Is(err, storage.ErrChanged):
		return refusal.InputInvalid.Listing(problem.Upload(uploadChanged).At(f.path))
	case err != nil:
		return refusal.Unavailable.With(err)
	}
	return nil
}

// Attaching adds the uploads that a call attaches to its context.
func Attaching(context []byte, files []*Sent) []byte {
	b := append([]byte(nil), context[:len(context)-1]...)
	first := true
	for _, f := range files {
		if f.inline != nil {
			continue
		}
		switch {
		case !first:
			b = append(b, ',')
		case len(b) > 1: // the context has members
			b = append(b, `,"uploads":[`...)
		default:
			b = append(b, `"uploads":[`...)
		}
		first = false
		b = append(b, `{"key":`...)
		b = answer.Quote(b, f.upload)
		b = append(b, `,"field":`...)
		b = answer.Quote(b, f.path)
		b = append(b, '}')
	}
	if !first {
		b = append(b, ']')
	}
	return append(b, '}')
}

// payer is charged with the files that are stored for failed calls.
type payer struct {
	name string
	most int64 // bytes within an hour
}

// The limits for files of failed calls within an hour: far more than mistakes use.
const (
	failedBytes          = 100 << 20 // for an identity
	failedBytesAnonymous = 20 << 20  // for an anonymous address
)

// payer returns the payer for the files of a call.
func (s *Service) payer(c *fiber.Ctx, identity string) payer {
	if identity == "" {
		return payer{"address " + s.Policy.ClientAddress(c), failedBytesAnonymous}
	}
	return ofIdentity(identity)
}

// ofIdentity returns the payer for an identity.
func ofIdentity(id string) payer { return payer{"identity " + id, failedBytes} }

// Discard deletes the files of a refused call, and counts them. If a call failed on our
// side, its outcome is uncertain, and storage may be away: its files are queued for
// deletion, as are those with a failed deletion. If that fails too, they are deleted
// after a day, like those of a server that dies.
func (s *Service) Discard(p *Kept, why *refusal.Refusal) {
	if p == nil || len(p.keys) == 0 {
		return
	}
	if why.Status < fiber.StatusInternalServerError {
		err := s.deleteRefused(p)
		if err == nil {
			return
		}
		s.Log.Warn("cannot delete the files of a refused call", "files", len(p.keys), "error", err)
	}
	if err := s.DB.QueryRow(`select platform.file_discard($1)::text`, []any{p.keys}, new(*string)); err != nil {
		s.Log.Warn("cannot discard the files of a failed call", "files", len(p.keys), "error", err)
	}
}

func (s *Service) deleteRefused(p *Kept) error {
	if err := s.DB.QueryRow(`select platform.file_fail($1, $2)::text`, []any{p.payer.name, p.bytes}, new(*string)); err != nil {
		return err
	}
	ctx, cancel := storageContext()
	defer cancel()
	return s.DB.Transaction(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `select platform.file_unheld($1)`, pgx.QueryExecModeExec, p.keys)
		if err != nil {
			return fmt.Errorf("list the files to delete: %w", err)
		}
		keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("list the files to delete: %w", err)
		}
		return s.deleteObjects(ctx, tx, storage.Files, `select platform.file_forget($1)`, keys...)
	})
}

// nullable returns nil for an anonymous caller.
func nullable(identity string) *string {
	if identity == "" {
		return nil
	}
	return &identity
}
