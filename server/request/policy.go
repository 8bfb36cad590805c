package request

import (
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/sternpost/sternpost/server/budget"
)

// Policy is what holds for every request, whatever its path: how much it may bring, whose
// word counts about where it comes from, and which pages may read what it is answered.
type Policy struct {
	PolicyOptions
	StrictTransport bool
	own             string // the origin of our own pages
	anyOrigin       bool
	untrusted       sync.Once // what is warned of when X-Forwarded-For is not believed
}

// PolicyOptions are what a policy is made of.
type PolicyOptions struct {
	BaseURL       string
	IsDevelopment bool
	Origins       []string       // that may read responses in a browser
	Trusted       []netip.Prefix // proxies whose X-Forwarded-For is believed
	Bodies        *budget.Budget
	Log           *slog.Logger

	BodyLimit     func(path []byte) int64 // how long the body of a request may be
	IsOAuth       func(path []byte) bool  // whether errors have the form of RFC 6749
	IsOutsideCORS func(path []byte) bool  // whether no page of another origin may read answers
}

// NewPolicy makes a policy.
func NewPolicy(o PolicyOptions) *Policy {
	return &Policy{
		PolicyOptions:   o,
		StrictTransport: strings.HasPrefix(o.BaseURL, "https://"),
		own:             ownOrigin(o.BaseURL),
		anyOrigin:       slices.Contains(o.Origins, "*"),
	}
}
