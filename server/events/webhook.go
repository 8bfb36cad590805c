package events

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/queue"
)

const (
	answerRead = 64 << 10      // bytes of an answer that are read
	answerKept = 1 << 10       // bytes of an answer that are kept of a failure
	longest    = 6 * time.Hour // between two tries
	deepest    = 15            // subscribers that may lead to an event
)

// webhook is an address that events are sent to.
type webhook struct {
	config.Subscriber
	client  *http.Client
	slots   chan struct{} // one for each event that is being sent
	queue   *queue.Queue  // of the events that could not be sent
	reading atomic.Bool
}

// newWebhook makes a webhook that does not follow redirects, and does not use proxies: they would send events elsewhere.
func newWebhook(s config.Subscriber) *webhook {
	dialer := &net.Dialer{}
	if !s.AllowPrivate {
		dialer.Control = refusePrivate
	}
	return &webhook{Subscriber: s, slots: make(chan struct{}, s.Concurrency), client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxIdleConnsPerHost: s.Concurrency, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: answerRead,
		},
	}}
}

// errGone is the answer of an address that wants no more events.
var errGone = errors.New("answered 410: it wants no more events")

// post sends an event. It succeeds if the answer is 2xx.
func (w *webhook) post(ctx context.Context, event json.RawMessage) error {
	var named struct{ ID string }
	if err := json.Unmarshal(event, &named); err != nil {
		return fmt.Errorf("read the event: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(event))
	if err != nil {
		return err
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	request.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"Sternpost"},
		"Webhook-Id": {named.ID}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {w.sign(named.ID, stamp, event)},
	}
	response, err := w.client.Do(request)
	if inURL := (*url.Error)(nil); errors.As(err, &inURL) { // its text has the address, which may hold a secret
		err = inURL.Err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %s", w.Timeout)
	case err != nil:
		return err
	}
	defer response.Body.Close()
	kept, _ := io.ReadAll(io.LimitReader(response.Body, answerKept))
	_, _ = io.CopyN(io.Discard, response.Body, answerRead-answerKept) // so that the connection is used again
	switch code := response.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusGone:
		return errGone
	default:
		answer := strings.ReplaceAll(strings.ToValidUTF8(string(kept), "?"), "\x00", "?")
		return &queue.Again{Reason: strings.TrimSpace(fmt.Sprintf("answered %d: %s", code, answer)), Wait: retryAfter(response.Header)}
	}
}

// sign returns the signatures of Standard Webhooks, one for each secret.
func (w *webhook) sign(id, stamp string, event []byte) string {
	var all []string
	for _, secret := range append([][]byte{w.Secret}, w.Previous...) {
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%s.%s.%s", id, stamp, event)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}

// retryAfter returns the wait that an answer asks for, in seconds or up to a moment.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	var wait time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), longest)
}

// refusePrivate refuses a connection to this machine or to a private network. It sees the address after the resolution
// of its name, so that a name cannot lead there either.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	resolved, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(resolved.Addr()) {
		return fmt.Errorf("%s is not a public address: set allowPrivate if it may be called", address)
	}
	return nil
}

var (
	reserved = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32"),
		netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
	}
	translated = netip.MustParsePrefix("64:ff9b::/96") // addresses of IPv4, in their last four bytes
)

func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	if translated.Contains(a) {
		bytes := a.As16()
		a = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate()
}
