package files

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/budget"
	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
)

// DownloadPath is the path for downloads from storage on a disk.
const DownloadPath = disk.Path + storage.Files

// The policy for a file, which has the origin of the API: it cannot run scripts, and may not
// load anything. Browsers show no PDF under such a policy, and run its scripts apart from any
// origin.
const (
	filePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
	pdfPolicy  = "base-uri 'none'; form-action 'none'"
)

// Send serves the contents of a file, at the address that storage signed for it.
func (s *Service) Send(c *fiber.Ctx) error {
	store, isDisk := s.Store.(*disk.Store)
	switch {
	case !isDisk:
		return &refusal.ActionNotFound
	case s.Policy.IsPreflight(c):
		return preflight(c, "GET, HEAD")
	case c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead:
		return refusal.NotAllowed("GET, HEAD")
	}
	key := signedKey(c)
	download, ok := store.AdmitsDownload(key, string(c.Context().URI().QueryString()))
	if !ok {
		return &refusal.PermissionDenied
	}
	transfer := s.Downloads.Of(s.Policy.ClientAddress(c))
	if err := transfer.Take(1); err != nil {
		return err
	}
	object, err := store.Read(key)
	switch {
	case err == nil:
		err = s.sendObject(c, object, download, transfer)
	case errors.Is(err, storage.ErrNotFound):
		err = &refusal.RecordNotFound
	default:
		err = refusal.Unavailable.With(err)
	}
	if err != nil {
		transfer.Release()
	}
	return err
}

// sendObject answers with the requested part of an object. The object is closed after it has been sent.
func (s *Service) sendObject(c *fiber.Ctx, object *disk.Object, download storage.Download, transfer *budget.Held) error {
	asked := conditionsOf(&c.Request().Header).judge(`"`+object.ETag+`"`, object.Changed, object.Size)
	c.Set("ETag", `"`+object.ETag+`"`)
	c.Set("Last-Modified", object.Changed.UTC().Format(http.TimeFormat))
	c.Set("Cache-Control", "private")
	c.Set("Accept-Ranges", "bytes")
	c.Status(asked.status)
	switch asked.status {
	case http.StatusRequestedRangeNotSatisfiable:
		c.Set("Content-Range", fmt.Sprintf("bytes */%d", object.Size))
	case http.StatusPartialContent:
		c.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", asked.from, asked.from+asked.length-1, object.Size))
	}
	if asked.status != http.StatusOK && asked.status != http.StatusPartialContent {
		transfer.Release()
		return object.Close()
	}
	contents, err := object.Section(asked.from, asked.length)
	if err != nil {
		return errors.Join(refusal.Unavailable.With(fmt.Errorf("read a file: %w", err)), object.Close())
	}
	describeFile(c, download)
	c.Response().SetBodyStream(&sending{
		contents: contents, object: object, client: request.Of(c).Client, transfer: transfer, end: s.Begin(),
	}, int(asked.length))
	return nil
}

// describeFile sets the headers about a file. The type is the stored one, unless custom
// code has set an invalid type.
func describeFile(c *fiber.Ctx, d storage.Download) {
	contentType, policy := d.ContentType, filePolicy
	parsed, _, err := mime.ParseMediaType(contentType)
	if err != nil || strings.ContainsAny(contentType, "\r\n\x00") {
		contentType = "application/octet-stream"
	}
	if parsed == "application/pdf" {
		policy = pdfPolicy
	}
	c.Response().Header.SetContentType(contentType)
	c.Set("Content-Disposition", storage.Disposition(contentType, d.Filename))
	c.Set("Content-Security-Policy", policy)
}

// sending is a file on its way to a client. If possible, the kernel moves it from the
// disk to the network.
type sending struct {
	contents *io.LimitedReader
	object   *disk.Object
	client   net.Conn
	transfer *budget.Held
	end      func()
}

// piece is how much of a file is sent between two looks at the pace of its client. A client that is too slow can request
// the rest by its range.
const piece = 64 << 10

// Read implements io.Reader. The sender calls WriteTo.
func (s *sending) Read(p []byte) (int, error) { return s.contents.Read(p) }

// WriteTo sends the file, piece by piece.
func (s *sending) WriteTo(w io.Writer) (sent int64, err error) {
	listener.LimitUnsent(s.client)
	all, pace := s.contents.N, request.NewPace(request.TransferReserve, time.Now())
	for sent < all {
		s.contents.N = min(piece, all-sent)
		if err := s.client.SetWriteDeadline(pace.Until(s.contents.N)); err != nil {
			return sent, err
		}
		n, err := io.Copy(w, s.contents)
		sent += n
		pace.Moved(n, time.Now())
		if err != nil {
			return sent, err
		}
		if n == 0 {
			return sent, io.ErrUnexpectedEOF
		}
	}
	return sent, nil
}

// Close ends the sending, complete or not.
func (s *sending) Close() error {
	s.transfer.Release()
	s.end()
	return s.object.Close()
}
