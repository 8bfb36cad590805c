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

// Transaction is a sign-in during which the browser is at a provider.
type Transaction struct {
	Hash            []byte // SHA-256 of the state that the provider sends back
	Provider        string
	Target          string // where the browser goes at the end
	IsDynamic       bool   // whether the client named the target
	State           string // of the client; empty means that it sent none
	Challenge       string // of the client; empty means that it sent none
	ChallengeMethod string // S256 or plain, with a challenge
	Nonce           string
	Verifier        string    // of this service, for the provider
	Ends            time.Time // when the transaction expires, by the store's clock
	Link            string    // what a session began that wants to be linked; empty for a sign-in
}

// Cookie is a cookie in a browser that is away. Setting one without a value deletes it.
type Cookie struct {
	Name  string // without the common prefix of all of them
	Value string
}

const (
	// maxCookie limits a value. Browsers keep 4096 bytes of name, value and, in some of
	// them, attributes.
	maxCookie = 3800

	// maxCookies limits their total, so that a header of 16 KiB has room for the longest
	// address that begins a sign-in: 3072 bytes, each written as three.
	maxCookies = 5120

	// cookieOverhead is the size of a cookie in a header without its value.
	cookieOverhead = len("__Host-sternpost-signin-0123456789ab-2=; ")
)

// departures are kept by the browsers that are away. A transaction is sealed, so that its
// browser can neither read nor change it, and cut into cookies. Each has its own cookies,
// for concurrent sign-ins.
type departures struct {
	own *seal
}

// newDepartures makes the seal of a service. Its key is derived from the signing key,
// which all servers of a service share: a browser may leave from one and return to
// another. After a rotation of the signing key, pending sign-ins must begin again.
func newDepartures(signingKey []byte, baseURL string) (*departures, error) {
	seal, err := newSeal(signingKey, baseURL, "sternpost departures")
	if err != nil {
		return nil, err
	}
	return &departures{seal}, nil
}

// content is the sealed part of a transaction, in DER: a state may hold any character.
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
	Link            string `asn1:"utf8,optional"`
}

// seal returns the cookies of a transaction.
func (d *departures) seal(t *Transaction) ([]Cookie, error) {
	plain, err := asn1.Marshal(content{
		t.Hash, t.Provider, t.Target, t.IsDynamic, t.State, t.Challenge, t.ChallengeMethod, t.Nonce, t.Verifier, t.Ends.UnixMicro(), t.Link,
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

// cookieName returns the name of a piece of a departure, counted from 1.
func cookieName(hash []byte, piece int) string {
	id := hex.EncodeToString(hash[:6])
	if piece == 1 {
		return id
	}
	return id + "-" + strconv.Itoa(piece)
}

// open returns the transaction from a sealed text, or nil.
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
		c.Hash, c.Provider, c.Target, c.IsDynamic, c.State, c.Challenge, c.ChallengeMethod, c.Nonce, c.Verifier, time.UnixMicro(c.Ends), c.Link,
	}
}

// departed is one departure as a browser sends it.
type departed struct {
	id          string
	cookies     []Cookie
	transaction *Transaction // nil if the cookies are not valid
}

// size returns the size of a departure's cookies in a header.
func size(cookies []Cookie) int {
	n := 0
	for _, c := range cookies {
		n += cookieOverhead + len(c.Value)
	}
	return n
}

// broughtBy groups the cookies of a browser by departure.
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

// join puts the pieces of a departure together. The seal fails if a piece is missing or
// wrong.
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

// find returns the departure for a state, as the browser sends it.
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

// depart returns the changes of cookies for a browser that leaves for another sign-in:
// the new cookies, and the deletion of those that are expired, invalid, or too many
// beside the new ones.
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

// over returns the changes that delete the cookies of a departure.
func (d departed) over() []Cookie {
	var changes []Cookie
	for _, c := range d.cookies {
		changes = append(changes, Cookie{Name: c.Name})
	}
	return changes
}
