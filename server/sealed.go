package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/encryption"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// sealedText is a text that an action turns into a password or secret, with its value if
// that is known before any call.
type sealedText struct {
	release.Sealed
	header string // as the client sends it
	known  string // from a literal or from the environment
}

// sealedTexts prepares the texts that an action seals.
func (s *Server) sealedTexts(a *release.Action) ([]sealedText, error) {
	var list []sealedText
	for _, sealed := range a.Sealed {
		t := sealedText{Sealed: sealed}
		switch {
		case sealed.As != release.Password && sealed.As != release.Secret:
			return nil, fmt.Errorf("action %s: %s must be sealed as a %s, which this server cannot do", a.Name, sealed.Name, sealed.As)
		case sealed.As == release.Secret && s.encryption == nil:
			return nil, unset(encryption.Missing)
		case sealed.Header != "":
			t.header = headerName(sealed.Header)
		case sealed.Text != nil:
			t.known = *sealed.Text
		case sealed.Environment != "":
			t.known, _ = s.variable(sealed.Environment) // the release declares it, so it is always set
		case sealed.Secret != "":
			t.known, _ = s.variable(sealed.Secret)
		}
		list = append(list, t)
	}
	return list, nil
}

// text returns the text for one call; false if its input or header is absent or null.
func (t *sealedText) text(c *fiber.Ctx, in input.Input) (string, bool) {
	switch {
	case t.Input != "":
		p, ok := in.Find(t.Input)
		if !ok {
			return "", false
		}
		return p.Text(), true
	case t.header != "":
		values := c.Request().Header.PeekAll(t.header)
		return joinValues(values), len(values) > 0
	}
	return t.known, true
}

// sealTexts adds to the context of a call the values made from texts.
func (s *Server) sealTexts(a *action, c *fiber.Ctx, in input.Input, context []byte) ([]byte, error) {
	var members []byte // a comma before each
	for i := range a.sealed {
		t := &a.sealed[i]
		text, ok := t.text(c, in)
		if !ok {
			continue
		}
		value, err := s.seal(c, t.As, text, t.Name)
		if err != nil {
			return nil, err
		}
		members = append(answer.Quote(append(members, ','), t.Name), ':')
		members = append(members, value...)
	}
	if len(members) == 0 {
		return context, nil
	}
	members[0] = '{'
	return withMember(context, "sealed", append(members, '}')), nil
}

// withMember returns a JSON object with one more member.
func withMember(object []byte, name string, value []byte) []byte {
	b := append([]byte(nil), object[:len(object)-1]...)
	if len(b) > 1 { // the object has members
		b = append(b, ',')
	}
	b = append(answer.Quote(b, name), ':')
	return append(append(b, value...), '}')
}

// hideTexts returns places for the texts that only this server reads.
func hideTexts(a *action, in input.Input) input.Input {
	found := in
	for _, t := range a.sealed {
		if !t.Hidden {
			continue
		}
		if p, ok := in.Find(t.Input); ok {
			found = found.With(p)
		}
	}
	return found
}

// seal returns the form of a password or secret for the database, as JSON. Its errors
// name the purpose, not the value.
func (s *Server) seal(c *fiber.Ctx, as, text, what string) ([]byte, error) {
	switch as {
	case release.Password:
		hash, err := s.signIn.Hash(c, text)
		var busy *auth.Error
		if errors.As(err, &busy) {
			return nil, refusal.Unavailable.With(err)
		}
		if err != nil {
			return nil, fmt.Errorf("hash %s: %w", what, err)
		}
		return answer.Quote(nil, hash), nil
	case release.Secret:
		return answer.Quote(nil, s.encryption.Encrypt(text)), nil
	}
	return nil, fmt.Errorf("%s of format %s must be prepared, which this server cannot do", what, as)
}

// headerName returns the name of a header as clients send it.
func headerName(snake string) string { return strings.ReplaceAll(snake, "_", "-") }
