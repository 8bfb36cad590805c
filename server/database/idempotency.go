package database

import (
	"encoding/hex"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/pipeline"
)

// Once is a call that is carried out once, even if its client repeats it. Its answer is stored in its own transaction, so
// that it exists if and only if the call was carried out.
type Once struct {
	ID       []byte // from caller, action and key
	Asks     []byte // a digest of the request
	Identity string // of the caller; empty for an anonymous one
	Token    string
	Address  string // of an anonymous caller

	Body       func() ([]byte, error) // makes the body of the response from the rows
	Result     []byte                 // the body, once it is known
	IsReplayed bool                   // an earlier call stored it
}

// CallOnce makes a call and stores its answer in one transaction, or finds the stored
// answer.
func (d *DB) CallOnce(client net.Conn, st Statement, params [][]byte, into Answer, o *Once) error {
	return d.repeat(client, st, into, func(pg *pgconn.PgConn) (mayHaveRun bool, err error) {
		if isGone(pg) {
			return false, pipeline.ErrGone
		}
		if err := o.claim(pg); err != nil || o.IsReplayed {
			return false, rolledBack(pg, err)
		}
		call := []sent{callOf(st, params, into)}
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

// claim begins a transaction in which no other request can make this call, or finds the answer.
func (o *Once) claim(pg *pgconn.PgConn) error {
	o.Result, o.IsReplayed = nil, false
	_, err := executeAll(pg,
		beginning,
		sent{
			name: "claim", sql: "select platform.answer_claim($1, $2, nullif($3, ''), nullif($4, ''), $5)",
			params: [][]byte{hexOf(o.ID), hexOf(o.Asks), []byte(o.Identity), []byte(o.Token), []byte(o.Address)},
			row: func(values [][]byte) bool {
				if values[0] != nil {
					o.Result, o.IsReplayed = append([]byte(nil), values[0]...), true
				}
				return true
			},
		},
	)
	return err
}

// keep stores the answer and ends the transaction.
func (o *Once) keep(pg *pgconn.PgConn) (mayHaveRun bool, err error) {
	return executeAll(pg,
		sent{name: "keep", sql: "select platform.answer_keep($1, $2)::text", params: [][]byte{hexOf(o.ID), o.Result}},
		ending,
	)
}

// hexOf writes bytes in the text form of bytea.
func hexOf(b []byte) []byte {
	return hex.AppendEncode([]byte(`\x`), b)
}
