package server

import (
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

// healthz answers as long as the process serves.
func (s *Server) healthz(c *fiber.Ctx) error {
	return request.SendJSON(c, http.StatusOK, healthyBody)
}

// readyz answers whether requests should be sent here.
func (s *Server) readyz(c *fiber.Ctx) error {
	status, body := s.readiness()
	return request.SendJSON(c, status, body)
}

const healthyBody = `{"status":"ok"}`

func (s *Server) readiness() (status int, body string) {
	unready := s.unready.Load()
	switch {
	case s.stopping.Load():
		return http.StatusServiceUnavailable, unavailableBody(reasonStopping)
	case unready != nil:
		return http.StatusServiceUnavailable, unavailableBody(unready.reason)
	}
	return http.StatusOK, healthyBody
}

func unavailableBody(reason string) string {
	return `{"status":"unavailable","reason":"` + reason + `"}`
}

// adminHandler serves the listener for operators. It is plain net/http: the metrics come
// as such a handler, and speed does not matter here.
func (s *Server) adminHandler() http.Handler {
	answer := func(w http.ResponseWriter, status int, body string) {
		w.Header().Set("Content-Type", request.JSONType)
		w.Header().Set("Cache-Control", "no-store")
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", refusal.RetryAfter)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.telemetry.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, healthyBody)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		status, body := s.readiness()
		answer(w, status, body)
	})
	return mux
}
