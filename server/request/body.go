package request

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/refusal"
)

// body is the body of a request. It is read only when a handler needs it. So a request
// that its path or its token refuses does not wait for its body, and uses no memory for
// it. It is an io.Reader: a body that is too long, too slow or broken ends with a
// refusal.
type body struct {
	stream  io.Reader // nil without a body
	client  net.Conn
	length  int64 // as announced, or inChunks
	limit   int64
	pace    Pace
	arrived int64
	end     error  // io.EOF after all of it, else the failure; nil while there is more
	content []byte // the result of all
}

// inChunks is the length of a body that does not announce one.
const inChunks = -1

const (
	// bodyReserve is how long a client may pause that sends the body of a call.
	bodyReserve = 10 * time.Second
	// smallBody is the length up to which a body is always read: about the memory of a
	// connection.
	smallBody = 16 << 10
	// unwantedBody limits the rest of a body that is skipped, so that its connection can
	// continue, and skipTime the time for that.
	unwantedBody = 64 << 10
	skipTime     = time.Second
)

// WithholdBody is called after the header of a request has been read. It hides the length
// of the body from fasthttp, which would wait for its beginning; OpenBody restores it.
func WithholdBody(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if length, ok := readFraming(header); ok && length > 0 {
		header.SetContentLength(0)
	}
	return fasthttp.RequestConfig{}
}

// OpenBody returns the unread body of a request. It fails if the header is ambiguous
// about the end of the body.
func (p *Policy) OpenBody(rc *fasthttp.RequestCtx) (body, error) {
	header := &rc.Request.Header
	length, ok := readFraming(header)
	if !ok || header.ContentLength() > 0 { // fasthttp has found another body
		return body{}, UnreadableRequest(errors.New("its length is given in two ways"))
	}
	b := body{client: rc.Conn(), length: length, limit: p.BodyLimit(rc.URI().PathOriginal()), pace: NewPace(bodyReserve, rc.Time())}
	if length == 0 {
		b.end = io.EOF
		return b, nil
	}
	if length > 0 {
		header.SetContentLength(int(length))
	}
	if length > b.limit {
		b.end = &refusal.BodyTooLarge
		return b, b.end
	}
	b.stream = rc.Request.BodyStream()
	return b, nil
}

// readFraming reads the length of the body from the header: 0 for none, inChunks if only
// its end tells. It is not ok if the header is ambiguous (RFC 9112, section 6.3):
// fasthttp chooses one length, and a proxy in front may have chosen another, so that the
// following bytes would be a request that no client sent.
func readFraming(in *fasthttp.RequestHeader) (length int64, ok bool) {
	given := 0
	for rest := in.RawHeaders(); len(rest) > 0; {
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line, rest = rest[:end], rest[end+1:]
		} else {
			rest = nil
		}
		if len(line) < len("content-length:") {
			continue
		}
		switch line[0] | 0x20 {
		case 'c':
			if hasName(line, "content-length:") {
				given++
				value, err := strconv.ParseInt(string(bytes.TrimSpace(line[len("content-length:"):])), 10, 63)
				if err != nil || value < 0 {
					return 0, false
				}
				length = value
			}
		case 't':
			if hasName(line, "transfer-encoding:") {
				given++
				if !bytes.EqualFold(bytes.TrimSpace(line[len("transfer-encoding:"):]), []byte("chunked")) {
					return 0, false
				}
				length = inChunks
			}
		}
	}
	return length, given <= 1
}

func hasName(line []byte, name string) bool {
	return len(line) >= len(name) && bytes.EqualFold(line[:len(name)], []byte(name))
}

// Read reads the available part of the body. Its errors besides io.EOF are refusals.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.readUntil(p, b.pace.Until(0))
	b.pace.Moved(int64(n), time.Now())
	return n, err
}

// IsFile holds the rest of the body to the pace of a transfer.
func (b *body) IsFile() { b.pace = NewPace(TransferReserve, time.Now()) }

func (b *body) readUntil(p []byte, until time.Time) (int, error) {
	if b.end != nil || len(p) == 0 {
		return 0, b.end
	}
	if err := b.client.SetReadDeadline(until); err != nil {
		b.end = brokenBody(err)
		return 0, b.end
	}
	n, err := b.stream.Read(p)
	b.arrived += int64(n)
	switch {
	case b.arrived > b.limit:
		b.end = &refusal.BodyTooLarge
	case b.arrived == b.length, err == io.EOF && b.length == inChunks && !listener.HasEnded(b.client):
		b.end = io.EOF
	case err == io.EOF:
		b.end = brokenBody(io.ErrUnexpectedEOF)
	case err != nil:
		b.end = brokenBody(err)
	}
	return n, b.end
}

// brokenBody returns the refusal of a body that does not arrive. The error of fasthttp
// may quote the body, and is not repeated.
func brokenBody(err error) *refusal.Refusal {
	if isTimeout(err) {
		r := refusal.InputMalformed.With(errors.New(WhyUnreadable(err))).Saying("the input could not be read: it arrived too slowly")
		r.Close = true
		return r
	}
	return UnreadableRequest(errors.New(WhyUnreadable(err)))
}

// all reads the body to its end. Its buffer grows with the data, and hold must approve
// more than a small body needs.
func (b *body) all(hold func(bytes int64) error) ([]byte, error) {
	for b.end == nil {
		if len(b.content) == cap(b.content) {
			if err := b.grow(hold); err != nil {
				return nil, err
			}
		}
		n, _ := b.Read(b.content[len(b.content):cap(b.content)])
		b.content = b.content[:len(b.content)+n]
	}
	if b.end != io.EOF {
		return nil, b.end
	}
	return b.content, nil
}

// grow doubles the buffer.
func (b *body) grow(hold func(bytes int64) error) error {
	size := max(4<<10, 2*int64(cap(b.content)))
	if b.length != inChunks {
		size = min(size, b.length)
	}
	if size > smallBody {
		if err := hold(size - int64(cap(b.content))); err != nil {
			return err
		}
	}
	larger := make([]byte, len(b.content), size)
	copy(larger, b.content)
	b.content = larger
	return nil
}

// skip reads the rest of an unwanted body, if that is short and available. It tells
// whether the connection can take the next request.
func (b *body) skip() bool {
	if b.stream == nil {
		return b.end == io.EOF
	}
	if b.length-b.arrived > unwantedBody {
		return false
	}
	if b.end != nil { // before the scratch is allocated on the heap
		return b.end == io.EOF
	}
	var scratch [4 << 10]byte
	until := time.Now().Add(skipTime)
	for skipped := 0; b.end == nil && skipped <= unwantedBody; {
		n, _ := b.readUntil(scratch[:], until)
		skipped += n
	}
	return b.end == io.EOF
}

// ReadBody returns the body of a request. Its memory counts until the request has been
// answered.
func (p *Policy) ReadBody(c *fiber.Ctx) ([]byte, error) {
	r := Of(c)
	return r.Body.all(func(bytes int64) error {
		if r.held == nil {
			r.held = p.Bodies.Of(p.ClientAddress(c))
		}
		return r.held.Take(bytes)
	})
}

// CloseBody ends the body of an answered request: either its rest is skipped, or the
// connection ends.
func CloseBody(rc *fasthttp.RequestCtx, r *Request) {
	r.held.Release()
	if !rc.Response.ConnectionClose() && r.Body.skip() {
		return
	}
	rc.SetConnectionClose()
	if r.Body.end != io.EOF {
		listener.Linger(rc.Conn())
	}
}
