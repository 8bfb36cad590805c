package events

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/queue"
)

func hook(url string, change func(*config.Subscriber)) *webhook {
	s := config.Subscriber{Name: "tell", URL: url, Secret: []byte("canary"), Timeout: 5 * time.Second, MaxAttempts: 12, Concurrency: 1, AllowPrivate: true}
	if change != nil {
		change(&s)
	}
	return newWebhook(s)
}

// TestAnswers tells what an answer means: whether the event was taken, and when it is sent again.
func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer func(http.ResponseWriter)
		want   string // part of the failure; empty means success
		wait   time.Duration
	}{
		{name: "200", answer: func(w http.ResponseWriter) { fmt.Fprint(w, "thanks") }},
		{name: "204", answer: func(w http.ResponseWriter) { w.WriteHeader(204) }},
		{name: "a redirect", answer: func(w http.ResponseWriter) { w.Header().Set("Location", "/elsewhere"); w.WriteHeader(307) }, want: "answered 307"},
		{name: "a failure", answer: func(w http.ResponseWriter) { w.WriteHeader(500); fmt.Fprint(w, "a\x00b\xff"+strings.Repeat("c", 5000)) },
			want: "answered 500: a?b?" + strings.Repeat("c", 1020)},
		{name: "busy", answer: func(w http.ResponseWriter) { w.Header().Set("Retry-After", "120"); w.WriteHeader(503) }, want: "answered 503", wait: 2 * time.Minute},
		{name: "busy for long", answer: func(w http.ResponseWriter) { w.Header().Set("Retry-After", "999999"); w.WriteHeader(429) }, want: "answered 429", wait: longest},
		{name: "busy until then", answer: func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
			w.WriteHeader(503)
		}, want: "answered 503", wait: time.Hour},
		{name: "no sense", answer: func(w http.ResponseWriter) { w.Header().Set("Retry-After", "-5"); w.WriteHeader(400) }, want: "answered 400"},
		{name: "gone", answer: func(w http.ResponseWriter) { w.WriteHeader(410) }, want: "answered 410"},
		{name: "nothing", answer: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, want: "EOF"},
		{name: "headers without end", answer: func(w http.ResponseWriter) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }, want: "server response headers exceeded"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					t.Errorf("a redirect was followed to %s", r.URL)
				}
				test.answer(w)
			}))
			defer server.Close()
			err := hook(server.URL, nil).post(t.Context(), []byte(`{"id": "1"}`))
			if (err == nil) != (test.want == "") || err != nil && (!strings.HasPrefix(err.Error(), test.want) && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if err != nil && (len(err.Error()) > 1100 || strings.Contains(err.Error(), server.URL)) {
				t.Errorf("the failure is long, or has the address: %v", err)
			}
			again := new(queue.Again)
			if errors.As(err, &again); again.Wait > test.wait || again.Wait < test.wait-2*time.Second {
				t.Errorf("it is sent again after %s, want %s", again.Wait, test.wait)
			}
		})
	}
}

// TestEndlessAnswer reads 64 KiB of an answer, and no more; one that does not come is given up after the timeout.
func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	sent := make(chan int, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server sees that a client has left once it has read the body
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
			return
		}
		total, block := 0, make([]byte, 64<<10)
		for total < 1<<30 {
			n, err := w.Write(block)
			if total += n; err != nil {
				break
			}
		}
		sent <- total
	}))
	defer server.Close()
	if err := hook(server.URL, nil).post(t.Context(), []byte(`{"id": "1"}`)); err != nil {
		t.Error(err)
	}
	if n := <-sent; n > 64<<20 {
		t.Errorf("%d bytes of the answer were taken", n)
	}
	err := hook(server.URL+"/slow", func(s *config.Subscriber) { s.Timeout = 50 * time.Millisecond }).post(t.Context(), []byte(`{"id": "1"}`))
	if err == nil || err.Error() != "no answer within 50ms" {
		t.Errorf("got %v", err)
	}
}

// TestSignatures signs with each secret, as the example of Standard Webhooks does.
func TestSignatures(t *testing.T) {
	t.Parallel()
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	w := hook("", func(s *config.Subscriber) { s.Secret, s.Previous = key, [][]byte{[]byte("canary")} })
	got := strings.Fields(w.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)))
	if len(got) != 2 || got[0] != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" || !strings.HasPrefix(got[1], "v1,") || got[0] == got[1] {
		t.Errorf("got %q", got)
	}
}

// TestPrivateAddresses calls public addresses only, whatever their name resolves to.
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "2606:4700::1111": true, "64:ff9b::8.8.8.8": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.8.8.8": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "192.0.0.8": false, "198.18.0.1": false, "224.0.0.1": false, "240.0.0.1": false,
		"255.255.255.255": false, "::1": false, "::": false, "fe80::1": false, "fc00::1": false, "fd12::1": false, "ff02::1": false, "fec0::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "64:ff9b::10.0.0.1": false, "64:ff9b:1::1": false, "::127.0.0.1": false,
		"2002:7f00:1::1": false, "2001:0:1::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is public: %t", address, got)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was called") }))
	defer server.Close()
	for _, url := range []string{server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)} {
		err := hook(url, func(s *config.Subscriber) { s.AllowPrivate = false }).post(context.Background(), []byte(`{"id": "1"}`))
		if err == nil || !strings.Contains(err.Error(), "is not a public address") {
			t.Errorf("%s: got %v", url, err)
		}
	}
}
