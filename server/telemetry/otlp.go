package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector sends spans by OTLP over HTTP. OpenTelemetry's own client would bring gRPC along.
type collector struct {
	url    string
	header http.Header
	isGzip bool
	client http.Client
}

// newCollector reads the standard variables, of which those for traces come before those for all signals.
func newCollector(env map[string]string) (*collector, error) {
	value := func(name string) string {
		return cmp.Or(env["OTEL_EXPORTER_OTLP_TRACES_"+name], env["OTEL_EXPORTER_OTLP_"+name])
	}
	c := &collector{url: env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"], header: http.Header{}}
	if c.url == "" {
		c.url = strings.TrimSuffix(cmp.Or(env["OTEL_EXPORTER_OTLP_ENDPOINT"], "http://localhost:4318"), "/") + "/v1/traces"
	}
	if u, err := url.Parse(c.url); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %s is not an address such as http://localhost:4318", c.url)
	}
	for pair := range strings.SplitSeq(value("HEADERS"), ",") {
		name, text, isPair := strings.Cut(pair, "=")
		text, err := url.PathUnescape(strings.TrimSpace(text))
		if err != nil || !isPair && strings.TrimSpace(pair) != "" {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS: it must be a list such as name=value,name=value")
		}
		if isPair {
			c.header.Set(strings.TrimSpace(name), text)
		}
	}
	c.header.Set("Content-Type", "application/x-protobuf")
	switch compression := value("COMPRESSION"); compression {
	case "", "none":
	case "gzip":
		c.isGzip = true
		c.header.Set("Content-Encoding", "gzip")
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_COMPRESSION: %s is not supported, only gzip and none", compression)
	}
	limit, err := strconv.Atoi(cmp.Or(value("TIMEOUT"), "10000"))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT: %s is not a number of milliseconds", value("TIMEOUT"))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if transport.TLSClientConfig, err = clientTLS(value("CERTIFICATE"), value("CLIENT_CERTIFICATE"), value("CLIENT_KEY")); err != nil {
		return nil, fmt.Errorf("read the certificates of OTEL_EXPORTER_OTLP: %w", err)
	}
	c.client = http.Client{Transport: transport, Timeout: time.Duration(limit) * time.Millisecond}
	return c, nil
}

// clientTLS reads the authority that has signed the collector's certificate, and the certificate for this server.
func clientTLS(authority, certificate, key string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		text, err := os.ReadFile(authority)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", authority)
		}
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Start does nothing.
func (c *collector) Start(context.Context) error { return nil }

// Stop closes the idle connections.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// firstPause is the time before spans are sent once more.
const firstPause = time.Second

// UploadTraces sends spans, again if the collector is away or overloaded, until ctx ends.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}) // as the request of the collector is encoded
	if err != nil {
		return err
	}
	if c.isGzip {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, _ = w.Write(body) // to memory
		_ = w.Close()
		body = zipped.Bytes()
	}
	for pause := firstPause; ; pause *= 2 {
		after, err := c.send(ctx, body)
		if err == nil || after < 0 {
			return err
		}
		select {
		case <-time.After(max(after, pause)):
		case <-ctx.Done():
			return err
		}
	}
}

// overloads are the statuses after which a request is sent again.
var overloads = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// send sends a request. After an error, it returns the least time before the next; negative means that there is no use in one.
func (c *collector) send(ctx context.Context, body []byte) (after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	r.Header = c.header
	answer, err := c.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20)) // so that the connection can be used again
	if answer.StatusCode < http.StatusMultipleChoices {
		return 0, nil
	}
	err = fmt.Errorf("the collector at %s answers %s", c.url, answer.Status)
	if !slices.Contains(overloads, answer.StatusCode) {
		return -1, err
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err
}
