package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/pipeline"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

// once is a call that is carried out once, even if its client repeats it: a call with an
// Idempotency-Key. Its answer is stored in its own transaction, so that it exists if and
// only if the call was carried out.
type once struct {
	id      []byte // from caller, action and key
	asks    []byte // a digest of the request
	who     *caller
	address string // of an anonymous caller

	body       func() ([]byte, error) // makes the body of the response from the rows
	result     []byte                 // the body, once it is known
	isReplayed bool                   // an earlier call stored it
}

// answer writes the response.
func (o *once) answer(c *fiber.Ctx) {
	if o.isReplayed {
		c.Set("Idempotent-Replayed", "true")
	}
	o.who.request.Give(o.result, c.Response())
	c.Response().Header.SetContentType(request.JSONType)
}

// onceOf returns the once that keeps a call from being carried out twice. It is nil for a
// call that only reads or has no key.
func (s *Server) onceOf(c *fiber.Ctx, a *action, who *caller, input []byte) (*once, error) {
	if !a.Kind.Writes() {
		return nil, nil
	}
	key, err := readKey(c.Request().Header.PeekAll("Idempotency-Key"))
	if err != nil || key == nil {
		return nil, err
	}
	made := &once{asks: s.digest(a, input), who: who}
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
		made.address = s.policy.ClientAddress(c)
		write("address", made.address)
	}
	id.Write(key)
	made.id = id.Sum(nil)
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

// replay answers a call from its stored answer. It tells whether one was stored.
func (s *Server) replay(c *fiber.Ctx, a *action, who *caller, o *once) (bool, error) {
	var kept *string
	err := s.db.QueryRow("select platform.answer_find($1, $2, nullif($3, ''), nullif($4, ''))", []any{o.id, o.asks, who.identity, who.token}, &kept)
	if err != nil {
		return false, refusal.OfCall(err, a.Action, nil, nil)
	}
	if kept == nil {
		return false, nil
	}
	o.result, o.isReplayed = []byte(*kept), true
	o.answer(c)
	s.noteLater(c, who)
	return true, nil
}

// callOnce makes a call and stores its answer in one transaction, or finds the stored
// answer.
func (d *database) callOnce(client net.Conn, st statement, params [][]byte, into answered, o *once) error {
	return d.repeat(client, st, into, func(pg *pgconn.PgConn) (mayHaveRun bool, err error) {
		if isGone(pg) {
			return false, pipeline.ErrGone
		}
		if err := o.claim(pg); err != nil || o.isReplayed {
			return false, rolledBack(pg, err)
		}
		call := []sent{callOf(st, params, into)}
		if st.custom {
			call = append(call, leaveCall, resetSettings)
		}
		if _, err := executeAll(pg, call...); err != nil {
			return false, rolledBack(pg, err)
		}
		if o.result, err = o.body(); err != nil {
			return false, rolledBack(pg, err)
		}
		mayHaveRun, err = o.keep(pg)
		return mayHaveRun, rolledBack(pg, err)
	})
}

// claim begins a transaction in which no other request can make this call, or finds the answer.
func (o *once) claim(pg *pgconn.PgConn) error {
	o.result, o.isReplayed = nil, false
	_, err := executeAll(pg,
		beginning,
		sent{
			name: "claim", sql: "select platform.answer_claim($1, $2, nullif($3, ''), nullif($4, ''), $5)",
			params: [][]byte{hexOf(o.id), hexOf(o.asks), []byte(o.who.identity), []byte(o.who.token), []byte(o.address)},
			row: func(values [][]byte) bool {
				if values[0] != nil {
					o.result, o.isReplayed = append([]byte(nil), values[0]...), true
				}
				return true
			},
		},
	)
	return err
}

// keep stores the answer and ends the transaction.
func (o *once) keep(pg *pgconn.PgConn) (mayHaveRun bool, err error) {
	return executeAll(pg,
		sent{name: "keep", sql: "select platform.answer_keep($1, $2)::text", params: [][]byte{hexOf(o.id), o.result}},
		ending,
	)
}

// These begin and end a transaction of several statements.
var (
	beginning = sent{name: "begin", sql: "begin"}
	ending    = sent{name: "commit", sql: "commit"}
)

// rolledBack ends the transaction unless it was committed, and returns the error. Behind a
// pooler it also discards the plans of custom code, since other clients use the connection
// afterwards.
func rolledBack(pg *pgconn.PgConn, err error) error {
	if !pg.IsClosed() && pg.TxStatus() != 'I' {
		end := "rollback"
		if sessionOf(pg).isPooled() {
			end += "; discard plans"
		}
		if pg.Exec(context.Background(), end).Close() != nil {
			_ = pg.Close(closedContext())
		}
	}
	return err
}

// hexOf writes bytes in the text form of bytea.
func hexOf(b []byte) []byte {
	return hex.AppendEncode([]byte(`\x`), b)
}
