package server

import "runtime/debug"

// leaveStart returns memory to the system, once, that only the start needed: the release as it was read, and the
// code that has loaded it.
func (s *Server) leaveStart() {
	s.left.Do(func() {
		debug.FreeOSMemory()
		if err := releaseProgram(); err != nil {
			s.log.Debug("cannot release the memory of the start", "error", err)
		}
	})
}
