package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/valyala/fasthttp"
)

// request is what is known of a request from its first to its last moment.
type request struct {
	id      string
	client  net.Conn
	body    body
	held    *heldBytes     // of the budget for bodies; nil for nothing
	action  *actionMetrics // nil until it is known
	scratch []byte         // for the context of the call
	result  []byte         // for what the call answers
	refused *refusal       // nil for a success
}

const requestKey = "request"

// keptAnswer is how large an answer may be whose memory is kept for the next one.
const keptAnswer = 64 << 10

// keep keeps the memory of an answer that was copied, for the next request.
func (r *request) keep(answer []byte) {
	if cap(answer) <= keptAnswer {
		r.result = answer
	}
}

// requests keeps those that have ended, for the sake of their scratch space.
var requests = sync.Pool{New: func() any { return &request{scratch: make([]byte, 0, 256)} }}

func requestOf(c *fiber.Ctx) *request {
	return c.Context().UserValue(requestKey).(*request)
}

// receive is the outermost layer: around whatever happens to a request it counts,
// logs and completes the answer.
func (s *Server) receive(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(rc *fasthttp.RequestCtx) {
		started := time.Now()
		s.inFlight.Add(1)
		defer s.inFlight.Add(-1)

		r := requests.Get().(*request)
		*r = request{id: requestID(rc), client: rc.Conn(), scratch: r.scratch[:0], result: r.result[:0]}
		defer func() {
			*r = request{scratch: r.scratch, result: r.result}
			requests.Put(r)
		}()
		rc.SetUserValue(requestKey, r)
		if own, ok := r.client.(*connection); ok {
			own.works()
		}
		span := s.telemetry.startSpan(rc, r.id)

		s.handle(rc, r, next)
		s.closeBody(rc, r)
		s.headers.write(rc, r.id)

		status := rc.Response.StatusCode()
		if r.refused != nil && errors.Is(r.refused.cause, errClientLeft) {
			status = statusClientLeft
		}
		s.telemetry.count(r.action, status, time.Since(started))
		endSpan(span, r.action, status)
		s.logRequest(rc, r, status, started)
	}
}

// statusClientLeft is how a request is counted that was given up by its client; no
// client sees it.
const statusClientLeft = 499

// handle lets Fiber route the request. A panic is answered like any other error of
// ours.
func (s *Server) handle(rc *fasthttp.RequestCtx, r *request, next fasthttp.RequestHandler) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("panic", "requestId", r.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			r.answer(rc, &internal)
		}
	}()
	var err error
	r.body, err = s.openBody(rc)
	switch {
	case s.stopping.Load() && !isProbe(rc.URI().PathOriginal()):
		turnedAway := unavailable
		turnedAway.close = true
		r.answer(rc, &turnedAway)
		return
	case err != nil:
		r.answer(rc, refuse(err))
		return
	case !slices.Contains(fiber.DefaultMethods, string(rc.Method())):
		// Fiber answers a method it does not know in its own words. For us it is one
		// like others that no route has.
		rc.Request.Header.SetMethod(fiber.MethodTrace)
	}
	next(rc)
}

// answerError is where the errors of all handlers end.
func (s *Server) answerError(c *fiber.Ctx, err error) error {
	requestOf(c).answer(c.Context(), refuse(err))
	return nil
}

// unreadable answers what fasthttp could not read as a request. Where nothing was sent,
// there is nothing to answer.
func (s *Server) unreadable(rc *fasthttp.RequestCtx, err error) {
	own, _ := rc.Conn().(*connection)
	if own != nil && !own.used.Load() {
		own.Close()
		return
	}
	var small *fasthttp.ErrSmallBuffer
	var refused *refusal
	switch {
	case errors.As(err, &small):
		refused = headerTooLarge.with(err)
		// fasthttp has forgotten the path, on which the form of the answer depends.
		if own != nil {
			rc.Request.SetRequestURI(own.pathOfHead())
		}
	default: // also if the client is too slow
		refused = unreadableRequest(err)
	}
	linger(rc)
	r := &request{id: requestID(rc)}
	r.answer(rc, refused)
	s.headers.write(rc, r.id)
	s.telemetry.count(nil, refused.status, 0)
	s.log.Debug("unreadable request", "requestId", r.id, "status", refused.status, "reason", whyUnreadable(err))
}

// whyUnreadable says what is wrong with a request, for the log. What fasthttp says of it
// quotes it, and it may hold a token.
func whyUnreadable(err error) string {
	var small *fasthttp.ErrSmallBuffer
	switch {
	case errors.As(err, &small):
		return "its header is too long"
	case isTimeout(err):
		return "it took too long to arrive"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ended early"
	}
	return "it is malformed"
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// linger lets the answer arrive although the client may still be sending.
func linger(rc *fasthttp.RequestCtx) {
	if own, ok := rc.Conn().(*connection); ok {
		own.linger.Store(true)
	}
}

func unreadableRequest(cause error) *refusal {
	r := inputMalformed.with(cause).saying("the input could not be read: not a valid HTTP request")
	r.close = true
	return r
}

// retryAfter is how long clients are asked to wait, in seconds, unless a refusal
// says it. What makes a server unavailable is mostly over within moments.
const retryAfter = "1"

// answer writes a refusal as the response.
func (r *request) answer(rc *fasthttp.RequestCtx, refused *refusal) {
	body := refused.envelope
	if isOAuth(rc.URI().PathOriginal()) {
		refused = refused.asOAuth()
		body = refused.oauthBody
	}
	r.refused = refused
	out := &rc.Response
	out.ResetBody()
	out.SetStatusCode(refused.status)
	out.Header.SetContentType(jsonType)
	out.SetBodyRaw(body())
	if refused.allow != "" {
		out.Header.Set("Allow", refused.allow)
	}
	if refused.authenticate != "" {
		out.Header.Set("WWW-Authenticate", refused.authenticate)
	}
	if refused.status == fiber.StatusServiceUnavailable || refused.status == fiber.StatusTooManyRequests {
		out.Header.Set("Retry-After", refused.retrySeconds())
	}
	if refused.close {
		out.SetConnectionClose()
	}
}

func sendJSON(c *fiber.Ctx, status int, body string) error {
	c.Status(status)
	c.Response().Header.SetContentType(jsonType)
	if status == fiber.StatusServiceUnavailable {
		c.Set("Retry-After", retryAfter)
	}
	c.Response().SetBodyString(body)
	return nil
}

// logRequest writes one line for a request, and for one that failed on our side all
// that is known. Neither headers nor inputs are among it.
func (s *Server) logRequest(rc *fasthttp.RequestCtx, r *request, status int, started time.Time) {
	level := slog.LevelDebug
	switch {
	case isProbe(rc.URI().PathOriginal()): // readiness is logged where it changes
	case status == fiber.StatusInternalServerError:
		level = slog.LevelError
	case status > fiber.StatusInternalServerError:
		level = slog.LevelWarn
	case r.refused != nil && isMissingRight(r.refused.cause): // whoever wrote the code cannot learn of it otherwise
		level = slog.LevelWarn
	}
	if !s.log.Enabled(rc, level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("requestId", r.id),
		slog.String("method", string(rc.Method())),
		slog.String("path", cut(string(rc.URI().PathOriginal()), 200)),
		slog.Int("status", status),
		slog.Duration("took", time.Since(started)),
	}
	if r.refused != nil && r.refused.cause != nil {
		attributes = append(attributes, causeOf(r.refused.cause)...)
	}
	s.log.LogAttrs(rc, level, "request", attributes...)
}

// causeOf describes an error in full. Of the database's, all but the row that broke
// a constraint, which is the request's.
func causeOf(err error) []slog.Attr {
	attributes := []slog.Attr{slog.String("error", err.Error())}
	var raised *pgconn.PgError
	if !errors.As(err, &raised) {
		return attributes
	}
	add := func(name, value string) {
		if value != "" {
			attributes = append(attributes, slog.String(name, value))
		}
	}
	add("sqlstate", raised.Code)
	if len(raised.Code) < 2 || raised.Code[:2] != "23" {
		add("detail", raised.Detail)
	}
	add("hint", raised.Hint)
	add("where", raised.Where)
	add("schema", raised.SchemaName)
	add("table", raised.TableName)
	add("column", raised.ColumnName)
	add("constraint", raised.ConstraintName)
	return attributes
}
