// Package canary looks for passwords and secrets in all output of a package's tests:
// responses and logs. Passwords and secrets of tests have the word canary in them, so
// that they are recognised everywhere.
package canary

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// leak matches passwords and secrets, as tests send them and as they are stored.
var leak = regexp.MustCompile(`(?i)canary|\$argon2id\$|\bx1:[0-9a-f]{16}:`)

// Watch collects its findings. Its zero value is ready; it may be used concurrently.
type Watch struct {
	mu     sync.Mutex
	seen   int // texts that were looked at
	faults []string
}

// Look looks at a text of the output. Where says what it is.
func (w *Watch) Look(where, text string) {
	var at []int
	// Few texts have such a word. The expression alone would take a quarter of the processor that tests of lists take.
	if strings.Contains(strings.ToLower(text), "canary") || strings.Contains(text, "$argon2id$") || strings.Contains(text, "x1:") {
		at = leak.FindStringIndex(text)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen++
	if at != nil {
		w.fault("%s shows a password or secret: …%s", where, text[max(0, at[0]-200):min(len(text), at[1]+100)])
	}
}

func (w *Watch) fault(format string, args ...any) {
	if len(w.faults) < 20 {
		w.faults = append(w.faults, fmt.Sprintf(format, args...))
	}
}

// Faults returns the findings, or the first of many.
func (w *Watch) Faults() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults
}

// Exit is for the end of TestMain: it prints the findings and returns the exit code.
func (w *Watch) Exit(out io.Writer, code int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(out, "%d responses and pieces of logs were searched for passwords and secrets\n", w.seen)
	for _, f := range w.faults {
		fmt.Fprintln(out, "FAIL: "+f)
	}
	if len(w.faults) > 0 && code == 0 {
		return 1
	}
	return code
}

// Transport returns a transport that looks at each response, its header and its body.
// It requires the word in the password of token requests.
func (w *Watch) Transport(inner http.RoundTripper) http.RoundTripper {
	return &transport{inner, w}
}

type transport struct {
	http.RoundTripper
	watch *Watch
}

// CloseIdleConnections closes those of the inner transport.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip sends a request.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if password := passwordOf(request); password != "" && !leak.MatchString(password) {
		t.watch.mu.Lock()
		t.watch.fault("%s %s: the password %q of a test has not the word canary in it", request.Method, request.URL, password)
		t.watch.mu.Unlock()
	}
	response, err := t.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	where := fmt.Sprintf("the response to %s %s", request.Method, request.URL.Path)
	var header strings.Builder
	response.Header.Write(&header)
	t.watch.Look(where, header.String())
	response.Body = &body{ReadCloser: response.Body, watch: t.watch, where: where}
	return response, nil
}

// passwordOf returns the password of a token request.
func passwordOf(request *http.Request) string {
	if request.GetBody == nil || !strings.HasSuffix(request.URL.Path, "/auth/token") {
		return ""
	}
	copied, err := request.GetBody()
	if err != nil {
		return ""
	}
	defer copied.Close()
	text, err := io.ReadAll(copied)
	if err != nil {
		return ""
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return ""
	}
	return form.Get("password")
}

// body looks at the text read from a body, once it is closed.
type body struct {
	io.ReadCloser
	watch *Watch
	where string
	read  strings.Builder
	once  sync.Once
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Write(p[:n])
	if err != nil {
		b.look()
	}
	return n, err
}

func (b *body) Close() error {
	b.look()
	return b.ReadCloser.Close()
}

func (b *body) look() {
	b.once.Do(func() { b.watch.Look(b.where, b.read.String()) })
}
