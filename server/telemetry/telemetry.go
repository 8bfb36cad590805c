package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sternpost/sternpost/server/config"
)

// NewLog returns the default log of a mode: lines for machines in production, for people
// in development.
func NewLog(mode config.Mode, out io.Writer) *slog.Logger {
	if mode == config.Development {
		return slog.New(slog.NewTextHandler(out, nil))
	}
	return slog.New(slog.NewJSONHandler(out, nil))
}

// Connections counts connections.
type Connections struct {
	Open, InUse, Max int
	Shared           int // of the open ones: for reads that share them
}

// Telemetry provides metrics and, if the environment configures them, traces.
type Telemetry struct {
	Registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	Release  prometheus.Gauge
	Ready    prometheus.Gauge
	actions  sync.Map // name → *actionMetrics

	tracer   trace.Tracer // nil disables traces
	provider *sdktrace.TracerProvider
}

// Action has the metrics of one action, looked up once. Most counts are successes.
type Action struct {
	name      string
	succeeded prometheus.Counter
	duration  prometheus.Observer
}

// New starts the telemetry. database counts connections, running the requests in progress;
// environ holds the variables of OpenTelemetry.
func New(ctx context.Context, database func() Connections, running prometheus.GaugeFunc, environ []string) (*Telemetry, error) {
	t := &Telemetry{
		Registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sternpost_requests_total",
			Help: "Requests answered, by action (empty for other routes) and status.",
		}, []string{"action", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "sternpost_request_duration_seconds",
			Help:    "Time from the end of reading a request to its answer, by action.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"action"}),
		Release: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sternpost_release_number", Help: "The schema release that is served.",
		}),
		Ready: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sternpost_ready", Help: "1 while requests should be sent here.",
		}),
	}
	gauge := func(name, help string, value func(Connections) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			return float64(value(database()))
		})
	}
	t.Registry.MustRegister(
		t.requests, t.duration, t.Release, t.Ready, running,
		gauge("sternpost_database_connections", "Connections to the database.", func(c Connections) int { return c.Open }),
		gauge("sternpost_database_connections_in_use", "Connections that run a statement.", func(c Connections) int { return c.InUse }),
		gauge("sternpost_database_connections_max", "Connections that there may be.", func(c Connections) int { return c.Max }),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return t, t.startTraces(ctx, environ)
}

// Action returns the metrics of the action of that name.
func (t *Telemetry) Action(name string) *Action {
	if m, ok := t.actions.Load(name); ok {
		return m.(*Action)
	}
	m, _ := t.actions.LoadOrStore(name, &Action{
		name:      name,
		succeeded: t.requests.WithLabelValues(name, "200"),
		duration:  t.duration.WithLabelValues(name),
	})
	return m.(*Action)
}

// Count counts a request. m is nil for a request without action.
func (t *Telemetry) Count(m *Action, status int, took time.Duration) {
	name := ""
	if m != nil {
		m.duration.Observe(took.Seconds())
		if status == http.StatusOK {
			m.succeeded.Inc()
			return
		}
		name = m.name
	}
	t.requests.WithLabelValues(name, strconv.Itoa(status)).Inc()
}

// Handler answers with the metrics.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(t.Registry, promhttp.HandlerOpts{})
}

// startTraces starts tracing iff the standard variables of OpenTelemetry name a target
// for spans.
func (t *Telemetry) startTraces(ctx context.Context, environ []string) error {
	env := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	exporter := env["OTEL_TRACES_EXPORTER"]
	asked := exporter == "otlp" || env["OTEL_EXPORTER_OTLP_ENDPOINT"] != "" || env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] != ""
	if !asked && exporter == "" || exporter == "none" || strings.EqualFold(env["OTEL_SDK_DISABLED"], "true") {
		return nil
	}
	if exporter != "" && exporter != "otlp" {
		return fmt.Errorf("OTEL_TRACES_EXPORTER: %s is not supported, only otlp and none", exporter)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := env[name]; p != "" && p != "http/protobuf" {
			return fmt.Errorf("%s: %s is not supported, only http/protobuf", name, p)
		}
	}

	client, err := newCollector(env)
	if err != nil {
		return err
	}
	spans, err := otlptrace.New(ctx, client)
	if err != nil {
		return fmt.Errorf("start the export of traces: %w", err)
	}
	about := resource.Default()
	if env["OTEL_SERVICE_NAME"] == "" {
		about, err = resource.Merge(about, resource.NewSchemaless(attribute.String("service.name", "sternpost")))
		if err != nil {
			return fmt.Errorf("start the export of traces: %w", err)
		}
	}
	t.Trace(sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(about)))
	return nil
}

// Trace sends spans to a provider.
func (t *Telemetry) Trace(provider *sdktrace.TracerProvider) {
	t.provider = provider
	t.tracer = provider.Tracer("github.com/sternpost/sternpost/server")
}

// Stop sends the remaining spans.
func (t *Telemetry) Stop(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// StartSpan begins the span of a request, as a child of the span in the client's
// traceparent, and returns its own in the same header. Its attributes hold neither
// headers nor query strings, which contain inputs. The span is nil if tracing is off.
func (t *Telemetry) StartSpan(rc *fasthttp.RequestCtx, requestID string) trace.Span {
	if t.tracer == nil {
		return nil
	}
	var carrier propagation.TraceContext
	in := propagation.MapCarrier{
		"traceparent": string(rc.Request.Header.Peek("Traceparent")),
		"tracestate":  string(rc.Request.Header.Peek("Tracestate")),
	}
	ctx, span := t.tracer.Start(carrier.Extract(context.Background(), in), string(rc.Method()),
		trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(
			attribute.String("http.request.method", string(rc.Method())),
			attribute.String("sternpost.request_id", requestID),
		))
	out := propagation.MapCarrier{}
	carrier.Inject(ctx, out)
	rc.Response.Header.Set("Traceparent", out["traceparent"])
	return span
}

// EndSpan completes the span of a request.
func EndSpan(span trace.Span, m *Action, status int) {
	if span == nil {
		return
	}
	if m != nil {
		span.SetName(m.name)
		span.SetAttributes(attribute.String("sternpost.action", m.name))
	}
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= 500 {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
