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
	e, isGone := s.owner, false
	err := s.raw.Read(func(fd uintptr) (isDone bool) {
		for {
			e.makeRoom(e.w - e.r + 1)
			n, err := syscall.Read(int(fd), e.in[e.w:])
			switch {
			case errors.Is(err, syscall.EINTR):
				continue
			case err == nil && n > 0:
				e.w += n
				if !e.isEnding() {
					continue
				}
			case errors.Is(err, syscall.EAGAIN) && e.r == e.w:
				return true
			}
			isGone = true
			return true
		}
	})
	return isGone || err != nil
}

// step makes a step of an exchange: it reads, and sends the query once there is nothing to read. The runtime calls it
// again when there is.
func (e *Exclusive) step(fd uintptr) (isDone bool) {
	s := &e.socket
	for {
		e.makeRoom(e.w - e.r + 1)
		n, err := syscall.Read(int(fd), e.in[e.w:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			if s.isSent {
				return false
			}
			s.isSent, s.err = e.write()
			return s.err != nil
		case err != nil || n == 0:
			if s.err = err; err == nil {
				s.err = io.ErrUnexpectedEOF
			}
			if !s.isSent {
				s.err = ErrGone
			}
			return true
		case s.isSent:
			e.w += n
			return true
		default: // not about the query
			if e.w += n; e.isEnding() {
				s.err = ErrGone
				return true
			}
		}
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
