package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

// once is a call with an Idempotency-Key.
type once struct {
	database.Once
	request *request.Request
}

// answer writes the response.
func (o *once) answer(c *fiber.Ctx) {
	if o.IsReplayed {
		c.Set("Idempotent-Replayed", "true")
	}
	o.request.Give(o.Result, c.Response())
	c.Response().Header.SetContentType(request.JSONType)
}

// onceOf returns the once that keeps a call from being carried out twice. It is nil for a
// call that only reads or has no key.
func (s *Server) onceOf(c *fiber.Ctx, a *action, who *caller, keys [][]byte, input []byte) (*once, error) {
	if !a.Kind.Writes() {
		return nil, nil
	}
	key, err := readKey(keys)
	if err != nil || key == nil {
		return nil, err
	}
	made := &once{Once: database.Once{Asks: s.digest(a, input), Identity: who.identity, Token: who.token, AnswersAgain: a.AnswersAgain}, request: who.request}
	id := sha256.New()
	write := func(parts ...string) {
		for _, part := range parts {
			id.Write([]byte(part))
			id.Write([]byte{0})
		}
	}
	if write(a.Name); who.identity != "" {
		write("identity", who.identity)
	} else {
		made.Address = s.policy.ClientAddress(c)
		write("address", made.Address)
	}
	id.Write(key)
	made.ID = id.Sum(nil)
	return made, nil
}

// digest returns a digest to compare an input with that of a repetition. An attacker
// could guess a password from a plain digest, so an input with a password is digested
// under a key that the database does not have.
func (s *Server) digest(a *action, input []byte) []byte {
	if !a.takesSealed {
		sum := sha256.Sum256(input)
		return sum[:]
	}
	mac := hmac.New(sha256.New, s.onceKey)
	mac.Write(input)
	return mac.Sum(nil)
}

// newOnceKey derives the key for such digests.
func newOnceKey(signingKey string) ([]byte, error) {
	return auth.DeriveKey([]byte(signingKey), "sternpost idempotency")
}

// maxKey limits the length of a key.
const maxKey = 255

// readKey reads the key of a request, which may be quoted. nil means no key.
func readKey(values [][]byte) ([]byte, error) {
	if len(values) == 0 {
		return nil, nil
	}
	key := values[0]
	if n := len(key); n > 1 && key[0] == '"' && key[n-1] == '"' {
		key = key[1 : n-1]
	}
	isValid := len(values) == 1 && 1 <= len(key) && len(key) <= maxKey
	for _, b := range key {
		isValid = isValid && ' ' <= b && b <= '~'
	}
	if !isValid {
		return nil, refusal.InputMalformed.Saying("invalid Idempotency-Key header: it must be one string of 1 to %d printable ASCII characters", maxKey)
	}
	return key, nil
}

// replay answers a call from its stored answer, if there is one, before its input is prepared.
func (k *call) replay() error {
	if k.once == nil {
		return nil
	}
	k.once.IsLook = true
	err := k.ask()
	k.once.IsLook = false
	if err != nil || !k.once.IsReplayed {
		return err
	}
	k.once.answer(k.http)
	return errAnswered
}

// record returns the id of the record that the rows show, and a digest of it.
func (k *call) record() (id, digest []byte) {
	var record struct {
		ID string `json:"id"`
	}
	rows := k.rows.JSON()
	_ = json.Unmarshal(rows, &record) // the server has written it, or it is null
	sum := sha256.Sum256(rows)
	return []byte(record.ID), sum[:]
}
