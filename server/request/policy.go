package request

import (
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/sternpost/sternpost/server/budget"
)

// Policy is the rules for every request, independent of its path: size limits, trusted
// proxies, and which pages may read the answers.
type Policy struct {
	PolicyOptions
	StrictTransport bool
	own             string // the origin of our own pages
	anyOrigin       bool
	untrusted       sync.Once // for the warning about an untrusted X-Forwarded-For
}

// PolicyOptions configure a policy.
type PolicyOptions struct {
	BaseURL       string
	IsDevelopment bool
	Origins       []string       // may read responses in a browser
	Trusted       []netip.Prefix // proxies with a trusted X-Forwarded-For
	Bodies        *budget.Budget
	Log           *slog.Logger

	BodyLimit     func(path []byte) int64 // the maximum length of a request body
	IsOAuth       func(path []byte) bool  // whether errors have the form of RFC 6749
	IsOutsideCORS func(path []byte) bool  // whether pages of other origins may not read answers
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
