package pipeline

import (
	"encoding/binary"
	"fmt"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// wire writes and reads the messages of queries on one connection (Postgres 15, chapter 55.2.3).
type wire struct {
	net        net.Conn
	manner     Manner
	statements map[string]string // names by text
	prepared   int               // how many were named

	in     []byte
	r, w   int // in[r:w] has arrived and was not processed
	values [][]byte
}

const (
	readBuffer = 16 << 10 // of a connection
	keptBuffer = 64 << 10 // larger ones are freed
)

func newWire(c net.Conn, manner Manner) *wire {
	return &wire{net: c, manner: manner, statements: map[string]string{}, in: make([]byte, readBuffer)}
}

// appendQuery writes the messages of a query, with the statement before it, and Sync. It appends to brings the
// statements that the query prepares. After an error, nothing of the query may be sent.
func (c *wire) appendQuery(b []byte, brings []string, q *Query) ([]byte, []string, error) {
	all, err := b, error(nil)
	if c.manner.Before != "" {
		all, brings, err = c.appendStatement(all, brings, c.manner.Before, nil, nil)
	}
	if err == nil {
		all, brings, err = c.appendStatement(all, brings, q.SQL, q.Params, q.Formats)
	}
	if err != nil {
		c.forget(brings)
		return b, brings[:0], err
	}
	return append(all, 'S', 0, 0, 0, 4), brings, nil
}

// appendStatement writes the messages of a statement of a query: Parse unless it is
// prepared, then Bind to the unnamed portal, and Execute.
func (c *wire) appendStatement(b []byte, brings []string, sql string, params [][]byte, formats []int16) ([]byte, []string, error) {
	name, isKnown := c.statements[sql]
	if !isKnown {
		if !c.manner.Unnamed {
			c.prepared++
			name = "q" + strconv.Itoa(c.prepared)
			c.statements[sql] = name
			brings = append(brings, sql)
		}
		parsed, err := (&pgproto3.Parse{Name: name, Query: sql}).Encode(b)
		if err != nil {
			return b, brings, fmt.Errorf("write a statement: %w", err)
		}
		b = parsed
	}
	bound, err := (&pgproto3.Bind{PreparedStatement: name, Parameters: params, ResultFormatCodes: formats}).Encode(b)
	if err != nil {
		return b, brings, fmt.Errorf("write parameters: %w", err)
	}
	return append(bound, 'E', 0, 0, 0, 9, 0, 0, 0, 0, 0), brings, nil
}

// forget forgets statements that the database may not have prepared.
func (c *wire) forget(statements []string) {
	for _, sql := range statements {
		delete(c.statements, sql)
	}
}

// readError reads an ErrorResponse. The database closes the connection after a fatal error.
func readError(body []byte) (raised *pgconn.PgError, isFatal bool, err error) {
	var message pgproto3.ErrorResponse
	if err := message.Decode(body); err != nil {
		return nil, false, fmt.Errorf("read an error of the database: %w", err)
	}
	return pgconn.ErrorResponseToPgError(&message), message.SeverityUnlocalized == "FATAL", nil
}

// hasMessage tells whether a whole message has arrived.
func (c *wire) hasMessage() bool {
	return c.w-c.r >= 5 && c.w-c.r >= c.length()
}

// length returns the length of the next message after its header has arrived.
func (c *wire) length() int {
	return 1 + int(binary.BigEndian.Uint32(c.in[c.r+1:]))
}

// message waits for the next message. Its body is valid until the next call.
func (c *wire) message() (kind byte, body []byte, err error) {
	for {
		need := 5
		if c.w-c.r >= 5 {
			if need = c.length(); need < 5 || need > maxMessage {
				return 0, nil, fmt.Errorf("a message of %d bytes", need)
			}
			if c.w-c.r >= need {
				break
			}
		}
		c.makeRoom(need)
		read, err := c.net.Read(c.in[c.w:])
		if c.w += read; err != nil {
			return 0, nil, err
		}
	}
	end := c.r + c.length()
	kind, body = c.in[c.r], c.in[c.r+5:end]
	c.r = end
	return kind, body, nil
}

// maxMessage is Postgres' limit for one value, 1 GiB.
const maxMessage = 1 << 30

// makeRoom makes room for a message of need bytes that begins at c.r.
func (c *wire) makeRoom(need int) {
	if c.r == c.w {
		c.r, c.w = 0, 0
	}
	if len(c.in)-c.r >= need && c.w < len(c.in) {
		return
	}
	in := c.in
	if need > len(in) {
		in = make([]byte, max(need, 2*len(in)))
	}
	c.w = copy(in, c.in[c.r:c.w])
	c.in, c.r = in, 0
}

// shrink frees the buffer of a large message.
func (c *wire) shrink() {
	if len(c.in) > keptBuffer && c.r == c.w {
		clear(c.values[:cap(c.values)]) // they lie in the buffer
		c.in, c.r, c.w = make([]byte, readBuffer), 0, 0
	}
}

// columns returns the columns of a DataRow.
func (c *wire) columns(body []byte) [][]byte {
	c.values = c.values[:0]
	count := int(binary.BigEndian.Uint16(body))
	body = body[2:]
	for range count {
		size := int(int32(binary.BigEndian.Uint32(body)))
		body = body[4:]
		if size < 0 {
			c.values = append(c.values, nil)
			continue
		}
		c.values = append(c.values, body[:size:size])
		body = body[size:]
	}
	return c.values
}
