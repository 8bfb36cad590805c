//go:build !unix

package pipeline

// socket is the socket of an Exclusive. It is never open here.
type socket struct{}

func (s *socket) open(*Exclusive) {}

func (s *socket) isOpen() bool { return false }

func (s *socket) isGone() bool { return false }

func (s *socket) exchange() (wasSent bool, err error) { panic("pipeline: the socket is not open") }
