package config

import (
	"strings"
	"testing"
	"time"
)

const (
	hookSecret  = "whsec_Y2FuYXJ5IGtleSBvZiBhIHdlYmhvb2shIQ=="
	otherSecret = "whsec_YW5vdGhlciBjYW5hcnkga2V5LCBhIHdlYmhvb2s="
)

// TestSubscribers reads the webhooks of a file and of the environment, with the defaults of the mode.
func TestSubscribers(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "sternpost.yaml", `
mode: development
subscribers:
  tellWarehouse:
    url: http://127.0.0.1:9000/hook
    secret: `+otherSecret+`
    previousSecrets: [`+otherSecret+`]
    timeout: 2.5
    maxAttempts: 3
    concurrency: 4
    allowPrivate: false
  tellShop: {url: https://shop.example.com/hook}
`)
	secret := writeFile(t, "secret", hookSecret+"\n")
	c, err := Load(Source{File: file, Env: []string{"SUBSCRIBER_SECRET_TELL_WAREHOUSE_FILE=" + secret}})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Subscribers) != 2 {
		t.Fatalf("got %+v", c.Subscribers)
	}
	s := c.Subscribers[0]
	if s.Name != "tellWarehouse" || s.URL != "http://127.0.0.1:9000/hook" || string(s.Secret) != "canary key of a webhook!!" || len(s.Previous) != 1 ||
		s.Timeout != 2500*time.Millisecond || s.MaxAttempts != 3 || s.Concurrency != 4 || s.AllowPrivate {
		t.Errorf("tellWarehouse: %+v", s)
	}
	s = c.Subscribers[1]
	if s.Secret != nil || s.Timeout != 10*time.Second || s.MaxAttempts != 12 || s.Concurrency != 10 || !s.AllowPrivate {
		t.Errorf("tellShop: %+v", s)
	}
}

func TestSubscriberProblems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ file, want string }{
		{"subscribers: {tell: {secret: " + hookSecret + "}}", "subscribers.tell: url is required"},
		{"subscribers: {tell: {url: http://shop.example.com}}", "url must begin with https:// in production"},
		{"subscribers: {tell: {url: ftp://shop.example.com}}", "is not an address"},
		{"subscribers: {tell: {url: https://ada@shop.example.com}}", "may not have a user name"},
		{"subscribers: {Tell: {url: https://shop.example.com}}", "is not the name of a subscriber"},
		{"subscribers: {tell: {url: https://shop.example.com, secret: canary}}", "secret: the value is not whsec_"},
		{"subscribers: {tell: {url: https://shop.example.com, secret: whsec_Y2FuYXJ5}}", "24 to 64 bytes"},
		{"subscribers: {tell: {url: https://shop.example.com, concurrency: 0}}", "concurrency"},
		{"subscribers: {tell: {url: https://shop.example.com, retries: 3}}", "subscribers.tell.retries: unknown setting"},
		{"subscribers: [tell]", "write settings here"},
	} {
		problems, err := CheckFile(writeFile(t, "sternpost.yaml", "mode: production\n"+test.file+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), test.want) || !strings.HasPrefix(problems[0].Error(), "sternpost.yaml:2:") || strings.Contains(problems[0].Error(), "canary") {
			t.Errorf("%s\ngot %v\nwant %s", test.file, problems, test.want)
		}
	}
}
