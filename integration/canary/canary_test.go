package canary_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/canary"
)

// TestWatch tests that leaks are found in every place, and nothing else is.
func TestWatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		request      string // of a token
		header, body string // of the response
		log          string
		want         string // the one fault; empty means none
	}{
		{name: "nothing", request: "username=ada&password=canary-1", header: "a", body: `{"id":"x1:no"}`, log: "level=INFO path=/auth/token"},
		{name: "in a body", body: `{"pin":"canary-1"}`, want: "the response to POST /auth/token shows"},
		{name: "in another case", body: `{"pin":"CANARY-1"}`, want: "shows"},
		{name: "in a header", header: "canary-1", want: "the response to POST /auth/token shows"},
		{name: "in the log", log: `msg="hash of canary-1"`, want: "the log shows"},
		{name: "a hash", log: "$argon2id$v=19$m=19456", want: "$argon2id$v=19"},
		{name: "a hash in a body", body: "$argon2id$v=19$m=19456", want: "$argon2id$v=19"},
		{name: "what is encrypted", body: `"note":"x1:0123456789abcdef:AAAA"`, want: "x1:0123456789abcdef:"},
		{name: "far behind", body: strings.Repeat("x", 1<<20) + "canary", want: "xxxcanary"},
		{name: "a password without the word", request: "username=ada&password=correct-horse", want: `"correct-horse" of a test has not`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Test", test.header)
				fmt.Fprint(w, test.body)
			}))
			defer service.Close()
			var watch canary.Watch
			client := &http.Client{Transport: watch.Transport(http.DefaultTransport)}
			response, err := client.Post(service.URL+"/auth/token", "application/x-www-form-urlencoded", strings.NewReader(test.request))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			watch.Look("the log", test.log)

			faults := watch.Faults()
			if got := strings.Join(faults, "\n"); len(faults) > 1 || !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
			wantCode := 1
			if test.want == "" {
				wantCode = 0
			}
			if code := watch.Exit(io.Discard, 0); code != wantCode {
				t.Errorf("got exit code %d, want %d", code, wantCode)
			}
			if code := watch.Exit(io.Discard, 2); code != 2 {
				t.Errorf("got exit code %d of tests that fail, want theirs, 2", code)
			}
		})
	}
}
