//go:build unix

package pipeline

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// socket is the socket of an Exclusive. It is not open if the connection is encrypted.
type socket struct {
	raw  syscall.RawConn
	step func(fd uintptr) (isDone bool)

	owner  *Exclusive
	isSent bool // a part of the query, at least
	err    error
}

func (s *socket) open(e *Exclusive) {
	if c, ok := e.net.(syscall.Conn); ok {
		s.raw, _ = c.SyscallConn()
	}
	s.owner, s.step = e, e.step
}

func (s *socket) isOpen() bool { return s.raw != nil }

// exchange looks whether the connection is there, sends the query, and waits for the beginning of the answer.
//
// Go looks for input before it waits for some, which is mostly in vain after a write. Here this look is made before
// the write, where it finds out whether the database has closed the connection.
func (s *socket) exchange() (wasSent bool, err error) {
	s.isSent, s.err = false, nil
	if err := s.raw.Read(s.step); err != nil {
		return s.isSent, fmt.Errorf("wait for the database: %w", err)
	}
	return s.isSent, s.err
}

// isGone looks whether the connection is there. A part of a message, which something else would read, counts as gone.
func (s *socket) isGone() bool {
	isThere := false
	err := s.raw.Read(func(fd uintptr) (isDone bool) {
		isThere = s.owner.isThere(fd)
		return true
	})
	return err != nil || !isThere || s.owner.r != s.owner.w
}

// step makes a step of an exchange: it sends the query once there is nothing to read, then reads. The runtime calls it
// again when there is something.
func (e *Exclusive) step(fd uintptr) (isDone bool) {
	s := &e.socket
	if !s.isSent {
		if !e.isThere(fd) {
			s.err = ErrGone
			return true
		}
		s.isSent, s.err = e.write()
		return s.err != nil
	}
	n, err := e.readNow(fd)
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return false
	case err == nil && n == 0:
		err = io.ErrUnexpectedEOF
	}
	s.err = err
	return true
}

// isThere reads what has arrived before a query is sent. It tells whether the database has not ended or closed the
// connection.
func (e *Exclusive) isThere(fd uintptr) bool {
	for {
		n, err := e.readNow(fd)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			return true
		case err != nil || n == 0 || e.isEnding():
			return false
		}
	}
}

// readNow reads what has arrived, without waiting.
func (e *Exclusive) readNow(fd uintptr) (n int, err error) {
	e.makeRoom(e.w - e.r + 1)
	for {
		n, err = syscall.Read(int(fd), e.in[e.w:])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if n > 0 { // with an error it is -1
			e.w += n
		}
		return n, err
	}
}

// isEnding ignores what has arrived before the query was sent. It tells whether the database has ended the connection.
func (e *Exclusive) isEnding() bool {
	for e.hasMessage() {
		if kind, _, err := e.message(); err != nil || kind == 'E' {
			return true
		}
	}
	return false
}
