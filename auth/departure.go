package auth

import (
	"cmp"
	"crypto/subtle"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Transaction is a browser that was sent to a provider.
type Transaction struct {
	Hash            []byte // SHA-256 of the state that the provider sends back
	Provider        string
	Target          string // where the browser goes in the end
	IsDynamic       bool   // whether the client named the target
	State           string // of the client; empty means that it sent none
	Challenge       string // of the client; empty means that it sent none
	ChallengeMethod string // S256 or plain, with a challenge
	Nonce           string
	Verifier        string    // ours, towards the provider
	Ends            time.Time // when the browser is too late, by the store's clock
}

// Cookie is one that a browser keeps while it is away. To set one without a value is
// to take it away.
type Cookie struct {
	Name  string // what follows the name that all of them begin with
	Value string
}

const (
	// maxCookie is how long a value may be. Browsers keep 4096 bytes of name, value and,
	// some of them, attributes.
	maxCookie = 3800

	// maxCookies is how much all of them may make up, so that there is room in a header
	// of 16 KiB for the longest address that a sign-in begins with: 3072 bytes, each of
	// them written as three.
	maxCookies = 5120

	// cookieOverhead is what a cookie adds to a header beside its value.
	cookieOverhead = len("__Host-sternpost-signin-0123456789ab-2=; ")
)

// departures are kept by the browsers that are away: a transaction is sealed, so that
// its browser can neither read nor change it, and cut into cookies. Each has cookies of
// its own, for sign-ins that run side by side.
type departures struct {
	own *seal
}

// newDepartures makes the seal of a service. Its key is derived from the signing key,
// which all servers of a service have: a browser may leave from one and come back to
// another. After a new signing key, those who left before it have to begin again.
func newDepartures(signingKey []byte, baseURL string) (*departures, error) {
	seal, err := newSeal(signingKey, baseURL, "sternpost departures")
	if err != nil {
		return nil, err
	}
	return &departures{seal}, nil
}

// content is what is sealed of a transaction, in DER: a state may hold any character.
type content struct {
	Hash            []byte
	Provider        string `asn1:"utf8"`
	Target          string `asn1:"utf8"`
	IsDynamic       bool
	State           string `asn1:"utf8"`
	Challenge       string `asn1:"utf8"`
	ChallengeMethod string `asn1:"utf8"`
	Nonce           string `asn1:"utf8"`
	Verifier        string `asn1:"utf8"`
	Ends            int64  // in microseconds
}

// seal returns the cookies of a transaction.
func (d *departures) seal(t *Transaction) ([]Cookie, error) {
	plain, err := asn1.Marshal(content{
		t.Hash, t.Provider, t.Target, t.IsDynamic, t.State, t.Challenge, t.ChallengeMethod, t.Nonce, t.Verifier, t.Ends.UnixMicro(),
	})
	if err != nil {
		return nil, fmt.Errorf("write a departure: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(d.own.close(plain))

	var cookies []Cookie
	for piece := range slices.Chunk([]byte(text), maxCookie) {
		cookies = append(cookies, Cookie{Name: cookieName(t.Hash, len(cookies)+1), Value: string(piece)})
	}
	return cookies, nil
}

// cookieName is the name of a piece of a departure, counted from 1.
func cookieName(hash []byte, piece int) string {
	id := hex.EncodeToString(hash[:6])
	if piece == 1 {
		return id
	}
	return id + "-" + strconv.Itoa(piece)
}

// open returns the transaction that was sealed into a text, or nil.
func (d *departures) open(text string) *Transaction {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil
	}
	plain, ok := d.own.open(raw)
	if !ok {
		return nil
	}
	var c content
	if rest, err := asn1.Unmarshal(plain, &c); err != nil || len(rest) > 0 {
		return nil
	}
	return &Transaction{
		c.Hash, c.Provider, c.Target, c.IsDynamic, c.State, c.Challenge, c.ChallengeMethod, c.Nonce, c.Verifier, time.UnixMicro(c.Ends),
	}
}

// departed is what a browser brings of one departure.
type departed struct {
	id          string
	cookies     []Cookie
	transaction *Transaction // nil if nothing can be made of the cookies
}

// size is what the cookies of a departure make up in a header.
func size(cookies []Cookie) int {
	n := 0
	for _, c := range cookies {
		n += cookieOverhead + len(c.Value)
	}
	return n
}

// broughtBy sorts the cookies of a browser by departure.
func (d *departures) broughtBy(cookies []Cookie) []departed {
	var all []departed
	for _, c := range cookies {
		id, _, _ := strings.Cut(c.Name, "-")
		i := slices.IndexFunc(all, func(known departed) bool { return known.id == id })
		if i < 0 {
			i = len(all)
			all = append(all, departed{id: id})
		}
		all[i].cookies = append(all[i].cookies, c)
	}
	for i := range all {
		all[i].transaction = d.join(all[i])
	}
	return all
}

// join puts the pieces of a departure together. If one is missing or not the right
// one, the seal does not hold.
func (d *departures) join(from departed) *Transaction {
	slices.SortFunc(from.cookies, func(a, b Cookie) int { return cmp.Compare(a.Name, b.Name) })
	var text strings.Builder
	for _, c := range from.cookies {
		text.WriteString(c.Value)
	}
	t := d.open(text.String())
	if t == nil || cookieName(t.Hash, 1) != from.id {
		return nil
	}
	return t
}

// find returns the departure that a state belongs to, as the browser brings it.
func (d *departures) find(cookies []Cookie, stateHash []byte) departed {
	id := cookieName(stateHash, 1)
	for _, brought := range d.broughtBy(cookies) {
		if brought.id == id {
			if t := brought.transaction; t != nil && subtle.ConstantTimeCompare(t.Hash, stateHash) != 1 {
				brought.transaction = nil
			}
			return brought
		}
	}
	return departed{id: id}
}

// depart returns the cookies that a browser is to change when it leaves for another
// sign-in: those of the new one, and the loss of what is too old, useless, or too much
// beside it.
func (d *departures) depart(t *Transaction, brought []Cookie, now time.Time) ([]Cookie, error) {
	changes, err := d.seal(t)
	if err != nil {
		return nil, err
	}
	all := d.broughtBy(brought)
	ends := func(of departed) time.Time {
		if of.transaction == nil {
			return time.Time{}
		}
		return of.transaction.Ends
	}
	slices.SortStableFunc(all, func(a, b departed) int { return ends(b).Compare(ends(a)) }) // the latest first
	total := size(changes)
	for _, earlier := range all {
		if room := maxCookies - total; ends(earlier).After(now) && size(earlier.cookies) <= room {
			total += size(earlier.cookies)
		} else {
			changes = append(changes, earlier.over()...)
		}
	}
	return changes, nil
}

// over returns the changes that take the cookies of a departure away.
func (d departed) over() []Cookie {
	var changes []Cookie
	for _, c := range d.cookies {
		changes = append(changes, Cookie{Name: c.Name})
	}
	return changes
}
