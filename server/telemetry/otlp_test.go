package telemetry

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// TestCollector sends a span to a collector behind TLS that is overloaded at first, as the standard variables say.
func TestCollector(t *testing.T) {
	t.Parallel()
	var statuses []int
	var got []string
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(statuses) > 0 {
			w.WriteHeader(statuses[0])
			statuses = statuses[1:]
			return
		}
		zipped, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, _ := io.ReadAll(zipped) // what is cut does not decode
		var sent tracepb.TracesData
		if err := proto.Unmarshal(body, &sent); err != nil || len(sent.ResourceSpans) != 1 {
			t.Errorf("%q: %v", body, err)
			return
		}
		got = append(got, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Api-Key"), sent.ResourceSpans[0].ScopeSpans[0].Spans[0].Name)
	}))
	t.Cleanup(service.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	export := func(env map[string]string) error {
		t.Helper()
		client, err := newCollector(env)
		if err != nil {
			t.Fatal(err)
		}
		exporter, err := otlptrace.New(t.Context(), client)
		if err != nil {
			t.Fatal(err)
		}
		_, span := sdktrace.NewTracerProvider().Tracer("test").Start(t.Context(), "listNotes")
		failed := exporter.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span.(sdktrace.ReadOnlySpan)})
		if err := exporter.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		return failed
	}
	env := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": service.URL + "/base/", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20key, x=y",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_CERTIFICATE": authority,
	}
	statuses = []int{http.StatusServiceUnavailable}
	if err := export(env); err != nil {
		t.Error(err)
	}
	if want := "/base/v1/traces application/x-protobuf a key listNotes"; strings.Join(got, " ") != want {
		t.Errorf("the collector got %q, want %q", got, want)
	}
	env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = service.URL + "/traces"
	statuses = []int{http.StatusBadRequest}
	if err := export(env); err == nil || !strings.Contains(err.Error(), service.URL+"/traces answers 400") {
		t.Errorf("a refusal ends with %v", err)
	}
}

// TestCollectorStops gives up with its context.
func TestCollectorStops(t *testing.T) {
	t.Parallel()
	client, err := newCollector(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := client.UploadTraces(ctx, nil); err == nil {
		t.Error("spans are sent to nowhere")
	}
}

// TestCollectorSettings refuses settings that would send nothing.
func TestCollectorSettings(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"ENDPOINT=localhost:4318":    "OTEL_EXPORTER_OTLP_ENDPOINT: localhost:4318/v1/traces is not an address",
		"HEADERS=secret":             "OTEL_EXPORTER_OTLP_HEADERS: it must be a list",
		"COMPRESSION=zstd":           "OTEL_EXPORTER_OTLP_COMPRESSION: zstd is not supported",
		"TIMEOUT=10s":                "OTEL_EXPORTER_OTLP_TIMEOUT: 10s is not a number of milliseconds",
		"CERTIFICATE=/none":          "read the certificates of OTEL_EXPORTER_OTLP: ",
		"CLIENT_CERTIFICATE=/none":   "read the certificates of OTEL_EXPORTER_OTLP: ",
		"TRACES_COMPRESSION=deflate": "deflate is not supported",
	} {
		name, value, _ := strings.Cut(variable, "=")
		if _, err := newCollector(map[string]string{"OTEL_EXPORTER_OTLP_" + name: value}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", variable, err, want)
		}
	}
}
