package server

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/valyala/fasthttp"

	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/server/telemetry"
)

// receive is the outermost layer. It counts and logs every request, and completes its
// answer.
func (s *Server) receive(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(rc *fasthttp.RequestCtx) {
		started := rc.Time() // when its header had been read
		s.inFlight.Add(1)
		defer s.inFlight.Add(-1)

		r, end := request.Begin(rc)
		defer end()
		span := s.telemetry.StartSpan(rc, r.ID)

		s.handle(rc, r, next)
		request.CloseBody(rc, r)
		s.policy.WriteHeaders(rc, r.ID)

		status := rc.Response.StatusCode()
		if r.Refused != nil { // also if it is within the answer to an agent
			status = r.Refused.Status
		}
		if r.Refused != nil && errors.Is(r.Refused.Cause, request.ErrClientLeft) {
			status = statusClientLeft
		}
		s.telemetry.Count(r.Action, status, time.Since(started))
		telemetry.EndSpan(span, r.Action, status)
		s.logRequest(rc, r, status, started)
	}
}

// statusClientLeft is the status under which a request is counted if its client gave up.
// No client sees it.
const statusClientLeft = 499

// handle lets Fiber route the request. A panic is answered like any other internal error.
func (s *Server) handle(rc *fasthttp.RequestCtx, r *request.Request, next fasthttp.RequestHandler) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("panic", "requestId", r.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			s.policy.Answer(rc, r, &refusal.Internal)
		}
	}()
	var err error
	r.Body, err = s.policy.OpenBody(rc)
	switch {
	case s.stopping.Load() && !isProbe(rc.URI().PathOriginal()):
		turnedAway := refusal.Unavailable
		turnedAway.Close = true
		s.policy.Answer(rc, r, &turnedAway)
		return
	case err != nil:
		s.policy.Answer(rc, r, refusal.Of(err))
		return
	case !slices.Contains(fiber.DefaultMethods, string(rc.Method())):
		// Fiber answers an unknown method in its own words. Here it is handled like any
		// method without a route.
		rc.Request.Header.SetMethod(fiber.MethodTrace)
	}
	next(rc)
}

// answerError handles the errors of all handlers.
func (s *Server) answerError(c *fiber.Ctx, err error) error {
	s.policy.Answer(c.Context(), request.Of(c), refusal.Of(err))
	return nil
}

// unreadable answers a request that fasthttp could not read. An empty request gets no
// answer.
func (s *Server) unreadable(rc *fasthttp.RequestCtx, err error) {
	own, _ := rc.Conn().(*listener.Connection)
	if own != nil && !own.Used.Load() {
		own.Close()
		return
	}
	var small *fasthttp.ErrSmallBuffer
	var refused *refusal.Refusal
	switch {
	case errors.As(err, &small):
		refused = refusal.HeaderTooLarge.With(err)
		// fasthttp has forgotten the path, which decides the form of the answer.
		if own != nil {
			rc.Request.SetRequestURI(own.PathOfHead())
		}
	default: // also if the client is too slow
		refused = request.UnreadableRequest(err)
	}
	listener.Linger(rc.Conn())
	r := &request.Request{ID: request.RequestID(rc)}
	s.policy.Answer(rc, r, refused)
	s.policy.WriteHeaders(rc, r.ID)
	s.telemetry.Count(nil, refused.Status, 0)
	s.log.Debug("unreadable request", "requestId", r.ID, "status", refused.Status, "reason", request.WhyUnreadable(err))
}

// logRequest writes one line for a request, with all known details if it failed on our
// side. The line holds neither headers nor inputs.
func (s *Server) logRequest(rc *fasthttp.RequestCtx, r *request.Request, status int, started time.Time) {
	level := slog.LevelDebug
	switch {
	case isProbe(rc.URI().PathOriginal()): // changes of readiness are logged instead
	case status == fiber.StatusInternalServerError:
		level = slog.LevelError
	case status > fiber.StatusInternalServerError, r.Refused != nil && refusal.IsMissingRight(r.Refused.Cause): // the author of the code learns of it only here
		level = slog.LevelWarn
	}
	if !s.log.Enabled(rc, level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("requestId", r.ID),
		slog.String("method", string(rc.Method())),
		slog.String("path", loggedPath(rc)),
		slog.Int("status", status),
		slog.Duration("took", time.Since(started)),
	}
	if r.Refused != nil && r.Refused.Cause != nil {
		attributes = append(attributes, causeOf(r.Refused.Cause)...)
	}
	s.log.LogAttrs(rc, level, "request", attributes...)
}

// loggedPath is the path of a request without the key of an upload: with the key, anyone can
// attach the uploaded file.
func loggedPath(rc *fasthttp.RequestCtx) string {
	path := rc.URI().PathOriginal()
	if bytes.HasPrefix(path, []byte(files.UploadPath)) {
		return files.UploadPath + "…"
	}
	return refusal.Cut(string(path), 200)
}

// causeOf describes an error in full. An error of the database loses only the row that
// broke a constraint, since the row comes from the request.
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
	add("hint", cmp.Or(raised.Hint, refusal.MissingRule(raised)))
	add("where", raised.Where)
	add("schema", raised.SchemaName)
	add("table", raised.TableName)
	add("column", raised.ColumnName)
	add("constraint", raised.ConstraintName)
	return attributes
}
