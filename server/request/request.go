package request

import (
	"io"
	"net"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/sternpost/sternpost/server/budget"
	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/telemetry"
)

// Request is the state of a request from beginning to end.
type Request struct {
	ID      string
	Client  net.Conn
	Body    body
	held    *budget.Held      // from the budget for bodies; nil for none
	Action  *telemetry.Action // nil until the action is known
	Scratch []byte            // for the context of the call
	Result  []byte            // for the answer of the call
	Refused *refusal.Refusal  // nil for success
}

// Substitute makes a part of the body the body, for those who read it next. The returned function makes it the whole again.
func (r *Request) Substitute(part []byte) (restore func()) {
	whole := r.Body
	r.Body = body{content: part, end: io.EOF, arrived: int64(len(part)), length: int64(len(part))}
	return func() { r.Body = whole }
}

const requestKey = "request"

// keptAnswer limits an answer whose memory is reused for the next one.
const keptAnswer = 64 << 10

// Give makes an answer the body of the response, without a copy. In exchange, the next answer gets the memory of the
// response, unless the answer is large: fasthttp would keep its memory with the connection, when nothing accounts for it any more.
func (r *Request) Give(answer []byte, response *fasthttp.Response) {
	if cap(answer) > keptAnswer {
		r.Result = nil
		response.SetBodyRaw(answer)
		return
	}
	r.Result = response.SwapBody(answer)
}

// requests keeps those that have ended, for the sake of their scratch space.
var requests = sync.Pool{New: func() any { return &Request{Scratch: make([]byte, 0, 256)} }}

// Of returns the request that a handler answers.
func Of(c *fiber.Ctx) *Request {
	return c.Context().UserValue(requestKey).(*Request)
}

// Begin begins a request. end must be called when it has been answered.
func Begin(rc *fasthttp.RequestCtx) (r *Request, end func()) {
	r = requests.Get().(*Request)
	*r = Request{ID: RequestID(rc), Client: rc.Conn(), Scratch: r.Scratch[:0], Result: r.Result[:0]}
	rc.SetUserValue(requestKey, r)
	if own, ok := r.Client.(*listener.Connection); ok {
		own.Works()
	}
	return r, func() {
		*r = Request{Scratch: r.Scratch, Result: r.Result}
		requests.Put(r)
	}
}

// Answer writes a refusal as the response.
func (p *Policy) Answer(rc *fasthttp.RequestCtx, r *Request, refused *refusal.Refusal) {
	body := refused.Envelope
	if p.IsOAuth(rc.URI().PathOriginal()) {
		refused = refused.AsOAuth()
		body = refused.OAuthBody
	}
	r.Refused = refused
	out := &rc.Response
	out.ResetBody()
	out.SetStatusCode(refused.Status)
	out.Header.SetContentType(JSONType)
	out.SetBodyRaw(body())
	if refused.Allow != "" {
		out.Header.Set("Allow", refused.Allow)
	}
	if refused.Authenticate != "" {
		out.Header.Set("WWW-Authenticate", refused.Authenticate)
	}
	if refused.Status == fiber.StatusServiceUnavailable && !refused.IsUnknown || refused.Status == fiber.StatusTooManyRequests {
		out.Header.Set("Retry-After", refused.RetrySeconds())
	}
	if refused.Close {
		out.SetConnectionClose()
	}
}

// SendJSON answers with JSON.
func SendJSON(c *fiber.Ctx, status int, body string) error {
	c.Status(status)
	c.Response().Header.SetContentType(JSONType)
	if status == fiber.StatusServiceUnavailable {
		c.Set("Retry-After", refusal.RetryAfter)
	}
	c.Response().SetBodyString(body)
	return nil
}
