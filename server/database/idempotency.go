package database

import (
	"bytes"
	"encoding/hex"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/pipeline"
	"github.com/sternpost/sternpost/server/refusal"
)

// Once is a call that is carried out once, even if its client repeats it. Its answer is stored in its own transaction, so
// that it exists if and only if the call was carried out.
type Once struct {
	ID       []byte // from caller, action and key
	Asks     []byte // a digest of the request
	Identity string // of the caller; empty for an anonymous one
	Token    string
	Address  string // of an anonymous caller

	IsLook       bool                       // whether an answer is only looked for
	AnswersAgain bool                       // whether the function also answers a repetition
	Body         func() ([]byte, error)     // makes the body of the response from the rows
	Record       func() (id, digest []byte) // of the record that the rows show; nil if it cannot be read anew
	Result       []byte                     // the body, once it is known
	IsReplayed   bool                       // an earlier call has stored what Result is made of
}

// mostKept is the length of the largest answer that is kept. Of a larger one that shows a record, only its id is.
const mostKept = 16 << 10

// CallOnce makes a call and stores its answer in one transaction, or finds the stored
// answer.
func (d *DB) CallOnce(client net.Conn, st Statement, params [][]byte, into Answer, o *Once) error {
	return d.repeat(client, st, into, func(pg *pgconn.PgConn) (mayHaveRun bool, err error) {
		if isGone(pg) {
			return false, pipeline.ErrGone
		}
		kept, err := o.claim(pg)
		if err != nil {
			return false, rolledBack(pg, err)
		}
		call := []sent{callOf(st, params, into)}
		if kept != nil {
			o.IsReplayed = true
			if o.AnswersAgain {
				_, err = executeAll(pg, call...)
			}
			if err == nil {
				o.Result, err = o.again(kept)
			}
		}
		if err != nil || o.IsReplayed || o.IsLook {
			return false, rolledBack(pg, err)
		}
		if st.Custom {
			call = append(call, leaveCall, resetSettings)
		}
		if _, err := executeAll(pg, call...); err != nil {
			return false, rolledBack(pg, err)
		}
		if o.Result, err = o.Body(); err != nil {
			return false, rolledBack(pg, err)
		}
		mayHaveRun, err = o.keep(pg)
		return mayHaveRun, rolledBack(pg, err)
	})
}

// claim begins a transaction in which no other request can make this call, or returns what is kept of its answer: the
// body, or null and the digest of the record.
func (o *Once) claim(pg *pgconn.PgConn) (kept [][]byte, err error) {
	o.Result, o.IsReplayed = nil, false
	find := sent{
		name: "claim", sql: "select body, digest from platform.answer_claim($1, $2, nullif($3, ''), nullif($4, ''), $5) where is_kept",
		params: [][]byte{hexOf(o.ID), hexOf(o.Asks), []byte(o.Identity), []byte(o.Token), []byte(o.Address)},
		row: func(values [][]byte) bool {
			kept = [][]byte{bytes.Clone(values[0]), bytes.Clone(values[1])}
			return true
		},
	}
	if o.IsLook {
		find.name, find.sql = "find", "select body, digest from platform.answer_find($1, $2, nullif($3, ''), nullif($4, '')) where is_kept"
		find.params = find.params[:4]
	}
	_, err = executeAll(pg, beginning, find)
	return kept, err
}

// again returns the answer of a repetition.
func (o *Once) again(kept [][]byte) ([]byte, error) {
	if kept[0] != nil {
		return kept[0], nil
	}
	if _, digest := o.Record(); !bytes.Equal(hexOf(digest), kept[1]) {
		return nil, refusal.Conflict.Saying("the action was carried out, and its record has changed since")
	}
	return o.Body()
}

// keep stores the answer and ends the transaction.
func (o *Once) keep(pg *pgconn.PgConn) (mayHaveRun bool, err error) {
	body, record, digest := o.Result, []byte(nil), []byte(nil)
	if len(body) > mostKept && o.Record != nil {
		record, digest = o.Record()
		body, digest = nil, hexOf(digest)
	}
	return executeAll(pg,
		sent{name: "keep", sql: "select platform.answer_keep($1, $2, $3, $4)::text", params: [][]byte{hexOf(o.ID), body, record, digest}},
		ending,
	)
}

// hexOf writes bytes in the text form of bytea.
func hexOf(b []byte) []byte {
	return hex.AppendEncode([]byte(`\x`), b)
}
