package listener

import (
	"errors"
	"os"
	"time"
)

// fasthttp keeps the buffers of a connection, some 40 kB, while it waits for the next
// request. So a connection is parked after a short wait: for fasthttp it ends, and its
// buffers are reused. One goroutine then waits for data, and has the connection served as
// if it were new.

// parkTime is how long a connection waits with its buffers.
const parkTime = time.Second

// Waits notes that an answer has been written and the wait for the next request begins.
func (c *Connection) Waits(now time.Time) {
	c.waiting.Store(now.UnixNano())
	c.kept = now
}

// Begins notes that the first byte of a request has arrived.
func (c *Connection) Begins() {
	c.kept = time.Time{}
}

// SetReadDeadline sets the deadline for data from the client.
func (c *Connection) SetReadDeadline(t time.Time) error {
	c.until = time.Time{}
	if !c.kept.IsZero() && c.raw != nil && c.listener.serve != nil && canPark {
		if parked := c.kept.Add(parkTime); parked.Before(t) {
			c.until, t = t, parked
		}
	}
	c.reading.want(t)
	return nil
}

// setReading sets the deadline for data on the socket. A request that has arrived as a whole needs none.
func (c *Connection) setReading() error {
	if !c.reading.isDue() {
		return nil
	}
	return c.Conn.SetReadDeadline(c.reading.wanted)
}

// noteParking notes, after a read error, whether the connection is to be parked: then
// fasthttp closes it next.
func (c *Connection) noteParking(err error) {
	if !c.until.IsZero() && errors.Is(err, os.ErrDeadlineExceeded) {
		c.parks.Store(true)
	}
}

// park waits for the next request on a connection, and has it served. It closes the
// connection after too long a wait, when the client leaves and when the server stops.
func (l *Listener) park(c *Connection) {
	c.head, c.kept = nil, time.Time{}
	c.parked.Store(true)
	c.reading.want(c.until)
	isThere := !l.stopped.Load() && c.setReading() == nil && c.awaitInput()
	c.parked.Store(false)
	if !isThere {
		_ = c.Close()
		return
	}
	_ = l.serve(c) // it closes the connection
}
